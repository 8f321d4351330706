//! The parts that the calls of an executor share: the runner, the threads with their jobs, and their end.
//!
//! `Job` is in this module, beside the pools, since each of them contains the other. Background hooks have a pool of their
//! own, so that other hooks do not wait for them. Does not know the work of a job, or the order of hooks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::calls::Calls;
use super::delivery::ResultSender;
use super::options::FireOptions;
use super::token::{CancelToken, Run};
use super::unseen::Unseen;
use crate::events::{EventType, HookEvent, Vocabulary};
use crate::hook::Hook;
use crate::outcome::Outcome;
use crate::pool::Pool;
use crate::process::Cancel;
use crate::registry::Removals;
use crate::runner::{FiredEvent, Firing, How, Runner};
use crate::sync::Mutex;

/// The time that the threads may take to end, in addition to the grace period of the hooks.
const LAST_PATIENCE: Duration = Duration::from_secs(1);

pub(super) struct Core {
    pub(super) runner: Arc<Runner>,
    pub(super) allow_disable: bool,
    pub(super) model_text_limit: usize,
    pub(super) vocabulary: Arc<Vocabulary>,
    pub(super) pool: Pool<Job>,
    /// The pool of background hooks.
    pub(super) background: Pool<Job>,
    pub(super) calls: Calls,
    /// The token of the events and calls that wait or run. Each cancellation replaces it, so that later ones are not
    /// affected.
    pub(super) running: Mutex<CancelToken>,
    /// The token of the background hooks.
    pub(super) in_background: CancelToken,
    pub(super) unseen: Arc<Unseen>,
}

/// The work of a thread of a pool.
pub(super) enum Job {
    Event(Box<EventJob>),
    /// One background hook. Its result has no effect.
    Background(Box<Submitted>, Arc<Hook>),
}

/// An event that waits for a thread.
pub(super) struct Submitted {
    pub(super) core: Arc<Core>,
    pub(super) event: Arc<HookEvent>,
    /// The event as the host has fired it.
    pub(super) fired: Arc<HookEvent>,
    pub(super) run: Arc<Run>,
    pub(super) at: Instant,
}

/// The hooks of one submitted event.
pub(super) struct EventJob {
    pub(super) submitted: Submitted,
    pub(super) hooks: Vec<Arc<Hook>>,
    /// The index of the first hook that matches.
    pub(super) first: usize,
    pub(super) options: FireOptions,
    pub(super) sender: ResultSender,
}

impl Core {
    /// Returns the outcome of an event of this type, still without results.
    pub(super) fn outcome_of(&self, event_type: &EventType) -> Outcome {
        Outcome::of_none(self.vocabulary.kind_of(event_type), self.model_text_limit)
    }

    /// Prepares an event that is fired at once.
    pub(super) fn firing(
        &self,
        event: Arc<HookEvent>,
        options: &FireOptions,
        cancel: Arc<Cancel>,
    ) -> Firing {
        let can_block = self.vocabulary.can_block(&event.event_type);
        let mut firing = Firing::new(event, can_block, cancel);
        firing.until = options.until(Instant::now());
        firing.handles = options.handles_of(&firing.event, can_block);
        firing.applies_input = options.applies_input(&firing.event, can_block);
        firing
    }

    /// Reports an event that has its outcome.
    pub(super) fn report_event(
        &self,
        event: &Arc<HookEvent>,
        options: &FireOptions,
        hooks: &[Arc<Hook>],
        outcome: &Outcome,
    ) {
        let how = || How {
            handles_ask: options.handles.ask,
            applies_updates: options.handles.updates,
            stop_on_failure: options.stop_on_failure,
            is_disabled: self.allow_disable && self.runner.native.naming().disabled_by().is_some(),
            is_known: self.vocabulary.event(event.event_type.as_str()).is_some(),
        };
        self.runner.observers.fired(|| FiredEvent {
            event: Arc::clone(event),
            hooks: hooks.to_vec(),
            outcome: outcome.clone(),
            how: how(),
        });
    }

    /// Returns the token of the events and calls that begin now.
    pub(super) fn running(&self) -> CancelToken {
        self.running.lock().clone()
    }

    /// Refuses further events, waits until the deadline for accepted events and blocking calls to finish, and
    /// cancels the rest. Returns whether nothing was left to cancel.
    pub(super) fn shut_down(&self, deadline: Duration) -> bool {
        let begun = Instant::now();
        self.pool.close();
        let mut ended = self.pool.wait_for_the_end(deadline);
        // The background pool comes last: hooks on the first pool may have started further
        // background hooks.
        ended &= self
            .calls
            .wait_for_the_end(deadline.saturating_sub(begun.elapsed()));
        self.background.close();
        ended &= self.wait_for_the_end(deadline.saturating_sub(begun.elapsed()));
        self.runner.residents.close();
        if !ended {
            self.cut();
            self.wait_for_the_end(self.patience());
        }
        self.runner.residents.wait_until_ended(LAST_PATIENCE);
        ended
    }

    /// Cancels the events and the blocking calls that run or wait, without waiting. Later ones run.
    pub(super) fn cancel_running(&self) {
        let before = std::mem::take(&mut *self.running.lock());
        before.cancel();
    }

    /// Returns the time that cancelled hooks and calls may take to end.
    pub(super) fn patience(&self) -> Duration {
        self.runner.kill_grace.saturating_add(LAST_PATIENCE)
    }

    /// Waits until nothing runs, at most for `patience`. Returns whether nothing runs.
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
        self.pool.close();
        self.background.close();
        self.cancel_running();
        self.in_background.cancel();
    }
}

impl Removals for Core {
    fn removed(&self, fingerprints: &[u64]) {
        self.runner.residents.end_of(fingerprints);
    }
}
