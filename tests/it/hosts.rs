//! Hosts with signal set-ups of their own. Each test runs in a process that it has for itself.
#![cfg(unix)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use forge_hooks::hook::{Reads, Shell};
use forge_hooks::{FailureKind, FireOptions, HookEvent, HookResult};

use crate::support::{World, alone, blocking_event, hook};

/// Runs hooks of every kind of end and sees that each is answered in time.
fn hooks_work(expected: impl Fn(&HookResult, i32) -> bool) {
    let world = World::new();
    for (command, code) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("cat >/dev/null; sleep 0.05; exit 3", 3),
    ] {
        let start = Instant::now();
        let result = world.one(hook("*", command).with_timeout(Duration::from_secs(20)));
        assert!(expected(&result, code), "{command}: {result:?}");
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "{command}: {:?}",
            start.elapsed()
        );
    }
    let result = world.one(hook("*", "sleep 30").with_timeout(Duration::from_millis(100)));
    assert!(result.timed_out, "{result:?}");
    let handle = world
        .executor
        .submit(blocking_event(), FireOptions::default());
    drop(world);
    let cancelled = handle.unwrap().wait();
    assert!(!cancelled.allowed());
}

fn as_usual(result: &HookResult, code: i32) -> bool {
    result.exit_code == code && result.failure.is_none() == (code == 0)
}

/// The code, or a failure that says that it is lost, and blocks.
fn true_or_lost(result: &HookResult, code: i32) -> bool {
    let lost = result.failure == Some(FailureKind::StatusLost);
    as_usual(result, code) || (lost && result.exit_code == -1 && !result.should_continue())
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
fn block(signals: &[i32]) -> libc::sigset_t {
    // SAFETY: the set is initialised before it is used, and outlives the calls.
    #[allow(unsafe_code)]
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in signals {
            libc::sigaddset(&raw mut set, *signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        set
    }
}

#[test]
fn a_host_that_ignores_sigchld_is_answered() {
    if alone("hosts::a_host_that_ignores_sigchld_is_answered") {
        set_handler(libc::SIGCHLD, libc::SIG_IGN);
        hooks_work(true_or_lost);
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
        assert_eq!(world.one(plain).stdout, world.one(in_shell).stdout);
    }
}

#[test]
fn ignoring_sigchld_later_is_reported() {
    if alone("hosts::ignoring_sigchld_later_is_reported") {
        hooks_work(as_usual);
        set_handler(libc::SIGCHLD, libc::SIG_IGN);
        hooks_work(true_or_lost);
    }
}

#[test]
fn a_replaced_sigchld_handler_costs_no_time() {
    if alone("hosts::a_replaced_sigchld_handler_costs_no_time") {
        hooks_work(as_usual);
        set_handler(libc::SIGCHLD, do_nothing as *const () as libc::sighandler_t);
        hooks_work(as_usual);
    }
}

#[test]
fn a_host_that_blocks_sigchld_is_answered() {
    block(&[libc::SIGCHLD]);
    if alone("hosts::a_host_that_blocks_sigchld_is_answered") {
        hooks_work(as_usual);
    }
}

#[test]
fn a_pending_signal_does_not_end_the_host() {
    let set = block(&[libc::SIGTERM, libc::SIGINT, libc::SIGUSR1]);
    if alone("hosts::a_pending_signal_does_not_end_the_host") {
        // SAFETY: this process is there, and blocks the signal: it stays pending.
        #[allow(unsafe_code)]
        unsafe {
            libc::kill(libc::getpid(), libc::SIGTERM);
        }
        hooks_work(as_usual);
        let mut signal = 0;
        // SAFETY: the set is valid, and its signals are blocked.
        #[allow(unsafe_code)]
        unsafe {
            libc::sigwait(&raw const set, &raw mut signal);
        }
        assert_eq!(
            signal,
            libc::SIGTERM,
            "the signal is still the host's to take"
        );
    }
}

/// A hook inherits the mask, and is ended by force: see docs/gotchas.md, "Signal masks".
#[test]
fn a_blocked_sigterm_does_not_reach_hooks() {
    block(&[libc::SIGTERM]);
    if alone("hosts::a_blocked_sigterm_does_not_reach_hooks") {
        let world = World::new();
        let result = world.one(hook("*", "sleep 30").with_timeout(Duration::from_millis(100)));
        assert!(result.timed_out);
        assert!(result.duration < Duration::from_secs(5));
    }
}

#[test]
fn sigpipe_does_not_end_a_foreign_host() {
    if alone("hosts::sigpipe_does_not_end_a_foreign_host") {
        set_handler(libc::SIGPIPE, libc::SIG_DFL);
        let event = HookEvent::user_prompt_submit("x".repeat(8 * 1024 * 1024));
        for command in [
            "exit 0",
            "exec <&-; sleep 0.05",
            "head -c 100000 >/dev/null",
        ] {
            let world = World::new();
            world
                .registry()
                .register(hook("*", command).with_reads(Reads::Stdin));
            assert!(world.outcome(&event).allowed(), "{command}");
        }
    }
}

#[test]
fn a_host_that_reaps_children_gets_results() {
    if alone("hosts::a_host_that_reaps_children_gets_results") {
        let (stop, reaped) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicUsize::new(0)),
        );
        let reaper = thread::spawn({
            let (stop, reaped) = (Arc::clone(&stop), Arc::clone(&reaped));
            move || {
                while !stop.load(Ordering::SeqCst) {
                    // SAFETY: a null pointer asks for no status.
                    #[allow(unsafe_code)]
                    let pid = unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) };
                    if pid > 0 {
                        reaped.fetch_add(1, Ordering::SeqCst);
                    }
                }
            }
        });
        for _ in 0..5 {
            hooks_work(true_or_lost);
        }
        stop.store(true, Ordering::SeqCst);
        reaper.join().unwrap();
        assert!(
            reaped.load(Ordering::SeqCst) > 0,
            "it was the reaper's to take away"
        );
    }
}
