//! Saving a hooks file, in one step and without losing what others wrote into it.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use log::warn;
use serde_json::{Map, Value};

use super::file::{self, FileError};
use super::report::ConfigError;
use crate::files::{self, NewFile};
use crate::hook::Hook;

/// So many copies of broken files are kept beside one; then somebody must have a look.
const MOST_COPIES: usize = 100;

/// Saves to the one of these files that exists, else to the first.
pub(super) fn save<I>(candidates: &[PathBuf], hooks: I) -> Result<(), ConfigError>
where
    I: IntoIterator<Item: Borrow<Hook>>,
{
    // A link that leads nowhere is a place that somebody has chosen.
    let is_there = |path: &&PathBuf| path.symlink_metadata().is_ok();
    let existing: Vec<&PathBuf> = candidates.iter().filter(is_there).collect();
    let path = match existing[..] {
        [] => candidates.first().ok_or(ConfigError::NoPlace)?,
        [only] => only,
        _ => {
            let paths = existing.into_iter().cloned().collect();
            return Err(ConfigError::SeveralFiles { paths });
        }
    };
    let content = with_hooks(present_content(path)?, hooks);
    let write_error = |source| ConfigError::Write {
        path: path.clone(),
        source,
    };
    let text = serde_json::to_string_pretty(&content)
        .map_err(io::Error::from)
        .map_err(write_error)?;
    files::replace(path, &(text + "\n"), NewFile::AsUsual).map_err(write_error)
}

/// What is in the file now. Of a file that is no hooks file, a copy is put aside.
fn present_content(path: &Path) -> Result<Map<String, Value>, ConfigError> {
    let broken = match file::read_for_saving(path) {
        Ok(None) => return Ok(Map::new()),
        Ok(Some(text)) => match file::parse(&text) {
            Ok(content) => return Ok(content),
            Err(error) => error,
        },
        Err(FileError::Dangling) => return Ok(Map::new()),
        Err(FileError::Io(source)) => {
            return Err(ConfigError::Read {
                path: path.to_owned(),
                source,
            });
        }
        Err(error @ FileError::NoFile(_)) => {
            let source = io::Error::other(error.to_string());
            return Err(ConfigError::Write {
                path: path.to_owned(),
                source,
            });
        }
        Err(error) => error,
    };
    let copy = put_copy_aside(path).map_err(|source| ConfigError::Write {
        path: path.to_owned(),
        source,
    })?;
    warn!(
        "{} {broken}; a copy is kept as {}",
        path.display(),
        copy.display()
    );
    Ok(Map::new())
}

fn put_copy_aside(path: &Path) -> io::Result<PathBuf> {
    let names = (0..MOST_COPIES).map(|number| match number {
        0 => ".broken".to_owned(),
        _ => format!(".broken.{number}"),
    });
    for suffix in names {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let copy = PathBuf::from(name);
        match create_private(&copy) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            created => {
                let mut created = created?;
                let mut broken = File::open(path)?;
                io::copy(&mut broken, &mut created)?;
                created.set_permissions(broken.metadata()?.permissions())?;
                created.sync_all()?;
                return Ok(copy);
            }
        }
    }
    Err(io::Error::other(format!(
        "{MOST_COPIES} copies of broken files lie beside it already"
    )))
}

/// A new file that nobody else can read, until it is given a mode: there may be secrets in it.
fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The content with these hooks in the place of those that it holds. An entry that says the same as
/// a hook is kept as it was written, and an entry that is no hook is kept behind them.
fn with_hooks<I>(mut content: Map<String, Value>, hooks: I) -> Map<String, Value>
where
    I: IntoIterator<Item: Borrow<Hook>>,
{
    let mut written: HashMap<String, Vec<Value>> = HashMap::new();
    let mut unusable = Vec::new();
    for entry in file::entries(&content) {
        match Hook::from_json(entry) {
            Ok(hook) => written
                .entry(hook.to_json().to_string())
                .or_default()
                .push(entry.clone()),
            Err(_) => unusable.push(entry.clone()),
        }
    }
    let mut entries: Vec<Value> = hooks
        .into_iter()
        .map(|hook| hook.borrow().to_json())
        .map(|entry| {
            written
                .get_mut(&entry.to_string())
                .and_then(Vec::pop)
                .unwrap_or(entry)
        })
        .collect();
    entries.extend(unusable);
    content.insert("hooks".to_owned(), Value::Array(entries));
    content
}
