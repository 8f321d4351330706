//! Hooks that run in parallel: several threads take one after the other, and one thread takes their results.
//!
//! Knows no threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::hook::Hook;
use crate::outcome::HookResult;
use crate::runner::{Firing, Runner};
use crate::sync::{AtomicUsize, Condvar, Mutex, Ordering};

pub(super) struct Batch {
    runner: Arc<Runner>,
    firing: Arc<Firing<'static>>,
    hooks: Vec<Arc<Hook>>,
    /// The index of the first hook that no thread has taken.
    next: AtomicUsize,
    results: Mutex<Results>,
    /// Wakes the calling thread.
    arrived: Condvar,
}

struct Results {
    /// The result of each hook, until it is passed on.
    slots: Vec<Option<HookResult>>,
    /// The index of the result that the calling thread waits for.
    awaited: Option<usize>,
}

impl Batch {
    pub(super) fn new(
        runner: Arc<Runner>,
        firing: Arc<Firing<'static>>,
        hooks: Vec<Arc<Hook>>,
    ) -> Self {
        Self {
            runner,
            firing,
            results: Mutex::new(Results {
                slots: hooks.iter().map(|_| None).collect(),
                awaited: None,
            }),
            hooks,
            next: AtomicUsize::new(0),
            arrived: Condvar::default(),
        }
    }

    pub(super) fn hooks(&self) -> &[Arc<Hook>] {
        &self.hooks
    }

    /// Runs the next hook. Returns false if none was left.
    pub(super) fn do_one(&self) -> bool {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(hook) = self.hooks.get(index) else {
            return false;
        };
        // There is a result in every case, since the calling thread waits for it.
        let run = || self.runner.run_unless_cancelled(&self.firing, hook);
        let result = catch_unwind(AssertUnwindSafe(run));
        let result = result.unwrap_or_else(|_| self.runner.panicked(hook));
        let mut results = self.results.lock();
        results.slots[index] = Some(result);
        if results.awaited == Some(index) {
            drop(results);
            self.arrived.notify_one();
        }
        true
    }

    /// Waits for the result of a hook, at most for `patience`, and takes it.
    pub(super) fn result(&self, index: usize, patience: Duration) -> Option<HookResult> {
        let mut results = self.results.lock();
        if results.slots.get(index)?.is_none() && !patience.is_zero() {
            results.awaited = Some(index);
            let is_missing = |results: &mut Results| results.slots[index].is_none();
            results = self
                .arrived
                .wait_timeout_while(results, patience, is_missing);
        }
        results.slots[index].take()
    }
}
