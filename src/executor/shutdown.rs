//! The report of an executor's shutdown.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::hook::Hook;
use crate::outcome::{FailureKind, HookResult};

/// What happened to the hooks that were running or waiting at a shutdown, except those that the
/// host itself cancelled; see [`HookExecutor::shutdown`](crate::HookExecutor::shutdown).
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct ShutdownReport {
    /// The number of hooks that ended, successfully or not.
    pub finished: usize,
    /// The hooks that were running at the deadline, and were killed.
    pub cut: Vec<Arc<Hook>>,
    /// The hooks that had not started at the deadline.
    pub never_started: Vec<Arc<Hook>>,
    /// The number of threads that have not ended, because an observer or a callback of the host
    /// does not return.
    pub stuck_threads: usize,
}

impl ShutdownReport {
    /// Whether everything that was submitted has ended.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.cut.is_empty() && self.never_started.is_empty() && self.stuck_threads == 0
    }
}

/// Collects the report once a shutdown has begun.
#[derive(Debug, Default)]
pub(super) struct Closing {
    begun: AtomicBool,
    /// Whether the deadline has passed. What was cancelled earlier was cancelled by the host.
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
