//! Delivers the results of a submitted event to its host: through a handle, a channel or a callback.
//!
//! Does not know how a hook is run, and does not know the queue.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::events::EventKind;
use crate::logging::error;
use crate::outcome::{HookResult, Outcome};
use crate::process::Cancel;

/// The host's end of a submitted job.
#[derive(Clone)]
pub(super) struct JobEnd {
    pub(super) cancel: Arc<Cancel>,
    pub(super) progress: Arc<Progress>,
    /// Nothing is sent. It is disconnected after the last result, which wakes all that wait.
    pub(super) done: Receiver<Infallible>,
}

/// What a callback receives for a submitted event; see
/// [`HookExecutor::submit_with`](crate::HookExecutor::submit_with).
#[derive(Debug)]
#[non_exhaustive]
pub enum HookUpdate<'a> {
    /// A hook has ended.
    Result(&'a HookResult),
    /// All hooks have ended. Sent exactly once, and always last.
    Done(Outcome),
}

/// Called for each result as it arrives, and at the end.
pub(super) type Callback = Box<dyn FnMut(HookUpdate<'_>) + Send>;

/// The engine's end of a submitted job: where the results go.
pub(super) struct ResultSink {
    count: usize,
    progress: Arc<Progress>,
    callback: Option<CallbackState>,
    /// Nothing is sent. Dropping it at the end wakes all that wait for [`JobEnd::done`].
    done: Option<Sender<Infallible>>,
}

/// A callback, and what it needs for the outcome.
pub(super) struct CallbackState {
    pub(super) callback: Callback,
    pub(super) kind: EventKind,
    pub(super) results: Vec<HookResult>,
}

impl ResultSink {
    /// Creates both ends for at most this many results.
    pub(super) fn new(most: usize, callback: Option<CallbackState>) -> (Self, JobEnd) {
        let (sender, done) = bounded(0);
        let progress = Arc::new(Progress::new(most));
        let end = JobEnd {
            cancel: Arc::default(),
            progress: Arc::clone(&progress),
            done,
        };
        let sink = Self {
            count: 0,
            progress,
            callback,
            done: Some(sender),
        };
        (sink, end)
    }

    /// The number of results so far.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Whether the end has not been reported yet.
    pub(super) fn is_open(&self) -> bool {
        self.done.is_some()
    }

    /// Drops further results, and does not report the end.
    pub(super) fn discard(&mut self) {
        self.callback = None;
        self.done = None;
    }

    pub(super) fn push(&mut self, result: HookResult) {
        self.count += 1;
        match &mut self.callback {
            None => self.progress.push(result),
            Some(state) => {
                let goes_on = call(&mut state.callback, HookUpdate::Result(&result));
                state.results.push(result);
                if !goes_on {
                    self.callback = None;
                }
            }
        }
    }

    /// Reports the end. All results are delivered first, so that a thread woken by the end finds
    /// them.
    pub(super) fn close(&mut self) {
        if let Some(mut state) = self.callback.take() {
            let outcome = Outcome::of(state.kind, state.results);
            call(&mut state.callback, HookUpdate::Done(outcome));
        }
        let waker = self.progress.close();
        self.done = None;
        if let Some(waker) = waker {
            wake(waker);
        }
    }
}

/// Calls the callback; false if it panicked and must not be called again.
fn call(callback: &mut Callback, update: HookUpdate<'_>) -> bool {
    let called = catch_unwind(AssertUnwindSafe(|| callback(update)));
    if called.is_err() {
        error!("the callback of a submitted event panicked; it is not called again");
    }
    called.is_ok()
}

/// Wakes a task. A waker is code of the host and may panic.
fn wake(waker: Waker) {
    if catch_unwind(AssertUnwindSafe(|| waker.wake())).is_err() {
        error!("the waker of a submitted event panicked");
    }
}

/// The results of a job so far, and whether there will be more.
pub(super) struct Progress {
    /// The most results there can be.
    most: usize,
    finished: AtomicBool,
    delivery: Mutex<Delivery>,
}

enum Delivery {
    Kept {
        results: Vec<HookResult>,
        /// The waker of the task that awaits the results.
        waker: Option<Waker>,
    },
    /// A channel with capacity for all results, so that sending never blocks.
    To(Sender<HookResult>),
    Dropped,
}

impl Progress {
    fn new(most: usize) -> Self {
        Self {
            most,
            finished: AtomicBool::new(false),
            delivery: Mutex::new(Delivery::Kept {
                results: Vec::new(),
                waker: None,
            }),
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Acquire)
    }

    /// Takes the results that have arrived and have not been taken.
    pub(super) fn take(&self) -> Vec<HookResult> {
        match &mut *self.lock() {
            Delivery::Kept { results, .. } => std::mem::take(results),
            Delivery::To(_) | Delivery::Dropped => Vec::new(),
        }
    }

    /// Sends the results to a channel from now on, starting with those that have already arrived.
    pub(super) fn redirect(&self) -> Receiver<HookResult> {
        let mut delivery = self.lock();
        let (sender, receiver) = bounded(self.most);
        if let Delivery::Kept { results, .. } = &mut *delivery {
            for result in results.drain(..) {
                let _ = sender.try_send(result);
            }
        }
        if !self.is_finished() {
            let old = std::mem::replace(&mut *delivery, Delivery::To(sender));
            drop(delivery);
            drop(old);
        }
        receiver
    }

    /// Stops keeping results, because the host has dropped its handle.
    pub(super) fn discard(&self) {
        let old = std::mem::replace(&mut *self.lock(), Delivery::Dropped);
        drop(old);
    }

    fn push(&self, result: HookResult) {
        match &mut *self.lock() {
            Delivery::Kept { results, .. } => results.push(result),
            Delivery::To(sender) => {
                // An error means that the receiver was dropped.
                let _ = sender.try_send(result);
            }
            Delivery::Dropped => {}
        }
    }

    /// Registers the task that the end wakes, replacing an earlier one; false if the end has been
    /// reached.
    pub(super) fn wakes_at_end(&self, task: &Waker) -> bool {
        // Cloning and dropping a waker runs the host's code, so neither happens while the lock is
        // held.
        let new = task.clone();
        let mut delivery = self.lock();
        if self.is_finished() {
            return false;
        }
        let old = match &mut *delivery {
            Delivery::Kept { waker, .. } => waker.replace(new),
            Delivery::To(_) | Delivery::Dropped => None,
        };
        drop(delivery);
        drop(old);
        true
    }

    /// Marks the end under the lock, so that neither `redirect` nor `wakes_at_end` can miss it.
    /// Returns the waker, which the caller calls after releasing the lock.
    fn close(&self) -> Option<Waker> {
        let mut delivery = self.lock();
        self.finished.store(true, Ordering::Release);
        match &mut *delivery {
            Delivery::Kept { waker, .. } => waker.take(),
            Delivery::To(_) => {
                *delivery = Delivery::Dropped;
                None
            }
            Delivery::Dropped => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Delivery> {
        self.delivery.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
