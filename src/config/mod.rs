//! The hooks files of a user and a project: where they are, loading them, saving them.
//!
//! How a file is read is `reader`'s to know, how one is changed `save`'s.

mod admission;
mod content;
mod edit;
mod entry;
mod file;
mod foreign;
mod hooks_file;
mod installed;
mod lint;
mod other_tools;
mod outline;
mod places;
mod position;
mod reader;
mod render;
mod report;
mod save;
mod schema;
#[cfg(feature = "watch")]
mod watch;

use std::borrow::Borrow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use log::{debug, info, warn};
use serde_json::Value;

use crate::events::Vocabulary;
use crate::hook::Hook;
use crate::printable::printable;
use crate::profile::AppProfile;
use crate::redact::Redactor;
use crate::registry::HookRegistry;
use crate::trust::TrustStore;

pub use hooks_file::{HooksFile, HooksFileEntry};
pub use position::{Position, TextRange};
pub use report::{ConfigError, LoadReport, Problem, Severity, TrustPolicy};
#[cfg(feature = "watch")]
pub use watch::{HookWatcher, WatchError};

pub(crate) use installed::Installed;

use admission::Admission;
use content::Loaded;
use foreign::OtherTools;
use lint::Host;
use places::{absolute, below, config_home, first_existing};
use reader::Compiled;

/// Finds, loads and saves hooks.json.
///
/// A host loads its hooks with [`load_into`](HookConfig::load_into), which lets no typo switch a
/// guard off:
///
/// ```
/// use forge_hooks::{HookConfig, HookRegistry, TrustPolicy};
///
/// # let folder = tempfile::tempdir()?;
/// # let project = folder.path();
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
/// The other loading methods do what the specification says, and are for programs that show or edit
/// hooks: what cannot be used is logged as a warning and left out.
///
/// # The file
///
/// JSON in UTF-8; comments (`//` to the end of the line, `/* */`) and trailing commas are allowed.
/// A file has limits, since a repository may bring one along. One beyond a limit is unusable as a
/// whole, and blocks as any unusable file does:
///
/// | what | at most |
/// |---|---|
/// | the file | 16 MiB |
/// | entries in `hooks` | 500,000 |
/// | an entry | 1 MiB, 1,000 keys with those of its `env`, and 64 KiB for its pattern |
/// | parts of all patterns, of which a glob counts as four | 1,200,000 |
/// | conditions in `when` | 64 in an entry, 10,000 in all |
/// | an expression of a condition | 64 KiB, 1 MiB when compiled; all together 16 MiB when compiled |
/// | values within keys that are not known, in all entries | 50,000 |
/// | all that is not in `hooks` | 1 MiB, and 1,000 keys |
/// | lists and objects within each other | 256; an entry with more than 100 is unusable by itself |
///
/// An entry with more than 100 lists and objects within each other is unusable. Of a file at most
/// 1,000 problems are reported. Loading takes a time in proportion to the file's length.
#[derive(Debug, Clone)]
pub struct HookConfig {
    profile: AppProfile,
    config_home: Option<PathBuf>,
    placeholders: bool,
    other_tools: OtherTools,
    vocabulary: Arc<Vocabulary>,
    approve_command: Option<String>,
}

/// With the names of the specification.
impl Default for HookConfig {
    fn default() -> Self {
        Self::new(AppProfile::default())
    }
}

impl HookConfig {
    /// For a host that goes by other names.
    #[must_use]
    pub fn new(profile: AppProfile) -> Self {
        Self {
            profile,
            config_home: None,
            placeholders: true,
            other_tools: OtherTools::default(),
            vocabulary: Arc::default(),
            approve_command: None,
        }
    }

    /// Sets the directory for the user's configuration. Default: `$XDG_CONFIG_HOME` if it is an
    /// absolute path, else `.config` in the user's home, on every platform.
    #[must_use]
    pub fn with_config_home(mut self, directory: impl Into<PathBuf>) -> Self {
        self.config_home = Some(directory.into());
        self
    }

    /// The directory for the user's configuration, where one was set.
    #[must_use]
    pub fn config_home(&self) -> Option<&Path> {
        self.config_home.as_deref()
    }

    /// Sets whether [`load_into`](HookConfig::load_into) registers a placeholder hook, which always
    /// fails, for what cannot be used. Default: true. Without placeholders, a guard with a typo lets
    /// everything through, and only the report shows it.
    #[must_use]
    pub fn with_placeholders(mut self, placeholders: bool) -> Self {
        self.placeholders = placeholders;
        self
    }

