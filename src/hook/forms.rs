//! The forms of a path that a glob is compared with: one file has many spellings, and a guard must recognize all of them.
//!
//! Knows the rules of systems for names; `links` asks this system for the targets of links. Does not know globs, or the
//! purpose of the text. Does not change case. Does not resolve hard links, mounts, `~` and variables.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::links::{Steps, followed};
use crate::globs::with_slashes;

/// The longest path, in bytes, that is looked up. No file is opened by a longer one.
pub(super) const LONGEST_PATH: usize = 4096;

/// The prefixes of paths for which Windows has special rules.
const DEVICES: [&str; 3] = ["//?/", "//./", "/??/"];

/// The rules of a system for the names of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum System {
    Unix,
    Mac,
    Windows,
}

impl System {
    pub(super) const NATIVE: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_vendor = "apple") {
        Self::Mac
    } else {
        Self::Unix
    };

    pub(super) fn ignores_case(self) -> bool {
        self != Self::Unix
    }

    /// Returns whether paths by these rules can be looked up here.
    fn is_here(self) -> bool {
        (self == Self::Windows) == cfg!(windows)
    }
}

/// The directories at which the paths of an event begin.
#[derive(Debug)]
pub(super) struct Places {
    /// The project's root: as it was given, and with its links followed.
    roots: Vec<String>,
    /// The directory of relative paths, as it was given.
    base: Option<PathBuf>,
    /// The directory with its links followed: these are not links of the path.
    real_base: Option<PathBuf>,
}

impl Places {
    /// Creates the places. `base` may be relative to the root. Returns None if the directories cannot be determined.
    pub(super) fn new(
        root: Option<&Path>,
        base: Option<&Path>,
        system: System,
        steps: &Steps,
    ) -> Option<Self> {
        let base = match (root, base) {
            (Some(root), Some(base)) => Some(root.join(base)),
            (root, base) => base.or(root).map(Path::to_owned),
        };
        let is_long = |path: &Path| path.as_os_str().len() > LONGEST_PATH;
        if base.as_deref().is_some_and(is_long) || root.is_some_and(is_long) {
            return None;
        }
        let mut roots: Vec<_> = root
            .and_then(|root| absolute(root, system))
            .into_iter()
            .collect();
        if let Some(root) = root.filter(|_| system.is_here()) {
            let stages = followed(root, steps)?;
            roots.extend(stages.iter().filter_map(|stage| absolute(stage, system)));
        }
        let mut real_base = base.clone();
        if let Some(base) = base
            .as_deref()
            .filter(|base| base.is_absolute() && system.is_here())
        {
            real_base = followed(base, steps)?.pop();
        }
        Some(Self {
            roots,
            base,
            real_base,
        })
    }
}

/// The forms of a path. The first form is the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Forms {
    pub(super) list: Vec<String>,
    /// The number of forms at the beginning that differ only in parts without a meaning, such as `./`.
    pub(super) spellings: usize,
    /// The absolute paths of those that are below the root, for patterns that are absolute. An excluding pattern need not
    /// match them.
    pub(super) absolute: Vec<String>,
    system: System,
}

/// Returns the forms of a text that may be a path, or none if it cannot be tested: then it may name any file.
pub(super) fn forms(text: &str, places: &Places, system: System, steps: &Steps) -> Option<Forms> {
    let normal = normal(text, system)?;
    let mut forms = Forms::new(text, system);
    // An empty text is not a path, so it does not mean the base.
    if text.is_empty() {
        return Some(forms);
    }
    // Some programs read a path up to the NUL.
    if text.contains('\0') {
        return None;
    }
    forms.add(&normal);
    forms.spellings = forms.list.len() - 1;
    let base = places.base.as_deref();
    let place = placed(&normal, base, system);
    if let Some(place) = &place {
        let is_below = forms.add_below(place, places);
        // The path is on another computer, or on this one by another name. The computer may take long to answer, and learns
        // the identity of the caller.
        if place.starts_with("//") && !is_below {
            return None;
        }
    }
    if let Some(path) = path_of(&normal, places.real_base.as_deref(), system) {
        for stage in followed(&path, steps)? {
            forms.add_stage(&stage, places);
        }
    }
    Some(forms)
}

/// Returns a text in the form in which the names of files are compared: macOS treats composed and decomposed letters as the
/// same.
pub(super) fn composed(text: &str, system: System) -> Cow<'_, str> {
    match system {
        System::Mac => normalized(text),
        System::Unix | System::Windows => text.into(),
    }
}

#[cfg(any(test, target_vendor = "apple"))]
fn normalized(text: &str) -> Cow<'_, str> {
    use unicode_normalization::{UnicodeNormalization, is_nfc};

    if is_nfc(text) {
        text.into()
    } else {
        text.nfc().collect::<String>().into()
    }
}

/// Only macOS needs the tables.
#[cfg(not(any(test, target_vendor = "apple")))]
fn normalized(text: &str) -> Cow<'_, str> {
    text.into()
}

impl Forms {
    fn new(text: &str, system: System) -> Self {
        Self {
            list: vec![composed(text, system).into_owned()],
            spellings: 0,
            absolute: Vec::new(),
            system,
        }
    }

    fn add(&mut self, form: &str) {
        let form = composed(form, self.system);
        if !form.is_empty() && !self.list.iter().any(|known| *known == form) {
            self.list.push(form.into_owned());
        }
    }

