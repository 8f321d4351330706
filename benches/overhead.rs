//! Guards the overhead of a hook: what it takes beyond its process is below 100 ms.
//!
//! Times the shell command `exit 0` started by `Command::output()`, as a hook of `execute`, and as a hook of `submit`
//! whose result is waited for. Criterion shows each. Before that, the three run in turns, so that other load on the
//! machine affects all of them; the bench fails if the 99th percentile of a hook is more than 100 ms above that of
//! `Command::output()`. `cost` has the figures in detail.

// There is no target here, only the limit.
#[allow(dead_code)]
#[path = "cost/ending.rs"]
mod ending;

use std::hint::black_box;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::Criterion;
use ending::Ending;
use forge_hooks::{FireOptions, Hook, HookEvent, HookExecutor, HookRegistry};
use serde_json::json;

/// NFR-1: "hook execution overhead < 100ms per hook".
const LIMIT: Duration = Duration::from_millis(100);

/// The number of runs that are compared.
const ROUNDS: usize = 300;

fn executor() -> HookExecutor {
    let registry = HookRegistry::new();
    registry.register(Hook::new("tool:pre_execute", "exit 0").expect("a hook"));
    HookExecutor::builder().registry(Arc::new(registry)).build()
}

fn event() -> HookEvent {
    HookEvent::tool_pre_execute("bash", json!({"command": "ls -la"}))
}

/// Runs the same command without this crate.
fn output() {
    let (shell, option) = if cfg!(windows) {
        ("cmd", "/C")
    } else {
        ("/bin/sh", "-c")
    };
    let mut command = Command::new(shell);
    command.args([option, "exit 0"]).stdin(Stdio::null());
    let output = command.output().expect("the shell");
    assert!(black_box(output).status.success());
}

fn execute(executor: &HookExecutor, event: &HookEvent) {
    let results = executor.execute_hooks(event, FireOptions::default());
    assert!(black_box(results)[0].success());
}

fn submit(executor: &HookExecutor, event: &HookEvent) {
    let handle = executor.submit(event.clone(), FireOptions::default());
    let outcome = handle.expect("a place in the queue").wait();
    assert!(black_box(outcome).allowed());
}

fn time(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn percentile(times: &mut [Duration], hundredths: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() - 1) * hundredths / 100]
}

/// Prints both ways to run a hook beside `Command::output()`.
fn side_by_side(executor: &HookExecutor, event: &HookEvent, ending: &mut Ending) {
    let mut bare = Vec::new();
    let mut executed = Vec::new();
    let mut submitted = Vec::new();
    for _ in 0..ROUNDS {
        bare.push(time(output));
        executed.push(time(|| execute(executor, event)));
        submitted.push(time(|| submit(executor, event)));
    }
    let (bare_median, bare_p99) = (percentile(&mut bare, 50), percentile(&mut bare, 99));
    for (name, times) in [("execute", &mut executed), ("submit", &mut submitted)] {
        let (median, p99) = (percentile(times, 50), percentile(times, 99));
        let ratio = median.as_secs_f64() / bare_median.as_secs_f64();
        let added = p99.saturating_sub(bare_p99);
        let verdict = ending.limit(name, added < LIMIT);
        println!(
            "{name}: {ratio:.2} times Command::output() at the median, {added:.1?} more at the 99th percentile; \
             the limit is {LIMIT:?}: {verdict}"
        );
    }
}

fn main() -> ExitCode {
    // Criterion distinguishes a measurement from a test of the bench in this way.
    let has = |argument: &str| std::env::args().any(|passed| passed == argument);
    let is_test = has("--test") || !has("--bench");
    let (executor, event) = (executor(), event());
    let mut ending = Ending::default();
    if !is_test {
        side_by_side(&executor, &event, &mut ending);
    }
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("overhead");
    group.bench_function("Command::output()", |b| b.iter(output));
    group.bench_function("execute", |b| b.iter(|| execute(&executor, &event)));
    group.bench_function("submit", |b| b.iter(|| submit(&executor, &event)));
    group.finish();
    criterion.final_summary();
    ending.exit_code()
}
