//! The report of an executor's shutdown.

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
pub(super) struct Closing(Mutex<(Phase, ShutdownReport)>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    #[default]
    Open,
    Begun,
    /// The deadline has passed. What was cancelled earlier was cancelled by the host.
    Cutting,
}

impl Closing {
    pub(super) fn reach(&self, phase: Phase) {
        let mut state = self.lock();
        state.0 = state.0.max(phase);
    }

    pub(super) fn take_report(&self) -> ShutdownReport {
        std::mem::take(&mut self.lock().1)
    }

    pub(super) fn note(&self, result: &HookResult) {
        let cancelled = result.failure == Some(FailureKind::Cancelled);
        let hook = || Arc::clone(&result.hook);
        let mut state = self.lock();
        let (phase, report) = &mut *state;
        match (*phase, cancelled) {
            (Phase::Open, _) | (Phase::Begun, true) => {}
            (_, false) => report.finished += 1,
            (Phase::Cutting, true) if result.started() => report.cut.push(hook()),
            (Phase::Cutting, true) => report.never_started.push(hook()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, (Phase, ShutdownReport)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
