//! Loads hooks from their files, and registers them.
//!
//! `admission` decides which of these hooks may run.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::content::{Loaded, Owner};
use super::installed::Installed;
use super::places::{absolute, config_home};
use super::reader::HooksJson;
use super::report::{LoadReport, TrustPolicy, log_problem};
use super::sources::{self, Content, Form, SourceFile};
use super::{HookConfig, beside, changes};
use crate::hook::Hook;
use crate::lint::Host;
use crate::registry::HookRegistry;

impl HookConfig {
    /// Returns the hooks without any file: an empty list.
    #[must_use]
    pub fn default_hooks(&self) -> Vec<Hook> {
        Vec::new()
    }

    /// Loads the user's hooks, and after them those of other agents, if the host loads them. A missing file has no
    /// hooks. If a file has errors, its usable hooks are loaded, and the errors are logged as warnings.
    #[must_use]
    pub fn load_global(&self) -> Vec<Hook> {
        let mut files = self.read_files(None, None);
        sources::switch_off(&mut files, false);
        files.retain(|file| file.owner == Owner::User);
        hooks_of(files)
    }

    /// Loads the hooks of a project, and after them those of other agents, if the host loads them. Their working directories
    /// are resolved against the project's root. Runs nothing; but registering these hooks means to trust the project.
    #[must_use]
    pub fn load_project(&self, root: impl AsRef<Path>) -> Vec<Hook> {
        hooks_of(self.read_files_of_project(root.as_ref()))
    }

    /// Loads the user's hooks, then the project's.
    #[must_use]
    pub fn load_all(&self, root: impl AsRef<Path>) -> Vec<Hook> {
        let mut hooks = self.load_global();
        hooks.extend(self.load_project(root));
        hooks
    }

    /// Registers the administrator's hooks ([`HooksBuilder::system_file`](crate::HooksBuilder::system_file)), then the
    /// user's and then the project's, atomically, after the hooks that are registered already.
    ///
    /// For an entry that cannot be used, a placeholder hook with the entry's pattern (in lower case) is
    /// registered, or with `*` if the pattern cannot be read. For a file that cannot be used, a placeholder
    /// hook with `*` is registered. A placeholder hook always fails, with the problem as its reason. So it
    /// blocks what the entry could have blocked, until the entry is fixed. An entry with `"enabled": false`
    /// gets no placeholder hook.
    ///
    /// Under [`TrustPolicy::Approved`], a project's hooks run only as they were approved. A project's file
    /// without any approval gets no placeholder hooks.
    ///
    /// If the user's file lists a name in `"disable"`, no hook with this name is registered, from whatever
    /// file except the administrator's, whose own `"disable"` counts for all files. (The other loading methods
    /// return such hooks, for programs that edit hooks.)
    pub fn load_into(
        &self,
        registry: &HookRegistry,
        root: impl AsRef<Path>,
        policy: TrustPolicy,
    ) -> LoadReport {
        let root = Some(root.as_ref());
        let loaded = SystemTime::now();
        let files = self.read_files(root, Some(&policy));
        let (report, hooks) = self.admit(files, root, Some(&policy), loaded);
        registry.load_hooks(hooks);
        report
    }

    /// Returns whether the user's files have a hook that is not switched off. A file that cannot be used has one, which blocks.
    #[cfg(feature = "cli")]
    pub(crate) fn has_hooks_of_user(&self) -> bool {
        let config = self.clone().without_system_file();
        let files = config.read_files(None, None);
        let (_, hooks) = config.admit(files, None, None, SystemTime::now());
        hooks.iter().any(|hook| hook.enabled())
    }

    /// Loads as `load_into` does, and replaces the hooks of the last load. Without a root or a policy, loads
    /// only the user's hooks.
    pub(crate) fn install(
        &self,
        installed: &Installed,
        root: Option<&Path>,
        policy: Option<&TrustPolicy>,
    ) -> Arc<LoadReport> {
        let vanished = installed.vanished();
        loop {
            let loads = installed.loads();
            let loaded = SystemTime::now();
            let files = self.read_files_without(&vanished, root, policy);
            let (mut report, hooks) = self.admit(files, root, policy, loaded);
            report.disabled_by.clone_from(&self.disabled_by);
            // `replace` fails if another load has ended at the same time.
            if let Some(report) = installed.replace(loads, hooks, report) {
                return report;
            }
        }
    }

