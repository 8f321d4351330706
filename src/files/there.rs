//! Whether something is really not there: what is behind a link to nothing is unknown, not missing.

use std::path::Path;
use std::{fs, io};

/// Returns the link because of which a path does not exist: the path itself or a directory above it, if that leads to
/// nothing. None if the path exists, or is just missing.
pub(crate) fn dangling_link(path: &Path) -> Option<&Path> {
    // Everything below it is missing.
    let lowest = path
        .ancestors()
        .find(|above| above.symlink_metadata().is_ok())?;
    let is_dangling = lowest.is_symlink() && matches!(lowest.try_exists(), Ok(false));
    is_dangling.then_some(lowest)
}

/// Returns what is wrong with such a link, and the next step.
pub(crate) fn to_nothing(link: &Path) -> String {
    format!(
        "`{}` is a link to nothing: remove the link, or create what it leads to",
        link.display()
    )
}

/// Creates a directory and those above it, where they are missing.
pub(crate) fn create_directory(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory).map_err(|error| match dangling_link(directory) {
        // The system says that it exists.
        Some(link) => io::Error::other(to_nothing(link)),
        None => error,
    })
}
