//! The hooks files of a user and a project: the settings of the host, and the places of the files.
//!
//! `loading` and `checking` read the files, `saving` and `hooks_file` change them.

mod administrator;
mod admission;
mod beside;
mod changes;
mod checking;
mod content;
mod deciding;
mod edit;
mod file;
mod hooks_file;
mod installed;
mod loading;
#[cfg(feature = "cli")]
mod pack_file;
mod places;
mod reader;
mod replacing;
mod report;
mod review;
mod saving;
mod schema;
mod sources;
#[cfg(feature = "cli")]
mod to_edit;

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::entry::Sandbox;
use crate::events::Vocabulary;
use crate::files;
use crate::hook::HOOKS_D;
use crate::logging::debug;
use crate::profile::AppProfile;
use crate::trust::TrustStore;

pub use crate::json::Position;
pub use crate::problem::Problem;
pub(crate) use crate::problem::Severity;
#[cfg(feature = "cli")]
pub(crate) use report::ConfigError;
pub use report::{LoadReport, TrustPolicy};

pub(crate) use content::{Owner, Switches};
#[cfg(feature = "cli")]
pub(crate) use deciding::directories_of;
pub(crate) use deciding::{AlsoDeciding, Deciders};
#[cfg(feature = "cli")]
pub(crate) use edit::json_input;
#[cfg(feature = "cli")]
pub(crate) use file::read_for_saving;
pub(crate) use installed::Installed;
#[cfg(feature = "cli")]
pub(crate) use pack_file::PackFile;
pub(crate) use places::config_home;
pub(crate) use review::Review;
pub(crate) use sources::{Content, Form, Source, SourceFile};

use places::{below, first_existing};

/// The parts that sources need to read their files as hooks.json is read.
pub(crate) mod reading {
    use std::path::Path;

    use crate::json::readable;

    pub(crate) use super::content::Loaded;
    pub(crate) use super::reader::{FileReader, MOST_ENTRIES, not_run_here, too_many_entries};

    /// Returns the text of a file that can be read, as JSON.
    pub(crate) fn text_of(path: &Path) -> Option<String> {
        let text = super::file::read(path).ok()??.text;
        Some(readable(&text).to_owned())
    }
}

/// Finds, loads and saves hooks.json.
///
/// A host loads its hooks with [`load_into`](HookConfig::load_into). An entry that cannot be used then blocks;
/// a pattern that only matches no known event is a warning in the report:
///
/// ```
/// use forge_hooks::config::TrustPolicy;
/// use forge_hooks::{HookConfig, HookRegistry};
///
/// # let directory = tempfile::tempdir()?;
/// # let project = directory.path();
/// let config = HookConfig::default();
/// # let config = config.with_config_home(project.join("config"));
/// let registry = HookRegistry::new();
/// let report = config.load_into(&registry, project, TrustPolicy::Everything);
/// for problem in &report.problems {
///     eprintln!("{problem}");
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// The other loading methods are for programs that show or edit hooks: they leave out entries that cannot be
/// used, and log a warning.
///
/// # The file
///
/// JSON in UTF-8; comments (`//` to the end of the line, `/* */`) and trailing commas are allowed.
/// Its [limits](crate::docs::protocol#where-hooksjson-is) are for files of a repository. A file that exceeds one is
/// unusable as a whole, and blocks as any unusable file does. The time of a load is proportional to the length of the
/// file.
#[derive(Debug, Clone)]
pub struct HookConfig {
    profile: AppProfile,
    config_home: Option<PathBuf>,
    system_file: SystemFile,
    sources: Vec<Arc<dyn Source>>,
    vocabulary: Arc<Vocabulary>,
    approve_command: Option<String>,
    /// True if a load also checks the files that hooks need: their scripts, their interpreters, programs in `PATH`.
    checks_scripts: bool,
    /// True if a load tests the cases of entries.
    tests_cases: bool,
    /// True if a load checks the conditions of hooks that may never run, and reports probable mistakes.
    checks_all: bool,
    /// The sandbox of a project's hooks, if they run in one.
    project_sandbox: Option<Arc<Sandbox>>,
    /// The variable with which the user has disabled all hooks, for the report.
    disabled_by: Option<String>,
}

/// The place of the administrator's file.
#[derive(Debug, Clone)]
enum SystemFile {
    OfProfile,
    At(PathBuf),
    /// No such file is read.
    Nowhere,
}

/// Uses the names of the specification.
impl Default for HookConfig {
    fn default() -> Self {
        Self::new(AppProfile::default())
    }
}

impl HookConfig {
    /// Creates a configuration for a host with other names.
    #[must_use]
    pub fn new(profile: AppProfile) -> Self {
        Self {
            profile,
            config_home: None,
            system_file: SystemFile::OfProfile,
            sources: Vec::new(),
            vocabulary: Vocabulary::known(),
            approve_command: None,
            checks_scripts: false,
            tests_cases: false,
            checks_all: true,
            project_sandbox: None,
            disabled_by: None,
        }
    }

    /// Sets the directory of the user's configuration. Default: `$XDG_CONFIG_HOME` if it is an absolute path,
    /// else `.config` in the user's home directory, on every platform.
    #[must_use]
    pub fn with_config_home(mut self, directory: impl Into<PathBuf>) -> Self {
        self.config_home = Some(directory.into());
        self
    }

    /// The directory of the user's configuration, if one was set.
    #[must_use]
    #[cfg(feature = "cli")]
    pub(crate) fn config_home(&self) -> Option<&Path> {
        self.config_home.as_deref()
    }

