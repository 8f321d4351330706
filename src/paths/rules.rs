//! The rules of systems for paths: what separates names, which parts have no meaning, and which names are the same.
//!
//! Reads text alone, and looks at no files. The system is a parameter, so that the rules of each one are tested on all.

use std::borrow::Cow;

use crate::globs::with_slashes;

/// The prefixes of paths for which Windows has special rules.
const DEVICES: [&str; 3] = ["//?/", "//./", "/??/"];

/// The rules of a system for the names of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum System {
    Unix,
    Mac,
    Windows,
}

impl System {
    pub(crate) const NATIVE: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_vendor = "apple") {
        Self::Mac
    } else {
        Self::Unix
    };

    /// Returns whether letter case makes no difference in a directory of which nothing else is known.
    pub(super) fn ignores_case(self) -> bool {
        self != Self::Unix
    }

    /// Returns whether paths by these rules can be looked up here.
    pub(super) fn is_here(self) -> bool {
        (self == Self::Windows) == cfg!(windows)
    }
}

/// Returns a text in the form in which the names of files are compared: macOS treats composed and decomposed letters as the
/// same.
pub(crate) fn composed(text: &str, system: System) -> Cow<'_, str> {
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

/// Returns a path without the parts that have no meaning. Each `..` stays. None if the file depends on the process, as that of
/// `C:x`, or is a device.
pub(super) fn plain(text: &str, system: System) -> Option<String> {
    let text = match system {
        System::Windows => without_device(with_slashes(text))?,
        _ => text.into(),
    };
    let start = start(&text, system)?;
    let mut plain = start.to_owned();
    for segment in text[start.len()..].split('/') {
        match name(segment, system) {
            "" | "." => {}
            name if plain.len() == start.len() => plain += name,
            name => {
                plain.push('/');
                plain += name;
            }
        }
    }
    Some(plain)
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

/// Returns the part before the first name.
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

/// Returns the `C:` of a path that begins with `C:/`.
fn drive(path: &str) -> Option<&str> {
    match path.as_bytes() {
        [letter, b':', b'/', ..] if letter.is_ascii_alphabetic() => path.get(..2),
        _ => None,
    }
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

pub(crate) fn begins_at_root(plain: &str, system: System) -> bool {
    match system {
        System::Windows => plain.starts_with("//") || drive(plain).is_some(),
        _ => plain.starts_with('/'),
    }
}

/// Returns a plain path with an absolute directory before it.
pub(super) fn joined(directory: &str, plain: &str, system: System) -> String {
    if begins_at_root(plain, system) {
        return plain.to_owned();
    }
    // This happens only on Windows, where it is a path on the same drive.
    if plain.starts_with('/') {
        return format!("{}{plain}", drive(directory).unwrap_or_default());
    }
    match plain {
        "" => directory.to_owned(),
        _ => format!("{}/{plain}", directory.trim_end_matches('/')),
    }
}

/// Returns an absolute plain path with each `..` resolved by name.
pub(super) fn resolved(path: &str, system: System) -> String {
    let start = start(path, system).unwrap_or_default();
    let mut resolved = start.to_owned();
    for name in path[start.len()..].split('/') {
        if name == ".." {
            let last = resolved[start.len()..].rfind('/');
            resolved.truncate(start.len() + last.unwrap_or_default());
            continue;
        }
        if resolved.len() > start.len() {
            resolved.push('/');
        }
        resolved += name;
    }
    resolved
}

/// Returns the part of an absolute path behind a directory: empty for the directory itself, none if the path is not in it.
pub(crate) fn behind<'p>(path: &'p str, directory: &str, ignores_case: bool) -> Option<&'p str> {
    let mut rest = Some(path);
    for name in directory.trim_end_matches('/').split('/') {
        let (first, behind) = match rest?.split_once('/') {
            Some((first, behind)) => (first, Some(behind)),
            None => (rest?, None),
        };
        if !is_same(first, name, ignores_case) {
            return None;
        }
        rest = behind;
    }
    Some(rest.unwrap_or_default())
}

pub(super) fn is_same(one: &str, other: &str, ignores_case: bool) -> bool {
    one == other || ignores_case && folded(one) == folded(other)
}

fn folded(text: &str) -> String {
    // Some letters have the same upper-case letter, and others the same lower-case one.
    text.to_uppercase().to_lowercase()
}
