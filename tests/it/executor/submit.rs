//! Firing an event without waiting: the handle, the queue, the end of the executor.

use std::sync::Arc;
use std::time::{Duration, Instant};

use forge_hooks::{FailureKind, FireOptions, HookResult, SubmitError};

use crate::support::{LONG, PATIENCE, World, blocking_event, custom, eventually, hook, meets};

#[test]
fn polling_gives_the_outcome_once() {
    let world = World::running(["echo 1", "exit 3"]);
    let mut handle = world.submit(blocking_event());
    eventually("the hooks have ended", || handle.is_finished());
    assert_eq!(handle.try_wait().unwrap().results().len(), 2);
    assert!(handle.is_finished() && handle.try_wait().is_none());
    assert!(handle.wait_timeout(PATIENCE).is_none());
    let again = handle.wait();
    assert_eq!(again.event_type(), &blocking_event().event_type);
    assert!(!again.allowed(), "what is blocked stays blocked");
    assert_eq!(again.results().len(), 1);
    // Nor does the channel repeat a result that blocks nothing.
    let mut handle = world.submit(blocking_event());
    assert!(handle.wait_timeout(Duration::MAX).is_some());
    assert_eq!(handle.into_receiver().iter().count(), 1);
}

#[test]
fn wait_timeout_can_be_repeated() {
    let world = World::running([LONG]);
    let mut handle = world.submit(blocking_event());
    let start = Instant::now();
    assert!(handle.wait_timeout(Duration::from_millis(20)).is_none());
    assert!(start.elapsed() >= Duration::from_millis(20));
    assert!(!handle.is_finished() && handle.try_wait().is_none());
    let _folder = world.drop_executor();
    let outcome = handle.wait_timeout(Duration::MAX).unwrap();
    assert_eq!(outcome.results()[0].failure(), Some(FailureKind::Cancelled));
}

#[test]
fn results_come_as_they_are_there() {
    let world = World::running(["echo 1"]);
    world.hook("*", &meets("second", "go"));
    let mut handle = world.submit(blocking_event());
    world.await_file("second");
    assert!(handle.try_wait().is_none(), "the outcome is all or nothing");
    assert!(handle.wait_timeout(Duration::from_millis(1)).is_none());
    let results = handle.into_receiver();
    let first = results.recv_timeout(PATIENCE).unwrap();
    assert_eq!(first.stdout().trim(), "1");
    assert!(results.try_recv().is_err());
    world.write("go", "");
    assert!(results.recv().unwrap().success());
    assert!(results.recv().is_err(), "the channel is at its end");
}

#[test]
fn several_handles_are_waited_for_at_once() {
    let world = World::new();
    world.hook("fast:*", "echo fast");
    world.hook("slow:*", &meets("slow", "go"));
    let slow = world.submit(custom("slow:one")).into_receiver();
    let fast = world.submit(custom("fast:one")).into_receiver();
    let printed = crossbeam_channel::select! {
        recv(slow) -> result => result.unwrap().stdout().to_owned(),
        recv(fast) -> result => result.unwrap().stdout().to_owned(),
        default(PATIENCE) => panic!("nothing came"),
    };
    assert_eq!(printed.trim(), "fast");
    world.write("go", "");
    assert_eq!(slow.iter().count(), 1);
    let none = world.submit(custom("no:hooks")).into_receiver();
    assert!(none.recv().is_err());
}

#[test]
fn time_in_the_queue_is_separate() {
    let world = World::with(|builder| builder.workers(1));
    world.hook("first:*", &meets("first", "go"));
    world.hook("second:*", "exit 0");
    let begun = Instant::now();
    let first = world.submit(custom("first:one"));
    world.await_file("first");
    // Longer than the first one has waited.
    let waited = begun.elapsed() + Duration::from_millis(10);
    let start = Instant::now();
    let second = world.submit(custom("second:one"));
    std::thread::sleep(waited);
    world.write("go", "");
    let outcome = second.wait();
    let result = &outcome.results()[0];
    assert!(result.queued() >= waited, "{result:?}");
    assert!(result.queued() + result.duration() <= start.elapsed());
    assert!(first.wait().results()[0].queued() < result.queued());
    let blocking = world.outcome(&custom("second:one"));
    assert_eq!(blocking.results()[0].queued(), Duration::ZERO);
}

