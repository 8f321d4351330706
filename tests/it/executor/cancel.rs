//! Ending calls and submitted events early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
#[cfg(unix)]
use std::time::Instant;

use forge_hooks::lifecycle::{Next, ToolRun};
use forge_hooks::{
    CancelToken, FailureKind, FailurePolicy, FireOptions, HookResult, Lifecycle, compat,
};

use crate::support::{
    Notes, PATIENCE, World, blocking_event, custom, eventually, hook, hook_of, meets, returns,
};

fn cancelled(result: &HookResult) -> bool {
    result.failure() == Some(FailureKind::Cancelled) && !result.should_continue()
}

#[test]
fn cancelling_ends_one_and_skips_the_rest() {
    let world = World::running(["echo first"]);
    for command in [&*meets("second", "never"), "echo>third"] {
        // The failure policy must make no difference.
        world.add(hook("*", command).with_on_failure(FailurePolicy::Continue));
    }
    let of_claude = hook_of(compat::CLAUDE, "PreToolUse", "", "echo>fourth");
    world.add(of_claude);
    let handle = world.submit(blocking_event());
    world.await_file("second");
    handle.cancel();
    let outcome = handle.wait();
    assert!(!outcome.allowed());
    let [first, second, third, fourth] = outcome.results() else {
        panic!("{outcome:?}");
    };
    assert!(first.success() && first.started());
    assert!(cancelled(second) && second.started());
    assert_eq!(second.error(), Some("cancelled while it ran"));
    assert!(cancelled(third) && !third.started());
    assert_eq!(third.error(), Some("cancelled before its turn"));
    assert!(cancelled(fourth) && !fourth.started());
    assert!(!world.path("third").exists() && !world.path("fourth").exists());
}

/// The first ends by the signal, given at once: its grace is a minute. The second one ignores the signal, and ends within
/// its grace. The third does not end.
#[cfg(unix)]
#[test]
fn a_cancelled_tree_has_its_grace() {
    let ignores = "trap ': >told' TERM; : >child; : >hook; until test -e go; do sleep 0.01; done";
    let deaf = "trap '' TERM; : >child; : >hook; while :; do sleep 0.01; done";
    let obeys =
        "sh -c 'trap \"echo child>>ended; exit\" TERM; : >child; while :; do sleep 0.01; done' &
         trap 'echo hook>>ended; wait; exit' TERM
         : >hook; while :; do sleep 0.01; done";
    for (grace, command) in [(60_000, obeys), (60_000, ignores), (100, deaf)] {
        let grace = Duration::from_millis(grace);
        let world = World::with(|builder| builder.kill_grace(grace));
        world.hook("*", command);
        let handle = world.submit(blocking_event());
        world.await_file("hook");
        world.await_file("child");
        let start = Instant::now();
        handle.cancel();
        if command == ignores {
            assert!(!handle.is_finished(), "`cancel` does not wait");
            // A process that ends before the signal is not cancelled.
            world.await_file("told");
            world.write("go", "");
        }
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
    let world = World::with(|builder| builder.workers(1).queue_capacity(1));
    let notes = Notes::of(&world.executor);
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
    // Its deadline is not what ends it.
    let world = World::with(|builder| builder.default_timeout(Duration::from_secs(600)));
    let notes = Notes::of(&world.executor);
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

/// The calls run at once, on threads of their own.
fn blocked_calls<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    world: &'scope World,
    names: &[&str],
    options: FireOptions,
) -> Vec<thread::ScopedJoinHandle<'scope, Vec<HookResult>>> {
    let call = |name: &&str| {
        let event = custom(name);
        let options = options.clone();
        scope.spawn(move || world.executor.execute_hooks(&event, options))
    };
    names.iter().map(call).collect()
}

#[test]
fn a_token_cancels_its_calls_and_events_alone() {
    let world = World::new();
    for name in ["one", "two", "three", "other"] {
        world.hook(&format!("{name}:*"), &meets(name, &format!("go-{name}")));
    }
    let token = CancelToken::new();
    drop(token.clone());
    let options = FireOptions::new().cancelled_by(&token);
    thread::scope(|scope| {
        let calls = blocked_calls(scope, &world, &["one:x", "two:x"], options.clone());
        let other = blocked_calls(scope, &world, &["other:x"], FireOptions::new());
        let event = world.executor.submit(custom("three:x"), options);
        for name in ["one", "two", "three", "other"] {
            world.await_file(name);
        }
        assert!(!token.is_cancelled() && !token.is_finished());
        token.cancel();
        for call in calls {
            let results = call.join().unwrap();
            assert!(cancelled(&results[0]) && results[0].started());
        }
        assert!(cancelled(&event.unwrap().wait().results()[0]));
        assert!(token.is_cancelled() && token.is_finished());
        world.write("go-other", "");
        for call in other {
            assert!(call.join().unwrap()[0].success(), "it has no token");
        }
    });
}

