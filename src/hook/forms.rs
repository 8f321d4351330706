//! The forms of a path that a glob is compared with: one file has many spellings, and a guard must see through them.
//!
//! Knows the rules of systems for names, and asks this system where links lead. Does not know globs, nor what the text
//! is for. Does not change case. Hard links, mounts, `~` and variables stay what they are.

use std::borrow::Cow;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::globs::with_slashes;

/// The longest path, in bytes, that is looked up. Systems accept no longer one.
const LONGEST_PATH: usize = 4096;

/// The most links without a file that are followed one after the other.
const MOST_LINKS: usize = 8;

/// What stands before a path for which Windows keeps its own rules.
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

    /// Whether paths by these rules can be looked up here.
    fn is_here(self) -> bool {
        (self == Self::Windows) == cfg!(windows)
    }
}

/// Returns the forms of a text that may be a path, or none if it cannot be tested: then it may name any file. The first
/// one is the text. A relative path is meant in the base, or else in the root, both of which are absolute.
pub(super) fn forms(
    text: &str,
    root: Option<&Path>,
    base: Option<&Path>,
    system: System,
) -> Option<Vec<String>> {
    let normal = normal(text, system)?;
    let mut forms = Forms::new(text, system);
    // No path, so it does not mean the base.
    if text.is_empty() {
        return Some(forms.list);
    }
    forms.add(&normal);
    let base = base.or(root);
    let root = Root::new(root, system)?;
    let place = placed(&normal, base, system);
    if let Some(place) = &place {
        let is_below = forms.add_below(place, &root);
        // Another computer, or this one by another name. It may take long to answer, and learns who asks.
        if place.starts_with("//") && !is_below {
            return None;
        }
    }
    if let Some(path) = path_of(&normal, base, system) {
        forms.add_real(&path, place.as_deref(), &root)?;
    }
    Some(forms.list)
}

/// Returns a text as the names of files are compared: macOS treats composed and decomposed letters as the same.
pub(super) fn composed(text: &str, system: System) -> Cow<'_, str> {
    match system {
        System::Mac => normalized(text),
        System::Unix | System::Windows => text.into(),
    }
}

#[cfg(any(test, target_vendor = "apple"))]
fn normalized(text: &str) -> Cow<'_, str> {
    use unicode_normalization::{UnicodeNormalization, is_nfc};

    match is_nfc(text) {
        true => text.into(),
        false => text.nfc().collect::<String>().into(),
    }
}

/// Only macOS needs the tables.
#[cfg(not(any(test, target_vendor = "apple")))]
fn normalized(text: &str) -> Cow<'_, str> {
    text.into()
}

/// The forms that were found up to now.
struct Forms {
    list: Vec<String>,
    system: System,
}

impl Forms {
    fn new(text: &str, system: System) -> Self {
        let list = vec![composed(text, system).into_owned()];
        Self { list, system }
    }

    fn add(&mut self, form: &str) {
        let form = composed(form, self.system);
        if !form.is_empty() && !self.list.iter().any(|it| *it == form) {
            self.list.push(form.into_owned());
        }
    }

    /// Adds what follows the root in an absolute path. Returns whether the path is below the root.
    fn add_below(&mut self, path: &str, root: &Root) -> bool {
        let mut is_below = false;
        for root in [&root.text, &root.real].into_iter().flatten() {
            if let Some(rest) = below(path, root, self.system) {
                self.add(rest);
                is_below = true;
            }
        }
        is_below
    }

    /// Adds the forms of an absolute path, by its text at this place, when links are followed. None if it is not known
    /// where they lead.
    fn add_real(&mut self, path: &Path, place: Option<&str>, root: &Root) -> Option<()> {
        let Some(real) = real(path).ok()? else {
            return Some(());
        };
        let real = normal(&real.to_string_lossy(), self.system)?;
        if place != Some(&*real) {
            self.add_stages(path, root);
        }
        if !self.add_below(&real, root) {
            self.add(&real);
        }
        Some(())
    }

    /// Adds the forms below the root when only the first links are followed. If the root is known by another name, and
    /// `secrets` in it leads out of it, `other-name/secrets/key` is still a file in `secrets`.
    fn add_stages(&mut self, path: &Path, root: &Root) {
        let ancestors = Vec::from_iter(path.ancestors().skip(1));
        for ancestor in ancestors.into_iter().rev() {
            let Ok(real) = fs::canonicalize(ancestor) else {
                return;
            };
            let rest = path.strip_prefix(ancestor).unwrap_or(path);
            let whole = real.join(rest);
            if let Some(whole) = normal(&whole.to_string_lossy(), self.system) {
                self.add_below(&whole, root);
            }
        }
    }
}

/// The project's root directory.
struct Root {
    /// As it was given.
    text: Option<String>,
    /// With links followed.
    real: Option<String>,
}

