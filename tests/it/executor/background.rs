//! Background hooks.

use std::time::Duration;

use forge_hooks::Hook;
use serde_json::json;

use crate::support::{LONG, Notes, World, blocking_event, eventually, hook, meets, printed};

fn in_background(command: &str) -> Hook {
    hook("*", command).with_background()
}

fn watched() -> (World, Notes) {
    let world = World::with(|builder| builder.queue_capacity(2));
    let notes = Notes::of(&world.executor);
    (world, notes)
}

#[test]
fn a_background_hook_starts_in_its_turn() {
    let (world, notes) = watched();
    world.hook("*", "echo 1");
    world.add(in_background(&meets("started", "go")).with_description("slow"));
    world.hook("*", "echo 3");
    for _ in 0..2 {
        assert_eq!(printed(&world.fire(&blocking_event())), ["1", "3"]);
        world.await_file("started");
    }
    let submitted = world.submit(blocking_event());
    submitted.cancel();
    assert!(submitted.wait().results().len() <= 2);
    let ended = || notes.count("finish tool:pre_execute slow");
    assert_eq!(ended(), 0);
    world.write("go", "");
    let started = || notes.count("start tool:pre_execute slow");
    eventually("they have ended", || ended() == started());
    assert!(ended() >= 2);
}

#[test]
fn a_hook_in_the_background_never_blocks() {
    let world = World::new();
    let notes = Notes::of(&world.executor);
    world.add(in_background("exit 1"));
    let late = in_background(LONG).with_timeout(Duration::from_millis(20));
    world.add(late.with_description("late"));
    let entry = json!({"event": "*", "command": "exit 0", "background": true});
    world.add(Hook::from_json(&entry).unwrap());
    world.hook("*", "exit 0");
    let outcome = world.outcome(&blocking_event());
    assert!(outcome.allowed() && outcome.results().len() == 1);
    let broken = json!({"hooks": [{"event": "*", "command": 7, "background": true}]});
    world.write("p/.src/forge/hooks.json", &broken.to_string());
    let config = forge_hooks::HookConfig::default().with_config_home(world.path("none"));
    let policy = forge_hooks::config::TrustPolicy::Everything;
    let report = config.load_into(world.registry(), world.path("p"), policy);
    assert_eq!(report.problems.len(), 1);
    assert!(world.submit(blocking_event()).wait().allowed());
    let ended = || notes.count("finish tool:pre_execute late");
    eventually("its timeout holds too", || ended() == 2);
}

/// It has no result, so it is observed.
#[test]
fn a_background_hook_of_a_cancelled_event_is_reported() {
    let world = World::new();
    let notes = Notes::of(&world.executor);
    world.hook("*", &meets("begun", "never"));
    world.add(in_background("exit 0").with_name("behind"));
    let handle = world.submit(blocking_event());
    world.await_file("begun");
    handle.cancel();
    assert_eq!(handle.wait().results().len(), 1);
    assert_eq!(notes.count("drop (cancelled) tool:pre_execute behind"), 1);
}

#[test]
fn at_most_sixteen_background_hooks_run() {
    let (world, notes) = watched();
    world.add(in_background(&meets("started", "go")));
    let fire = || drop(world.outcome(&blocking_event()));
    for count in 1..=16 {
        fire();
        eventually("one more has started", || notes.count("start") == count);
    }
    (0..3).for_each(|_| fire());
    world.write("go", "");
    eventually("they have ended", || notes.count("finish") == 18);
    assert_eq!(
        notes.count("drop (busy)"),
        1,
        "no room for a third that waits"
    );
    let mut running = 0_usize;
    for note in notes.all() {
        match note.split_once(' ') {
            Some(("start", _)) => running += 1,
            Some(("finish", _)) => running -= 1,
            _ => {}
        }
        assert!(running <= 16);
    }
}
