//! What does a hook cost beyond the process that it is?
//!
//! One hook, `exit 0`, beside a bare `Command::output()` of the same shell with the same variables,
//! turn by turn, so that whatever else the machine does concerns both alike; once more with 2 GiB
//! resident, where a `fork` would cost dearly. Fails when the 99th percentile of the overhead is above
//! 100 ms (NFR-1).

use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::Criterion;
use forge_hooks::{EventType, FireOptions, Hook, HookEvent, HookExecutor, HookRegistry};
use serde_json::json;

/// NFR-1: "hook execution overhead < 100ms per hook".
const LIMIT: Duration = Duration::from_millis(100);

fn event() -> HookEvent {
    HookEvent::tool_pre_execute("bash", json!({"command": "ls -la"})).with_session_id("sess_123")
}

fn executor() -> HookExecutor {
    let registry = Arc::new(HookRegistry::new());
    registry.register(Hook::new("tool:pre_execute", "exit 0").expect("a hook"));
    HookExecutor::new(registry)
}

fn bare(event: &HookEvent) {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "exit 0"])
        .envs(event.to_env())
        .env("FORGE_WORKING_DIR", "/");
    assert!(
        black_box(command.output())
            .expect("/bin/sh")
            .status
            .success()
    );
}

fn hooked(executor: &HookExecutor, event: &HookEvent) {
    let results = executor.execute_hooks(event, FireOptions::default());
    assert!(black_box(results)[0].success());
}

fn time(body: impl FnOnce()) -> Duration {
    let start = Instant::now();
    body();
    start.elapsed()
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

/// Both, turn by turn. Whether the overhead is within the limit.
fn side_by_side(host: &str, rounds: usize) -> bool {
    let (executor, event) = (executor(), event());
    let (mut bare_times, mut hooked_times) = (Vec::new(), Vec::new());
    for round in 0..rounds + 20 {
        let pair = (time(|| bare(&event)), time(|| hooked(&executor, &event)));
        if round >= 20 {
            bare_times.push(pair.0);
            hooked_times.push(pair.1);
        }
    }
    bare_times.sort_unstable();
    hooked_times.sort_unstable();
    let (bare, hooked) = (percentile(&bare_times, 50), percentile(&hooked_times, 50));
    let overhead = percentile(&hooked_times, 99).saturating_sub(bare);
    println!("{host}");
    println!(
        "  bare Command::output()  p50 {bare:?}  p99 {:?}",
        percentile(&bare_times, 99)
    );
    println!(
        "  execute_hooks           p50 {hooked:?}  p99 {:?}",
        percentile(&hooked_times, 99)
    );
    println!(
        "  ratio of the medians    {:.3}",
        hooked.as_secs_f64() / bare.as_secs_f64()
    );
    println!("  overhead                p99 {overhead:?}, the limit is {LIMIT:?}");
    overhead <= LIMIT
}

/// With so much memory that the host has written to.
fn side_by_side_in_a_large_host(rounds: usize) -> bool {
    let memory = vec![1_u8; 2 << 30];
    let within = side_by_side("a host with 2 GiB resident", rounds);
    black_box(memory);
    within
}

fn main() -> ExitCode {
    let rounds = if std::env::args().any(|arg| arg == "--test") {
        100
    } else {
        1000
    };
    let within = side_by_side("a small host", rounds) & side_by_side_in_a_large_host(rounds);
    let mut criterion = Criterion::default().configure_from_args();
    let (executor, event) = (executor(), event());
    criterion.bench_function("one hook, `exit 0`", |b| {
        b.iter(|| hooked(&executor, &event))
    });
    criterion.bench_function("bare Command::output()", |b| b.iter(|| bare(&event)));
    let unmatched = HookEvent::new(EventType::UserInterrupt);
    criterion.bench_function("an event that no hook matches", |b| {
        b.iter(|| executor.execute_hooks(black_box(&unmatched), FireOptions::default()));
    });
    criterion.final_summary();
    if within {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
