//! The examples of docs/resident.md, each in a kept process, in a process for one
//! event, and as an ordinary hook, which receives no id.
#![cfg(unix)]

use std::time::Duration;

use forge_hooks::outcome::Residency;
use forge_hooks::{Hook, HookEvent, HookResult};
use serde_json::{Value, json};

use crate::page_examples::{Example, examples_of, host, interpreter};
use crate::support::World;

const CHECKS_SYNTAX: &str = "A resident guard that starts a program";

fn examples() -> Vec<Example> {
    let all = examples_of("docs/resident.md").into_iter();
    all.filter(|example| interpreter(&example.language).is_some())
        .collect()
}

/// A command, and whether the guard blocks it.
fn cases(example: &Example) -> Vec<(String, bool)> {
    let (bad, other) = match &*example.heading {
        CHECKS_SYNTAX => ("if true; then", "sudo ls"),
        _ => ("sudo ls", "if true; then"),
    };
    let long = format!("echo {}", "x".repeat(300_000));
    [
        ("ls", false),
        (bad, true),
        (&long, false),
        ("echo \u{2028}\u{2029}\u{85} '\\n' \"é\"\n#\r", false),
        (other, false),
        (bad, true),
    ]
    .map(|(command, blocks)| (command.to_owned(), blocks))
    .into()
}

fn fire(world: &World, command: Value) -> HookResult {
    let event = HookEvent::tool_pre_execute("bash", json!({"command": command}));
    world.fire(&event).remove(0)
}

/// Fires the cases; the first may start a process. Earlier events matter only to a kept process.
#[track_caller]
fn does_as_it_says(example: &Example, world: &World, ways: [Option<Residency>; 2]) {
    let mut way = ways[0];
    let is_kept = ways[1] == Some(Residency::Kept);
    let count = if is_kept { usize::MAX } else { 3 };
    for (command, blocks) in cases(example).into_iter().take(count) {
        let result = fire(world, json!(command));
        let place = example.place();
        assert!(result.success(), "{place}: {command:.80}: {result:?}");
        assert_eq!(result.should_continue(), !blocks, "{place}: {command:.80}");
        assert_eq!(result.residency, way, "{place}: {command:.80}");
        assert!(result.diagnostics().is_empty(), "{place}: {result:?}");
        way = ways[1];
    }
    for command in [json!(5), json!(null)] {
        let result = fire(world, command);
        assert!(!result.should_continue() && !result.timed_out, "{result:?}");
    }
}

fn world_of(example: &Example, change: impl Fn(Hook) -> Hook) -> World {
    let world = host();
    let hook = example.hook(&world);
    world.registry().register(change(hook));
    world
}

#[test]
fn every_language_has_a_short_example() {
    let found = examples();
    for example in &found {
        let lines = example.code.lines().count();
        assert!(lines < 10, "{}: {lines}", example.place());
    }
    let languages: Vec<_> = found.iter().map(|example| &*example.language).collect();
    assert_eq!(languages, ["python", "js", "sh", "python"]);
}

#[test]
fn examples_work_in_a_kept_process() {
    for example in examples().iter().filter(|it| it.can_run()) {
        let world = world_of(example, Hook::with_resident);
        let ways = [Residency::Started, Residency::Kept].map(Some);
        does_as_it_says(example, &world, ways);
    }
}

#[test]
fn examples_work_for_one_event() {
    for example in examples().iter().filter(|it| it.can_run()) {
        let world = world_of(example, Hook::with_resident);
        // From now on no process is kept.
        assert!(world.executor.shutdown(Duration::ZERO).is_complete());
        does_as_it_says(example, &world, [Some(Residency::OneShot); 2]);
    }
}

#[test]
fn examples_work_without_an_id() {
    for example in examples().iter().filter(|it| it.can_run()) {
        let world = world_of(example, |hook| hook);
        does_as_it_says(example, &world, [None; 2]);
    }
}
