//! `Hooks`: one object for a host. It owns the registry, the executor, the files and the approvals.
//!
//! This module only connects these parts; each can be used without it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::compat::OtherAgents;
use crate::config::{
    AlsoDeciding, Deciders, HookConfig, Installed, LoadReport, Review, Severity, TrustPolicy,
};
use crate::entry::Sandbox;
use crate::error::SetupError;
use crate::events::{EventSpec, HookEvent, Vocabulary, unknown};
use crate::executor::{FireOptions, HookExecutor, HookExecutorBuilder, HookHandle, Remains};
use crate::lifecycle::Lifecycle;
use crate::logging::warn;
use crate::outcome::Outcome;
use crate::profile::AppProfile;
use crate::trace::Trace;
use crate::trust::{Approval, TrustError, TrustStore};

/// The hooks of a host: loaded from its users' files, run on its events.
///
/// Clones are cheap and share everything. Example:
///
/// ```
/// use forge_hooks::{AppProfile, EventSpec, HookEvent, Hooks};
/// use serde_json::json;
///
/// # let home = tempfile::tempdir()?;
/// let level_loaded = EventSpec::named("level:loaded").with_data("level", "its name").notify_only();
/// let hooks = Hooks::builder(AppProfile::new("mygame"))
///     .event(level_loaded.clone())
///     .tools(["bash", "write", "mcp:*"])
/// #   .config_home(home.path())
///     .load();
/// for problem in &hooks.report().problems {
///     eprintln!("{problem}");
/// }
///
/// // Waits for the hooks, which may block:
/// let outcome = hooks.execute(&HookEvent::tool_pre_execute("bash", json!({"command": "ls"})));
/// assert!(outcome.allowed());
/// // Does not wait:
/// let handle = hooks.submit(level_loaded.event().with_data("level", "one"));
/// # assert!(handle.wait().allowed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Hooks {
    shared: Arc<Shared>,
}

struct Shared {
    executor: HookExecutor,
    config: HookConfig,
    project: Option<PathBuf>,
    /// The rule for the project's hooks. None if no store of approvals can be found; then no hook of the project runs.
    policy: Option<TrustPolicy>,
    installed: Arc<Installed>,
    /// The user's trace, which is dropped after the executor.
    trace: Option<UserTrace>,
    /// False if the user's trace was not wanted.
    has_trace: bool,
    /// The command for an approval, which replaces that of `config`. `serve` learns it after the hooks are loaded.
    approve_command: OnceLock<String>,
}

/// The trace that the user has asked for.
struct UserTrace {
    trace: Trace,
    executor: Remains,
}

/// The least time that the program waits for the last lines of the user's trace.
const TRACE_DEADLINE: Duration = Duration::from_secs(1);

impl Drop for UserTrace {
    fn drop(&mut self) {
        // Hooks that end with the executor write lines to the trace too.
        self.executor.wait();
        self.trace.flush(TRACE_DEADLINE);
    }
}

/// Builds a [`Hooks`] from the names of a host, its events and tools, and the hooks that may run.
#[derive(Debug, Clone)]
#[must_use = "nothing is loaded before `load`"]
pub struct HooksBuilder {
    config: HookConfig,
    executor: HookExecutorBuilder,
    project: Option<ProjectRoot>,
    policy: Option<TrustPolicy>,
    has_trace: bool,
}

#[derive(Debug, Clone)]
enum ProjectRoot {
    At(PathBuf),
    /// The directory from which the root is searched for when the hooks are loaded.
    From(PathBuf),
}

impl HooksBuilder {
    /// Declares a custom event that the host fires, or describes a built-in one.
    ///
    /// Once the host has declared a custom event, the load reports each hook for an unknown event: one that this crate does
    /// not know and the host has not declared. Default: unknown events are not reported.
    pub fn event(mut self, spec: EventSpec) -> Self {
        self.config.vocabulary_mut().add_event(spec);
        self
    }

