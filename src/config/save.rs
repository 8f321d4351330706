//! Saving a hooks file, in one step and without losing what others wrote into it.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet, VecDeque};
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

/// An entry as it is to be written.
pub(super) enum Slot<'a> {
    /// This entry of the text as it is.
    Kept(usize),
    /// This entry, in which the keys are changed that say something else than the hook.
    Changed(usize, &'a Hook),
    New(&'a Hook),
}

/// What is there to be saved over.
pub(super) enum Present {
    Missing,
    Text(String),
    /// Not a hooks file.
    Broken(FileError),
}

/// Saves to the one of these files that exists, else to the first; a project's, not outside of its
/// root. Of a file that is no hooks file, a copy is put aside.
pub(super) fn save<I>(
    candidates: &[PathBuf],
    root: Option<&Path>,
    hooks: I,
) -> Result<(), ConfigError>
where
    I: IntoIterator<Item: Borrow<Hook>>,
{
    let path = place(candidates, root)?;
    let present = match read_present(&path)? {
        Present::Missing => None,
        Present::Text(text) => Some(text),
        Present::Broken(error) => {
            warn_and_put_aside(&path, &error)?;
            None
        }
    };
    let present = present.as_deref();
    let hooks: Vec<_> = hooks.into_iter().collect();
    let mut hooks: Vec<&Hook> = hooks.iter().map(Borrow::borrow).collect();
    // Those of other tools are in files of their own.
    hooks.retain(|hook| hook.dialect() == Dialect::Native);
    let entries = entries_of(present).map_err(|source| write_error(&path, source))?;
    let slots = slots(&entries, &path, &hooks);
    write(&path, present, &entries, &slots).map(drop)
}

/// The one of these files that exists, else the first.
pub(super) fn place(candidates: &[PathBuf], root: Option<&Path>) -> Result<PathBuf, ConfigError> {
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
    check_place(path, root)?;
    Ok(path.clone())
}

/// Refuses a project's file that is outside of its root.
pub(super) fn check_place(path: &Path, root: Option<&Path>) -> Result<(), ConfigError> {
    match root {
        Some(root) => check_within(root, path).map_err(|source| write_error(path, source)),
        None => Ok(()),
    }
}

fn write_error(path: &Path, source: io::Error) -> ConfigError {
    let path = path.to_owned();
    ConfigError::Write { path, source }
}

/// Writes these entries in the place of those of a text; returns the new text. What says the same
/// stays as it was written, to the last byte.
pub(super) fn write(
    path: &Path,
    present: Option<&str>,
    entries: &[Option<Hook>],
    slots: &[Slot<'_>],
) -> Result<String, ConfigError> {
    let text = with_slots(present, entries, slots).map_err(|source| write_error(path, source))?;
    if present != Some(&*text) {
        files::replace(path, &text, NewFile::AsUsual)
            .map_err(|source| write_error(path, source))?;
    }
    Ok(text)
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

/// The file as it is now.
pub(super) fn read_present(path: &Path) -> Result<Present, ConfigError> {
    let text = match file::read_for_saving(path) {
        Ok(None) | Err(FileError::Dangling) => return Ok(Present::Missing),
        Ok(Some(text)) => text,
        Err(FileError::Io(source)) => {
            return Err(ConfigError::Read {
                path: path.to_owned(),
                source,
            });
        }
        Err(error @ FileError::NoFile(_)) => {
            return Err(write_error(path, io::Error::other(error.to_string())));
        }
        Err(error) => return Ok(Present::Broken(error)),
    };
    Ok(match check(&text) {
        Ok(()) => Present::Text(text),
        Err((error, _)) => Present::Broken(error),
    })
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

fn warn_and_put_aside(path: &Path, why: &FileError) -> Result<(), ConfigError> {
    let copy = put_copy_aside(path).map_err(|source| write_error(path, source))?;
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

/// The text with these entries in the place of those that it holds.
fn with_slots(
    present: Option<&str>,
    entries: &[Option<Hook>],
    slots: &[Slot<'_>],
) -> io::Result<String> {
    let (text, mark) = present.map_or(("", 0), file::without_mark);
    let mut editor = Editor::new(present.map(|_| text))
        .ok_or_else(|| io::Error::other("not an object with a list `hooks`"))?;
    let mut new = Vec::new();
    for slot in slots {
        if let Slot::New(hook) = slot {
            new.push(pairs_of(&hook.to_json()));
        }
    }
    if new.len() == slots.len() && entries.len() + new.len() > MOST_CHANGES {
        editor.replace_all(new);
    } else {
        edit(&mut editor, entries, slots);
    }
    let saved = present.map_or("", |present| &present[..mark]).to_owned() + &editor.text();
    // What could not be loaded again is not written.
    check(&saved).map_err(|(error, _)| io::Error::other(format!("the file {error}")))?;
    Ok(saved)
}

fn edit(editor: &mut Editor, entries: &[Option<Hook>], slots: &[Slot<'_>]) {
    let mut kept = HashSet::new();
    for slot in slots {
        if let Slot::Kept(index) | Slot::Changed(index, _) = slot {
            kept.insert(*index);
        }
    }
    for index in (0..entries.len()).filter(|index| !kept.contains(index)) {
        editor.remove(index);
    }
    let mut order = Vec::new();
    for slot in slots {
        order.push(match slot {
            Slot::Kept(index) => *index,
            Slot::Changed(index, hook) => {
                if let Some(old) = &entries[*index] {
                    change(editor, *index, &old.to_json(), &hook.to_json());
                }
                *index
            }
            Slot::New(hook) => editor.append(pairs_of(&hook.to_json())),
        });
    }
    // To sort a list may change the spaces in it.
    if !order.is_sorted() {
        editor.arrange(&order);
    }
}

/// The hooks in their order, each with the entry that it belongs to, and each unusable entry where it
/// was, as far as the list still goes there.
fn slots<'a>(entries: &[Option<Hook>], path: &Path, hooks: &[&'a Hook]) -> Vec<Slot<'a>> {
    let mut unusable = (0..entries.len()).filter(|index| entries[*index].is_none());
    let mut next = unusable.next();
    let mut slots = Vec::new();
    for (hook, index) in hooks.iter().zip(matched(entries, path, hooks)) {
        while let Some(index) = next.filter(|index| *index <= slots.len()) {
            slots.push(Slot::Kept(index));
            next = unusable.next();
        }
        slots.push(match index {
            Some(index) => Slot::Changed(index, hook),
            None => Slot::New(hook),
        });
    }
    slots.extend(next.into_iter().chain(unusable).map(Slot::Kept));
    slots
}

/// The entries of a text as hooks; none for one that cannot be used.
pub(super) fn entries_of(present: Option<&str>) -> io::Result<Vec<Option<Hook>>> {
    let text = present.map_or("{}", |present| file::without_mark(present).0);
    entries(text).map_err(|(error, _)| io::Error::other(error.to_string()))
}

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
    // What is added on the line is a part of the last key's value until the text is parsed again. The
    // entry does not become empty: `event` stays.
    editor.remove_keys(index, &gone);
    editor.set_keys(index, changed.collect(), keys_before);
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
