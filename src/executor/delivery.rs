//! The way of a submitted event's results to its host: kept for a handle, sent to a channel, or told to
//! a callback.
//!
//! Knows nothing of how a hook is run, nor of the queue.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crossbeam_channel::{Receiver, Sender, bounded};
use log::error;

use crate::events::EventKind;
use crate::outcome::{HookResult, Outcome};
use crate::process::Cancel;
use crate::runner::tell;

/// What the host that submitted a job holds of it.
pub(super) struct JobEnd {
    pub(super) cancel: Arc<Cancel>,
    pub(super) progress: Arc<Progress>,
    /// Disconnected when nothing more will come.
    pub(super) done: Receiver<Infallible>,
}

/// What a callback is told of a submitted event; see
/// [`HookExecutor::submit_with`](crate::HookExecutor::submit_with).
#[derive(Debug)]
#[non_exhaustive]
pub enum HookUpdate<'a> {
    /// A hook has ended.
    Result(&'a HookResult),
    /// All have, and nothing more will come. Told exactly once, whatever happens.
    Done(Outcome),
}

/// Told of each result as it comes, and of the end.
pub(super) type Callback = Box<dyn FnMut(HookUpdate<'_>) + Send>;

/// Where the results go.
pub(super) struct Answers {
    given: usize,
    progress: Arc<Progress>,
    told: Option<Told>,
    /// None once all has been said.
    done: Option<Sender<Infallible>>,
}

struct Told {
    callback: Callback,
    kind: EventKind,
    results: Vec<HookResult>,
}

impl Answers {
    /// For at most so many results, and what the host holds of them.
    pub(super) fn new(most: usize, kind: EventKind, callback: Option<Callback>) -> (Self, JobEnd) {
        let (sender, done) = bounded(0);
        let progress = Arc::new(Progress::new(most));
        let end = JobEnd {
            cancel: Arc::default(),
            progress: Arc::clone(&progress),
            done,
        };
        let answers = Self {
            given: 0,
            progress,
            told: callback.map(|callback| Told {
                callback,
                kind,
                results: Vec::new(),
            }),
            done: Some(sender),
        };
        (answers, end)
    }

    pub(super) fn given(&self) -> usize {
        self.given
    }

    /// Whether the end has not been said.
    pub(super) fn are_open(&self) -> bool {
        self.done.is_some()
    }

    /// Nothing more is said, not even the end.
    pub(super) fn forget(&mut self) {
        self.told = None;
        self.done = None;
    }

    pub(super) fn give(&mut self, result: HookResult) {
        self.given += 1;
        match &mut self.told {
            None => self.progress.give(result),
            Some(told) => {
                let goes_on = call(&mut told.callback, HookUpdate::Result(&result));
                told.results.push(result);
                if !goes_on {
                    self.told = None;
                }
            }
        }
    }

    /// In this order: a thread that the end wakes finds everything there.
    pub(super) fn close(&mut self) {
        if let Some(mut told) = self.told.take() {
            let outcome = Outcome::of(told.kind, told.results);
            call(&mut told.callback, HookUpdate::Done(outcome));
        }
        let waker = self.progress.close();
        self.done = None;
        if let Some(waker) = waker {
            wake(waker);
        }
    }
}

/// Whether it may be called again.
fn call(callback: &mut Callback, update: HookUpdate<'_>) -> bool {
    let called = catch_unwind(AssertUnwindSafe(|| callback(update)));
    if called.is_err() {
        tell(|| error!("the callback of a submitted event panicked; it is not called again"));
    }
    called.is_ok()
}

/// A waker is the host's code too.
fn wake(waker: Waker) {
    if catch_unwind(AssertUnwindSafe(|| waker.wake())).is_err() {
        tell(|| error!("the waker of a submitted event panicked"));
    }
}

/// The results of a job, and whether there will be more.
pub(super) struct Progress {
    /// So many results there may be.
    most: usize,
    finished: AtomicBool,
    delivery: Mutex<Delivery>,
}

enum Delivery {
    Kept {
        results: Vec<HookResult>,
        /// Of the task that awaits them.
        waker: Option<Waker>,
    },
    /// It has room for all of them, so that sending never waits.
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

    /// The results that have come and have not been taken.
    pub(super) fn take(&self) -> Vec<HookResult> {
        match &mut *self.lock() {
            Delivery::Kept { results, .. } => std::mem::take(results),
            Delivery::To(_) | Delivery::Dropped => Vec::new(),
        }
    }

    /// From here on results go to a channel, those that have come first.
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

    /// The host has dropped its handle: results are not kept any more.
    pub(super) fn forget(&self) {
        let old = std::mem::replace(&mut *self.lock(), Delivery::Dropped);
        drop(old);
    }

    fn give(&self, result: HookResult) {
        match &mut *self.lock() {
            Delivery::Kept { results, .. } => results.push(result),
            Delivery::To(sender) => {
                // An error is a receiver that was dropped.
                let _ = sender.try_send(result);
            }
            Delivery::Dropped => {}
        }
    }

    /// Has the end wake this task, in the place of one before it; false when the end has come.
    pub(super) fn wakes_at_end(&self, task: &Waker) -> bool {
        // What a waker does is the host's code, its clone and its drop too: not under the lock.
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

    /// While it is locked, so that neither `redirect` nor `wakes_at_end` can miss it. Returns the
    /// waker, to be called when the lock is free again.
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
