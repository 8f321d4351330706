//! The work of a thread of a pool: a submitted event, one background hook, or help with hooks that run in parallel.
//!
//! Each hook that is waited for has exactly one result, even if the thread or the executor ends, except the hooks after one
//! that stopped the chain. Knows neither the queue nor the order of hooks.

use std::sync::Arc;
use std::time::Instant;

use super::core::{Core, EventJob, Job, Submitted};
use super::dispatch;
use super::error::reason_of;
use super::token::CancelToken;
use crate::events::HookEvent;
use crate::hook::Hook;
use crate::outcome::HookResult;
use crate::pool::{Priority, Refusal, Runnable, Waiting};
use crate::runner::{DropReason, Fired, Firing};

impl Job {
    /// Queues the job in its pool. Its token may withdraw it from there. A job that is not accepted has been abandoned.
    pub(super) fn submit(self, core: &Core, priority: Priority) -> Result<Waiting, Refusal> {
        let pool = match &self {
            Self::Event(_) | Self::Help(_) => &core.pool,
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
                let result = job.core.runner.run_unless_cancelled(&job.firing(), &hook);
                drop(result);
            }
            Self::Help(batch) => while batch.do_one() {},
        }
    }

    fn abandon(self, refused: Option<&Refusal>) {
        let reason = refused.map_or(DropReason::Cancelled, reason_of);
        match self {
            Self::Event(mut job) => job.abandon(reason),
            Self::Background(job, hook) => job.report_drop(&[hook], reason),
            Self::Help(_) => {}
        }
    }
}

impl Submitted {
    pub(super) fn now(
        core: &Arc<Core>,
        event: Arc<HookEvent>,
        tag: Option<u64>,
        token: CancelToken,
    ) -> Self {
        Self {
            core: Arc::clone(core),
            event,
            tag,
            token,
            at: Instant::now(),
        }
    }

    fn firing(&self) -> Firing<'static> {
        let event = Fired::Shared(Arc::clone(&self.event));
        let mut firing = self.core.firing(event, self.tag, &self.token);
        firing.queued = self.at.elapsed();
        firing
    }

    fn report_drop(&self, hooks: &[Arc<Hook>], reason: DropReason) {
        let firing = self.firing();
        for hook in hooks {
            self.core.runner.drop_run(&firing.run_of(hook), reason);
        }
    }
}

impl EventJob {
    fn run(&mut self) {
        let sender = &mut self.sender;
        dispatch::run(
            &self.submitted.core,
            self.submitted.firing(),
            self.hooks.clone(),
            &self.options,
            &mut |result| sender.send(result),
        );
        self.close();
    }

    /// Reports the end to the observers, and then to the host.
    fn close(&mut self) {
        if let Some(results) = self.sender.take_kept() {
            let Submitted { core, event, .. } = &self.submitted;
            core.report_event(event, &self.options, &self.hooks, results);
        }
        self.sender.close();
    }

    fn abandon(&mut self, reason: DropReason) {
        self.submitted.report_drop(&self.hooks, reason);
        if reason != DropReason::Cancelled {
            // The host has its event back, and receives nothing else.
            return self.sender.close();
        }
        let queued = self.submitted.at.elapsed();
        self.send_missing(|hook| HookResult::never_ran(hook, queued));
    }

    /// Adds a result for each hook that has none yet. Results come in the order of the hooks.
    fn send_missing(&mut self, result: impl Fn(&Arc<Hook>) -> HookResult) {
        let hooks = self.hooks.iter().filter(|hook| !hook.background());
        for hook in hooks.skip(self.sender.count()) {
            self.sender.send(result(hook));
        }
        self.close();
    }
}

/// Only a job in which the engine panicked is still open here.
impl Drop for EventJob {
    fn drop(&mut self) {
        if !self.sender.channel.is_closed() {
            let core = Arc::clone(&self.submitted.core);
            self.send_missing(|hook| core.runner.panicked(hook));
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
    use crate::outcome::FailureKind;

    fn job() -> (EventJob, Receiver<HookResult>) {
        let executor = HookExecutor::builder().build();
        let hooks = ["a:b", "c:d"].map(|pattern| Arc::new(Hook::new(pattern, "true").unwrap()));
        let (sender, results) = ResultSender::new(hooks.len(), None);
        let event = Arc::new(HookEvent::user_interrupt());
        let job = EventJob {
            submitted: Submitted::now(executor.core(), event, None, CancelToken::new()),
            hooks: hooks.into(),
            options: FireOptions::default(),
            sender,
        };
        (job, results)
    }

    fn result(job: &EventJob, index: usize) -> HookResult {
        HookResult::new(Arc::clone(&job.hooks[index]), 0)
    }

    fn failures(results: &Receiver<HookResult>) -> Vec<Option<FailureKind>> {
        results.iter().map(|result| result.failure).collect()
    }

    #[test]
    fn a_panic_gives_the_other_hooks_results() {
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
