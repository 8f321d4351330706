//! Threads that submit, cancel, drop and shut down, under a scheduler that tries one order of their steps after the other.
//! `.ci/shuttle` builds them. A thread that waits forever is a failure too.
//!
//! No hook needs a process: their answers are in their entries. The scheduler has no clock.

#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use shuttle::sync::mpsc::{Receiver, Sender, channel};
use shuttle::thread;

use super::delivery::ResultSender;
use super::token::Run;
use super::{CancelToken, FireOptions, HookExecutor, HookHandle, SubmitError};
use crate::entry::HookOutput;
use crate::events::HookEvent;
use crate::hook::{ApprovalCheck, Hook};
use crate::outcome::{FailureKind, HookResult};
use crate::pool::{Pool, Priority, Refusal, Runnable};

/// The number of hooks of each event.
const HOOKS: usize = 2;

/// A wait without a limit: the scheduler ignores the time.
const FOR_EVER: Duration = Duration::from_secs(3600);

fn try_schedules(test: fn()) {
    let count = std::env::var("FORGE_HOOKS_TEST_SCHEDULES");
    let count = count.map_or(1000, |count| count.parse().unwrap());
    shuttle::check_random(test, count);
}

fn executor(workers: usize) -> HookExecutor {
    with_hooks(HookExecutor::builder().workers(workers).build())
}

fn with_hooks(executor: HookExecutor) -> HookExecutor {
    for _ in 0..HOOKS {
        let answer = HookOutput {
            additional_context: Some("x".to_owned()),
            ..HookOutput::default()
        };
        executor
            .registry()
            .register(Hook::answering("*", answer).unwrap());
    }
    executor
}

fn submit(executor: &HookExecutor, options: FireOptions) -> HookHandle {
    let event = HookEvent::tool_pre_execute("bash", "ls");
    executor.submit(event, options).unwrap()
}

fn was_cancelled(result: &HookResult) -> bool {
    result.failure() == Some(FailureKind::Cancelled)
}

/// Waits, and returns the number of hooks that were cancelled.
fn cancelled(handle: HookHandle) -> usize {
    let outcome = handle.wait();
    assert_eq!(outcome.results().len(), HOOKS);
    let mut results = outcome.results().iter();
    assert!(results.all(|result| result.success() || was_cancelled(result)));
    let results = outcome.results().iter();
    results.filter(|result| was_cancelled(result)).count()
}

/// A step of a job of a pool.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Note {
    Begins(usize),
    Ends(usize),
    Abandoned(usize),
}

struct Noted {
    number: usize,
    notes: Arc<Mutex<Vec<Note>>>,
}

impl Noted {
    fn note(&self, note: Note) {
        self.notes.lock().unwrap().push(note);
    }
}

impl Runnable for Noted {
    fn run(self) {
        self.note(Note::Begins(self.number));
        thread::yield_now();
        self.note(Note::Ends(self.number));
    }

    fn abandon(self, refused: Option<&Refusal>) {
        assert!(refused.is_none());
        self.note(Note::Abandoned(self.number));
    }
}

/// Three jobs have one key, one has none, and one of the three is withdrawn meanwhile.
#[test]
fn jobs_with_one_key_run_in_order() {
    try_schedules(|| {
        let notes = Arc::new(Mutex::new(Vec::new()));
        let pool = Pool::new("test", 2, 2, 10);
        let submit = |number, ordering_key| {
            let notes = Arc::clone(&notes);
            let priority = Priority {
                guard: false,
                ordering_key,
            };
            pool.submit(priority, Noted { number, notes }).unwrap()
        };
        let withdrawn = submit(0, Some(7));
        let canceller = thread::spawn(move || withdrawn.withdraw());
        let _ = [submit(1, Some(7)), submit(2, Some(7)), submit(3, None)];
        pool.close();
        assert!(pool.wait_for_the_end(FOR_EVER));
        canceller.join().unwrap();
        let notes = notes.lock().unwrap();
        let of_key: Vec<_> = notes.iter().filter(|note| !is_of(note, 3)).collect();
        let (first, rest) = of_key.split_at(of_key.len() - 4);
        assert!(matches!(
            first,
            [Note::Begins(0), Note::Ends(0)] | [Note::Abandoned(0)]
        ));
        let expected = [1, 2].map(|number| [Note::Begins(number), Note::Ends(number)]);
        assert!(
            rest.iter().copied().eq(expected.as_flattened()),
            "{notes:?}"
        );
        assert_eq!(notes.len() - of_key.len(), 2);
    });
}

fn is_of(note: &Note, number: usize) -> bool {
    let (Note::Begins(of) | Note::Ends(of) | Note::Abandoned(of)) = note;
    *of == number
}

#[test]
fn each_accepted_event_is_answered_at_a_shutdown() {
    try_schedules(|| {
        let executor = executor(2);
        let clone = executor.clone();
        let is_over = Arc::new(AtomicBool::new(false));
        let shut_down = Arc::clone(&is_over);
        let submitting = thread::spawn(move || {
            for _ in 0..2 {
                let event = HookEvent::tool_pre_execute("bash", "ls");
                match clone.submit(event, FireOptions::new()) {
                    Ok(handle) => {
                        assert!(handle.is_finished() || !is_over.load(Ordering::SeqCst));
                        assert_eq!(cancelled(handle), 0);
                    }
                    Err(error) => assert!(matches!(error, SubmitError::ShutDown(_))),
                }
            }
        });
        assert!(executor.shutdown(FOR_EVER));
        shut_down.store(true, Ordering::SeqCst);
        submitting.join().unwrap();
    });
}

