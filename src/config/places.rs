//! Where files are: below the user's configuration directory, and below a project's root.
//!
//! Knows no names of files.

use std::path::{Path, PathBuf};

/// The XDG Base Directory Specification: a relative path is to be ignored.
pub(super) fn config_home() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    named
        .filter(|path| path.is_absolute())
        .or_else(|| home::home_dir().map(|home| home.join(".config")))
}

/// With the system's own separators, for people to see.
pub(super) fn below(directory: &Path, files: &[PathBuf]) -> Vec<PathBuf> {
    files
        .iter()
        .map(|file| directory.join(file).components().collect())
        .collect()
}

pub(super) fn first_existing(candidates: Vec<PathBuf>) -> Option<PathBuf> {
    let existing = candidates.iter().find(|path| path.exists()).cloned();
    existing.or_else(|| candidates.into_iter().next())
}

/// The path from the root of the file system. One that is empty, and one where the current directory cannot
/// be read, stays as it is.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
