//! A submitted event: the job that a thread runs, and the handle by which its results are had.
//!
//! Every hook of a job is answered, whatever becomes of the job: what has not been answered when it
//! is dropped, is then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded};

use super::run::Engine;
use super::{FireOptions, chain};
use crate::events::{EventType, HookEvent};
use crate::hook::Hook;
use crate::outcome::{HookResult, Outcome};
use crate::process::Cancel;

/// The hooks of one event, on their way.
pub(super) struct Job {
    event: Arc<HookEvent>,
    hooks: Vec<Arc<Hook>>,
    options: FireOptions,
    cancel: Arc<Cancel>,
    answers: Answers,
    started: bool,
}

/// Where the results go. The channel has room for all of them, so that sending never waits.
struct Answers {
    sender: Option<Sender<HookResult>>,
    given: usize,
    finished: Arc<AtomicBool>,
}

impl Job {
    pub(super) fn new(
        event: Arc<HookEvent>,
        hooks: Vec<Arc<Hook>>,
        options: FireOptions,
    ) -> (Self, HookHandle) {
        let (sender, receiver) = bounded(hooks.len());
        let finished = Arc::new(AtomicBool::new(false));
        let handle = HookHandle {
            event_type: event.event_type.clone(),
            receiver,
            results: Vec::new(),
            state: State::Running,
            finished: Arc::clone(&finished),
        };
        let answers = Answers {
            sender: Some(sender),
            given: 0,
            finished,
        };
        (
            Self {
                event,
                hooks,
                options,
                cancel: Arc::default(),
                answers,
                started: false,
            },
            handle,
        )
    }

    pub(super) fn cancel(&self) -> Arc<Cancel> {
        Arc::clone(&self.cancel)
    }

    /// The event of a job that no queue would take; nobody waits for its results.
    pub(super) fn take_back(mut self) -> Arc<HookEvent> {
        self.hooks.clear();
        Arc::clone(&self.event)
    }

    pub(super) fn run(mut self, engine: &Engine) {
        self.started = true;
        let (answers, cancel) = (&mut self.answers, Some(&*self.cancel));
        let mut answer = |result| answers.give(result);
        chain::run(
            engine,
            &self.event,
            &self.hooks,
            self.options,
            cancel,
            &mut answer,
        );
        self.answers.close();
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if self.answers.sender.is_none() {
            return;
        }
        let unanswered = self.hooks.get(self.answers.given..).unwrap_or_default();
        // A job that waits is dropped by its host, which may have a panic of its own.
        let result = if self.started && thread::panicking() {
            chain::panicked
        } else {
            chain::never_ran
        };
        for hook in unanswered {
            self.answers.give(result(hook));
        }
        self.answers.close();
    }
}

impl Answers {
    fn give(&mut self, result: HookResult) {
        self.given += 1;
        if let Some(sender) = &self.sender {
            // An error is a handle that was dropped: nobody wants to know.
            let _ = sender.try_send(result);
        }
    }

    /// Nothing more will come. In this order: whoever sees the flag finds the channel at its end.
    fn close(&mut self) {
        if self.sender.take().is_some() {
            self.finished.store(true, Ordering::SeqCst);
        }
    }
}

/// An event whose hooks are running, or waiting to.
///
/// Dropping it changes nothing: the hooks go on to their end, and their results are lost.
///
/// ```
/// use std::sync::Arc;
/// use forge_hooks::{FireOptions, Hook, HookEvent, HookExecutor, HookRegistry};
///
/// let registry = Arc::new(HookRegistry::new());
/// registry.register(Hook::new("session:start", "echo hello")?);
/// let executor = HookExecutor::new(registry);
///
/// let mut handle = executor.submit(HookEvent::session_start("s1"), FireOptions::default())?;
/// let outcome = loop {
///     // ... a frame of a game ...
///     if let Some(outcome) = handle.try_wait() {
///         break outcome;
///     }
///     # std::thread::yield_now();
/// };
/// assert_eq!(outcome[0].stdout.trim(), "hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "hooks may have blocked the operation: wait for the outcome"]
pub struct HookHandle {
    event_type: EventType,
    receiver: Receiver<HookResult>,
    results: Vec<HookResult>,
    state: State,
    finished: Arc<AtomicBool>,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Running,
    /// All results are here.
    Complete,
    /// The outcome has been handed out.
    Given,
}

