//! Edits a hooks file entry by entry: the one way in which hooks are saved.
//!
//! A save fails if the file has changed since it was read: the program decides how two lists are merged. `edit` changes the
//! text. Does not know the content of an approval.

use std::borrow::Borrow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::HookConfig;
use super::content::{Entry, Loaded, Owner};
use super::edit::{self, Slot};
use super::places::absolute;
use super::reader::HooksJson;
use super::replacing;
use super::report::ConfigError;
use super::sources::Form;
use crate::hook::{Hook, is_beside_hooks};
use crate::json::TextRange;
use crate::problem::Problem;

/// A hooks file whose entries are edited one by one. All other bytes stay: comments, formatting, keys that
/// this version does not know, entries that cannot be used.
///
/// ```
/// use forge_hooks::{Hook, HookConfig};
///
/// # let home = tempfile::tempdir()?;
/// let config = HookConfig::default();
/// # let config = config.with_config_home(home.path());
/// let mut file = config.global_file()?;
/// file.insert(0, Hook::new("session:start", "echo hello")?);
/// file.set_enabled(0, false);
/// file.save()?;
/// assert_eq!(config.load_global().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Nothing is written before [`save`](HooksFile::save).
#[derive(Debug, Clone)]
pub struct HooksFile {
    path: PathBuf,
    /// The root of the project; none for the user's file.
    root: Option<PathBuf>,
    /// The text that was read; none if the file does not exist.
    text: Option<String>,
    entries: Vec<HooksFileEntry>,
}

/// One entry of a [`HooksFile`].
#[derive(Debug, Clone)]
pub struct HooksFileEntry {
    range: Option<TextRange>,
    /// Its index in the text; none for a new entry.
    index: Option<usize>,
    /// Its value in the text; none for a new entry, and for one that cannot be used.
    old: Option<Value>,
    hook: Result<Box<Hook>, Box<Problem>>,
}

impl HooksFileEntry {
    fn new(hook: Hook) -> Self {
        Self {
            range: None,
            index: None,
            old: None,
            hook: Ok(Box::new(hook)),
        }
    }

    /// The place of the entry in the file as it was read; none for a new entry.
    #[must_use]
    pub fn range(&self) -> Option<TextRange> {
        self.range
    }

    /// Returns the hook.
    ///
    /// # Errors
    /// With the first problem, if the entry cannot be used.
    pub fn hook(&self) -> Result<&Hook, &Problem> {
        self.hook.as_deref().map_err(|problem| &**problem)
    }

    fn slot(&self) -> Slot<'_> {
        Slot {
            index: self.index,
            old: self.old.as_ref(),
            new: self.hook().ok().map(Hook::to_json),
        }
    }

    fn set_hook(&mut self, new: Hook) {
        match &mut self.hook {
            Ok(hook) => **hook = new,
            Err(_) => *self = Self::new(new),
        }
    }

    /// Returns whether the hook was loaded from this entry.
    fn is_source_of(&self, edited: &Hook) -> bool {
        let source = self.hook().ok().filter(|_| self.old.is_some());
        source.is_some_and(|hook| hook.source() == edited.source())
    }
}

impl HookConfig {
    /// Opens the user's file for editing: the one that exists, else the path where it would be saved.
    ///
    /// # Errors
    /// When the user has no home directory, when several of the profile's files exist, and when the file
    /// cannot be read or is not a hooks file.
    pub fn global_file(&self) -> Result<HooksFile, ConfigError> {
        HooksFile::read(replacing::place(&self.global_candidates())?, None)
    }

    /// Opens the project's file for editing; see [`global_file`](HookConfig::global_file).
    ///
    /// # Errors
    /// As with [`global_file`](HookConfig::global_file), and when a link leads out of the project.
    pub fn project_file(&self, root: impl AsRef<Path>) -> Result<HooksFile, ConfigError> {
        let root = absolute(root.as_ref());
        let path = replacing::place(&self.project_candidates(&root))?;
        HooksFile::read(path, Some(root))
    }

