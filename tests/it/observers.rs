//! Those who watch, and what they may do meanwhile: panic, and fire events of their own.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use forge_hooks::executor::DropReason;
use forge_hooks::{
    FailureKind, FireOptions, HookEvent, HookExecutor, HookHandle, HookResult, HookRun, Observer,
    Outcome,
};

use crate::support::{
    LONG, Notes, World, blocking_event, custom, eventually, hook, meets, printed,
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

/// What an observer finds in its arguments.
#[derive(Default)]
struct Details(Mutex<Vec<(HookEvent, Duration, HookResult)>>);

impl Observer for Details {
    fn on_finish(&self, run: &HookRun<'_>, result: &HookResult) {
        let details = (run.event.clone(), run.queued, result.clone());
        self.0.lock().unwrap().push(details);
    }
}

#[test]
fn an_observer_sees_what_the_host_sees() {
    let details = Arc::new(Details::default());
    let world = World::with(|builder| builder.observer(Arc::clone(&details)));
    world.hook("*", "echo printed&& exit 3");
    world.hook("*", "/no/such/program/at/all");
    let event = blocking_event().with_session_id("s1");
    let handle = world.executor.submit(event.clone(), ALL).unwrap();
    let outcome = handle.wait();
    let seen = details.0.lock().unwrap();
    let results = outcome.results().iter();
    let expected = results.map(|result| (event.clone(), result.queued, result.clone()));
    assert_eq!(*seen, expected.collect::<Vec<_>>());
    assert_eq!(seen.len(), 2);
}

struct Panics;

impl Observer for Panics {
    fn on_start(&self, _run: &HookRun<'_>) {
        panic!("on_start");
    }

    fn on_finish(&self, _run: &HookRun<'_>, _result: &HookResult) {
        panic!("on_finish");
    }

    fn on_drop(&self, _run: &HookRun<'_>, _reason: DropReason) {
        panic!("on_drop");
    }
}

#[test]
fn a_panic_affects_no_one_else() {
    let notes = Arc::new(Notes::default());
    let world = World::with(|builder| {
        builder
            .observer(Panics)
            .observer(Arc::clone(&notes))
            .workers(1)
    });
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

/// Fires an event for each hook on `outer:*`, and waits for it in one of many ways.
struct Nests {
    executor: OnceLock<HookExecutor>,
    wait: fn(HookHandle) -> Outcome,
    session: Option<&'static str>,
    outcomes: Mutex<Vec<Outcome>>,
}

impl Nests {
    fn new(wait: fn(HookHandle) -> Outcome, session: Option<&'static str>) -> Arc<Self> {
        Arc::new(Self {
            executor: OnceLock::new(),
            wait,
            session,
            outcomes: Mutex::default(),
        })
    }

    fn nest(&self) {
        let event = event("session:message", self.session);
        let executor = self.executor.get().unwrap();
        let handle = executor.submit(event, FireOptions::default()).unwrap();
        let outcome = (self.wait)(handle);
        self.outcomes.lock().unwrap().push(outcome);
    }
}

fn event(name: &str, session: Option<&str>) -> HookEvent {
    let event = HookEvent::new(name.parse().unwrap());
    session.into_iter().fold(event, HookEvent::with_session_id)
}

impl Observer for Nests {
    fn on_start(&self, run: &HookRun<'_>) {
        if run.event.event_type.as_str() == "session:start" {
            self.nest();
        }
    }
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

/// With one worker, and it is the one that waits; with others of its session before it in the queue,
/// and these wait for the worker; from two threads for each other.
#[test]
fn waiting_on_the_pool_never_deadlocks() {
    for (workers, session) in [(1, None), (1, Some("s1")), (2, None), (2, Some("s1"))] {
        for wait in [
            HookHandle::wait,
            wait_a_long_time,
            pollster::block_on,
            receive,
        ] {
            let nests = Nests::new(wait, session);
            let observer = Arc::clone(&nests);
            let world = World::with(|builder| builder.observer(observer).workers(workers));
            assert!(nests.executor.set(world.executor.clone()).is_ok());
            world.hook("session:*", "exit 0");
            let submit = |_| world.submit(event("session:start", session));
            end((0..4).map(submit).collect());
            assert_eq!(nests.outcomes.lock().unwrap().len(), 4);
        }
    }
}

#[test]
fn two_executors_may_wait_for_each_other() {
    let nests = [(); 2].map(|()| Nests::new(HookHandle::wait, Some("s1")));
    let worlds = nests.each_ref().map(|nests| {
        let world = World::with(|builder| builder.observer(Arc::clone(nests)).workers(1));
        world.hook("session:*", "exit 0");
        world
    });
    for (nests, other) in nests.iter().zip(worlds.iter().rev()) {
        assert!(nests.executor.set(other.executor.clone()).is_ok());
    }
    let submit = |number: usize| worlds[number % 2].submit(event("session:start", Some("s1")));
    end((0..6).map(submit).collect());
}

/// Fires an event in each callback and waits for it; the hooks of that event are reported too.
struct Endless {
    executor: OnceLock<HookExecutor>,
    wait: fn(&HookExecutor, HookEvent) -> Outcome,
    /// Events that may still be fired: each level has twice as many as the one above.
    budget: AtomicUsize,
    reported: Mutex<Vec<(u64, Option<FailureKind>)>>,
    unreported: Mutex<Vec<Option<FailureKind>>>,
}

impl Endless {
    fn fire(&self, run: &HookRun<'_>, depth: u64) {
        if run.event.event_type.as_str() == "slow:one" {
            return;
        }
        let spend = |left: usize| left.checked_sub(1);
        let spent = self.budget.fetch_update(Relaxed, Relaxed, spend);
        if spent.is_err() {
            return;
        }
        let event = blocking_event().with_data("depth", depth);
        let outcome = (self.wait)(self.executor.get().unwrap(), event);
        if depth >= 8 {
            let failures = outcome.results().iter().map(|result| result.failure);
            self.unreported.lock().unwrap().extend(failures);
        }
    }
}

fn depth(event: &HookEvent) -> u64 {
    let depth = event.data.get("depth");
    depth.map_or(0, |depth| depth.as_u64().unwrap())
}

impl Observer for Endless {
    fn on_start(&self, run: &HookRun<'_>) {
        self.fire(run, depth(run.event) + 1);
    }

    fn on_finish(&self, run: &HookRun<'_>, result: &HookResult) {
        let depth = depth(run.event);
        // The slow ones are cancelled.
        if result.failure != Some(FailureKind::Cancelled) {
            self.reported.lock().unwrap().push((depth, result.failure));
        }
        self.fire(run, depth + 1);
    }

    /// A hook that does not run does not count as a level.
    fn on_drop(&self, run: &HookRun<'_>, _reason: DropReason) {
        self.fire(run, depth(run.event));
    }
}

const ALL: FireOptions = FireOptions::new().stop_on_failure(false);

#[track_caller]
fn nesting_ends_at_eight(
    wait: fn(&HookExecutor, HookEvent) -> Outcome,
    first: impl FnOnce(&World) + Send,
) {
    let endless = Arc::new(Endless {
        executor: OnceLock::new(),
        wait,
        budget: AtomicUsize::new(120),
        reported: Mutex::default(),
        unreported: Mutex::default(),
    });
    let world = World::with(|builder| builder.observer(Arc::clone(&endless)).workers(2));
    assert!(endless.executor.set(world.executor.clone()).is_ok());
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

/// Fires an event for each that is dropped.
#[derive(Default)]
struct Stubborn {
    executor: OnceLock<HookExecutor>,
    drops: Notes,
}

impl Observer for Stubborn {
    fn on_drop(&self, _run: &HookRun<'_>, reason: DropReason) {
        self.drops.add(reason.to_string());
        let executor = self.executor.get().unwrap();
        assert!(executor.submit(blocking_event(), ALL).is_err());
    }
}

#[test]
fn firing_on_a_full_queue_reports_one_drop() {
    let stubborn = Arc::new(Stubborn::default());
    let world = World::with(|builder| {
        let builder = builder.observer(Arc::clone(&stubborn));
        builder.workers(1).queue_capacity(1)
    });
    assert!(stubborn.executor.set(world.executor.clone()).is_ok());
    world.hook("*", LONG);
    let mut taken = Vec::new();
    while let Ok(handle) = world.executor.submit(blocking_event(), ALL) {
        taken.push(handle.cancel_on_drop());
    }
    assert_eq!(stubborn.drops.all(), ["busy"]);
    assert!(!world.executor.shutdown(Duration::ZERO).is_complete());
}

/// Fires an event with an ordering key for the outer one, and receives its results later.
#[derive(Default)]
struct Hands {
    executor: OnceLock<HookExecutor>,
    results: Mutex<Option<crossbeam_channel::Receiver<HookResult>>>,
}

impl Observer for Hands {
    fn on_start(&self, run: &HookRun<'_>) {
        if run.event.event_type.as_str() == "outer:one" {
            let executor = self.executor.get().unwrap();
            let lane = FireOptions::new().ordered_by("lane");
            let handle = executor.submit(custom("inner:one"), lane).unwrap();
            *self.results.lock().unwrap() = Some(handle.into_receiver());
        }
    }
}

#[test]
fn events_behind_an_early_one_still_run() {
    let hands = Arc::new(Hands::default());
    let world = World::with(|builder| builder.observer(Arc::clone(&hands)).workers(1));
    assert!(hands.executor.set(world.executor.clone()).is_ok());
    world.hook("outer:*", "exit 0");
    world.hook("inner:*", &meets("inner", "go"));
    world.hook("behind:*", "exit 0");
    let outer = world.submit(custom("outer:one"));
    world.await_file("inner");
    let lane = FireOptions::new().ordered_by("lane");
    let mut behind = world.executor.submit(custom("behind:one"), lane).unwrap();
    assert!(behind.try_wait().is_none(), "the one before it runs");
    world.write("go", "");
    assert!(outer.wait().allowed());
    let outcome = behind.wait_timeout(Duration::from_secs(20));
    assert!(outcome.expect("its turn").allowed());
    let inner = hands.results.lock().unwrap().take().unwrap();
    assert!(inner.iter().all(|result| result.success()));
}
