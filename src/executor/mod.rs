//! Runs the hooks of an event: on the caller's thread, or on a small pool.
//!
//! Talks to nobody but its caller and the log; reads no files.

mod builder;
mod chain;
mod command;
mod handle;
mod pool;
mod run;

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::events::HookEvent;
use crate::outcome::{HookResult, Outcome};
use crate::registry::HookRegistry;

pub use builder::HookExecutorBuilder;
pub use handle::HookHandle;
pub use pool::SubmitError;

use pool::Pool;
use run::Engine;

/// Runs hooks, one after the other in the order of their registration.
///
/// A cheap handle: clones share the pool. Blocking calls run the hooks on the caller's thread;
/// [`submit`](HookExecutor::submit) runs them on the pool, whose threads start when they are first
/// needed.
///
/// ```
/// use std::sync::Arc;
/// use forge_hooks::{FireOptions, Hook, HookEvent, HookExecutor, HookRegistry};
///
/// let registry = Arc::new(HookRegistry::new());
/// registry.register(Hook::new("tool:pre_execute", "exit 1")?);
/// let executor = HookExecutor::new(registry);
///
/// let event = HookEvent::tool_pre_execute("bash", "ls");
/// let outcome = executor.execute(&event, FireOptions::default());
/// assert!(!outcome.allowed());
/// assert_eq!(outcome.reason(), Some("exited with code 1"));
/// # Ok::<(), forge_hooks::HookError>(())
/// ```
///
/// # Dropping
/// Dropping the last clone never waits: what is queued is cancelled and answered so, and hooks that
/// are running on the pool are ended by their threads (first asked, after
/// [`kill_grace`](HookExecutorBuilder::kill_grace) forced). A host that returns from `main` right
/// after that may leave hooks behind, for its threads end with it; the same holds for the
/// [global](HookExecutor::global) executor, which is never dropped. Wait for the handles that
/// matter.
#[derive(Clone)]
pub struct HookExecutor {
    shared: Arc<Shared>,
}

struct Shared {
    registry: Arc<HookRegistry>,
    engine: Arc<Engine>,
    pool: Pool,
}

/// How an event is fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct FireOptions {
    pub(crate) stop_on_failure: bool,
}

impl Default for FireOptions {
    fn default() -> Self {
        Self {
            stop_on_failure: true,
        }
    }
}

impl FireOptions {
    /// Whether the first hook that does not continue keeps those after it from running; true
    /// unless this says otherwise (FR-4.2).
    pub const fn stop_on_failure(mut self, stop: bool) -> Self {
        self.stop_on_failure = stop;
        self
    }
}

static GLOBAL: OnceLock<HookExecutor> = OnceLock::new();

impl HookExecutor {
    /// An executor with the default settings for the hooks of this registry.
    #[must_use]
    pub fn new(registry: Arc<HookRegistry>) -> Self {
        Self::builder().registry(registry).build()
    }

    /// Makes an executor with settings of its own.
    pub fn builder() -> HookExecutorBuilder {
        HookExecutorBuilder::default()
    }

    /// The executor of the whole program, for [`fire_event`](crate::fire_event) and
    /// [`fire_event_blocking`](crate::fire_event_blocking). Unless [`set_global`] came before its
    /// first use, it has the default settings and uses [`HookRegistry::global`], which is empty
    /// until the host fills it.
    ///
    /// [`set_global`]: HookExecutor::set_global
    #[must_use]
    pub fn global() -> &'static Self {
        GLOBAL.get_or_init(|| Self::new(Arc::clone(HookRegistry::global())))
    }

    /// Makes this the executor of the whole program.
    ///
    /// # Errors
    /// With the executor given back, when there is one already: this was called before, or the
    /// global executor has been used.
    pub fn set_global(executor: Self) -> Result<(), Self> {
        GLOBAL.set(executor)
    }

    /// The registry whose hooks are run.
    #[must_use]
    pub fn registry(&self) -> &Arc<HookRegistry> {
        &self.shared.registry
    }

    /// Runs the hooks for this event on this thread, and returns when they have ended. Takes no
    /// longer than the sum of their timeouts, and for each that is killed the grace and 250 ms.
    ///
    /// Never fails: whatever goes wrong with a hook is in its result.
    pub fn execute(&self, event: &HookEvent, options: FireOptions) -> Outcome {
        Outcome::new(event.event_type.clone(), self.execute_hooks(event, options))
    }

    /// The same as [`execute`](HookExecutor::execute), with the results alone.
    ///
    /// Whoever fires an event that can block must look at each
    /// [`should_continue`](HookResult::should_continue); [`Outcome`] does that by itself.
    #[must_use = "hooks may have blocked the operation"]
    pub fn execute_hooks(&self, event: &HookEvent, options: FireOptions) -> Vec<HookResult> {
        let hooks = self.shared.registry.get_hooks(event);
        let mut results = Vec::with_capacity(hooks.len());
        if !hooks.is_empty() {
            let mut add = |result| results.push(result);
            chain::run(&self.shared.engine, event, &hooks, options, None, &mut add);
        }
        results
    }

    /// Has the hooks for this event run on the pool. Never blocks; starts a thread of the pool
    /// when none is free. The hooks are those that are registered now.
    ///
    /// # Errors
    /// When the queue is full, or no thread can be started; the error gives the event back.
    pub fn submit(
        &self,
        event: impl Into<Arc<HookEvent>>,
        options: FireOptions,
    ) -> Result<HookHandle, SubmitError> {
        let event = event.into();
        let hooks = self.shared.registry.get_hooks(&event);
        if hooks.is_empty() {
            return Ok(HookHandle::finished(event.event_type.clone()));
        }
        self.shared.pool.submit(event, hooks, options)
    }
}

impl fmt::Debug for HookExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookExecutor")
            .field("hooks", &self.shared.registry.len())
            .field("engine", &self.shared.engine)
            .finish_non_exhaustive()
    }
}
