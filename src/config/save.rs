//! Saving a hooks file, in one step and without losing what others wrote into it.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use log::warn;
use serde_json::Value;

use super::edit::{Editor, Pairs};
use super::entry::Entry;
use super::file::{self, FileError};
use super::outline::{self, Failure, Outline};
use super::report::ConfigError;
use crate::files::{self, NewFile};
use crate::hook::{Dialect, Hook, KEYS, in_order};

/// The copies of broken files that are kept beside one; then a person has to look at them.
const MOST_COPIES: usize = 100;

/// The entries up to which they are changed one by one even where none of them stays.
const MOST_CHANGES: usize = 100;

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
    // A link that leads nowhere is a place that a person has chosen.
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
    let present = present_text(path)?;
    let hooks: Vec<_> = hooks.into_iter().collect();
    let mut hooks: Vec<&Hook> = hooks.iter().map(Borrow::borrow).collect();
    // Those of other tools are in files of their own.
    hooks.retain(|hook| hook.dialect() == Dialect::Native);
    let text = with_hooks(present.as_deref(), path, &hooks).map_err(write_error)?;
    // What says the same stays as it was written, to the last byte.
    if present.as_ref() == Some(&text) {
        return Ok(());
    }
    files::replace(path, &text, NewFile::AsUsual).map_err(write_error)
}

