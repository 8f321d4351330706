//! What the calls of an executor share: the runner, the threads, and what a shutdown reports.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::shutdown::{Closing, Phase, ShutdownReport};
use crate::events::Vocabulary;
use crate::pool::Pool;
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
    pub(super) closing: Closing,
}

impl Core {
    /// Prepares an event that is fired at once and that cannot be cancelled.
    pub(super) fn firing<'a>(&self, event: Fired<'a>) -> Firing<'a> {
        let can_block = self.vocabulary.can_block(&event.event_type);
        Firing::new(event, can_block)
    }

    /// Refuses further events, waits until the deadline for accepted events to finish, and cancels
    /// the rest.
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
        self.runner.residents.close();
        if !ended {
            self.closing.reach(Phase::Cutting);
            self.cut();
            let patience = self.runner.kill_grace.saturating_add(LAST_PATIENCE);
            let begun = Instant::now();
            self.pool.wait_for_the_end(patience);
            let left = patience.saturating_sub(begun.elapsed());
            self.background.wait_for_the_end(left);
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
