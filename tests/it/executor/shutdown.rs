//! The orderly end of an executor.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use forge_hooks::{
    FailureKind, FireOptions, HookEvent, HookExecutor, HookRegistry, SubmitError, fire_event,
};

use crate::support::{LONG, Notes, World, alone, blocking_event, custom, eventually, hook, meets};

const LATER: Duration = Duration::from_secs(30);

#[test]
fn the_global_executor_can_be_shut_down() {
    if !alone("executor::shutdown::the_global_executor_can_be_shut_down") {
        return;
    }
    let world = World::new();
    let end = hook("session:end", "echo end>log").with_working_dir(world.directory());
    HookRegistry::global().register(end);
    drop(fire_event(HookEvent::session_end("s1")).unwrap());
    assert!(HookExecutor::global().shutdown(LATER));
    assert!(world.path("log").exists());
    let late = fire_event(HookEvent::session_end("s1")).unwrap_err();
    let message = "executor has been shut down, session:end was not taken";
    assert_eq!(late.to_string(), message);
}

#[test]
fn the_deadline_cuts_the_rest() {
    let world = World::with(|builder| builder.workers(1));
    let named = |name: &str, command: &str| hook("*", command).with_name(name);
    let slow = named("slow", &meets("slow", "never"));
    let [quick, behind] = ["quick", "behind"].map(|name| named(name, "exit 0"));
    world.registry().load_hooks([quick, slow, behind]);
    let first = world.submit(blocking_event());
    let second = world.submit(blocking_event());
    world.await_file("slow");
    let (start, deadline) = (Instant::now(), Duration::from_secs(3));
    assert!(!world.executor.shutdown(deadline));
    // It is one deadline for all that is waited for.
    assert!((deadline..2 * deadline).contains(&start.elapsed()));
    for (handle, started) in [(first, "quick slow"), (second, "")] {
        assert!(handle.is_finished());
        let outcome = handle.wait();
        assert!(!outcome.allowed());
        let results = outcome.results().iter().filter(|result| result.started());
        let names: Vec<_> = results
            .map(|result| result.hook().label().to_owned())
            .collect();
        assert_eq!(names.join(" "), started);
    }
    assert!(world.executor.shutdown(LATER), "nothing is left");
}

/// Returns true if the executor takes no more events. Cancels the event if it is taken.
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
fn what_the_host_cancels_is_not_left() {
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
    assert!(report);
}

#[test]
fn only_blocking_calls_work_afterwards() {
    let world = World::new();
    let notes = Notes::of(&world.executor);
    let background = hook("*", "exit 0").with_background();
    world.add(background);
    world.hook("*", "exit 3");
    assert!(world.executor.shutdown(LATER));
    let event = Arc::new(blocking_event());
    let refused = world
        .executor
        .submit(Arc::clone(&event), FireOptions::new());
    let error = refused.unwrap_err();
    assert!(matches!(error, SubmitError::ShutDown(_)));
    assert!(Arc::ptr_eq(&error.into_event(), &event));
    assert_eq!(notes.count("drop (shut_down)"), 2);
    let outcome = world.outcome(&blocking_event());
    let code = outcome.results()[0].exit_code();
    assert_eq!(code, 3, "a guard is not switched off by this");
    assert_eq!(notes.count("drop (shut_down)"), 3);
    let again = world.executor.shutdown(LATER);
    assert!(again, "a second time is no harm");
}

#[test]
fn shutdown_waits_for_background_hooks() {
    let world = World::new();
    let notes = Notes::of(&world.executor);
    world.add(hook("*", &meets("started", "go")).with_background());
    drop(world.submit(blocking_event()));
    world.await_file("started");
    let report = thread::scope(|scope| {
        let end = scope.spawn(|| world.executor.shutdown(LATER));
        world.write("go", "");
        end.join().unwrap()
    });
    assert!(report && notes.count("finish") == 1);
    let world = World::new();
    world.add(hook("*", LONG).with_background());
    assert!(world.fire(&blocking_event()).is_empty());
    assert!(!world.executor.shutdown(Duration::ZERO));
}

#[test]
fn two_may_shut_it_down_at_once() {
    let world = World::running([&meets("started", "go"), "echo x>>log"]);
    // In order: on Windows two cannot write to a file at once.
    let options = FireOptions::new().ordered_by("log");
    for _ in 0..10 {
        drop(
            world
                .executor
                .submit(blocking_event(), options.clone())
                .unwrap(),
        );
    }
    thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(|| world.executor.shutdown(LATER)));
        eventually("it takes no more", || refuses(&world, options.clone()));
        world.write("go", "");
        assert!(both.into_iter().all(|thread| thread.join().unwrap()));
    });
    assert_eq!(world.read("log").lines().count(), 10);
}

/// In a process of its own: other tests have threads too.
#[cfg(target_os = "linux")]
#[test]
fn no_thread_is_left() {
    if !alone("executor::shutdown::no_thread_is_left") {
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
    assert!(world.executor.shutdown(LATER));
    eventually("they are gone", || threads() == 0);
    assert!(handles.iter().all(|handle| handle.is_finished()));
    let world = World::running([LONG]);
    drop(world.submit(blocking_event()));
    let _folder = world.drop_executor();
    eventually("they are gone after a drop too", || threads() == 0);
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
    assert!(report);
    let world = World::new();
    for name in ["one", "two", "three"] {
        world.hook("tool:*", &meets(name, "never"));
    }
    let (ended, outcome) = thread::scope(|scope| {
        let call = scope.spawn(|| world.outcome(&blocking_event()));
        world.await_file("one");
        let ended = world.executor.shutdown(Duration::ZERO);
        (ended, call.join().unwrap())
    });
    assert!(!ended && !outcome.allowed());
    let failure = outcome.results()[0].failure();
    assert_eq!(failure, Some(FailureKind::Cancelled));
    world.hook("a:*", "exit 0");
    let late = world.outcome(&custom("a:late"));
    assert!(late.allowed() && late.results().len() == 1);
}

/// The hooks in the background of a call that is under way, as those of a submitted event.
#[cfg(unix)]
#[test]
fn background_hooks_of_a_call_run_before_the_end() {
    let world = World::new();
    let go = format!(
        "touch runs; until test -e '{}'; do sleep 0.02; done",
        world.path("go").display()
    );
    world.hook("tool:*", &go);
    world.add(hook("tool:*", "touch in-background").with_background());
    std::thread::scope(|scope| {
        let call = scope.spawn(|| world.outcome(&blocking_event()).allowed());
        world.await_file("runs");
        let ends = scope.spawn(|| world.executor.shutdown(LATER));
        // The shutdown has begun once nothing more is accepted.
        eventually("the executor is closed", || {
            world
                .executor
                .submit(blocking_event(), FireOptions::new())
                .is_err()
        });
        world.write("go", "");
        assert!(call.join().unwrap() && ends.join().unwrap());
    });
    assert!(world.path("in-background").exists());
}