/// A repository may bring along a link to a file of the user's, which is not to be replaced.
fn check_within(root: &Path, path: &Path) -> io::Result<()> {
    // Where there is no project yet, there is no link.
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

/// The text of the file now; none of one that is not there. Of a file that is no hooks file, a copy
/// is put aside.
fn present_text(path: &Path) -> Result<Option<String>, ConfigError> {
    let text = match file::read_for_saving(path) {
        Ok(None) | Err(FileError::Dangling) => return Ok(None),
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
        Err(error) => return warn_and_put_aside(path, &error).map(|()| None),
    };
    match check(&text) {
        Ok(()) => Ok(Some(text)),
        Err((error, _)) => warn_and_put_aside(path, &error).map(|()| None),
    }
}

/// Whether the text is that of a hooks file, whatever is in its entries.
fn check(text: &str) -> Result<(), Failure> {
    let (text, _) = file::without_mark(text);
    let outline = Outline::of(text)?;
    outline.check_list()?;
    for member in &outline.others {
        outline::parse(text, &member.value)?;
    }
    for entry in outline.entries.into_iter().flatten() {
        Entry::parse(text, entry)?;
    }
    Ok(())
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
        "{MOST_COPIES} copies of broken files are beside it already: look at them, and remove them"
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

/// The text with these hooks in the place of those that it holds. Entries that cannot be used stay
/// where they were, as far as the list still goes there.
fn with_hooks(present: Option<&str>, path: &Path, hooks: &[&Hook]) -> io::Result<String> {
    let (text, mark) = present.map_or(("", 0), file::without_mark);
    let entries = match present {
        Some(_) => entries(text).map_err(|(error, _)| io::Error::other(error.to_string()))?,
        None => Vec::new(),
    };
    let mut editor = Editor::new(present.map(|_| text))
        .ok_or_else(|| io::Error::other("not an object with a list `hooks`"))?;
    let matched = matched(&entries, path, hooks);
    let keeps_none = matched.iter().all(Option::is_none) && entries.iter().all(Option::is_some);
    if keeps_none && entries.len() + hooks.len() > MOST_CHANGES {
        editor.replace_all(hooks.iter().map(|hook| pairs_of(&hook.to_json())).collect());
    } else {
        edit(&mut editor, &entries, &matched, hooks);
    }
    let saved = present.map_or("", |present| &present[..mark]).to_owned() + &editor.text();
    // What could not be loaded again is not written.
    check(&saved).map_err(|(error, _)| io::Error::other(format!("the file {error}")))?;
    Ok(saved)
}

/// Makes the entries those of the hooks, of which each belongs to an entry or is new.
fn edit(editor: &mut Editor, entries: &[Option<Hook>], matched: &[Option<usize>], hooks: &[&Hook]) {
    let kept: HashSet<usize> = matched.iter().flatten().copied().collect();
    for (index, entry) in entries.iter().enumerate() {
        if entry.is_some() && !kept.contains(&index) {
            editor.remove(index);
        }
    }
    let mut placed = Vec::new();
    for (hook, index) in hooks.iter().zip(matched) {
        let wanted = hook.to_json();
        let old = index.and_then(|index| Some((index, entries[index].as_ref()?)));
        placed.push(match old {
            None => editor.append(pairs_of(&wanted)),
            Some((index, old)) => {
                change(editor, index, &old.to_json(), &wanted);
                index
            }
        });
    }
    let unusable = (0..entries.len()).filter(|index| entries[*index].is_none());
    editor.arrange(&merged(placed, unusable));
}

/// The hooks in their order, with each unusable entry where it was.
fn merged(hooks: Vec<usize>, unusable: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut order = Vec::new();
    let mut hooks = hooks.into_iter();
    for index in unusable {
        let before = index.saturating_sub(order.len());
        order.extend(hooks.by_ref().take(before));
        order.push(index);
    }
    order.extend(hooks);
    order
}

/// The entries of a text as hooks; none for one that cannot be used.
fn entries(text: &str) -> Result<Vec<Option<Hook>>, Failure> {
    let ranges = Outline::of(text)?.entries.unwrap_or_default();
    let entries = ranges.into_iter();
    entries
        .map(|range| Entry::parse(text, range).map(|entry| entry.hook().ok()))
        .collect()
}

/// For each hook the entry that it belongs to: the one that it was loaded from, if that says the same;
/// else another that does; else the one that it was loaded from, unless that belongs to another.
fn matched(entries: &[Option<Hook>], path: &Path, hooks: &[&Hook]) -> Vec<Option<usize>> {
    let mut same: HashMap<&str, VecDeque<usize>> = HashMap::new();
    let said: Vec<String> = entries.iter().map(said).collect();
    for (index, text) in said.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
        same.entry(text).or_default().push_back(index);
    }
    let mut free: HashSet<usize> = same.values().flatten().copied().collect();
    let path = std::path::absolute(path).ok();
    let own = |hook: &Hook| {
        let source = hook.source()?;
        let is_here = std::path::absolute(&source.path).ok() == path;
        source.index.filter(|_| is_here)
    };
    let mut matched: Vec<Option<usize>> = Vec::with_capacity(hooks.len());
    let texts: Vec<String> = hooks.iter().map(|it| it.to_json().to_string()).collect();
    for (hook, text) in hooks.iter().zip(&texts) {
        let says_the_same = |index: &usize| said.get(*index).is_some_and(|it| it == text);
        let index = own(hook).filter(says_the_same);
        matched.push(index.filter(|index| free.remove(index)));
    }
    for (text, index) in texts.iter().zip(&mut matched) {
        if index.is_some() {
            continue;
        }
        // Each is looked at once: what is not free any more is gone for good.
        while let Some(other) = same.get_mut(text.as_str()).and_then(VecDeque::pop_front) {
            if free.remove(&other) {
                *index = Some(other);
                break;
            }
        }
    }
    for (hook, index) in hooks.iter().zip(&mut matched) {
        if index.is_none() {
            *index = own(hook).filter(|index| free.remove(index));
        }
    }
    matched
}

fn said(entry: &Option<Hook>) -> String {
    let text = entry.as_ref().map(|hook| hook.to_json().to_string());
    text.unwrap_or_default()
}

/// Writes of an entry the keys whose values differ.
fn change(editor: &mut Editor, index: usize, old: &Value, wanted: &Value) {
    if old == wanted {
        return;
    }
    let pairs = pairs_of(wanted).into_iter();
    let changed = pairs.filter(|(key, value)| old.get(key) != Some(value));
    let gone: Vec<String> = pairs_of(old)
        .into_iter()
        .map(|(key, _)| key)
        .filter(|key| wanted.get(key).is_none())
        .collect();
    // A key that comes first must not find an empty entry.
    editor.set_keys(index, changed.collect(), keys_before);
    editor.remove_keys(index, &gone);
}

/// The keys of an entry in their order.
fn pairs_of(entry: &Value) -> Pairs {
    let members = entry.as_object().into_iter().flat_map(in_order);
    members
        .map(|(key, value)| (key.to_owned(), value.clone()))
        .collect()
}

fn keys_before(key: &str) -> Vec<String> {
    let place = KEYS.iter().position(|known| *known == key);
    let before = &KEYS[..place.unwrap_or(KEYS.len())];
    before.iter().map(|key| (*key).to_owned()).collect()
}