    /// Declares the host's tools: names, or globs such as `mcp:*`. The load reports each hook for another
    /// tool. Default: any tool.
    pub fn tools<I: IntoIterator<Item: Into<String>>>(mut self, names: I) -> Self {
        let vocabulary = self.config.vocabulary_mut();
        for name in names {
            vocabulary.add_tool(name.into());
        }
        self
    }

    /// Sets the root of the project whose hooks are loaded too. Default: no project.
    pub fn project(mut self, root: impl Into<PathBuf>) -> Self {
        self.project = Some(ProjectRoot::At(root.into()));
        self
    }

    /// Finds the root of the project that contains `start`, when the hooks are loaded. [`Hooks::project`] returns it.
    ///
    /// It is the nearest directory, from `start` up to the directory with `.git`, that has a project's hooks file, of this
    /// profile or of a tool in [`other_agents`](Self::other_agents). If there is none, it is the directory with `.git`, or
    /// `start` without `.git`.
    ///
    /// Links in `start` are resolved, except on Windows. At most 64 directories are searched. The user's home directory and
    /// those above it are not searched, since hooks files there are the user's own. If `start` is the home directory, and it
    /// has no `.git`, there is no project.
    pub fn discover_project(mut self, start: impl Into<PathBuf>) -> Self {
        self.project = Some(ProjectRoot::From(start.into()));
        self
    }

    /// Sets how hooks run: threads, timeouts, traces. The executor gets the profile and the
    /// vocabulary of this builder.
    pub fn executor(mut self, executor: HookExecutorBuilder) -> Self {
        self.executor = executor;
        self
    }

    /// Sets the directory of the user's configuration; see [`HookConfig::with_config_home`].
    pub fn config_home(mut self, directory: impl Into<PathBuf>) -> Self {
        self.config = self.config.with_config_home(directory);
        self
    }

