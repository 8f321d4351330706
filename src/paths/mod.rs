//! The names of a file: a path as it is written, and after each of its links. A guard must recognize a file by each of its
//! names, and a grant must hold for all.
//!
//! A written path is made absolute from its directory, and cleaned of `.`, `//` and `..`. Hard links and mounts are not seen.
//! `rules` knows the systems' rules for names, and `links` asks this system. Knows no globs, and not what a path is for.

mod links;
mod names;
mod rules;
#[cfg(test)]
mod tests;

#[cfg(feature = "cli")]
pub(crate) use links::is_of_process;
pub(crate) use links::{Kind, Lookups, Unknown};
pub(crate) use names::{Base, Name, Names};
pub(crate) use rules::{System, begins_at_root, behind, composed};

use std::path::{Component, Path, PathBuf};

/// The longest path, in bytes, that is looked up. The system opens no file by a longer text.
const LONGEST_PATH: usize = 4096;

/// Returns whether no file can be opened by this path.
pub(crate) fn is_too_long(path: &Path) -> bool {
    path.as_os_str().len() > LONGEST_PATH
}

/// Returns a path with each `..` resolved by its text, as some programs do before they open a file.
pub(crate) fn without_parents(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}
