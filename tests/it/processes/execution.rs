//! Firing an event and waiting: order, stopping, directories, timeouts, the calls themselves.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forge_hooks::{
    FailureKind, FailurePolicy, FireOptions, HookEvent, HookExecutor, HookRegistry, fire_event,
    fire_event_blocking, fire_event_blocking_with,
};

use crate::support::{AND, LONG, World, blocking_event, custom, hook, printed};

fn keep_going() -> FireOptions {
    FireOptions::default().stop_on_failure(false)
}

#[test]
fn hooks_run_in_registration_order() {
    let world = World::new();
    let clone = world.executor.clone();
    world.hook("*", "echo 1");
    world.hook("llm:*", "echo not this one");
    world.hook("tool:pre_execute:bash", "echo 2");
    world.add(hook("*", "echo nor this").with_enabled(false));
    world.hook("tool:*", "echo 3");
    let results = world.fire(&blocking_event());
    assert_eq!(printed(&results), ["1", "2", "3"]);
    for result in &results {
        assert!(result.pid().is_some() && !result.duration().is_zero());
    }
    let results = clone.execute_hooks(&blocking_event(), keep_going());
    assert_eq!(results.len(), 3, "clones share the registry");
}

/// On an event that cannot be blocked, what a hook prints may be what a tool has returned: it must not silence an audit.
#[test]
fn no_answer_keeps_a_later_hook_from_an_event_that_cannot_be_blocked() {
    let event = HookEvent::tool_post_execute("bash", "ls", "done");
    for (printed, runs) in [
        (r#"{"decision": "block", "reason": "no"}"#, true),
        (r#"{"decision": "ask"}"#, true),
        (r#"{"continue": false}"#, true),
        (
            r#"{"hookSpecificOutput": {"permissionDecision": "deny"}}"#,
            true,
        ),
        (r#"{"decision": "blok"}"#, true),
        ("{'decision': 'block'}", true),
        ("done", true),
        (r#"{"decision": "block"}; exit 3"#, false),
        ("done; exit 3", false),
    ] {
        let world = World::new();
        let (text, exit) = printed.split_once("; ").unwrap_or((printed, "exit 0"));
        world.hook("*", &format!("{}{AND}{exit}", world.says(text)));
        world.hook("*", "echo audited");
        let results = world.fire(&event);
        assert_eq!(results.len() == 2, runs, "{printed}: {results:?}");
        // It does keep others from what can be blocked, but for plain text.
        let results = world.fire(&blocking_event());
        assert_eq!(
            results.len() == 2,
            printed == "done",
            "{printed}: {results:?}"
        );
    }
}

/// A model chooses how large the output of a tool is.
#[test]
fn a_large_output_keeps_no_hook_from_running() {
    let world = World::new();
    let masks = hook("tool:post_execute", "echo {}");
    world.add(masks.with_on_failure(FailurePolicy::Withhold));
    world.hook("tool:*", "echo audited");
    let event = HookEvent::tool_post_execute("bash", "ls", "x".repeat(300_000));
    let results = world.fire(&event);
    assert_eq!(results[0].failure(), Some(FailureKind::EventTooLarge));
    assert_eq!(results.len(), 2);
}

#[test]
fn the_global_executor_has_the_registry() {
    // The only test to use either, since both are there once for all tests.
    let event = custom("global:test");
    HookRegistry::global().register(hook("global:test", "exit 1"));
    HookRegistry::global().register(hook("global:*", "echo second"));
    assert_eq!(fire_event_blocking(&event).len(), 1);
    assert_eq!(fire_event_blocking_with(&event, keep_going()).len(), 2);
    assert!(!fire_event(event.clone()).unwrap().wait().allowed());
    assert!(HookRegistry::global().unregister("global:test"));
    assert_eq!(printed(&fire_event_blocking(&event)), ["second"]);
    let registry = HookExecutor::global().registry();
    assert!(Arc::ptr_eq(registry, HookRegistry::global()));

    let late = HookExecutor::new(Arc::default());
    let refused = HookExecutor::set_global(late).unwrap_err();
    assert!(refused.registry().is_empty(), "the executor is given back");
}

#[test]
fn a_hook_that_takes_too_long_is_killed() {
    let timeout = Duration::from_millis(100);
    let world = World::with(|builder| builder.default_timeout(timeout));
    let start = Instant::now();
    let result = world.one(hook("*", LONG));
    let took = start.elapsed();
    let range = timeout..Duration::from_secs(30);
    assert!(range.contains(&took), "{took:?}");
    assert!(result.timed_out() && !result.success() && !result.should_continue());
    let ending = (result.exit_code(), result.failure());
    assert_eq!(ending, (-1, Some(FailureKind::TimedOut)));
    assert_eq!(result.error(), Some("timed out after 100ms"));
    // The hook's own comes before the executor's.
    let patient = hook("*", "exit 0").with_timeout(Duration::from_secs(60));
    assert!(world.one(patient).success());
    let brief = hook("*", LONG).with_timeout(Duration::from_millis(50));
    let result = world.one(brief);
    assert_eq!(result.error(), Some("timed out after 50ms"));
}

const WHERE: &str = if cfg!(windows) {
    "cd"
} else {
    "pwd -P
     (cd \"$FORGE_WORKING_DIR\" && pwd -P)
     (cd / && cd \"$OPENCODE_WORKING_DIR\" && pwd -P)"
};

#[test]
fn the_working_directory_has_three_sources() {
    let world = World::new();
    let below = "it's $a/c";
    let path = world.path(below);
    std::fs::create_dir_all(&path).unwrap();
    let host = World::with(|_| HookExecutor::builder());
    let hook = || hook("*", WHERE);
    for (world, hook, expected) in [
        (&world, hook(), world.directory()),
        (&world, hook().with_working_dir(below), &path),
        (&world, hook().with_working_dir(&path), &path),
        (&host, hook(), &std::env::current_dir().unwrap()),
    ] {
        let result = world.one(hook);
        let output = result.stdout();
        for line in output.lines() {
            let stands_in = Path::new(line.trim()).canonicalize();
            assert_eq!(stands_in.unwrap(), expected.canonicalize().unwrap());
        }
        assert_eq!(output.lines().count(), WHERE.lines().count(), "{output}");
    }
}

#[cfg(unix)]
mod shells {
    use forge_hooks::Hook;
    use forge_hooks::hook::Shell;

    use crate::support::{World, hook};

    #[test]
    fn a_command_runs_in_sh_or_its_own_shell() {
        let world = World::new();
        let plain = world.one(hook("*", "[[ a == a ]] && echo bash"));
        let bash = hook("*", "[[ a == a ]] && echo bash").with_shell(Shell::Bash);
        assert_eq!(world.one(bash).stdout(), "bash\n");
        let sh_is_bash = world.one(hook("*", "test -n \"$BASH_VERSION\"")).success();
        assert_eq!(plain.success(), sh_is_bash);
    }

    /// The hook's input reaches the program, and its output is read.
    #[test]
    fn a_program_runs_without_a_shell() {
        let world = World::new();
        world.script("bin/guard", "#!/bin/sh\necho \"guarded $1\"\n");
        world.script("own/tool", "#!/bin/sh\necho own\n");
        world.script("tool", "#!/bin/sh\necho project\n");
        let program = |args: &[&str]| Hook::program("*", args.iter().copied()).unwrap();
        let path = format!(":.:{}", world.path("own").display());
        let directory = format!("{}\n", world.directory().display());
        for (hook, expected) in [
            (
                program(&["echo", "$HOME", "a  b", "*;'"]),
                "$HOME a  b *;'\n",
            ),
            // A relative one is in the working directory, a name on the hook's path.
            (program(&["bin/guard", "well"]), "guarded well\n"),
            (hook("*", "./bin/guard shell"), "guarded shell\n"),
            (program(&["tool"]).with_env("PATH", path), "own\n"),
            (program(&["printenv", "PWD"]), &directory),
        ] {
            assert_eq!(world.one(hook).stdout(), expected);
        }
        // The same directory, relative to the test's.
        let depth = std::env::current_dir().unwrap().components().count() - 1;
        let path = "../".repeat(depth) + directory.trim_start_matches('/');
        let path = format!(":.:{path}/bin:");
        let result = world.one(program(&["tool"]).with_env("PATH", path));
        assert_eq!(result.error(), Some("program `tool` not found"));
    }

    #[test]
    fn a_command_may_be_anything() {
        let world = World::new();
        let result = world.one(hook("*", "-x; echo on"));
        assert!(result.stderr().contains("-x"), "{}", result.stderr());
        assert_eq!(result.stdout(), "on\n", "it is not an option");
        let command = "if true; then\n  echo 'two\nlines'\nfi\nexit 3\n";
        let result = world.one(hook("*", command));
        assert_eq!((result.exit_code(), result.stdout()), (3, "two\nlines\n"));
    }
}
