//! What an executor tells of its hooks and events, and what is lost if it is not read.

use std::sync::Arc;
use std::time::Duration;

use forge_hooks::executor::{HookRun, Observation, Observations};
use forge_hooks::{
    AppProfile, EventSpec, FireOptions, Hook, HookEvent, HookExecutor, HookOutput, HookResult,
    Hooks, Outcome,
};
use serde_json::json;

use crate::support::{Notes, World, blocking_event, custom, hook};

const ALL: FireOptions = FireOptions::new().stop_on_failure(false);

#[test]
fn start_and_end_come_in_order() {
    let world = World::new();
    let notes = Notes::of(&world.executor);
    for (name, command) in [("one", "echo 1"), ("two", "exit 3"), ("three", "exit 0")] {
        world.add(hook("*", command).with_name(name));
    }
    assert!(!world.outcome(&blocking_event()).allowed());
    let expected = [
        "start tool:pre_execute one",
        "finish tool:pre_execute one",
        "start tool:pre_execute two",
        "finish tool:pre_execute two",
    ];
    assert_eq!(notes.all(), expected);
    assert!(!world.submit(blocking_event()).wait().allowed());
    assert_eq!(notes.all()[4..], expected);
}

fn ended(observations: &Observations) -> Vec<(HookRun, HookResult)> {
    let all = std::iter::from_fn(|| observations.try_recv());
    let ended = all.filter_map(|observation| match observation {
        Observation::Ended(run, result) => Some((run, *result)),
        _ => None,
    });
    ended.collect()
}

#[test]
fn results_are_those_of_the_host() {
    let world = World::running(["echo printed&& exit 3", "/no/such/program/at/all"]);
    let observations = world.executor.observations();
    let event = Arc::new(blocking_event().with_session_id("s1"));
    let handle = world.executor.submit(Arc::clone(&event), ALL).unwrap();
    let outcome = handle.wait();
    let seen = ended(&observations);
    for ((run, result), expected) in seen.iter().zip(outcome.results()) {
        assert!(Arc::ptr_eq(&run.fired, &event));
        assert_eq!((run.queued, result), (expected.queued(), expected));
    }
    assert_eq!(seen.len(), 2);
}

/// An observation has the original output, however often earlier hooks have changed it.
#[test]
fn a_run_has_the_event_as_fired() {
    let world = World::new();
    for output in [1, 2] {
        let answer = json!({ "updatedOutput": output });
        world.hook("*", &world.says(&answer.to_string()));
    }
    world.hook("*", "exit 0");
    let observations = world.executor.observations();
    let event = HookEvent::tool_post_execute("bash", json!({}), json!(0));
    assert_eq!(world.fire(&event).len(), 3);
    let outputs = |(run, _): (HookRun, HookResult)| {
        [run.fired, run.event].map(|event| event.data()["tool_result"].clone())
    };
    let seen: Vec<_> = ended(&observations).into_iter().map(outputs).collect();
    assert_eq!(json!(seen), json!([[0, 0], [0, 1], [0, 2]]));
}

#[test]
fn a_run_says_whether_it_is_the_second_one() {
    let world = World::new();
    world.hook("*", "exit 0");
    world.answering(json!({"updatedInput": {"command": "pwd"}}));
    let observations = world.executor.observations();
    let outcome = world
        .executor
        .execute(&blocking_event(), ALL.applies_updates());
    assert!(outcome.allowed());
    let seen = ended(&observations).into_iter();
    let seen: Vec<_> = seen.map(|(run, _)| run.is_second_run).collect();
    assert_eq!(seen, [false, false, true]);
}

fn fired(observations: &Observations) -> Vec<(HookEvent, Outcome)> {
    let all = std::iter::from_fn(|| observations.try_recv());
    let fired = all.filter_map(|observation| match observation {
        Observation::Fired { event, outcome, .. } => Some((HookEvent::clone(&event), *outcome)),
        _ => None,
    });
    fired.collect()
}

/// Whether it has hooks or not, and however it is fired.
#[test]
fn each_event_has_its_outcome() {
    let world = World::new();
    world.hook("tool:*", "exit 3");
    let observations = world.executor.observations();
    let events = [blocking_event(), custom("no:hooks")];
    for event in &events {
        let outcome = world.outcome(event);
        let submitted = world.submit(event.clone()).wait();
        let expected = [outcome, submitted].map(|outcome| (event.clone(), outcome.allowed()));
        let seen = fired(&observations).into_iter();
        let seen: Vec<_> = seen
            .map(|(event, outcome)| (event, outcome.allowed()))
            .collect();
        assert_eq!(seen, expected);
    }
}

#[test]
fn a_run_knows_what_the_host_has_declared() {
    for is_declared in [true, false] {
        let home = tempfile::tempdir().unwrap();
        let mut builder = Hooks::builder(AppProfile::new("mygame")).config_home(home.path());
        if is_declared {
            builder = builder.event(EventSpec::named("game:saved").notify_only());
        }
        let hooks = builder.executor(HookExecutor::builder()).load();
        let observations = hooks.executor().observations();
        hooks
            .executor()
            .registry()
            .register(hook("game:saved", "exit 0"));
        assert!(hooks.execute(&custom("game:saved")).allowed());
        assert!(hooks.shutdown(Duration::ZERO));
        assert!(hooks.submit(custom("game:saved")).refusal().is_some());
        let all = std::iter::from_fn(|| observations.try_recv());
        let can_block = all.filter_map(|observation| match observation {
            Observation::Ended(run, _) | Observation::Dropped(run, _) => Some(run.can_block),
            _ => None,
        });
        assert_eq!(can_block.collect::<Vec<_>>(), [!is_declared; 2]);
    }
}

fn all(observations: &Observations) -> usize {
    std::iter::from_fn(|| observations.try_recv()).count()
}

/// No result is lost, no hook waits, and the memory is bounded: in number, and in bytes.
#[test]
fn what_is_not_read_is_lost_and_counted() {
    let world = World::new();
    let mut answer = HookOutput::default();
    answer.system_message = Some("hi".to_owned());
    world.add(Hook::answering("*", answer).unwrap());
    let fire = |event: &HookEvent| assert_eq!(world.fire(event).len(), 1);
    let (unread, read) = (world.executor.observations(), world.executor.observations());
    let mut taken = 0;
    for _ in 0..2_000 {
        fire(&blocking_event());
        taken += all(&read);
    }
    // Three observations for each event.
    assert_eq!((taken, read.lost()), (6_000, 0));
    assert_eq!((all(&unread), unread.lost()), (1_024, 6_000 - 1_024));
    let large = blocking_event().with_data("large", "x".repeat(1024 * 1024));
    (0..20).for_each(|_| fire(&large));
    assert_eq!(all(&unread), 15);
    // Each observation of a changed event keeps the fired one too.
    let mut shorter = HookOutput::default();
    shorter.updated_output = Some("short".into());
    world.registry().clear();
    for _ in 0..2 {
        world.add(Hook::answering("tool:post_execute", shorter.clone()).unwrap());
    }
    let output = "x".repeat(8 * 1024 * 1024 - 64 * 1024);
    assert_eq!(
        world
            .fire(&HookEvent::tool_post_execute("bash", json!({}), output))
            .len(),
        2
    );
    assert_eq!(all(&unread), 2);
    drop(unread);
    world.fire(&large);
}
