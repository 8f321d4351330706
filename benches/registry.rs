//! Measures whether the cost of a lookup depends on the number of other hooks.
//!
//! There are ten hooks for one event, among 10, 1,000 and 100,000 hooks for other events or for
//! other tools of the same event. The registries are measured in turns, so that other load on the
//! machine affects all of them. Fails if a lookup among 100,000 hooks takes more than three times
//! as long as one among 10.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion};
use forge_hooks::{Hook, HookEvent, HookId, HookRegistry};

const OTHERS: [usize; 3] = [10, 1_000, 100_000];

const LIMIT: f64 = 3.0;

/// The number of lookups that are timed together, since one is too short for the clock.
const LOOKUPS: u32 = 200;

fn event() -> HookEvent {
    HookEvent::tool_pre_execute("bash", "ls")
}

fn hook(pattern: &str) -> Hook {
    Hook::new(pattern, "true").expect("a hook")
}

/// Creates a hook for another event or another tool.
fn other(number: usize) -> Hook {
    match number % 5 {
        0 => hook("llm:*"),
        1 => hook("session:start,session:end"),
        2 => hook("tool:post_execute:bash"),
        3 => hook(&format!("tool:pre_execute:tool_{number}")),
        _ => hook(&format!("tool:*:read_{number}|write_{number}")),
    }
}

/// Creates a registry in which the hooks for the event are spread among the others.
fn registry(others: usize) -> HookRegistry {
    let registry = HookRegistry::new();
    let meant = [
        "tool:pre_execute",
        "tool:*",
        "*",
        "tool:pre_execute:bash",
        "tool:*:b*",
    ];
    let mut meant = meant.iter().cycle().take(10);
    for number in 0..others {
        if number % (others / 10) == 0 {
            meant.next().map(|pattern| registry.register(hook(pattern)));
        }
        registry.register(other(number));
    }
    assert_eq!(registry.get_hooks(&event()).len(), 10);
    registry
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn time_lookups(registry: &HookRegistry, event: &HookEvent) -> Duration {
    let start = Instant::now();
    for _ in 0..LOOKUPS {
        black_box(registry.get_hooks(black_box(event)));
    }
    start.elapsed() / LOOKUPS
}

/// Times the registration of one hook after all others. The hook is removed again, untimed, so that
/// the size of the registry stays the same.
fn time_register(registry: &HookRegistry) -> Duration {
    let hook = other(3);
    let start = Instant::now();
    let id: HookId = registry.register(black_box(hook));
    let time = start.elapsed();
    registry.remove(id);
    time
}

/// Whether the lookups are within the limit.
fn side_by_side(rounds: usize) -> bool {
    let event = event();
    let registries = OTHERS.map(registry);
    let mut lookups = OTHERS.map(|_| Vec::new());
    for _ in 0..rounds {
        for (registry, times) in registries.iter().zip(&mut lookups) {
            times.push(time_lookups(registry, &event));
        }
    }
    let medians = lookups.map(median);
    for ((registry, others), lookup) in registries.iter().zip(OTHERS).zip(medians) {
        let register = median(
            (0..rounds / 10 + 1)
                .map(|_| time_register(registry))
                .collect(),
        );
        println!("{others:>7} others: get_hooks {lookup:>8.0?}, register {register:>8.0?}");
    }
    let ratio = medians[2].as_secs_f64() / medians[0].as_secs_f64();
    println!("get_hooks among 100,000 to among 10: {ratio:.2}, the limit is {LIMIT}");
    ratio <= LIMIT
}

fn main() -> ExitCode {
    // Criterion distinguishes a measurement from a test of the bench in this way.
    let has = |argument: &str| std::env::args().any(|given| given == argument);
    let only_a_test = has("--test") || !has("--bench");
    let within = only_a_test || side_by_side(1000);
    let mut criterion = Criterion::default().configure_from_args();
    let event = event();
    for others in OTHERS {
        let registry = registry(others);
        criterion.bench_function(&format!("get_hooks, {others} others"), |b| {
            b.iter(|| registry.get_hooks(black_box(&event)));
        });
    }
    criterion.bench_function("register 1,000 hooks", |b| {
        let hooks = || (0..1000).map(other).collect::<Vec<_>>();
        let register = |hooks: Vec<Hook>| {
            let registry = HookRegistry::new();
            for hook in hooks {
                registry.register(hook);
            }
            registry
        };
        b.iter_batched(hooks, register, BatchSize::LargeInput);
    });
    criterion.final_summary();
    if within {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
