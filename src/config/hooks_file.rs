//! Changes the entries of a hooks file: the one way in which hooks are saved.
//!
//! `edit` changes the text. Does not know the content of an approval.

use std::borrow::Borrow;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::content::{Loaded, Owner};
use super::edit::{self, Slot};
use super::reader::HooksJson;
use super::replacing;
use super::report::ConfigError;
use super::sources::Form;
use crate::hook::{Hook, is_beside_hooks};

/// A hooks file whose list is replaced. All other bytes stay: comments, formatting, keys that this version does not know,
/// entries that cannot be used.
struct HooksFile {
    path: PathBuf,
    /// The root of the project; none for the user's file.
    root: Option<PathBuf>,
    /// The text that was read; none if the file does not exist.
    text: Option<String>,
    entries: Vec<Entry>,
}

struct Entry {
    /// Its index in the text; none for a new entry.
    index: Option<usize>,
    /// Its value in the text; none for a new entry, and for one that cannot be used.
    old: Option<Value>,
    /// None for an entry that cannot be used.
    hook: Option<Hook>,
}

impl Entry {
    fn slot(&self) -> Slot<'_> {
        Slot {
            index: self.index,
            old: self.old.as_ref(),
            new: self.hook.as_ref().map(Hook::to_json),
        }
    }

    /// Returns whether the hook was loaded from this entry.
    fn is_source_of(&self, edited: &Hook) -> bool {
        let mut source = self.hook.iter().filter(|_| self.old.is_some());
        source.any(|hook| hook.source() == edited.source())
    }
}

/// Checks that the first of these files that exists can be read, and lies within the project.
#[cfg(feature = "cli")]
pub(super) fn check(candidates: &[PathBuf], root: PathBuf) -> Result<(), ConfigError> {
    let path = replacing::place(candidates)?;
    HooksFile::read(path, Some(root)).map(drop)
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
    fn entries_of(&self, text: &str) -> Result<Vec<Entry>, String> {
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
        let entries = entries.map(|(index, hook)| Entry {
            index: Some(index),
            old: hook.as_ref().map(|hook| hook.to_json()),
            hook: hook.map(|hook| Hook::clone(&hook)),
        });
        Ok(entries.collect())
    }

    /// Makes these hooks the list. Entries that cannot be used keep their index.
    fn set_hooks(&mut self, hooks: &[&Hook]) {
        let old = std::mem::take(&mut self.entries);
        let mut left: Vec<_> = old.into_iter().map(Some).collect();
        for hook in hooks {
            let taken = take_entry_of(hook, &mut left);
            self.entries.push(Entry {
                index: taken.as_ref().and_then(|entry| entry.index),
                old: taken.and_then(|entry| entry.old),
                hook: Some(Hook::clone(hook)),
            });
        }
        for entry in left.into_iter().flatten() {
            if let (Some(index), None) = (entry.index, &entry.hook) {
                let index = index.min(self.entries.len());
                self.entries.insert(index, entry);
            }
        }
    }

    /// Writes the changes in one step.
    fn write(&self) -> Result<(), ConfigError> {
        let refused =
            |reason: String| replacing::cannot_write(&self.path, io::Error::other(reason));
        let slots: Vec<_> = self.entries.iter().map(Entry::slot).collect();
        let text = edit::edited(self.text.as_deref(), &slots)
            .ok_or_else(|| refused("not an object with a list `hooks`".to_owned()))?;
        // A text that could not be loaded again is not written.
        self.entries_of(&text).map_err(refused)?;
        if self.text.as_ref() != Some(&text) {
            replacing::replace(&self.path, &text)?;
        }
        Ok(())
    }
}

/// Removes and returns the entry with the hook's value, else the entry from which the hook was loaded.
fn take_entry_of(hook: &Hook, left: &mut [Option<Entry>]) -> Option<Entry> {
    let value = Some(hook.to_json());
    let mut take = |fits: &dyn Fn(&Entry) -> bool| {
        let mut left = left.iter_mut();
        left.find(|entry| entry.as_ref().is_some_and(fits))?.take()
    };
    take(&|entry| entry.is_source_of(hook) && entry.old == value)
        .or_else(|| take(&|entry| entry.old == value))
        .or_else(|| take(&|entry| entry.is_source_of(hook)))
}
