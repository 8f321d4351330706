//! The file in which approvals are kept: the user's own, private, replaced in one step.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Approval, Approved, Judged, TrustError, canonical_root, digest_of};
use crate::files::{self, NewFile};
use crate::hook::{GateVerdict, Hook};

/// What a person has approved, project by project.
///
/// An approval is bound to the project's place, to the definition of each of its hooks, and to the
/// content of the files within the project that a hook's command itself runs, or that it lists in
/// `inputs`. Where reading the command cannot tell all that it runs, the approval is partial, and says
/// why ([`Approved::partial`]). It does not depend on the order of the hooks. A hook that was never
/// approved is skipped and the host goes on; one that was, and has been changed or taken away since,
/// fails and blocks where the event can be blocked, until a person approves or
/// [revokes](TrustStore::revoke).
///
/// ```
/// use forge_hooks::{Approval, HookConfig, HookRegistry, TrustPolicy};
///
/// # let folder = tempfile::tempdir()?;
/// # let project = folder.path();
/// let config = HookConfig::default();
/// # let config = config.with_config_home(project.join("config"));
/// let Some(store) = config.trust_store() else { return Ok(()) };
/// // What a program does when its user says that they trust the project:
/// let approval = Approval::of(project, config.load_project(project))?;
/// // ... show it, and ask ...
/// store.approve(&approval)?;
///
/// let registry = HookRegistry::new();
/// let report = config.load_into(&registry, project, TrustPolicy::Approved(store));
/// # assert!(report.is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It protects from what a repository brings along. It does not protect from what a covered file
/// itself loads or runs ([`Approval::NEVER_COVERED`]), from a change in the moment between the check
/// and the run, nor from a program that runs as the user anyway.
///
/// The file is JSON. Hooks that an earlier version approved (`"version": 1`) fail until they are
/// approved again, for those approvals covered less.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustStore {
    path: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    /// For a later version to know what it reads.
    version: u32,
    projects: BTreeMap<String, Vec<Approved>>,
}

/// Since version 2 an approval covers what a command runs, and digests are of a canonical form.
const VERSION: u32 = 2;

/// No more than this is read of a store.
const LARGEST_STORE: u64 = 64 * 1024 * 1024;

impl TrustStore {
    /// The store in this file, which need not exist. It has to be the user's: see
    /// [`HookConfig::trust_store`](crate::HookConfig::trust_store) for the usual place.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Approves a project's hooks as they were looked at, in the place of what was approved of it
    /// before.
    ///
    /// # Errors
    /// From within a hook, and when the store cannot be used or written.
    pub fn approve(&self, approval: &Approval) -> Result<(), TrustError> {
        refuse_within_hook()?;
        let root = approval.root.to_string_lossy().into_owned();
        self.change(|projects| drop(projects.insert(root, approval.hooks.clone())))
    }

    /// Forgets what was approved of a project; whether there was anything. Its hooks count as never
    /// approved when they are loaded the next time; those that a program has loaded stay as they are,
    /// unless it watches.
    ///
    /// # Errors
    /// From within a hook, when the project cannot be found, and when the store cannot be used or
    /// written.
    pub fn revoke(&self, root: impl AsRef<Path>) -> Result<bool, TrustError> {
        refuse_within_hook()?;
        let root = canonical_root(root.as_ref())?
            .to_string_lossy()
            .into_owned();
        let mut was_there = false;
        self.change(|projects| was_there = projects.remove(&root).is_some())?;
        Ok(was_there)
    }

    /// What was approved of a project; empty where nothing was.
    ///
    /// # Errors
    /// When the project cannot be found, or the store not be used.
    pub fn approved(&self, root: impl AsRef<Path>) -> Result<Vec<Approved>, TrustError> {
        let root = canonical_root(root.as_ref())?;
        let mut content = self.read()?;
        let found = content.projects.remove(&*root.to_string_lossy());
        Ok(found.unwrap_or_default())
    }

    /// How each of these hooks of a project stands, in their order.
    ///
    /// # Errors
    /// When the project cannot be found, or the store not be used.
    pub fn status<I>(
        &self,
        root: impl AsRef<Path>,
        hooks: I,
    ) -> Result<Vec<GateVerdict>, TrustError>
    where
        I: IntoIterator<Item: Borrow<Hook>>,
    {
        let judged = self.judged(root.as_ref())?;
        let hooks = hooks.into_iter();
        Ok(hooks
            .map(|hook| judged.judge(hook.borrow().clone()).1)
            .collect())
    }

    pub(crate) fn judged(&self, root: &Path) -> Result<Judged, TrustError> {
        let approved = self.approved(root)?;
        Ok(Judged::new(&canonical_root(root)?, approved))
    }

    fn read(&self) -> Result<Content, TrustError> {
        let unusable = |why: String| TrustError::Unusable {
            path: self.path.clone(),
            why,
        };
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
            // A group that may write here may approve.
            if let Some(words) = warning {
                return Err(unusable(words));
            }
        }
        let mut content: Content =
            serde_json::from_reader(io::BufReader::new(file.take(LARGEST_STORE + 1)))
                .map_err(|error| unusable(format!("cannot be read: {error}")))?;
        match content.version {
            VERSION => Ok(content),
            1 => {
                for approved in content.projects.values_mut().flatten() {
                    approved.digest = digest_of(&approved.definition);
                    approved.outdated = true;
                }
                Ok(content)
            }
            version => Err(unusable(format!(
                "is of version {version}, which this program does not know"
            ))),
        }
    }

    pub(super) fn change(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, Vec<Approved>>),
    ) -> Result<(), TrustError> {
        let write_error = |source| TrustError::Write {
            path: self.path.clone(),
            source,
        };
        // What another program approves meanwhile is not lost.
        let _lock = files::lock(&self.path).map_err(write_error)?;
        let mut content = self.read()?;
        content.version = VERSION;
        change(&mut content.projects);
        let text = serde_json::to_string_pretty(&content)
            .map_err(io::Error::from)
            .and_then(within_bounds)
            .map_err(write_error)?;
        files::replace(&self.path, &(text + "\n"), NewFile::Private).map_err(write_error)
    }
}

/// What is too large to be read again would take the approvals of all projects along.
fn within_bounds(text: String) -> io::Result<String> {
    if text.len() as u64 > LARGEST_STORE {
        let words = "it would be larger than 64 MiB: approve fewer or smaller hooks";
        return Err(io::Error::other(words));
    }
    Ok(text)
}

/// A hook's process has its chain in the environment, whatever the program's profile.
pub(super) fn refuse_within_hook() -> Result<(), TrustError> {
    let mut names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    match names.find(|name| name.ends_with("_HOOK_CHAIN")) {
        Some(name) => Err(TrustError::WithinHook(name)),
        None => Ok(()),
    }
}
