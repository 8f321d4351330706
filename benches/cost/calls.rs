//! Figures of single calls that start no process, and must not block the calling thread.
//!
//! For `submit`, the pool is busy and a thousand events are queued, as in a game that fires events
//! faster than its hooks can run.

use std::hint::black_box;
use std::time::{Duration, Instant};

use forge_hooks::{
    AppProfile, Decision, EventType, FireOptions, Hook, HookEvent, HookExecutor, HookHandle,
    HookOutput, Hooks,
};
use serde_json::{Value, json};

use crate::memory;
use crate::one_hook::{executor, percentile};
use crate::table::{Effort, Figure, Measured};

const WAITING: usize = 1000;

/// The number of calls that are timed together, since one is too short for the clock.
const TOGETHER: u32 = 1000;

/// An executor with busy workers and queued events.
struct Busy {
    executor: HookExecutor,
    waiting: Vec<HookHandle>,
}

impl Busy {
    fn new(waiting: usize) -> Self {
        let executor = HookExecutor::builder().queue_capacity(10_000).build();
        executor.registry().register(hook("*", "sleep 60"));
        let waiting = (0..waiting)
            .map(|_| submit_to(&executor, guard()))
            .collect();
        Self { executor, waiting }
    }
}

/// Shuts the executor down. Otherwise its processes would outlive this program.
impl Drop for Busy {
    fn drop(&mut self) {
        let _report = self.executor.shutdown(Duration::ZERO);
    }
}

fn hook(pattern: &str, command: &str) -> Hook {
    Hook::new(pattern, command).expect("a hook")
}

fn guard() -> HookEvent {
    HookEvent::tool_pre_execute("bash", json!({"command": "ls -la"}))
}

fn message() -> HookEvent {
    HookEvent::session_message("s1", "user", "hello").with_session_id("s1")
}

fn submit_to(executor: &HookExecutor, event: HookEvent) -> HookHandle {
    let handle = executor.submit(event, FireOptions::default());
    handle.expect("a place in the queue")
}

fn nanoseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}

/// Creates an executor with hooks for other events, and for other tools of other events.
fn executor_with(others: usize) -> HookExecutor {
    let executor = HookExecutor::builder().build();
    for number in 0..others {
        let pattern = match number % 3 {
            0 => "llm:*".to_owned(),
            1 => format!("tool:pre_execute:tool_{number}"),
            _ => format!("tool:*:read_{number}|write_{number}"),
        };
        executor.registry().register(hook(&pattern, "true"));
    }
    executor
}

/// Returns the median time of a call.
fn median(effort: Effort, mut call: impl FnMut()) -> f64 {
    let mut together = || {
        let start = Instant::now();
        for _ in 0..TOGETHER {
            call();
        }
        start.elapsed() / TOGETHER
    };
    let mut times: Vec<_> = (0..effort.rounds(100)).map(|_| together()).collect();
    nanoseconds(percentile(&mut times, 50))
}

fn figure(effort: Effort, mut call: impl FnMut()) -> Measured {
    Ok(Figure::of_blocks(|| median(effort, &mut call)))
}

fn fire(executor: &HookExecutor, event: &HookEvent) {
    black_box(executor.execute_hooks(black_box(event), FireOptions::default()));
}

pub(crate) fn unmatched(effort: Effort) -> Measured {
    let executor = executor_with(10);
    let event = HookEvent::new(EventType::UserInterrupt);
    figure(effort, || fire(&executor, &event))
}

/// Asks of one file after the other whether it decides which hooks run.
pub(crate) fn decides(effort: Effort) -> Measured {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    std::fs::create_dir_all(path("project/src")).expect("a directory");
    let hooks = Hooks::builder(AppProfile::default())
        .config_home(path("config"))
        .without_system_file()
        .project(path("project"))
        .load();
    let file = path("project/src/main.rs");
    Ok(Figure::of_blocks(|| {
        let ask = || {
            let start = Instant::now();
            assert!(!hooks.decides(&file));
            start.elapsed()
        };
        let mut times: Vec<_> = (0..effort.rounds(500)).map(|_| ask()).collect();
        nanoseconds(percentile(&mut times, 50))
    }))
}

/// Creates a hook whose answer stands in its entry.
pub(crate) fn answering() -> Hook {
    let mut answer = HookOutput::default();
    answer.decision = Some(Decision::Block);
    answer.reason = Some("no".to_owned());
    Hook::answering("tool:pre_execute", answer).expect("a hook")
}

pub(crate) fn answer(effort: Effort) -> Measured {
    let (executor, event) = (executor(answering()), guard());
    figure(effort, || fire(&executor, &event))
}

/// Fires `events` events that no hook matches, among `others` other hooks.
pub(crate) fn fire_unmatched(others: usize, events: usize) {
    let executor = executor_with(others);
    let event = HookEvent::new(EventType::UserInterrupt);
    (0..events).for_each(|_| fire(&executor, &event));
}

/// Fires an event whose only hook this condition excludes.
fn excluded_by(effort: Effort, condition: impl Into<Value>) -> Measured {
    let executor = HookExecutor::builder().build();
    let hook = hook("tool:pre_execute:bash", "false");
    let hook = hook.with_when("/tool_args/command", condition);
    executor.registry().register(hook.expect("a condition"));
    let event = guard();
    figure(effort, || fire(&executor, &event))
}

pub(crate) fn excluded(effort: Effort) -> Measured {
    excluded_by(effort, json!({"regex": r"\bsudo\b"}))
}

/// Measures a glob, which is compared with the places where links lead: these are looked up.
pub(crate) fn excluded_by_glob(effort: Effort) -> Measured {
    excluded_by(effort, "git push*")
}

