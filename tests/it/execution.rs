//! Firing an event and waiting: order, stopping, directories, timeouts, the calls themselves.

use std::sync::Arc;
use std::time::{Duration, Instant};

use forge_hooks::{
    FailureKind, FireOptions, HookEvent, HookExecutor, HookRegistry, fire_event,
    fire_event_blocking, fire_event_blocking_with,
};

use crate::support::{World, blocking_event, custom, hook};

fn keep_going() -> FireOptions {
    FireOptions::default().stop_on_failure(false)
}

#[test]
fn exit_code_0_succeeds_with_the_output() {
    let world = World::running(["echo hello"]);
    let results = world.fire(&blocking_event());
    assert_eq!(results.len(), 1);
    let result = &results[0];
    assert_eq!((result.exit_code, result.stdout.trim()), (0, "hello"));
    assert!(result.success() && result.should_continue() && !result.timed_out);
    assert!(result.pid.is_some() && result.duration > Duration::ZERO);
    assert_eq!(result.error, None);
}

#[test]
fn another_exit_code_fails() {
    for code in [1, 2, 42, 125] {
        let result = World::new().one(hook("*", &format!("exit {code}")));
        assert_eq!(
            (result.exit_code, result.failure),
            (code, Some(FailureKind::Exit))
        );
        assert!(!result.success() && !result.should_continue());
        assert_eq!(result.error, Some(format!("exited with code {code}")));
    }
}

#[test]
fn hooks_run_in_registration_order() {
    let world = World::new();
    world.hook("*", "echo 1");
    world.hook("llm:*", "echo not this one");
    world.hook("tool:pre_execute:bash", "echo 2");
    world.hook("tool:*", "echo 3");
    let results = world.fire(&blocking_event());
    let printed: Vec<_> = results.iter().map(|result| result.stdout.trim()).collect();
    assert_eq!(printed, ["1", "2", "3"]);
}

#[test]
fn the_first_failure_stops_the_chain() {
    let world = World::running(["echo ok", "exit 1", "echo after>after"]);
    let results = world.fire(&blocking_event());
    assert_eq!(results.len(), 2);
    assert!(!world.path("after").exists());
}

#[test]
fn without_stopping_all_hooks_run() {
    let world = World::running(["echo ok", "exit 1", "echo after>after"]);
    let results = world
        .executor
        .execute_hooks(&blocking_event(), keep_going());
    assert_eq!(
        results
            .iter()
            .map(|result| result.exit_code)
            .collect::<Vec<_>>(),
        [0, 1, 0]
    );
    assert!(world.path("after").exists());
}

#[test]
fn a_disabled_hook_does_not_run() {
    let world = World::new();
    world
        .registry()
        .register(hook("*", "exit 1").with_enabled(false));
    assert!(world.fire(&blocking_event()).is_empty());
    assert!(world.outcome(&blocking_event()).allowed());
}

#[test]
fn clones_share_the_registry() {
    let world = World::new();
    let clone = world.executor.clone();
    world.hook("*", "echo hello");
    assert_eq!(
        clone
            .execute_hooks(&blocking_event(), FireOptions::default())
            .len(),
        1
    );
}

#[test]
fn the_global_executor_has_the_registry() {
    // The only test to use either, since both are there once for all tests.
    let event = custom("global:test");
    let id = HookRegistry::global().register(hook("global:test", "exit 1"));
    HookRegistry::global().register(hook("global:test", "echo second"));
    assert_eq!(fire_event_blocking(&event).len(), 1);
    assert_eq!(fire_event_blocking_with(&event, keep_going()).len(), 2);
    assert!(!fire_event(event.clone()).unwrap().wait().allowed());
    assert!(HookRegistry::global().remove(id));
    assert_eq!(fire_event_blocking(&event)[0].stdout.trim(), "second");
    assert!(Arc::ptr_eq(
        HookExecutor::global().registry(),
        HookRegistry::global()
    ));

    let late = HookExecutor::new(Arc::default());
    let refused = HookExecutor::set_global(late).unwrap_err();
    assert!(refused.registry().is_empty(), "the executor is given back");
}

#[test]
fn no_hooks_give_an_empty_outcome() {
    let world = World::new();
    assert!(world.outcome(&blocking_event()).results().is_empty());
    assert!(world.outcome(&blocking_event()).into_result().is_ok());
}

#[test]
fn a_hook_that_takes_too_long_is_killed() {
    let world = World::new();
    let start = Instant::now();
    let result = world.one(hook("*", SLEEP).with_timeout(Duration::from_millis(200)));
    assert!(start.elapsed() >= Duration::from_millis(200));
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(result.timed_out && !result.success() && !result.should_continue());
    assert_eq!(
        (result.exit_code, result.failure),
        (-1, Some(FailureKind::TimedOut))
    );
    assert_eq!(result.error.as_deref(), Some("timed out after 200ms"));
}