    /// With what the host fires: patterns are compared with it.
    pub(crate) fn with_vocabulary(mut self, vocabulary: Arc<Vocabulary>) -> Self {
        self.vocabulary = vocabulary;
        self
    }

    /// With the command by which a person approves a project's hooks, as messages name it.
    pub(crate) fn with_approve_command(mut self, command: String) -> Self {
        self.approve_command = Some(command);
        self
    }

    /// The names that the host goes by.
    #[must_use]
    pub fn profile(&self) -> &AppProfile {
        &self.profile
    }

    /// The user's file: the one that exists, else where it would be saved. None where the user has
    /// no home.
    #[must_use]
    pub fn global_path(&self) -> Option<PathBuf> {
        first_existing(self.global_candidates())
    }

    /// The project's file: the one that exists, else where it would be saved. None for a profile
    /// without project files.
    #[must_use]
    pub fn project_path(&self, root: impl AsRef<Path>) -> Option<PathBuf> {
        first_existing(self.project_candidates(root.as_ref()))
    }

    /// The hooks that there are without any file: none.
    #[must_use]
    pub fn default_hooks(&self) -> Vec<Hook> {
        Vec::new()
    }

    /// The user's hooks, and behind them those of [other tools](HookConfig::with_other_tools). A missing
    /// file has none; of a broken one, what can be used is loaded, and the rest is logged as a warning.
    #[must_use]
    pub fn load_global(&self) -> Vec<Hook> {
        let mut files = self.read_global();
        files.extend(self.other_tools.user(self.has_global_files()));
        self.hooks_of(files)
    }

    /// The hooks of a project, whose working directories count from its root; behind its own those of
    /// [other tools](HookConfig::with_other_tools). Runs nothing; to register them is to trust the
    /// project.
    #[must_use]
    pub fn load_project(&self, root: impl AsRef<Path>) -> Vec<Hook> {
        let root = root.as_ref();
        let mut files = self.read_project(root, Compiled::Enabled);
        files.extend(self.other_tools.project(root));
        self.hooks_of(files)
    }

    /// The user's hooks, then the project's.
    #[must_use]
    pub fn load_all(&self, root: impl AsRef<Path>) -> Vec<Hook> {
        let mut hooks = self.load_global();
        hooks.extend(self.load_project(root));
        hooks
    }

    /// Registers the user's hooks and then the project's, all at once, behind those that are
    /// registered already.
    ///
    /// For an entry that cannot be used, a placeholder hook with the entry's pattern is registered
    /// (in small letters where capitals are not allowed), or with `*` where that is unreadable, and
    /// for a file that cannot be used one with `*`. It always fails, with the problem as its reason,
    /// and so blocks what the entry could have blocked, until the entry is fixed. An entry that says
    /// `"enabled": false` gets none.
    ///
    /// Under [`TrustPolicy::Approved`], a project's hooks run only as they were approved; a file of a
    /// project of which nothing was ever approved gets no placeholder hooks either.
    ///
    /// A hook whose name the user's file lists in `"disable"` is not registered, wherever it comes
    /// from. (The other loading methods give it, for programs that edit hooks.)
    pub fn load_into(
        &self,
        registry: &HookRegistry,
        root: impl AsRef<Path>,
        policy: TrustPolicy,
    ) -> LoadReport {
        let found = self.find(Some(root.as_ref()), Some(&policy));
        registry.load_hooks(found.hooks);
        found.report
    }

    /// Loads as `load_into` does, in the place of what was loaded before. Without a root or a policy,
    /// the user's hooks alone.
    pub(crate) fn install(
        &self,
        installed: &Installed,
        root: Option<&Path>,
        policy: Option<&TrustPolicy>,
    ) -> Arc<LoadReport> {
        loop {
            let loads = installed.loads();
            let found = self.find(root, policy);
            if let Some(report) = installed.replace(loads, &found.hooks, found.report) {
                return report;
            }
        }
    }

