//! The file that stores approvals: owned by the user, private, replaced in one step.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::admit::ProjectApprovals;
use super::approval::{Approval, Approved, canonical_root};
use super::error::TrustError;
use super::worktree::identity;
use crate::error::SetupError;
use crate::files::{self, NewFile};
use crate::json;
use crate::profile::HOOK_CHAIN;

/// The store of the hooks that a person has approved, by project.
///
/// An approval is bound to the project's place, to the definition of each hook, and to the files that the approval covers: the
/// files that the entry names, the project's hooks directory, and the entry's `inputs`. The order
/// of the hooks does not matter. A git worktree without approvals of its own has those of the main worktree.
///
/// A hook that was never approved is not registered, and the host continues. A hook that was approved and was
/// then changed or removed fails. It blocks, if the event can be blocked, until a person approves it or
/// [revokes](TrustStore::revoke) the approval.
///
/// ```
/// use forge_hooks::config::TrustPolicy;
/// use forge_hooks::trust::Approval;
/// use forge_hooks::{HookConfig, HookRegistry};
///
/// # let directory = tempfile::tempdir()?;
/// # let project = directory.path();
/// let config = HookConfig::default();
/// # let config = config.with_config_home(project.join("config"));
/// let Some(store) = config.trust_store() else { return Ok(()) };
/// // When the user says that they trust the project:
/// let approval = Approval::of(project, config.load_project(project))?;
/// // ... show it, and ask the user ...
/// store.approve(&approval)?;
///
/// let registry = HookRegistry::new();
/// let report = config.load_into(&registry, project, TrustPolicy::Approved(store));
/// # assert!(report.is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The store protects against the content of a repository. It does not protect against other files that a script reads
/// or runs ([`Approval::NEVER_COVERED`]), against a change between the check and the run, nor against a program that
/// already runs as the user.
///
/// The file is JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustStore {
    path: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    /// The version of the format, for later versions of this program.
    version: u32,
    projects: BTreeMap<String, Vec<Approved>>,
}

/// The version of the file's format. The approvals of another version would cover other files.
const VERSION: u32 = 3;

impl TrustStore {
    /// Uses the store in this file, which does not have to exist.
    ///
    /// The file must belong to the user. See [`HookConfig::trust_store`](crate::HookConfig::trust_store) for its
    /// usual path.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Approves a project's hooks as they are in `approval`. Replaces all earlier approvals of the project.
    ///
    /// # Errors
    /// If the method is called from within a hook, or if the store cannot be used or written.
    pub fn approve(&self, approval: &Approval) -> Result<(), SetupError> {
        self.approve_beside(approval, |_| false)?;
        Ok(())
    }

    /// Approves a project's hooks as they are in `approval`, and keeps those earlier approvals of the project for which
    /// `is_kept` returns true. A program that reads only some of the project's hooks needs this, see
    /// [`HookConfig::reads`](crate::HookConfig::reads).
    ///
    /// # Errors
    /// If the method is called from within a hook, or if the store cannot be used or written.
    pub(crate) fn approve_beside(
        &self,
        approval: &Approval,
        is_kept: impl Fn(&Approved) -> bool,
    ) -> Result<(), TrustError> {
        refuse_within_hook()?;
        let [root, main] = keys(&approval.root);
        self.change(|projects| {
            let before = projects.get(&root).or_else(|| projects.get(&main));
            let kept = before
                .into_iter()
                .flatten()
                .filter(|approved| is_kept(approved));
            let mut hooks = approval.hooks.clone();
            hooks.extend(kept.cloned());
            projects.insert(root, hooks);
        })
    }

    /// Removes all approvals of a project. Returns whether there were any. Those of the main worktree then no longer
    /// count for a git worktree of it.
    ///
    /// The next time that the project's hooks are loaded, they count as never approved. A program that has already loaded
    /// them keeps them until it [loads changed files](crate::Hooks::reload_if_changed).
    ///
    /// # Errors
    /// If the method is called from within a hook, if the project cannot be found, or if the store cannot be used or
    /// written.
    pub fn revoke(&self, root: impl AsRef<Path>) -> Result<bool, SetupError> {
        Ok(self.remove_approvals(root.as_ref())?)
    }

