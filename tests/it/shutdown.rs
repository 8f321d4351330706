//! The orderly end of an executor.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use forge_hooks::{
    FailureKind, FireOptions, Hook, HookEvent, HookRegistry, ShutdownReport, SubmitError,
    fire_event,
};

use crate::support::{
    LONG, Moment, Notes, World, alone, blocking_event, custom, eventually, hook, meets,
};

const LATER: Duration = Duration::from_secs(30);

#[test]
fn the_global_executor_can_be_shut_down() {
    if !alone("shutdown::the_global_executor_can_be_shut_down") {
        return;
    }
    let world = World::new();
    let none_yet = forge_hooks::shutdown(LATER);
    assert_eq!(none_yet, ShutdownReport::default());
    let end = hook("session:end", "echo end>log").with_working_dir(world.directory());
    HookRegistry::global().register(end);
    drop(fire_event(HookEvent::session_end("s1")).unwrap());
    let report = forge_hooks::shutdown(LATER);
    assert!(report.is_complete() && report.finished == 1, "{report:?}");
    assert!(world.path("log").exists());
    let late = fire_event(HookEvent::session_end("s1")).unwrap_err();
    let words = "executor has been shut down, session:end was not taken";
    assert_eq!(late.to_string(), words);
}

#[test]
fn the_deadline_cuts_and_reports_the_rest() {
    let world = World::with(|builder| builder.workers(1));
    let named = |name: &str, command: &str| hook("*", command).with_name(name);
    let slow = named("slow", &meets("slow", "never"));
    let [quick, behind] = ["quick", "behind"].map(|it| named(it, "exit 0"));
    world.registry().load_hooks([quick, slow, behind]);
    let first = world.submit(blocking_event());
    let second = world.submit(blocking_event());
    world.await_file("slow");
    let start = Instant::now();
    let report = world.executor.shutdown(Duration::from_millis(50));
    assert!(start.elapsed() >= Duration::from_millis(50));
    let names = |hooks: &[Arc<Hook>]| {
        let mut names: Vec<_> = hooks.iter().map(|it| it.label().to_owned()).collect();
        names.sort_unstable();
        names.join(" ")
    };
    assert!(!report.is_complete());
    assert_eq!(names(&report.cut), "slow");
    let never_started = names(&report.never_started);
    assert_eq!(never_started, "behind behind quick slow");
    assert_eq!((report.finished, report.stuck_threads), (0, 0));
    for handle in [first, second] {
        assert!(handle.is_finished() && !handle.wait().allowed());
    }
}

/// Whether it takes no more events; cancels one that it takes.
fn refuses(world: &World, options: FireOptions) -> bool {
    match world.executor.submit(custom("x:y"), options) {
        Ok(handle) => {
            handle.cancel();
            false
        }
        Err(_) => true,
    }
}

#[test]
fn cancelled_hooks_are_not_reported_as_cut() {
    let world = World::with(|builder| builder.workers(1));
    world.hook("*", &meets("started", "never"));
    let running = world.submit(blocking_event());
    world.await_file("started");
    let waiting = world.submit(blocking_event());
    let report = thread::scope(|scope| {
        let end = scope.spawn(|| world.executor.shutdown(LATER));
        eventually("it takes no more", || refuses(&world, FireOptions::new()));
        waiting.cancel();
        running.cancel();
        end.join().unwrap()
    });
    assert_eq!(report, ShutdownReport::default());
}

#[test]
fn only_blocking_calls_work_afterwards() {
    let notes = Arc::new(Notes::default());
    let world = World::with(|builder| builder.observer(Arc::clone(&notes)));
    let background = hook("*", "exit 0").with_background();
    world.add(background);
    world.hook("*", "exit 3");
    assert!(world.executor.shutdown(LATER).is_complete());
    let event = Arc::new(blocking_event());
    let refused = world
        .executor
        .submit(Arc::clone(&event), FireOptions::new());
    let error = refused.unwrap_err();
    assert!(matches!(error, SubmitError::ShutDown(_)));
    assert!(Arc::ptr_eq(error.event(), &event));
    assert_eq!(notes.count("drop (shut_down)"), 2);
    let outcome = world.outcome(&blocking_event());
    let code = outcome.results()[0].exit_code;
    assert_eq!(code, 3, "a guard is not switched off by this");
    assert_eq!(notes.count("drop (shut_down)"), 3);
    let again = world.executor.shutdown(LATER);
    assert!(again.is_complete(), "a second time is no harm");
}

#[test]
fn shutdown_waits_for_background_hooks() {
    let world = World::new();
    let late = hook("*", &(meets("started", "go") + "; sleep 0.1; echo x>done")).with_background();
    world.add(late);
    drop(world.submit(blocking_event()));
    world.await_file("started");
    let report = thread::scope(|scope| {
        let end = scope.spawn(|| world.executor.shutdown(LATER));
        world.write("go", "");
        end.join().unwrap()
    });
    assert!(
        report.is_complete() && world.path("done").exists(),
        "{report:?}"
    );
    let world = World::new();
    world.add(hook("*", LONG).with_background());
    assert!(world.fire(&blocking_event()).is_empty());
    let report = world.executor.shutdown(Duration::ZERO);
    let ended = report.cut.len() + report.never_started.len();
    assert_eq!(ended, 1, "{report:?}");
}

