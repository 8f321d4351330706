//! The file of a trace: whole lines at its end, and a new one when it is full.
//!
//! Several processes may write to one file. Each line is one write at the file's end, so that none is
//! torn apart; whoever finds the file full, and gets its lock, renames it, and the others see that
//! the path leads somewhere else. Knows nothing of what is in a line.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How large a file may be, and how many older ones are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) bytes: u64,
    pub(super) older: usize,
}

#[cfg(unix)]
const LOCK_TRIES: usize = 50;
#[cfg(unix)]
const LOCK_PAUSE: Duration = Duration::from_millis(1);

pub(super) struct TraceFile {
    /// Where links lead to: what is renamed is the file.
    path: PathBuf,
    limits: Limits,
    file: File,
    /// What stands at its end is not a whole line.
    is_torn: bool,
}

impl TraceFile {
    /// Opens the file, or makes it and the folders above it.
    pub(super) fn open(path: &Path, limits: Limits) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = open(path)?;
        Ok(Self {
            path: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
            limits,
            is_torn: ends_within_line(path, &file),
            file,
        })
    }

    /// Writes a line, which brings its line break along.
    pub(super) fn append(&mut self, line: &str) -> io::Result<()> {
        self.make_room(line.len() as u64)?;
        let text = if self.is_torn {
            Cow::Owned(format!("\n{line}"))
        } else {
            Cow::Borrowed(line)
        };
        // Not `write_all`: the rest could come behind another process's line.
        let written = self.file.write(text.as_bytes())?;
        self.is_torn = written < text.len();
        if self.is_torn {
            return Err(io::Error::other("only a part of a line could be written"));
        }
        Ok(())
    }

    fn make_room(&mut self, bytes: u64) -> io::Result<()> {
        if !self.is_in_place()? {
            self.reopen()?;
        }
        let length = self.file.metadata()?.len();
        let full = length.saturating_add(bytes);
        if length == 0 || full <= self.limits.bytes {
            return Ok(());
        }
        match self.rotate(length) {
            // Another process is about to, or cannot: there is some room to wait for it.
            Err(_) if full <= self.limits.bytes.saturating_mul(2) => Ok(()),
            rotated => rotated,
        }
    }

    /// Whether the path still leads to the file that is open: another process may have renamed it.
    #[cfg(unix)]
    fn is_in_place(&self) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt;
        let open = self.file.metadata()?;
        Ok(fs::metadata(&self.path)
            .is_ok_and(|there| (there.dev(), there.ino()) == (open.dev(), open.ino())))
    }

    /// Windows does not tell. To open the file anew each time costs less than a hook's start by far.
    #[cfg(not(unix))]
    #[allow(clippy::unused_self)]
    fn is_in_place(&self) -> io::Result<bool> {
        Ok(false)
    }

    /// Makes a file that has vanished, but not its folder: whoever removed that does not want it.
    fn reopen(&mut self) -> io::Result<()> {
        self.file = open(&self.path)?;
        // Where that is done for each line, others would be met in the midst of theirs all the time;
        // what this one has left half it knows.
        if cfg!(unix) {
            self.is_torn = ends_within_line(&self.path, &self.file);
        }
        Ok(())
    }

    fn rotate(&mut self, length: u64) -> io::Result<()> {
        self.lock()?;
        // The one that had the lock before may have done it.
        let old = self.file.metadata()?;
        let is_full = old.len() >= length;
        let moved = if is_full && (self.is_in_place()? || cfg!(not(unix))) {
            self.move_away()
        } else {
            Ok(())
        };
        // What was locked is closed, and so unlocked.
        self.reopen()?;
        if moved.is_ok() {
            // Whoever may read the old one may read the new. Its owner alone can say so.
            let _ = self.file.set_permissions(old.permissions());
        }
        moved
    }

    /// Of those who find the same file full, one has it, for as long as it takes to rename some
    /// files; the others wait, but not for one that stands still.
    #[cfg(unix)]
    fn lock(&self) -> io::Result<()> {
        use rustix::fs::{FlockOperation, flock};
        for _ in 0..LOCK_TRIES {
            match flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
                Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(LOCK_PAUSE),
                // Some file systems have no locks.
                _ => return Ok(()),
            }
        }
        Err(io::ErrorKind::WouldBlock.into())
    }

    #[cfg(not(unix))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)]
    fn lock(&self) -> io::Result<()> {
        Ok(())
    }

    /// `x.1` to `x.2` and so on, from the oldest; then `x` to `x.1`.
    fn move_away(&self) -> io::Result<()> {
        let older = self.limits.older;
        if older == 0 {
            return options()
                .write(true)
                .truncate(true)
                .open(&self.path)
                .map(drop);
        }
        let is_free = |number: &usize| self.numbered(*number).symlink_metadata().is_err();
        let last = (1..older).find(is_free).unwrap_or(older);
        for number in (1..last).rev() {
            fs::rename(self.numbered(number), self.numbered(number + 1))?;
        }
        fs::rename(&self.path, self.numbered(1))
    }

    fn numbered(&self, number: usize) -> PathBuf {
        let mut name = OsString::from(&self.path);
        name.push(format!(".{number}"));
        name.into()
    }
}

/// Does not wait for anybody, as one does who opens a pipe, nor take a terminal.
#[cfg(unix)]
fn options() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options
        .mode(0o600)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    options
}

#[cfg(not(unix))]
fn options() -> OpenOptions {
    OpenOptions::new()
}

fn open(path: &Path) -> io::Result<File> {
    // Also before it is opened, which would have another error for some of them.
    if let Ok(there) = fs::metadata(path) {
        refuse(&there)?;
    }
    let file = options().append(true).create(true).open(path)?;
    refuse(&file.metadata()?)?;
    Ok(file)
}

/// Files are written, and devices such as `/dev/null`.
fn refuse(metadata: &Metadata) -> io::Result<()> {
    let other = if metadata.is_dir() {
        Some("a directory")
    } else {
        special(metadata.file_type())
    };
    other.map_or(Ok(()), |other| {
        Err(io::Error::other(format!("it is {other}, expected a file")))
    })
}

#[cfg(unix)]
fn special(kind: FileType) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt;
    let kinds = [
        (kind.is_fifo(), "a pipe"),
        (kind.is_socket(), "a socket"),
        (kind.is_block_device(), "a disk"),
    ];
    kinds.into_iter().find_map(|(is, name)| is.then_some(name))
}

#[cfg(not(unix))]
fn special(_kind: FileType) -> Option<&'static str> {
    None
}

/// Whether whoever wrote last was interrupted. Another process may be writing right now, and be seen
/// in the midst of it, so that it is given some time to come to the end of its line.
fn ends_within_line(path: &Path, file: &File) -> bool {
    const LOOKS: usize = 10;
    const PAUSE: Duration = Duration::from_millis(2);
    let is_within = || {
        let has_content = file
            .metadata()
            .is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
        has_content && last_byte(path).is_ok_and(|byte| byte != b'\n')
    };
    let ends = |look: usize| {
        if look > 0 {
            std::thread::sleep(PAUSE);
        }
        !is_within()
    };
    !(0..LOOKS).any(ends)
}

fn last_byte(path: &Path) -> io::Result<u8> {
    let mut reader = options().read(true).open(path)?;
    reader.seek(SeekFrom::End(-1))?;
    let mut byte = [0];
    reader.read_exact(&mut byte)?;
    Ok(byte[0])
}