    /// Opens the file of the project, or of the user without a root, that a program edits for a person: the one that
    /// exists, else the one that is written for the person.
    #[cfg(feature = "cli")]
    pub(crate) fn file_to_edit(&self, root: Option<&Path>) -> Result<HooksFile, ConfigError> {
        let root = root.map(absolute);
        let path = replacing::place(&self.candidates_to_edit(root.as_deref()))?;
        HooksFile::read(path, root)
    }
}

/// Saves these hooks in place of those in the one of these files that exists, else in the first. If it is not a hooks
/// file, a copy is saved first.
pub(super) fn save_all<I>(
    candidates: &[PathBuf],
    root: Option<PathBuf>,
    hooks: I,
) -> Result<(), ConfigError>
where
    I: IntoIterator<Item: Borrow<Hook>>,
{
    let hooks: Vec<I::Item> = hooks.into_iter().collect();
    let mut hooks: Vec<&Hook> = hooks.iter().map(Borrow::borrow).collect();
    // A hooks.json can contain only hooks with its own protocol, and the hooks of the files beside it stay there.
    let is_beside = |hook: &Hook| {
        let source = hook.source();
        source.is_some_and(|source| is_beside_hooks(&source.path))
    };
    hooks.retain(|hook| hook.protocol().is_none() && !is_beside(hook));
    let path = replacing::place(candidates)?;
    let _lock = replacing::lock(&path, root.as_deref())?;
    let mut file = match HooksFile::read(path.clone(), root.clone()) {
        Err(ConfigError::Unusable { reason, .. }) => {
            replacing::put_aside(&path, &reason)?;
            HooksFile::missing(path, root)
        }
        read => read?,
    };
    file.set_hooks(&hooks);
    file.write()
}