#[test]
fn a_cancelled_token_cancels_what_comes_later() {
    let world = World::running(["echo>ran"]);
    let token = CancelToken::new();
    token.cancel();
    let options = || FireOptions::new().cancelled_by(&token);
    let submitted = world.executor.submit(blocking_event(), options()).unwrap();
    assert!(submitted.cancel_token().is_cancelled());
    for outcome in [
        submitted.wait(),
        world.executor.execute(&blocking_event(), options()),
    ] {
        assert!(!outcome.allowed());
        let result = &outcome.results()[0];
        assert!(cancelled(result) && !result.started());
    }
    assert!(!world.path("ran").exists());
    let dropped = CancelToken::new();
    let options = FireOptions::new().cancelled_by(&dropped);
    let submitted = world.executor.submit(blocking_event(), options).unwrap();
    drop(dropped);
    assert!(submitted.wait().allowed());
    std::fs::remove_file(world.path("ran")).unwrap();
    world.registry().clear();
    let options = FireOptions::new().cancelled_by(&token);
    assert!(world.executor.execute(&blocking_event(), options).allowed());
}

/// It cancels its own event, and what it was given to.
#[test]
fn the_token_of_an_event_may_be_given_to_others() {
    let world = World::new();
    for name in ["one", "two"] {
        world.hook(&format!("{name}:*"), &meets(name, "never"));
    }
    let upper = CancelToken::new();
    let options = FireOptions::new().cancelled_by(&upper);
    let one = world.executor.submit(custom("one:x"), options).unwrap();
    let token = one.cancel_token();
    assert_eq!(token, one.cancel_token());
    let options = FireOptions::new().cancelled_by(&token);
    let two = world.executor.submit(custom("two:x"), options).unwrap();
    world.await_file("one");
    world.await_file("two");
    assert!(!token.is_cancelled() && !upper.is_finished());
    upper.cancel();
    for handle in [one, two] {
        let outcome = handle.wait();
        let result = &outcome.results()[0];
        assert!(cancelled(result) && result.started());
    }
    assert!(token.is_cancelled() && token.is_finished() && upper.is_finished());
}

#[test]
fn a_token_removes_its_events_from_the_queue() {
    let world = World::with(|builder| builder.workers(1));
    world.hook("first:*", &meets("first", "go"));
    world.hook("second:*", "echo>second");
    let first = world.submit(custom("first:one"));
    world.await_file("first");
    let token = CancelToken::new();
    let options = FireOptions::new().cancelled_by(&token);
    let second = world.executor.submit(custom("second:one"), options);
    token.cancel();
    let second = second.unwrap();
    assert!(second.is_finished(), "no thread that runs it is waited for");
    assert!(cancelled(&second.wait().results()[0]));
    world.write("go", "");
    assert!(first.wait().allowed());
}

#[test]
fn what_runs_is_cancelled_and_later_calls_run() {
    let world = World::with(|builder| builder.workers(1));
    world.hook("long:*", &meets("submitted", "never"));
    world.hook("call:*", &meets("call", "never"));
    world.hook("own:*", &meets("own", "never"));
    let token = CancelToken::new();
    let own = FireOptions::new().cancelled_by(&token);
    for round in 0..2 {
        let at_once = FireOptions::new().ordered_by("one");
        thread::scope(|scope| {
            let mut calls = blocked_calls(scope, &world, &["call:x"], FireOptions::new());
            calls.extend(blocked_calls(scope, &world, &["own:x"], own.clone()));
            let submit = || {
                let options = at_once.clone();
                world.executor.submit(custom("long:x"), options).unwrap()
            };
            let events = [submit(), submit(), submit()];
            for name in ["call", "own", "submitted"] {
                world.await_file(name);
                std::fs::remove_file(world.path(name)).unwrap();
            }
            world.executor.cancel_running();
            for call in calls {
                assert!(cancelled(&call.join().unwrap()[0]), "{round}");
            }
            let [running, waiting, last] = events.map(|event| event.wait().results()[0].clone());
            assert!(cancelled(&running) && running.started(), "{round}");
            assert!(cancelled(&waiting) && !waiting.started(), "{round}");
            assert!(cancelled(&last) && !last.started(), "{round}");
        });
    }
    world.hook("later:*", "echo later");
    let outcomes = [
        world.submit(custom("later:x")).wait(),
        world.outcome(&custom("later:x")),
    ];
    assert!(
        outcomes
            .iter()
            .all(|outcome| outcome.results()[0].success())
    );
}

/// A hook in the background stops nothing, so the hooks after a cancelled one are still reached.
#[test]
fn a_cancelled_event_starts_nothing_in_the_background() {
    let world = World::new();
    world.hook("*", &meets("before", "never"));
    world.add(hook("*", "echo>behind").with_background());
    let options = FireOptions::new().stop_on_failure(false);
    let handle = world.executor.submit(custom("app:build"), options).unwrap();
    world.await_file("before");
    handle.cancel();
    assert!(cancelled(&handle.wait().results()[0]));
    // This also waits for hooks in the background.
    assert!(world.executor.shutdown(PATIENCE));
    assert!(!world.path("behind").exists());
}