impl Root {
    /// None if it is not known where the root is.
    fn new(root: Option<&Path>, system: System) -> Option<Self> {
        let mut found = Self {
            text: root.and_then(|it| absolute(it, system)),
            real: None,
        };
        if let Some(root) = root.filter(|_| system.is_here()) {
            let real = real(root).ok()?;
            found.real = real.and_then(|it| absolute(&it, system));
        }
        Some(found)
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

/// Returns a path without what does not change which file it names. None if that depends on links or on the process:
/// `..`, and on Windows `C:x` and devices.
fn normal(text: &str, system: System) -> Option<String> {
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

/// Returns a path of Windows as it is without a prefix for devices; None if it names another device than a drive.
fn without_device(text: Cow<'_, str>) -> Option<Cow<'_, str>> {
    let mut rests = DEVICES.iter().filter_map(|it| text.strip_prefix(it));
    let Some(rest) = rests.next() else {
        return Some(text);
    };
    match rest.split_once('/') {
        Some((unc, share)) if unc.eq_ignore_ascii_case("UNC") => Some(format!("//{share}").into()),
        _ => drive(rest).map(|_| rest.to_owned().into()),
    }
}

/// Returns what stands before the first segment.
fn start(text: &str, system: System) -> Option<&str> {
    if system != System::Windows {
        return text.get(..usize::from(text.starts_with('/')));
    }
    let length = match text.as_bytes() {
        [b'/', b'/', ..] => 2,
        [letter, b':', rest @ ..] if letter.is_ascii_alphabetic() => match rest {
            [b'/', ..] => 3,
            // In the directory that the process uses on that drive.
            _ => return None,
        },
        [b'/', ..] => 1,
        _ => 0,
    };
    text.get(..length)
}

/// Returns the name of the file that a segment names: Windows leaves out dots and spaces at the end, and what follows a
/// colon is a part of the file.
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
        // More dots than two are a name.
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
    // Only on Windows, where it is a path on the same drive.
    if normal.starts_with('/') {
        return drive(&base).map(|drive| format!("{drive}{normal}"));
    }
    match normal {
        "" => Some(base),
        _ => Some(format!("{}/{normal}", base.trim_end_matches('/'))),
    }
}

/// Returns what follows a directory in a path that is below it; both are absolute.
fn below<'p>(path: &'p str, directory: &str, system: System) -> Option<&'p str> {
    let mut rest = path;
    for segment in directory.trim_end_matches('/').split('/') {
        let (first, behind) = rest.split_once('/')?;
        if !is_same(first, segment, system) {
            return None;
        }
        rest = behind;
    }
    Some(rest).filter(|it| !it.is_empty())
}

fn is_same(one: &str, other: &str, system: System) -> bool {
    one == other || system.ignores_case() && folded(one, system) == folded(other, system)
}

fn folded(text: &str, system: System) -> String {
    // Some letters have the same large letter, and others the same small one.
    composed(text, system).to_uppercase().to_lowercase()
}

/// Returns the path to look up, if the text may be one. Not made from the base's text: that need not be UTF-8.
fn path_of(normal: &str, base: Option<&Path>, system: System) -> Option<PathBuf> {
    let may_exist = normal.len() <= LONGEST_PATH && !normal.contains('\0');
    if !may_exist || !system.is_here() {
        return None;
    }
    match base {
        Some(base) if normal.is_empty() => Some(base.to_owned()),
        Some(base) => Some(base.join(normal)),
        None => is_absolute(normal, system).then(|| normal.into()),
    }
}

/// Returns where a file is, or would be created, when links are followed; none if it cannot exist.
fn real(path: &Path) -> io::Result<Option<PathBuf>> {
    match followed(path) {
        Err(error) if error.kind() == ErrorKind::InvalidFilename => Ok(None),
        real => real,
    }
}

fn followed(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut path = path.to_owned();
    for _ in 0..=MOST_LINKS {
        let Some((directory, rest)) = split(&path)? else {
            return Ok(None);
        };
        match target(&directory, &rest)? {
            Some(target) => path = target,
            None => return Ok(Some(directory.join(rest))),
        }
    }
    Err(io::Error::other("too many links"))
}

/// Returns the real place of the longest part of a path that exists, and the rest. None if no part exists.
fn split(path: &Path) -> io::Result<Option<(PathBuf, PathBuf)>> {
    if let Some(real) = found(path)? {
        return Ok(Some((real, PathBuf::new())));
    }
    // By halves: a command with a hundred slashes must not take a hundred lookups.
    let ancestors = Vec::from_iter(path.ancestors());
    let (mut missing, mut existing) = (0, ancestors.len());
    let mut longest = None;
    while missing + 1 < existing {
        let middle = usize::midpoint(missing, existing);
        match found(ancestors[middle])? {
            Some(real) => (existing, longest) = (middle, Some(real)),
            None => missing = middle,
        }
    }
    let Some(real) = longest else {
        return Ok(None);
    };
    let rest = path.strip_prefix(ancestors[existing]);
    Ok(Some((real, rest.map_err(io::Error::other)?.to_owned())))
}

/// Returns the real place of a file that exists.
fn found(path: &Path) -> io::Result<Option<PathBuf>> {
    match fs::canonicalize(path) {
        Ok(real) => Ok(Some(real)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Returns where a path in a real directory leads, if it begins with a link to a file that does not exist: writing to
/// the link creates that file.
fn target(directory: &Path, rest: &Path) -> io::Result<Option<PathBuf>> {
    let mut parts = rest.components();
    let Some(first) = parts.next() else {
        return Ok(None);
    };
    let target = match fs::read_link(directory.join(first)) {
        Ok(target) => directory.join(target),
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    // Not joined: an empty rest would add a `/`, behind which no file is found.
    Ok(Some(target.components().chain(parts).collect()))
}
