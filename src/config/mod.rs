//! The hooks files of a user and a project: finding, loading and saving them.
//!
//! `reader` reads a file, `hooks_file` changes one.

mod admission;
mod beside;
mod content;
mod deciding;
mod edit;
mod file;
mod gone;
mod hooks_file;
mod installed;
mod known_elsewhere;
#[cfg(feature = "watch")]
mod last_good;
mod misplaced;
mod places;
mod reader;
mod report;
mod review;
mod save;
mod schema;
mod sources;
#[cfg(feature = "watch")]
mod watch;

use std::any::Any;
use std::borrow::Borrow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use crate::entry::Sandbox;
use crate::events::Vocabulary;
use crate::files;
use crate::hook::{HOOKS_D, Hook};
use crate::lint::Host;
use crate::logging::{debug, warn};
use crate::profile::{AppProfile, index_of_new};
use crate::redact::Redactor;
use crate::registry::HookRegistry;
use crate::trust::{Approved, TrustStore};

pub use crate::json::{Position, TextRange};
pub use crate::problem::{Problem, Severity};
pub use hooks_file::{HooksFile, HooksFileEntry};
pub use report::{ConfigError, LoadReport, TrustPolicy};
#[cfg(feature = "watch")]
pub use watch::{HookWatcher, WatchError};

pub(crate) use content::{Owner, Switches};
#[cfg(feature = "cli")]
pub(crate) use deciding::directories_of;
pub(crate) use deciding::{AlsoDeciding, Deciders};
#[cfg(feature = "cli")]
pub(crate) use file::read_for_saving;
pub(crate) use installed::Installed;
pub(crate) use places::config_home;
pub(crate) use review::Review;
pub(crate) use sources::{Content, Form, Source, SourceFile};

use content::Loaded;
use places::{absolute, below, first_existing};
use reader::HooksJson;

/// What sources need to read their files as hooks.json is read.
pub(crate) mod reading {
    use std::path::Path;

    use crate::json::readable;

    pub(crate) use super::content::Loaded;
    pub(crate) use super::reader::{FileReader, MOST_ENTRIES, too_many_entries};

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
    /// Whether a load also looks for what hooks need: their scripts, their interpreters, programs in `PATH`.
    checks_scripts: bool,
    /// Whether a load checks the conditions of hooks that may never run, and looks for probable mistakes.
    checks_all: bool,
    /// What confines a project's hooks.
    project_sandbox: Option<Arc<Sandbox>>,
}

/// Where the administrator's file is.
#[derive(Debug, Clone)]
enum SystemFile {
    OfProfile,
    At(PathBuf),
    /// None is read.
    Nowhere,
}