    /// What `load_into` registers, and what it reports.
    fn find(&self, root: Option<&Path>, policy: Option<&TrustPolicy>) -> Found {
        let mut others = self.other_tools.find(root, policy, self.has_global_files());
        let mut files = self.read_global();
        let mut admission = Admission::new(self.other_tools.loaded());
        if let Some(root) = root {
            files.extend(self.admit_project(root, policy, &mut others, &mut admission));
        }
        files.extend(others.into_files());

        let mut report = LoadReport::default();
        let is_broken = files.iter().any(Loaded::is_broken);
        let disable: HashSet<String> = files.iter().flat_map(Loaded::disable).cloned().collect();
        let mut hooks: Vec<Arc<Hook>> = Vec::new();
        for loaded in files {
            loaded.problems().iter().for_each(log_problem);
            loaded.add_to(&mut report);
            hooks.extend(loaded.into_hooks(self.placeholders));
        }
        admission.problems.iter().for_each(log_problem);
        report.problems.extend(admission.problems);
        report.unapproved = admission.unapproved;
        hooks.extend(admission.vanished.into_iter().map(Arc::new));
        hooks.retain(|hook| {
            let disabled = hook.name().filter(|name| disable.contains(*name));
            report.disabled.extend(disabled.map(str::to_owned));
            disabled.is_none()
        });
        if !report.disabled.is_empty() {
            let names = report.disabled.join(", ");
            info!("hooks disabled by the user's file: {}", printable(&names));
        }
        report.in_use = report::in_use(&hooks);
        Found {
            report,
            hooks,
            is_broken,
        }
    }

    /// Gives the hooks of a project's files, its own and those of other tools, their gates. Returns its own.
    fn admit_project(
        &self,
        root: &Path,
        policy: Option<&TrustPolicy>,
        others: &mut foreign::Found,
        admission: &mut Admission,
    ) -> Vec<Loaded> {
        let own_path = self.project_path(root);
        let existing = own_path.clone().filter(|path| path.exists());
        let other_path = others.project.first().map(|file| file.path().to_owned());
        admission.path = existing.or(other_path).or(own_path).unwrap_or_default();
        let store = match policy {
            None => {
                others.project.retain(Loaded::is_named);
                admission.refuse_all();
                return Vec::new();
            }
            Some(TrustPolicy::Everything) => return self.read_project(root, Compiled::Enabled),
            Some(TrustPolicy::Approved(store)) => store,
        };
        let mut files = self.read_project(root, Compiled::None);
        let own = files.len();
        files.append(&mut others.project);
        admission.admit(&mut files, root, store);
        others.project = files.split_off(own);
        let by_default = || admission::approve_command(&self.profile, root);
        admission.report_unapproved(self.approve_command.clone().unwrap_or_else(by_default));
        files
    }

    /// Where the user keeps what they have approved: `trust.json` beside their hooks file. None where
    /// the user has no home, or the profile no such files.
    #[must_use]
    pub fn trust_store(&self) -> Option<TrustStore> {
        let beside = self.global_candidates().into_iter().next()?;
        Some(TrustStore::new(beside.with_file_name("trust.json")))
    }

    /// Looks a file over without registering anything: the same problems as
    /// [`load_into`](HookConfig::load_into) would find in it, for a program that shows them.
    /// Relative working directories are not looked for, since it is not known what they count from. A
    /// hooks file of another tool, known by its directory or by its object `hooks`, is read as that
    /// tool reads it, unless it is where this profile has its own.
    pub fn check(&self, path: impl AsRef<Path>) -> LoadReport {
        let path = path.as_ref();
        let mut report = LoadReport::default();
        let other = self.other_tools.check_file(path);
        let other = other.filter(|_| !self.is_own_place(path));
        match other.or_else(|| reader::load(path, None, self.host(), Compiled::All)) {
            Some(loaded) => loaded.add_to(&mut report),
            None => {
                let missing = Problem::new(Severity::Error, path, "does not exist");
                report.problems.push(missing);
            }
        }
        report
    }

    /// Looks a text over as [`check`](HookConfig::check) does a file; its problems go by this name.
    ///
    /// ```
    /// use forge_hooks::HookConfig;
    ///
    /// let text = r#"{"hooks": [{"event": "tool:*", "comand": "true"}]}"#;
    /// let report = HookConfig::default().check_text("an editor's buffer", text);
    /// assert!(!report.is_ok());
    /// ```
    pub fn check_text(&self, name: impl AsRef<Path>, text: &str) -> LoadReport {
        let name = name.as_ref();
        let mut report = LoadReport::default();
        let other = self.other_tools.check(name, text);
        let other = other.filter(|_| !self.is_own_place(name));
        let loaded = other.unwrap_or_else(|| reader::load_text(name, text, self.host()));
        loaded.add_to(&mut report);
        report
    }

