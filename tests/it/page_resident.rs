//! The examples of resident hooks in docs/guards.md, each in a kept process, in a process for one
//! event, and as an ordinary hook, which receives no id.
#![cfg(unix)]

use forge_hooks::{HookEvent, HookResult};
use serde_json::{Value, json};

use crate::page_examples::{Example, RESIDENT, examples_of, host};
use crate::support::{PATIENCE, World};
use crate::thorough::all_cases;

fn examples() -> Vec<Example> {
    let all = examples_of("docs/guards.md").into_iter();
    all.filter(|example| example.heading == RESIDENT).collect()
}

/// A command, and whether the guard blocks it.
fn cases() -> Vec<(String, bool)> {
    let long = format!("echo {}", "x".repeat(100_000));
    [
        ("ls", false),
        ("sudo ls", true),
        (&long, false),
        ("echo \u{2028}\u{2029}\u{85} '\\n' \"é\"\n#\r", false),
        ("if true; then", false),
        ("sudo ls", true),
    ]
    .map(|(command, blocks)| (command.to_owned(), blocks))
    .into()
}

fn fire(world: &World, command: Value) -> HookResult {
    let event = HookEvent::tool_pre_execute("bash", json!({"command": command}));
    world.fire(&event).remove(0)
}

/// Fires the cases, each run in this way; the first may start a process. Earlier events matter only to a kept process.
#[track_caller]
fn does_as_it_says(example: &Example, world: &World, way: Option<&'static str>) {
    let is_kept = way == Some("kept");
    let count = if is_kept { usize::MAX } else { 2 };
    for (index, (command, blocks)) in cases().into_iter().take(count).enumerate() {
        let starts = is_kept && index == 0;
        let way = if starts { Some("started") } else { way };
        let result = fire(world, json!(command));
        let place = format!("{}: {command:.80}", example.place());
        assert!(result.failure().is_none(), "{place}: {result:?}");
        assert_eq!(result.should_continue(), !blocks, "{place}");
        assert_eq!(result.residency(), way, "{place}");
        assert!(result.diagnostics().is_empty(), "{place}: {result:?}");
    }
    if !is_kept {
        return;
    }
    let result = fire(world, json!(5));
    assert!(
        !result.should_continue() && !result.timed_out(),
        "{result:?}"
    );
}

#[test]
fn every_language_has_a_short_example() {
    let listed = examples();
    for example in &listed {
        let lines = example.code.lines().count();
        assert!(lines < 10, "{}: {lines}", example.place());
    }
    let languages: Vec<_> = listed.iter().map(|example| &*example.language).collect();
    assert_eq!(languages, ["python", "js"]);
}

/// In each way; without a process that is kept, the examples take turns.
#[test]
fn examples_work_in_every_way() {
    for (index, example) in examples()
        .iter()
        .enumerate()
        .filter(|(_, example)| example.can_run())
    {
        let world = host();
        world.add(example.hook(&world).with_resident());
        does_as_it_says(example, &world, Some("kept"));
        if all_cases() || index % 2 == 0 {
            // From now on no process is kept.
            let _ = world.executor.shutdown(PATIENCE);
            does_as_it_says(example, &world, Some("one_shot"));
        }
        if all_cases() || index % 2 == 1 {
            world.registry().clear();
            world.add(example.hook(&world));
            does_as_it_says(example, &world, None);
        }
    }
}
