//! What loading and saving have to say.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::file::Loaded;

/// Which hooks may run. A required argument of [`HookConfig::load_into`], so that nobody trusts a
/// repository without having said so.
///
/// [`HookConfig::load_into`]: crate::HookConfig::load_into
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustPolicy {
    /// All of them, those of the project too: a repository that was cloned a minute ago can bring
    /// along hooks of its own.
    Everything,
}

/// What [`HookConfig::load_into`](crate::HookConfig::load_into) found.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
#[must_use = "problems in the user's files are told here, for the host to show"]
pub struct LoadReport {
    /// The files that exist, in the order in which they were read.
    pub files: Vec<PathBuf>,
    /// How many hooks were loaded, stand-ins not counted.
    pub loaded: usize,
    /// What is wrong with the files, in their order.
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

    pub(super) fn add(&mut self, file: &Loaded) {
        self.files.push(file.path().to_owned());
        self.loaded += file.usable();
        self.problems.extend(file.problems.iter().cloned());
    }
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

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// One thing that is wrong with a hooks file. `Display` is one line:
/// `error: /home/me/.config/src/forge/hooks.json: hooks[2]: ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// The file.
    pub path: PathBuf,
    /// The place in its list `hooks`, counted from 0; none where it is the file as a whole.
    pub index: Option<usize>,
    /// What is wrong, and what is expected.
    pub message: String,
}

impl Problem {
    pub(super) fn new(
        severity: Severity,
        path: &Path,
        index: Option<usize>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            path: path.to_owned(),
            index,
            message: message.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: ", self.severity, self.path.display())?;
        if let Some(index) = self.index {
            write!(f, "hooks[{index}]: ")?;
        }
        f.write_str(&self.message)
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
