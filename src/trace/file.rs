//! The file of a trace: appends whole lines, and begins a new file when it is full.
//!
//! The file is opened for each line, which costs far less than a hook. So several processes may write to one file, and it
//! may be renamed or removed at any time; each line is a single write at its end. Does not know the content of a
//! line.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::files::{PathRule, append, create_directory, empty};

/// The largest size of a file, and the number of older files that are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) bytes: u64,
    pub(super) older: usize,
}

pub(super) struct TraceFile {
    /// The path without links: the file itself is renamed, not a link.
    pub(super) path: PathBuf,
    rule: PathRule,
    limits: Limits,
}

impl TraceFile {
    /// Creates the file and its parent directories, if they are missing.
    pub(super) fn create(path: &Path, rule: PathRule, limits: Limits) -> io::Result<Self> {
        if let Some(directory) = path.parent() {
            create_directory(directory)?;
        }
        append(path, rule)?;
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Ok(Self { path, rule, limits })
    }

    /// Appends a line, which includes its line break. Creates a file that has vanished, but not its directory: if that
    /// was removed, the trace is not wanted.
    pub(super) fn append(&self, line: &str) -> io::Result<()> {
        self.check_place()?;
        let mut file = append(&self.path, self.rule)?;
        let old = file.metadata()?;
        if old.len() > 0 && old.len().saturating_add(line.len() as u64) > self.limits.bytes {
            self.move_away()?;
            file = append(&self.path, self.rule)?;
            // The new file gets the permissions of the old one. Only its owner can set them.
            let _ = file.set_permissions(old.permissions());
        }
        let text = if ends_within_line(&mut file).unwrap_or(false) {
            Cow::Owned(format!("\n{line}"))
        } else {
            Cow::Borrowed(line)
        };
        // `write_all` could write the rest after another process's line.
        match file.write(text.as_bytes())? {
            length if length < text.len() => {
                Err(io::Error::other("only part of a line could be written"))
            }
            _ => Ok(()),
        }
    }

    /// # Errors
    /// If the directory of a private file is now behind a link, which could lead into the project.
    fn check_place(&self) -> io::Result<()> {
        let Some(parent) = self
            .path
            .parent()
            .filter(|_| self.rule == PathRule::Private)
        else {
            return Ok(());
        };
        if parent.canonicalize()? == parent {
            return Ok(());
        }
        Err(io::Error::other(
            "its directory has been replaced by a link",
        ))
    }

    /// Renames `x.1` to `x.2` and so on, beginning with the oldest; then `x` to `x.1`.
    fn move_away(&self) -> io::Result<()> {
        let older = self.limits.older;
        if older == 0 {
            return empty(&self.path, self.rule);
        }
        let is_free = |number: &usize| self.numbered(*number).symlink_metadata().is_err();
        let last = (1..older).find(is_free).unwrap_or(older);
        for number in (0..last).rev() {
            match fs::rename(self.numbered(number), self.numbered(number + 1)) {
                // Another process has renamed it at the same moment.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                renamed => renamed?,
            }
        }
        Ok(())
    }

    /// Returns the path of an older file; 0 is the file itself.
    fn numbered(&self, number: usize) -> PathBuf {
        let mut name = OsString::from(&self.path);
        if number > 0 {
            name.push(format!(".{number}"));
        }
        name.into()
    }
}

/// Returns whether the last writer was interrupted within a line. A device has no length.
fn ends_within_line(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let before = end(file)?;
    if before.1 == *b"\n" {
        return Ok(false);
    }
    // Another process may be writing this line.
    thread::sleep(Duration::from_millis(1));
    Ok(end(file)? == before)
}

/// Returns the last byte, and its offset.
fn end(file: &mut File) -> io::Result<(u64, [u8; 1])> {
    let mut last = [0];
    let position = file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok((position, last))
}
