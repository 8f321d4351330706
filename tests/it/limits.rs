//! Hosts that have run out of something: descriptors, processes, room for files, a terminal.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::process::Command;
use std::thread;
use std::time::Duration;

use forge_hooks::{CancelToken, FailureKind, FireOptions, HookEvent, HookResult};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::support::{PATIENCE, World, alone, blocking_event, hook, is_missing};

/// Sets a soft limit of this process, which must be the test's alone, and returns what it was.
fn limit(resource: Resource, soft: Option<u64>) -> Option<u64> {
    let limits = getrlimit(resource);
    let changed = Rlimit {
        current: soft,
        ..limits
    };
    setrlimit(resource, changed).unwrap();
    limits.current
}

/// A failure in the words of the system, that blocks.
fn could_not_start(result: &HookResult, words: &str) {
    assert_eq!(
        result.failure(),
        Some(FailureKind::NotStarted),
        "{result:?}"
    );
    let error = result.error().unwrap();
    assert!(
        error.contains(words) && !result.should_continue(),
        "{error}"
    );
}

#[test]
fn too_few_descriptors_fail_one_hook() {
    if alone("limits::too_few_descriptors_fail_one_hook") {
        let world = World::running(["echo hello"]);
        let open = u64::try_from(std::fs::read_dir("/proc/self/fd").unwrap().count()).unwrap();
        // From none to nearly enough: whichever step fails, the failure is reported and nothing
        // leaks.
        for more in 0..12 {
            let before = limit(Resource::Nofile, Some(open - 1 + more));
            let result = world.fire(&blocking_event()).remove(0);
            limit(Resource::Nofile, before);
            if !result.success() {
                could_not_start(&result, "Too many open files");
            }
            let is_enough = more > 2 || !result.success();
            assert!(is_enough, "{more} more cannot be enough");
        }
        assert!(world.outcome(&blocking_event()).allowed());
        let now = std::fs::read_dir("/proc/self/fd").unwrap().count();
        assert_eq!(u64::try_from(now).unwrap(), open);
    }
}

#[test]
fn too_few_processes_fail_one_hook() {
    if alone("limits::too_few_processes_fail_one_hook") {
        let world = World::running(["echo hello"]);
        // SAFETY: no memory is involved. Root is exempt from the limit, so the test switches to a
        // user without processes; a test that does not run as root keeps its user.
        #[allow(unsafe_code)]
        unsafe {
            libc::setgid(61_234);
            libc::setuid(61_234);
        }
        let elsewhere = hook("*", "echo hello").with_working_dir("/");
        assert!(world.one(elsewhere.clone()).success());
        let before = limit(Resource::Nproc, Some(1));
        let result = world.one(elsewhere.clone());
        could_not_start(&result, "Resource temporarily unavailable");
        let (event, options) = (HookEvent::user_interrupt(), FireOptions::default());
        let refused = world.executor.submit(event, options).unwrap_err();
        let message = refused.to_string();
        assert!(message.starts_with("cannot start a thread"), "{message}");
        assert!(std::error::Error::source(&refused).is_some());
        limit(Resource::Nproc, before);
        assert!(world.one(elsewhere).success());
        let handle = world.submit(refused.into_event());
        assert!(handle.wait().results()[0].success());
    }
}

/// `script` gives it a terminal of its own; the hook is a group in the background there.
#[test]
fn reading_the_terminal_is_an_error() {
    let test = "limits::reading_the_terminal_is_an_error";
    let terminal = std::fs::File::open("/dev/tty").is_ok();
    if std::env::var_os("FORGE_HOOKS_TEST_ALONE").is_none() {
        if is_missing("script") {
            return;
        }
        let test_binary = std::env::current_exe().unwrap();
        let line = format!("'{}' --exact {test} --nocapture", test_binary.display());
        let mut command = Command::new("script");
        command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
        let output = command.env("FORGE_HOOKS_TEST_ALONE", "1").output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        let passed = output.status.success() && printed.contains("1 passed");
        return assert!(passed, "{printed}");
    }
    assert!(terminal, "`script` has given it a terminal");
    let reader = hook("*", "read -r line </dev/tty").with_timeout(Duration::from_secs(1));
    let result = World::new().one(reader);
    assert!(result.timed_out());
    let error = result.error().unwrap();
    let beginning = "timed out after 1s, stopped by a signal: ";
    assert!(error.starts_with(beginning), "{error}");
}

#[test]
fn another_stop_is_no_use_of_the_terminal() {
    let check = |command: &str, expected: &str| {
        let stopping = hook("*", command).with_timeout(Duration::from_secs(2));
        let result = World::new().one(stopping);
        assert_eq!(result.error(), Some(expected), "{command}");
    };
    thread::scope(|scope| {
        for (command, expected) in [
            (
                "kill -STOP $$",
                "timed out after 2s, stopped by signal 19 (SIGSTOP)",
            ),
            (
                "sh -c 'kill -STOP $$; :' & wait",
                "timed out after 2s, and one of its processes was stopped by a signal",
            ),
            ("sleep 60", "timed out after 2s"),
        ] {
            scope.spawn(move || check(command, expected));
        }
    });
}

/// Whoever keeps its handle or its token.
#[test]
fn an_event_that_has_ended_keeps_no_descriptor() {
    if !alone("limits::an_event_that_has_ended_keeps_no_descriptor") {
        return;
    }
    limit(Resource::Nofile, Some(1024));
    let world = World::running(["exit 0"]);
    let mut kept = Vec::new();
    for _ in 0..700 {
        let token = CancelToken::new();
        let options = FireOptions::new().cancelled_by(&token);
        let mut handle = world.executor.submit(blocking_event(), options).unwrap();
        assert!(handle.wait_timeout(PATIENCE).unwrap().allowed());
        kept.push((handle.cancel_token(), handle, token));
    }
    assert!(world.submit(blocking_event()).wait().allowed());
}
