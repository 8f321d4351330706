//! A submitted event: what a thread runs, and where its results go.
//!
//! Whatever happens to the thread or the executor, each hook that is waited for has exactly one result,
//! except those behind a hook that stopped the chain. Does not know the queue.

use std::sync::Arc;
use std::time::Instant;

use super::core::Core;
use super::delivery::{CallbackState, JobEnd, ResultSink};
use super::dispatch;
use super::error::reason_of;
use super::options::FireOptions;
use crate::hook::Hook;
use crate::outcome::HookResult;
use crate::pool::{Job, Refusal};
use crate::process::Cancel;
use crate::runner::{DropReason, Fired, HookRun, Nesting, SharedEvent, depth};

/// The hooks of one submitted event.
pub(super) struct FireJob {
    core: Arc<Core>,
    event: SharedEvent,
    hooks: Vec<Arc<Hook>>,
    options: FireOptions,
    submitted: Instant,
    /// The nesting depth of the code that submitted it.
    depth: usize,
    cancel: Arc<Cancel>,
    sink: ResultSink,
}

impl FireJob {
    pub(super) fn new(
        core: Arc<Core>,
        event: SharedEvent,
        hooks: Vec<Arc<Hook>>,
        options: FireOptions,
        callback: Option<CallbackState>,
    ) -> (Self, JobEnd) {
        let (sink, end) = ResultSink::new(hooks.len(), callback);
        let job = Self {
            core,
            event,
            hooks,
            options,
            submitted: Instant::now(),
            depth: depth(),
            cancel: Arc::clone(&end.cancel),
            sink,
        };
        (job, end)
    }

    fn report_drop(&self, reason: DropReason) {
        let can_block = self.core.vocabulary.can_block(&self.event.event_type);
        let queued = self.submitted.elapsed();
        for hook in &self.hooks {
            let run = HookRun {
                event: &self.event,
                hook,
                can_block,
                queued,
            };
            self.core.runner.drop_run(&run, reason);
        }
    }

    /// Adds a result for each hook that has none yet. Results come in the order of the hooks.
    fn push_missing(&mut self, result: impl Fn(&Arc<Hook>) -> HookResult) {
        let waited_for = self.hooks.iter().filter(|hook| !hook.background());
        for hook in waited_for.skip(self.sink.count()) {
            let result = result(hook);
            self.core.closing.note(&result);
            self.sink.push(result);
        }
        self.sink.close();
    }
}

impl Job for FireJob {
    fn cancel(&self) -> &Arc<Cancel> {
        &self.cancel
    }

    fn run(mut self: Box<Self>) {
        let _nesting = Nesting::resume(self.depth);
        let mut firing = self.core.firing(Fired::Shared(self.event.clone()));
        firing.queued = self.submitted.elapsed();
        firing.cancel = Some(Arc::clone(&self.cancel));
        let core = &self.core;
        let sink = &mut self.sink;
        let mut answer = |result: HookResult| {
            core.closing.note(&result);
            sink.push(result);
        };
        dispatch::run(core, firing, self.hooks.clone(), self.options, &mut answer);
        self.sink.close();
    }

    fn abandon(mut self: Box<Self>) {
        let queued = self.submitted.elapsed();
        self.report_drop(DropReason::Cancelled);
        self.push_missing(|hook| HookResult::never_ran(hook, queued));
    }

    fn refuse(mut self: Box<Self>, why: &Refusal) {
        self.report_drop(reason_of(why));
        // The host has its event back, and receives nothing else.
        self.sink.discard();
    }
}

/// Only a job in which the engine panicked is still open here.
impl Drop for FireJob {
    fn drop(&mut self) {
        if self.sink.is_open() {
            let core = Arc::clone(&self.core);
            self.push_missing(|hook| core.runner.panicked(hook));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;

    use super::super::delivery::{Callback, HookUpdate};
    use super::*;
    use crate::events::{EventType, HookEvent};
    use crate::executor::HookExecutor;
    use crate::outcome::FailureKind;

    fn job(callback: Option<Callback>) -> (Box<FireJob>, JobEnd) {
        let executor = HookExecutor::builder().build();
        let hooks = ["a:b", "c:d"].map(|pattern| Arc::new(Hook::new(pattern, "true").unwrap()));
        let (job, end) = FireJob::new(
            Arc::clone(executor.core()),
            Arc::new(HookEvent::user_interrupt()).into(),
            hooks.into(),
            FireOptions::default(),
            callback.map(|callback| CallbackState {
                callback,
                kind: executor
                    .core()
                    .vocabulary
                    .kind_of(&EventType::UserInterrupt),
                results: Vec::new(),
            }),
        );
        (Box::new(job), end)
    }

    fn failures(results: &[HookResult]) -> Vec<Option<FailureKind>> {
        results.iter().map(|result| result.failure).collect()
    }

    #[test]
    fn a_job_that_is_abandoned_is_answered() {
        let (job, end) = job(None);
        assert!(!end.progress.is_finished());
        job.abandon();
        assert!(end.progress.is_finished() && end.done.recv().is_err());
        let cancelled = Some(FailureKind::Cancelled);
        assert_eq!(failures(&end.progress.take()), [cancelled; 2]);
    }

    #[test]
    fn a_panic_gives_the_other_hooks_results() {
        let (mut job, end) = job(None);
        let panic = AssertUnwindSafe(move || {
            let result = HookResult::new(Arc::clone(&job.hooks[0]), 0);
            job.sink.push(result);
            panic!("as the engine would");
        });
        assert!(catch_unwind(panic).is_err());
        let expected = [None, Some(FailureKind::Panicked)];
        assert_eq!(failures(&end.progress.take()), expected);
        assert!(end.done.recv().is_err());
    }

    #[test]
    fn a_callback_gets_each_result_and_the_end() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listening = || -> Option<Callback> {
            let heard = Arc::clone(&heard);
            Some(Box::new(move |update| {
                heard.lock().unwrap().push(match update {
                    HookUpdate::Result(result) => result.hook.label().to_owned(),
                    HookUpdate::Done(outcome) => format!("{} results", outcome.results().len()),
                });
            }))
        };
        job(listening()).0.refuse(&Refusal::Busy);
        assert!(heard.lock().unwrap().is_empty());
        job(listening()).0.abandon();
        assert_eq!(*heard.lock().unwrap(), ["a:b", "c:d", "2 results"]);
    }

    #[test]
    fn results_that_nobody_wants_are_not_kept() {
        let (mut job, end) = job(None);
        let hook = Arc::clone(&job.hooks[0]);
        let held = Arc::strong_count(&hook);
        job.sink.push(HookResult::new(Arc::clone(&hook), 0));
        assert_eq!(Arc::strong_count(&hook), held + 1);
        end.progress.discard();
        job.sink.push(HookResult::new(Arc::clone(&hook), 0));
        assert_eq!(Arc::strong_count(&hook), held);
    }

    #[test]
    fn a_channel_starts_with_earlier_results() {
        let (mut job, end) = job(None);
        let result =
            |job: &FireJob, index: usize| HookResult::new(Arc::clone(&job.hooks[index]), 0);
        job.sink.push(result(&job, 0));
        let receiver = end.progress.redirect();
        job.sink.push(result(&job, 1));
        job.sink.close();
        let labels = receiver.iter().map(|result| result.hook.label().to_owned());
        assert_eq!(labels.collect::<Vec<_>>(), ["a:b", "c:d"]);
    }
}
