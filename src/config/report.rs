//! What there is to say of hooks files: problems, each with its place.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::position::TextRange;
use crate::hook::{Hook, named};
use crate::printable::printable;
use crate::trust::{TrustError, TrustStore};

/// Which hooks may run. A required argument of [`HookConfig::load_into`], so that no host trusts a
/// repository without saying so.
///
/// [`HookConfig::load_into`]: crate::HookConfig::load_into
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustPolicy {
    /// All of them, those of the project too: a repository that was cloned a minute ago can bring
    /// along hooks of its own.
    Everything,
    /// The user's, and of the project's those that are approved in this store. The others are
    /// skipped, or fail if they were approved once: see [`TrustStore`].
    Approved(TrustStore),
}

/// What [`HookConfig::load_into`](crate::HookConfig::load_into) and
/// [`HookConfig::check`](crate::HookConfig::check) found.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
#[must_use = "it holds the problems in the user's files, for the host to show"]
pub struct LoadReport {
    /// The files that exist, in the order in which they were read.
    pub files: Vec<PathBuf>,
    /// How many hooks can be used, placeholder hooks not counted.
    pub loaded: usize,
    /// How many hooks of the files can run now: registered, switched on, and approved where they must
    /// be, placeholder hooks not counted. While a [watched](crate::HookConfig::watch) file cannot be
    /// used, those that stay from before. 0 in a report of [`check`](crate::HookConfig::check).
    pub in_use: usize,
    /// The names of those that are not registered because the user's file disables them.
    pub disabled: Vec<String>,
    /// The hooks of the project that no person has approved, by name or else by description or pattern.
    /// They are skipped. Empty under [`TrustPolicy::Everything`].
    pub unapproved: Vec<String>,
    /// What is wrong with the files, in their order. Of one file at most 1,000, and one more if
    /// there are others.
    pub problems: Vec<Problem>,
}

impl LoadReport {
    /// Whether nothing is so wrong that a hook could not be loaded.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.problems
            .iter()
            .all(|problem| problem.severity != Severity::Error)
    }

    /// The report in JSON, as [`Serialize`] writes it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        // Cannot fail: there are texts, numbers and lists in it, and nothing else.
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// As `forge-hooks validate --json` prints it: `schemas/validate.schema.json` has the keys.
impl Serialize for LoadReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let files: Vec<_> = self
            .files
            .iter()
            .map(|path| path.to_string_lossy())
            .collect();
        let mut fields = serializer.serialize_struct("LoadReport", 6)?;
        fields.serialize_field("files", &files)?;
        fields.serialize_field("loaded", &self.loaded)?;
        fields.serialize_field("in_use", &self.in_use)?;
        fields.serialize_field("disabled", &self.disabled)?;
        fields.serialize_field("unapproved", &self.unapproved)?;
        fields.serialize_field("problems", &self.problems)?;
        fields.end()
    }
}

/// How many of these can run.
pub(super) fn in_use(hooks: &[Arc<Hook>]) -> usize {
    let usable = |hook: &&Arc<Hook>| hook.may_run() && hook.refusal().is_none();
    hooks.iter().filter(usable).count()
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// A hook, or a whole file, cannot be used.
    Error,
    /// It can be used, and is probably not what was meant.
    Warning,
}

named!(Severity {
    Error = "error",
    Warning = "warning",
});

/// One thing that is wrong with a hooks file. `Display` is one line:
/// `error: /home/me/.config/src/forge/hooks.json:7:18: hooks[2].timeout: expected ...`;
/// [`render`](Problem::render) shows the line of the file too.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// The file.
    pub path: PathBuf,
    /// The place in its list `hooks`, counted from 0; none where it is the file as a whole.
    pub index: Option<usize>,
    /// The way to it in the file, as in `hooks[2].timeout`; none for the file as a whole.
    pub key: Option<String>,
    /// The place in the file, for an editor to underline; none where it is no place in a text.
    pub range: Option<TextRange>,
    /// What is wrong, in words: also what was expected and what was found.
    pub message: String,
    /// What was expected, where it can be said.
    pub expected: Option<String>,
    /// What was found in its place.
    pub found: Option<String>,
    /// The name that was probably meant.
    pub suggestion: Option<String>,
    /// How it is fixed, where the message does not say it.
    pub help: Option<String>,
    pub(super) excerpt: Option<Excerpt>,
}

