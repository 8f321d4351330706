//! One hooks file as a text: read within limits, and only if no other user could have written it.
//!
//! `json` reads its content.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::files;
use crate::json::{LARGEST_TEXT, Position, Positions, readable, too_large};
use crate::problem::{Problem, Severity};

/// A problem of a file as a whole.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("the file is a link to a file that does not exist")]
    Dangling,
    #[error("the file cannot be read: {0}")]
    NotFollowed(String),
    #[error("the file is {0}, expected a regular file")]
    NoFile(&'static str),
    #[error("{}", too_large())]
    TooLarge,
    #[error("the file is not UTF-8{}", if *utf16 { ": it looks like UTF-16, save it as UTF-8" } else { "" })]
    NotUtf8 { position: Position, utf16: bool },
    #[error("the file {0}")]
    #[cfg(unix)]
    Unsafe(String),
}

impl FileError {
    pub(super) fn problem(&self, path: &Path) -> Problem {
        let mut problem = Problem::in_file(Severity::Error, path, self.to_string());
        problem.is_limit = matches!(self, Self::TooLarge);
        if let Self::NotUtf8 { position, .. } = *self {
            problem.range = Some(position..position);
        }
        problem
    }
}

/// The text, and a warning if others can write the file.
pub(super) struct Text {
    pub(super) text: String,
    pub(super) warning: Option<String>,
}

/// Reads a file whose hooks may run. None if it does not exist.
pub(super) fn read(path: &Path) -> Result<Option<Text>, FileError> {
    let Some((_file, text)) = open_and_read(path)? else {
        return Ok(None);
    };
    #[cfg(unix)]
    let warning = files::check(path, &_file.metadata()?).map_err(FileError::Unsafe)?;
    #[cfg(not(unix))]
    let warning = None;
    Ok(Some(Text { text, warning }))
}

/// Reads a file that will be replaced. Its owner and its permissions do not matter.
pub(crate) fn read_for_saving(path: &Path) -> Result<Option<String>, FileError> {
    Ok(open_and_read(path)?.map(|(_, text)| text))
}

fn open_and_read(path: &Path) -> Result<Option<(File, String)>, FileError> {
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) => return unless_missing(path, error).map_or(Ok(None), Err),
    };
    // The kind is checked before the file is opened, which gives better messages.
    if !metadata.is_file() {
        let is_directory = metadata.is_dir();
        let kind = if is_directory {
            "a directory"
        } else {
            "a special file"
        };
        return Err(FileError::NoFile(kind));
    }
    let size = metadata.len().min(LARGEST_TEXT + 1);
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    let file = files::open(path)?;
    (&file).take(LARGEST_TEXT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_TEXT {
        return Err(FileError::TooLarge);
    }
    Ok(Some((file, text(bytes)?)))
}

/// Returns the error of a path that cannot be read; none if the file does not exist.
fn unless_missing(path: &Path, error: io::Error) -> Option<FileError> {
    match files::dangling_link(path) {
        Some(link) if link == path && error.kind() == io::ErrorKind::NotFound => {
            Some(FileError::Dangling)
        }
        Some(link) => Some(FileError::NotFollowed(files::to_nothing(link))),
        None if files::is_missing(&error) => None,
        None => Some(error.into()),
    }
}

fn text(bytes: Vec<u8>) -> Result<String, FileError> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let before = String::from_utf8_lossy(&bytes[..valid]);
        let text = readable(&before);
        FileError::NotUtf8 {
            position: Positions::new(&text, text.skipped).position(text.len()),
            utf16: matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]),
        }
    })
}
