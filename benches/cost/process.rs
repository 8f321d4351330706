//! Figures of whole hooks, each a real process.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use forge_hooks::hook::Shell;
use forge_hooks::{FireOptions, HookEvent, HookExecutor, HookHandle, Sandbox};

use crate::one_hook::{
    THREADS, Variables, event, executor, hook, percentile, run_bare, run_hook, variables_of_a_hook,
};
use crate::table::{Effort, Figure, Measured};

fn time(body: impl FnOnce()) -> Duration {
    let start = Instant::now();
    body();
    start.elapsed()
}

/// Runs both in turns, in alternating order.
pub(crate) fn turns(
    rounds: usize,
    mut first: impl FnMut(),
    mut second: impl FnMut(),
) -> (Vec<Duration>, Vec<Duration>) {
    let mut times = (Vec::new(), Vec::new());
    for round in 0..rounds {
        if round % 2 == 0 {
            times.0.push(time(&mut first));
            times.1.push(time(&mut second));
        } else {
            times.1.push(time(&mut second));
            times.0.push(time(&mut first));
        }
    }
    times
}

/// Returns the ratio of the medians, block by block.
pub(crate) fn ratio(effort: Effort, mut first: impl FnMut(), mut second: impl FnMut()) -> Figure {
    turns(effort.rounds(20), &mut first, &mut second);
    Figure::of_blocks(|| {
        let (mut firsts, mut seconds) = turns(effort.rounds(300), &mut first, &mut second);
        let median = percentile(&mut firsts, 50);
        median.as_secs_f64() / percentile(&mut seconds, 50).as_secs_f64()
    })
}

pub(crate) fn overhead(effort: Effort) -> Measured {
    let (executor, event) = (executor(hook("exit 0")), event());
    let variables = variables_of_a_hook(&event);
    Ok(ratio(
        effort,
        || run_hook(&executor, &event),
        || run_bare(&variables),
    ))
}

/// Measures the overhead in a host that has written to much memory, for which `fork` would be
/// expensive.
pub(crate) fn overhead_in_a_large_host(effort: Effort) -> Measured {
    let bytes = match effort {
        Effort::Full => 2 << 30,
        Effort::Once => 1 << 20,
    };
    let memory = vec![1_u8; bytes];
    let figure = overhead(effort);
    black_box(memory);
    figure
}

/// Measures the time that a sandbox adds, in nanoseconds.
pub(crate) fn sandbox(effort: Effort) -> Measured {
    Sandbox::support().map_err(|error| error.to_string())?;
    let (open, event) = (executor(hook("exit 0")), event());
    let confined = executor(hook("exit 0").with_sandbox(Sandbox::new()));
    let (confined, open) = (|| run_hook(&confined, &event), || run_hook(&open, &event));
    turns(effort.rounds(20), confined, open);
    Ok(Figure::of_blocks(|| {
        let (mut with, mut without) = turns(effort.rounds(300), confined, open);
        let with = percentile(&mut with, 50).as_secs_f64();
        (with - percentile(&mut without, 50).as_secs_f64()) * 1e9
    }))
}

pub(crate) fn direct_exec(effort: Effort) -> Measured {
    let command = "/bin/true --x";
    let direct = executor(hook(command));
    let through_sh = executor(hook(command).with_shell(Shell::Sh));
    let event = event();
    Ok(ratio(
        effort,
        || run_hook(&direct, &event),
        || run_hook(&through_sh, &event),
    ))
}

pub(crate) fn throughput(effort: Effort) -> Measured {
    let (executor, event) = (executor(hook("exit 0")), Arc::new(event()));
    let variables = variables_of_a_hook(&event);
    let runs = effort.rounds(200);
    Ok(Figure::of_blocks(|| {
        let (mut pool, mut threads) = turns(
            effort.rounds(8),
            || submit_all(&executor, &event, runs),
            || run_in_threads(&variables, runs),
        );
        let median = percentile(&mut pool, 50);
        median.as_secs_f64() / percentile(&mut threads, 50).as_secs_f64()
    }))
}

fn submit_all(executor: &HookExecutor, event: &Arc<HookEvent>, runs: usize) {
    let submit = |_| {
        let handle = executor.submit(Arc::clone(event), FireOptions::default());
        handle.expect("a place in the queue")
    };
    let handles: Vec<HookHandle> = (0..runs).map(submit).collect();
    for handle in handles {
        assert!(handle.wait().results()[0].success());
    }
}

fn run_in_threads(variables: &Variables, runs: usize) {
    let begun = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while begun.fetch_add(1, Ordering::Relaxed) < runs {
                    run_bare(variables);
                }
            });
        }
    });
}
