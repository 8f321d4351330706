//! Files that the command line names: read without blocking forever, replaced atomically.
//!
//! Does not read hooks files: the library does.

use std::fmt::Display;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
#[cfg(unix)]
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::cli::error::Failure;

/// Opens a regular file. Its type is checked after it is open, so that it cannot be replaced between
/// the check and the opening.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    // Without these flags, opening a pipe waits for its other end. They do not affect a regular file.
    #[cfg(unix)]
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = match options.open(path) {
        Ok(file) => file,
        // A socket cannot be opened, and on Windows neither can a directory.
        Err(error) => {
            return Err(match path.metadata() {
                Ok(metadata) if !metadata.is_file() => not_regular(&metadata),
                _ => error,
            });
        }
    };
    let metadata = file.metadata()?;
    if metadata.is_file() {
        Ok(file)
    } else {
        Err(not_regular(&metadata))
    }
}

/// The most bytes of a file with a part of an event.
pub(crate) const LARGEST: u64 = 16 * 1024 * 1024;

/// Reads the whole text.
pub(crate) fn text_of(input: impl Read) -> io::Result<String> {
    text_up_to(LARGEST, input)
}

/// Reads the whole text, up to a limit, which is a whole number of MiB.
pub(crate) fn text_up_to(most: u64, input: impl Read) -> io::Result<String> {
    let mut text = String::new();
    let length = input.take(most + 1).read_to_string(&mut text)?;
    if length as u64 > most {
        let words = format!("it is larger than {} MiB", most / (1024 * 1024));
        return Err(io::Error::other(words));
    }
    Ok(text)
}

/// Returns the path relative to the working directory if it is below it.
pub(crate) fn short(path: &Path) -> &Path {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path)
}

/// Returns the error of a file, or of an option with its file, that cannot be read.
pub(crate) fn cannot_read(what: &str, why: impl Display) -> Failure {
    Failure::new(format!("cannot read `{what}`: {why}"))
        .with_fix("name a file that exists, or `-` for standard input")
}

/// Replaces or creates a file with this text. It has this mode from the beginning, or that of any new file; on
/// Windows the mode has no effect.
pub(crate) fn replace(path: &Path, text: &str, mode: Option<u32>) -> io::Result<()> {
    // A symbolic link stays a link: its target is replaced.
    let target = match fs::canonicalize(path) {
        Ok(target) => target,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    if let Ok(metadata) = target.metadata()
        && !metadata.is_file()
    {
        return Err(not_regular(&metadata));
    }
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    if mode.is_none() {
        // The system removes the bits of the umask.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    // Until then, only the owner can read it.
    #[cfg(unix)]
    if let Some(mode) = mode {
        file.as_file()
            .set_permissions(fs::Permissions::from_mode(mode))?;
    }
    #[cfg(not(unix))]
    let _ = mode;
    file.persist(target)?;
    Ok(())
}

/// Returns the mode of a file for [`replace`].
#[cfg(unix)]
pub(crate) fn mode_of(file: &File) -> io::Result<u32> {
    Ok(file.metadata()?.permissions().mode() & 0o666)
}

#[cfg(not(unix))]
pub(crate) fn mode_of(_file: &File) -> io::Result<u32> {
    Ok(PRIVATE)
}

/// The mode of a file that only its owner can read and write.
pub(crate) const PRIVATE: u32 = 0o600;

fn not_regular(metadata: &Metadata) -> io::Error {
    let kind = kind_of(metadata);
    io::Error::other(format!(
        "{kind}, expected a regular file (`-` stands for standard input and output)"
    ))
}

fn kind_of(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    if kind.is_dir() {
        return "a directory";
    }
    #[cfg(unix)]
    if kind.is_fifo() {
        return "a named pipe";
    } else if kind.is_socket() {
        return "a socket";
    }
    "a device"
}
