//! What a person has approved: a project's hooks, each with the files that it names.
//!
//! Protects from what a repository brings along: nothing of it runs before somebody has looked at
//! it, and nothing that was changed since. Does not protect from a program that runs as the user
//! already, nor from what an approved file itself reads or runs.

mod digest;
mod gate;
mod named;
mod store;

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::hook::{Gate, Hook};

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
    /// The SHA-256 of that entry, by which the hook is known.
    pub digest: String,
    /// The files and folders within the project that its command names, and its `inputs`, with the
    /// SHA-256 of their content; none for one that is not there (and must not appear).
    pub files: Vec<(String, Option<String>)>,
    /// What the command seems to name, and what an approval cannot cover.
    #[serde(skip)]
    pub unresolved: Vec<String>,
}

/// Whether a hook of a project may run, see [`TrustStore::status`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookTrust {
    /// It is what was approved.
    Approved,
    /// Nobody has ever approved it; it is skipped.
    NotApproved,
    /// What it names is not any more what was approved; it fails, and blocks. In words.
    Lost(String),
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
    /// Looks at hooks of a project, and at the files that they name.
    ///
    /// # Errors
    /// When the project cannot be found.
    pub fn of<I>(root: impl AsRef<Path>, hooks: I) -> Result<Self, TrustError>
    where
        I: IntoIterator<Item: Borrow<Hook>>,
    {
        let root = canonical(root.as_ref())?;
        let hooks = hooks.into_iter().map(|hook| approve(&root, hook.borrow()));
        Ok(Self {
            hooks: hooks.collect(),
            root,
        })
    }
}

fn approve(root: &Path, hook: &Hook) -> Approved {
    let named = named::named(root, hook);
    let mut unresolved = named.unresolved;
    let files = named
        .files
        .into_iter()
        .filter_map(|file| match digest::of(root, &file) {
            Ok(digest) => Some((file, digest)),
            Err(error) => {
                unresolved.push(format!("{file}: {error}"));
                None
            }
        });
    Approved {
        definition: hook.to_json(),
        digest: digest_of(hook),
        files: files.collect(),
        unresolved,
    }
}

/// Of the text that the hook would be saved as: a number that has been through a file once more may
/// not be the same to the last digit.
fn digest_of(hook: &Hook) -> String {
    digest::of_text(&hook.to_json().to_string())
}

/// An approval is bound to where the project is, whatever it is called.
fn canonical(root: &Path) -> Result<PathBuf, TrustError> {
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
    root: PathBuf,
    approved: Vec<Approved>,
    /// The places in that list.
    by_digest: HashMap<String, usize>,
}

impl Judged {
    pub(crate) fn new(root: PathBuf, approved: Vec<Approved>) -> Self {
        let digests = approved.iter().enumerate();
        Self {
            // Of two approvals of the same hook, the first counts.
            by_digest: digests
                .rev()
                .map(|(index, approved)| (approved.digest.clone(), index))
                .collect(),
            root,
            approved,
        }
    }

    /// Of a project of which nothing can have been approved.
    pub(crate) fn nothing(root: &Path) -> Self {
        Self::new(root.to_owned(), Vec::new())
    }

    /// Whether anything of the project was ever approved.
    pub(crate) fn knows_project(&self) -> bool {
        !self.approved.is_empty()
    }

    /// Has the hook ask before each run, and says how it is now.
    pub(crate) fn judge(&self, hook: Hook) -> (Hook, HookTrust) {
        // A project without approvals may have very many hooks: none is hashed.
        let index = if self.knows_project() {
            self.by_digest.get(&digest_of(&hook))
        } else {
            None
        };
        let approved = index.map(|index| &self.approved[*index]);
        let gate: Arc<dyn Gate> = match approved {
            Some(approved) => Arc::new(gate::Unchanged::new(&self.root, &approved.files)),
            None => Arc::new(gate::NeverApproved),
        };
        let trust = gate.check(&hook).into();
        (hook.with_gate(gate), trust)
    }

    /// What was approved and is not among these: it may have been a guard.
    pub(crate) fn vanished<'a>(&self, hooks: impl Iterator<Item = &'a Hook>) -> Vec<Hook> {
        let present: HashSet<String> = hooks.map(digest_of).collect();
        let gone = self
            .approved
            .iter()
            .filter(|approved| !present.contains(&approved.digest));
        gone.filter_map(|approved| Hook::from_json(&approved.definition).ok())
            .filter(Hook::enabled)
            .map(|hook| hook.with_gate(Arc::new(gate::Vanished)))
            .collect()
    }

    /// Where the store cannot be used: everything may have been approved.
    pub(crate) fn lose(hook: Hook, why: &str) -> Hook {
        hook.with_gate(Arc::new(gate::Lost(why.to_owned())))
    }
}