/// A part of the line in which a problem is, and in it the bytes that are the problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub(super) text: String,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Otherwise columns in it are not those of the line.
    pub(super) begins_the_line: bool,
}

impl Problem {
    /// Of a file as a whole.
    pub(super) fn new(severity: Severity, path: &Path, message: impl Into<String>) -> Self {
        Self {
            severity,
            path: path.to_owned(),
            index: None,
            key: None,
            range: None,
            message: message.into(),
            expected: None,
            found: None,
            suggestion: None,
            help: None,
            excerpt: None,
        }
    }

    /// Sets the entry and the key in it.
    pub(super) fn place_in(&mut self, index: Option<usize>, key: &str) {
        self.index = index;
        self.key = match index {
            Some(index) if key.is_empty() => Some(format!("hooks[{index}]")),
            Some(index) => Some(format!("hooks[{index}].{key}")),
            None if key.is_empty() => None,
            None => Some(key.to_owned()),
        };
    }

    /// With nothing hidden in its words: a hooks file may come with a repository that was cloned a
    /// minute ago.
    pub(super) fn made_printable(mut self) -> Self {
        let texts = [
            Some(&mut self.message),
            self.key.as_mut(),
            self.expected.as_mut(),
            self.found.as_mut(),
            self.suggestion.as_mut(),
            self.help.as_mut(),
        ];
        for text in texts.into_iter().flatten() {
            *text = printable(text);
        }
        self
    }

    /// The place and the message, without how bad it is.
    pub(super) fn reason(&self) -> String {
        let path = self.path.to_string_lossy();
        let mut reason = format!("{}:", printable(&path));
        if let Some(TextRange { start, .. }) = self.range {
            reason += &format!("{}:{}:", start.line, start.column);
        }
        if let Some(key) = &self.key {
            reason += &format!(" {key}:");
        }
        reason += &format!(" {}", self.message);
        if let Some(name) = &self.suggestion {
            reason += &format!(", did you mean `{name}`?");
        }
        if let Some(help) = &self.help {
            reason += &format!(" ({help})");
        }
        reason
    }
}

/// As in `forge-hooks validate --json`: a key without a value is `null`.
impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let start = self.range.map(|range| range.start);
        let end = self.range.map(|range| range.end);
        let mut fields = serializer.serialize_struct("Problem", 15)?;
        fields.serialize_field("severity", &self.severity)?;
        fields.serialize_field("file", &self.path.to_string_lossy())?;
        fields.serialize_field("index", &self.index)?;
        fields.serialize_field("key", &self.key)?;
        fields.serialize_field("line", &start.map(|start| start.line))?;
        fields.serialize_field("column", &start.map(|start| start.column))?;
        fields.serialize_field("end_line", &end.map(|end| end.line))?;
        fields.serialize_field("end_column", &end.map(|end| end.column))?;
        fields.serialize_field("offset", &start.map(|start| start.offset))?;
        fields.serialize_field("end_offset", &end.map(|end| end.offset))?;
        fields.serialize_field("message", &self.message)?;
        fields.serialize_field("expected", &self.expected)?;
        fields.serialize_field("found", &self.found)?;
        fields.serialize_field("suggestion", &self.suggestion)?;
        fields.serialize_field("help", &self.help)?;
        fields.end()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.severity, self.reason())
    }
}

/// Why hooks could not be saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no place to save to: the user has no home, or the profile no such files.
    #[error("no place for a hooks file: the user has no home, or the profile names none")]
    NoPlace,
    /// Several of the profile's files exist, and all are read: it is not for a program to say which
    /// of them the hooks belong to.
    #[error("several hooks files exist ({}): keep one of them", shown(paths))]
    SeveralFiles {
        /// Those that exist.
        paths: Vec<PathBuf>,
    },
    /// The file that is there cannot be read, and is not replaced unread.
    #[error("could not read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not a hooks file, and is not edited before it is fixed.
    #[error("`{}` {reason}: fix it before it is edited", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another program has changed the file since it was read to be edited.
    #[error("`{}` has been changed since it was read: read it again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The approvals of edited hooks cannot be kept.
    #[error("could not keep the approvals of edited hooks")]
    Approvals(#[from] TrustError),
    /// The file cannot be written; the old one is as it was.
    #[error("could not write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

fn shown(paths: &[PathBuf]) -> String {
    let shown: Vec<_> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    shown.join(", ")
}
