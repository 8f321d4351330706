//! The order of submitted events: in sequence within a key, guards first, everything else in parallel.

use forge_hooks::{AppProfile, EventSpec, FireOptions, HookEvent, HookExecutor, Hooks};

use crate::support::{LONG, World, custom, meets};

fn message(session: &str, text: &str) -> HookEvent {
    HookEvent::session_message(session, "user", text)
}

/// Appends the content of a message to a file.
const LOG: &str = if cfg!(windows) {
    "echo !FORGE_CONTENT!>>log"
} else {
    // The later, the faster: without an order they would come the other way round.
    r#"sleep "0.0$((5 - FORGE_CONTENT))"; echo "$FORGE_CONTENT" >>log"#
};

fn lines(world: &World, name: &str) -> Vec<String> {
    let text = world.read(name);
    text.lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn a_log_of_a_session_is_in_order() {
    let world = World::new();
    world.hook("session:message", LOG);
    let numbers = ["0", "1", "2", "3", "4", "5"];
    for handle in numbers.map(|number| world.submit(message("s1", number))) {
        assert!(handle.wait().results()[0].success());
    }
    assert_eq!(lines(&world, "log"), numbers);
}

/// The host has declared these events of its own as such that cannot be blocked.
#[test]
fn declared_events_of_a_session_are_ordered() {
    let world = slow_and_fast();
    let mut builder = Hooks::builder(AppProfile::new("mygame")).config_home(world.directory());
    for name in ["slow:one", "fast:one"] {
        builder = builder.event(EventSpec::named(name).notify_only());
    }
    let executor = HookExecutor::builder().registry(world.registry().clone());
    let executor = executor.working_dir(world.directory()).workers(2);
    let hooks = builder.executor(executor).load();
    let submit = |event: HookEvent| hooks.submit(event);
    let slow = submit(custom("slow:one").with_session_id("s1"));
    let mut behind = submit(custom("fast:one").with_session_id("s1"));
    world.await_file("slow");
    let guard = submit(custom("fast:guard").with_session_id("s1"));
    assert!(guard.wait().allowed());
    assert!(behind.try_wait().is_none());
    assert_eq!(lines(&world, "fast"), ["fast"]);
    world.write("go", "");
    assert!(slow.wait().allowed() && behind.wait().allowed());
}

/// With two workers: a slow event, and fast ones.
fn slow_and_fast() -> World {
    let world = World::with(|builder| builder.workers(2));
    world.hook("slow:*", &meets("slow", "go"));
    world.hook("fast:*", "echo fast>>fast");
    world
}

#[test]
fn only_events_of_one_key_are_ordered() {
    let world = slow_and_fast();
    let on = |key: &'static str| FireOptions::default().ordered_by(key);
    let submit = |event, options| world.executor.submit(event, options).unwrap();
    let slow = submit(custom("slow:one"), on("a"));
    let mut behind = submit(custom("fast:one"), on("a"));
    world.await_file("slow");
    for options in [on("b"), FireOptions::default()] {
        assert!(submit(custom("fast:two"), options).wait().allowed());
    }
    assert!(behind.try_wait().is_none());
    assert_eq!(lines(&world, "fast"), ["fast", "fast"]);
    world.write("go", "");
    assert!(slow.wait().allowed() && behind.wait().allowed());
}

#[test]
fn a_key_continues_after_a_cancelled_event() {
    let world = slow_and_fast();
    let options = FireOptions::default().ordered_by(7);
    let submit = |event| {
        let options = options.clone();
        world.executor.submit(event, options).unwrap()
    };
    let slow = submit(custom("slow:one"));
    world.await_file("slow");
    let behind = [(); 3].map(|()| submit(custom("fast:one")));
    behind[0].cancel();
    behind[2].cancel();
    slow.cancel();
    let allowed = behind.map(|handle| handle.wait().allowed());
    assert_eq!(allowed, [false, true, false]);
}

#[test]
fn a_worker_is_kept_for_guards() {
    let world = World::with(|builder| builder.workers(2));
    world.hook("session:message", LONG);
    world.hook("tool:pre_execute", "exit 0");
    let slow = ["1", "2", "3", "4"].map(|session| world.submit(message(session, "slow")));
    let slow = slow.map(|handle| handle.cancel_on_drop());
    for _ in 0..3 {
        let guard = HookEvent::tool_pre_execute("bash", "ls").with_session_id("0");
        assert!(world.submit(guard).wait().allowed());
    }
    assert!(slow.iter().all(|logger| !logger.is_finished()));
}

#[test]
fn a_guard_goes_ahead_in_the_queue() {
    let world = World::with(|builder| builder.workers(1));
    world.hook("first:*", &meets("first", "go"));
    world.hook("session:message", "echo message>>log");
    world.hook("tool:pre_execute", "echo guard>>log");
    let first = world.submit(custom("first:one"));
    world.await_file("first");
    let loggers = ["s1", "s2"].map(|session| world.submit(message(session, "hello")));
    let guard = world.submit(HookEvent::tool_pre_execute("bash", "ls").with_session_id("s1"));
    world.write("go", "");
    assert!(first.wait().allowed() && guard.wait().allowed());
    for logger in loggers {
        assert!(logger.wait().results()[0].success());
    }
    assert_eq!(lines(&world, "log"), ["guard", "message", "message"]);
}
