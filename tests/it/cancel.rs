//! Ending a submitted event early.

use std::sync::Arc;
use std::thread;
use std::time::Duration;
#[cfg(unix)]
use std::time::Instant;

use forge_hooks::{FailureKind, FailurePolicy, FireOptions, HookResult};

use crate::support::{Notes, World, blocking_event, custom, eventually, hook, meets};

fn cancelled(result: &HookResult) -> bool {
    result.failure == Some(FailureKind::Cancelled) && !result.should_continue()
}

#[test]
fn cancelling_ends_one_and_skips_the_rest() {
    let world = World::running(["echo first"]);
    for command in [&*meets("second", "never"), "echo>third"] {
        // Whatever the policy is.
        world.add(hook("*", command).with_on_failure(FailurePolicy::Continue));
    }
    let handle = world.submit(blocking_event());
    world.await_file("second");
    handle.cancel();
    let outcome = handle.wait();
    assert!(!outcome.allowed());
    let [first, second, third] = outcome.results() else {
        panic!("{outcome:?}");
    };
    assert!(first.success() && first.started());
    assert!(cancelled(second) && second.started());
    assert_eq!(second.error.as_deref(), Some("cancelled while it ran"));
    assert!(cancelled(third) && !third.started());
    assert_eq!(third.error.as_deref(), Some("cancelled before its turn"));
    assert!(!world.path("third").exists());
}

/// The first ends by the signal, given at once: its grace is a minute. The second is deaf.
#[cfg(unix)]
#[test]
fn a_cancelled_tree_has_its_grace() {
    let deaf = "trap '' TERM; : >child; : >hook; while :; do sleep 0.01; done";
    let obeys =
        "sh -c 'trap \"echo child>>ended; exit\" TERM; : >child; while :; do sleep 0.01; done' &
         trap 'echo hook>>ended; wait; exit' TERM
         : >hook; while :; do sleep 0.01; done";
    for (grace, command) in [(60_000, obeys), (100, deaf)] {
        let grace = Duration::from_millis(grace);
        let world = World::with(|builder| builder.kill_grace(grace));
        world.hook("*", command);
        let handle = world.submit(blocking_event());
        world.await_file("hook");
        world.await_file("child");
        let start = Instant::now();
        handle.cancel();
        let took = start.elapsed();
        assert!(took < Duration::from_millis(100), "it does not wait");
        assert!(cancelled(&handle.wait().results()[0]));
        let took = start.elapsed();
        assert_eq!(took >= grace, command == deaf, "{took:?}");
        if command == obeys {
            let ended = world.read("ended");
            assert!(ended.contains("child") && ended.contains("hook"), "{ended}");
        }
    }
}

#[test]
fn cancelling_frees_the_place_in_the_queue() {
    let notes = Arc::new(Notes::default());
    let world = World::with(|builder| {
        let builder = builder.observer(Arc::clone(&notes));
        builder.workers(1).queue_capacity(1)
    });
    world.hook("first:*", &meets("first", "go"));
    world.hook("second:*", "echo>second");
    let first = world.submit(custom("first:one"));
    world.await_file("first");
    for _ in 0..3 {
        let second = world.submit(custom("second:one"));
        let event = custom("second:one");
        let refused = world.executor.submit(event, FireOptions::default());
        assert!(refused.is_err(), "there is room for one");
        second.cancel();
        assert!(second.is_finished(), "no thread that runs it is waited for");
        let outcome = second.wait();
        assert!(cancelled(&outcome.results()[0]) && !outcome.results()[0].started());
    }
    world.write("go", "");
    assert!(first.wait().allowed(), "the other event goes on");
    assert!(!world.path("second").exists());
    for (note, count) in [("drop (cancelled)", 3), ("drop (busy)", 3), ("start", 0)] {
        assert_eq!(notes.count(&format!("{note} second:one")), count, "{note}");
    }
}

#[test]
fn cancelling_after_the_end_does_nothing() {
    let world = World::running(["echo 1"]);
    let mut handle = world.submit(blocking_event());
    let outcome = handle.wait_timeout(Duration::MAX).unwrap();
    handle.cancel();
    assert!(outcome.allowed() && handle.wait().allowed());
    let without_hooks = World::new().submit(custom("no:hooks"));
    without_hooks.cancel();
    assert!(without_hooks.wait().allowed());
}

#[test]
fn a_handle_may_cancel_when_it_is_dropped() {
    let notes = Arc::new(Notes::default());
    // Its deadline is not what ends it.
    let world = World::with(|builder| {
        let builder = builder.observer(Arc::clone(&notes));
        builder.default_timeout(Duration::from_secs(600))
    });
    world.hook("*", &meets("started", "never"));
    let handle = world.submit(blocking_event()).cancel_on_drop();
    world.await_file("started");
    drop(handle);
    eventually("the hook has ended", || notes.count("finish") == 1);
}

#[test]
fn a_token_cancels_from_another_thread() {
    let world = World::running([&meets("started", "never"), "echo never"]);
    let handle = world.submit(blocking_event()).cancel_on_drop();
    let token = handle.cancel_token();
    let results = handle.into_receiver();
    world.await_file("started");
    let is_finished = token.is_finished();
    assert!(!is_finished, "the receiver keeps it from being dropped");
    thread::scope(|scope| {
        scope.spawn(|| token.cancel());
        assert_eq!(results.iter().filter(cancelled).count(), 2);
    });
    eventually("it is finished", || token.is_finished());
}
