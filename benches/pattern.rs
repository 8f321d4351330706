//! Measures the cost of parsing a pattern, of matching it with an event, and of firing an event
//! that the conditions of its hooks exclude.
//!
//! Fails if an event whose only hook is excluded by its `when` takes a microsecond or more.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use criterion::Criterion;
use forge_hooks::hook::Condition;
use forge_hooks::pattern::EventPattern;
use forge_hooks::{FireOptions, Hook, HookEvent, HookExecutor};
use serde_json::json;

const PATTERNS: [(&str, &str); 5] = [
    ("everything", "*"),
    ("exact", "tool:pre_execute"),
    ("glob", "tool:*_execute"),
    ("tool", "tool:pre_execute:bash"),
    (
        "list",
        "session:start, llm:*, permission:check|prompt, tool:*:read|write|bash",
    ),
];

const LIMIT: Duration = Duration::from_micros(1);

/// The number of events that are timed together, since one is too short for the clock.
const EVENTS: u32 = 1000;

fn bash() -> HookEvent {
    HookEvent::tool_pre_execute(
        "bash",
        json!({"command": "cargo test --all-features -- when"}),
    )
}

fn conditions() -> [(&'static str, Condition); 2] {
    let sudo = Condition::Regex(r"\bsudo\b".to_owned());
    [("glob", "git push*".into()), ("regex", sudo)]
}

/// Creates an executor with this many hooks, none of which runs on the event.
fn excluded(condition: &Condition, hooks: usize) -> HookExecutor {
    let executor = HookExecutor::builder().build();
    for _ in 0..hooks {
        let hook = Hook::new("tool:pre_execute:bash", "false").expect("a hook");
        let hook = hook.with_when("/tool_args/command", condition.clone());
        executor.registry().register(hook.expect("a condition"));
    }
    assert!(executor.execute(&bash(), FireOptions::default()).allowed());
    executor
}

/// Whether such an event is within the limit for each kind of condition.
fn excluded_in_time(rounds: usize) -> bool {
    let event = bash();
    let mut is_within = true;
    for (kind, condition) in conditions() {
        let executor = excluded(&condition, 1);
        let mut times = Vec::new();
        for _ in 0..rounds {
            let start = Instant::now();
            for _ in 0..EVENTS {
                black_box(executor.execute_hooks(black_box(&event), FireOptions::default()));
            }
            times.push(start.elapsed() / EVENTS);
        }
        times.sort_unstable();
        let median = times[times.len() / 2];
        println!("excluded by a {kind}: {median:?}, the limit is {LIMIT:?}");
        is_within &= median < LIMIT;
    }
    is_within
}

fn main() -> ExitCode {
    // Criterion distinguishes a measurement from a test of the bench in this way.
    let has = |argument: &str| std::env::args().any(|given| given == argument);
    let only_a_test = has("--test") || !has("--bench");
    let within = only_a_test || excluded_in_time(200);
    let mut criterion = Criterion::default().configure_from_args();
    for (name, text) in PATTERNS {
        criterion.bench_function(&format!("parse {name}"), |b| {
            b.iter(|| EventPattern::new(black_box(text)));
        });
    }
    let events = [
        ("a match", HookEvent::tool_pre_execute("bash", "ls")),
        ("no match", HookEvent::user_interrupt()),
    ];
    for (name, text) in PATTERNS {
        let pattern = EventPattern::new(text).expect("a pattern");
        for (which, event) in &events {
            criterion.bench_function(&format!("ask {name}, {which}"), |b| {
                b.iter(|| pattern.matches(black_box(event)));
            });
        }
    }
    let event = bash();
    for (kind, condition) in conditions() {
        for hooks in [1, 10] {
            let executor = excluded(&condition, hooks);
            criterion.bench_function(&format!("{hooks} hooks excluded by a {kind}"), |b| {
                b.iter(|| executor.execute_hooks(black_box(&event), FireOptions::default()));
            });
        }
    }
    criterion.final_summary();
    if within {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
