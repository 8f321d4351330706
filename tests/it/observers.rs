//! Those who watch, and what they may do meanwhile: panic, and fire events of their own.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use forge_hooks::{
    FailureKind, FireOptions, HookEvent, HookExecutor, HookExecutorBuilder, HookHandle, HookRun,
    Outcome,
};

use crate::support::{
    LONG, Moment, Notes, World, blocking_event, custom, eventually, hook, meets, printed,
};

#[test]
fn start_and_end_come_in_order() {
    let notes = Arc::new(Notes::default());
    let world = World::with(|builder| builder.observer(Arc::clone(&notes)));
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

#[test]
fn an_observer_sees_what_the_host_sees() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let world = World::acting(unchanged, move |_, run, moment| {
        if let Moment::Finish(result) = moment {
            let details = (run.event.clone(), run.queued, result.clone());
            sees.lock().unwrap().push(details);
        }
    });
    world.hook("*", "echo printed&& exit 3");
    world.hook("*", "/no/such/program/at/all");
    let event = blocking_event().with_session_id("s1");
    let handle = world.executor.submit(event.clone(), ALL).unwrap();
    let outcome = handle.wait();
    let results = outcome.results().iter();
    let expected = results.map(|result| (event.clone(), result.queued, result.clone()));
    let seen = seen.lock().unwrap();
    assert_eq!(*seen, expected.collect::<Vec<_>>());
    assert_eq!(seen.len(), 2);
}

#[test]
fn a_panic_affects_no_one_else() {
    let notes = Arc::new(Notes::default());
    let world = World::acting(
        |builder| builder.observer(Arc::clone(&notes)).workers(1),
        |_, _, _| panic!("the observer panics, and is to"),
    );
    world.hook("*", "echo 1");
    let outcome = world.outcome(&blocking_event());
    assert_eq!(printed(outcome.results()), ["1"]);
    for _ in 0..3 {
        assert!(world.submit(blocking_event()).wait().allowed());
    }
    assert_eq!((notes.count("start"), notes.count("finish")), (4, 4));
    world.hook("slow:*", LONG);
    let _slow = world.submit(custom("slow:one")).cancel_on_drop();
    world.submit(blocking_event()).cancel();
    assert_eq!(notes.count("drop"), 1);
}

fn unchanged(builder: HookExecutorBuilder) -> HookExecutorBuilder {
    builder
}

fn event(name: &str, session: Option<&str>) -> HookEvent {
    let event = HookEvent::new(name.parse().unwrap());
    session.into_iter().fold(event, HookEvent::with_session_id)
}

fn starts(run: &HookRun<'_>, moment: &Moment<'_>, event: &str) -> bool {
    matches!(moment, Moment::Start) && run.event.event_type.as_str() == event
}

fn wait_a_long_time(mut handle: HookHandle) -> Outcome {
    handle
        .wait_timeout(Duration::from_secs(20))
        .expect("an outcome")
}

fn receive(handle: HookHandle) -> Outcome {
    let results = handle.into_receiver();
    let result = results.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(result.success() && results.recv().is_err());
    World::new().outcome(&blocking_event())
}

fn end(handles: Vec<HookHandle>) {
    for mut handle in handles {
        let outcome = handle.wait_timeout(Duration::from_secs(30));
        assert!(outcome.expect("no deadlock").results()[0].success());
    }
}

/// Each event's hook fires another event, and waits for it in one of many ways: with one worker, and it is the one that
/// waits; with others of its session before it in the queue, and these wait for the worker; from two threads for each
/// other.
#[test]
fn waiting_on_the_pool_never_deadlocks() {
    for (workers, session) in [(1, None), (1, Some("s1")), (2, None), (2, Some("s1"))] {
        for wait in [
            HookHandle::wait,
            wait_a_long_time,
            pollster::block_on,
            receive,
        ] {
            let nested = Arc::new(AtomicUsize::new(0));
            let nests = Arc::clone(&nested);
            let act = move |executor: &HookExecutor, run: &HookRun<'_>, moment: Moment<'_>| {
                if starts(run, &moment, "session:start") {
                    let event = event("session:message", session);
                    let _ = wait(executor.submit(event, FireOptions::default()).unwrap());
                    nests.fetch_add(1, Relaxed);
                }
            };
            let world = World::acting(|builder| builder.workers(workers), act);
            world.hook("session:*", "exit 0");
            let submit = |_| world.submit(event("session:start", session));
            end((0..4).map(submit).collect());
            assert_eq!(nested.load(Relaxed), 4);
        }
    }
}