    /// Sets the path of the administrator's file. Default: `/etc/NAME/hooks.json` with the name of the profile; none on
    /// Windows, where any user can create directories in `%ProgramData%`.
    ///
    /// Its hooks come before those of other files. Only `disable` and `enabled` in the file itself turn them off; its `disable`
    /// also turns off hooks of other files. A missing file is not an error. A file that cannot be used blocks, as a user's
    /// does.
    ///
    /// On Unix, the file and its directories must belong to root, and no other user may be able to write them. Only if the
    /// path is set here, they may also belong to the current user, who can then change the file. On Windows, this is not
    /// checked.
    pub fn system_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.config = self.config.with_system_file(path.into());
        self
    }

    /// Reads no administrator's file.
    pub fn without_system_file(mut self) -> Self {
        self.config = self.config.without_system_file();
        self
    }

    /// Adds hooks that were written for other agents, as in `[compat::CLAUDE]`; see [`OtherAgents`]. Default: none.
    pub fn other_agents(mut self, tools: impl Into<OtherAgents>) -> Self {
        self.config = self.config.with_other_agents(tools.into());
        self
    }

    /// Sets which of the project's hooks may run. Default: the hooks that a person has approved in the
    /// profile's store ([`HookConfig::trust_store`]). If the user has no home directory, no hook of the project
    /// runs.
    pub fn trust(mut self, policy: TrustPolicy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Confines each hook that comes from the project's files, those of other agents too. A hook's own sandbox can only narrow
    /// this one. Paths are relative to the project's root. Where no sandbox is possible ([`Sandbox::support`]), the project's
    /// hooks fail. Default: a project's hook is confined only if its entry says so.
    pub fn sandbox_projects(mut self, sandbox: Sandbox) -> Self {
        self.config = self.config.with_project_sandbox(sandbox);
        self
    }

    /// Sets the command that messages suggest for approving the project's hooks. Default: `forge-hooks trust`,
    /// with the options for this profile and project. A host that calls `cli::run` names its own, as in `mygame
    /// hooks trust`.
    pub fn approve_command(mut self, command: impl Into<String>) -> Self {
        self.config = self.config.with_approve_command(command.into());
        self
    }

    /// Loads the hooks of the administrator, the user and the project. Never fails: [`Hooks::report`] has the problems of
    /// the files. Loading does not check that the scripts and programs of hooks exist. The program `forge-hooks` does.
    ///
    /// If the environment has `PREFIX_HOOKS_TRACE`, with the profile's prefix, the hooks also write a [`Trace`] to the file
    /// that it names. The path must be absolute, and must not end in a link, except in `/dev`: the program may have been
    /// started in the clone of a repository. If the file cannot be opened, a warning is logged.
    #[must_use]
    pub fn load(self) -> Hooks {
        let hooks = self.without_hooks();
        hooks.reload();
        hooks
    }

    /// Changes settings of the configuration.
    #[cfg(feature = "cli")]
    pub(crate) fn configured(mut self, change: impl FnOnce(HookConfig) -> HookConfig) -> Self {
        self.config = change(self.config);
        self
    }

    /// Writes no trace, even if the environment names a file for it.
    #[cfg(feature = "cli")]
    pub(crate) fn without_trace(mut self) -> Self {
        self.has_trace = false;
        self
    }

    /// Builds the object without reading hooks files, for a command that needs the names alone.
    pub(crate) fn without_hooks(self) -> Hooks {
        let config = self.config;
        let trace = self.has_trace.then(|| trace_of_the_user(config.profile()));
        let trace = trace.flatten();
        let mut executor = self.executor;
        if let Some(trace) = &trace {
            executor = executor.trace(trace);
        }
        let project = self.project.and_then(|root| match root {
            ProjectRoot::At(root) => Some(root),
            ProjectRoot::From(start) => config.discover_project(&start),
        });
        let executor = executor
            .profile(config.profile().clone())
            .project(project.as_deref())
            .vocabulary(Arc::clone(config.vocabulary()))
            .build();
        let config = config.with_disabled_by(executor.disabled_by());
        let own_store = || config.trust_store().map(TrustPolicy::Approved);
        let remains = executor.remains();
        Hooks {
            shared: Arc::new(Shared {
                installed: Arc::new(Installed::new(Arc::clone(executor.registry()))),
                policy: self.policy.or_else(own_store),
                approve_command: OnceLock::new(),
                executor,
                config,
                project,
                has_trace: self.has_trace,
                trace: trace.map(|trace| UserTrace {
                    trace,
                    executor: remains,
                }),
            }),
        }
    }
}

/// Builds the trace that the user's environment names.
fn trace_of_the_user(profile: &AppProfile) -> Option<Trace> {
    let prefixes = profile.env_prefixes().iter();
    let variables = prefixes.map(|prefix| format!("{prefix}_HOOKS_TRACE"));
    let mut files = variables.filter_map(|name| Some((std::env::var_os(&name)?, name)));
    let (file, name) = files.find(|(file, _)| !file.is_empty())?;
    let trace = Trace::builder(file).of_variable().build();
    let report = |error: &SetupError| warn!("`{name}`: {}", error.with_cause());
    trace.inspect_err(report).ok()
}

impl Hooks {
    /// Creates a builder for a host with these names.
    pub fn builder(profile: AppProfile) -> HooksBuilder {
        HooksBuilder {
            config: HookConfig::new(profile),
            executor: HookExecutor::builder(),
            project: None,
            policy: None,
            has_trace: true,
        }
    }

    /// Returns a builder with the same names, events, tools, files, sandbox of projects and command for approvals, for example
    /// to load another project. It has no project yet; the executor and the trust policy are the defaults.
    pub fn to_builder(&self) -> HooksBuilder {
        // Each field is named, so that the compiler asks about a new one.
        let Shared {
            executor: _,
            config: _,
            project: _,
            policy: _,
            installed: _,
            trace: _,
            has_trace,
            approve_command: _,
        } = &*self.shared;
        HooksBuilder {
            config: self.config_now(),
            executor: HookExecutor::builder(),
            project: None,
            policy: None,
            has_trace: *has_trace,
        }
    }

