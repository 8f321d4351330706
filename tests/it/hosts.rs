//! Hosts with signal set-ups of their own. Each test runs in a process that it has for itself.
#![cfg(unix)]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use forge_hooks::hook::Shell;
use forge_hooks::{FailureKind, HookEvent, HookResult};

use crate::support::{LONG, PATIENCE, World, alone, blocking_event, hook};

/// Runs hooks of every kind of end and sees that each is answered in time.
fn hooks_work(expected: impl Fn(&HookResult, i32) -> bool) {
    let world = World::new();
    let start = Instant::now();
    for (command, code) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("cat >/dev/null; sleep 0.02; exit 3", 3),
    ] {
        let result = world.one(hook("*", command).with_timeout(PATIENCE));
        assert!(expected(&result, code), "{command}: {result:?}");
    }
    let result = world.one(hook("*", LONG).with_timeout(Duration::from_millis(50)));
    assert!(result.timed_out(), "{result:?}");
    let took = start.elapsed();
    assert!(took < PATIENCE / 2, "{took:?}");
    let handle = world.submit(blocking_event());
    drop(world);
    assert!(!handle.wait().allowed(), "it is cancelled");
}

fn as_usual(result: &HookResult, code: i32) -> bool {
    result.exit_code() == code && result.failure().is_none() == (code == 0)
}

/// The code, or a failure that says that it is lost, and blocks.
fn true_or_lost(result: &HookResult, code: i32) -> bool {
    let lost = result.failure() == Some(FailureKind::StatusLost);
    as_usual(result, code) || (lost && result.exit_code() == -1 && !result.should_continue())
}

fn set_handler(signal: i32, handler: libc::sighandler_t) {
    // SAFETY: the handlers of these tests are SIG_IGN, SIG_DFL and a function that does nothing.
    #[allow(unsafe_code)]
    unsafe {
        libc::signal(signal, handler);
    }
}

extern "C" fn do_nothing(_signal: i32) {}

/// Blocks signals in this thread and what it starts: called before `alone`, in all threads of the
/// process that then has the test for itself.
fn block(signals: &[i32]) {
    // SAFETY: the set is initialised before it is used, and outlives the calls.
    #[allow(unsafe_code)]
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in signals {
            libc::sigaddset(&raw mut set, *signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
    }
}

/// dash gives what it starts the default action back.
#[cfg(target_os = "linux")]
#[test]
fn hooks_find_sigchld_as_a_shell_leaves_it() {
    if alone("hosts::hooks_find_sigchld_as_a_shell_leaves_it") {
        set_handler(libc::SIGCHLD, libc::SIG_IGN);
        let world = World::new();
        let plain = hook("*", "/bin/grep SigIgn /proc/self/status");
        let in_shell = plain.clone().with_shell(Shell::Sh);
        assert_eq!(world.one(plain).stdout(), world.one(in_shell).stdout());
    }
}

#[test]
fn whatever_a_host_does_at_sigchld_costs_no_answer() {
    if alone("hosts::whatever_a_host_does_at_sigchld_costs_no_answer") {
        set_handler(libc::SIGCHLD, libc::SIG_IGN);
        hooks_work(true_or_lost);
        set_handler(libc::SIGCHLD, do_nothing as *const () as libc::sighandler_t);
        hooks_work(as_usual);
    }
}

/// A hook inherits the mask, and is ended by force: see docs/gotchas.md, "Signal masks".
#[test]
fn a_host_that_blocks_signals_is_answered() {
    block(&[libc::SIGTERM, libc::SIGINT, libc::SIGUSR1, libc::SIGCHLD]);
    if alone("hosts::a_host_that_blocks_signals_is_answered") {
        // SAFETY: this process is there, and blocks the signal: it stays pending.
        #[allow(unsafe_code)]
        unsafe {
            libc::kill(libc::getpid(), libc::SIGTERM);
        }
        hooks_work(as_usual);
        // SAFETY: the set is valid, and written before it is read.
        #[allow(unsafe_code)]
        let is_pending = unsafe {
            let mut pending = std::mem::zeroed();
            libc::sigpending(&raw mut pending);
            libc::sigismember(&raw const pending, libc::SIGTERM)
        };
        assert_eq!(is_pending, 1, "the signal is still the host's to take");
    }
}

#[test]
fn sigpipe_does_not_end_a_foreign_host() {
    if alone("hosts::sigpipe_does_not_end_a_foreign_host") {
        set_handler(libc::SIGPIPE, libc::SIG_DFL);
        let event = HookEvent::user_prompt_submit("x".repeat(1024 * 1024));
        for command in [
            "exit 0",
            "exec <&-; sleep 0.02",
            "head -c 100000 >/dev/null",
        ] {
            let hook = hook("*", command).reading_stdin();
            let result = World::new().run(hook, &event);
            assert!(result.success(), "{command}");
        }
    }
}

#[test]
fn a_host_that_reaps_children_gets_results() {
    if alone("hosts::a_host_that_reaps_children_gets_results") {
        let (stop, reaped) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    // SAFETY: a null pointer asks for no status.
                    #[allow(unsafe_code)]
                    let pid = unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) };
                    reaped.fetch_add(usize::from(pid > 0), Ordering::SeqCst);
                }
            });
            for round in 0..100 {
                hooks_work(true_or_lost);
                if round > 0 && reaped.load(Ordering::SeqCst) > 0 {
                    break;
                }
            }
            stop.store(true, Ordering::SeqCst);
        });
        let reaped = reaped.load(Ordering::SeqCst);
        assert!(reaped > 0, "it was the reaper's to take away");
    }
}
