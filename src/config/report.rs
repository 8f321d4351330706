//! The report of a load, the error of a save, and the policy that decides which hooks a load trusts.

use std::fmt;
use std::io;
#[cfg(feature = "cli")]
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::entry::Standing;
use crate::error::SetupError;
use crate::hook::Hook;
use crate::logging::warn;
use crate::problem::{Problem, Severity};
use crate::redact::Redactor;
use crate::trust::TrustStore;

/// The hooks that may run. A required argument of [`HookConfig::load_into`], so that a host decides explicitly
/// whether to trust a repository.
///
/// [`HookConfig::load_into`]: crate::HookConfig::load_into
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustPolicy {
    /// All hooks, including those of the project: a repository that was just cloned can bring hooks of its
    /// own.
    Everything,
    /// The user's hooks, and the hooks of the project that are approved in this store. The others are
    /// not registered, or fail if they were approved before: see [`TrustStore`].
    Approved(TrustStore),
}

/// The result of [`HookConfig::load_into`](crate::HookConfig::load_into) and
/// [`HookConfig::check`](crate::HookConfig::check). Serializes as `forge-hooks check --json` prints it:
/// the page `program` describes the keys.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
#[must_use = "it contains the problems of the user's files, for the host to show"]
pub struct LoadReport {
    /// The files that exist, in the order in which they were read.
    #[serde(serialize_with = "file_names")]
    pub files: Vec<PathBuf>,
    /// The number of usable hooks, without placeholder hooks.
    pub loaded: usize,
    /// The number of hooks of the files that can run now: registered, switched on, and approved if they must
    /// be, without placeholder hooks. 0 in a report of [`check`](crate::HookConfig::check).
    pub in_use: usize,
    /// The names of the hooks that are not registered because the administrator's or the user's file disables
    /// them.
    pub disabled: Vec<String>,
    /// The hooks that are not registered, each with the reason.
    #[serde(skip)]
    pub(crate) left_out: Vec<(Arc<Hook>, Standing)>,
    /// The hooks of the project that are not approved, by name or else by description or pattern. They are
    /// not registered. Empty under [`TrustPolicy::Everything`].
    pub unapproved: Vec<String>,
    /// The environment variable with which the user has disabled all hooks except [those of the
    /// administrator](crate::HooksBuilder::system_file): the host shows it. None if it is not set, or the host does not
    /// [allow](crate::HookExecutorBuilder::allow_disable) it. Every event that would have had hooks is logged, as a warning if
    /// they could have blocked it. Not part of the JSON form.
    #[serde(skip)]
    pub disabled_by: Option<String>,
    /// The files that [`check`](crate::HookConfig::check) has read as settings of another agent, each with the
    /// tool's name. Not part of the JSON form.
    #[serde(skip)]
    pub read_as: Vec<(PathBuf, &'static str)>,
    /// The problems, in the order of the files. If a file has too many, its last problem says that there are others.
    pub problems: Vec<Problem>,
}

/// The variable that disables all hooks, and the problems, each on a line.
impl fmt::Display for LoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(variable) = &self.disabled_by {
            writeln!(
                f,
                "`{variable}` is set: no hook runs, except the administrator's"
            )?;
        }
        let mut problems = self.problems.iter();
        problems.try_for_each(|problem| writeln!(f, "{problem}"))
    }
}

impl LoadReport {
    /// Adds a warning of a file as a whole, with its fix.
    #[cfg(feature = "cli")]
    pub(crate) fn warn(&mut self, path: &Path, message: String, help: String) {
        let problem = Problem::in_file(Severity::Warning, path, message).with_help(help);
        self.problems.push(problem.made_printable());
    }

    /// Returns whether no problem is an [error](Problem::is_error).
    #[must_use]
    pub fn is_ok(&self) -> bool {
        let mut problems = self.problems.iter();
        problems.all(|problem| problem.severity != Severity::Error)
    }
}

fn file_names<S: Serializer>(files: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(files.iter().map(|file| file.to_string_lossy()))
}

/// Error saving hooks or opening a hooks file for editing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// The path of the file is unknown: the user has no home directory, or the profile no such files.
    #[error(
        "no path for a hooks file: the user has no home directory, or the profile has no such file"
    )]
    NoPlace,
    /// Several of the profile's files exist, and all are read. The program cannot decide to which of them the
    /// hooks belong.
    #[error("several hooks files exist ({}): keep only one of them", listed(paths))]
    SeveralFiles {
        /// The files that exist.
        paths: Vec<PathBuf>,
    },
    /// The existing file cannot be read, so it is not replaced.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file is not a hooks file. It must be fixed before it can be edited.
    #[error("`{}`: {reason}: fix it before editing it", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
    /// Another program has changed the file since it was read for editing.
    #[cfg(feature = "cli")]
    #[error("`{}` has changed since it was read: open it again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written. The old file is unchanged.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl From<ConfigError> for SetupError {
    fn from(error: ConfigError) -> Self {
        let message = error.to_string();
        match error {
            ConfigError::Read { source, .. } | ConfigError::Write { source, .. } => {
                Self::because(message, source)
            }
            _ => Self::new(message),
        }
    }
}

fn listed(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
    names.join(", ")
}

pub(super) fn log_problem(problem: &Problem) {
    // The message contains the wrong value, which may be a secret.
    let message = problem.to_string();
    warn!("{}", Redactor::default().text(&message));
}
