//! Approvals: the hooks of a project that a person has approved, each with the files that it runs.
//!
//! Protects against the content of a repository: none of its hooks runs before a person has approved it,
//! and none runs in a changed form. Does not protect against a program that already runs as the user, nor
//! against what a covered file itself loads or runs.

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

use crate::hook::{Gate, GateVerdict, Hook, Protocol, canonical};

pub(crate) use carry::Edit;
use gate::{Refused, Unchanged};
use place::Project;
pub use store::TrustStore;

/// What an approval of a project's hooks covers.
///
/// To be shown to a person, and then passed to [`TrustStore::approve`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "nothing is approved until it is passed to `TrustStore::approve`"]
pub struct Approval {
    /// The project's root, with all symbolic links resolved.
    pub root: PathBuf,
    /// The project's hooks, in their order.
    pub hooks: Vec<Approved>,
}

/// One hook of an [`Approval`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Approved {
    /// The hook as an entry of hooks.json, to be shown to a person.
    pub definition: Value,
    /// The SHA-256 of that entry, which identifies the hook.
    /// The order of keys and the form of numbers make no difference.
    pub digest: String,
    /// The covered files within the project, each with the SHA-256 of its content.
    /// These are the files that the command itself runs, the scripts and executables among its arguments, and its
    /// `inputs`. None for a file that does not exist; the approval is lost if it appears.
    pub files: Vec<(String, Option<String>)>,
    /// The reasons why the approval is partial, one short line each. Each reason names something that the
    /// command may run or load and that `files` does not contain. Empty for a whole approval. Not saved in the
    /// store.
    #[serde(skip)]
    pub partial: Vec<String>,
    /// Whether the approval is from an earlier version, whose approvals covered less.
    /// The hook fails until it is approved again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outdated: bool,
}

