//! The file that an edit replaces: finds it, locks it, and copies it if it is broken.
//!
//! Does not know the content of the file.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::file::{self, FileError};
use super::report::ConfigError;
use crate::files::{self, NewFile};
use crate::logging::warn;

/// The most copies of a broken file. When they exist, saving fails, so that a person looks at them.
const MOST_COPIES: usize = 100;

/// Returns the one of these files that exists, else the first.
pub(super) fn place(candidates: &[PathBuf]) -> Result<PathBuf, ConfigError> {
    // A link to a missing file counts: a person has chosen that path.
    let is_there = |path: &&PathBuf| path.symlink_metadata().is_ok();
    let mut existing: Vec<PathBuf> = candidates.iter().filter(is_there).cloned().collect();
    if existing.len() > 1 {
        return Err(ConfigError::SeveralFiles { paths: existing });
    }
    let path = existing.pop().or_else(|| candidates.first().cloned());
    path.ok_or(ConfigError::NoPlace)
}

/// Reads the current text; none if the file does not exist. A project's file must be within its root.
pub(super) fn read(path: &Path, root: Option<&Path>) -> Result<Option<String>, ConfigError> {
    check_place(path, root)?;
    file::read_for_saving(path).or_else(|error| match error {
        FileError::Dangling => Ok(None),
        FileError::Io(source) => Err(ConfigError::Read {
            path: path.to_owned(),
            source,
        }),
        FileError::NoFile(_) | FileError::NotFollowed(_) => {
            Err(cannot_write(path, io::Error::other(error.to_string())))
        }
        _ => Err(unusable(path, error.to_string())),
    })
}

/// Locks a file, so that no other program saves it meanwhile.
pub(super) fn lock(path: &Path, root: Option<&Path>) -> Result<files::Lock, ConfigError> {
    check_place(path, root)?;
    files::lock(path).map_err(|error| cannot_write(path, error))
}

/// Replaces the text in one step.
pub(super) fn replace(path: &Path, text: &str) -> Result<(), ConfigError> {
    files::replace(path, text, NewFile::AsUsual).map_err(|error| cannot_write(path, error))
}

fn check_place(path: &Path, root: Option<&Path>) -> Result<(), ConfigError> {
    match root {
        Some(root) => check_within(root, path).map_err(|error| cannot_write(path, error)),
        None => Ok(()),
    }
}

/// Checks that the path is within the root. A repository may contain a link to one of the user's files, which
/// must not be replaced. A link that leads out and in again may be used, but not one with `..` behind a directory
/// that is missing: it would be created.
fn check_within(root: &Path, path: &Path) -> io::Result<()> {
    // A project that does not exist yet has no links.
    let Ok(root) = root.canonicalize() else {
        return Ok(());
    };
    let target = std::path::absolute(files::end_of_links(path)?)?;
    let mut ancestors = target.ancestors();
    let existing =
        ancestors.find_map(|directory| Some((directory, directory.canonicalize().ok()?)));
    let is_within = existing.is_some_and(|(directory, real)| {
        let new = target.strip_prefix(directory).unwrap_or(&target);
        let goes_up = new.components().any(|part| part == Component::ParentDir);
        real.starts_with(root) && !goes_up
    });
    if is_within {
        Ok(())
    } else {
        Err(io::Error::other("a link leads out of the project"))
    }
}

/// Copies a broken file to a new one beside it, and logs the path.
pub(super) fn put_aside(path: &Path, reason: &str) -> Result<(), ConfigError> {
    let copy = copy_aside(path).map_err(|error| cannot_write(path, error))?;
    warn!(
        "{} {reason}; saved a copy as {}",
        path.display(),
        copy.display()
    );
    Ok(())
}

fn copy_aside(path: &Path) -> io::Result<PathBuf> {
    let names = (0..MOST_COPIES).map(|number| {
        let mut name = path.as_os_str().to_owned();
        name.push(".broken");
        if number > 0 {
            name.push(format!(".{number}"));
        }
        PathBuf::from(name)
    });
    let free = names
        .into_iter()
        .find(|name| name.symlink_metadata().is_err());
    let copy = free.ok_or_else(|| {
        io::Error::other(format!(
            "{MOST_COPIES} copies of broken files exist next to it: check and remove them"
        ))
    })?;
    files::copy_to_new(path, &copy)?;
    Ok(copy)
}

pub(super) fn unusable(path: &Path, reason: String) -> ConfigError {
    let path = path.to_owned();
    ConfigError::Unusable { path, reason }
}

pub(super) fn cannot_write(path: &Path, source: io::Error) -> ConfigError {
    let path = path.to_owned();
    ConfigError::Write { path, source }
}
