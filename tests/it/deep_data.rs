//! Event data that is nested deeper than any stack: only a host can build it, and it is refused where it is added.
//!
//! Each test has a process for itself, which an overflow would end.

use std::thread;

use forge_hooks::{FailureKind, FireOptions, HookEvent, HookResult, Trace};
use serde_json::Value;

use crate::support::{Notes, PATIENCE, World, alone, eventually, hook};

const DEEP: [usize; 2] = [129, 30_000];

/// Returns alternating arrays and objects of this depth.
fn nested(levels: usize) -> Value {
    let mut value = Value::from("innermost");
    for level in 0..levels {
        value = if level % 2 == 0 {
            Value::Array(vec![value])
        } else {
            Value::Object([("a".to_owned(), value)].into_iter().collect())
        };
    }
    value
}

fn can_block(levels: usize) -> HookEvent {
    HookEvent::tool_pre_execute("bash", nested(levels))
}

fn cannot_block(levels: usize) -> HookEvent {
    HookEvent::session_start("s1").with_data("deep", nested(levels))
}

const ALL: FireOptions = FireOptions::new().stop_on_failure(false);

#[track_caller]
fn all_too_large(results: &[HookResult]) {
    assert_eq!(results.len(), 2);
    for result in results {
        assert_eq!(result.failure(), Some(FailureKind::EventTooLarge));
        assert!(!result.started());
        let error = result.error().unwrap();
        assert!(error.contains("nested deeper than 128 levels"), "{error}");
    }
}

#[test]
fn deep_data_fails_every_way_of_firing() {
    if !alone("deep_data::deep_data_fails_every_way_of_firing") {
        return;
    }
    let all = || {
        for levels in DEEP {
            every_way(can_block, levels);
            every_way(cannot_block, levels);
        }
    };
    // With the stack that Rust gives threads.
    let thread = thread::Builder::new().stack_size(2 * 1024 * 1024);
    thread.spawn(all).unwrap().join().unwrap();
}

fn every_way(event: fn(usize) -> HookEvent, levels: usize) {
    let directory = tempfile::tempdir().unwrap();
    let trace = Trace::builder(directory.path().join("trace"));
    let trace = trace.build().unwrap();
    let world = World::with(|builder| builder.trace(&trace).workers(1));
    world.hook("*", "echo never");
    world.hook("*", "echo never");
    let event = || event(levels);
    let outcome = world.executor.execute(&event(), ALL);
    all_too_large(outcome.results());
    assert_eq!(outcome.allowed(), !event().event_type.can_block());
    let handle = world.executor.submit(event(), ALL).unwrap();
    all_too_large(handle.wait().results());
    let handle = world.executor.submit(event(), ALL).unwrap();
    handle.cancel();
    assert_eq!(handle.wait().results().len(), 2);
    world.registry().clear();
    let outcome = world.submit(event()).wait();
    assert!(outcome.results().is_empty());
    in_the_background(event);
    let _ = world.executor.shutdown(PATIENCE);
    let event = can_block(levels);
    let json = event.to_json();
    assert!(json.contains("\"tool_args\":null"), "{json}");
    assert_eq!(event.to_env()["FORGE_TOOL_ARGS"], "null");
    assert!(!format!("{event:?}").is_empty());
}

fn in_the_background(event: impl Fn() -> HookEvent) {
    let world = World::with(|builder| builder.workers(1));
    let notes = Notes::of(&world.executor);
    world.add(hook("*", "echo ran>ran").with_background());
    assert!(world.outcome(&event()).results().is_empty());
    let outcome = world.submit(event()).wait();
    assert!(outcome.results().is_empty());
    eventually("both have ended", || notes.count("finish") == 2);
    assert!(!world.path("ran").exists());
}

#[cfg(unix)]
#[test]
fn data_of_128_levels_reaches_the_hook() {
    let world = World::new();
    // Output that begins with `{` would be an answer.
    world.hook("*", "echo given && cat");
    for event in [can_block(128), cannot_block(128)] {
        let result = world.fire(&event).remove(0);
        assert_eq!(result.failure(), None, "{result:?}");
        let printed = result.stdout().lines().nth(1).unwrap();
        assert_eq!(printed, event.to_json());
        assert!(printed.contains("innermost"));
    }
    let wide = vec![nested(2); 10_000];
    let wide = HookEvent::session_start("s1").with_data("wide", wide);
    assert!(world.fire(&wide)[0].started());
}

#[test]
fn a_value_in_its_place_is_received() {
    let world = World::running(["exit 0"]);
    let event = cannot_block(129).with_data("deeper", nested(200));
    let event = event.with_data("deep", 1);
    let failure = |event: &HookEvent| world.fire(event)[0].failure();
    assert_eq!(failure(&event), Some(FailureKind::EventTooLarge));
    assert_eq!(failure(&event.with_data("deeper", 1)), None);
}

/// The arguments are `null` then, so that the condition cannot be tested.
#[test]
fn depth_is_the_reason_for_a_condition_below_it() {
    let world = World::new();
    world.add(
        hook("tool:*", "exit 0")
            .with_when("/tool_args/command", "rm *")
            .unwrap(),
    );
    let outcome = world.outcome(&can_block(129));
    let reason = outcome.reason().unwrap();
    assert!(reason.contains("nested deeper than 128 levels"), "{reason}");
}