    /// Adds the part of an absolute path after the root. Returns whether the path is below the root.
    fn add_below(&mut self, path: &str, places: &Places) -> bool {
        let mut is_below = false;
        for root in &places.roots {
            if let Some(rest) = below(path, root, self.system) {
                self.add(rest);
                is_below = true;
            }
        }
        if is_below && path.len() <= LONGEST_PATH {
            let path = composed(path, self.system).into_owned();
            self.absolute.push(path);
        }
        is_below
    }

    /// Adds the form of a path at one of its links. If a `..` is left in it, the path after the next link gives the form.
    fn add_stage(&mut self, stage: &Path, places: &Places) {
        let Some(stage) = normal(&stage.to_string_lossy(), self.system) else {
            return;
        };
        if !self.add_below(&stage, places) {
            self.add(&stage);
        }
    }
}

/// Returns a directory's normal form, if that is absolute.
fn absolute(directory: &Path, system: System) -> Option<String> {
    let normal = normal(&directory.to_string_lossy(), system)?;
    is_absolute(&normal, system).then_some(normal)
}

fn is_absolute(normal: &str, system: System) -> bool {
    match system {
        System::Windows => normal.starts_with("//") || drive(normal).is_some(),
        _ => normal.starts_with('/'),
    }
}

/// Returns the `C:` of a path that begins with `C:/`.
fn drive(path: &str) -> Option<&str> {
    match path.as_bytes() {
        [letter, b':', b'/', ..] if letter.is_ascii_alphabetic() => path.get(..2),
        _ => None,
    }
}

/// Returns a path without the parts that do not change the named file. None if that depends on links or on the process:
/// `..`, and on Windows `C:x` and devices.
pub(super) fn normal(text: &str, system: System) -> Option<String> {
    let text = match system {
        System::Windows => without_device(with_slashes(text))?,
        _ => text.into(),
    };
    let start = start(&text, system)?;
    let mut normal = start.to_owned();
    for segment in text[start.len()..].split('/') {
        match name(segment, system) {
            "" | "." => {}
            ".." => return None,
            name if normal.len() == start.len() => normal += name,
            name => {
                normal.push('/');
                normal += name;
            }
        }
    }
    Some(normal)
}

/// Returns a path of Windows without a prefix for devices. None if it names a device that is not a drive.
fn without_device(text: Cow<'_, str>) -> Option<Cow<'_, str>> {
    let mut rests = DEVICES
        .iter()
        .filter_map(|device| text.strip_prefix(device));
    let Some(rest) = rests.next() else {
        return Some(text);
    };
    match rest.split_once('/') {
        Some((unc, share)) if unc.eq_ignore_ascii_case("UNC") => Some(format!("//{share}").into()),
        _ => drive(rest).map(|_| rest.to_owned().into()),
    }
}

/// Returns the part before the first segment.
fn start(text: &str, system: System) -> Option<&str> {
    if system != System::Windows {
        return text.get(..usize::from(text.starts_with('/')));
    }
    let length = match text.as_bytes() {
        [b'/', b'/', ..] => 2,
        [letter, b':', rest @ ..] if letter.is_ascii_alphabetic() => match rest {
            [b'/', ..] => 3,
            // The path begins in the directory that the process uses on that drive.
            _ => return None,
        },
        [b'/', ..] => 1,
        _ => 0,
    };
    text.get(..length)
}

/// Returns the name of the file that a segment names. Windows ignores dots and spaces at the end, and the part after a colon
/// is a part of the file.
fn name(segment: &str, system: System) -> &str {
    if system != System::Windows {
        return segment;
    }
    let name = segment.split(':').next().unwrap_or_default();
    match (
        name.trim_end_matches(' '),
        name.trim_end_matches(['.', ' ']),
    ) {
        (dots @ ("." | ".."), _) => dots,
        // A segment of more than two dots is a name.
        (_, "") => name,
        (_, trimmed) => trimmed,
    }
}

/// Returns a path with the base before it, as far as that is known without a lookup.
fn placed(normal: &str, base: Option<&Path>, system: System) -> Option<String> {
    if is_absolute(normal, system) {
        return Some(normal.to_owned());
    }
    let base = absolute(base?, system)?;
    // This happens only on Windows, where it is a path on the same drive.
    if normal.starts_with('/') {
        return drive(&base).map(|drive| format!("{drive}{normal}"));
    }
    match normal {
        "" => Some(base),
        _ => Some(format!("{}/{normal}", base.trim_end_matches('/'))),
    }
}

/// Returns the rest of a path that is below a directory. Both paths are absolute.
pub(super) fn below<'p>(path: &'p str, directory: &str, system: System) -> Option<&'p str> {
    let mut rest = path;
    for segment in directory.trim_end_matches('/').split('/') {
        let (first, behind) = rest.split_once('/')?;
        if !is_same(first, segment, system) {
            return None;
        }
        rest = behind;
    }
    Some(rest).filter(|rest| !rest.is_empty())
}

pub(super) fn is_same(one: &str, other: &str, system: System) -> bool {
    one == other || system.ignores_case() && folded(one, system) == folded(other, system)
}

fn folded(text: &str, system: System) -> String {
    // Some letters have the same upper-case letter, and others the same lower-case one.
    composed(text, system).to_uppercase().to_lowercase()
}

/// Returns the path to look up, if the text may be one. The path is not made from the base's text, which need not be UTF-8.
fn path_of(normal: &str, base: Option<&Path>, system: System) -> Option<PathBuf> {
    if normal.len() > LONGEST_PATH || !system.is_here() {
        return None;
    }
    match base {
        Some(base) if normal.is_empty() => Some(base.to_owned()),
        Some(base) => Some(base.join(normal)),
        None => is_absolute(normal, system).then(|| normal.into()),
    }
}
