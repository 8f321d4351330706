//! One at a time: whoever reads a file to write it anew has it for themselves, among all processes.
//!
//! The lock is another file beside it, for the file itself is replaced.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Nobody needs a file for so long.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
const NEXT_TRY: Duration = Duration::from_millis(5);

/// Held until it is dropped; the system ends it with the process.
#[must_use]
pub(crate) struct Lock {
    _file: File,
}

/// Waits for whoever has the file.
///
/// # Errors
/// When that takes longer than 5 seconds, or no file can be made beside it.
pub(crate) fn lock(path: &Path) -> io::Result<Lock> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let deadline = Instant::now() + LONGEST_WAIT;
    loop {
        match try_lock(Path::new(&name)) {
            Ok(Some(file)) => return Ok(Lock { _file: file }),
            Ok(None) if Instant::now() < deadline => thread::sleep(NEXT_TRY),
            Ok(None) => return Err(io::Error::other("another program is changing it")),
            Err(error) => return Err(error),
        }
    }
}

#[cfg(unix)]
fn try_lock(path: &Path) -> io::Result<Option<File>> {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::{FlockOperation, flock};

    let mut options = File::options();
    options.write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Nobody else can open it meanwhile.
#[cfg(windows)]
fn try_lock(path: &Path) -> io::Result<Option<File>> {
    use std::os::windows::fs::OpenOptionsExt;

    use windows_sys::Win32::Foundation::ERROR_SHARING_VIOLATION;

    let mut options = File::options();
    options
        .write(true)
        .create(true)
        .truncate(false)
        .share_mode(0);
    match options.open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.raw_os_error() == Some(ERROR_SHARING_VIOLATION as i32) => Ok(None),
        Err(error) => Err(error),
    }
}