    /// Creates an event of this name, with the current time and without data: one that the host has
    /// [declared](HooksBuilder::event), or that this crate knows.
    ///
    /// ```
    /// use forge_hooks::{AppProfile, EventSpec, Hooks};
    ///
    /// # let home = tempfile::tempdir()?;
    /// let hooks = Hooks::builder(AppProfile::new("mygame"))
    ///     .event(EventSpec::named("game:level_up"))
    /// #   .config_home(home.path())
    ///     .load();
    /// let event = hooks.event("game:level_up")?.with_data("level", 2);
    /// # assert_eq!(event.event_type.as_str(), "game:level_up");
    /// let error = hooks.event("game:levelup").unwrap_err();
    /// assert_eq!(error.to_string(), "unknown event `game:levelup`, did you mean `game:level_up`?");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no event of this name. The error names the nearest one.
    pub fn event(&self, name: &str) -> Result<HookEvent, SetupError> {
        let vocabulary = self.vocabulary();
        let spec = vocabulary.event(name).map(EventSpec::event);
        spec.ok_or_else(|| {
            let nearest = vocabulary.nearest_event(name);
            unknown(name, nearest.map(EventSpec::event_type))
        })
    }

    /// Runs the hooks for this event on this thread; see [`HookExecutor::execute`].
    pub fn execute(&self, event: &HookEvent) -> Outcome {
        self.execute_with(event, FireOptions::default())
    }

    /// Runs the hooks for this event on this thread, with options.
    pub fn execute_with(&self, event: &HookEvent, options: FireOptions) -> Outcome {
        self.executor().execute(event, options)
    }

    /// Runs the hooks for this event on the pool, without waiting; see [`HookExecutor::submit`].
    ///
    /// Never fails: where there are hooks for the event, and the queue is full, no thread can be started, or
    /// [`shutdown`](Hooks::shutdown) was called, the handle has ended, with an outcome that blocks what can be blocked and names
    /// the reason; [`HookHandle::refusal`] has it too. [`HookExecutor::submit`] returns an error instead.
    pub fn submit(&self, event: impl Into<Arc<HookEvent>>) -> HookHandle {
        self.submit_with(event, FireOptions::default())
    }

    /// Runs the hooks for this event on the pool, with options, without waiting.
    pub fn submit_with(
        &self,
        event: impl Into<Arc<HookEvent>>,
        options: FireOptions,
    ) -> HookHandle {
        self.executor().submit_or_refuse(event, options)
    }

    /// Returns a [`Lifecycle`], which fires the events around a tool, a model call, a session or a permission in the right order.
    #[must_use]
    pub fn lifecycle(&self) -> Lifecycle {
        Lifecycle::of_loaded(self.executor().clone())
    }

    /// Returns the report of the last load, for the host to show.
    #[must_use]
    pub fn report(&self) -> Arc<LoadReport> {
        self.shared.installed.report()
    }

    /// Loads the files again. An event sees the old hooks or the new ones, never a mixture. Hooks that the
    /// host has registered itself stay.
    ///
    /// The report also has a warning about the guards of the last load that are gone or switched off since: hooks that could
    /// block an event. A tool may have removed them, so the host shows it. A guard whose entry has the same name, or without
    /// one the same label, in the same file is the same guard, and so is an equal entry in another file. A project's guard
    /// that was approved is not in it: it blocks until a person decides.
    pub fn reload(&self) -> Arc<LoadReport> {
        self.install(self.config_now(), &self.shared.installed)
    }

    /// Returns the configuration with what the host has set since it was built.
    fn config_now(&self) -> HookConfig {
        let config = self.config().clone();
        match self.shared.approve_command.get() {
            Some(command) => config.with_approve_command(command.clone()),
            None => config,
        }
    }

