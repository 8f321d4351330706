//! Opening a file that is to be read, and nothing else by its name: to open a pipe may take for ever,
//! and to read a device too.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a regular file. It is asked for its kind once it is open, so that nobody can put something
/// else in its place between a look and the opening.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // For a file they mean nothing.
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is no regular file"))
    }
}
