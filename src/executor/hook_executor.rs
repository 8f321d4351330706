//! `HookExecutor`: blocking calls, submitted events, shutdown, and the executor of the whole program.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use super::core::{Core, EventJob, Job, Submitted};
use super::delivery::ResultSender;
use super::dispatch::Dispatch;
use super::error::SubmitError;
use super::handle::{HookHandle, Results};
use super::options::FireOptions;
use super::order::{dedupe, sort};
use super::token::{CancelToken, Run};
use crate::events::{EventType, HookEvent};
use crate::hook::{Compared, Hook};
use crate::logging::{Level, log};
use crate::outcome::{HookResult, Outcome};
use crate::registry::HookRegistry;
use crate::runner::Observations;

static GLOBAL: OnceLock<HookExecutor> = OnceLock::new();

/// Runs hooks one after the other, in the order of their registration.
///
/// Cloning is cheap, and clones share the pool. Blocking calls run the hooks on the caller's
/// thread; [`submit`](HookExecutor::submit) runs them on the pool, whose threads start when they
/// are first needed.
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
/// Call [`shutdown`](HookExecutor::shutdown) first, to lose no result and leave no process running.
///
/// Dropping the last clone never waits. Queued events are cancelled, with results that say so. The threads of the pool ask
/// running hooks to end, and kill them after [`kill_grace`](crate::HookExecutorBuilder::kill_grace). If the host returns from
/// `main` right after the drop, its threads end with it, and hooks may keep running. The
/// [global](HookExecutor::global) executor is never dropped.
#[derive(Clone)]
pub struct HookExecutor {
    shared: Arc<Shared>,
}

struct Shared {
    registry: Arc<HookRegistry>,
    core: Arc<Core>,
}

/// The drop belongs to `Shared` and not to `Core`, which submitted events keep until they have ended.
impl Drop for Shared {
    fn drop(&mut self) {
        self.core.cut();
    }
}

/// The remains of an executor after its last clone was dropped.
pub(crate) struct Remains {
    executor: Weak<Shared>,
    core: Arc<Core>,
}

impl Remains {
    /// Waits for the hooks that are being ended, if no clone is left, and no longer than ending them may take.
    pub(crate) fn wait(&self) {
        if self.executor.strong_count() == 0 {
            self.core.wait_for_the_end(self.core.patience());
        }
    }
}

impl HookExecutor {
    /// Returns the value by which a caller can wait once the executor is dropped.
    pub(crate) fn remains(&self) -> Remains {
        Remains {
            executor: Arc::downgrade(&self.shared),
            core: Arc::clone(self.core()),
        }
    }

    pub(super) fn with_parts(registry: Arc<HookRegistry>, core: Core) -> Self {
        let core = Arc::new(core);
        let listener = Arc::downgrade(&core);
        registry.add_removal_listener(listener);
        Self {
            shared: Arc::new(Shared { registry, core }),
        }
    }

    pub(super) fn core(&self) -> &Arc<Core> {
        &self.shared.core
    }

    /// Returns the token that [`cancel_running`](HookExecutor::cancel_running) would cancel now.
    pub(crate) fn running(&self) -> CancelToken {
        self.core().running()
    }

    /// Returns whether hooks can block the event: the host may have declared that it only notifies.
    pub(crate) fn can_block(&self, event_type: &EventType) -> bool {
        self.core().vocabulary.can_block(event_type)
    }

    /// Returns the outcome of an event of this type without results.
    pub(crate) fn outcome_of(&self, event_type: &EventType) -> Outcome {
        self.core().outcome_of(event_type)
    }

    /// Returns the registry whose hooks this executor runs.
    #[must_use]
    pub fn registry(&self) -> &Arc<HookRegistry> {
        &self.shared.registry
    }

    /// Returns the variable with which the user has disabled all hooks; see [`LoadReport`](crate::LoadReport::disabled_by). It is
    /// read when the executor is built.
    pub(crate) fn disabled_by(&self) -> Option<&str> {
        let core = self.core();
        let variable = core.runner.native.naming().disabled_by();
        variable.filter(|_| core.allow_disable)
    }

