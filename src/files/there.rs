//! Distinguishes a missing file from an unknown one: a file behind a link that cannot be followed is unknown.

use std::path::Path;
use std::{fs, io};

/// Returns whether the error says that nothing is there. A path below something that is not a directory counts too, as on
/// Windows.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// Returns whether something is at a path, or may be: a path that cannot be read counts as there.
pub(crate) fn is_there(path: &Path) -> bool {
    match path.metadata() {
        Err(error) if is_missing(&error) => dangling_link(path).is_some(),
        _ => true,
    }
}

/// Returns the link that keeps a path from being read: the path itself or a directory above it, if the link cannot be
/// followed. It leads to nothing, to itself, through or to something that is not a directory, or where the user may not look.
/// None if the path exists, or is just missing.
pub(crate) fn dangling_link(path: &Path) -> Option<&Path> {
    dangling_directory(path).filter(|link| *link != path || link.metadata().is_err())
}

/// Like [`dangling_link`], for a path that must be a directory: also returns a link that leads to a file.
pub(crate) fn dangling_directory(path: &Path) -> Option<&Path> {
    no_directory(path).filter(|lowest| lowest.is_symlink())
}

/// Returns the lowest existing part of a path, below which everything is missing, if it is no directory.
fn no_directory(path: &Path) -> Option<&Path> {
    // A link with a slash at its end would be followed, so the slash is removed.
    let mut ancestors = path.components().as_path().ancestors();
    let lowest = ancestors.find(|above| above.symlink_metadata().is_ok())?;
    (!lowest.is_dir()).then_some(lowest)
}

/// Describes why a link cannot be followed, and the next step.
pub(crate) fn to_nothing(link: &Path) -> String {
    let display = link.display();
    match link.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            format!("`{display}` is a link to nothing: remove the link, or create what it leads to")
        }
        Err(error) => {
            format!("`{display}` is a link that cannot be followed: {error}; remove or correct it")
        }
        Ok(_) => format!(
            "`{display}` is a link to something that is not a directory: remove or correct it"
        ),
    }
}

/// Creates a directory and those above it, where they are missing.
pub(crate) fn create_directory(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory).map_err(|error| match no_directory(directory) {
        // The system reports only that it exists.
        Some(link) if link.is_symlink() => io::Error::other(to_nothing(link)),
        Some(file) => {
            let display = file.display();
            io::Error::other(format!("`{display}` is no directory: rename or remove it"))
        }
        None => error,
    })
}
