//! The observations of an executor: each hook that starts, ends, or is dropped, and each event that has its outcome.
//!
//! A host reads observations from a bounded channel, and a trace takes notes. A hook waits for neither, and no code of a host runs
//! on a hook's thread.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use serde_json::Value;

use crate::entry::named;
use crate::events::HookEvent;
use crate::hook::Hook;
use crate::outcome::{HookResult, Outcome};
use crate::sync::Mutex;

/// The most observations that wait in a channel.
const MOST: usize = 1024;

/// The most bytes of the observations that wait in a channel.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The bytes of an observation besides its values.
const FIXED: usize = 1024;

/// An observation of a hook or an event; see [`HookExecutor::observations`](crate::HookExecutor::observations).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Observation {
    /// A hook is about to run. [`Ended`](Self::Ended) follows, unless it is [lost](Observations::lost).
    Started(HookRun),
    /// A hook has ended, or could not run. Background hooks are reported too, although they have no result in an
    /// [`Outcome`](crate::Outcome).
    Ended(HookRun, Box<HookResult>),
    /// A hook of an event that was fired will not run. A hook that does not run because one before it failed is not reported; the
    /// outcome shows it. The reason is `cancelled` (before the hook's turn, or the executor was dropped), `busy` (the queue is
    /// full), `no_thread` (the system cannot start one) or `shut_down`.
    Dropped(HookRun, &'static str),
    /// An event has its outcome, whether it has hooks or not. An event that is not taken has none.
    Fired {
        /// The event as the host has fired it: if it was submitted in an `Arc`, this very one.
        event: Arc<HookEvent>,
        /// The hooks whose patterns match the event, including those that have not run.
        hooks: Vec<Arc<Hook>>,
        /// The joint decision of its hooks.
        outcome: Box<Outcome>,
    },
}

/// One hook on one event.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookRun {
    /// The event as hooks before this one have left it.
    pub event: Arc<HookEvent>,
    /// The event as the host has fired it: if it was submitted in an `Arc`, this very one.
    pub fired: Arc<HookEvent>,
    /// The hook. [`Hook::background`] says whether it runs in the background.
    pub hook: Arc<Hook>,
    /// True if hooks can block the event, as [`Outcome::can_block`](crate::Outcome::can_block).
    pub can_block: bool,
    /// The time that the event, or the background hook, has waited for a thread. Zero for a blocking call.
    pub queued: Duration,
    /// True if the hook stands before one that has changed the input, and runs again on the final input.
    pub is_second_run: bool,
}

/// One event with its outcome, and the way in which the host fires it.
#[derive(Debug, Clone)]
pub(crate) struct FiredEvent {
    pub(crate) event: Arc<HookEvent>,
    pub(crate) hooks: Vec<Arc<Hook>>,
    pub(crate) outcome: Outcome,
    pub(crate) how: How,
}

/// The way in which a host fires an event: the parts of its [`FireOptions`](crate::FireOptions), and of its executor, that
/// decide together with the hooks.
// Each is a switch of its own.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct How {
    /// The host asks its user: [`handles_ask`](crate::FireOptions::handles_ask).
    pub(crate) handles_ask: bool,
    /// The host applies changes: [`applies_updates`](crate::FireOptions::applies_updates).
    pub(crate) applies_updates: bool,
    /// A failure skips the hooks after it: [`stop_on_failure`](crate::FireOptions::stop_on_failure).
    pub(crate) stop_on_failure: bool,
    /// The user has [disabled](crate::LoadReport::disabled_by) the hooks.
    pub(crate) is_disabled: bool,
    /// The event is one that the host has declared, or that this crate knows.
    pub(crate) is_known: bool,
}

