//! Hooks of one event in parallel, and background hooks.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use forge_hooks::executor::DropReason;
use forge_hooks::{FailureKind, FireOptions, Hook, HookResult, HookRun, Observer, Outcome};
use serde_json::json;

use crate::support::{LONG, Notes, World, blocking_event, eventually, hook, meets};

const PARALLEL: FireOptions = FireOptions::new().parallel();

fn codes(outcome: &Outcome) -> Vec<i32> {
    outcome
        .results()
        .iter()
        .map(|result| result.exit_code)
        .collect()
}

/// Each waits for the next: one after the other, none would end.
fn ring(world: &World, names: [&str; 3]) {
    for (index, name) in names.into_iter().enumerate() {
        world.hook("*", &meets(name, names[(index + 1) % 3]));
    }
}

#[test]
fn parallel_execute_runs_all_hooks_at_once() {
    let world = World::with(|builder| builder.workers(2));
    ring(&world, ["a", "b", "c"]);
    let outcome = world.executor.execute(&blocking_event(), PARALLEL);
    assert_eq!(codes(&outcome), [0, 0, 0]);
}

#[test]
fn parallel_submit_runs_all_hooks_at_once() {
    let world = World::with(|builder| builder.workers(3));
    ring(&world, ["a", "b", "c"]);
    let handle = world.executor.submit(blocking_event(), PARALLEL).unwrap();
    let codes: Vec<_> = handle
        .into_receiver()
        .iter()
        .map(|result| result.exit_code)
        .collect();
    assert_eq!(codes, [0, 0, 0]);
}

#[test]
fn all_run_and_results_keep_the_order() {
    let world = World::new();
    world.hook("*", &meets("first", "third"));
    world.hook("*", "exit 2");
    world.hook("*", "echo 3>third");
    let outcome = world.executor.execute(&blocking_event(), PARALLEL);
    assert_eq!(codes(&outcome), [0, 2, 0]);
    assert!(!outcome.allowed());
}

#[test]
fn one_worker_is_enough_and_so_is_none() {
    let world = World::with(|builder| builder.workers(1));
    for code in 0..5 {
        world.hook("tool:*", &format!("exit {code}"));
    }
    world.hook("session:start", LONG);
    let event = forge_hooks::HookEvent::session_start("s1");
    let _busy = world.submit(event).cancel_on_drop();
    let outcome = world.executor.execute(&blocking_event(), PARALLEL);
    assert_eq!(codes(&outcome), [0, 1, 2, 3, 4]);
    assert!(world.executor.shutdown(Duration::ZERO).finished <= 1);
    let outcome = world.executor.execute(&blocking_event(), PARALLEL);
    assert_eq!(codes(&outcome), [0, 1, 2, 3, 4]);
}

#[test]
fn cancelling_ends_all_at_once() {
    let world = World::with(|builder| builder.workers(2));
    world.hook("*", &meets("a", "never"));
    world.hook("*", &meets("b", "never"));
    world.hook("*", "echo third");
    world.hook("*", "echo fourth");
    let handle = world.executor.submit(blocking_event(), PARALLEL).unwrap();
    world.await_file("a");
    world.await_file("b");
    handle.cancel();
    let outcome = handle.wait();
    let cancelled = |result: &HookResult| result.failure == Some(FailureKind::Cancelled);
    assert!(
        outcome.results().len() == 4 && outcome.results().iter().all(cancelled),
        "{outcome:?}"
    );
    assert_eq!(
        outcome
            .results()
            .iter()
            .filter(|result| result.started())
            .count(),
        2
    );
}

fn in_background(command: &str) -> Hook {
    hook("*", command).with_background()
}

fn watched(notes: &Arc<Notes>) -> World {
    World::with(|builder| builder.observer(Arc::clone(notes)))
}

