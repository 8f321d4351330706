//! Replaces a file in one step: a reader always finds the whole old file or the whole new file, even if the
//! writing process is killed.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::NamedTempFile;

use super::there::create_directory;

/// The permissions of a file that does not exist yet. An existing file keeps its mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NewFile {
    /// The permissions that the user's umask allows.
    AsUsual,
    /// Only the user can read and write the file.
    Private,
}

/// Replaces the content of a file in one step: a reader sees either the old file or the new one.
pub(crate) fn replace(path: &Path, text: &str, new: NewFile) -> io::Result<()> {
    let target = end_of_links(path)?;
    let directory = target
        .parent()
        .ok_or_else(|| io::Error::other("it has no parent directory"))?;
    create_directory(directory)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".hooks").suffix(".json");
    let kept = fs::metadata(&target)
        .ok()
        .map(|metadata| metadata.permissions());
    #[cfg(unix)]
    if kept.is_none() && new == NewFile::AsUsual {
        use std::os::unix::fs::PermissionsExt;
        // The user's umask applies to this mode. Any other new file is private until it is complete.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    #[cfg(not(unix))]
    let _ = new;
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    if let Some(permissions) = kept {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    put_in_place(file, &target)?;
    sync_directory(directory);
    Ok(())
}

/// Copies a program to a path in one step. A link there is replaced, and not what it leads to.
#[cfg(feature = "cli")]
pub(crate) fn replace_program(path: &Path, program: &Path) -> io::Result<()> {
    let mut source = super::open(program)?;
    let directory = path.parent().unwrap_or(Path::new(""));
    super::create_private(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    io::copy(&mut source, &mut file)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let executable = fs::Permissions::from_mode(0o700);
        file.as_file().set_permissions(executable)?;
    }
    // A shell runs an empty file as a script that succeeds, as a loss of power may leave it.
    file.as_file().sync_all()?;
    put_in_place(file, path)?;
    sync_directory(directory);
    Ok(())
}

/// Follows symbolic links to the file that will be replaced, which need not exist. The links themselves stay.
pub(crate) fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    // Linux follows the same number (path_resolution(7)).
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            // A relative target is relative to the directory of the link.
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

/// Renames the new file over the old one. Tries again on Windows, which refuses this while another process reads the
/// old file.
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

/// Makes the rename survive a loss of power. Some file systems cannot do this; the file has been replaced
/// in any case.
fn sync_directory(directory: &Path) {
    #[cfg(unix)]
    if let Ok(directory) = fs::File::open(directory) {
        let _ = directory.sync_all();
    }
    #[cfg(not(unix))]
    let _ = directory;
}

#[cfg(all(test, windows))]
mod tests {
    use std::os::windows::fs::OpenOptionsExt;

    use super::*;

    #[test]
    fn a_file_that_is_being_read_is_replaced_afterwards() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.json");
        fs::write(&path, "old").unwrap();
        let mut options = fs::File::options();
        let reader = options.read(true).share_mode(0).open(&path).unwrap();
        let end = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            drop(reader);
        });
        replace(&path, "new", NewFile::AsUsual).unwrap();
        end.join().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }
}
