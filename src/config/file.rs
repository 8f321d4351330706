//! One hooks file: read within bounds, and taken apart entry by entry, so that a bad one does not
//! cost the others.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::report::{Problem, Severity};
use crate::hook::{Hook, HookSource, nearest_key};
use crate::pattern::EventPattern;

/// No hooks file is larger: what is, is something else.
const LARGEST_FILE: u64 = 16 * 1024 * 1024;

/// A file that exists, as far as it can be used.
pub(super) struct Loaded {
    path: PathBuf,
    entries: Vec<Entry>,
    pub(super) problems: Vec<Problem>,
    unreadable: bool,
}

enum Entry {
    Usable(Hook),
    StandIn(Hook),
}

/// What can be wrong with a file as a whole.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileError {
    #[error("could not be read: {0}")]
    Io(#[from] io::Error),
    #[error("is {0}, expected a file")]
    NoFile(&'static str),
    #[error("is larger than 16 MiB")]
    TooLarge,
    #[error("is not UTF-8 from byte {0} on")]
    NotUtf8(usize),
    #[error("is not valid JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("expected an object with a list `hooks`")]
    NoObject,
    #[error("`hooks`: expected a list")]
    NoList,
    #[error("has no list `hooks`, and an unknown key `{0}`")]
    OtherKey(String),
}

/// Loads a file; None where there is none. Relative paths in it count from `base_dir`.
pub(super) fn load(path: &Path, base_dir: Option<&Path>) -> Option<Loaded> {
    let mut loaded = Loaded {
        path: path.to_owned(),
        entries: Vec::new(),
        problems: Vec::new(),
        unreadable: false,
    };
    let content = read(path).and_then(|text| text.as_deref().map(parse).transpose());
    match content.and_then(has_hooks_or_nothing) {
        Ok(None) => return None,
        Ok(Some(content)) => {
            loaded.note_unknown_keys(&content);
            for (index, entry) in entries(&content).iter().enumerate() {
                loaded.add(index, entry, base_dir);
            }
        }
        Err(error) => loaded.give_up(&error),
    }
    Some(loaded)
}

/// The text of a file; None where there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, FileError> {
    let metadata = match path.metadata() {
        Err(error) if is_missing(&error) => return Ok(None),
        metadata => metadata?,
    };
    // Asked before it is opened: to open a pipe may take for ever.
    if metadata.is_dir() {
        return Err(FileError::NoFile("a folder"));
    }
    if !metadata.is_file() {
        return Err(FileError::NoFile("something special"));
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(LARGEST_FILE + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(FileError::TooLarge);
    }
    let mut text = String::from_utf8(bytes)
        .map_err(|error| FileError::NotUtf8(error.utf8_error().valid_up_to()))?;
    if text.starts_with('\u{FEFF}') {
        text.drain(..'\u{FEFF}'.len_utf8());
    }
    Ok(Some(text))
}

/// Below something that is no folder there are no files either; Windows makes no difference.
fn is_missing(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// The object that a file consists of; its `hooks`, where there are any, are a list.
pub(super) fn parse(text: &str) -> Result<Map<String, Value>, FileError> {
    let Value::Object(content) = serde_json::from_str(text)? else {
        return Err(FileError::NoObject);
    };
    match content.get("hooks") {
        None | Some(Value::Array(_)) => Ok(content),
        Some(_) => Err(FileError::NoList),
    }
}

/// A file without `hooks` and with another key is one whose `hooks` was mistyped, as far as anybody
/// can tell: it must not pass for one that has none.
fn has_hooks_or_nothing(
    content: Option<Map<String, Value>>,
) -> Result<Option<Map<String, Value>>, FileError> {
    let without_hooks = content
        .as_ref()
        .filter(|content| !content.contains_key("hooks"));
    match without_hooks.and_then(|content| unknown_keys(content).next()) {
        Some(key) => Err(FileError::OtherKey(key.to_owned())),
        None => Ok(content),
    }
}

fn unknown_keys(content: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let is_known = |key: &&str| ["hooks", "$schema"].contains(key);
    content
        .keys()
        .map(String::as_str)
        .filter(move |key| !is_known(key))
}

/// The entries of a file that `parse` has found fit.
pub(super) fn entries(content: &Map<String, Value>) -> &[Value] {
    content
        .get("hooks")
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

impl Loaded {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// How many of its hooks can be used.
    pub(super) fn usable(&self) -> usize {
        self.entries
            .iter()
            .filter(|entry| matches!(entry, Entry::Usable(_)))
            .count()
    }

    /// Whether nothing of it can be used.
    pub(super) fn is_unreadable(&self) -> bool {
        self.unreadable
    }

    pub(super) fn into_hooks(self, stand_ins: bool) -> impl Iterator<Item = Hook> {
        self.entries
            .into_iter()
            .filter_map(move |entry| match entry {
                Entry::Usable(hook) => Some(hook),
                Entry::StandIn(hook) => stand_ins.then_some(hook),
            })
    }

    fn problem(&mut self, severity: Severity, index: Option<usize>, message: impl Into<String>) {
        self.problems
            .push(Problem::new(severity, &self.path, index, message));
    }

    fn add(&mut self, index: usize, entry: &Value, base_dir: Option<&Path>) {
        let source = HookSource::new(&self.path, Some(index));
        match Hook::from_json(entry) {
            Ok(hook) => {
                for key in hook.unknown_keys() {
                    let message = unknown(key, nearest_key(key));
                    self.problems.push(Problem::new(
                        Severity::Warning,
                        &self.path,
                        Some(index),
                        message,
                    ));
                }
                let hook = hook.with_source(source);
                let hook = base_dir.into_iter().fold(hook, Hook::with_base_dir);
                self.entries.push(Entry::Usable(hook));
            }
            Err(error) => {
                self.problem(Severity::Error, Some(index), error.to_string());
                let reason = format!("{source}: {error}");
                self.entries
                    .extend(stand_in(entry, &reason, source).map(Entry::StandIn));
            }
        }
    }

    fn give_up(&mut self, error: &FileError) {
        self.unreadable = true;
        self.problem(Severity::Error, None, error.to_string());
        let source = HookSource::new(&self.path, None);
        let reason = format!("{source}: {error}");
        self.entries
            .extend(stand_in(&Value::Null, &reason, source).map(Entry::StandIn));
    }

    fn note_unknown_keys(&mut self, content: &Map<String, Value>) {
        for key in unknown_keys(content) {
            let near = strsim::jaro_winkler(key, "hooks") > 0.8;
            self.problem(
                Severity::Warning,
                None,
                unknown(key, near.then_some("hooks")),
            );
        }
    }
}

fn unknown(key: &str, nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!("unknown key `{key}`, did you mean `{nearest}`?"),
        None => format!("unknown key `{key}`"),
    }
}

/// A hook that always fails, in the place of an entry that cannot be used; for what it says
/// legibly, it is taken at its word. None for an entry that is switched off.
fn stand_in(entry: &Value, reason: &str, source: HookSource) -> Option<Hook> {
    if entry.get("enabled") == Some(&Value::Bool(false)) {
        return None;
    }
    let given = entry.get("event").and_then(Value::as_str);
    let pattern = given.and_then(|text| EventPattern::new(text).ok());
    let pattern = pattern.or_else(|| EventPattern::new("*").ok())?;
    let policy = crate::hook::failure_policy_of(entry);
    Some(Hook::stand_in(pattern, reason, source).with_on_failure(policy))
}
