//! Hooks of one event in parallel, and background hooks.

use std::sync::Arc;
use std::thread::ThreadId;
use std::time::Duration;

use crossbeam_channel::Receiver;
use forge_hooks::executor::HookRun;
use forge_hooks::{FailureKind, FireOptions, Hook, HookResult, Observer};
use serde_json::json;

use crate::support::{
    LONG, Moment, Notes, World, blocking_event, eventually, hook, meets, printed,
};

const PARALLEL: FireOptions = FireOptions::new().parallel();

fn codes(results: &[HookResult]) -> Vec<i32> {
    results.iter().map(|result| result.exit_code).collect()
}

/// Each waits for the next: one after the other, none would end.
#[test]
fn all_hooks_run_at_once() {
    let ring = || {
        let world = World::with(|builder| builder.workers(3));
        for (name, next) in [("a", "b"), ("b", "c"), ("c", "a")] {
            world.hook("*", &meets(name, next));
        }
        world.hook("*", "exit 2");
        world
    };
    let outcome = ring().executor.execute(&blocking_event(), PARALLEL);
    assert_eq!(codes(outcome.results()), [0, 0, 0, 2], "in their order");
    assert!(!outcome.allowed());
    let world = ring();
    let handle = world.executor.submit(blocking_event(), PARALLEL).unwrap();
    let received: Vec<_> = handle.into_receiver().iter().collect();
    assert_eq!(codes(&received), [0, 0, 0, 2]);
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
    assert_eq!(codes(outcome.results()), [0, 1, 2, 3, 4]);
    let _ = world.executor.shutdown(Duration::ZERO);
    let outcome = world.executor.execute(&blocking_event(), PARALLEL);
    assert_eq!(codes(outcome.results()), [0, 1, 2, 3, 4]);
}

#[test]
fn cancelling_ends_all_at_once() {
    let world = World::with(|builder| builder.workers(2));
    let meet = [meets("a", "never"), meets("b", "never")];
    for command in [&*meet[0], &meet[1], "echo 3", "echo 4"] {
        world.hook("*", command);
    }
    let handle = world.executor.submit(blocking_event(), PARALLEL).unwrap();
    world.await_file("a");
    world.await_file("b");
    handle.cancel();
    let results = handle.wait().into_results();
    let failures: Vec<_> = results.iter().map(|result| result.failure).collect();
    assert_eq!(failures, [Some(FailureKind::Cancelled); 4], "{results:?}");
    let started = results.iter().filter(|result| result.started());
    assert_eq!(started.count(), 2);
}

/// Holds what ends on another thread than this one, until it is released.
#[derive(Debug)]
struct Holds(ThreadId, Receiver<()>);

impl Observer for Holds {
    fn on_finish(&self, _run: &HookRun<'_>, _result: &HookResult) {
        if std::thread::current().id() != self.0 {
            let _ = self.1.recv();
        }
    }
}

#[test]
fn an_observer_that_hangs_elsewhere_holds_no_results_back() {
    let (release, held) = crossbeam_channel::unbounded();
    let holds = Holds(std::thread::current().id(), held);
    let world = World::with(|builder| builder.workers(1).observer(Arc::new(holds)));
    // Each waits for the other one, so one of them runs elsewhere.
    for command in [meets("a", "b"), meets("b", "a")] {
        world.add(hook("*", &command).with_timeout(Duration::from_secs(2)));
    }
    let outcome = world.executor.execute(&blocking_event(), PARALLEL);
    drop(release);
    let mut failures: Vec<_> = outcome
        .results()
        .iter()
        .map(|result| result.failure)
        .collect();
    failures.sort_unstable_by_key(Option::is_some);
    assert_eq!(failures, [None, Some(FailureKind::TimedOut)]);
    assert!(!outcome.allowed());
}

fn in_background(command: &str) -> Hook {
    hook("*", command).with_background()
}

fn watched(notes: &Arc<Notes>) -> World {
    World::with(|builder| builder.observer(Arc::clone(notes)).queue_capacity(2))
}

#[test]
fn a_background_hook_starts_in_its_turn() {
    let notes = Arc::new(Notes::default());
    let world = watched(&notes);
    world.hook("*", "echo 1");
    world.add(in_background(&meets("started", "go")).with_description("slow"));
    world.hook("*", "echo 3");
    for options in [FireOptions::default(), PARALLEL] {
        let outcome = world.executor.execute(&blocking_event(), options);
        assert_eq!(printed(outcome.results()), ["1", "3"]);
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
    let notes = Arc::new(Notes::default());
    let world = World::with(|builder| builder.observer(Arc::clone(&notes)));
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

/// It has no result, so its observers are told.
#[test]
fn a_background_hook_of_a_cancelled_event_is_reported() {
    let drops = Arc::new(Notes::default());
    let notes = Arc::clone(&drops);
    let world = World::acting(
        |builder| builder,
        move |_, run, moment| {
            if let Moment::Drop(reason) = moment {
                notes.add(format!("{} {reason}", run.hook.label()));
            }
        },
    );
    world.hook("*", &meets("begun", "never"));
    world.add(in_background("exit 0").with_name("behind"));
    for options in [FireOptions::new(), PARALLEL] {
        let handle = world.executor.submit(blocking_event(), options).unwrap();
        world.await_file("begun");
        handle.cancel();
        assert_eq!(handle.wait().results().len(), 1);
        std::fs::remove_file(world.path("begun")).unwrap();
    }
    assert_eq!(drops.all(), ["behind cancelled"]);
}

#[test]
fn at_most_sixteen_background_hooks_run() {
    let notes = Arc::new(Notes::default());
    let world = watched(&notes);
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

#[test]
fn the_threads_have_names() {
    let threads = Arc::new(Notes::default());
    let notes = Arc::clone(&threads);
    let world = World::acting(
        |builder| builder,
        move |_, _, moment| {
            if let Moment::Start = moment {
                notes.add(std::thread::current().name().unwrap_or_default());
            }
        },
    );
    world.add(in_background("exit 0"));
    world.hook("*", "exit 0");
    assert!(world.submit(blocking_event()).wait().allowed());
    eventually("both have run", || threads.all().len() == 2);
    let mut names = threads.all();
    names.sort();
    assert_eq!(names, ["forge-hooks-0", "forge-hooks-bg-0"]);
}
