//! A problem of a hooks file, with its place. A load, a check and the lints report problems.
//!
//! Knows values of JSON and their places. Knows neither hooks nor files.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use crate::entry::named;
use crate::json::{Fault, Node, Position};
use crate::printable::{printable, shortened};

named! {
    /// The severity of a problem.
    pub(crate) enum Severity {
        /// A hook, or a whole file, cannot be used.
        Error = "error",
        /// A hook or a file can be used, but probably does not do what was intended.
        Warning = "warning",
    }
}

/// One problem of a hooks file. `Display` is one line:
/// `error: /home/me/.config/src/forge/hooks.json:7:18: hooks[2].timeout: expected ...`. Serializes as in
/// `forge-hooks check --json`: a key without a value is `null`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// The severity.
    pub(crate) severity: Severity,
    /// The file.
    #[serde(rename = "file", serialize_with = "file_name")]
    pub path: PathBuf,
    /// The index in the file's list `hooks`, counted from 0; none for a problem of the whole file.
    pub index: Option<usize>,
    /// The path to the key in the file, such as `hooks[2].timeout`; none for a problem of the whole file.
    pub key: Option<String>,
    /// The range in the file, for an editor to underline, empty if something is missing there; none if the problem has no
    /// range.
    #[serde(flatten, serialize_with = "places")]
    pub range: Option<Range<Position>>,
    /// The problem, including what was expected and what was found.
    pub message: String,
    /// The expected value, if known.
    pub expected: Option<String>,
    /// The value that was found.
    pub found: Option<String>,
    /// A suggestion for a name with a typo.
    pub suggestion: Option<String>,
    /// The next step, if the message does not contain it.
    pub help: Option<String>,
    /// The bytes of the key in the text that is being read.
    #[serde(skip)]
    pub(crate) bytes: Range<usize>,
    /// True if the problem is a limit of this crate: another program may have read the file.
    #[serde(skip)]
    pub(crate) is_limit: bool,
    /// True if an approval solves the problem.
    #[serde(skip)]
    pub(crate) is_of_approval: bool,
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        Self {
            help: fault.help,
            is_limit: fault.is_limit,
            ..Self::error(fault.key, fault.message).at(fault.place)
        }
    }
}

impl Problem {
    /// Returns whether a hook, or a whole file, cannot be used. Otherwise the problem is a warning: it can be used, but
    /// probably does not do what was intended.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Creates a problem of a file as a whole.
    pub(crate) fn in_file(severity: Severity, path: &Path, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            key: None,
            ..Self::new(severity, "", message)
        }
    }

    /// Creates a problem of a key in a text that is being read. The reader of the text knows the file.
    pub(crate) fn new(
        severity: Severity,
        key: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            path: PathBuf::new(),
            index: None,
            key: Some(key.into()),
            range: None,
            message: message.into(),
            expected: None,
            found: None,
            suggestion: None,
            help: None,
            bytes: 0..0,
            is_limit: false,
            is_of_approval: false,
        }
    }

    pub(crate) fn error(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, key, message)
    }

    pub(crate) fn warning(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, key, message)
    }

    /// Creates an error about this value.
    pub(crate) fn error_at(node: &Node<'_, '_>, message: impl Into<String>) -> Self {
        Self::error(node.key, message).at(node.place())
    }

    /// Creates a warning about this value.
    pub(crate) fn warning_at(node: &Node<'_, '_>, message: impl Into<String>) -> Self {
        Self::warning(node.key, message).at(node.place())
    }

    /// Marks the problem as a limit of this crate that is exceeded, so that the file cannot be used.
    pub(crate) fn limit(message: impl Into<String>) -> Self {
        let is_limit = true;
        Self {
            is_limit,
            ..Self::error("", message)
        }
    }

    pub(crate) fn at(self, bytes: Range<usize>) -> Self {
        Self { bytes, ..self }
    }

    /// Returns the first byte of the problem in the text that is being read.
    pub(crate) fn start(&self) -> usize {
        self.bytes.start
    }

    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        let help = Some(help.into());
        Self { help, ..self }
    }

    pub(crate) fn with_suggestion_of(self, name: Option<impl Into<String>>) -> Self {
        let suggestion = name.map(Into::into);
        Self { suggestion, ..self }
    }

    /// Sets the entry in which the key is.
    pub(crate) fn in_entry(mut self, index: Option<usize>) -> Self {
        let key = self.key.take().unwrap_or_default();
        let key = shortened(&key);
        let entry = index.map(|index| format!("hooks[{index}]"));
        self.index = index;
        self.key = match entry {
            _ if key.is_empty() => entry,
            Some(entry) => Some(format!("{entry}.{key}")),
            None => Some(key.into_owned()),
        };
        self
    }

    /// Makes hidden characters visible: a hooks file may come with a repository that was just cloned.
    pub(crate) fn made_printable(mut self) -> Self {
        self.message = printable(&self.message);
        for text in [
            &mut self.key,
            &mut self.expected,
            &mut self.found,
            &mut self.suggestion,
            &mut self.help,
        ] {
            *text = text.as_deref().map(printable);
        }
        self
    }

    /// Returns the place and the message, without the severity.
    pub(crate) fn reason(&self) -> String {
        let path = self.path.to_string_lossy();
        let mut reason = format!("{}:", printable(&path));
        if let Some(Range { start, .. }) = self.range {
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

fn file_name<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Writes a range into the object of its problem.
fn places<S: Serializer>(
    range: &Option<Range<Position>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let start = range.as_ref().map(|range| range.start);
    let end = range.as_ref().map(|range| range.end);
    serializer.collect_map([
        ("line", start.map(|start| start.line)),
        ("column", start.map(|start| start.column)),
        ("end_line", end.map(|end| end.line)),
        ("end_column", end.map(|end| end.column)),
        ("offset", start.map(|start| start.offset)),
        ("end_offset", end.map(|end| end.offset)),
    ])
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.severity, self.reason())
    }
}
