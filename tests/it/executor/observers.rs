//! Those who watch, and what they may do meanwhile: panic, but neither fire events nor wait for them.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forge_hooks::executor::{DropReason, HookRun};
use forge_hooks::{
    AppProfile, EventSpec, FailureKind, FailurePolicy, FireOptions, HookEvent, HookExecutor,
    HookHandle, HookResult, Hooks, Observer, SubmitError,
};
use serde_json::json;

use crate::support::{
    LONG, Moment, Notes, PATIENCE, World, blocking_event, custom, eventually, hook, meets, printed,
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
    let world = World::acting(
        |builder| builder,
        move |_, run, moment| {
            if let Moment::Finish(result) = moment {
                let details = (run.event.clone(), run.queued, result.clone());
                sees.lock().unwrap().push(details);
            }
        },
    );
    world.hook("*", "echo printed&& exit 3");
    world.hook("*", "/no/such/program/at/all");
    let event = blocking_event().with_session_id("s1");
    let handle = world.executor.submit(event.clone(), ALL).unwrap();
    let outcome = handle.wait();
    let results = outcome.results().iter();
    let expected = results.map(|result| (event.clone(), result.queued(), result.clone()));
    let seen = seen.lock().unwrap();
    assert_eq!(*seen, expected.collect::<Vec<_>>());
    assert_eq!(seen.len(), 2);
}

/// The observer sees the original output, however often earlier hooks have changed it.
#[test]
fn an_observer_sees_the_event_as_fired() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let world = World::acting(
        |builder| builder,
        move |_, run, moment| {
            if let Moment::Start = moment {
                let outputs =
                    [run.fired, run.event].map(|event| event.data()["tool_result"].clone());
                sees.lock().unwrap().push(json!(outputs));
            }
        },
    );
    for output in [1, 2] {
        let answer = json!({ "updatedOutput": output });
        world.hook("*", &world.says(&answer.to_string()));
    }
    world.hook("*", "exit 0");
    let event = HookEvent::tool_post_execute("bash", json!({}), json!(0));
    assert_eq!(world.fire(&event).len(), 3);
    assert_eq!(
        json!(*seen.lock().unwrap()),
        json!([[0, 0], [0, 1], [0, 2]])
    );
}

/// Whichever thread runs or drops the hook.
#[test]
fn an_observer_receives_the_tag_of_the_event() {
    let tags = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&tags);
    let world = World::acting(
        |builder| builder,
        move |_, run, moment| {
            if !matches!(moment, Moment::Start) {
                received.lock().unwrap().push(run.tag);
            }
        },
    );
    world.hook("*", "exit 0");
    world.hook("*", "exit 0");
    world.add(hook("*", "exit 0").with_background());
    let tagged = FireOptions::new().tag(7);
    let _ = world.executor.execute(&blocking_event(), tagged.clone());
    let submitted = world.executor.submit(blocking_event(), tagged.clone());
    let _ = submitted.unwrap().wait();
    assert!(world.executor.shutdown(PATIENCE));
    assert!(world.executor.submit(blocking_event(), tagged).is_err());
    assert_eq!(*tags.lock().unwrap(), [Some(7); 9]);
    assert_eq!(world.fire(&blocking_event()).len(), 2);
    assert!(tags.lock().unwrap()[9..].iter().all(Option::is_none));
}

/// For each hook that ended or was dropped: true if it could have blocked.
#[derive(Default)]
struct Guards(Mutex<Vec<bool>>);

impl Observer for Guards {
    fn on_finish(&self, run: &HookRun<'_>, _result: &HookResult) {
        self.0.lock().unwrap().push(run.can_block);
    }

    fn on_drop(&self, run: &HookRun<'_>, _reason: DropReason) {
        self.0.lock().unwrap().push(run.can_block);
    }
}