#[test]
fn all_hooks_of_an_event_have_waited_as_long() {
    let world = World::running(["exit 0"; 2]);
    let outcome = world.submit(custom("a:b")).wait();
    let waited: Vec<_> = outcome
        .results()
        .iter()
        .map(|result| result.queued())
        .collect();
    assert!(
        waited[0] > Duration::ZERO && waited[0] == waited[1],
        "{waited:?}"
    );
}

#[test]
fn hooks_are_chosen_at_submission() {
    let world = World::with(|builder| builder.workers(1));
    world.hook("*", "echo old");
    let handle = world.submit(blocking_event());
    world.registry().clear();
    assert_eq!(handle.wait().results()[0].stdout().trim(), "old");
}

#[test]
fn a_full_queue_gives_the_event_back() {
    let world = World::with(|builder| builder.workers(1).queue_capacity(2));
    world.hook("*", LONG);
    let mut taken = Vec::new();
    let (event, error) = loop {
        let event = Arc::new(custom("queue:more"));
        let submitted = world
            .executor
            .submit(Arc::clone(&event), FireOptions::new());
        match submitted {
            Ok(handle) => taken.push(handle),
            Err(error) => break (event, error),
        }
        assert!(taken.len() <= 3, "one runs, two wait");
    };
    assert!(matches!(&error, SubmitError::Busy(_)));
    assert_eq!(error.to_string(), "queue is full, queue:more was not taken");
    assert!(Arc::ptr_eq(&error.into_event(), &event));
    drop(world);
    assert!(taken.into_iter().all(|handle| !handle.wait().allowed()));
}

#[test]
fn events_use_all_threads_or_one() {
    let world = World::with(|builder| builder.workers(3));
    // Each waits for the other two: with fewer threads none would end well.
    #[cfg(unix)]
    let meet =
        r#": > "$FORGE_NAME"; until test -e a && test -e b && test -e c; do sleep 0.01; done"#;
    #[cfg(windows)]
    let meet =
        "echo.>!FORGE_NAME!& for /L %i in (1,0,2) do @if exist a if exist b if exist c exit 0";
    world.hook("*", meet);
    let handles = ["a", "b", "c"].map(|name| world.submit(custom("x:y").with_data("name", name)));
    for handle in handles {
        assert!(handle.wait().results()[0].success());
    }
    let world = World::with(|builder| builder.workers(1));
    world.hook("*", "echo hello");
    let handles = [(); 10].map(|()| world.submit(blocking_event()));
    for handle in handles {
        assert_eq!(handle.wait().results()[0].stdout().trim(), "hello");
    }
}

#[test]
fn a_dropped_handle_keeps_no_results_and_lets_hooks_finish() {
    let world = World::new();
    let first = Arc::new(hook("*", "exit 0"));
    world.registry().register(Arc::clone(&first));
    world.hook("*", &meets("second", "go"));
    world.hook("*", "echo x>done");
    let handle = world.submit(blocking_event());
    world.await_file("second");
    let held = Arc::strong_count(&first);
    drop(handle);
    assert_eq!(Arc::strong_count(&first), held - 1);
    world.write("go", "");
    world.await_file("done");
}

#[test]
fn dropping_the_executor_answers_all() {
    let world = World::with(|builder| builder.workers(2));
    world.hook("*", LONG);
    world.hook("*", "echo second");
    let mut handles = [(); 10].map(|()| world.submit(blocking_event()));
    let start = Instant::now();
    let _folder = world.drop_executor();
    let dropped = start.elapsed();
    // The hooks would take a minute.
    assert!(dropped < PATIENCE / 2, "{dropped:?}");
    for handle in &mut handles {
        let outcome = handle.wait_timeout(PATIENCE);
        let outcome = outcome.expect("an answer");
        assert_eq!(outcome.results().len(), 2);
        let cancelled = |result: &HookResult| result.failure() == Some(FailureKind::Cancelled);
        assert!(outcome.results().iter().all(cancelled), "{outcome:?}");
        assert!(!outcome.allowed());
    }
}

#[test]
fn a_clone_keeps_the_executor_alive() {
    let world = World::running(["echo hello"]);
    let handle = world.submit(blocking_event());
    let clone = world.executor.clone();
    drop(world.executor.clone());
    assert!(handle.wait().allowed());
    let _folder = world.drop_executor();
    let keeps = clone.submit(blocking_event(), FireOptions::default());
    assert_eq!(keeps.unwrap().wait().results().len(), 1);
}
