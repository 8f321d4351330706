//! The file of a trace: appends whole lines, and begins a new file when it is full.
//!
//! Several processes may write to one file. Each line is a single write at the end of the file, so that no
//! line is split. A process that finds the file full renames it; the others notice that the path names another
//! file. Knows nothing of the content of a line.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The largest size of a file, and the number of older files that are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) bytes: u64,
    pub(super) older: usize,
}

pub(super) struct TraceFile {
    /// The path with all links resolved: the file itself is renamed, not a link.
    path: PathBuf,
    limits: Limits,
    file: File,
    /// The text at the end of the file is not a whole line.
    is_torn: bool,
}

impl TraceFile {
    /// Opens the file, or creates it and its parent directories.
    pub(super) fn open(path: &Path, limits: Limits) -> io::Result<Self> {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let file = open(path)?;
        Ok(Self {
            path: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
            limits,
            is_torn: ends_within_line(path, &file),
            file,
        })
    }

    /// Appends a line, which includes its line break.
    pub(super) fn append(&mut self, line: &str) -> io::Result<()> {
        self.make_room(line.len() as u64)?;
        let text = if self.is_torn {
            Cow::Owned(format!("\n{line}"))
        } else {
            Cow::Borrowed(line)
        };
        // Not `write_all`: the rest could follow another process's line.
        let written = self.file.write(text.as_bytes())?;
        self.is_torn = written < text.len();
        if self.is_torn {
            return Err(io::Error::other("only part of a line could be written"));
        }
        Ok(())
    }

    fn make_room(&mut self, bytes: u64) -> io::Result<()> {
        if !self.is_in_place()? {
            self.reopen()?;
        }
        let old = self.file.metadata()?;
        if old.len() == 0 || old.len().saturating_add(bytes) <= self.limits.bytes {
            return Ok(());
        }
        let moved = self.move_away();
        self.reopen()?;
        // Another process may have renamed it at the same moment: then there is a new file too.
        if moved.is_err() && self.file.metadata()?.len() >= old.len() {
            return moved;
        }
        // The new file gets the permissions of the old one. Only its owner can set them.
        let _ = self.file.set_permissions(old.permissions());
        Ok(())
    }

    /// Whether the path still names the open file: another process may have renamed it.
    #[cfg(unix)]
    fn is_in_place(&self) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt;
        let open = self.file.metadata()?;
        Ok(fs::metadata(&self.path)
            .is_ok_and(|there| (there.dev(), there.ino()) == (open.dev(), open.ino())))
    }

    /// Windows cannot report this. Opening the file again each time costs far less than starting a hook.
    #[cfg(not(unix))]
    #[allow(clippy::unused_self)]
    fn is_in_place(&self) -> io::Result<bool> {
        Ok(false)
    }

    /// Creates a file that has vanished, but not its directory: if that was removed, the trace is not wanted.
    fn reopen(&mut self) -> io::Result<()> {
        self.file = open(&self.path)?;
        // If the file is opened for each line (Windows), it would often end within a line that another process
        // is writing. Whether this process itself has left a partial line is known anyway.
        if cfg!(unix) {
            self.is_torn = ends_within_line(&self.path, &self.file);
        }
        Ok(())
    }

    /// Renames `x.1` to `x.2` and so on, beginning with the oldest; then `x` to `x.1`.
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

/// Open options that never block, as opening a pipe would, and never acquire a controlling terminal.
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
    // Checked before it is opened, because opening some of them fails with another error.
    if let Ok(there) = fs::metadata(path) {
        refuse(&there)?;
    }
    let file = options().append(true).create(true).open(path)?;
    refuse(&file.metadata()?)?;
    Ok(file)
}

/// Refuses everything except files and devices such as `/dev/null`.
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

/// Whether the last writer was interrupted within a line.
fn ends_within_line(path: &Path, file: &File) -> bool {
    let has_content = file
        .metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
    has_content && last_byte(path).is_ok_and(|byte| byte != b'\n')
}

fn last_byte(path: &Path) -> io::Result<u8> {
    let mut reader = options().read(true).open(path)?;
    reader.seek(SeekFrom::End(-1))?;
    let mut byte = [0];
    reader.read_exact(&mut byte)?;
    Ok(byte[0])
}
