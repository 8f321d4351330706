//! Observers: their methods are called for each hook that starts, ends, or is dropped, and for each event that has its
//! outcome.
//!
//! Catches their panics. Does not know how a hook is run.

use std::fmt;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::entry::named;
use crate::events::HookEvent;
use crate::hook::Hook;
use crate::logging::error;
use crate::outcome::{HookResult, Outcome};
use crate::whereabouts::Where;

/// Observes an executor's hooks; see [`HookExecutorBuilder::observer`].
///
/// Background hooks are reported too, although they have no result in an [`Outcome`](crate::Outcome).
///
/// It is called on the thread that runs or drops the hook, and the hook waits for it. So an observer should
/// only record what happened, and do longer work on another thread. A panic is caught and logged as an
/// error; it does not affect the hook or other observers. (A host that is built with `panic = "abort"` ends
/// in any case.)
///
/// An event that an observer fires is refused, blocks if it can be blocked, and the log says so; a wait on a thread that
/// runs an observer ends with an error. So an observer that needs an event sends it to another thread of the host, which
/// fires it. The same holds for the host's logger, where a run calls it. As long as an observer holds a
/// [`HookExecutor`](crate::HookExecutor), the executor is not dropped.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use std::sync::Arc;
/// use forge_hooks::executor::HookRun;
/// use forge_hooks::{FireOptions, Hook, HookEvent, HookExecutor, HookResult, Observer};
///
/// #[derive(Default)]
/// struct Failures(AtomicUsize);
///
/// impl Observer for Failures {
///     fn on_finish(&self, _run: &HookRun<'_>, result: &HookResult) {
///         if !result.success() {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
///
/// let failures = Arc::new(Failures::default());
/// let executor = HookExecutor::builder().observer(Arc::clone(&failures)).build();
/// executor.registry().register(Hook::new("session:start", "exit 3")?);
/// let outcome = executor.execute(&HookEvent::session_start("s1"), FireOptions::default());
/// assert!(outcome.allowed(), "what has happened cannot be blocked");
/// assert_eq!(failures.0.load(Ordering::Relaxed), 1);
/// # Ok::<(), forge_hooks::HookError>(())
/// ```
///
/// [`HookExecutorBuilder::observer`]: crate::HookExecutorBuilder::observer
pub trait Observer: Send + Sync {
    /// A hook is about to run. Always followed by [`on_finish`](Observer::on_finish).
    fn on_start(&self, run: &HookRun<'_>) {
        let _ = run;
    }

    /// Called when a hook has ended, or could not run.
    fn on_finish(&self, run: &HookRun<'_>, result: &HookResult) {
        let _ = (run, result);
    }

    /// Called when a hook for an event that was fired will not run.
    ///
    /// Not called for hooks that did not run because a hook before them failed (the outcome shows these), nor
    /// for a drop that an observer causes during `on_drop` (which is only logged).
    fn on_drop(&self, run: &HookRun<'_>, reason: DropReason) {
        let _ = (run, reason);
    }

    /// Called when an event has its outcome, whether it has hooks or not, if [`wants_events`](Observer::wants_events)
    /// returns true.
    ///
    /// The call is on the thread that fires the event, or runs its hooks, before the host gets the outcome. An event that
    /// [`submit`](crate::HookExecutor::submit) refuses, and one that an observer fires, have no outcome, so this is not
    /// called for them.
    fn on_event(&self, fired: &FiredEvent<'_>) {
        let _ = fired;
    }

    /// Returns whether [`on_event`](Observer::on_event) is called. This is asked once, when the observer is added. Default:
    /// false. An executor without observers that want events makes no call and no copy of their results.
    fn wants_events(&self) -> bool {
        false
    }
}

/// The way in which a host fires an event: the parts of its [`FireOptions`](crate::FireOptions), and of its executor, that
/// decide together with the hooks.
// Each is a switch of its own.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct How {
    /// The host asks its user: [`handles_ask`](crate::FireOptions::handles_ask).
    pub handles_ask: bool,
    /// The host applies changes: [`applies_updates`](crate::FireOptions::applies_updates).
    pub applies_updates: bool,
    /// A failure skips the hooks after it: [`stop_on_failure`](crate::FireOptions::stop_on_failure).
    pub stop_on_failure: bool,
    /// The user has [disabled](crate::HookExecutor::disabled_by) the hooks.
    pub is_disabled: bool,
    /// The event is one that the host has declared, or that this crate knows.
    pub is_known: bool,
}

/// Lets the host share an observer.
impl<T: Observer + ?Sized> Observer for Arc<T> {
    fn on_start(&self, run: &HookRun<'_>) {
        (**self).on_start(run);
    }