/// Has the names of the specification.
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
            checks_all: true,
            project_sandbox: None,
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
    pub fn config_home(&self) -> Option<&Path> {
        self.config_home.as_deref()
    }

    /// Sets the path of the administrator's file; see [`HooksBuilder::system_file`](crate::HooksBuilder::system_file).
    #[must_use]
    pub fn with_system_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.system_file = SystemFile::At(path.into());
        self
    }

    /// Reads no administrator's file.
    #[must_use]
    pub fn without_system_file(mut self) -> Self {
        self.system_file = SystemFile::Nowhere;
        self
    }

    /// The path of the administrator's file, whether it exists or not. None if no such file is read.
    #[must_use]
    pub fn system_path(&self) -> Option<PathBuf> {
        match &self.system_file {
            SystemFile::OfProfile => self.profile.system_file(),
            SystemFile::At(path) => Some(path.clone()),
            SystemFile::Nowhere => None,
        }
    }

    /// Sets the names of the host.
    #[cfg(feature = "cli")]
    pub(crate) fn with_profile(mut self, profile: AppProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Also loads the files of this source, after those of hooks.json. Replaces another source of this type.
    pub(crate) fn with_source<S: Source>(mut self, source: S) -> Self {
        self.sources.retain(|it| !(&**it as &dyn Any).is::<S>());
        self.sources.push(Arc::new(source));
        self
    }

    /// Returns the source of this type.
    pub(crate) fn source<S: Source>(&self) -> Option<&S> {
        let mut sources = self.sources.iter();
        sources.find_map(|it| (&**it as &dyn Any).downcast_ref())
    }

    /// Sets the host's events and tools, with which patterns are compared.
    pub(crate) fn with_vocabulary(mut self, vocabulary: Arc<Vocabulary>) -> Self {
        self.vocabulary = vocabulary;
        self
    }

    /// Sets the command with which a person approves a project's hooks, for messages.
    pub(crate) fn with_approve_command(mut self, command: String) -> Self {
        self.approve_command = Some(command);
        self
    }

    /// Makes loads look for what hooks need: the start of a host does not spend time on it.
    #[cfg(feature = "cli")]
    pub(crate) fn checking_scripts(mut self) -> Self {
        self.checks_scripts = true;
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
    #[must_use]
    pub fn profile(&self) -> &AppProfile {
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

    /// Returns the path of the file of the project, or of the user without a root, that a program edits for a person: the one that
    /// exists, else the one that is written for the person.
    #[cfg(feature = "cli")]
    pub(crate) fn path_to_edit(&self, root: Option<&Path>) -> Option<PathBuf> {
        first_existing(self.candidates_to_edit(root))
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
            || others.any(|it| it.files(Some(root), false).iter().any(is_settings))
    }

    /// Returns the hooks without any file: an empty list.
    #[must_use]
    pub fn default_hooks(&self) -> Vec<Hook> {
        Vec::new()
    }

    /// Loads the user's hooks, and after them those of other agents, if the host loads them. A missing file has no
    /// hooks. Of a file with errors, the usable hooks are loaded; the rest is logged as warnings.
    #[must_use]
    pub fn load_global(&self) -> Vec<Hook> {
        let mut files = self.read_files(None, None);
        sources::switch_off(&mut files, false);
        files.retain(|file| file.owner == Owner::User);
        hooks_of(files)
    }

    /// Loads the hooks of a project, and after them those of other agents, if the host loads them. Their working directories are resolved against the project's root. Runs nothing; but registering these
    /// hooks means to trust the project.
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
    /// file except the administrator's, whose own `"disable"` counts for all files. (The other loading methods return it, for programs that edit hooks.)
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

    /// Loads as `load_into` does, and replaces the hooks of the last load. Without a root or a policy, loads
    /// only the user's hooks.
    pub(crate) fn install(
        &self,
        installed: &Installed,
        root: Option<&Path>,
        policy: Option<&TrustPolicy>,
    ) -> Arc<LoadReport> {
        self.install_changed(installed, root, policy, |_| {})
    }

    /// The same, with a change of the files' content before approvals are checked.
    fn install_changed(
        &self,
        installed: &Installed,
        root: Option<&Path>,
        policy: Option<&TrustPolicy>,
        mut change: impl FnMut(&mut [Loaded]),
    ) -> Arc<LoadReport> {
        loop {
            let (loads, before) = installed.last();
            let loaded = SystemTime::now();
            let mut files = self.read_files(root, policy);
            change(&mut files);
            let (mut report, hooks) = self.admit(files, root, policy, loaded);
            let compared = gone::compare(&before, &hooks, &report, &self.vocabulary);
            report.problems.extend(compared.problems.iter().cloned());
            // Fails if another load has ended at the same time.
            if let Some(report) = installed.replace(loads, &hooks, compared.guards, report) {
                compared.problems.iter().for_each(log_problem);
                return report;
            }
        }
    }

    /// Returns the files that decide which hooks there are, in the order of their hooks, whether they exist or not.
    fn files(&self, root: Option<&Path>) -> Vec<SourceFile> {
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
                    Some(words) => Content::LeftOut(words, form),
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
        files.extend(others.flat_map(|it| it.files(root, with_user)));
        files
    }

    fn checks(&self, scripts: bool) -> sources::Checks<'_> {
        sources::Checks {
            vocabulary: &self.vocabulary,
            scripts,
            checks_all: self.checks_all,
            allowances: sources::Allowances::default(),
        }
    }

    /// Reads the files that exist.
    fn read_files(&self, root: Option<&Path>, policy: Option<&TrustPolicy>) -> Vec<Loaded> {
        let compiles = policy == Some(&TrustPolicy::Everything);
        let files = self.files(root.map(absolute).as_deref());
        let checks = self.checks(self.checks_scripts);
        let mut files = sources::load(files, &checks, compiles);
        let is_system = |file: &&mut Loaded| file.owner == Owner::Administrator;
        for system in files.iter_mut().filter(is_system) {
            #[cfg(unix)]
            {
                let or_user = matches!(self.system_file, SystemFile::At(_));
                // One behind a link to nothing has been refused.
                if system.path.exists()
                    && let Err(words) = files::check_system(&system.path, or_user)
                {
                    let words = format!("the file {words}");
                    let problem = Problem::of_file(Severity::Error, &system.path, words);
                    system.refuse(problem, true);
                    system.disable.clear();
                }
            }
            let items = system.items.iter_mut();
            items.for_each(|item| item.change(Hook::with_system));
        }
        files
    }

    /// Reads the files of a project.
    fn read_files_of_project(&self, root: &Path) -> Vec<Loaded> {
        let mut files = self.read_files(Some(root), Some(&TrustPolicy::Everything));
        sources::switch_off(&mut files, true);
        files.retain(Loaded::is_in_project);
        files
    }

    /// Returns the store of the user's approvals: `trust.json` next to the user's hooks file. None if the
    /// user has no home directory, or the profile no such files.
    #[must_use]
    pub fn trust_store(&self) -> Option<TrustStore> {
        let beside = self.global_candidates().into_iter().next()?;
        Some(TrustStore::new(beside.with_file_name("trust.json")))
    }

    /// Checks a file without registering anything. Reports the same problems as
    /// [`load_into`](HookConfig::load_into), for a program that shows them. Scripts with a relative path are only
    /// looked at for a project's own file, since the directory is unknown for others. With `with_other_agents`, a hooks file of another agent, recognized by
    /// its directory or by its object `hooks`, is read as that tool reads it, unless this profile has its own file
    /// there.
    pub fn check(&self, path: impl AsRef<Path>) -> LoadReport {
        self.checked(path.as_ref(), true)
    }

    /// The same; expressions are compiled only if `is_compiled`, since that takes time.
    pub(crate) fn checked(&self, path: &Path, is_compiled: bool) -> LoadReport {
        let mut report = LoadReport::default();
        let text = file::read(path).ok().flatten();
        let form = self.form_of(path, text.as_ref().map(|it| &*it.text), &mut report);
        let loaded = self.checks(true).nothing(path, Owner::User, false);
        match sources::read(loaded, &*form, &self.vocabulary, is_compiled) {
            Some(loaded) => loaded.add_to(&mut report),
            None => {
                let missing = Problem::of_file(Severity::Error, path, "the file does not exist");
                report.problems.push(missing);
            }
        }
        report
    }

    /// Checks a text as [`check`](HookConfig::check) checks a file; the problems have this name as their
    /// path.
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
        let form = self.form_of(name, Some(text), &mut report);
        let mut loaded = Loaded::nothing(name, Owner::User);
        loaded.checks_scripts = true;
        form.read(text, &self.vocabulary, true, &mut loaded);
        loaded.add_to(&mut report);
        report
    }

    /// Returns the form of a file that is checked, and reports it if it is another agent's.
    fn form_of(&self, path: &Path, text: Option<&str>, report: &mut LoadReport) -> Arc<dyn Form> {
        let mut others = self.sources.iter().filter(|_| !self.is_own_place(path));
        let other = text.and_then(|text| others.find_map(|it| it.form_of(path, text)));
        if let Some(form) = other {
            report.read_as.push((path.to_owned(), form.title()));
            return form;
        }
        let root = self.root_of(path);
        Arc::new(HooksJson {
            // The user may not have written another file.
            host: Arc::new(self.host(root.is_some())),
            base_dir: root.map(Arc::from),
        })
    }

    /// Returns whether this configuration loads hooks such as this one, which was approved: those of other agents only if
    /// it loads that tool's.
    #[must_use]
    pub fn reads(&self, approved: &Approved) -> bool {
        let protocol = &approved.definition["protocol"];
        protocol.is_null() || sources::source_of(&self.sources, protocol).is_some()
    }

    /// Whether a host with this profile reads the path as a hooks file of its own.
    fn is_own_place(&self, path: &Path) -> bool {
        let path = absolute(path);
        let mut files = self.profile.global_files().iter();
        files.any(|file| beside::levels_below_root(&path, file).is_some())
            || self.root_of(&path).is_some()
    }

    /// Returns the root of the project whose hooks file this is.
    fn root_of(&self, path: &Path) -> Option<PathBuf> {
        let path = absolute(path);
        let mut files = self.profile.project_files().iter();
        let levels = files.find_map(|file| beside::levels_below_root(&path, file))?;
        path.ancestors().nth(levels).map(Path::to_owned)
    }

    /// Returns the JSON Schema of hooks.json (draft 2020-12), for editors. It is also in the repository, as
    /// `hooks.schema.json`. A key `"$schema"` in a hooks file is kept when the file is saved.
    #[must_use]
    pub fn json_schema() -> Value {
        schema::schema(&Vocabulary::default())
    }

    /// Returns the schema with the events and tools of the host.
    pub(crate) fn own_json_schema(&self) -> Value {
        schema::schema(&self.vocabulary)
    }

    /// Saves the user's hooks in place of those in the file that exists, else in the first file of the profile.
    ///
    /// The file is replaced in one step, so that a reader never sees half of it, and keeps its mode. A hook that is
    /// equal to an entry keeps the text of this entry. Of a changed hook, the keys that differ are written into the
    /// entry from which it was loaded; other hooks are added, with the file's indentation. All other bytes stay:
    /// comments, formatting, keys that this version does not know, and entries that it cannot use.
    ///
    /// If the whole file cannot be used, a copy is saved first, next to the file (`hooks.json.broken`).
    ///
    /// Hooks of files in `hooks.d` stay there, and are not written here: [`HooksFile::open`] changes one of these files.
    ///
    /// If two programs save at the same time, one waits for the other, and the later list replaces the earlier one. To
    /// change a list that other programs change too, use [`global_file`](HookConfig::global_file), which loses nothing.
    ///
    /// # Errors
    /// When the user has no home directory, when several of the profile's files exist, when a file cannot be
    /// read or written, when another program keeps the file locked for 5 seconds, and when it would exceed a limit of
    /// the file.
    pub fn save_global<I>(&self, hooks: I) -> Result<(), ConfigError>
    where
        I: IntoIterator<Item: Borrow<Hook>>,
    {
        hooks_file::save_all(&self.global_candidates(), None, hooks)
    }

    /// Saves the project's hooks; see [`save_global`](HookConfig::save_global).
    ///
    /// # Errors
    /// As with [`save_global`](HookConfig::save_global), and when a link leads out of the project, since a
    /// repository may contain such a link.
    pub fn save_project<I>(&self, root: impl AsRef<Path>, hooks: I) -> Result<(), ConfigError>
    where
        I: IntoIterator<Item: Borrow<Hook>>,
    {
        let root = absolute(root.as_ref());
        let candidates = self.project_candidates(&root);
        hooks_file::save_all(&candidates, Some(root), hooks)
    }

    fn host(&self, looks_at_files: bool) -> Host {
        Host {
            begins_anywhere: false,
            vocabulary: Arc::clone(&self.vocabulary),
            prefixes: self.profile.env_prefixes().to_vec(),
            looks_at_files,
        }
    }

    fn global_candidates(&self) -> Vec<PathBuf> {
        let Some(home) = self.config_home.clone().or_else(config_home) else {
            debug!("no home directory: the user's hooks are not loaded");
            return Vec::new();
        };
        below(&home, self.profile.global_files())
    }

    fn project_candidates(&self, root: &Path) -> Vec<PathBuf> {
        below(root, self.profile.project_files())
    }

    /// Returns the files of the project, or of the user without a root. The one that a new file would be is the first.
    fn candidates_to_edit(&self, root: Option<&Path>) -> Vec<PathBuf> {
        let (mut candidates, files) = match root {
            Some(root) => (self.project_candidates(root), self.profile.project_files()),
            None => (self.global_candidates(), self.profile.global_files()),
        };
        if let Some(up_to_new) = candidates.get_mut(..=index_of_new(files)) {
            up_to_new.rotate_right(1);
        }
        candidates
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

fn log_problem(problem: &Problem) {
    // The message contains the wrong value, which may be a secret.
    let words = problem.to_string();
    warn!("{}", Redactor::default().text(&words));
}