    /// Returns the value of a variable from which hooks inherit.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        self.core().runner.native.naming().variable(name)
    }

    /// Returns the hooks whose pattern and conditions match this event, in the order in which they run.
    ///
    /// First come hooks that redact a tool's output ([`Withhold`](crate::FailurePolicy::Withhold)), then other hooks of
    /// hooks.json and of the host, then the hooks of each other agent, of which identical ones are returned once. A hook may
    /// still not run: because a hook before it blocks, or because the user has [disabled](crate::LoadReport::disabled_by) all hooks.
    ///
    /// ```
    /// use forge_hooks::{Hook, HookEvent, HookExecutor};
    ///
    /// let executor = HookExecutor::builder().build();
    /// let sudo = Hook::new("tool:*", "./guard.sh")?.with_when("/tool_args/command", "sudo *")?;
    /// executor.registry().register(sudo);
    /// let event = HookEvent::tool_pre_execute("bash", serde_json::json!({"command": "ls"}));
    /// assert!(executor.hooks_for(&event).is_empty());
    /// # Ok::<(), forge_hooks::HookError>(())
    /// ```
    #[must_use]
    pub fn hooks_for(&self, event: &HookEvent) -> Vec<Arc<Hook>> {
        let hooks = self.hooks_of(event);
        let matching = self.matching(event, &hooks);
        let matching = matching.into_iter().map(|index| Arc::clone(&hooks[index]));
        dedupe(&matching.collect::<Vec<_>>())
    }

    /// Returns the hooks whose pattern matches, in their order.
    pub(crate) fn hooks_of(&self, event: &HookEvent) -> Vec<Arc<Hook>> {
        let mut hooks = self.shared.registry.get_hooks(event);
        sort(&event.event_type, &mut hooks);
        hooks
    }

    /// Returns the indexes of the hooks whose conditions this event meets.
    fn matching(&self, event: &HookEvent, hooks: &[Arc<Hook>]) -> Vec<usize> {
        let can_block = self.can_block(&event.event_type);
        let at = Compared::new(event, self.working_dir(), hooks);
        let is_met = |index: &usize| hooks[*index].is_when_met(&at, can_block);
        (0..hooks.len()).filter(is_met).collect()
    }

    /// Returns the hooks that may run, with the index of the first one that matches. None if no hook runs, since then none can
    /// change the event either.
    fn hooks_to_run(&self, event: &HookEvent) -> Option<(Vec<Arc<Hook>>, usize)> {
        let mut hooks = self.hooks_of(event);
        if hooks.is_empty() {
            return None;
        }
        if self.disabled_by().is_some() {
            self.report_disabled(event, &hooks);
            hooks.retain(|hook| self.disabling(hook).is_none());
        }
        let can_block = self.can_block(&event.event_type);
        let at = Compared::new(event, self.working_dir(), &hooks);
        let first = hooks
            .iter()
            .position(|hook| hook.is_when_met(&at, can_block))?;
        drop(at);
        Some((hooks, first))
    }

    /// Logs that the user has disabled hooks that would run.
    fn report_disabled(&self, event: &HookEvent, hooks: &[Arc<Hook>]) {
        let matching = self.matching(event, hooks).into_iter();
        let disabled = matching.filter(|index| self.disabling(&hooks[*index]).is_some());
        let (count, name) = (disabled.count(), &event.event_type);
        let Some(variable) = self.disabled_by().filter(|_| count > 0) else {
            return;
        };
        let level = if self.can_block(name) {
            Level::Warn
        } else {
            Level::Debug
        };
        log!(
            level,
            "{count} hooks on {name} were not run, because `{variable}` is set"
        );
    }

    /// Returns the variable that disables this hook, if the user has set it.
    pub(super) fn disabling(&self, hook: &Hook) -> Option<&str> {
        self.disabled_by().filter(|_| !hook.is_system())
    }

    /// Returns the working directory of hooks that set none and come from no project; none if it is the host's.
    pub(crate) fn working_dir(&self) -> Option<&Path> {
        self.core().runner.working_dir.as_deref()
    }

    /// Returns whether a hook would redact the tool output in this event.
    pub(crate) fn redacts_output(&self, event: &HookEvent) -> bool {
        let runs = |hook: &Hook| self.disabling(hook).is_none();
        let hooks = self.hooks_for(event);
        hooks
            .iter()
            .any(|hook| hook.redacts(&event.event_type) && runs(hook))
    }

    /// Runs the hooks for this event on this thread, and returns when they have ended. Takes at
    /// most the sum of their timeouts, plus the grace period and 250 ms for each hook that is
    /// killed.
    ///
    /// Never fails: the failure of a hook is in its result. [`Hooks::execute`](crate::Hooks::execute) is the same with
    /// default options.
    pub fn execute(&self, event: &HookEvent, options: FireOptions) -> Outcome {
        let core = self.core();
        let chosen = self.hooks_to_run(event);
        if chosen.is_none() && !core.runner.observers.want_events() {
            return core.outcome_of(&event.event_type);
        }
        let event = Arc::new(event.clone());
        let (hooks, first) = chosen.unwrap_or_default();
        let outcome = self.run_hooks(&event, &options, (&hooks, first));
        core.report_event(&event, &options, &hooks, &outcome);
        outcome
    }

    /// Runs the hooks as [`execute`](HookExecutor::execute) does, but returns only the results.
    ///
    /// A host that fires an event that can be blocked must check each
    /// [`should_continue`](HookResult::should_continue); [`Outcome`] does that itself.
    #[must_use = "hooks may have blocked the operation"]
    pub fn execute_hooks(&self, event: &HookEvent, options: FireOptions) -> Vec<HookResult> {
        self.execute(event, options).into_results()
    }

    fn run_hooks(
        &self,
        event: &Arc<HookEvent>,
        options: &FireOptions,
        (hooks, first): (&[Arc<Hook>], usize),
    ) -> Outcome {
        let core = self.core();
        let outcome = core.outcome_of(&event.event_type);
        if hooks.is_empty() {
            return outcome;
        }
        let _call = core.calls.begin();
        let run = Run::new(
            [Some(core.running()), options.token.clone()]
                .into_iter()
                .flatten(),
        );
        let firing = core.firing(Arc::clone(event), options, run.cancel());
        let mut results = Vec::with_capacity(hooks.len());
        let mut send = |result| results.push(result);
        let change = Dispatch::new(core, firing, hooks, options, &mut send).run(first);
        outcome.with_results(results).with_change(change)
    }

    /// Runs the hooks for this event on the pool. Never blocks; starts a thread of the pool if none
    /// is free. The hooks are those that are registered now. If the conditions ([`Hook::with_when`]) of none match, which is tested on
    /// this thread, the handle has ended.
    ///
    /// Events that can be blocked have priority over events that cannot. Events that cannot be blocked run
    /// one after the other within a session, see [`FireOptions::ordered_by`]; all others run
    /// concurrently.
    ///
    /// # Errors
    /// If there are hooks for the event, and the queue is full, no thread can be started, or the
    /// executor has been shut down. The error returns the event.
    pub fn submit(
        &self,
        event: impl Into<Arc<HookEvent>>,
        options: FireOptions,
    ) -> Result<HookHandle, SubmitError> {
        let event = event.into();
        let core = self.core();
        let outcome = core.outcome_of(&event.event_type);
        let Some((hooks, first)) = self.hooks_to_run(&event) else {
            core.report_event(&event, &options, &[], &outcome);
            return Ok(HookHandle::ended(outcome));
        };
        let keeps = core.runner.observers.want_events();
        let unseen = Arc::clone(&core.unseen);
        let (sender, receiver) = ResultSender::new(hooks.len(), keeps, unseen);
        let channel = Arc::clone(&sender.channel);
        let token = CancelToken::new();
        let tokens = [Some(core.running()), options.token.clone()]
            .into_iter()
            .flatten();
        let run = Run::of_event(tokens.collect(), token.clone(), Arc::clone(&channel));
        let priority = options.priority_of(&event, outcome.can_block());
        let submitted = Submitted::now(core, Arc::clone(&event), Arc::clone(&run));
        let job = Box::new(EventJob {
            submitted,
            hooks,
            first,
            options,
            sender,
        });
        match Job::Event(job).submit(core, priority) {
            Ok(waiting) => {
                run.waits_in(waiting);
                let results = Results::Sent {
                    token,
                    channel,
                    receiver,
                };
                Ok(HookHandle::new(outcome, results))
            }
            Err(refusal) => Err(SubmitError::new(event, refusal)),
        }
    }

    /// Submits an event, as [`submit`](HookExecutor::submit) does. A refused event has a handle that has ended, and blocks.
    pub(crate) fn submit_or_refuse(
        &self,
        event: impl Into<Arc<HookEvent>>,
        options: FireOptions,
    ) -> HookHandle {
        self.submit(event, options).unwrap_or_else(|error| {
            HookHandle::refused(self.outcome_of(&error.event().event_type), error)
        })
    }

    /// Keeps lines for the user that no caller gets otherwise.
    pub(crate) fn keep_for_user(&self, lines: Vec<String>) {
        self.core().unseen.keep(lines);
    }

    /// Returns the failures that no caller has seen, once; see [`Hooks::take_failures`](crate::Hooks::take_failures).
    pub(crate) fn take_failures(&self) -> Vec<String> {
        self.core().unseen.take()
    }

    /// Returns the observations of this executor from now on: hooks that start, end or are dropped, and events that have their
    /// outcome. Each call returns a channel of its own, which is [bounded](Observations). Drop it to end it.
    ///
    /// ```
    /// use forge_hooks::executor::Observation;
    /// use forge_hooks::{FireOptions, Hook, HookEvent, HookExecutor};
    ///
    /// let executor = HookExecutor::builder().build();
    /// executor.registry().register(Hook::new("session:start", "exit 3")?);
    /// let observations = executor.observations();
    /// let outcome = executor.execute(&HookEvent::session_start("s1"), FireOptions::default());
    /// assert!(outcome.allowed(), "what has happened cannot be blocked");
    /// let mut failed = 0;
    /// while let Some(observation) = observations.try_recv() {
    ///     if let Observation::Ended(_, result) = observation {
    ///         failed += usize::from(!result.success());
    ///     }
    /// }
    /// assert_eq!((failed, observations.lost()), (1, 0));
    /// # Ok::<(), forge_hooks::HookError>(())
    /// ```
    pub fn observations(&self) -> Observations {
        self.core().runner.observers.open()
    }

    /// Cancels the blocking calls of all threads and the submitted events that run or wait now, as
    /// [`HookHandle::cancel`] does, without waiting. A program with a prompt calls it at Ctrl-C. Later events run, and background
    /// hooks that were started continue. An action of a [`Lifecycle`](crate::Lifecycle) whose question is open is cancelled too:
    /// a later yes does not count.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use forge_hooks::{FailureKind, FireOptions, Hook, HookEvent, HookExecutor};
    ///
    /// let executor = HookExecutor::builder().build();
    /// executor.registry().register(Hook::new("tool:*", "sleep 60")?);
    /// let event = || HookEvent::tool_pre_execute("bash", "ls");
    /// let handle = executor.submit(event(), FireOptions::new())?;
    /// executor.cancel_running();
    /// assert_eq!(handle.wait().results()[0].failure(), Some(FailureKind::Cancelled));
    ///
    /// executor.registry().clear();
    /// executor.registry().register(Hook::new("tool:*", "exit 0")?);
    /// assert!(executor.execute(&event(), FireOptions::new()).allowed());
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel_running(&self) {
        self.core().cancel_running();
    }

    /// Waits for submitted events and the blocking calls of other threads, and cancels what still runs at the deadline, which
    /// is counted from now. Further submitted events are refused. With a deadline of zero, it kills all hooks, as a handler of
    /// Ctrl-C needs.
    ///
    /// Returns at the latest after the deadline, the [grace period](crate::HookExecutorBuilder::kill_grace) and one second.
    /// Returns true if everything ended by itself. False: something was cancelled, or a thread hangs in a callback of the host,
    /// or on a file system that does not answer.
    ///
    /// This affects all clones. Later blocking calls still work, but without background hooks.
    pub fn shutdown(&self, deadline: Duration) -> bool {
        self.core().shut_down(deadline)
    }

    /// Returns the executor of the whole program, for [`fire_event`](crate::fire_event) and
    /// [`fire_event_blocking`](crate::fire_event_blocking). Unless [`set_global`] was called before
    /// its first use, it has the default settings and uses [`HookRegistry::global`], which is empty
    /// until the host registers hooks.
    ///
    /// [`set_global`]: HookExecutor::set_global
    #[must_use]
    pub fn global() -> &'static Self {
        GLOBAL.get_or_init(|| Self::new(Arc::clone(HookRegistry::global())))
    }

    /// Makes this the executor of the whole program.
    ///
    /// # Errors
    /// Returns the executor if there already is a global one: this was called before, or the global
    /// executor has been used.
    pub fn set_global(executor: Self) -> Result<(), Self> {
        GLOBAL.set(executor)
    }
}

impl fmt::Debug for HookExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookExecutor")
            .field("hooks", &self.shared.registry.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::FailurePolicy;

    /// The results of a submitted event are matched with its hooks by their order.
    #[test]
    fn hooks_are_in_the_order_of_their_runs() {
        let executor = HookExecutor::builder().build();
        let hook = |command| Hook::new("tool:post_execute", command).unwrap();
        let redacts = hook("last").with_on_failure(FailurePolicy::Withhold);
        executor.registry().register(hook("first"));
        executor.registry().register(redacts.clone());
        let event = HookEvent::tool_post_execute("bash", "ls", "");
        assert_eq!(*executor.hooks_for(&event)[0], redacts);
    }
}
