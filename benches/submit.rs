//! What does it cost a thread that must not wait to hand an event over, to look at its handle, and to
//! take it back?
//!
//! The pool is busy and a thousand events wait, as in a game that fires more than its hooks can take.
//! Fails when the median of `submit` is above 5 microseconds or its 99th percentile above 20, when a
//! look at a handle takes more than 100 nanoseconds, or when a cancelled hook has not been signalled
//! within 50 milliseconds.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use criterion::Criterion;
use forge_hooks::{FireOptions, Hook, HookEvent, HookExecutor, HookHandle};
use serde_json::json;

const WAITING: usize = 1000;
const ROUNDS: usize = 20;

#[cfg(not(windows))]
const LONG: &str = "sleep 60";
#[cfg(windows)]
const LONG: &str = "ping -n 60 127.0.0.1 >NUL";

fn executor(command: &str) -> HookExecutor {
    let executor = HookExecutor::builder().queue_capacity(10_000).build();
    let hook = Hook::new("*", command).expect("a hook");
    executor.registry().register(hook);
    executor
}

fn guard() -> HookEvent {
    HookEvent::tool_pre_execute("bash", json!({"command": "ls -la"}))
}

fn message() -> HookEvent {
    HookEvent::session_message("s1", "user", "hello").with_session_id("s1")
}

fn submit(executor: &HookExecutor, event: HookEvent) -> HookHandle {
    executor
        .submit(event, FireOptions::default())
        .expect("room in the queue")
}

/// One of the times such that so many hundredths are below it.
fn percentile(sorted: &[Duration], hundredths: usize) -> Duration {
    sorted[(sorted.len() - 1) * hundredths / 100]
}

fn within(what: &str, mut times: Vec<Duration>, p50: Duration, p99: Duration) -> bool {
    times.sort_unstable();
    let found = (percentile(&times, 50), percentile(&times, 99));
    println!(
        "{what}: p50 {:?} (at most {p50:?}), p99 {:?} (at most {p99:?})",
        found.0, found.1
    );
    found.0 <= p50 && found.1 <= p99
}

/// Times each call; the queue is as long in each round as in the first.
fn time_of_submit(executor: &HookExecutor, event: fn() -> HookEvent) -> Vec<Duration> {
    let mut times = Vec::with_capacity(WAITING * ROUNDS);
    for _ in 0..ROUNDS {
        let handles: Vec<_> = (0..WAITING)
            .map(|_| {
                let event = event();
                let start = Instant::now();
                let handle = submit(executor, event);
                times.push(start.elapsed());
                handle
            })
            .collect();
        handles.iter().for_each(HookHandle::cancel);
    }
    times
}

fn time_of_a_look(handle: &mut HookHandle) -> Vec<Duration> {
    const LOOKS: u32 = 1000;
    let look = |_| {
        let start = Instant::now();
        for _ in 0..LOOKS {
            assert!(black_box(handle.try_wait()).is_none());
        }
        start.elapsed() / LOOKS
    };
    (0..100).map(look).collect()
}

/// From the call to the end of a hook that ends when it is asked to.
fn time_of_cancelling() -> Vec<Duration> {
    let executor = executor(LONG);
    let one = |_| {
        let handle = submit(&executor, guard());
        // Long enough for the process to be there.
        std::thread::sleep(Duration::from_millis(20));
        let start = Instant::now();
        handle.cancel();
        let outcome = handle.wait();
        assert!(outcome.results()[0].started(), "it was there");
        start.elapsed()
    };
    (0..30).map(one).collect()
}

fn main() -> ExitCode {
    let micros = Duration::from_micros;
    let executor = executor(LONG);
    let mut waiting: Vec<_> = (0..WAITING).map(|_| submit(&executor, guard())).collect();
    let mut results = vec![];
    for (what, event) in [
        ("guards", guard as fn() -> HookEvent),
        ("one session", message),
    ] {
        let times = time_of_submit(&executor, event);
        results.push(within(
            &format!("submit, {what}"),
            times,
            micros(5),
            micros(20),
        ));
    }
    // The last of the queue: its turn does not come.
    let last = waiting.last_mut().expect("a handle");
    let times = time_of_a_look(last);
    let limit = Duration::from_nanos(100);
    results.push(within("a look at a handle", times, limit, limit));
    let limit = Duration::from_millis(50);
    results.push(within(
        "from cancelling to the end",
        time_of_cancelling(),
        limit,
        limit,
    ));

    let mut criterion = Criterion::default().configure_from_args();
    criterion.bench_function("a look at a handle that is not finished", |b| {
        b.iter(|| assert!(black_box(last.try_wait()).is_none()));
    });
    criterion.bench_function("submit and cancel", |b| {
        b.iter(|| submit(&executor, guard()).cancel());
    });
    criterion.final_summary();
    if results.into_iter().all(|within| within) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
