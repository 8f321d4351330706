//! The orderly end of an executor.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::run::Engine;
use crate::hook::Hook;
use crate::outcome::{FailureKind, HookResult};

/// How long the threads may take, beyond the grace of the hooks, after they were told to end.
const LAST_PATIENCE: Duration = Duration::from_secs(1);

/// What became of the hooks that were running or waiting when an executor was shut down, but for
/// those that the host itself cancelled; see
/// [`HookExecutor::shutdown`](crate::HookExecutor::shutdown).
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct ShutdownReport {
    /// So many hooks came to their end, whatever that was.
    pub finished: usize,
    /// These were running at the deadline, and were killed.
    pub cut: Vec<Arc<Hook>>,
    /// These had not come to their turn at the deadline.
    pub never_started: Vec<Arc<Hook>>,
    /// So many threads have not ended in spite of all: an observer or a callback of the host does
    /// not return.
    pub stuck_threads: usize,
}

impl ShutdownReport {
    /// Whether everything that had been submitted came to its end.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.cut.is_empty() && self.never_started.is_empty() && self.stuck_threads == 0
    }
}

/// Collects the report, from the moment there is one to collect.
#[derive(Debug, Default)]
pub(super) struct Closing {
    begun: AtomicBool,
    /// The deadline has passed. What is cancelled before, the host has cancelled.
    cuts: AtomicBool,
    report: Mutex<ShutdownReport>,
}

impl Closing {
    pub(super) fn note(&self, result: &HookResult) {
        if !self.begun.load(Ordering::SeqCst) {
            return;
        }
        let cancelled = result.failure == Some(FailureKind::Cancelled);
        let cuts = self.cuts.load(Ordering::SeqCst);
        let mut report = self.lock();
        match (cancelled, result.started()) {
            (false, _) => report.finished += 1,
            (true, _) if !cuts => {}
            (true, true) => report.cut.push(Arc::clone(&result.hook)),
            (true, false) => report.never_started.push(Arc::clone(&result.hook)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, ShutdownReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Takes nothing more, lets what was taken come to its end until the deadline, and cuts the
    /// rest.
    pub(super) fn shut_down(&self, deadline: Duration) -> ShutdownReport {
        let by = |time: Duration| Instant::now().checked_add(time);
        let deadline = by(deadline);
        self.closing.begun.store(true, Ordering::SeqCst);
        self.pool.take_no_more();
        let mut ended = self.pool.wait_for_the_end(deadline);
        // Only now: hooks of the pool may have started more of these.
        self.background.take_no_more();
        ended &= self.background.wait_for_the_end(deadline);
        if !ended {
            self.closing.cuts.store(true, Ordering::SeqCst);
            self.cut();
            let deadline = by(self.kill_grace.saturating_add(LAST_PATIENCE));
            self.pool.wait_for_the_end(deadline);
            self.background.wait_for_the_end(deadline);
        }
        let mut report = std::mem::take(&mut *self.closing.lock());
        report.stuck_threads = self.pool.threads_left() + self.background.threads_left();
        report
    }

    /// Never waits.
    pub(super) fn cut(&self) {
        self.pool.cut();
        self.background.cut();
    }
}
