//! Opens regular files only. Opening a pipe could block forever, and so could reading a device.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Opens a regular file. Its type is checked after it was opened, so that it cannot be replaced between the
/// check and the opening.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // These flags have no effect on a regular file.
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("not a regular file"))
    }
}

/// Returns whether the system executes the file if it is named as a program. False on Windows, where only the name decides this.
pub(crate) fn is_executable(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        metadata.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}