#[test]
fn two_executors_may_wait_for_each_other() {
    let executors = Arc::new([const { OnceLock::<HookExecutor>::new() }; 2]);
    let worlds = [0, 1].map(|number: usize| {
        let executors = Arc::clone(&executors);
        let act = move |_: &HookExecutor, run: &HookRun<'_>, moment: Moment<'_>| {
            if starts(run, &moment, "session:start") {
                let event = event("session:message", Some("s1"));
                let other = executors[1 - number].get().unwrap();
                let _ = other.submit(event, FireOptions::default()).unwrap().wait();
            }
        };
        let world = World::acting(|builder| builder.workers(1), act);
        world.hook("session:*", "exit 0");
        world
    });
    for (executor, world) in executors.iter().zip(&worlds) {
        assert!(executor.set(world.executor.clone()).is_ok());
    }
    let submit = |number: usize| worlds[number % 2].submit(event("session:start", Some("s1")));
    end((0..6).map(submit).collect());
}

/// Fires an event in each callback and waits for it; the hooks of that event are reported too.
struct Endless {
    wait: fn(&HookExecutor, HookEvent) -> Outcome,
    /// Events that may still be fired: each level has twice as many as the one above.
    budget: AtomicUsize,
    reported: Mutex<Vec<(u64, Option<FailureKind>)>>,
    unreported: Mutex<Vec<Option<FailureKind>>>,
}

impl Endless {
    fn fire(&self, executor: &HookExecutor, run: &HookRun<'_>, depth: u64) {
        if run.event.event_type.as_str() == "slow:one" {
            return;
        }
        let spend = |left: usize| left.checked_sub(1);
        let spent = self.budget.fetch_update(Relaxed, Relaxed, spend);
        if spent.is_err() {
            return;
        }
        let event = blocking_event().with_data("depth", depth);
        let outcome = (self.wait)(executor, event);
        if depth >= 8 {
            let failures = outcome.results().iter().map(|result| result.failure);
            self.unreported.lock().unwrap().extend(failures);
        }
    }

    fn act(&self, executor: &HookExecutor, run: &HookRun<'_>, moment: &Moment<'_>) {
        let depth = run.event.data.get("depth");
        let depth = depth.map_or(0, |depth| depth.as_u64().unwrap());
        let inner = match moment {
            Moment::Start => depth + 1,
            Moment::Finish(result) => {
                // The slow ones are cancelled.
                if result.failure != Some(FailureKind::Cancelled) {
                    self.reported.lock().unwrap().push((depth, result.failure));
                }
                depth + 1
            }
            // A hook that does not run does not count as a level.
            Moment::Drop(_) => depth,
        };
        self.fire(executor, run, inner);
    }
}

const ALL: FireOptions = FireOptions::new().stop_on_failure(false);

#[track_caller]
fn nesting_ends_at_eight(
    wait: fn(&HookExecutor, HookEvent) -> Outcome,
    first: impl FnOnce(&World) + Send,
) {
    let endless = Arc::new(Endless {
        wait,
        budget: AtomicUsize::new(60),
        reported: Mutex::default(),
        unreported: Mutex::default(),
    });
    let acts = Arc::clone(&endless);
    let world = World::acting(
        |builder| builder.workers(2),
        move |executor, run, moment| acts.act(executor, run, &moment),
    );
    for _ in 0..2 {
        world.hook("tool:*", "exit 0");
    }
    thread::scope(|scope| {
        let host = thread::Builder::new().stack_size(2 * 1024 * 1024);
        let host = host.spawn_scoped(scope, || first(&world)).unwrap();
        host.join().unwrap();
    });
    eventually("every event has been fired", || {
        endless.budget.load(Relaxed) == 0
    });
    let reported = endless.reported.lock().unwrap();
    let deepest = reported.iter().map(|(depth, _)| depth).max();
    assert_eq!(deepest, Some(&7), "the eighth is the last");
    let all_ran = reported.iter().all(|(_, failure)| failure.is_none());
    assert!(all_ran, "{reported:?}");
    let unreported = endless.unreported.lock().unwrap();
    assert!(unreported.contains(&Some(FailureKind::Circular)));
}

