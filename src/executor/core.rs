//! What the calls of an executor share: the runner, the threads, and their end.
//!
//! Knows neither events nor the order of hooks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::calls::Calls;
use super::under_way::UnderWay;
use crate::events::{EventType, Vocabulary};
use crate::outcome::Outcome;
use crate::pool::Pool;
use crate::process::Cancel;
use crate::registry::Removals;
use crate::runner::{Fired, Firing, Runner};

/// How long the threads may take to end, in addition to the grace period of the hooks.
const LAST_PATIENCE: Duration = Duration::from_secs(1);

pub(super) struct Core {
    pub(super) runner: Runner,
    pub(super) allow_disable: bool,
    pub(super) model_text_limit: usize,
    pub(super) vocabulary: Arc<Vocabulary>,
    pub(super) pool: Pool,
    /// The pool of background hooks.
    pub(super) background: Pool,
    pub(super) calls: Calls,
    /// The keys of submitted events that are skipped while one of them waits or runs.
    pub(super) under_way: UnderWay,
}

impl Core {
    /// Returns the outcome of an event of this type, still without results.
    pub(super) fn outcome_of(&self, event_type: &EventType) -> Outcome {
        Outcome::of_none(self.vocabulary.kind_of(event_type), self.model_text_limit)
    }

    /// Prepares an event that is fired at once.
    pub(super) fn firing<'a>(&self, event: Fired<'a>, cancel: Arc<Cancel>) -> Firing<'a> {
        let can_block = self.vocabulary.can_block(&event.event_type);
        Firing::new(event, can_block, cancel)
    }

    /// Refuses further events, waits until the deadline for accepted events and blocking calls to finish, and
    /// cancels the rest. Returns whether nothing was left.
    pub(super) fn shut_down(&self, deadline: Duration) -> bool {
        let begun = Instant::now();
        self.pool.close();
        let mut ended = self.pool.wait_for_the_end(deadline);
        // The background pool comes last: hooks on the first pool may have started further
        // background hooks.
        self.background.close();
        ended &= self.wait_for_the_end(deadline.saturating_sub(begun.elapsed()));
        self.runner.residents.close();
        if !ended {
            self.cut();
            self.calls.cut();
            self.wait_for_the_end(self.patience());
        }
        self.runner.residents.wait_until_ended(LAST_PATIENCE);
        ended
    }

    /// Cancels the events and the blocking calls that run or wait, without waiting. Later ones run.
    pub(super) fn cancel_running(&self) {
        self.pool.cancel_all();
        self.calls.cut();
    }

    /// How long what is cut may take to end.
    pub(super) fn patience(&self) -> Duration {
        self.runner.kill_grace.saturating_add(LAST_PATIENCE)
    }

    /// Waits until nothing runs; false if that takes longer.
    pub(super) fn wait_for_the_end(&self, patience: Duration) -> bool {
        let begun = Instant::now();
        let left = || patience.saturating_sub(begun.elapsed());
        let mut ended = self.pool.wait_for_the_end(left());
        ended &= self.background.wait_for_the_end(left());
        ended & self.calls.wait_for_the_end(left())
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
