//! The settings of an executor, and their defaults.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::calls::Calls;
use super::core::Core;
use super::hook_executor::HookExecutor;
use super::token::CancelToken;
use crate::entry::{DEFAULT_TIMEOUT, LONGEST_TIMEOUT, SHORTEST_TIMEOUT, Sandbox};
use crate::events::Vocabulary;
use crate::outcome::MODEL_TEXT_LIMIT;
use crate::pool::Pool;
use crate::profile::AppProfile;
#[cfg(feature = "cli")]
use crate::protocol::HookChain;
use crate::protocol::{Naming, Native};
use crate::redact::Redactor;
use crate::registry::HookRegistry;
use crate::runner::{Bases, Observers, Reporter, Residents, Runner};
use crate::sync::Mutex;
use crate::trace::Trace;

/// The most background hooks that run in parallel; further ones wait.
const MOST_BACKGROUND: usize = 16;

impl HookExecutor {
    /// Creates an executor with the default settings for the hooks of this registry.
    #[must_use]
    pub fn new(registry: Arc<HookRegistry>) -> Self {
        Self::builder().registry(registry).build()
    }

    /// Returns a builder for an executor with other settings.
    pub fn builder() -> HookExecutorBuilder {
        HookExecutorBuilder::default()
    }
}

/// Builds a [`HookExecutor`]. Building never fails: threads start when they are first needed.
///
/// ```
/// use std::time::Duration;
/// use forge_hooks::{AppProfile, HookExecutor};
///
/// let executor = HookExecutor::builder()
///     .profile(AppProfile::new("mygame"))
///     .default_timeout(Duration::from_secs(2))
///     .build();
/// assert!(executor.registry().is_empty());
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is made before `build`"]
pub struct HookExecutorBuilder {
    registry: Option<Arc<HookRegistry>>,
    workers: usize,
    queue_capacity: usize,
    default_timeout: Duration,
    working_dir: Option<PathBuf>,
    project: Option<PathBuf>,
    kill_grace: Duration,
    output_limit: usize,
    model_text_limit: usize,
    inherit: Option<Vec<String>>,
    variables: Option<Vec<(OsString, OsString)>>,
    profile: AppProfile,
    traces: Vec<Trace>,
    redactor: Redactor,
    allow_disable: bool,
    vocabulary: Arc<Vocabulary>,
    sandbox: Option<Sandbox>,
    replays: bool,
    above: Above,
}

/// Whose word counts for the hooks that are running above this host.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Above {
    /// That of the environment.
    Inherited,
    /// That of the environment, as far as it names processes above this one: a model may have written it.
    #[cfg(feature = "cli")]
    Ancestors,
    /// That of the process that has started this one in its place.
    #[cfg(feature = "cli")]
    PassedOn,
}

/// Returns the variable with the hooks above this process, for one that starts [in its place](Above::PassedOn).
#[cfg(feature = "cli")]
pub(crate) fn chain_of_ancestors() -> (&'static str, String) {
    HookChain::of_ancestors().variable()
}

impl Default for HookExecutorBuilder {
    fn default() -> Self {
        Self {
            registry: None,
            workers: 4,
            queue_capacity: 1024,
            default_timeout: DEFAULT_TIMEOUT,
            working_dir: None,
            project: None,
            kill_grace: Duration::from_millis(250),
            output_limit: 1024 * 1024,
            model_text_limit: MODEL_TEXT_LIMIT,
            inherit: None,
            variables: None,
            profile: AppProfile::default(),
            traces: Vec::new(),
            redactor: Redactor::default(),
            allow_disable: true,
            vocabulary: Vocabulary::known(),
            sandbox: None,
            replays: false,
            above: Above::Inherited,
        }
    }
}

impl HookExecutorBuilder {
    /// Sets the registry with the hooks to run. Default: a new, empty registry.
    pub fn registry(mut self, registry: Arc<HookRegistry>) -> Self {
        self.registry = Some(registry);
        self
    }