#[test]
fn an_observer_knows_what_the_host_has_declared() {
    for is_declared in [true, false] {
        let (home, seen) = (tempfile::tempdir().unwrap(), Arc::new(Guards::default()));
        let mut builder = Hooks::builder(AppProfile::new("mygame")).config_home(home.path());
        if is_declared {
            builder = builder.event(EventSpec::custom("game:saved").unwrap().notify_only());
        }
        let executor = HookExecutor::builder().observer(Arc::clone(&seen));
        let hooks = builder.executor(executor).load();
        hooks.registry().register(hook("game:saved", "exit 0"));
        assert!(hooks.execute(&custom("game:saved")).allowed());
        assert!(hooks.shutdown(Duration::ZERO));
        assert!(hooks.submit(custom("game:saved")).refusal().is_some());
        assert_eq!(*seen.0.lock().unwrap(), [!is_declared; 2]);
    }
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

/// Each way to wait for an event.
const WAITS: [fn(HookHandle) -> Vec<HookResult>; 4] = [
    |handle| handle.wait().into_results(),
    |mut handle| {
        let outcome = handle.wait_timeout(PATIENCE);
        outcome.expect("an outcome").into_results()
    },
    |handle| pollster::block_on(handle).into_results(),
    |handle| handle.into_receiver().iter().collect(),
];

#[track_caller]
fn is_refused(result: &HookResult) {
    assert_eq!(result.failure, Some(FailureKind::Circular), "{result:?}");
    assert!(!result.started() && !result.should_continue());
    let error = result.error.as_deref().unwrap();
    assert!(error.contains("another thread"), "{error}");
}

/// In the report of a start, of an end and of a drop, on threads of the pool and of the host. The policy of a hook changes
/// nothing.
#[test]
fn an_event_of_an_observer_is_refused() {
    let refused = Arc::new(Notes::default());
    let notes = Arc::clone(&refused);
    let world = World::acting(
        |builder| builder.workers(1),
        move |executor, _, moment| {
            is_refused(&executor.execute(&blocking_event(), ALL).results()[0]);
            let error = executor.submit(blocking_event(), ALL).unwrap_err();
            assert!(matches!(error, SubmitError::FromObserver(_)), "{error}");
            assert!(executor.execute(&custom("no:hooks"), ALL).allowed());
            notes.add(match moment {
                Moment::Start => "start",
                Moment::Finish(_) => "finish",
                Moment::Drop(_) => "drop",
            });
        },
    );
    world.add(hook("tool:*", "exit 0").with_on_failure(FailurePolicy::Continue));
    world.hook("slow:*", LONG);
    for _ in 0..2 {
        assert!(world.outcome(&blocking_event()).allowed());
    }
    assert!(world.submit(blocking_event()).wait().allowed());
    assert_eq!(refused.all(), ["start", "finish"].repeat(3));
    let slow = world.submit(custom("slow:one"));
    world.submit(blocking_event()).cancel();
    slow.cancel();
    assert_eq!(slow.wait().results().len(), 1);
    assert!(refused.all().contains(&"drop".to_owned()));
}

/// Also for the very event that is reported, and with the only thread of the pool.
#[test]
fn a_wait_in_an_observer_ends_with_an_error() {
    for wait in WAITS {
        let (sender, handles) = std::sync::mpsc::channel::<HookHandle>();
        let handles = Mutex::new(handles);
        let refused = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&refused);
        let world = World::acting(
            |builder| builder.workers(1),
            move |_, run, moment| {
                if run.event.event_type.as_str() == "outer:one" && matches!(moment, Moment::Start) {
                    for handle in [(); 2].map(|()| handles.lock().unwrap().recv().unwrap()) {
                        is_refused(wait(handle).last().unwrap());
                        counts.fetch_add(1, Relaxed);
                    }
                }
            },
        );
        world.hook("outer:*", "exit 0");
        world.hook("tool:*", "echo x>ran");
        sender.send(world.submit(custom("outer:one"))).unwrap();
        sender.send(world.submit(blocking_event())).unwrap();
        assert!(world.executor.shutdown(PATIENCE));
        assert_eq!(refused.load(Relaxed), 2);
        assert!(world.path("ran").exists(), "the event itself goes on");
    }
}

#[test]
fn an_observer_may_collect_what_has_ended() {
    let (sender, handles) = std::sync::mpsc::channel::<HookHandle>();
    let handles = Mutex::new(handles);
    let collected = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&collected);
    let world = World::acting(
        |builder| builder,
        move |_, run, moment| {
            if run.event.event_type.as_str() == "last:one" && matches!(moment, Moment::Start) {
                for wait in WAITS {
                    let handle = handles.lock().unwrap().recv().unwrap();
                    assert!(wait(handle).iter().all(HookResult::success));
                    counts.fetch_add(1, Relaxed);
                }
            }
        },
    );
    world.hook("*", "exit 0");
    for _ in WAITS {
        let handle = world.submit(blocking_event());
        eventually("it has ended", || handle.is_finished());
        sender.send(handle).unwrap();
    }
    assert!(world.outcome(&custom("last:one")).allowed());
    assert_eq!(collected.load(Relaxed), WAITS.len());
}

const ALL: FireOptions = FireOptions::new().stop_on_failure(false);

/// Otherwise an observer that cancels another event at each drop would be called within its own call.
#[test]
fn a_drop_within_a_drop_is_not_reported() {
    let drops = Arc::new(AtomicUsize::new(0));
    let others = Arc::new(Mutex::new(Vec::<HookHandle>::new()));
    let (counted, cancelled) = (Arc::clone(&drops), Arc::clone(&others));
    let world = World::acting(
        |builder| builder.workers(1),
        move |_, _, moment| {
            if let Moment::Drop(_) = moment {
                counted.fetch_add(1, Relaxed);
                let other = cancelled.lock().unwrap().pop();
                other.iter().for_each(HookHandle::cancel);
            }
        },
    );
    world.hook("first:*", &meets("first", "go"));
    world.hook("second:*", "exit 0");
    let first = world.submit(custom("first:x"));
    world.await_file("first");
    let [one, other] = [(); 2].map(|()| world.submit(custom("second:x")));
    let token = other.cancel_token();
    others.lock().unwrap().push(other);
    one.cancel();
    assert!(one.is_finished() && token.is_finished());
    assert_eq!(drops.load(Relaxed), 1);
    world.write("go", "");
    assert!(first.wait().allowed());
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
