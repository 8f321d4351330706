//! What a person has approved: a project's hooks, each with the files that it runs.
//!
//! Protects from what a repository brings along: nothing of it runs before a person has looked at
//! it, and nothing that was changed since. Does not protect from a program that runs as the user
//! already, nor from what a covered file itself loads or runs.

mod carry;
mod commands;
mod coverage;
mod digest;
mod findings;
mod gate;
mod interpreted;
mod interpreters;
mod place;
mod programs;
mod store;

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::hook::{Gate, GateVerdict, Hook, canonical};

pub(crate) use carry::Edit;
use place::Project;
pub use store::TrustStore;

/// What an approval of a project's hooks covers: to be shown to a person, and then given to
/// [`TrustStore::approve`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "it is not approved yet"]
pub struct Approval {
    /// The project's root, with all links followed.
    pub root: PathBuf,
    /// Its hooks, in their order.
    pub hooks: Vec<Approved>,
}

/// One hook of an [`Approval`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Approved {
    /// The hook as an entry of hooks.json, to be shown.
    pub definition: Value,
    /// The SHA-256 of that entry, by which the hook is known. The order of keys and the form of
    /// numbers make no difference.
    pub digest: String,
    /// The files within the project that the command itself runs, the scripts and executables among
    /// its arguments, and its `inputs`, each with the SHA-256 of its content; none for one that does
    /// not exist (and must not appear).
    pub files: Vec<(String, Option<String>)>,
    /// Why the approval is partial: what the command may run or load that `files` does not have, one
    /// short line for each reason. Empty for a whole approval. Not kept in the store.
    #[serde(skip)]
    pub partial: Vec<String>,
    /// An earlier version approved it, whose approvals covered less: the hook fails until it is
    /// approved again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outdated: bool,
}

/// Why something could not be approved, or the store not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The project cannot be found, or its name is no Unicode.
    #[error("could not find the project `{}`", root.display())]
    Root {
        /// As it was given.
        root: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A hook cannot approve hooks.
    #[error("hooks cannot be approved from within a hook (`{0}` is set)")]
    WithinHook(String),
    /// The store cannot be used: it cannot be read, or somebody else could have written it. Nothing
    /// counts as approved.
    #[error("the trust store `{}` {why}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why, and what mends it.
        why: String,
    },
    /// The store cannot be written; the old one is as it was.
    #[error("could not write the trust store `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Approval {
    /// What no approval covers, in words: to be shown beside each.
    pub const NEVER_COVERED: &str = "what the covered files themselves load or run is not covered";

    /// Looks at hooks of a project, and at the files that they run.
    ///
    /// # Errors
    /// When the project cannot be found.
    pub fn of<I>(root: impl AsRef<Path>, hooks: I) -> Result<Self, TrustError>
    where
        I: IntoIterator<Item: Borrow<Hook>>,
    {
        let root = canonical_root(root.as_ref())?;
        let project = Project::at(&root);
        let hooks = hooks
            .into_iter()
            .map(|hook| approve(&project, hook.borrow()));
        Ok(Self {
            hooks: hooks.collect(),
            root,
        })
    }
}

fn approve(project: &Project, hook: &Hook) -> Approved {
    let covered = coverage::coverage(project, hook);
    let mut partial = covered.partial;
    let mut files = Vec::new();
    let mut budget = digest::Budget::new();
    for (file, kind) in covered.files {
        match digest::of(&project.root, &file, kind, &mut budget) {
            Ok(digest) => files.push((file, digest)),
            Err(error) => partial.push(format!("`{file}` cannot be read: {error}")),
        }
    }
    let definition = hook.to_json();
    Approved {
        digest: digest_of(&definition),
        definition,
        files,
        partial,
        outdated: false,
    }
}

fn digest_of(definition: &Value) -> String {
    digest::of_text(&canonical(definition))
}

/// An approval is bound to where the project is, whatever it is called.
fn canonical_root(root: &Path) -> Result<PathBuf, TrustError> {
    let error = |source| TrustError::Root {
        root: root.to_owned(),
        source,
    };
    let found = root.canonicalize().map_err(error)?;
    match found.to_str() {
        Some(_) => Ok(found),
        None => Err(error(io::Error::other("its name is no Unicode"))),
    }
}

/// A project's hooks and what has been approved of them, for loading.
pub(crate) struct Judged {
    project: Arc<Project>,
    /// By their digests.
    approved: HashMap<String, Approved>,
}

impl Judged {
    fn new(root: &Path, approved: Vec<Approved>) -> Self {
        let by_digest = |approved: Approved| (approved.digest.clone(), approved);
        Self {
            project: Arc::new(Project::at(root)),
            approved: approved.into_iter().map(by_digest).collect(),
        }
    }

    /// Of a project of which nothing can have been approved.
    pub(crate) fn nothing(root: &Path) -> Self {
        Self::new(root, Vec::new())
    }

    /// Whether anything of the project was ever approved.
    pub(crate) fn knows_project(&self) -> bool {
        !self.approved.is_empty()
    }

    /// Has the hook ask before each run, and says how it is now.
    pub(crate) fn judge(&self, hook: Hook) -> (Hook, GateVerdict) {
        // Most projects that are opened have nothing approved.
        let approved = match self.knows_project() {
            true => self.approved.get(&digest_of(&hook.to_json())),
            false => None,
        };
        let Some(approved) = approved else {
            let gate = Arc::new(gate::NeverApproved);
            let verdict = gate.check(&hook);
            return (hook.with_closed_gate(gate), verdict);
        };
        let gate: Arc<dyn Gate> = if approved.outdated {
            Arc::new(gate::Lost(OUTDATED.to_owned()))
        } else {
            Arc::new(gate::Unchanged::new(&self.project, approved))
        };
        let verdict = gate.check(&hook);
        (hook.with_gate(gate), verdict)
    }

    /// What was approved and is not among these: it may have been a guard.
    pub(crate) fn vanished<'a>(&self, hooks: impl Iterator<Item = &'a Hook>) -> Vec<Hook> {
        if !self.knows_project() {
            return Vec::new();
        }
        let present: HashSet<String> = hooks.map(|hook| digest_of(&hook.to_json())).collect();
        let is_gone = |approved: &&Approved| !present.contains(&approved.digest);
        let mut gone: Vec<&Approved> = self.approved.values().filter(is_gone).collect();
        gone.sort_by_key(|approved| &approved.digest);
        gone.into_iter()
            .filter_map(|approved| Hook::read(&approved.definition).ok())
            .filter(Hook::enabled)
            .map(|hook| hook.with_gate(Arc::new(gate::Lost(VANISHED.to_owned()))))
            .collect()
    }

    /// Where the store cannot be used: everything may have been approved.
    pub(crate) fn lose(hook: Hook, why: &str) -> Hook {
        hook.with_closed_gate(Arc::new(gate::Lost(why.to_owned())))
    }
}

const OUTDATED: &str =
    "an earlier version approved it, whose approvals covered less; approve it again";
const VANISHED: &str = "it was approved, and has been changed in its file, or is gone from it";
