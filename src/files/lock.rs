//! A lock between processes: a process that reads a file and writes it again holds the lock meanwhile.
//!
//! The lock is a separate file beside it, because the file itself is replaced. The lock file exists only while the lock is
//! held, so that none stays in a repository.

#[cfg(unix)]
use std::fs;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::atomic::end_of_links;
use super::there::create_directory;

/// The time that [`lock`] waits. No change of a file takes so long.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
const NEXT_TRY: Duration = Duration::from_millis(5);

/// A held lock. Dropping it releases it; the system releases it when the process ends.
#[must_use]
pub(crate) struct Lock {
    _file: File,
    #[cfg(unix)]
    path: PathBuf,
}

#[cfg(unix)]
impl Drop for Lock {
    /// Removes the file while it is still locked: no other process can hold another file with this name.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Locks a file, or the file at the end of its links. Waits while another process holds the lock.
///
/// # Errors
/// If another process holds the lock for longer than 5 seconds, or if no lock file can be created beside the file.
pub(crate) fn lock(path: &Path) -> io::Result<Lock> {
    let mut name = end_of_links(path)?.into_os_string();
    name.push(".lock");
    let path = PathBuf::from(name);
    if let Some(directory) = path.parent() {
        create_directory(directory)?;
    }
    let deadline = Instant::now() + LONGEST_WAIT;
    loop {
        let busy = match try_lock(&path) {
            Ok(Some(_file)) => {
                #[cfg(unix)]
                return Ok(Lock { _file, path });
                #[cfg(not(unix))]
                return Ok(Lock { _file });
            }
            Ok(None) => io::Error::other("another program is changing it"),
            // Windows also returns this error for a file that is just being removed.
            Err(error) if cfg!(windows) && error.kind() == io::ErrorKind::PermissionDenied => error,
            Err(error) => return Err(error),
        };
        if Instant::now() >= deadline {
            return Err(busy);
        }
        thread::sleep(NEXT_TRY);
    }
}

#[cfg(unix)]
fn try_lock(path: &Path) -> io::Result<Option<File>> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

    use rustix::fs::{FlockOperation, flock};

    let mut options = File::options();
    options.write(true).create(true).truncate(false).mode(0o600);
    // A repository may contain a link with this name.
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    // Another process may have removed the file after it was opened here.
    let held = file.metadata()?;
    let is_current = path
        .symlink_metadata()
        .is_ok_and(|now| (now.dev(), now.ino()) == (held.dev(), held.ino()));
    Ok(is_current.then_some(file))
}

/// Opens the lock file exclusively, so that no other process can open it meanwhile. The system removes it when it is
/// closed.
#[cfg(windows)]
fn try_lock(path: &Path) -> io::Result<Option<File>> {
    use std::os::windows::fs::OpenOptionsExt;

    use windows_sys::Win32::Foundation::{ERROR_SHARING_VIOLATION, GENERIC_WRITE};
    use windows_sys::Win32::Storage::FileSystem::{DELETE, FILE_FLAG_DELETE_ON_CLOSE};

    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    options.access_mode(GENERIC_WRITE | DELETE).share_mode(0);
    options.custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
    match options.open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.raw_os_error() == Some(ERROR_SHARING_VIOLATION as i32) => Ok(None),
        Err(error) => Err(error),
    }
}