    fn on_finish(&self, run: &HookRun<'_>, result: &HookResult) {
        (**self).on_finish(run, result);
    }

    fn on_drop(&self, run: &HookRun<'_>, reason: DropReason) {
        (**self).on_drop(run, reason);
    }

    fn on_event(&self, fired: &FiredEvent<'_>) {
        (**self).on_event(fired);
    }

    fn wants_events(&self) -> bool {
        (**self).wants_events()
    }
}

/// One event with its outcome, as an [`Observer`] sees it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FiredEvent<'a> {
    /// The event as the host has fired it.
    pub event: &'a HookEvent,
    /// The hooks of the event, including those that have not run.
    pub hooks: &'a [Arc<Hook>],
    /// The joint decision of its hooks.
    pub outcome: &'a Outcome,
    /// The way in which the host fires it.
    pub how: How,
    /// The host's own number of the event: [`FireOptions::tag`](crate::FireOptions::tag).
    pub tag: Option<u64>,
}

/// One hook on one event, as an [`Observer`] sees it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct HookRun<'a> {
    /// The event, with the tool's output as hooks before this one have changed it.
    pub event: &'a HookEvent,
    /// The event as the host has fired it: if it was submitted in an `Arc`, this very one.
    pub fired: &'a HookEvent,
    /// The hook. [`Hook::background`] says whether it runs in the background.
    pub hook: &'a Arc<Hook>,
    /// True if hooks can block the event, as [`Outcome::can_block`](crate::Outcome::can_block).
    pub can_block: bool,
    /// The time that the event, or the background hook, has waited for a thread. Zero for a blocking call.
    pub queued: Duration,
    /// The host's own number of the event: [`FireOptions::tag`](crate::FireOptions::tag).
    pub tag: Option<u64>,
    /// True if the hook stands before one that has changed the input, and runs again on the final input.
    pub is_second_run: bool,
}

named! {
    /// The reason why a hook did not run.
    #[non_exhaustive]
    pub enum DropReason {
        /// The hook's event was cancelled before the hook's turn, or its executor was dropped.
        Cancelled = "cancelled",
        /// The queue was full. The host may fire the event again.
        Busy = "busy",
        /// The pool has no thread, and the system cannot start one.
        NoThread = "no_thread",
        /// The executor has been shut down.
        ShutDown = "shut_down",
    }
}

impl DropReason {
    /// The reason as text for the log.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled before its turn",
            Self::Busy => "queue is full",
            Self::NoThread => "cannot start a thread",
            Self::ShutDown => "executor has been shut down",
        }
    }
}

/// All observers of an executor.
#[derive(Clone, Default)]
pub(crate) struct Observers {
    all: Vec<Arc<dyn Observer>>,
    of_events: Vec<Arc<dyn Observer>>,
}

// Hosts hold an executor while they catch the panic of a tool. That panic reaches no observer: observers are called only
// within `each`, which catches their own panics and holds no lock.
impl UnwindSafe for Observers {}
impl RefUnwindSafe for Observers {}

impl Observers {
    pub(crate) fn add(&mut self, observer: impl Observer + 'static) {
        let observer: Arc<dyn Observer> = Arc::new(observer);
        if observer.wants_events() {
            self.of_events.push(Arc::clone(&observer));
        }
        self.all.push(observer);
    }

    /// Returns whether an observer wants the events that are fired here. An event that an observer fires has no outcome.
    pub(crate) fn want_events(&self) -> bool {
        !self.of_events.is_empty() && Where::may_fire()
    }

    pub(crate) fn start(&self, run: &HookRun<'_>) {
        each(&self.all, |observer| observer.on_start(run));
    }

    pub(crate) fn finish(&self, run: &HookRun<'_>, result: &HookResult) {
        each(&self.all, |observer| observer.on_finish(run, result));
    }

    pub(crate) fn dropped(&self, run: &HookRun<'_>, reason: DropReason) {
        each(&self.all, |observer| observer.on_drop(run, reason));
    }

    /// Reports an event. An event that an observer fires meanwhile is refused.
    pub(crate) fn fired(&self, fired: &FiredEvent<'_>) {
        let _entered = Where::Run.enter();
        each(&self.of_events, |observer| observer.on_event(fired));
    }
}

fn each(observers: &[Arc<dyn Observer>], what: impl Fn(&dyn Observer)) {
    for observer in observers {
        if catch_unwind(AssertUnwindSafe(|| what(&**observer))).is_err() {
            error!("an observer of hooks panicked; the hook is not affected");
        }
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} observers", self.all.len())
    }
}