impl HookHandle {
    /// For an event without hooks.
    pub(super) fn finished(event_type: EventType) -> Self {
        Self {
            event_type,
            receiver: crossbeam_channel::never(),
            results: Vec::new(),
            state: State::Complete,
            finished: Arc::new(AtomicBool::new(true)),
        }
    }

    /// Waits for the hooks to end: as long as they wait for their turn, and then no longer than the
    /// sum of their timeouts and what it takes to kill them.
    ///
    /// After [`try_wait`](HookHandle::try_wait) or [`wait_timeout`](HookHandle::wait_timeout) has
    /// given the outcome out, this one holds only the results that do not continue, so that what is
    /// blocked stays so.
    pub fn wait(mut self) -> Outcome {
        if self.state == State::Running {
            self.results.extend(self.receiver.iter());
        }
        Outcome::new(self.event_type, self.results)
    }

    /// The outcome, once, when the hooks have ended. Never blocks; meant to be called once a frame.
    #[must_use]
    pub fn try_wait(&mut self) -> Option<Outcome> {
        while self.state == State::Running {
            match self.receiver.try_recv() {
                Ok(result) => self.results.push(result),
                Err(TryRecvError::Empty) => return None,
                Err(TryRecvError::Disconnected) => self.state = State::Complete,
            }
        }
        self.give()
    }

    /// The outcome, once, when the hooks end within this time.
    #[must_use]
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<Outcome> {
        // A time that is too far away to be told is as good as none: hooks have deadlines.
        let deadline = Instant::now().checked_add(timeout);
        while self.state == State::Running {
            let next = match deadline {
                Some(deadline) => self.receiver.recv_deadline(deadline),
                None => self
                    .receiver
                    .recv()
                    .map_err(|_| RecvTimeoutError::Disconnected),
            };
            match next {
                Ok(result) => self.results.push(result),
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => self.state = State::Complete,
            }
        }
        self.give()
    }

    /// Whether the hooks have ended: then the other methods do not wait.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.finished.load(Ordering::SeqCst)
    }

    fn give(&mut self) -> Option<Outcome> {
        if self.state == State::Given {
            return None;
        }
        self.state = State::Given;
        let results = std::mem::take(&mut self.results);
        self.results = results
            .iter()
            .filter(|result| !result.should_continue())
            .cloned()
            .collect();
        Some(Outcome::new(self.event_type.clone(), results))
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::outcome::FailureKind;

    fn job() -> (Job, HookHandle) {
        let hooks = ["a:b", "c:d"].map(|pattern| Arc::new(Hook::new(pattern, "true").unwrap()));
        Job::new(
            Arc::new(HookEvent::user_interrupt()),
            hooks.into(),
            FireOptions::default(),
        )
    }

    fn failures(outcome: &Outcome) -> Vec<Option<FailureKind>> {
        outcome.iter().map(|result| result.failure).collect()
    }

    #[test]
    fn a_job_that_never_runs_is_answered_when_it_is_dropped() {
        let (job, handle) = job();
        assert!(!handle.is_finished());
        drop(job);
        assert!(handle.is_finished());
        assert_eq!(failures(&handle.wait()), [Some(FailureKind::Cancelled); 2]);
    }

    #[test]
    fn a_job_at_which_the_engine_panics_is_answered_for_the_hooks_that_are_left() {
        let (mut job, handle) = job();
        job.started = true;
        let panic = AssertUnwindSafe(move || {
            job.answers
                .give(HookResult::new(Arc::clone(&job.hooks[0]), 0));
            panic!("as the engine would");
        });
        assert!(catch_unwind(panic).is_err());
        assert_eq!(
            failures(&handle.wait()),
            [None, Some(FailureKind::Panicked)]
        );
    }
}
