//! Saves a hooks file in one step, without losing texts that people or other programs wrote.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::edit::{Editor, Pairs};
use super::entry::Entry;
use super::file::{self, FileError};
use super::outline::{self, Failure, Outline};
use super::report::ConfigError;
use crate::files::{self, NewFile};
use crate::hook::{Hook, KEYS, in_order};
use crate::logging::warn;

/// The most copies of a broken file. When they exist, saving fails, so that a person looks at them.
const MOST_COPIES: usize = 100;

/// Up to this number, entries are changed one by one even if none of them stays.
const MOST_CHANGES: usize = 100;

/// How an entry is written.
pub(super) enum Slot<'a> {
    /// This entry of the text, unchanged.
    Kept(usize),
    /// This entry, with new values for the keys that differ from the hook.
    Changed(usize, &'a Hook),
    New(&'a Hook),
}

/// The content that is replaced.
pub(super) enum Present {
    Missing,
    Text(String),
    /// Not a hooks file.
    Broken(FileError),
}

/// Saves to the one of these files that exists, else to the first. A project's file must be within its root.
/// If the file is not a hooks file, a copy is saved first.
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
    // Only hooks with its own protocol can be read from hooks.json.
    hooks.retain(|hook| hook.protocol().is_none());
    let entries = entries_of(present).map_err(|source| write_error(&path, source))?;
    let slots = slots(&entries, &path, &hooks);
    write(&path, present, &entries, &slots).map(drop)
}

/// Returns the one of these files that exists, else the first.
pub(super) fn place(candidates: &[PathBuf], root: Option<&Path>) -> Result<PathBuf, ConfigError> {
    // A link to a missing file counts: a person has chosen that path.
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

/// Writes these entries into a text, in place of its own; returns the new text. An entry with the same
/// content keeps all its bytes.
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

/// Checks that the path is within the root. A repository may contain a link to one of the user's files, which
/// must not be replaced.
fn check_within(root: &Path, path: &Path) -> io::Result<()> {
    // If the project does not exist yet, it has no links.
    let Ok(root) = root.canonicalize() else {
        return Ok(());
    };
    let target = std::path::absolute(files::end_of_links(path)?)?;
    let mut ancestors = target.ancestors();
    let existing =
        ancestors.find_map(|directory| Some((directory, directory.canonicalize().ok()?)));
    let is_within = existing.is_some_and(|(directory, real)| {
        let new = target.strip_prefix(directory).unwrap_or(&target);
        let goes_up = new.components().any(|part| part == Component::ParentDir);
        real.starts_with(root) && !goes_up
    });
    if is_within {
        Ok(())
    } else {
        Err(io::Error::other("a link leads out of the project"))
    }
}

/// Reads the current file.
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

/// Checks that the text is that of a hooks file. Entries may have any content.
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
    warn!(
        "{} {why}; saved a copy as {}",
        path.display(),
        copy.display()
    );
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
        "{MOST_COPIES} copies of broken files exist next to it: check and remove them"
    )))
}

/// Creates a file that no other user can read until it has its mode, since it may contain secrets.
fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Returns the text with these entries in place of its own.
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
    // A text that could not be loaded again is not written.
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
    // Sorting a list may change its spaces.
    if !order.is_sorted() {
        editor.arrange(&order);
    }
}

/// Returns the hooks in order, each with its entry, and each unusable entry at its old index, or at the end
/// if the list is shorter.
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

/// Returns the entries of a text as hooks; none for an entry that cannot be used.
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

/// Returns for each hook its entry: the entry from which it was loaded, if the content is the same; else
/// another entry with the same content; else the entry from which it was loaded, unless that belongs to
/// another hook.
fn matched(entries: &[Option<Hook>], path: &Path, hooks: &[&Hook]) -> Vec<Option<usize>> {
    let mut same: HashMap<&str, VecDeque<usize>> = HashMap::new();
    let text_of = |hook: &Hook| hook.to_json().to_string();
    let present: Vec<_> = entries.iter().map(|it| it.as_ref().map(text_of)).collect();
    for (index, text) in present.iter().enumerate() {
        if let Some(text) = text {
            same.entry(text).or_default().push_back(index);
        }
    }
    let mut free: HashSet<usize> = same.values().flatten().copied().collect();
    let path = std::path::absolute(path).ok();
    let own = |hook: &Hook| {
        let source = hook.source()?;
        let is_here = std::path::absolute(&source.path).ok() == path;
        source.index.filter(|_| is_here)
    };
    let mut matched: Vec<Option<usize>> = Vec::with_capacity(hooks.len());
    let texts: Vec<String> = hooks.iter().map(|hook| text_of(hook)).collect();
    for (hook, text) in hooks.iter().zip(&texts) {
        let is_same = |index: &usize| present.get(*index).and_then(Option::as_ref) == Some(text);
        let index = own(hook).filter(is_same);
        matched.push(index.filter(|index| free.remove(index)));
    }
    for (text, index) in texts.iter().zip(&mut matched) {
        if index.is_some() {
            continue;
        }
        // Each candidate is tried once: one that is taken stays taken.
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

/// Writes the keys of an entry whose values differ.
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
    // Until the text is parsed again, keys that are added on the same line belong to the last key's value.
    // The entry does not become empty: `event` stays.
    editor.remove_keys(index, &gone);
    editor.set_keys(index, changed.collect(), keys_before);
}

/// Returns the keys of an entry in order.
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
