//! A submitted event, or one background hook: what a thread of a pool runs, and when it is answered.
//!
//! Whatever happens to the thread or the executor, each hook that is waited for has exactly one result, except those
//! behind a hook that stopped the chain. Knows neither the queue nor the order of hooks.

use std::sync::Arc;
use std::time::Instant;

use super::core::Core;
use super::delivery::{Channel, ResultSender};
use super::error::{SubmitError, reason_of};
use super::options::{Background, FireOptions};
use super::token::{CancelToken, Cancellable};
use crate::events::HookEvent;
use crate::hook::Hook;
use crate::outcome::HookResult;
use crate::pool::{Job, Pool, Refusal, Ticket, on_pool_thread};
use crate::process::Cancel;
use crate::runner::{DropReason, Fired, Firing, HookRun, inside_a_run};

/// Runs the hooks of an event, and passes on each result.
pub(super) type Run =
    fn(&Arc<Core>, Firing<'_>, Vec<Arc<Hook>>, FireOptions<'_>, &mut dyn FnMut(HookResult));

/// The hooks of one submitted event.
pub(super) struct FireJob {
    run: Run,
    core: Arc<Core>,
    event: Arc<HookEvent>,
    hooks: Vec<Arc<Hook>>,
    options: FireOptions<'static>,
    sender: ResultSender,
    submitted: Instant,
    cancel: Arc<Cancel>,
}

/// The host's side of a job.
#[derive(Clone)]
pub(super) struct Submitted {
    pub(super) channel: Arc<Channel>,
    cancel: Arc<Cancel>,
    pool: Pool,
    ticket: Ticket,
}

/// Submits these hooks of an event.
pub(super) fn submit(
    run: Run,
    core: &Arc<Core>,
    event: Arc<HookEvent>,
    hooks: Vec<Arc<Hook>>,
    options: FireOptions<'_>,
    sender: ResultSender,
) -> Result<Submitted, SubmitError> {
    let pool = match options.background {
        Background::Run => &core.background,
        Background::Start | Background::Skip => &core.pool,
    };
    let priority = options.priority_of(&event, core.vocabulary.can_block(&event.event_type));
    let channel = Arc::clone(&sender.channel);
    let cancel = Arc::<Cancel>::default();
    if options.token.is_some_and(CancelToken::is_cancelled) {
        cancel.request();
    }
    let job = Box::new(FireJob {
        run,
        core: Arc::clone(core),
        event: Arc::clone(&event),
        hooks,
        options: options.without_token(),
        sender,
        submitted: Instant::now(),
        cancel: Arc::clone(&cancel),
    });
    let ticket = match pool.submit(priority, job) {
        Ok(ticket) => ticket,
        Err(refusal) => return Err(SubmitError::new(event, refusal)),
    };
    let submitted = Submitted {
        channel,
        cancel,
        pool: pool.clone(),
        ticket,
    };
    if let Some(token) = options.token {
        token.add(submitted.clone());
    }
    Ok(submitted)
}

impl FireJob {
    fn report_drop(&self, reason: DropReason) {
        for hook in &self.hooks {
            let run = HookRun {
                event: &self.event,
                fired: &self.event,
                hook,
                can_block: self.core.vocabulary.can_block(&self.event.event_type),
                queued: self.submitted.elapsed(),
            };
            self.core.runner.drop_run(&run, reason);
        }
    }

    /// Adds a result for each hook that has none yet. Results come in the order of the hooks.
    fn send_missing(&mut self, result: impl Fn(&Arc<Hook>) -> HookResult) {
        let runs_all = self.options.background == Background::Run;
        let hooks = self.hooks.iter();
        let hooks = hooks.filter(|hook| runs_all || !hook.background());
        for hook in hooks.skip(self.sender.count()) {
            self.sender.send(result(hook));
        }
        self.sender.close();
    }
}

impl Job for FireJob {
    fn cancel(&self) -> Arc<Cancel> {
        Arc::clone(&self.cancel)
    }

    fn run(mut self: Box<Self>) {
        let event = Fired::Shared(Arc::clone(&self.event));
        let mut firing = self.core.firing(event, self.cancel());
        firing.queued = self.submitted.elapsed();
        let job = &mut *self;
        let (core, sender) = (&job.core, &mut job.sender);
        let mut send = |result: HookResult| sender.send(result);
        (job.run)(core, firing, job.hooks.clone(), job.options, &mut send);
        self.sender.close();
    }

    fn abandon(mut self: Box<Self>, refused: Option<&Refusal>) {
        self.report_drop(refused.map_or(DropReason::Cancelled, reason_of));
        if refused.is_some() {
            // The host has its event back, and receives nothing else.
            return self.sender.close();
        }
        let queued = self.submitted.elapsed();
        self.send_missing(|hook| HookResult::never_ran(hook, queued));
    }
}

/// Only a job in which the engine panicked is still open here.
impl Drop for FireJob {
    fn drop(&mut self) {
        if !self.sender.channel.is_closed() {
            let core = Arc::clone(&self.core);
            self.send_missing(|hook| core.runner.panicked(hook));
        }
    }
}

impl Submitted {
    /// Whether a wait for the end could wait for this thread.
    pub(super) fn may_need_this_thread(&self) -> bool {
        (inside_a_run() || on_pool_thread()) && !self.has_ended()
    }
}

impl Cancellable for Submitted {
    fn cancel(&self) {
        self.cancel.request();
        self.pool.withdraw(self.ticket);
    }

    fn has_ended(&self) -> bool {
        self.channel.is_closed()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use crossbeam_channel::Receiver;

    use super::*;
    use crate::events::HookEvent;
    use crate::executor::HookExecutor;
    use crate::outcome::FailureKind;

    fn job() -> (Box<FireJob>, Receiver<HookResult>) {
        let executor = HookExecutor::builder().build();
        let hooks = ["a:b", "c:d"].map(|pattern| Arc::new(Hook::new(pattern, "true").unwrap()));
        let (sender, results) = ResultSender::new(hooks.len(), None);
        let job = FireJob {
            run: |_, _, _, _, _| {},
            core: Arc::clone(executor.core()),
            event: Arc::new(HookEvent::user_interrupt()),
            hooks: hooks.into(),
            options: FireOptions::default(),
            sender,
            submitted: Instant::now(),
            cancel: Arc::default(),
        };
        (Box::new(job), results)
    }

    fn result(job: &FireJob, index: usize) -> HookResult {
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

    #[test]
    fn a_new_channel_starts_with_earlier_results() {
        for closed_before in [true, false] {
            let (mut job, old) = job();
            let first = result(&job, 0);
            job.sender.send(first);
            let received = vec![old.recv().unwrap()];
            let second = result(&job, 1);
            let channel = Arc::clone(&job.sender.channel);
            let results = if closed_before {
                job.sender.send(second);
                job.sender.close();
                channel.restart(received, &old)
            } else {
                let results = channel.restart(received, &old);
                job.sender.send(second);
                job.sender.close();
                results
            };
            let labels = results
                .iter()
                .map(|result| result.hook.event_pattern().to_owned());
            assert_eq!(labels.collect::<Vec<_>>(), ["a:b", "c:d"]);
        }
    }
}
