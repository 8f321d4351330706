//! Saving a hooks file, in one step and without losing what others wrote into it.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use log::warn;
use serde_json::{Map, Value};
use tempfile::NamedTempFile;

use super::file::{self, FileError};
use super::report::ConfigError;
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
    replace(path, &(text + "\n")).map_err(write_error)
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

/// Puts a text in the place of a file in one step: whoever reads it sees the old or the new one.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let target = end_of_links(path)?;
    let folder = target
        .parent()
        .ok_or_else(|| io::Error::other("it has no folder"))?;
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".hooks").suffix(".json");
    let kept = fs::metadata(&target)
        .ok()
        .map(|metadata| metadata.permissions());
    #[cfg(unix)]
    if kept.is_none() {
        use std::os::unix::fs::PermissionsExt;
        // For a new file, what the user's umask leaves of it. Another is private until it is whole.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Some(permissions) = kept {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    put_in_place(file, &target)?;
    sync_folder(folder);
    Ok(())
}

/// A link stays a link; what it leads to is replaced, also where there is nothing yet.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    // As many as Linux follows (path_resolution(7)).
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            // A relative one counts from the folder that it lies in.
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

/// Windows refuses to replace a file in the moment in which somebody reads it: that passes.
fn put_in_place(mut file: NamedTempFile, target: &Path) -> io::Result<()> {
    let tries = if cfg!(windows) { 50 } else { 1 };
    for left in (0..tries).rev() {
        match file.persist(target) {
            Err(refused) if left > 0 && refused.error.kind() == io::ErrorKind::PermissionDenied => {
                file = refused.file;
                std::thread::sleep(Duration::from_millis(5));
            }
            done => return done.map(drop).map_err(|refused| refused.error),
        }
    }
    Ok(())
}

/// Makes the change of name last through a loss of power. Some file systems cannot do this; the
/// file has been replaced all the same.
fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _ = folder;
}