#[test]
fn two_may_shut_it_down_at_once() {
    // Hooks that end before it begins are not counted.
    let world = World::running([&meets("started", "go"), "echo x>>log"]);
    // In order: on Windows two cannot write to a file at once.
    let options = FireOptions::new().ordered_by("log");
    for _ in 0..10 {
        drop(world.executor.submit(blocking_event(), options).unwrap());
    }
    let finished: usize = thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(|| world.executor.shutdown(LATER)));
        eventually("it takes no more", || refuses(&world, options));
        world.write("go", "");
        both.into_iter()
            .map(|thread| thread.join().unwrap())
            .inspect(|report| assert!(report.is_complete(), "{report:?}"))
            .map(|report| report.finished)
            .sum()
    });
    assert_eq!(finished, 20);
    assert_eq!(world.read("log").lines().count(), 10);
}

#[test]
fn a_hanging_observer_does_not_hang_shutdown() {
    let (hangs, may_go) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let (entered, goes) = (Arc::clone(&hangs), Arc::clone(&may_go));
    let world = World::acting(
        |builder| builder.kill_grace(Duration::from_millis(10)),
        move |_, _, moment| {
            if let Moment::Finish(_) = moment {
                entered.store(true, Ordering::SeqCst);
                eventually("it may go", || goes.load(Ordering::SeqCst));
            }
        },
    );
    world.hook("*", "exit 0");
    let handle = world.submit(custom("x:y"));
    eventually("it hangs", || hangs.load(Ordering::SeqCst));
    let report = world.executor.shutdown(Duration::ZERO);
    assert_eq!(report.stuck_threads, 1);
    may_go.store(true, Ordering::SeqCst);
    assert_eq!(handle.wait().results().len(), 1);
}

/// In a process of its own: other tests have threads too.
#[cfg(target_os = "linux")]
#[test]
fn no_thread_is_left() {
    if !alone("shutdown::no_thread_is_left") {
        return;
    }
    let threads = || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        let names = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")));
        let ours = |name: &String| name.starts_with("forge-hooks");
        names.flatten().filter(ours).count()
    };
    let world = World::running(["exit 0"]);
    let background = hook("*", "exit 0").with_background();
    world.add(background);
    let handles = [(); 8].map(|()| world.submit(blocking_event()));
    // A thread gives itself its name.
    eventually("there are some", || threads() > 0);
    assert!(world.executor.shutdown(LATER).is_complete());
    eventually("they are gone", || threads() == 0);
    assert!(handles.iter().all(|handle| handle.is_finished()));
    let world = World::running([LONG]);
    drop(world.submit(blocking_event()));
    let _folder = world.drop_executor();
    eventually("they are gone after a drop too", || threads() == 0);
}

#[test]
fn what_runs_out_of_its_turn_is_cut_too() {
    let world = World::acting(
        |builder| builder,
        |executor, run, moment| {
            let is_outer = run.event.event_type.as_str() == "outer:one";
            if is_outer && matches!(moment, Moment::Start) {
                let inner = executor.submit(custom("inner:one"), FireOptions::new());
                assert!(!inner.unwrap().wait().allowed());
            }
        },
    );
    world.hook("outer:*", "exit 0");
    let inner = hook("inner:*", &meets("inner", "never"));
    world.add(inner.with_name("inner"));
    let outer = world.submit(custom("outer:one"));
    world.await_file("inner");
    let report = world.executor.shutdown(Duration::ZERO);
    let inner = report.cut.iter().filter(|hook| hook.label() == "inner");
    assert_eq!((inner.count(), report.stuck_threads), (1, 0), "{report:?}");
    assert!(outer.is_finished());
}

#[test]
fn a_blocking_call_of_another_thread_is_waited_for_and_cut() {
    let world = World::running([&meets("quick", "go")]);
    let report = thread::scope(|scope| {
        let quick = scope.spawn(|| world.outcome(&blocking_event()));
        world.await_file("quick");
        let shutdown = scope.spawn(|| world.executor.shutdown(LATER));
        world.write("go", "");
        assert!(quick.join().unwrap().allowed());
        shutdown.join().unwrap()
    });
    assert!(report.is_complete(), "{report:?}");
    for (options, started) in [
        (FireOptions::new(), &["one"][..]),
        (FireOptions::new().parallel(), &["one", "two", "three"]),
    ] {
        let world = World::new();
        for name in ["one", "two", "three"] {
            world.hook("tool:*", &meets(name, "never"));
        }
        let (report, outcome) = thread::scope(|scope| {
            let call = scope.spawn(|| world.executor.execute(&blocking_event(), options));
            started.iter().for_each(|name| world.await_file(name));
            let report = world.executor.shutdown(Duration::ZERO);
            (report, call.join().unwrap())
        });
        assert!(!report.cut.is_empty(), "{report:?}");
        assert!(!outcome.allowed());
        let failure = outcome.results()[0].failure;
        assert_eq!(failure, Some(FailureKind::Cancelled));
        world.hook("a:*", "exit 0");
        let late = world.outcome(&custom("a:late"));
        assert!(late.allowed() && late.results().len() == 1);
    }
}
