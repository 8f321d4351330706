//! A submitted event: what a thread runs, and the way its results go.
//!
//! Every hook of an event that was taken is answered exactly once, whatever becomes of the thread
//! or the executor. Knows nothing of the queue.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, bounded};
use log::error;

use super::chain;
use super::event::SharedEvent;
use super::firing::{Fired, Firing};
use super::nesting::{self, Nesting};
use super::observer::{DropReason, HookRun};
use super::options::FireOptions;
use super::pool::Job;
use super::report;
use super::run::Engine;
use crate::hook::Hook;
use crate::outcome::{HookResult, Outcome};
use crate::process::Cancel;

/// The hooks of one event, on their way.
pub(super) struct FireJob {
    engine: Arc<Engine>,
    event: SharedEvent,
    hooks: Vec<Arc<Hook>>,
    options: FireOptions,
    submitted: Instant,
    /// Of the hooks that run where it was submitted.
    depth: usize,
    cancel: Arc<Cancel>,
    answers: Answers,
}

/// What is left of the job with whoever has submitted it.
pub(super) struct JobEnd {
    pub(super) cancel: Arc<Cancel>,
    pub(super) progress: Arc<Progress>,
    /// Disconnected when nothing more will come.
    pub(super) done: Receiver<Infallible>,
}

/// What a callback is told of a submitted event; see
/// [`HookExecutor::submit_with`](crate::HookExecutor::submit_with).
#[derive(Debug)]
#[non_exhaustive]
pub enum HookUpdate<'a> {
    /// A hook has ended.
    Result(&'a HookResult),
    /// All have, and nothing more will come. Told exactly once, whatever happens.
    Done(Outcome),
}