#[cfg(unix)]
#[test]
fn what_runs_in_the_background_is_not_cancelled() {
    for is_all in [true, false] {
        let world = World::new();
        let behind = meets("behind", "go") + "; : >done";
        world.add(hook("app:log", &behind).with_background());
        world.hook("tool:*", &meets("before", "never"));
        assert!(world.outcome(&custom("app:log")).allowed());
        world.await_file("behind");
        let handle = world.submit(blocking_event());
        world.await_file("before");
        if is_all {
            world.executor.cancel_running();
        } else {
            handle.cancel();
        }
        assert!(cancelled(&handle.wait().results()[0]));
        world.write("go", "");
        world.await_file("done");
    }
}

#[test]
fn actions_are_cancelled_with_their_token() {
    let world = World::running(["exit 0"]);
    let token = CancelToken::new();
    token.cancel();
    let session = Lifecycle::new(world.executor.clone()).session("s1");
    let session = session.begin().unwrap();
    let turn = session.lifecycle().clone().cancelled_by(&token);
    let call = |hooks: &Lifecycle, token: Option<&CancelToken>| {
        let tool = hooks.tool("ls", "x");
        let tool = match token {
            Some(token) => tool.cancelled_by(token),
            None => tool,
        };
        tool.run(returns("done"))
    };
    let why = |call: ToolRun| {
        let blocked = call.check().err()?;
        assert_eq!(call.next, Next::Cancelled);
        assert!(blocked.is_cancelled());
        Some(blocked.to_string())
    };
    let expected = "cancelled by the host before it began";
    assert_eq!(why(call(&turn, None)).as_deref(), Some(expected));
    let own = call(session.lifecycle(), Some(&token));
    assert_eq!(why(own).as_deref(), Some(expected));
    let prompt = session.prompt("do it").cancelled_by(&token).begin();
    assert_eq!(prompt.unwrap_err().to_string(), expected);
    let permission = turn.permission("ls", "read").begin();
    assert_eq!(permission.unwrap_err().to_string(), expected);
    assert!(call(session.lifecycle(), None).check().is_ok());
    assert!(session.finish().unwrap().results()[0].success());
}

/// Also those that no caller waits for.
#[test]
fn each_event_of_an_action_has_its_token() {
    let world = World::new();
    let notes = Notes::of(&world.executor);
    for pattern in ["session:*", "permission:prompt"] {
        world.hook(pattern, "exit 0");
    }
    let token = CancelToken::new();
    token.cancel();
    let hooks = Lifecycle::new(world.executor.clone()).cancelled_by(&token);
    assert!(hooks.permission("ls", "read").begin().is_err());
    let session = hooks.without_waiting().session("s1").begin().unwrap();
    assert!(session.finish().is_none());
    assert!(world.executor.shutdown(PATIENCE));
    // An event that can be blocked is not even fired.
    assert_eq!(notes.count("drop (cancelled)"), 2);
    assert_eq!(notes.count("start"), 0);
}

/// Cancelling an event that has ended cancels no later one.
#[test]
fn an_event_that_has_ended_is_not_cancelled() {
    let world = World::running(["exit 0"]);
    let mut ended = world.submit(blocking_event()).cancel_on_drop();
    let token = ended.cancel_token();
    assert!(ended.wait_timeout(PATIENCE).unwrap().allowed());
    ended.cancel();
    drop(ended);
    assert!(!token.is_cancelled());
    let options = FireOptions::new().cancelled_by(&token);
    assert!(world.executor.execute(&blocking_event(), options).allowed());
}

/// A signal handler may set it: nothing is called.
#[test]
fn a_flag_of_the_host_cancels_what_runs_and_what_waits() {
    let world = World::with(|builder| builder.workers(1));
    world.hook("*", &meets("runs", "never"));
    let flag = Arc::new(AtomicBool::new(false));
    let token = CancelToken::from_flag(Arc::clone(&flag));
    let options = FireOptions::new().cancelled_by(&token);
    let submit = || world.executor.submit(blocking_event(), options.clone());
    let both = [submit().unwrap(), submit().unwrap()];
    world.await_file("runs");
    assert!(!token.is_cancelled());
    flag.store(true, Ordering::SeqCst);
    assert!(token.is_cancelled());
    for handle in both {
        let own = handle.cancel_token();
        assert!(cancelled(&handle.wait().results()[0]));
        assert!(
            own.is_cancelled(),
            "an event that depends on this one is cancelled too"
        );
    }
    let called = world.executor.execute(&blocking_event(), options);
    assert!(cancelled(&called.results()[0]) && !called.results()[0].started());
}
