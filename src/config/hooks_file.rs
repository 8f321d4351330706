//! Edits a hooks file entry by entry, for a host's settings page or a program.
//!
//! Does not know how a text is changed (`save` does), nor what an approval covers.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::HookConfig;
use super::file::without_mark;
use super::outline::Outline;
use super::places::absolute;
use super::position::{Positions, TextRange};
use super::report::{ConfigError, Problem, Severity};
use super::save::{self, Present, Slot};
use crate::hook::{Hook, HookSource};

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
    config: HookConfig,
    /// The root of the project; none for the user's file.
    root: Option<PathBuf>,
    /// None if the file does not exist.
    text: Option<String>,
    entries: Vec<HooksFileEntry>,
}

/// One entry of a [`HooksFile`].
#[derive(Debug, Clone)]
pub struct HooksFileEntry {
    range: Option<TextRange>,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    /// With its index in the text that was read; none for a new entry.
    Usable(Box<Hook>, Option<usize>),
    Unusable(Box<Problem>, usize),
}

impl HooksFileEntry {
    fn new(hook: Hook) -> Self {
        Self {
            range: None,
            content: Content::Usable(Box::new(hook), None),
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
        match &self.content {
            Content::Usable(hook, _) => Ok(hook),
            Content::Unusable(problem, _) => Err(problem),
        }
    }

    fn slot(&self) -> Slot<'_> {
        match &self.content {
            Content::Usable(hook, Some(index)) => Slot::Changed(*index, hook),
            Content::Usable(hook, None) => Slot::New(hook),
            Content::Unusable(_, index) => Slot::Kept(*index),
        }
    }
}

impl HookConfig {
    /// Opens the user's file for editing: the one that exists, else the path where it would be saved.
    ///
    /// # Errors
    /// When the user has no home directory, when several of the profile's files exist, and when the file
    /// cannot be read or is not a hooks file.
    pub fn global_file(&self) -> Result<HooksFile, ConfigError> {
        let path = save::place(&self.global_candidates(), None)?;
        HooksFile::read(path, self.clone(), None)
    }

    /// Opens the project's file for editing; see [`global_file`](HookConfig::global_file).
    ///
    /// # Errors
    /// As with [`global_file`](HookConfig::global_file), and when a link leads out of the project.
    pub fn project_file(&self, root: impl AsRef<Path>) -> Result<HooksFile, ConfigError> {
        let root = absolute(root.as_ref());
        let path = save::place(&self.project_candidates(&root), Some(&root))?;
        HooksFile::read(path, self.clone(), Some(root))
    }
}

impl HooksFile {
    /// Opens the file at this path, which need not exist. For a project's file, use
    /// [`HookConfig::project_file`]: approvals need the project's root.
    ///
    /// # Errors
    /// When the file cannot be read or is not a hooks file.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ConfigError> {
        Self::read(path.into(), HookConfig::default(), None)
    }

    fn read(path: PathBuf, config: HookConfig, root: Option<PathBuf>) -> Result<Self, ConfigError> {
        let text = match save::read_present(&path)? {
            Present::Missing => None,
            Present::Text(text) => Some(text),
            Present::Broken(error) => {
                let reason = error.to_string();
                return Err(ConfigError::Unusable { path, reason });
            }
        };
        let mut file = Self {
            path,
            config,
            root,
            text,
            entries: Vec::new(),
        };
        file.read_entries()?;
        Ok(file)
    }

    fn read_entries(&mut self) -> Result<(), ConfigError> {
        let Some(present) = &self.text else {
            return Ok(());
        };
        let hooks = save::entries_of(Some(present)).map_err(|error| self.write_error(error))?;
        let (text, mark) = without_mark(present);
        // The text has been parsed before.
        let outline = Outline::of(text).ok().and_then(|outline| outline.entries);
        let positions = Positions::new(text, mark);
        let mut problems = self.problems(present);
        let source: Arc<Path> = self.path.as_path().into();
        let ranges = outline.unwrap_or_default();
        self.entries.clear();
        for (index, (range, hook)) in ranges.iter().zip(hooks).enumerate() {
            let range = positions.range(range);
            let content = match (problems.remove(&index), hook) {
                (None, Some(mut hook)) => {
                    let line = Some(range.start.line);
                    hook = hook.with_source(HookSource::new(source.clone(), Some(index), line));
                    if let Some(root) = &self.root {
                        hook = hook.with_base_dir(root.as_path());
                    }
                    Content::Usable(Box::new(hook), Some(index))
                }
                (problem, _) => {
                    let problem = problem.unwrap_or_else(|| not_shown(&self.path, index));
                    Content::Unusable(Box::new(problem), index)
                }
            };
            let range = Some(range);
            self.entries.push(HooksFileEntry { range, content });
        }
        Ok(())
    }

    /// Returns the first error of each entry that has errors.
    fn problems(&self, text: &str) -> HashMap<usize, Problem> {
        let mut first = HashMap::new();
        for problem in self.config.check_text(&self.path, text).problems {
            if let Some(index) = problem.index
                && problem.severity == Severity::Error
            {
                first.entry(index).or_insert(problem);
            }
        }
        first
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

    /// Switches a hook on or off; returns false if the index does not exist.
    pub fn set_enabled(&mut self, index: usize, enabled: bool) -> bool {
        match self.entries.get(index).map(HooksFileEntry::hook) {
            Some(Ok(hook)) => {
                let hook = hook.clone().with_enabled(enabled);
                self.replace(index, hook)
            }
            _ => false,
        }
    }

    /// Inserts a hook before the entry at this index, or after all entries if there are fewer.
    pub fn insert(&mut self, index: usize, hook: Hook) {
        let index = index.min(self.entries.len());
        self.entries.insert(index, HooksFileEntry::new(hook));
    }

    /// Replaces an entry by a hook; returns false if the index does not exist. If the entry can be used, only
    /// the keys that differ are written, else the whole entry.
    pub fn replace(&mut self, index: usize, hook: Hook) -> bool {
        let Some(entry) = self.entries.get_mut(index) else {
            return false;
        };
        match &mut entry.content {
            Content::Usable(old, _) => **old = hook,
            Content::Unusable(..) => *entry = HooksFileEntry::new(hook),
        }
        true
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

    /// Writes the changes in one step, and reads the entries again.
    ///
    /// In a project, the person approves the hooks again after an edit: an approval is for an entry as it was.
    ///
    /// # Errors
    /// When the file has changed since it was read, when it cannot be read or written, and when it would exceed
    /// a limit of the file: then nothing is written.
    pub fn save(&mut self) -> Result<(), ConfigError> {
        save::check_place(&self.path, self.root.as_deref())?;
        match save::read_present(&self.path)? {
            Present::Missing if self.text.is_none() => {}
            Present::Text(text) if self.text.as_ref() == Some(&text) => {}
            _ => {
                let path = self.path.clone();
                return Err(ConfigError::Changed { path });
            }
        }
        let present = self.text.as_deref();
        let old = save::entries_of(present).map_err(|error| self.write_error(error))?;
        let slots: Vec<_> = self.entries.iter().map(HooksFileEntry::slot).collect();
        let text = save::write(&self.path, present, &old, &slots)?;
        self.text = Some(text);
        self.read_entries()
    }

    fn write_error(&self, source: io::Error) -> ConfigError {
        let path = self.path.clone();
        ConfigError::Write { path, source }
    }
}

/// Returns the problem of an entry whose own problem is not among the reported ones.
fn not_shown(path: &Path, index: usize) -> Problem {
    let mut problem = Problem::new(Severity::Error, path, "this entry cannot be used");
    problem.place_in(Some(index), "");
    problem
}