    /// Returns the files that decide which hooks there are, in the order of their hooks, whether they exist or not.
    pub(super) fn files(&self, root: Option<&Path>) -> Vec<SourceFile> {
        let host = Arc::new(self.host(true));
        let own = Arc::new(Host {
            begins_anywhere: true,
            ..self.host(true)
        });
        // A file that was named elsewhere may be for one directory.
        let config_home = self.config_home.clone().or_else(config_home);
        let is_own = |owner: Owner, path: &Path| match owner {
            Owner::Administrator => true,
            Owner::User => config_home
                .as_ref()
                .is_some_and(|home| path.starts_with(home)),
            _ => false,
        };
        let project = root.map(|root| self.project_candidates(root));
        let mut files = Vec::new();
        for (owner, base_dir, paths) in [
            (
                Owner::Administrator,
                None,
                self.system_path().into_iter().collect(),
            ),
            (Owner::User, None, self.global_candidates()),
            (Owner::Project, root, project.unwrap_or_default()),
        ] {
            let base_dir = base_dir.map(Arc::from);
            let form = |path: &Path| -> Arc<dyn Form> {
                Arc::new(HooksJson {
                    base_dir: base_dir.clone(),
                    host: Arc::clone(if is_own(owner, path) { &own } else { &host }),
                })
            };
            let mut seen = HashSet::new();
            let paths = paths.into_iter();
            for (path, problem) in paths.flat_map(|path| beside::with_files(path, &mut seen)) {
                let form = form(&path);
                let content = match problem {
                    None => Content::Settings(form),
                    Some(message) => Content::LeftOut(message, form),
                };
                files.push(SourceFile {
                    path,
                    owner,
                    content,
                });
            }
        }
        let with_user = !self.profile.global_files().is_empty();
        let others = self.sources.iter();
        files.extend(others.flat_map(|source| source.files(root, with_user)));
        files
    }

    pub(super) fn checks(&self, scripts: bool) -> sources::Checks<'_> {
        // Only the files of other agents are compared with these.
        let users_files = if self.sources.is_empty() {
            Vec::new()
        } else {
            self.global_candidates()
        };
        sources::Checks {
            vocabulary: &self.vocabulary,
            cases: self.tests_cases,
            scripts,
            checks_all: self.checks_all,
            users_files: users_files.into(),
        }
    }

    /// Reads the files that exist.
    fn read_files(&self, root: Option<&Path>, policy: Option<&TrustPolicy>) -> Vec<Loaded> {
        self.read_files_without(&BTreeSet::new(), root, policy)
    }

    /// Reads the files that exist. Each of those that have vanished blocks.
    fn read_files_without(
        &self,
        vanished: &BTreeSet<PathBuf>,
        root: Option<&Path>,
        policy: Option<&TrustPolicy>,
    ) -> Vec<Loaded> {
        let compiles = policy == Some(&TrustPolicy::Everything);
        let root = root.map(absolute);
        let mut files = self.files(root.as_deref());
        changes::leave_out(&mut files, vanished, root.as_deref());
        let checks = self.checks(self.checks_scripts);
        let mut files = sources::load(files, &checks, compiles);
        for file in &mut files {
            if file.owner == Owner::Administrator {
                self.check_system(file);
            }
        }
        files
    }

    /// Reads the files of a project.
    pub(super) fn read_files_of_project(&self, root: &Path) -> Vec<Loaded> {
        let mut files = self.read_files(Some(root), Some(&TrustPolicy::Everything));
        sources::switch_off(&mut files, true);
        files.retain(Loaded::is_in_project);
        files
    }

    pub(super) fn host(&self, looks_at_files: bool) -> Host {
        Host {
            begins_anywhere: false,
            vocabulary: Arc::clone(&self.vocabulary),
            prefixes: self.profile.env_prefixes().to_vec(),
            looks_at_files,
        }
    }
}

/// Returns the usable hooks, and logs the problems.
fn hooks_of(files: Vec<Loaded>) -> Vec<Hook> {
    let mut hooks = Vec::new();
    for loaded in files {
        loaded.problems.iter().for_each(log_problem);
        hooks.extend(loaded.hooks().cloned());
    }
    hooks
}
