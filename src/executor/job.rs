//! The work of a thread of a pool: a submitted event, or one background hook.
//!
//! Each hook that is waited for has exactly one result, even if the executor ends, except the hooks after one that stopped the
//! chain. If the engine panics, one result says so, and blocks. Knows neither the queue nor the order of hooks.

use std::sync::Arc;
use std::time::Instant;

use super::core::{Core, EventJob, Job, Submitted};
use super::dispatch::Dispatch;
use super::error::reason_of;
use super::options::FireOptions;
use super::token::Run;
use crate::events::{HookEvent, InputChange};
use crate::hook::Hook;
use crate::pool::{Priority, Refusal, Runnable, Waiting};
use crate::runner::{DropReason, Firing};

impl Job {
    /// Queues the job in its pool. Its token may withdraw it from there. A job that is not accepted has been abandoned.
    pub(super) fn submit(self, core: &Core, priority: Priority) -> Result<Waiting, Refusal> {
        let pool = match &self {
            Self::Event(_) => &core.pool,
            Self::Background(..) => &core.background,
        };
        pool.submit(priority, self)
    }
}

impl Runnable for Job {
    fn run(self) {
        match self {
            Self::Event(mut job) => job.run(),
            Self::Background(job, hook) => {
                let result = job
                    .core
                    .runner
                    .run_unless_cancelled(&job.firing(&FireOptions::new()), &hook);
                job.core.unseen.note(&job.event.event_type, result);
            }
        }
    }

    fn abandon(self, refused: Option<&Refusal>) {
        let reason = refused.map_or(DropReason::Cancelled, reason_of);
        match self {
            Self::Event(mut job) => job.abandon(reason),
            Self::Background(job, hook) => job.report_drop(&[hook], reason),
        }
    }
}

impl Submitted {
    pub(super) fn now(core: &Arc<Core>, event: Arc<HookEvent>, run: Arc<Run>) -> Self {
        Self {
            core: Arc::clone(core),
            fired: Arc::clone(&event),
            event,
            run,
            at: Instant::now(),
        }
    }

    fn firing(&self, options: &FireOptions) -> Firing {
        let event = Arc::clone(&self.event);
        let mut firing = self.core.firing(event, options, self.run.cancel());
        firing.queued = self.at.elapsed();
        firing.until = options.until(self.at);
        firing.fired = Arc::clone(&self.fired);
        firing
    }

    fn report_drop(&self, hooks: &[Arc<Hook>], reason: DropReason) {
        let firing = self.firing(&FireOptions::new());
        for hook in hooks {
            self.core.runner.drop_run(&firing, hook, reason);
        }
    }
}

impl EventJob {
    fn run(&mut self) {
        let firing = self.submitted.firing(&self.options);
        self.dispatch(firing);
    }

    fn dispatch(&mut self, firing: Firing) {
        let sender = &mut self.sender;
        let mut send = |result| sender.send(result);
        let core = &self.submitted.core;
        let dispatch = Dispatch::new(core, firing, &self.hooks, &self.options, &mut send);
        let change = dispatch.run(self.first);
        self.close(change);
    }

    /// Reports the end to those who observe, and then to the host.
    fn close(&mut self, change: Option<Arc<InputChange>>) {
        self.submitted.run.tell_own();
        if let Some(results) = self.sender.take_kept() {
            let Submitted { core, event, .. } = &self.submitted;
            let outcome = core.outcome_of(&event.event_type).with_results(results);
            let outcome = outcome.with_change(change.clone());
            core.report_event(event, &self.options, &self.hooks, &outcome);
        }
        self.sender.close(change);
    }

    fn abandon(&mut self, reason: DropReason) {
        if reason == DropReason::Cancelled {
            let firing = self.submitted.firing(&self.options);
            firing.cancel.request();
            return self.dispatch(firing);
        }
        // The host has its event back, and receives nothing else.
        self.submitted
            .report_drop(&self.hooks[self.first..], reason);
        self.sender.close(None);
    }
}

/// Only a job in which the engine panicked is still open here.
impl Drop for EventJob {
    fn drop(&mut self) {
        if !self.sender.channel.is_closed() {
            let hook = &self.hooks[self.first];
            let result = self.submitted.core.runner.panicked(hook);
            self.sender.send(result);
            self.close(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use crossbeam_channel::Receiver;

    use super::*;
    use crate::events::HookEvent;
    use crate::executor::delivery::ResultSender;
    use crate::executor::{FireOptions, HookExecutor};
    use crate::outcome::{FailureKind, HookResult};

    fn job() -> (EventJob, Receiver<HookResult>) {
        let executor = HookExecutor::builder().build();
        let hooks = ["a:b", "c:d"].map(|pattern| Arc::new(Hook::new(pattern, "true").unwrap()));
        let (sender, results) = ResultSender::new(hooks.len(), false, Arc::default());
        let event = Arc::new(HookEvent::user_interrupt());
        let job = EventJob {
            submitted: Submitted::now(executor.core(), event, Run::new([])),
            hooks: hooks.into(),
            first: 0,
            options: FireOptions::default(),
            sender,
        };
        (job, results)
    }

    fn result(job: &EventJob, index: usize) -> HookResult {
        HookResult::new(Arc::clone(&job.hooks[index]), 0)
    }

    fn failures(results: &Receiver<HookResult>) -> Vec<Option<FailureKind>> {
        results.iter().map(|result| result.failure()).collect()
    }

    #[test]
    fn a_panic_gives_a_result_that_fails() {
        let (mut job, results) = job();
        let panic = AssertUnwindSafe(move || {
            let result = result(&job, 0);
            job.sender.send(result);
            panic!("as the engine would");
        });
        assert!(catch_unwind(panic).is_err());
        let expected = [None, Some(FailureKind::Panicked)];
        assert_eq!(failures(&results), expected);
    }

    #[test]
    fn results_that_nobody_wants_are_not_kept() {
        let (mut job, results) = job();
        let held = Arc::strong_count(&job.hooks[0]);
        drop(results);
        let first = result(&job, 0);
        job.sender.send(first);
        assert_eq!(Arc::strong_count(&job.hooks[0]), held);
    }
}