    /// Sets the maximum number of threads that run submitted events. Default: 4; at least 1, at most 1,000. The
    /// threads mostly wait for processes, so more threads than processors can be useful. If there are several,
    /// one of them is reserved for events that can be blocked, so that a guard never waits for a slow log.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.clamp(1, 1000);
        self
    }

    /// Sets the most submitted events that may wait for a thread, and also the most background hooks. Default: 1,024; at
    /// least 1, at most 100,000.
    pub fn queue_capacity(mut self, events: usize) -> Self {
        self.queue_capacity = events.clamp(1, 100_000);
        self
    }

    /// Sets the timeout of hooks without a timeout of their own. Default: 10 seconds; at least 1
    /// millisecond, at most 1 day.
    pub fn default_timeout(mut self, timeout: Duration) -> Self {
        self.default_timeout = timeout.clamp(SHORTEST_TIMEOUT, LONGEST_TIMEOUT);
        self
    }

    /// Sets the working directory of hooks that set none themselves and do not come from a project.
    /// Default: the host's current directory when the hook starts.
    pub fn working_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.working_dir = Some(path.into());
        self
    }

    /// Sets the root of a project. Its real path is looked up when the executor is built, before one of its hooks runs.
    pub(crate) fn project(mut self, root: Option<&Path>) -> Self {
        self.project = root.map(Path::to_owned);
        self
    }

    /// Passes only these variables of the host's environment to hooks that do not set their own list
    /// ([`Hook::with_inherit`](crate::Hook::with_inherit)). In a name, `*` matches any characters.
    /// Default: hooks inherit all variables. If your environment contains secrets, list the variables that hooks need:
    /// `["PATH", "HOME", "LANG", "LC_*", "TMPDIR"]`; on Windows programs also need `SystemRoot`.
    pub fn inherit<I: IntoIterator<Item: Into<String>>>(mut self, names: I) -> Self {
        self.inherit = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the variables from which hooks inherit. They replace the environment of this process, which another program may
    /// have set. Programs are looked up in the `PATH` among them.
    #[cfg(feature = "cli")]
    pub(crate) fn variables(mut self, variables: Vec<(OsString, OsString)>) -> Self {
        self.variables = Some(variables);
        self
    }

    /// Makes the executor one that fires recorded events again: each hook has the variable `FORGE_REPLAY`, and is also
    /// confined by this sandbox.
    #[cfg(feature = "cli")]
    pub(crate) fn replaying(mut self, sandbox: Option<Sandbox>) -> Self {
        self.sandbox = sandbox;
        self.replays = true;
        self
    }

    /// Sets the time between asking a hook to end (`SIGTERM`) and killing it (`SIGKILL`). Default:
    /// 250 milliseconds; at most 1 day. It has no effect on Windows, which has no such request.
    pub fn kill_grace(mut self, grace: Duration) -> Self {
        self.kill_grace = grace.min(LONGEST_TIMEOUT);
        self
    }

    /// Sets the number of bytes that are kept of a hook's standard output, and also of its standard error. Default: 1 MiB;
    /// at least 1 byte. Longer output loses its middle: half of the limit is kept from its beginning and half from its end,
    /// and the result is marked as [truncated](crate::HookResult::truncated).
    pub fn output_limit(mut self, bytes: usize) -> Self {
        self.output_limit = bytes.max(1);
        self
    }

    /// Sets the number of characters of each of these texts that an outcome gives to the model: the
    /// [reason](crate::Outcome::reason), also in a [`HookBlockedError`](crate::HookBlockedError), the
    /// [context](crate::Outcome::additional_context) and the [feedback](crate::Outcome::feedback). Default: 10,000. At least
    /// 1. A hook for Codex has its own limit for the context.
    ///
    /// A text that is cut ends with a note such as `[... 1,090,000 more characters]`. The results have the whole text.
    pub fn model_text_limit(mut self, chars: usize) -> Self {
        self.model_text_limit = chars.max(1);
        self
    }

    /// Sets the names of the host. Default: [`AppProfile::default`].
    pub fn profile(mut self, profile: AppProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets whether the user may disable all hooks with `PREFIX_HOOKS_DISABLE=1` in the environment of
    /// the host (`FORGE_HOOKS_DISABLE` for the default profile). Default: true. A host whose guards
    /// must not be disabled sets false. See [`LoadReport::disabled_by`](crate::LoadReport::disabled_by).
    pub fn allow_disable(mut self, allow: bool) -> Self {
        self.allow_disable = allow;
        self
    }

    /// Writes what happens to a trace. It may be that of other executors too.
    pub fn trace(mut self, trace: &Trace) -> Self {
        self.traces.push(trace.clone());
        self
    }

    /// Sets the redactor for the log, and for the [reason](crate::HookResult::reason) of a result. Default: it masks values
    /// that look like secrets, and the values of the hook's own `env`. The other fields of a result have the text as the
    /// hook wrote it. A [`Trace`](crate::Trace) has its own redactor.
    pub fn redactor(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// Sets the events that the host fires, including whether a custom event can block.
    pub(crate) fn vocabulary(mut self, vocabulary: Arc<Vocabulary>) -> Self {
        self.vocabulary = vocabulary;
        self
    }

    /// Sets whose word counts for the hooks above. Default: that of the environment.
    #[cfg(feature = "cli")]
    pub(crate) fn above(mut self, above: Above) -> Self {
        self.above = above;
        self
    }

    /// Builds the executor.
    #[must_use]
    pub fn build(self) -> HookExecutor {
        let capacity = self.queue_capacity;
        // One worker is reserved for guards, unless there is only one.
        let others = (self.workers - 1).max(1);
        // An error means an empty path, or that the current directory cannot be read.
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        let working_dir = self.working_dir.map(absolute);
        let bases = Bases::new(self.sandbox);
        let project = self.project.map(absolute);
        let home = home::home_dir();
        for directory in working_dir.iter().chain(&project).chain(&home) {
            bases.real(directory);
        }
        let mut naming = Naming::new(self.profile, self.inherit);
        match self.above {
            Above::Inherited => {}
            #[cfg(feature = "cli")]
            Above::Ancestors => naming = naming.with_chain(HookChain::of_ancestors()),
            #[cfg(feature = "cli")]
            Above::PassedOn => naming = naming.with_chain(HookChain::passed_on()),
        }
        if self.replays {
            naming = naming.for_replay();
        }
        if let Some(variables) = self.variables {
            naming = naming.with_variables(variables);
        }
        let observers = Observers::default();
        for trace in self.traces {
            observers.add(Arc::new(trace));
        }
        let runner = Runner {
            native: Native::new(naming),
            default_timeout: self.default_timeout,
            working_dir,
            bases,
            kill_grace: self.kill_grace,
            output_limit: self.output_limit,
            residents: Residents::new(),
            observers,
            reporter: Reporter::new(self.redactor),
        };
        let core = Core {
            runner: Arc::new(runner),
            allow_disable: self.allow_disable,
            model_text_limit: self.model_text_limit,
            vocabulary: self.vocabulary,
            pool: Pool::new("forge-hooks", self.workers, others, capacity),
            background: Pool::new("forge-hooks-bg", MOST_BACKGROUND, MOST_BACKGROUND, capacity),
            calls: Calls::default(),
            running: Mutex::default(),
            in_background: CancelToken::new(),
            unseen: Arc::default(),
        };
        HookExecutor::with_parts(self.registry.unwrap_or_default(), core)
    }
}
