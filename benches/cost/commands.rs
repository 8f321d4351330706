//! Figures of guards of what a shell command runs, on the ordinary commands of the tests.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use forge_hooks::{Hook, HookEvent, HookExecutor};
use serde_json::{Value, json};

use crate::one_hook::percentile;
use crate::table::{Effort, Figure, Measured};

const GUARDS: usize = 12;

/// Returns the patterns of each guard of the tests that has a condition `runs`.
fn guards() -> Vec<Vec<&'static str>> {
    let parts = include_str!("../../tests/it/command/guards.txt").split("\n== ");
    let patterns = parts.skip(1).map(|part| {
        let lines = part.lines();
        lines
            .filter_map(|line| line.strip_prefix("runs "))
            .collect::<Vec<_>>()
    });
    let guards: Vec<_> = patterns
        .filter(|patterns| !patterns.is_empty())
        .take(GUARDS)
        .collect();
    assert_eq!(guards.len(), GUARDS);
    guards
}

/// Returns an event for each ordinary command.
fn events() -> Vec<HookEvent> {
    let lines = include_str!("../../tests/it/command/ordinary.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#') && !line.is_empty());
    let events = lines.map(|line| {
        let (_, command) = line.split_once(' ').expect("a sign and a command");
        let command = command.replace('⏎', "\n").replace('⇥', "\t");
        HookEvent::tool_pre_execute("bash", json!({ "command": command }))
    });
    let events: Vec<_> = events.collect();
    assert_eq!(events.len(), 400);
    events
}

/// Returns an executor with the guards of all packs.
fn packs() -> HookExecutor {
    let executor = HookExecutor::builder().build();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/packs");
    for file in directory.read_dir().expect("a directory of packs") {
        let path = file.expect("a file").path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let text = std::fs::read_to_string(path).expect("a pack");
            let pack: Value = serde_json::from_str(&text).expect("a pack");
            for guard in pack["hooks"].as_array().expect("guards") {
                let hook = Hook::from_json(guard).expect("a guard");
                executor.registry().register(hook);
            }
        }
    }
    executor
}

fn executor(guards: &[Vec<&str>]) -> HookExecutor {
    let executor = HookExecutor::builder().build();
    for patterns in guards {
        let entry = json!({
            "event": "tool:pre_execute:bash",
            "when": {"/tool_args/command": {"runs": patterns}},
            "answer": {"decision": "block"},
        });
        executor
            .registry()
            .register(Hook::from_json(&entry).expect("a hook"));
    }
    executor
}

/// Selects the hooks of `count` events, one command after the other.
pub(crate) fn select(count: usize) {
    let (executor, events) = (executor(&guards()), events());
    for event in events.iter().cycle().take(count) {
        black_box(executor.hooks_for(black_box(event)));
    }
}

/// Returns a percentile of the time for one command, in nanoseconds.
fn time_of(executor: &HookExecutor, events: &[HookEvent], hundredths: usize) -> f64 {
    let time = |event| {
        let start = Instant::now();
        black_box(executor.hooks_for(black_box(event)));
        start.elapsed()
    };
    let mut times: Vec<_> = events.iter().map(time).collect();
    percentile(&mut times, hundredths).as_secs_f64() * 1e9
}

pub(crate) fn twelve_guards(effort: Effort, hundredths: usize) -> Measured {
    time_of_guards(&executor(&guards()), effort, hundredths)
}

pub(crate) fn all_packs(effort: Effort, hundredths: usize) -> Measured {
    time_of_guards(&packs(), effort, hundredths)
}

fn time_of_guards(executor: &HookExecutor, effort: Effort, hundredths: usize) -> Measured {
    let events = events();
    let rounds = effort.rounds(5);
    Ok(Figure::of_blocks(|| {
        let times = (0..rounds).map(|_| time_of(executor, &events, hundredths));
        times.fold(f64::INFINITY, f64::min)
    }))
}

/// Measures how much longer twelve guards take than one: a text is read once.
pub(crate) fn guards_beside_one(effort: Effort) -> Measured {
    let (guards, events) = (guards(), events());
    let executors = [executor(&guards), executor(&guards[..1])];
    let rounds = effort.rounds(5);
    Ok(Figure::of_blocks(|| {
        let [all, one] = executors.each_ref().map(|executor| {
            let times = (0..rounds).map(|_| time_of(executor, &events, 50));
            times.fold(f64::INFINITY, f64::min)
        });
        all / one
    }))
}