/// Error approving hooks, or using the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The project cannot be found, or its path is not Unicode.
    #[error("cannot find the project `{}`", root.display())]
    Root {
        /// The path that was given.
        root: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A hook tried to approve hooks.
    #[error("hooks cannot be approved from within a hook (`{0}` is set)")]
    WithinHook(String),
    /// The store cannot be used: it cannot be read, or another user could have written it. All approvals count
    /// as lost: the project's hooks fail, and block what they could have blocked.
    #[error("the trust store `{}` {why}", path.display())]
    Unusable {
        /// The path of the store.
        path: PathBuf,
        /// What is wrong with it, and how to fix that.
        why: String,
    },
    /// The store cannot be written. The old one is unchanged.
    #[error("cannot write the trust store `{}`", path.display())]
    Write {
        /// The path of the store.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl Approval {
    /// What no approval covers, as a sentence to show beside each approval.
    pub const NEVER_COVERED: &str = "files that the covered files load or run are not covered";

    /// Looks at the hooks of a project and at the files that they run. Approves nothing yet.
    ///
    /// # Errors
    /// If the project cannot be found.
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

impl Approved {
    /// Compares the files of an approved hook with their current content, as its gate does before each run.
    /// Returns each difference as text, such as `has changed`.
    ///
    /// # Errors
    /// If the project cannot be found.
    pub fn changed_files(
        &self,
        root: impl AsRef<Path>,
        hook: &Hook,
    ) -> Result<Vec<(String, &'static str)>, TrustError> {
        let project = Project::at(&canonical_root(root.as_ref())?);
        Ok(Unchanged::new(&Arc::new(project), &self.files).differences(hook))
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

/// Resolves all links of the root. An approval is bound to the real place of the project.
fn canonical_root(root: &Path) -> Result<PathBuf, TrustError> {
    let error = |source| TrustError::Root {
        root: root.to_owned(),
        source,
    };
    let found = root.canonicalize().map_err(error)?;
    match found.to_str() {
        Some(_) => Ok(found),
        None => Err(error(io::Error::other("its path is not Unicode"))),
    }
}

/// The approvals of a project, used while its hooks are loaded.
pub(crate) struct ProjectApprovals {
    project: Arc<Project>,
    /// By the digests of their hooks.
    approved: HashMap<String, Approved>,
}

fn by_digest(approved: impl IntoIterator<Item = Approved>) -> HashMap<String, Approved> {
    let approved = approved.into_iter();
    approved.map(|it| (it.digest.clone(), it)).collect()
}

impl ProjectApprovals {
    fn new(root: &Path, approved: Vec<Approved>) -> Self {
        Self {
            project: Arc::new(Project::at(root)),
            approved: by_digest(approved),
        }
    }

    /// Creates the value for a project that cannot have any approvals.
    pub(crate) fn none(root: &Path) -> Self {
        Self::new(root, Vec::new())
    }

    /// Whether any hook of the project was ever approved.
    pub(crate) fn knows_project(&self) -> bool {
        !self.approved.is_empty()
    }

    /// Sets the hook's gate, which is checked before each run, and returns the current verdict.
    pub(crate) fn set_gate(&self, hook: Hook) -> (Hook, GateVerdict) {
        // Usually a project has no approvals at all.
        let approved = match self.knows_project() {
            true => self.approved.get(&digest_of(&hook.to_json())),
            false => None,
        };
        let Some(approved) = approved else {
            let verdict = GateVerdict::NotApproved(NOT_APPROVED.to_owned());
            let gate = Arc::new(Refused(verdict.clone()));
            return (hook.with_closed_gate(gate), verdict);
        };
        let gate: Arc<dyn Gate> = if approved.outdated {
            Refused::lost(OUTDATED)
        } else {
            Arc::new(Unchanged::new(&self.project, &approved.files))
        };
        let verdict = gate.check(&hook);
        (hook.with_approval(gate), verdict)
    }

    /// Returns the approved hooks that are not among these, each with a gate that refuses to run it: one of them
    /// may have been a guard.
    /// `protocol` returns the protocol of a hook that has one; None if such hooks are not loaded, so that none is missed.
    pub(crate) fn vanished<'a>(
        &self,
        hooks: impl Iterator<Item = &'a Hook>,
        protocol: impl Fn(&Value) -> Option<Arc<dyn Protocol>>,
    ) -> Vec<Hook> {
        if !self.knows_project() {
            return Vec::new();
        }
        let present: HashSet<String> = hooks.map(|hook| digest_of(&hook.to_json())).collect();
        let is_gone = |approved: &&Approved| !present.contains(&approved.digest);
        let mut gone: Vec<&Approved> = self.approved.values().filter(is_gone).collect();
        gone.sort_by_key(|approved| &approved.digest);
        let mut hooks = Vec::new();
        for Approved { definition, .. } in gone {
            if definition.get("enabled") == Some(&Value::Bool(false)) {
                continue;
            }
            let mut definition = definition.clone();
            let own = definition
                .as_object_mut()
                .and_then(|it| it.remove("protocol"));
            // An approval that cannot be read may have been of any guard.
            let hook = Hook::read(&definition);
            let mut hook = hook.unwrap_or_else(|_| Hook::placeholder(VANISHED));
            if let Some(own) = own {
                let Some(protocol) = protocol(&own) else {
                    continue;
                };
                hook = hook.with_protocol(protocol);
            }
            hooks.push(hook.with_gate(Refused::lost(VANISHED)));
        }
        hooks
    }

    /// Returns the hook with a closed gate. For a store that cannot be used: the hook may have been approved.
    pub(crate) fn without_store(hook: Hook, why: &str) -> Hook {
        hook.with_closed_gate(Refused::lost(why))
    }
}

const NOT_APPROVED: &str = "it comes from a project and has not been approved";
const OUTDATED: &str =
    "an earlier version, whose approvals covered less, approved it; approve it again";
const VANISHED: &str =
    "it was approved, but its entry was changed or removed since; approve the hooks again";