#[test]
fn a_cancelled_event_ends_once() {
    try_schedules(|| {
        let executor = executor(1);
        let token = CancelToken::new();
        let options = FireOptions::new().cancelled_by(&token);
        let canceller = token.clone();
        let canceller = thread::spawn(move || canceller.cancel());
        let handle = submit(&executor, options.clone());
        let called = executor.execute_hooks(&HookEvent::user_interrupt(), options);
        assert_eq!(called.len(), HOOKS);
        cancelled(handle);
        canceller.join().unwrap();
        assert!(token.is_cancelled() && token.is_finished());
        assert!(executor.shutdown(FOR_EVER));
    });
}

/// The token of its handle is cancelled with it.
#[test]
fn a_cancellation_reaches_a_run_that_is_just_registered() {
    try_schedules(|| {
        let parent = CancelToken::new();
        let canceller = parent.clone();
        let canceller = thread::spawn(move || canceller.cancel());
        let (sender, _received) = ResultSender::new(0, false, Default::default());
        let (own, tokens) = (CancelToken::new(), vec![CancelToken::new(), parent]);
        let run = Run::of_event(tokens, own.clone(), sender.channel);
        canceller.join().unwrap();
        assert!(run.cancel().is_requested() && own.is_cancelled());
    });
}

/// A check that keeps the thread of the pool.
#[derive(Debug)]
struct Keeps(Mutex<Option<(Sender<()>, Receiver<()>)>>);

impl ApprovalCheck for Keeps {
    fn lost(&self, _: &Hook) -> Option<String> {
        let first = self.0.lock().unwrap().take();
        if let Some((begun, released)) = first {
            begun.send(()).unwrap();
            released.recv().unwrap();
        }
        None
    }
}

/// Returns an executor whose only thread runs this event until something is sent.
fn kept() -> (HookExecutor, HookHandle, Sender<()>) {
    let ((begins, begun), (release, released)) = (channel(), channel());
    let keeps = Arc::new(Keeps(Mutex::new(Some((begins, released)))));
    let executor = executor(1);
    let hooks = executor.registry().hooks();
    executor.registry().clear();
    for hook in hooks {
        let check = Arc::clone(&keeps);
        let hook = Hook::clone(&hook).with_approval(check);
        executor.registry().register(hook);
    }
    let first = submit(&executor, FireOptions::new());
    begun.recv().unwrap();
    (executor, first, release)
}

#[test]
fn a_cancellation_reaches_an_event_that_is_just_queued() {
    try_schedules(|| {
        let (executor, first, release) = kept();
        let token = CancelToken::new();
        let canceller = token.clone();
        let canceller = thread::spawn(move || canceller.cancel());
        let handle = submit(&executor, FireOptions::new().cancelled_by(&token));
        canceller.join().unwrap();
        assert!(handle.is_finished(), "no thread that runs it is waited for");
        assert_eq!(cancelled(handle), HOOKS);
        release.send(()).unwrap();
        assert_eq!(cancelled(first), 0);
        assert!(executor.shutdown(FOR_EVER));
    });
}

/// The first hook of the running event has ended.
#[test]
fn drops_answer_all_and_end_the_threads() {
    try_schedules(|| {
        let (executor, first, release) = kept();
        let remains = executor.remains();
        let [dropped, cancelling, waiting] =
            [(); 3].map(|()| submit(&executor, FireOptions::new()));
        let tokens = [dropped.cancel_token(), cancelling.cancel_token()];
        let dropping = thread::spawn(move || drop(executor));
        drop(dropped);
        drop(cancelling.cancel_on_drop());
        assert!(tokens[1].is_cancelled());
        dropping.join().unwrap();
        assert!(waiting.is_finished() && tokens.iter().all(CancelToken::is_finished));
        assert_eq!(cancelled(waiting), HOOKS);
        release.send(()).unwrap();
        assert_eq!(cancelled(first), HOOKS - 1);
        remains.wait();
    });
}

#[test]
fn a_cancellation_of_all_affects_no_later_event() {
    try_schedules(|| {
        let executor = executor(2);
        let before = submit(&executor, FireOptions::new());
        let clone = executor.clone();
        let canceller = thread::spawn(move || clone.cancel_running());
        let beside = submit(&executor, FireOptions::new());
        canceller.join().unwrap();
        let after = submit(&executor, FireOptions::new());
        assert_eq!(cancelled(after), 0);
        cancelled(before);
        cancelled(beside);
        assert!(executor.shutdown(FOR_EVER));
    });
}

/// The threads are idle between two events, or about to be.
#[test]
fn no_call_of_a_thread_is_lost() {
    try_schedules(|| {
        let executor = executor(2);
        let clone = executor.clone();
        let other = thread::spawn(move || {
            for _ in 0..2 {
                assert_eq!(cancelled(submit(&clone, FireOptions::new())), 0);
            }
        });
        for _ in 0..2 {
            assert_eq!(cancelled(submit(&executor, FireOptions::new())), 0);
        }
        other.join().unwrap();
        assert!(executor.shutdown(FOR_EVER));
    });
}