    pub(crate) fn remove_approvals(&self, root: &Path) -> Result<bool, TrustError> {
        refuse_within_hook()?;
        let [root, main] = keys(&canonical_root(root)?);
        let mut was_there = false;
        self.change(|projects| {
            let own = projects.remove(&root);
            let approved = own.as_ref().or_else(|| projects.get(&main));
            was_there = approved.is_some_and(|approved| !approved.is_empty());
            if projects.contains_key(&main) {
                projects.insert(root, Vec::new());
            }
        })?;
        Ok(was_there)
    }

    /// Returns the approvals of a project; empty if there are none.
    ///
    /// # Errors
    /// If the project cannot be found, or if the store cannot be used.
    pub fn approved(&self, root: impl AsRef<Path>) -> Result<Vec<Approved>, SetupError> {
        Ok(self.approved_hooks(root.as_ref())?)
    }

    pub(crate) fn approved_hooks(&self, root: &Path) -> Result<Vec<Approved>, TrustError> {
        let root = canonical_root(root)?;
        let mut content = self.read()?;
        let [root, main] = keys(&root);
        let own = content.projects.remove(&root);
        let approved = own.or_else(|| content.projects.remove(&main));
        Ok(approved.unwrap_or_default())
    }

    pub(crate) fn approvals(&self, root: &Path) -> Result<ProjectApprovals, TrustError> {
        let approved = self.approved_hooks(root)?;
        Ok(ProjectApprovals::new(&canonical_root(root)?, approved))
    }

    fn unusable(&self, why: String) -> TrustError {
        let path = self.path.clone();
        TrustError::Unusable { path, why }
    }

    fn read(&self) -> Result<Content, TrustError> {
        // The target of the link, with any approvals in it, is unknown.
        if let Some(link) = files::dangling_link(&self.path) {
            let why = files::to_nothing(link);
            return Err(self.unusable(format!("cannot be read: {why}")));
        }
        self.read_if_there()
    }

    fn read_if_there(&self) -> Result<Content, TrustError> {
        let unusable = |why: String| self.unusable(why);
        let file = match files::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::default()),
            file => file.map_err(|error| unusable(format!("cannot be read: {error}")))?,
        };
        #[cfg(unix)]
        {
            let metadata = file
                .metadata()
                .map_err(|error| unusable(error.to_string()))?;
            let warning = files::check(&self.path, &metadata).map_err(unusable)?;
            // If a group can write the store, each of its members could approve hooks.
            if let Some(message) = warning {
                return Err(unusable(message));
            }
        }
        let text = io::read_to_string(file)
            .map_err(|error| unusable(format!("cannot be read: {error}")))?;
        let content: Content =
            json::read(&text).map_err(|error| unusable(format!("cannot be read: {error}")))?;
        match content.version {
            VERSION => Ok(content),
            version => Err(unusable(format!(
                "has version {version}, expected {VERSION}; use the program that wrote it"
            ))),
        }
    }

    fn change(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, Vec<Approved>>),
    ) -> Result<(), TrustError> {
        let write_error = |source| TrustError::Write {
            path: self.path.clone(),
            source,
        };
        // The lock keeps approvals that another program adds meanwhile.
        let _lock = files::lock(&self.path).map_err(write_error)?;
        // A link to a file that does not exist yet shows where a person wants the file.
        let mut content = self.read_if_there()?;
        content.version = VERSION;
        change(&mut content.projects);
        let text = serde_json::to_string_pretty(&content)
            .map_err(io::Error::from)
            .map_err(write_error)?;
        files::replace(&self.path, &(text + "\n"), NewFile::Private).map_err(write_error)
    }
}

/// Returns the names of a project in the store: its own, and that of its main worktree. The approvals of the main worktree
/// count until the project has some of its own, or they are withdrawn in it.
fn keys(root: &Path) -> [String; 2] {
    [root, &identity(root)].map(|path| path.to_string_lossy().into_owned())
}

/// Refuses to run within a hook, whichever host runs the hook.
fn refuse_within_hook() -> Result<(), TrustError> {
    match std::env::var_os(HOOK_CHAIN) {
        Some(_) => Err(TrustError::WithinHook(HOOK_CHAIN.to_owned())),
        None => Ok(()),
    }
}