    /// Whether a host with this profile reads the path as a hooks file of its own.
    fn is_own_place(&self, path: &Path) -> bool {
        let files = self.profile.global_files().iter();
        let mut files = files.chain(self.profile.project_files());
        std::path::absolute(path).is_ok_and(|path| files.any(|file| path.ends_with(file)))
    }

    /// The JSON Schema of hooks.json (draft 2020-12), for editors. The repository has it as
    /// `hooks.schema.json`; a file that names it in `"$schema"` keeps that when it is saved.
    #[must_use]
    pub fn json_schema() -> Value {
        schema::schema(&Vocabulary::default())
    }

    /// With the events and tools of the host.
    pub(crate) fn own_json_schema(&self) -> Value {
        schema::schema(&self.vocabulary)
    }

    /// Saves these as the user's hooks, in the file that exists, else in the first of the profile.
    ///
    /// The file is replaced in one step, so that no reader ever sees half of it, and keeps its mode.
    /// Only what is changed is written anew: of a changed hook the keys that changed, a new hook
    /// with the file's indentation. All else keeps its bytes: comments, formatting, keys that this
    /// version does not know, and the entries that it cannot use. A hook belongs to the entry that
    /// says the same, else to the one that it was loaded from.
    ///
    /// Of a file that cannot be used as a whole, a copy is put beside it first
    /// (`hooks.json.broken`). Of two programs that save at the same time, what the later one saves
    /// stands.
    ///
    /// # Errors
    /// When the user has no home, when several of the profile's files exist, when a file cannot be
    /// read or written, and when it would exceed a limit of the file.
    pub fn save_global<I>(&self, hooks: I) -> Result<(), ConfigError>
    where
        I: IntoIterator<Item: Borrow<Hook>>,
    {
        save::save(&self.global_candidates(), None, hooks)
    }

    /// Saves these as the project's hooks; see [`save_global`](HookConfig::save_global).
    ///
    /// # Errors
    /// As with [`save_global`](HookConfig::save_global), and when a link leads out of the project: a
    /// repository may have brought it along.
    pub fn save_project<I>(&self, root: impl AsRef<Path>, hooks: I) -> Result<(), ConfigError>
    where
        I: IntoIterator<Item: Borrow<Hook>>,
    {
        let root = root.as_ref();
        save::save(&self.project_candidates(root), Some(root), hooks)
    }

    fn host(&self) -> Host<'_> {
        Host {
            profile: &self.profile,
            vocabulary: &self.vocabulary,
        }
    }

    fn hooks_of(&self, files: Vec<Loaded>) -> Vec<Hook> {
        let mut hooks = Vec::new();
        for loaded in files {
            loaded.problems().iter().for_each(log_problem);
            if loaded.is_unreadable() {
                hooks.extend(self.default_hooks());
            }
            hooks.extend(loaded.into_hooks(false).map(Arc::unwrap_or_clone));
        }
        hooks
    }

    fn read_global(&self) -> Vec<Loaded> {
        let candidates = self.global_candidates();
        candidates
            .iter()
            .filter_map(|path| reader::load(path, None, self.host(), Compiled::Enabled))
            .collect()
    }

    fn read_project(&self, root: &Path, compiled: Compiled) -> Vec<Loaded> {
        let root = absolute(root);
        let candidates = self.project_candidates(&root);
        candidates
            .iter()
            .filter_map(|path| reader::load(path, Some(&root), self.host(), compiled))
            .collect()
    }

    fn has_global_files(&self) -> bool {
        !self.profile.global_files().is_empty()
    }

    fn global_candidates(&self) -> Vec<PathBuf> {
        let Some(home) = self.config_home.clone().or_else(config_home) else {
            debug!("no home directory, so no hooks of the user");
            return Vec::new();
        };
        below(&home, self.profile.global_files())
    }

    fn project_candidates(&self, root: &Path) -> Vec<PathBuf> {
        below(root, self.profile.project_files())
    }
}

/// The hooks of the user's and a project's files, before they are registered.
struct Found {
    report: LoadReport,
    hooks: Vec<Arc<Hook>>,
    /// Something in them cannot be used as it is written.
    #[cfg_attr(not(feature = "watch"), allow(dead_code))]
    is_broken: bool,
}

fn log_problem(problem: &Problem) {
    // A value that is wrong for its key is named in the words, whatever it is.
    let words = problem.to_string();
    warn!("{}", Redactor::default().text(&words));
}