/// Told of each result as it comes, and of the end.
pub(super) type Callback = Box<dyn FnMut(HookUpdate<'_>) + Send>;

impl FireJob {
    pub(super) fn new(
        engine: Arc<Engine>,
        event: SharedEvent,
        hooks: Vec<Arc<Hook>>,
        options: FireOptions,
        callback: Option<Callback>,
    ) -> (Self, JobEnd) {
        let (sender, done) = bounded(0);
        let progress = Arc::new(Progress::new(hooks.len()));
        let cancel = Arc::<Cancel>::default();
        let end = JobEnd {
            cancel: Arc::clone(&cancel),
            progress: Arc::clone(&progress),
            done,
        };
        let answers = Answers {
            given: 0,
            progress,
            told: callback.map(|callback| Told {
                callback,
                event: event.clone(),
                results: Vec::new(),
            }),
            done: Some(sender),
        };
        let job = Self {
            engine,
            event,
            hooks,
            options,
            submitted: Instant::now(),
            depth: nesting::depth(),
            cancel,
            answers,
        };
        (job, end)
    }

    fn tell_of_drop(&self, reason: DropReason) {
        let queued = self.submitted.elapsed();
        for hook in &self.hooks {
            let run = HookRun::new(&self.event, hook, queued);
            self.engine.drop_run(&run, reason);
        }
    }

    /// Answers for those that have not been.
    fn answer_the_rest(&mut self, result: impl Fn(&Arc<Hook>) -> HookResult) {
        let waited_for = self.hooks.iter().filter(|hook| !hook.background());
        for hook in waited_for.skip(self.answers.given) {
            let result = result(hook);
            self.engine.closing.note(&result);
            self.answers.give(result);
        }
        self.answers.close();
    }
}

impl Job for FireJob {
    fn cancel(&self) -> Arc<Cancel> {
        Arc::clone(&self.cancel)
    }

    fn run(mut self: Box<Self>) {
        let _nesting = Nesting::resume(self.depth);
        let mut firing = Firing::new(Fired::Shared(self.event.clone()), &self.engine.naming);
        firing.queued = self.submitted.elapsed();
        firing.cancel = Some(Arc::clone(&self.cancel));
        let (engine, answers) = (&self.engine, &mut self.answers);
        let mut answer = |result: HookResult| {
            engine.closing.note(&result);
            answers.give(result);
        };
        chain::run(engine, firing, &self.hooks, self.options, &mut answer);
        self.answers.close();
    }

    fn abandon(mut self: Box<Self>) {
        let queued = self.submitted.elapsed();
        self.tell_of_drop(DropReason::Cancelled);
        self.answer_the_rest(|hook| chain::never_ran(hook, queued));
    }

    fn refuse(mut self: Box<Self>, reason: DropReason) {
        self.tell_of_drop(reason);
        // Its host has the event back, and hears nothing else of it.
        self.answers.told = None;
        self.answers.done = None;
    }
}

/// Only a job at which the engine has panicked is not closed yet.
impl Drop for FireJob {
    fn drop(&mut self) {
        if self.answers.done.is_some() {
            let engine = Arc::clone(&self.engine);
            self.answer_the_rest(|hook| chain::panicked(&engine, hook));
        }
    }
}

/// Where the results go.
struct Answers {
    given: usize,
    progress: Arc<Progress>,
    told: Option<Told>,
    /// None once all has been said.
    done: Option<Sender<Infallible>>,
}

struct Told {
    callback: Callback,
    event: SharedEvent,
    results: Vec<HookResult>,
}

impl Answers {
    fn give(&mut self, result: HookResult) {
        self.given += 1;
        match &mut self.told {
            None => self.progress.give(result),
            Some(told) => {
                let goes_on = call(&mut told.callback, HookUpdate::Result(&result));
                told.results.push(result);
                if !goes_on {
                    self.told = None;
                }
            }
        }
    }

    /// In this order: whoever is woken by the end finds everything there.
    fn close(&mut self) {
        if let Some(mut told) = self.told.take() {
            let outcome = Outcome::new(told.event.event_type.clone(), told.results);
            call(&mut told.callback, HookUpdate::Done(outcome));
        }
        self.progress.close();
        self.done = None;
    }
}

/// Whether it may be called again.
fn call(callback: &mut Callback, update: HookUpdate<'_>) -> bool {
    let called = catch_unwind(AssertUnwindSafe(|| callback(update)));
    if called.is_err() {
        report::tell(|| {
            error!("the callback of a submitted event panicked; it is not called again")
        });
    }
    called.is_ok()
}

/// The results of a job, and whether there will be more.
pub(super) struct Progress {
    /// So many results there may be.
    most: usize,
    finished: AtomicBool,
    delivery: Mutex<Delivery>,
}

enum Delivery {
    Kept(Vec<HookResult>),
    /// It has room for all of them, so that sending never waits.
    To(Sender<HookResult>),
    Nobody,
}

impl Progress {
    fn new(most: usize) -> Self {
        Self {
            most,
            finished: AtomicBool::new(false),
            delivery: Mutex::new(Delivery::Kept(Vec::new())),
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Acquire)
    }

    /// The results that have come and have not been taken.
    pub(super) fn take(&self) -> Vec<HookResult> {
        match &mut *self.lock() {
            Delivery::Kept(results) => std::mem::take(results),
            Delivery::To(_) | Delivery::Nobody => Vec::new(),
        }
    }

    /// From here on results go to a channel, those that have come first.
    pub(super) fn redirect(&self) -> Receiver<HookResult> {
        let mut delivery = self.lock();
        let (sender, receiver) = bounded(self.most);
        if let Delivery::Kept(results) = &mut *delivery {
            for result in results.drain(..) {
                let _ = sender.try_send(result);
            }
        }
        if !self.is_finished() {
            *delivery = Delivery::To(sender);
        }
        receiver
    }

    /// Nobody wants to know any more.
    pub(super) fn forget(&self) {
        *self.lock() = Delivery::Nobody;
    }

    fn give(&self, result: HookResult) {
        match &mut *self.lock() {
            Delivery::Kept(results) => results.push(result),
            Delivery::To(sender) => {
                // An error is a receiver that was dropped.
                let _ = sender.try_send(result);
            }
            Delivery::Nobody => {}
        }
    }

    /// While it is locked, so that `redirect` cannot miss it.
    fn close(&self) {
        let mut delivery = self.lock();
        self.finished.store(true, Ordering::Release);
        if matches!(*delivery, Delivery::To(_)) {
            *delivery = Delivery::Nobody;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Delivery> {
        self.delivery.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::HookEvent;
    use crate::executor::HookExecutor;
    use crate::outcome::FailureKind;

    fn job(callback: Option<Callback>) -> (Box<FireJob>, JobEnd) {
        let executor = HookExecutor::builder().build();
        let hooks = ["a:b", "c:d"].map(|pattern| Arc::new(Hook::new(pattern, "true").unwrap()));
        let (job, end) = FireJob::new(
            Arc::clone(&executor.shared.engine),
            Arc::new(HookEvent::user_interrupt()).into(),
            hooks.into(),
            FireOptions::default(),
            callback,
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
    fn a_job_at_which_the_engine_panics_is_answered_for_the_hooks_that_are_left() {
        let (mut job, end) = job(None);
        let panic = AssertUnwindSafe(move || {
            let result = HookResult::new(Arc::clone(&job.hooks[0]), 0);
            job.answers.give(result);
            panic!("as the engine would");
        });
        assert!(catch_unwind(panic).is_err());
        let expected = [None, Some(FailureKind::Panicked)];
        assert_eq!(failures(&end.progress.take()), expected);
        assert!(end.done.recv().is_err());
    }

    #[test]
    fn a_callback_hears_of_every_result_and_of_the_end_and_nothing_of_what_was_not_taken() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listening = || -> Option<Callback> {
            let heard = Arc::clone(&heard);
            Some(Box::new(move |update| {
                heard.lock().unwrap().push(match update {
                    HookUpdate::Result(result) => result.hook.label().to_owned(),
                    HookUpdate::Done(outcome) => format!("{} results", outcome.len()),
                });
            }))
        };
        job(listening()).0.refuse(DropReason::Busy);
        assert!(heard.lock().unwrap().is_empty());
        job(listening()).0.abandon();
        assert_eq!(*heard.lock().unwrap(), ["a:b", "c:d", "2 results"]);
    }

    #[test]
    fn results_that_nobody_wants_are_not_kept() {
        let (mut job, end) = job(None);
        let hook = Arc::clone(&job.hooks[0]);
        let held = Arc::strong_count(&hook);
        job.answers.give(HookResult::new(Arc::clone(&hook), 0));
        assert_eq!(Arc::strong_count(&hook), held + 1);
        end.progress.forget();
        job.answers.give(HookResult::new(Arc::clone(&hook), 0));
        assert_eq!(Arc::strong_count(&hook), held);
    }

    #[test]
    fn results_that_came_before_the_channel_are_its_first() {
        let (mut job, end) = job(None);
        let result =
            |job: &FireJob, index: usize| HookResult::new(Arc::clone(&job.hooks[index]), 0);
        job.answers.give(result(&job, 0));
        let receiver = end.progress.redirect();
        job.answers.give(result(&job, 1));
        job.answers.close();
        let labels = receiver.iter().map(|result| result.hook.label().to_owned());
        assert_eq!(labels.collect::<Vec<_>>(), ["a:b", "c:d"]);
    }
}
