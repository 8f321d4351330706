//! The orderly end of an executor.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use forge_hooks::{
    FailureKind, FireOptions, HookEvent, HookRegistry, HookResult, HookRun, Observer,
    ShutdownReport, SubmitError, fire_event,
};

use crate::support::{LONG, Notes, World, alone, blocking_event, custom, eventually, hook, meets};

const LATER: Duration = Duration::from_secs(30);

#[test]
fn what_was_fired_last_is_not_lost() {
    let world = World::with(|builder| builder.workers(1));
    world.hook("session:*", "echo x>>log");
    for _ in 0..5 {
        drop(world.submit(HookEvent::session_message("s1", "user", "hello")));
    }
    drop(world.submit(HookEvent::session_end("s1")));
    let report = world.executor.shutdown(LATER);
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(report.finished, 6);
    assert_eq!(world.read("log").lines().count(), 6);
}

#[test]
fn the_global_executor_can_be_shut_down() {
    if !alone("shutdown::the_global_executor_can_be_shut_down") {
        return;
    }
    let world = World::new();
    let log = world.path("log");
    assert_eq!(
        forge_hooks::shutdown(LATER),
        ShutdownReport::default(),
        "there is none yet"
    );
    let end = hook("session:end", "echo end>log").with_working_dir(world.directory());
    HookRegistry::global().register(end);
    drop(fire_event(HookEvent::session_end("s1")).unwrap());
    let report = forge_hooks::shutdown(LATER);
    assert!(report.is_complete() && report.finished == 1, "{report:?}");
    assert!(log.exists());
    let late = fire_event(HookEvent::session_end("s1")).unwrap_err();
    assert_eq!(
        late.to_string(),
        "executor has been shut down, session:end was not taken"
    );
}

#[test]
fn the_deadline_cuts_and_reports_the_rest() {
    let world = World::with(|builder| builder.workers(1));
    let named = |name: &str, command: &str| hook("*", command).with_name(name);
    world.registry().register(named("quick", "exit 0"));
    world
        .registry()
        .register(named("slow", &meets("slow", "never")));
    world.registry().register(named("behind", "exit 0"));
    let first = world.submit(blocking_event());
    let second = world.submit(blocking_event());
    world.await_file("slow");
    let start = Instant::now();
    let report = world.executor.shutdown(Duration::from_millis(50));
    assert!(start.elapsed() >= Duration::from_millis(50));
    let names = |hooks: &[Arc<forge_hooks::Hook>]| -> Vec<String> {
        hooks.iter().map(|hook| hook.label().to_owned()).collect()
    };
    assert!(!report.is_complete());
    assert_eq!(names(&report.cut), ["slow"]);
    let mut never_started = names(&report.never_started);
    never_started.sort_unstable();
    assert_eq!(never_started, ["behind", "behind", "quick", "slow"]);
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
    world
        .registry()
        .register(hook("*", "exit 0").with_background());
    world.hook("*", "exit 3");
    assert!(world.executor.shutdown(LATER).is_complete());
    let event = Arc::new(blocking_event());
    let refused = world
        .executor
        .submit(Arc::clone(&event), FireOptions::default());
    let error = refused.unwrap_err();
    assert!(matches!(error, SubmitError::ShutDown(_)));
    assert!(Arc::ptr_eq(error.event(), &event));
    assert_eq!(notes.count("drop (shut_down)"), 2);
    let outcome = world.outcome(&blocking_event());
    assert_eq!(
        outcome.results()[0].exit_code,
        3,
        "a guard is not switched off by this"
    );
    assert_eq!(notes.count("drop (shut_down)"), 3);
    assert!(
        world.executor.shutdown(LATER).is_complete(),
        "a second time is no harm"
    );
}

