//! What the calls of an executor share: the runner, the threads, and their end with its report.
//!
//! Knows neither events nor the order of hooks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::calls::Calls;
use crate::events::Vocabulary;
use crate::hook::Hook;
use crate::outcome::{FailureKind, HookResult};
use crate::pool::Pool;
use crate::process::Cancel;
use crate::registry::Removals;
use crate::runner::{Fired, Firing, Runner};

/// How long the threads may take to end, in addition to the grace period of the hooks.
const LAST_PATIENCE: Duration = Duration::from_secs(1);

pub(super) struct Core {
    pub(super) runner: Runner,
    pub(super) allow_disable: bool,
    pub(super) vocabulary: Arc<Vocabulary>,
    pub(super) pool: Pool,
    /// The pool of background hooks.
    pub(super) background: Pool,
    pub(super) calls: Calls,
    pub(super) closing: Closing,
}

impl Core {
    /// Prepares an event that is fired at once.
    pub(super) fn firing<'a>(&self, event: Fired<'a>, cancel: Arc<Cancel>) -> Firing<'a> {
        let can_block = self.vocabulary.can_block(&event.event_type);
        Firing::new(event, can_block, cancel)
    }

    /// Refuses further events, waits until the deadline for accepted events and blocking calls to finish, and
    /// cancels the rest.
    pub(super) fn shut_down(&self, deadline: Duration) -> ShutdownReport {
        let begun = Instant::now();
        self.closing.reach(Phase::Begun);
        self.pool.close();
        let mut ended = self.pool.wait_for_the_end(deadline);
        // The background pool comes last: hooks on the first pool may have started further
        // background hooks.
        self.background.close();
        let left = deadline.saturating_sub(begun.elapsed());
        ended &= self.background.wait_for_the_end(left);
        let left = deadline.saturating_sub(begun.elapsed());
        ended &= self.calls.wait_for_the_end(left);
        self.runner.residents.close();
        if !ended {
            self.closing.reach(Phase::Cutting);
            self.cut();
            self.calls.cut();
            let patience = self.runner.kill_grace.saturating_add(LAST_PATIENCE);
            let begun = Instant::now();
            self.pool.wait_for_the_end(patience);
            let left = patience.saturating_sub(begun.elapsed());
            self.background.wait_for_the_end(left);
            let left = patience.saturating_sub(begun.elapsed());
            self.calls.wait_for_the_end(left);
        }
        self.runner.residents.wait_until_ended(LAST_PATIENCE);
        let mut report = self.closing.take_report();
        report.stuck_threads = self.pool.threads_left() + self.background.threads_left();
        report
    }

    /// Cancels everything without waiting.
    pub(super) fn cut(&self) {
        self.runner.residents.close();
        self.pool.cut();
        self.background.cut();
    }
}

impl Removals for Core {
    fn removed(&self, fingerprints: &[u64]) {
        self.runner.residents.end_of(fingerprints);
    }
}

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