#[test]
fn observer_nesting_ends_where_it_waits() {
    const PARALLEL: FireOptions = ALL.parallel();
    let ways: [fn(&HookExecutor, HookEvent) -> Outcome; 3] = [
        |executor, event| executor.execute(&event, ALL),
        |executor, event| executor.submit(event, ALL).unwrap().wait(),
        |executor, event| executor.execute(&event, PARALLEL),
    ];
    for wait in ways {
        nesting_ends_at_eight(wait, |world| {
            assert!(wait(&world.executor, blocking_event()).allowed());
        });
    }
}

#[test]
fn observer_nesting_ends_in_on_drop() {
    nesting_ends_at_eight(
        |executor, event| executor.execute(&event, ALL),
        |world| {
            // Longer than all events take: what is reported is that they are cancelled.
            world.add(hook("slow:*", LONG).with_timeout(Duration::from_secs(300)));
            let slow = [(); 2].map(|()| world.submit(custom("slow:one")).cancel_on_drop());
            world.submit(blocking_event()).cancel();
            drop(slow);
        },
    );
}

/// An observer that submits an event for each hook, and waits for none.
#[test]
fn observer_nesting_ends_across_threads() {
    let (sender, handles) = std::sync::mpsc::channel();
    let world = World::acting(unchanged, move |executor, _, moment| {
        if let Moment::Start = moment {
            let handle = executor.submit(blocking_event(), ALL).unwrap();
            sender.send(handle).unwrap();
        }
    });
    world.hook("*", "exit 0");
    let mut failures = vec![world.outcome(&blocking_event()).results()[0].failure];
    while failures.last() == Some(&None) && failures.len() < 20 {
        let outcome = handles.recv().unwrap().wait();
        failures.push(outcome.results()[0].failure);
    }
    let mut expected = vec![None; 8];
    expected.push(Some(FailureKind::Circular));
    assert_eq!(failures, expected);
}

#[test]
fn firing_on_a_full_queue_reports_one_drop() {
    let drops = Arc::new(Notes::default());
    let notes = Arc::clone(&drops);
    let world = World::acting(
        |builder| builder.workers(1).queue_capacity(1),
        move |executor, _, moment| {
            if let Moment::Drop(reason) = moment {
                notes.add(reason.to_string());
                assert!(executor.submit(blocking_event(), ALL).is_err());
            }
        },
    );
    world.hook("*", LONG);
    let mut taken = Vec::new();
    while let Ok(handle) = world.executor.submit(blocking_event(), ALL) {
        taken.push(handle.cancel_on_drop());
    }
    assert_eq!(drops.all(), ["busy"]);
    assert!(!world.executor.shutdown(Duration::ZERO));
}

#[test]
fn events_behind_an_early_one_still_run() {
    let lane = FireOptions::new().ordered_by("lane");
    let (sender, receiver) = std::sync::mpsc::channel();
    let world = World::acting(
        |builder| builder.workers(1),
        move |executor, run, moment| {
            if starts(run, &moment, "outer:one") {
                let handle = executor.submit(custom("inner:one"), lane).unwrap();
                sender.send(handle.into_receiver()).unwrap();
            }
        },
    );
    world.hook("outer:*", "exit 0");
    world.hook("inner:*", &meets("inner", "go"));
    world.hook("behind:*", "exit 0");
    let outer = world.submit(custom("outer:one"));
    world.await_file("inner");
    let mut behind = world.executor.submit(custom("behind:one"), lane).unwrap();
    assert!(behind.try_wait().is_none(), "the one before it runs");
    world.write("go", "");
    assert!(outer.wait().allowed());
    let outcome = behind.wait_timeout(Duration::from_secs(20));
    assert!(outcome.expect("its turn").allowed());
    let inner = receiver.recv().unwrap();
    assert!(inner.iter().all(|result| result.success()));
}
