//! Saving a hooks file, in one step and without losing what others wrote into it.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use log::warn;
use serde_json::{Map, Value};

use super::file::{self, FileError};
use super::place::Located;
use super::report::ConfigError;
use crate::files::{self, NewFile};
use crate::hook::Hook;

/// So many copies of broken files are kept beside one; then somebody must have a look.
const MOST_COPIES: usize = 100;

/// Saves to the one of these files that exists, else to the first; a project's, not outside of its
/// root.
pub(super) fn save<I>(
    candidates: &[PathBuf],
    root: Option<&Path>,
    hooks: I,
) -> Result<(), ConfigError>
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
    let write_error = |source| ConfigError::Write {
        path: path.clone(),
        source,
    };
    root.map_or(Ok(()), |root| check_within(root, path))
        .map_err(write_error)?;
    let present = present_content(path)?;
    let content = with_hooks(&present, hooks);
    // What says the same stays as it was written, to the last space.
    if content == present.content {
        return Ok(());
    }
    if !present.with_keys_twice.is_empty() {
        warn_and_put_aside(path, &"has hooks in which a key comes twice")?;
    }
    let text = serde_json::to_string_pretty(&content)
        .map_err(io::Error::from)
        .map_err(write_error)?;
    files::replace(path, &(text + "\n"), NewFile::AsUsual).map_err(write_error)
}

/// A repository may bring along a link to a file of the user's, which is not to be replaced.
fn check_within(root: &Path, path: &Path) -> io::Result<()> {
    // Where there is no project yet, nobody has put a link.
    let Ok(root) = root.canonicalize() else {
        return Ok(());
    };
    let target = std::path::absolute(files::end_of_links(path)?)?;
    let mut folders = target.ancestors();
    let existing = folders.find_map(|folder| Some((folder, folder.canonicalize().ok()?)));
    let is_within = existing.is_some_and(|(folder, real)| {
        let new = target.strip_prefix(folder).unwrap_or(&target);
        let goes_up = new.components().any(|part| part == Component::ParentDir);
        real.starts_with(root) && !goes_up
    });
    if is_within {
        Ok(())
    } else {
        Err(io::Error::other("a link leads out of the project"))
    }
}

/// What is in a file.
#[derive(Default)]
struct Present {
    content: Map<String, Value>,
    /// The places of entries in which a key comes twice: they cannot be used, nor written again as
    /// they are.
    with_keys_twice: HashSet<usize>,
}

/// What is in the file now. Of a file that is no hooks file, a copy is put aside.
fn present_content(path: &Path) -> Result<Present, ConfigError> {
    let text = match file::read_for_saving(path) {
        Ok(None) | Err(FileError::Dangling) => return Ok(Present::default()),
        Ok(Some(text)) => text,
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
        Err(error) => return warn_and_put_aside(path, &error).map(|()| Present::default()),
    };
    let content = match file::parse(&text) {
        Ok(content) => content,
        // It is JSON, with something in it that cannot be kept: a number or a depth beyond bounds.
        Err(error @ FileError::NotJson(_)) if Located::whole(&text).is_ok() => {
            let words = format!("holds what could not be written again: it {error}");
            return Err(ConfigError::Read {
                path: path.to_owned(),
                source: io::Error::new(io::ErrorKind::InvalidData, words),
            });
        }
        Err(error) => return warn_and_put_aside(path, &error).map(|()| Present::default()),
    };
    Ok(Present {
        content,
        with_keys_twice: entries_with_keys_twice(&text),
    })
}

fn entries_with_keys_twice(text: &str) -> HashSet<usize> {
    let members = Located::whole(text).ok().and_then(Located::members);
    let lists = members
        .into_iter()
        .flatten()
        .filter(|member| member.key == "hooks");
    let entries = lists.filter_map(|member| member.value.items()).flatten();
    let twice = entries
        .enumerate()
        .filter(|(_, entry)| entry.has_a_key_twice());
    twice.map(|(index, _)| index).collect()
}

fn warn_and_put_aside(path: &Path, why: &dyn fmt::Display) -> Result<(), ConfigError> {
    let copy = put_copy_aside(path).map_err(|source| ConfigError::Write {
        path: path.to_owned(),
        source,
    })?;
    let (path, copy) = (path.display(), copy.display());
    warn!("{path} {why}; a copy is kept as {copy}");
    Ok(())
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
                let mut broken = files::open(path)?;
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
/// a hook is kept as it was written, and an entry that is no hook where it was, as far as the list
/// still goes there.
fn with_hooks<I>(present: &Present, hooks: I) -> Map<String, Value>
where
    I: IntoIterator<Item: Borrow<Hook>>,
{
    let mut written: HashMap<String, VecDeque<&Value>> = HashMap::new();
    let mut unusable = Vec::new();
    for (index, entry) in file::entries(&present.content).iter().enumerate() {
        match Hook::from_json(entry) {
            Ok(hook) if !present.with_keys_twice.contains(&index) => {
                let same = written.entry(hook.to_json().to_string()).or_default();
                same.push_back(entry);
            }
            _ => unusable.push((index, entry)),
        }
    }
    let mut entries: Vec<Value> = hooks
        .into_iter()
        .map(|hook| hook.borrow().to_json())
        .map(|entry| {
            let as_written = written.get_mut(&entry.to_string());
            as_written
                .and_then(VecDeque::pop_front)
                .cloned()
                .unwrap_or(entry)
        })
        .collect();
    for (index, entry) in unusable {
        entries.insert(index.min(entries.len()), entry.clone());
    }
    let mut content = present.content.clone();
    content.insert("hooks".to_owned(), Value::Array(entries));
    content
}