    fn install(&self, config: HookConfig, installed: &Installed) -> Arc<LoadReport> {
        config.install(installed, self.project(), self.shared.policy.as_ref())
    }

    /// Returns the report that also says whether the scripts and programs that hooks need exist.
    #[cfg(feature = "cli")]
    pub(crate) fn full_report(&self) -> Arc<LoadReport> {
        if self.config().is_checking_scripts() {
            return self.report();
        }
        let nowhere = Installed::new(Arc::default());
        self.install(self.config_now().checking_scripts(), &nowhere)
    }

    /// Sets the command that messages suggest for an approval, in place of the builder's, and loads the files again.
    /// Only the first call has an effect.
    #[cfg(feature = "cli")]
    pub(crate) fn name_approve_command(&self, command: String) {
        // An error means that this method has been called before.
        if self.shared.approve_command.set(command).is_ok() {
            self.reload();
        }
    }

    /// Loads the files again if one of them, or an approval, has changed since the last call of this method; the first call
    /// always loads. Returns the report, which the host shows; none if nothing has changed. It reads the files, so a host calls it
    /// now and then, such as before a turn, and not for each event.
    ///
    /// A file that is broken blocks until it is whole. One that has vanished blocks too, since a tool may have removed it: until
    /// it is back, or the host builds its hooks anew.
    pub fn reload_if_changed(&self) -> Option<Arc<LoadReport>> {
        let config = self.config_now();
        let now = config.look(self.project(), self.shared.policy.as_ref());
        self.shared
            .installed
            .have_changed(now)
            .then(|| self.reload())
    }

    /// Returns the executor that runs the hooks. A host may register hooks besides those of the files in its
    /// [registry](HookExecutor::registry).
    #[must_use]
    pub fn executor(&self) -> &HookExecutor {
        &self.shared.executor
    }

    /// Returns the configuration: the paths of the hooks files, and the rules for loading them.
    #[must_use]
    pub fn config(&self) -> &HookConfig {
        &self.shared.config
    }