/// Measures how much longer the conditions of many hooks take than that of one, on a long text.
pub(crate) fn expressions(effort: Effort) -> Measured {
    let executors = [2_000, 1].map(|count| {
        let executor = HookExecutor::builder().build();
        for number in 0..count {
            let condition = json!({"regex": format!(r"\bword{number}\b.*--force")});
            let hook = hook("tool:pre_execute:bash", "false");
            let hook = hook.with_when("/tool_args/command", condition);
            executor.registry().register(hook.expect("a condition"));
        }
        executor
    });
    let line = "git push origin main && cargo test --workspace # words 1 to 2000\n";
    let text = line.repeat(1024 * 1024 / line.len());
    let event = HookEvent::tool_pre_execute("bash", json!({ "command": text }));
    let time_of = |executor: &HookExecutor| {
        let start = Instant::now();
        let _ = black_box(executor.hooks_for(black_box(&event)));
        start.elapsed()
    };
    Ok(Figure::of_blocks(|| {
        let [many, one] = executors.each_ref().map(|executor| {
            let mut times: Vec<_> = (0..effort.rounds(20)).map(|_| time_of(executor)).collect();
            nanoseconds(percentile(&mut times, 50))
        });
        many / one
    }))
}

/// Measures how much longer a lookup among many other hooks takes.
pub(crate) fn lookups(effort: Effort) -> Measured {
    let executors = [100_000, 10].map(|others| {
        let executor = executor_with(others);
        for pattern in ["tool:*", "*", "tool:pre_execute:bash", "tool:*:b*"].repeat(3) {
            executor.registry().register(hook(pattern, "true"));
        }
        executor
    });
    let event = guard();
    Ok(Figure::of_blocks(|| {
        let [many, few] = executors.each_ref().map(|executor| {
            let look = || drop(black_box(executor.registry().get_hooks(black_box(&event))));
            median(effort, look)
        });
        many / few
    }))
}

pub(crate) fn allocations_of_unmatched(others: usize) -> Measured {
    let executor = executor_with(others);
    let event = HookEvent::new(EventType::UserInterrupt);
    // The first event of its type fills the cache of the registry.
    fire(&executor, &event);
    let before = memory::allocations();
    (0..TOGETHER).for_each(|_| fire(&executor, &event));
    let made = memory::allocations() - before;
    Ok(Figure::exactly(made as f64 / f64::from(TOGETHER)))
}

/// Measures guards, which have priority in the queue, and messages of one session, which keep their
/// order. Returns the slower figure.
pub(crate) fn submit(effort: Effort, hundredths: usize) -> Measured {
    let busy = Busy::new(WAITING);
    let time_of = |event: fn() -> HookEvent| {
        let mut times = Vec::with_capacity(WAITING * 4);
        for _ in 0..effort.rounds(4) {
            time_submits(&busy.executor, event, &mut times);
        }
        nanoseconds(percentile(&mut times, hundredths))
    };
    Ok(Figure::of_blocks(|| time_of(guard).max(time_of(message))))
}

/// Times each call, and leaves the queue as long as before.
fn time_submits(executor: &HookExecutor, event: fn() -> HookEvent, times: &mut Vec<Duration>) {
    let one = |_| {
        let event = event();
        let start = Instant::now();
        let handle = submit_to(executor, event);
        times.push(start.elapsed());
        handle
    };
    let handles: Vec<_> = (0..WAITING).map(one).collect();
    handles.iter().for_each(HookHandle::cancel);
}

pub(crate) fn allocations_of_submit() -> Measured {
    let busy = Busy::new(WAITING);
    let events: Vec<_> = (0..WAITING).map(|_| guard()).collect();
    let mut handles = Vec::with_capacity(WAITING);
    let before = memory::allocations();
    for event in events {
        handles.push(submit_to(&busy.executor, event));
    }
    let made = memory::allocations() - before;
    Ok(Figure::exactly(made as f64 / WAITING as f64))
}

/// Measures the memory of the events, the queue and the handles.
pub(crate) fn memory_of_queued_events() -> Measured {
    let busy = Busy::new(10);
    let arguments = "x".repeat(10 * 1024);
    let before = memory::taken_and_given_back();
    let event = |_| HookEvent::tool_pre_execute("bash", json!({"command": arguments}));
    let handles: Vec<_> = (0..1000)
        .map(event)
        .map(|event| submit_to(&busy.executor, event))
        .collect();
    let bytes = memory::bytes_held_since(before);
    drop(handles);
    Ok(Figure::exactly(bytes as f64 / (1024.0 * 1024.0)))
}

pub(crate) fn look(effort: Effort) -> Measured {
    let mut busy = Busy::new(WAITING);
    // The last event in the queue does not start.
    let last = busy.waiting.last_mut().expect("a handle");
    figure(effort, || assert!(black_box(last.try_wait()).is_none()))
}

/// Measures from the call to the end of a hook that ends when it is asked to.
pub(crate) fn cancelling(effort: Effort) -> Measured {
    let busy = Busy::new(0);
    let one = |_| {
        let handle = submit_to(&busy.executor, guard());
        // Long enough for the process to have started.
        std::thread::sleep(Duration::from_millis(20));
        let start = Instant::now();
        handle.cancel();
        let outcome = handle.wait();
        assert!(outcome.results()[0].started(), "it was there");
        start.elapsed()
    };
    let mut times: Vec<_> = (0..effort.rounds(100)).map(one).collect();
    Ok(Figure::exactly(nanoseconds(percentile(&mut times, 99))))
}