#[test]
fn a_background_hook_starts_in_its_turn() {
    let notes = Arc::new(Notes::default());
    let world = watched(&notes);
    world.hook("*", "echo 1");
    let slow = in_background(&meets("started", "go")).with_description("slow");
    world.registry().register(slow);
    world.hook("*", "echo 3");
    for options in [FireOptions::default(), PARALLEL] {
        let outcome = world.executor.execute(&blocking_event(), options);
        let printed: Vec<_> = outcome
            .results()
            .iter()
            .map(|result| result.stdout.trim())
            .collect();
        assert_eq!(printed, ["1", "3"]);
        world.await_file("started");
    }
    let submitted = world.submit(blocking_event());
    submitted.cancel();
    assert!(submitted.wait().results().len() <= 2);
    assert_eq!(notes.count("finish tool:pre_execute slow"), 0);
    world.write("go", "");
    let ended = || notes.count("finish tool:pre_execute slow");
    eventually("they have ended", || {
        ended() == notes.count("start tool:pre_execute slow")
    });
    assert!(ended() >= 2);
}

#[test]
fn a_hook_in_the_background_never_blocks() {
    let notes = Arc::new(Notes::default());
    let world = watched(&notes);
    world.registry().register(in_background("exit 1"));
    let late = in_background(LONG).with_timeout(Duration::from_millis(20));
    world.registry().register(late.with_description("late"));
    world.hook("*", "exit 0");
    let outcome = world.outcome(&blocking_event());
    assert!(outcome.allowed() && outcome.results().len() == 1);
    assert!(world.submit(blocking_event()).wait().allowed());
    eventually("its timeout holds too", || {
        notes.count("finish tool:pre_execute late") == 2
    });
}

#[test]
fn at_most_sixteen_background_hooks_run() {
    let notes = Arc::new(Notes::default());
    let world = World::with(|builder| builder.observer(Arc::clone(&notes)).queue_capacity(2));
    world
        .registry()
        .register(in_background(&meets("started", "go")));
    let fire = || {
        drop(
            world
                .executor
                .execute(&blocking_event(), FireOptions::default()),
        )
    };
    for count in 1..=16 {
        fire();
        eventually("one more has started", || notes.count("start") == count);
    }
    fire();
    fire();
    // Time for one of them to start, had it a thread.
    std::thread::sleep(Duration::from_millis(100));
    fire();
    let busy = || notes.count("drop (busy)");
    assert_eq!(
        (notes.count("start"), busy()),
        (16, 1),
        "two wait, there is no room for a third"
    );
    world.write("go", "");
    eventually("they have ended", || notes.count("finish") == 18);
    assert_eq!(busy(), 1);
}

#[test]
fn a_broken_background_entry_does_not_block() {
    let entry = json!({"event": "*", "command": "x", "background": true});
    assert!(Hook::from_json(&entry).unwrap().background());
    let broken = json!({"hooks": [{"event": "*", "command": 7, "background": true}]});
    let world = World::new();
    let file = world.write("p/.src/forge/hooks.json", &broken.to_string());
    let project = file.ancestors().nth(3).unwrap();
    let config = forge_hooks::HookConfig::default().with_config_home(world.path("none"));
    let policy = forge_hooks::config::TrustPolicy::Everything;
    let report = config.load_into(world.registry(), project, policy);
    assert_eq!(report.problems.len(), 1);
    assert!(world.outcome(&blocking_event()).allowed());
}

/// Sees that each thread that runs a hook has a name.
struct Threads(Notes);

impl Observer for Threads {
    fn on_start(&self, _run: &HookRun<'_>) {
        self.0
            .add(std::thread::current().name().unwrap_or_default());
    }

    fn on_drop(&self, _run: &HookRun<'_>, _reason: DropReason) {
        self.0.add("drop");
    }
}

#[test]
fn the_threads_have_names() {
    let threads = Arc::new(Threads(Notes::default()));
    let world = World::with(|builder| builder.observer(Arc::clone(&threads)));
    world.registry().register(in_background("exit 0"));
    world.hook("*", "exit 0");
    assert!(world.submit(blocking_event()).wait().allowed());
    eventually("both have run", || threads.0.all().len() == 2);
    let names: HashSet<_> = threads.0.all().into_iter().collect();
    let expected = ["forge-hooks-0", "forge-hooks-bg-0"].map(str::to_owned);
    assert_eq!(names, HashSet::from(expected));
}