#[test]
fn the_executors_timeout_is_the_default() {
    let world = World::with(|builder| builder.default_timeout(Duration::from_millis(150)));
    let result = world.one(hook("*", SLEEP));
    assert_eq!(result.error.as_deref(), Some("timed out after 150ms"));
    let result = world.one(hook("*", "exit 0").with_timeout(Duration::from_secs(60)));
    assert!(result.success(), "{result:?}");
}

#[cfg(not(windows))]
const SLEEP: &str = "sleep 30";
#[cfg(windows)]
const SLEEP: &str = "ping -n 30 127.0.0.1 >NUL";

#[cfg(not(windows))]
const WHERE: &str = "pwd -P";
#[cfg(windows)]
const WHERE: &str = "cd";

#[test]
fn the_working_directory_has_three_sources() {
    let world = World::new();
    std::fs::create_dir_all(world.path("a b/c")).unwrap();
    let base = world.directory().canonicalize().unwrap();
    let host = std::env::current_dir().unwrap();
    let stands_in = |result: forge_hooks::HookResult| {
        std::path::PathBuf::from(result.stdout.trim())
            .canonicalize()
            .unwrap()
    };
    assert_eq!(stands_in(world.one(hook("*", WHERE))), base);
    let own = hook("*", WHERE).with_working_dir("a b/c");
    assert_eq!(stands_in(world.one(own)), base.join("a b").join("c"));
    let own = hook("*", WHERE).with_working_dir(world.path("a b"));
    assert_eq!(stands_in(world.one(own)), base.join("a b"));

    let executor = HookExecutor::builder().build();
    executor.registry().register(hook("*", WHERE));
    let event = HookEvent::user_interrupt();
    let mut results = executor.execute_hooks(&event, FireOptions::default());
    assert_eq!(stands_in(results.remove(0)), host.canonicalize().unwrap());
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
        assert_eq!(world.one(bash).stdout, "bash\n");
        let sh_is_bash = world.one(hook("*", "test -n \"$BASH_VERSION\"")).success();
        assert_eq!(plain.success(), sh_is_bash);
    }

    #[test]
    fn a_program_runs_without_a_shell() {
        let world = World::new();
        let args = ["printf", "%s|", "$HOME", "a b", "*", ";", "'"];
        let result = world.one(Hook::program("*", args).unwrap());
        assert_eq!(result.stdout, "$HOME|a b|*|;|'|");
    }

    #[test]
    fn a_relative_program_is_in_the_working_dir() {
        let world = World::new();
        world.script("bin/guard", "#!/bin/sh\necho \"guarded $1\"\n");
        let result = world.one(Hook::program("*", ["bin/guard", "well"]).unwrap());
        assert_eq!(result.stdout, "guarded well\n");
        let result = world.one(hook("*", "./bin/guard shell"));
        assert_eq!(result.stdout, "guarded shell\n");
    }

    #[test]
    fn a_program_is_found_on_the_hooks_path() {
        let world = World::new();
        world.script("own/tool", "#!/bin/sh\necho own\n");
        world.script("tool", "#!/bin/sh\necho project\n");
        let tool = || Hook::program("*", ["tool"]).unwrap();
        let own = tool().with_env("PATH", format!(":.:{}", world.path("own").display()));
        assert_eq!(world.one(own).stdout, "own\n");
        let result = world.one(tool().with_env("PATH", ":.:"));
        assert_eq!(result.error.as_deref(), Some("program `tool` not found"));
    }

    #[test]
    fn pwd_is_the_working_directory() {
        let world = World::new();
        let result = world.one(Hook::program("*", ["printenv", "PWD"]).unwrap());
        assert_eq!(
            result.stdout.trim_end(),
            world.directory().to_str().unwrap()
        );
    }

    #[test]
    fn a_command_with_a_dash_is_not_an_option() {
        let world = World::new();
        let result = world.one(hook("*", "-x; echo on"));
        assert!(
            result.stderr.contains("-x") && result.stdout == "on\n",
            "{}",
            result.stderr
        );
    }

    #[test]
    fn a_command_may_have_many_lines() {
        let world = World::new();
        let command = "if true; then\n  echo 'two\nlines'\nfi\nexit 3\n";
        let result = world.one(hook("*", command));
        assert_eq!(
            (result.exit_code, result.stdout.as_str()),
            (3, "two\nlines\n")
        );
    }
}
