//! The orderly end of an executor.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::hook::Hook;
use crate::outcome::{FailureKind, HookResult};

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
    pub(super) fn begin(&self) {
        self.begun.store(true, Ordering::SeqCst);
    }

    pub(super) fn begin_cutting(&self) {
        self.cuts.store(true, Ordering::SeqCst);
    }

    pub(super) fn take_report(&self) -> ShutdownReport {
        std::mem::take(&mut *self.lock())
    }

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
