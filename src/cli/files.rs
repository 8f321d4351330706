//! Files that the command line names: read without blocking forever, replaced atomically.
//!
//! Does not read hooks files: the library does.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::cli::CommandError;
use crate::cli::error::placed_json_words;
use crate::files::{self, NewFile};
use crate::json;
use crate::printable;

/// Opens a regular file.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    files::open(path).map_err(|error| not_regular(path).unwrap_or(error))
}

/// The most bytes of a file.
pub(crate) const LARGEST: u64 = 16 * 1024 * 1024;

/// Reads the whole text, up to a limit.
pub(crate) fn text_of(input: impl Read) -> io::Result<String> {
    let mut text = String::new();
    let length = input.take(LARGEST + 1).read_to_string(&mut text)?;
    if length as u64 > LARGEST {
        return Err(too_large());
    }
    Ok(text)
}

/// Reads a value from a file of JSON. The error is for a person.
pub(crate) fn json_of<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let text = open(path).and_then(text_of);
    let text = text.map_err(|error| error.to_string())?;
    json::read(&text).map_err(|error| placed_json_words(&error))
}

/// Returns the error of a text above the limit.
pub(crate) fn too_large() -> io::Error {
    io::Error::other(format!("it is larger than {} MiB", LARGEST >> 20))
}

/// Returns a path as it is shown.
pub(crate) fn named(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// Returns a printable path, relative to the working directory if it is below it.
pub(crate) fn display_path(path: &Path) -> String {
    printable(&below_here(path))
}

/// Returns a path as it is, relative to the working directory if it is below it.
pub(crate) fn below_here(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = path.strip_prefix(here).unwrap_or(path);
    path.to_string_lossy().into_owned()
}

/// Returns the error of a file, or of an option with its file, that cannot be read.
pub(crate) fn cannot_read(what: &str, why: impl Display) -> CommandError {
    CommandError::new(format!("cannot read `{what}`: {why}"))
        .with_fix("name a file that exists, or `-` for standard input")
}

/// Replaces or creates a file with this text. An existing file keeps its mode.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    match not_regular(path) {
        Some(error) => Err(error),
        None => files::replace(path, text, NewFile::AsUsual),
    }
}

/// Returns the error of a path that exists and is not a regular file.
fn not_regular(path: &Path) -> Option<io::Error> {
    let is_special = path.metadata().is_ok_and(|metadata| !metadata.is_file());
    let message = "not a regular file (`-` stands for standard input and output)";
    is_special.then(|| io::Error::other(message))
}