    /// Sets the names of the host.
    #[cfg(feature = "cli")]
    pub(crate) fn with_profile(mut self, profile: AppProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Also loads the files of this source, after those of hooks.json. Replaces another source of this type.
    pub(crate) fn with_source<S: Source>(mut self, source: S) -> Self {
        self.sources
            .retain(|source| !(&**source as &dyn Any).is::<S>());
        self.sources.push(Arc::new(source));
        self
    }

    /// Returns the source of this type.
    pub(crate) fn source<S: Source>(&self) -> Option<&S> {
        let mut sources = self.sources.iter();
        sources.find_map(|source| (&**source as &dyn Any).downcast_ref())
    }

    /// Sets the variable that the report names.
    pub(crate) fn with_disabled_by(mut self, variable: Option<&str>) -> Self {
        self.disabled_by = variable.map(str::to_owned);
        self
    }

    /// The host's events and tools, with which patterns are compared.
    pub(crate) fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    pub(crate) fn vocabulary_mut(&mut self) -> &mut Vocabulary {
        Arc::make_mut(&mut self.vocabulary)
    }

    /// Declares that agents fire the events, and not a host.
    #[cfg(feature = "cli")]
    pub(crate) fn of_agents(mut self) -> Self {
        self.vocabulary_mut().set_of_agents();
        self
    }

    /// Sets the command with which a person approves a project's hooks, for messages.
    pub(crate) fn with_approve_command(mut self, command: String) -> Self {
        self.approve_command = Some(command);
        self
    }

    /// Makes loads check the files that hooks need. The start of a host does not spend time on this.
    #[cfg(feature = "cli")]
    pub(crate) fn checking_scripts(mut self) -> Self {
        self.checks_scripts = true;
        self
    }

    /// Makes loads test the cases of entries, as `check` does.
    #[cfg(feature = "cli")]
    pub(crate) fn testing_cases(mut self) -> Self {
        self.tests_cases = true;
        self
    }

    /// Makes loads check a condition only when its hook is about to run, and not look for probable mistakes.
    #[cfg(feature = "cli")]
    pub(crate) fn for_one_event(mut self) -> Self {
        self.checks_all = false;
        self
    }

    #[cfg(feature = "cli")]
    pub(crate) fn is_checking_scripts(&self) -> bool {
        self.checks_scripts
    }

    /// Confines the hooks in a project's files.
    pub(crate) fn with_project_sandbox(mut self, sandbox: Sandbox) -> Self {
        self.project_sandbox = Some(Arc::new(sandbox));
        self
    }

    /// The names of the host.
    pub(crate) fn profile(&self) -> &AppProfile {
        &self.profile
    }

    /// Returns the path of the user's file: the one that exists, else the path where it would be saved. None
    /// if the user has no home directory.
    #[must_use]
    pub fn global_path(&self) -> Option<PathBuf> {
        first_existing(self.global_candidates())
    }

    /// Returns the path of the project's file: the one that exists, else the path where it would be saved.
    /// None for a profile without project files.
    #[must_use]
    pub fn project_path(&self, root: impl AsRef<Path>) -> Option<PathBuf> {
        first_existing(self.project_candidates(root.as_ref()))
    }

    /// Returns the files that do not exist, of the user and of the project, unless another one of the same owner does.
    #[cfg(feature = "cli")]
    pub(crate) fn not_found(&self, root: Option<&Path>) -> Vec<PathBuf> {
        let project = root.map(|root| self.project_candidates(root));
        let mut missing = vec![self.global_candidates(), project.unwrap_or_default()];
        missing.retain(|paths| !paths.iter().any(|path| path.exists()));
        missing.concat()
    }

    /// Returns the root of the project in which `start` is, if it is in one.
    pub(crate) fn discover_project(&self, start: &Path) -> Option<PathBuf> {
        places::nearest_project(start, |directory| self.has_project_file(directory))
    }

    fn has_project_file(&self, root: &Path) -> bool {
        let is_settings = |file: &SourceFile| {
            let is_in_project = matches!(file.owner, Owner::Project | Owner::NamedInProject);
            is_in_project
                && matches!(file.content, Content::Settings(_))
                && files::is_there(&file.path)
        };
        let mut own = self.project_candidates(root).into_iter();
        let mut others = self.sources.iter();
        own.any(|path| files::is_there(&path) || files::is_there(&path.with_file_name(HOOKS_D)))
            || others.any(|source| source.files(Some(root), false).iter().any(is_settings))
    }

    /// Returns the store of the user's approvals: `trust.json` next to the user's hooks file. None if the
    /// user has no home directory, or the profile no such files.
    #[must_use]
    pub fn trust_store(&self) -> Option<TrustStore> {
        let beside = self.global_candidates().into_iter().next()?;
        Some(TrustStore::new(beside.with_file_name("trust.json")))
    }

    /// Returns the schema of hooks.json with the events and tools of the host.
    pub(crate) fn json_schema(&self) -> Value {
        schema::schema(&self.vocabulary)
    }

    pub(super) fn global_candidates(&self) -> Vec<PathBuf> {
        let Some(home) = self.config_home.clone().or_else(config_home) else {
            debug!("no home directory: the user's hooks are not loaded");
            return Vec::new();
        };
        below(&home, self.profile.global_files())
    }

    pub(super) fn project_candidates(&self, root: &Path) -> Vec<PathBuf> {
        below(root, self.profile.project_files())
    }
}