named! {
    /// The reason why a hook did not run.
    pub(crate) enum DropReason {
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

/// The observations of an executor, from [`HookExecutor::observations`](crate::HookExecutor::observations).
///
/// They are for people and statistics: at most 1,024 of them wait, with at most 16 MiB, and further ones are lost, since no hook
/// waits for a reader. An audit that must not lose a line is a hook.
pub struct Observations {
    received: Receiver<Observation>,
    counts: Arc<Counts>,
}

impl Observations {
    /// Returns the next observation, if one waits.
    #[must_use]
    pub fn try_recv(&self) -> Option<Observation> {
        self.received.try_recv().ok().map(|next| self.taken(next))
    }

    /// Returns the next observation. None if none comes within this time, or if the executor was dropped and nothing of it runs.
    #[must_use]
    pub fn recv_timeout(&self, timeout: Duration) -> Option<Observation> {
        let next = self.received.recv_timeout(timeout).ok();
        next.map(|next| self.taken(next))
    }

    /// Returns the number of observations that were lost so far.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.counts.lost.load(Ordering::Relaxed)
    }

    /// Returns the channel, to wait for it beside others. What it gives must be passed to [`taken`](Self::taken).
    #[cfg(feature = "cli")]
    pub(crate) fn channel(&self) -> &Receiver<Observation> {
        &self.received
    }

    pub(crate) fn taken(&self, next: Observation) -> Observation {
        self.counts
            .waiting
            .fetch_sub(size(&next), Ordering::Relaxed);
        next
    }
}

impl fmt::Debug for Observations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observations")
            .field("lost", &self.lost())
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Counts {
    lost: AtomicU64,
    /// The bytes of the observations that wait.
    waiting: AtomicUsize,
}

/// Receives what happens, on the thread on which it happens: it must not wait.
pub(crate) trait Observe: RefUnwindSafe + UnwindSafe + Send + Sync {
    /// Called for each hook.
    fn observe(&self, observation: &Observation);

    /// Called for each event that has its outcome, if the observer [wants events](Self::wants_events).
    fn fired(&self, fired: &FiredEvent);

    /// Returns whether events are observed too.
    fn wants_events(&self) -> bool;

    /// Returns whether what it receives is read.
    fn is_open(&self) -> bool {
        true
    }
}

/// The writing end of [`Observations`].
struct Channel {
    sender: Sender<Observation>,
    counts: Arc<Counts>,
    is_closed: std::sync::atomic::AtomicBool,
}

impl Observe for Channel {
    fn observe(&self, observation: &Observation) {
        let bytes = size(observation);
        let waiting = self.counts.waiting.fetch_add(bytes, Ordering::Relaxed);
        let fits = waiting + bytes <= MOST_BYTES;
        let sent = fits.then(|| self.sender.try_send(observation.clone()));
        if matches!(sent, Some(Ok(()))) {
            return;
        }
        let is_closed = matches!(sent, Some(Err(error)) if error.is_disconnected());
        self.is_closed.fetch_or(is_closed, Ordering::Relaxed);
        self.counts.waiting.fetch_sub(bytes, Ordering::Relaxed);
        self.counts.lost.fetch_add(1, Ordering::Relaxed);
    }

    fn fired(&self, fired: &FiredEvent) {
        self.observe(&Observation::Fired {
            event: Arc::clone(&fired.event),
            hooks: fired.hooks.clone(),
            outcome: Box::new(fired.outcome.clone()),
        });
    }

    fn wants_events(&self) -> bool {
        true
    }

    fn is_open(&self) -> bool {
        !self.is_closed.load(Ordering::Relaxed)
    }
}

/// Returns the approximate memory of an observation. Observations of one event share it, and each counts it.
fn size(observation: &Observation) -> usize {
    let of_event = |event: &HookEvent| event.data.values().map(size_of).sum::<usize>();
    let of_run = |run: &HookRun| {
        let is_changed = !Arc::ptr_eq(&run.event, &run.fired);
        let of_fired = is_changed.then(|| of_event(&run.fired));
        of_event(&run.event) + of_fired.unwrap_or_default()
    };
    // An answer, and output that is not UTF-8, is kept twice.
    let of_result = |result: &HookResult| {
        FIXED + 2 * (result.stdout_bytes().len() + result.stderr_bytes().len())
    };
    FIXED
        + match observation {
            Observation::Started(run) | Observation::Dropped(run, _) => of_run(run),
            Observation::Ended(run, result) => of_run(run) + of_result(result),
            Observation::Fired {
                event,
                hooks,
                outcome,
            } => {
                let (results, changed) = (outcome.results(), outcome.changed_event());
                let of_results: usize = results.iter().map(of_result).sum();
                let of_hooks = hooks.len() * std::mem::size_of::<Arc<Hook>>();
                // The change holds the new members of the input a second time.
                let of_change = changed.map(|event| 2 * of_event(event));
                of_event(event) + of_change.unwrap_or_default() + of_results + of_hooks
            }
        }
}

fn size_of(value: &Value) -> usize {
    let of_values = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size_of).sum(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| key.len() + size_of(value))
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    of_values + std::mem::size_of::<Value>()
}

/// All that observe an executor.
#[derive(Default)]
pub(crate) struct Observers(Mutex<Vec<Arc<dyn Observe>>>);

impl Observers {
    pub(crate) fn add(&self, observer: Arc<dyn Observe>) {
        let mut all = self.0.lock();
        all.retain(|observer| observer.is_open());
        all.push(observer);
    }

    /// Adds a channel, and returns its reading end.
    pub(crate) fn open(&self) -> Observations {
        let (sender, received) = bounded(MOST);
        let counts = Arc::<Counts>::default();
        self.add(Arc::new(Channel {
            sender,
            counts: Arc::clone(&counts),
            is_closed: false.into(),
        }));
        Observations { received, counts }
    }

    /// Returns whether events are observed.
    pub(crate) fn want_events(&self) -> bool {
        self.0
            .lock()
            .iter()
            .any(|observer| observer.is_open() && observer.wants_events())
    }

    /// Passes on an observation of a hook, which is made only if something observes.
    pub(crate) fn observe(&self, observation: impl FnOnce() -> Observation) {
        let all = self.0.lock().clone();
        if all.is_empty() {
            return;
        }
        let observation = observation();
        for observer in all {
            observer.observe(&observation);
        }
    }

    /// Passes on an event that has its outcome, which is made only if something wants it.
    pub(crate) fn fired(&self, fired: impl FnOnce() -> FiredEvent) {
        let mut all = self.0.lock().clone();
        all.retain(|observer| observer.wants_events());
        if all.is_empty() {
            return;
        }
        let fired = fired();
        for observer in all {
            observer.fired(&fired);
        }
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} observers", self.0.lock().len())
    }
}