    /// Returns the events that hooks may be for: the built-in ones in the order of
    /// [`EventType::BUILTIN`](crate::EventType::BUILTIN), those of agents, then those that the host has
    /// [declared](HooksBuilder::event).
    ///
    /// ```
    /// use forge_hooks::{AppProfile, EventSpec, Hooks};
    ///
    /// # let home = tempfile::tempdir()?;
    /// let hooks = Hooks::builder(AppProfile::new("mygame"))
    ///     .event(EventSpec::named("game:saved").notify_only())
    /// #   .config_home(home.path())
    ///     .load();
    /// assert_eq!(hooks.events().len(), 24);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn events(&self) -> &[EventSpec] {
        self.vocabulary().events()
    }

    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        self.config().vocabulary()
    }

    /// Returns the project's root, if the host has set one.
    #[must_use]
    pub fn project(&self) -> Option<&Path> {
        self.shared.project.as_deref()
    }

    /// Returns the store of the project's approvals. None with [`TrustPolicy::Everything`], or if the user has no home
    /// directory; then no hook of the project runs.
    pub(crate) fn trust(&self) -> Option<TrustStore> {
        match &self.shared.policy {
            Some(TrustPolicy::Approved(store)) => Some(store.clone()),
            _ => None,
        }
    }

    /// Approves the project's hooks if `ask` returns true, and loads them again. Returns whether they are approved.
    ///
    /// `ask` gets everything that would be approved, to be shown to a person: its `Display` has the full text, and
    /// [`changes`](Approval::changes) the new, changed and removed parts. It is not called if nothing has changed since the
    /// last approval. If it returns true, this approval replaces the project's earlier ones.
    ///
    /// ```no_run
    /// # let hooks = forge_hooks::Hooks::builder(forge_hooks::AppProfile::new("mygame")).load();
    /// # fn confirmed(_: &str) -> bool { false }
    /// hooks.approve_with(|approval| confirmed(&approval.to_string()))?;
    /// # Ok::<(), forge_hooks::SetupError>(())
    /// ```
    ///
    /// # Errors
    /// If the project cannot be found, if one of its hooks files has errors, if the store cannot be used or written, or if
    /// the method is called from within a hook.
    pub fn approve_with(&self, ask: impl FnOnce(&Approval) -> bool) -> Result<bool, SetupError> {
        let Some(review) = self.review()? else {
            return Ok(false);
        };
        let mut problems = review.report.problems.iter();
        if let Some(error) = problems.find(|problem| problem.severity == Severity::Error) {
            return Err(TrustError::Broken(error.to_string()).into());
        }
        if review.is_approved() {
            self.reload_if_stale();
            return Ok(true);
        }
        if !ask(&review.approval) {
            return Ok(false);
        }
        review.approve(self.config())?;
        self.reload();
        Ok(true)
    }

    /// Loads the files again if a hook waits for an approval that another program has given.
    fn reload_if_stale(&self) {
        let report = self.report();
        if report.problems.iter().any(|problem| problem.is_of_approval) {
            self.reload();
        }
    }

    /// Compares the project's hooks with their approval. Returns None if they need no approval.
    pub(crate) fn review(&self) -> Result<Option<Review>, TrustError> {
        let project = self.trust().zip(self.project());
        project
            .map(|(store, root)| self.config().review(store, root))
            .transpose()
    }

    /// Returns whether a path is one of the files that decide which hooks run, or what they do. A host asks this before a tool writes,
    /// moves or removes a file, and refuses it, or asks its user: a tool that could change these files could switch off the
    /// guards that check it.
    ///
    /// ```
    /// use forge_hooks::{AppProfile, Hooks};
    ///
    /// # let home = tempfile::tempdir()?;
    /// # let project = tempfile::tempdir()?;
    /// let hooks = Hooks::builder(AppProfile::new("myagent"))
    ///     .project(project.path())
    /// #   .config_home(home.path())
    ///     .load();
    /// assert!(hooks.decides(".myagent/hooks.json"));
    /// assert!(hooks.decides("src/../.claude/settings.json"));
    /// assert!(!hooks.decides("src/main.rs"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// These count, whether they exist or not:
    ///
    /// - the hooks files of the administrator, the user and the project, and those of the agents in
    ///   [`AGENTS`](crate::compat::AGENTS) and of Copilot CLI, in the user's home and in the project, also if the host does not
    ///   load them; and the files by which these agents run commands without an event: servers of MCP, skills, agents, commands;
    /// - the directories `hooks` and `hooks.d` beside each, the extensions of agents, and the plugins that the host loads, with
    ///   all that is in them;
    /// - the store of approvals;
    /// - the scripts that the registered hooks name, and their `inputs`, by the rules of [approvals](crate::docs::approval); not
    ///   a program that is found through `PATH`, or one of the system such as `/bin/sh`;
    /// - each directory that contains one of these, since it could be moved as a whole. So the project's root and the
    ///   user's home count, and the files in them do not.
    ///
    /// A relative path begins in the host's current directory and in the project's root: it counts if it does from either. `~/` is the
    /// user's home. Links are followed, also where the last part of a path does not exist yet. On Unix a hard link to one of
    /// these files counts (of directories, the first 10,000 files are compared); on macOS and Windows, the case of letters
    /// does not matter. A path counts too if it is not known where it leads: if it is longer than 4,096 bytes, has a NUL,
    /// leads back (`..`) out of a directory that does not exist, or passes through one that the host may not read.
    ///
    /// It reads the file system at each call, since links and scripts may change: this takes two to three
    /// milliseconds, and 20 microseconds more for each hook. What is true now may be false when the tool writes.
    ///
    /// A shell command reaches these files without any argument that is a path. Against that, only a sandbox for the
    /// tool itself helps, or files that belong to another user, such as the administrator's.
    #[must_use]
    pub fn decides(&self, path: impl AsRef<Path>) -> bool {
        self.decides_with(path.as_ref(), &AlsoDeciding::default())
    }

    /// Returns whether a path [decides](Self::decides), if the files of `also` decide too.
    pub(crate) fn decides_with(&self, path: &Path, also: &AlsoDeciding) -> bool {
        let root = self.project();
        let (files, directories) = self
            .config()
            .other_agents()
            .deciding_places(root, !also.reads_texts);
        let here = std::env::current_dir().unwrap_or_default();
        let deciders = Deciders {
            root,
            host_dir: self.executor().working_dir().unwrap_or(&here),
            stores: self
                .trust()
                .iter()
                .map(|store| store.path().to_owned())
                .collect(),
            files,
            directories,
            also,
            hooks: self.executor().registry().hooks(),
            inherited: &|name| self.executor().variable(name),
        };
        self.config().decides(path, &deciders)
    }

    /// Returns the JSON Schema of the host's hooks.json (draft 2020-12), with its events and tools, for editors. That of the
    /// events that this crate knows is in the repository, as `hooks.schema.json`. A key `"$schema"` in a hooks file is kept when
    /// the file is saved.
    #[must_use]
    pub fn json_schema(&self) -> Value {
        self.config().json_schema()
    }

    /// Returns the failures of hooks that nothing has waited for, a line each, since the last call: of background hooks, of
    /// events whose handle was dropped, as [`without_waiting`](Lifecycle::without_waiting) does, and of the end of an action that
    /// was dropped. Also what hooks on `permission:*` say to the user. A host shows them from time to time. At most the last 100
    /// are kept. The log has all failures.
    #[must_use]
    pub fn take_failures(&self) -> Vec<String> {
        self.executor().take_failures()
    }

    /// Cancels the hooks that run or wait, and leaves the object usable; see [`HookExecutor::cancel_running`].
    pub fn cancel_running(&self) {
        self.executor().cancel_running();
    }

    /// Waits for the submitted events, at most until the deadline, counted from now; see
    /// [`HookExecutor::shutdown`].
    pub fn shutdown(&self, deadline: Duration) -> bool {
        let begun = Instant::now();
        let ended = self.executor().shutdown(deadline);
        if let Some(user) = &self.shared.trace {
            let left = deadline.saturating_sub(begun.elapsed());
            user.trace.flush(left.max(TRACE_DEADLINE));
        }
        ended
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("profile", self.config().profile())
            .field("project", &self.project())
            .field("executor", self.executor())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use super::*;
    use crate::agents::CLAUDE;

    /// Each setting differs from its default. The pattern names each field, so that the compiler asks about a new one.
    #[test]
    fn to_builder_keeps_each_setting() {
        let home = tempfile::tempdir().unwrap();
        let builder = Hooks::builder(AppProfile::new("mygame"))
            .event(EventSpec::named("game:saved"))
            .tools(["bash"])
            .configured(HookConfig::of_agents)
            .config_home(home.path())
            .system_file(home.path().join("system.json"))
            .other_agents([CLAUDE])
            .sandbox_projects(Sandbox::new())
            .approve_command("builder")
            .without_trace()
            .configured(HookConfig::checking_scripts)
            .configured(HookConfig::for_one_event);
        let hooks = builder.clone().load();
        hooks.name_approve_command("later".to_owned());
        let HooksBuilder {
            config,
            executor: _,
            project,
            policy,
            has_trace,
        } = hooks.to_builder();
        let expected = builder.config.with_approve_command("later".to_owned());
        assert_eq!(format!("{config:?}"), format!("{expected:?}"));
        assert_eq!(config.vocabulary().tools(), ["bash"]);
        assert!(config.vocabulary().is_of_agents() && !has_trace);
        assert!(project.is_none() && policy.is_none());
    }
}
