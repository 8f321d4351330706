//! Replacing a file in one step: whoever reads it, and whoever is killed meanwhile, finds the old one
//! or the new one, whole.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::NamedTempFile;

/// Who may read a file that is not there yet; one that is keeps its mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NewFile {
    /// Whom the user's umask lets.
    AsUsual,
    /// The user alone.
    Private,
}

/// Puts a text in the place of a file in one step: whoever reads it sees the old or the new one.
pub(crate) fn replace(path: &Path, text: &str, new: NewFile) -> io::Result<()> {
    let target = end_of_links(path)?;
    let folder = target
        .parent()
        .ok_or_else(|| io::Error::other("it has no folder"))?;
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".hooks").suffix(".json");
    let kept = fs::metadata(&target)
        .ok()
        .map(|metadata| metadata.permissions());
    #[cfg(unix)]
    if kept.is_none() && new == NewFile::AsUsual {
        use std::os::unix::fs::PermissionsExt;
        // What the user's umask leaves of it. Another is private until it is whole.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    #[cfg(not(unix))]
    let _ = new;
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Some(permissions) = kept {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    put_in_place(file, &target)?;
    sync_folder(folder);
    Ok(())
}

/// A link stays a link; what it leads to is replaced, also where there is nothing yet.
pub(crate) fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    // As many as Linux follows (path_resolution(7)).
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            // A relative one counts from the folder that it lies in.
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

/// Windows refuses to replace a file in the moment in which somebody reads it: that passes.
fn put_in_place(mut file: NamedTempFile, target: &Path) -> io::Result<()> {
    let tries = if cfg!(windows) { 50 } else { 1 };
    for left in (0..tries).rev() {
        match file.persist(target) {
            Err(refused) if left > 0 && refused.error.kind() == io::ErrorKind::PermissionDenied => {
                file = refused.file;
                std::thread::sleep(Duration::from_millis(5));
            }
            done => return done.map(drop).map_err(|refused| refused.error),
        }
    }
    Ok(())
}

/// Makes the change of name last through a loss of power. Some file systems cannot do this; the
/// file has been replaced all the same.
fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    if let Ok(folder) = fs::File::open(folder) {
        let _ = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _ = folder;
}