#[test]
fn shutdown_waits_for_background_hooks() {
    let world = World::new();
    let late = hook("*", &(meets("started", "go") + "; echo x>done")).with_background();
    world.registry().register(late);
    drop(world.submit(blocking_event()));
    let report = thread::scope(|scope| {
        scope.spawn(|| {
            world.await_file("started");
            world.write("go", "");
        });
        world.executor.shutdown(LATER)
    });
    assert!(report.is_complete() && report.finished == 1, "{report:?}");
    let world = World::new();
    world.registry().register(hook("*", LONG).with_background());
    assert!(world.outcome(&blocking_event()).results().is_empty());
    let report = world.executor.shutdown(Duration::ZERO);
    assert_eq!(
        report.cut.len() + report.never_started.len(),
        1,
        "{report:?}"
    );
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

/// Does not return before it may.
#[derive(Default)]
struct Hangs {
    entered: AtomicBool,
    may_go: AtomicBool,
}

impl Observer for Hangs {
    fn on_finish(&self, _run: &HookRun<'_>, _result: &HookResult) {
        self.entered.store(true, Ordering::SeqCst);
        eventually("it may go", || self.may_go.load(Ordering::SeqCst));
    }
}

#[test]
fn a_hanging_observer_does_not_hang_shutdown() {
    let hangs = Arc::new(Hangs::default());
    let world = World::with(|builder| {
        let builder = builder.observer(Arc::clone(&hangs));
        builder.kill_grace(Duration::from_millis(10))
    });
    world.hook("*", "exit 0");
    let handle = world.submit(custom("x:y"));
    eventually("it hangs", || hangs.entered.load(Ordering::SeqCst));
    let report = world.executor.shutdown(Duration::ZERO);
    assert_eq!(report.stuck_threads, 1);
    hangs.may_go.store(true, Ordering::SeqCst);
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
        names
            .flatten()
            .filter(|name| name.starts_with("forge-hooks"))
            .count()
    };
    let world = World::running(["exit 0"]);
    world
        .registry()
        .register(hook("*", "exit 0").with_background());
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

/// Fires a long hook for each event, and waits for it.
struct Waits {
    executor: std::sync::OnceLock<forge_hooks::HookExecutor>,
}

impl Observer for Waits {
    fn on_start(&self, run: &HookRun<'_>) {
        if run.event.event_type.as_str() == "outer:one" {
            let executor = self.executor.get().unwrap();
            let inner = executor.submit(custom("inner:one"), FireOptions::default());
            assert!(!inner.unwrap().wait().allowed());
        }
    }
}

#[test]
fn what_runs_out_of_its_turn_is_cut_too() {
    let waits = Arc::new(Waits {
        executor: std::sync::OnceLock::new(),
    });
    let world = World::with(|builder| builder.observer(Arc::clone(&waits)));
    assert!(waits.executor.set(world.executor.clone()).is_ok());
    world.hook("outer:*", "exit 0");
    world
        .registry()
        .register(hook("inner:*", &meets("inner", "never")).with_name("inner"));
    let outer = world.submit(custom("outer:one"));
    world.await_file("inner");
    let report = world.executor.shutdown(Duration::ZERO);
    let inner = report.cut.iter().filter(|hook| hook.label() == "inner");
    assert_eq!((inner.count(), report.stuck_threads), (1, 0), "{report:?}");
    assert!(outer.is_finished());
}

#[test]
fn a_cut_parallel_call_is_reported() {
    let world = World::new();
    for name in ["one", "two", "three"] {
        world.hook("*", &meets(name, "never"));
    }
    let options = FireOptions::new().parallel();
    let (report, outcome) = thread::scope(|scope| {
        let call = scope.spawn(|| world.executor.execute(&blocking_event(), options));
        for name in ["one", "two", "three"] {
            world.await_file(name);
        }
        let report = world.executor.shutdown(Duration::from_millis(50));
        (report, call.join().unwrap())
    });
    assert!(!outcome.allowed());
    assert!(!report.is_complete() && report.cut.len() >= 2, "{report:?}");
}

#[test]
fn a_blocking_call_of_another_thread_is_waited_for_and_cut() {
    let world = World::new();
    world.hook("a:quick", &meets("quick", "go"));
    world.hook("a:long", &meets("long", "never"));
    world.hook("a:late", "exit 0");
    let call = |name: &str| world.outcome(&custom(name));
    let report = thread::scope(|scope| {
        let quick = scope.spawn(|| call("a:quick"));
        world.await_file("quick");
        let shutdown = scope.spawn(|| world.executor.shutdown(LATER));
        world.write("go", "");
        assert!(quick.join().unwrap().allowed());
        shutdown.join().unwrap()
    });
    assert!(report.is_complete(), "{report:?}");

    let (report, outcome) = thread::scope(|scope| {
        let long = scope.spawn(|| call("a:long"));
        world.await_file("long");
        let report = world.executor.shutdown(Duration::ZERO);
        (report, long.join().unwrap())
    });
    eprintln!("{outcome:?}");
    assert_eq!(report.cut.len(), 1, "{report:?}");
    let failure = outcome.results()[0].failure;
    assert_eq!(failure, Some(FailureKind::Cancelled));
    assert!(call("a:late").allowed(), "later calls work");
}