impl HooksFile {
    /// Opens the file at this path, which need not exist. For a project's file, use
    /// [`HookConfig::project_file`]: it refuses links that lead out of the project.
    ///
    /// # Errors
    /// When the file cannot be read or is not a hooks file.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ConfigError> {
        Self::read(path.into(), None)
    }

    fn missing(path: PathBuf, root: Option<PathBuf>) -> Self {
        Self {
            path,
            root,
            text: None,
            entries: Vec::new(),
        }
    }

    fn read(path: PathBuf, root: Option<PathBuf>) -> Result<Self, ConfigError> {
        let mut file = Self::missing(path, root);
        file.text = replacing::read(&file.path, file.root.as_deref())?;
        if let Some(text) = &file.text {
            let entries = file.entries_of(text);
            file.entries = entries.map_err(|reason| replacing::unusable(&file.path, reason))?;
        }
        Ok(file)
    }

    /// Returns the entries of a text, or the reason why it is not a hooks file.
    fn entries_of(&self, text: &str) -> Result<Vec<HooksFileEntry>, String> {
        let mut loaded = Loaded::nothing(&self.path, Owner::User);
        let form = HooksJson {
            base_dir: self.root.as_deref().map(Arc::from),
            ..HooksJson::default()
        };
        form.read(text, &form.host.vocabulary, true, &mut loaded);
        if loaded.unreadable {
            let last = loaded.problems.pop();
            return Err(last.map_or_else(String::new, |problem| problem.message));
        }
        let entries = loaded.entries.into_iter().enumerate();
        let entries = entries.map(|(index, Entry { range, hook })| HooksFileEntry {
            range: Some(range),
            index: Some(index),
            old: hook.as_ref().ok().map(|hook| hook.to_json()),
            hook: hook.map(|hook| Box::new(Hook::clone(&hook))),
        });
        Ok(entries.collect())
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The entries in order, with the changes so far. The methods below take an index into this list.
    #[must_use]
    pub fn entries(&self) -> &[HooksFileEntry] {
        &self.entries
    }

    /// Switches a hook on or off; returns false if the index does not exist or the entry cannot be used.
    pub fn set_enabled(&mut self, index: usize, enabled: bool) -> bool {
        let hook = self.entries.get(index).and_then(|entry| entry.hook().ok());
        let hook = hook.map(|hook| hook.clone().with_enabled(enabled));
        hook.is_some_and(|hook| self.replace(index, hook))
    }

    /// Inserts a hook before the entry at this index, or after all entries if there are fewer.
    pub fn insert(&mut self, index: usize, hook: Hook) {
        let index = index.min(self.entries.len());
        self.entries.insert(index, HooksFileEntry::new(hook));
    }

    /// Replaces an entry by a hook; returns false if the index does not exist. If the entry can be used, only
    /// the keys that differ are written, else the whole entry.
    pub fn replace(&mut self, index: usize, hook: Hook) -> bool {
        let entry = self.entries.get_mut(index);
        entry.map(|entry| entry.set_hook(hook)).is_some()
    }

    /// Removes an entry; returns false if the index does not exist.
    pub fn remove(&mut self, index: usize) -> bool {
        let is_there = index < self.entries.len();
        if is_there {
            self.entries.remove(index);
        }
        is_there
    }

    /// Moves an entry, so that it has the index `to` afterwards; a larger `to` moves it to the end. Returns
    /// false if the entry does not exist.
    pub fn move_to(&mut self, index: usize, to: usize) -> bool {
        if index >= self.entries.len() {
            return false;
        }
        let entry = self.entries.remove(index);
        let to = to.min(self.entries.len());
        self.entries.insert(to, entry);
        true
    }

    /// Makes these hooks the list. Entries that cannot be used keep their index.
    fn set_hooks(&mut self, hooks: &[&Hook]) {
        let old = std::mem::take(&mut self.entries);
        let mut left: Vec<_> = old.into_iter().map(Some).collect();
        for hook in hooks {
            let taken = take_entry_of(hook, &mut left);
            let mut entry = taken.unwrap_or_else(|| HooksFileEntry::new(Hook::clone(hook)));
            entry.set_hook(Hook::clone(hook));
            self.entries.push(entry);
        }
        for entry in left.into_iter().flatten() {
            if let (Some(index), Err(_)) = (entry.index, &entry.hook) {
                let index = index.min(self.entries.len());
                self.entries.insert(index, entry);
            }
        }
    }

    /// Writes the changes in one step, and reads the entries again.
    ///
    /// No save of another program is lost: if the file is no longer the one that was read, nothing is written. Open
    /// it again then, and repeat the edit. A lock between processes, a file `hooks.json.lock` that exists only
    /// meanwhile, keeps two programs from saving at the same time.
    ///
    /// In a project, the person approves the hooks again after an edit: an approval is for an entry as it was.
    ///
    /// # Errors
    /// With [`ConfigError::Changed`] if the file has changed since it was read; when it cannot be read or written, or
    /// another program keeps the lock for 5 seconds; and when the file would exceed a limit. Then nothing is written.
    pub fn save(&mut self) -> Result<(), ConfigError> {
        let root = self.root.as_deref();
        let _lock = replacing::lock(&self.path, root)?;
        if replacing::read(&self.path, root)? != self.text {
            let path = self.path.clone();
            return Err(ConfigError::Changed { path });
        }
        self.write()
    }

    fn write(&mut self) -> Result<(), ConfigError> {
        let refused =
            |reason: String| replacing::cannot_write(&self.path, io::Error::other(reason));
        let slots: Vec<_> = self.entries.iter().map(HooksFileEntry::slot).collect();
        let text = edit::edited(self.text.as_deref(), &slots)
            .ok_or_else(|| refused("not an object with a list `hooks`".to_owned()))?;
        // A text that could not be loaded again is not written.
        let entries = self.entries_of(&text).map_err(refused)?;
        if self.text.as_ref() != Some(&text) {
            replacing::replace(&self.path, &text)?;
        }
        self.text = Some(text);
        self.entries = entries;
        Ok(())
    }
}

/// Removes and returns the entry with the hook's value, else the entry from which the hook was loaded.
fn take_entry_of(hook: &Hook, left: &mut [Option<HooksFileEntry>]) -> Option<HooksFileEntry> {
    let value = Some(hook.to_json());
    let mut take = |fits: &dyn Fn(&HooksFileEntry) -> bool| {
        let mut left = left.iter_mut();
        left.find(|entry| entry.as_ref().is_some_and(fits))?.take()
    };
    take(&|entry| entry.is_source_of(hook) && entry.old == value)
        .or_else(|| take(&|entry| entry.old == value))
        .or_else(|| take(&|entry| entry.is_source_of(hook)))
}
