//! Finds files below the user's configuration directory and below a project's root.
//!
//! Knows no names of files.

use std::path::{Path, PathBuf};

use crate::files;

/// Returns `$XDG_CONFIG_HOME`, else `~/.config`. The XDG Base Directory Specification says to ignore a
/// relative path.
pub(crate) fn config_home() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    named
        .filter(|path| path.is_absolute())
        .or_else(|| home::home_dir().map(|home| home.join(".config")))
}

/// Joins paths with the system's separators, for messages.
pub(super) fn below(directory: &Path, files: &[impl AsRef<Path>]) -> Vec<PathBuf> {
    let paths = files.iter().map(|file| directory.join(file));
    paths.map(|path| path.components().collect()).collect()
}

/// The most directories in which a project is searched for.
const MOST_LEVELS: usize = 64;

/// Returns the nearest directory from `start` upwards that `holds_hooks`, up to the one with `.git`; else the one with
/// `.git`. Without `.git` below the user's home directory, returns `start`; none if that is the home directory, whose hooks
/// files are the user's own.
pub(super) fn nearest_project(
    start: &Path,
    holds_hooks: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let start = resolved(start);
    let home = home::home_dir().map(|home| resolved(&home));
    let mut nearest = None;
    for directory in start.ancestors().take(MOST_LEVELS) {
        // The files in the home directory are the user's own, not a project's.
        if home.as_deref() == Some(directory) {
            break;
        }
        if nearest.is_none() && holds_hooks(directory) {
            nearest = Some(directory);
        }
        if has_git(directory) {
            return Some(nearest.unwrap_or(directory).to_owned());
        }
    }
    let is_home = home.as_ref() == Some(&start) && !has_git(&start);
    (!is_home).then_some(start)
}

fn has_git(directory: &Path) -> bool {
    files::is_there(&directory.join(".git"))
}

/// Returns the path without links. On Windows, links stay: `cmd` cannot run in a path that begins with `\\?\`.
fn resolved(path: &Path) -> PathBuf {
    if cfg!(windows) {
        return absolute(path);
    }
    path.canonicalize().unwrap_or_else(|_| absolute(path))
}

/// Returns the first of these files that exists, else the first. A link to nothing exists: a person has chosen that path.
pub(super) fn first_existing(candidates: Vec<PathBuf>) -> Option<PathBuf> {
    let existing = candidates
        .iter()
        .find(|path| path.symlink_metadata().is_ok());
    let existing = existing.cloned();
    existing.or_else(|| candidates.into_iter().next())
}

/// Returns the path from the root of the file system. An empty path is returned unchanged, and so is any path
/// if the current directory cannot be read.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
