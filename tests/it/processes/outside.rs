//! Processes of a hook that have left its process group: `timeout`, `set -m`, `setsid`.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use forge_hooks::{FailureKind, HookResult};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use super::trees::lives;
use crate::resident::{SHELL, shell};
use crate::support::{World, blocking_event, eventually, hook};

/// Before it, all processes of a hook have started.
const DEADLINE: Duration = Duration::from_secs(2);

/// Runs a hook past its deadline, which must have begun to write the file `ready`.
#[track_caller]
fn times_out(world: &World, mark: &str, command: &str) -> HookResult {
    let hook = hook("*", &command.replace("MARK", mark)).with_timeout(DEADLINE);
    let result = world.one(hook);
    assert!(result.timed_out(), "{result:?}");
    assert!(world.path("ready").exists(), "it started: {result:?}");
    result
}

fn number(world: &World) -> Pid {
    let number = world.read("ready").trim().parse().unwrap();
    Pid::from_raw(number).unwrap()
}

/// Without pidfds, only the process group is killed.
#[track_caller]
fn has_ended(world: &World, mark: &str) {
    if cfg!(forge_hooks_no_pidfd) {
        assert!(lives(mark), "nothing outside the group was signalled");
        let _ = kill_process(number(world), Signal::KILL);
    }
    eventually("nothing of the tree is left", || !lives(mark));
}

/// Writes its id to `ready`, and sleeps.
const READY: &str = "sh -c \"echo \\$\\$ >part; mv part ready; exec sleep MARK\"";

/// A process that has left the group, what it does when it is asked to end, and whether it has a file
/// written by then.
#[test]
fn timeout_ends_what_left_the_group() {
    /// The mark of one that stops itself.
    const STOPPED: &str = "41.4125";
    let strays = [
        ("41.4107", "sleep 0.05; : >done; exit", "done"),
        ("41.4108", "", ""),
        ("41.4109", "setsid sleep MARK & : >done", "done"),
        (STOPPED, ": >done; exit", "done"),
    ];
    let stray = |(mark, trap, file)| {
        let does = if mark == STOPPED {
            "kill -STOP $$"
        } else {
            "sleep 0.01"
        };
        let script = format!("trap '{trap}' TERM; echo $$ >ready; while :; do {does}; done");
        let command = "setsid sh stray.sh MARK & wait".to_owned();
        (mark, command, script, file)
    };
    let commands = [
        ("41.4101", "timeout 60 READY"),
        ("41.4102", "bash -c 'set -m; READY & wait'"),
        ("41.4103", "setsid -w READY"),
        ("41.4105", "timeout 60 setsid -w READY & wait"),
        ("41.4106", "setsid -w timeout 60 READY; sleep MARK"),
    ];
    let command =
        |(mark, command): (_, &str)| (mark, command.replace("READY", READY), String::new(), "");
    let all = strays.into_iter().map(stray);
    std::thread::scope(|scope| {
        for (mark, command, script, file) in all.chain(commands.into_iter().map(command)) {
            // Without pidfds, what is born in the grace is not known.
            if cfg!(forge_hooks_no_pidfd) && mark == "41.4109" {
                continue;
            }
            scope.spawn(move || {
                let world = World::new();
                // A run of this test that was killed may have left some.
                let mark = &format!("{mark}{}", std::process::id());
                world.write("stray.sh", &script.replace("MARK", mark));
                let result = times_out(&world, mark, &command);
                if !cfg!(forge_hooks_no_pidfd) {
                    assert!(world.path(file).exists(), "it is waited for");
                    // One that ignores the signal has its grace.
                    let grace = Duration::from_millis(250);
                    let ignores = script.contains("trap '' ");
                    let has_grace = result.duration() >= DEADLINE + grace;
                    assert!(!ignores || has_grace, "{result:?}");
                }
                has_ended(&world, mark);
            });
        }
    });
}

/// A hook may join any group of its session. Its own child is then outside of both groups.
#[test]
fn cancel_ends_a_hook_in_another_group() {
    let world = World::new();
    let script = r"
import os, subprocess, time
os.setpgid(0, os.getpgid(os.getppid()))
subprocess.Popen(['sleep', '41.4114'])
open('ready', 'w').close()
time.sleep(60)
";
    world.write("leaves.py", script);
    world.hook("*", "exec python3 leaves.py 41.4115");
    let handle = world.submit(blocking_event());
    world.await_file("ready");
    handle.cancel();
    let _ = handle.wait();
    eventually("the hook has ended", || !lives("41.4115"));
    if !cfg!(forge_hooks_no_pidfd) {
        eventually("nothing of the tree is left", || !lives("41.4114"));
    }
}

/// Neither one that another process has adopted, nor the host's other children, nor another hook.
#[test]
fn other_processes_are_left_alone() {
    let mut children = [0, 1].map(|group: i32| {
        let mut command = Command::new("sleep");
        command.arg("60");
        if group == 1 {
            command.process_group(0);
        }
        command.spawn().unwrap()
    });
    let other = World::running(["setsid sh -c ': >ready; sleep 60' & wait"]);
    let handle = other.submit(blocking_event());
    other.await_file("ready");
    let world = World::new();
    let daemon = format!("(setsid {READY} >/dev/null 2>&1 &) ; sleep 60");
    times_out(&world, "41.4110", &daemon);
    assert!(lives("41.4110"), "docs/gotchas.md says so");
    kill_process(number(&world), Signal::KILL).unwrap();
    eventually("the daemon is gone", || !lives("41.4110"));
    for child in &mut children {
        assert!(child.try_wait().unwrap().is_none(), "it still runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(!handle.is_finished());
    handle.cancel();
    assert!(!handle.wait().allowed());
}

#[test]
fn cancel_ends_processes_outside_the_group() {
    for (mark, shuts_down) in [("41.4112", false), ("41.4113", true)] {
        let world = World::new();
        let command = format!("setsid {READY} & wait");
        world.hook("*", &command.replace("MARK", mark));
        let handle = world.submit(blocking_event());
        world.await_file("ready");
        eventually("it has begun", || lives(mark));
        if shuts_down {
            assert!(!world.executor.shutdown(Duration::ZERO));
        } else {
            handle.cancel();
        }
        let outcome = handle.wait();
        assert_eq!(outcome.results()[0].failure(), Some(FailureKind::Cancelled));
        has_ended(&world, mark);
    }
}

#[test]
fn a_finished_hooks_daemon_lives_on() {
    let world = World::new();
    let command =
        format!("setsid {READY} >/dev/null 2>&1 & until test -e ready; do sleep 0.01; done");
    let result = world.one(hook("*", &command.replace("MARK", "60")));
    assert!(result.success());
    let stray = number(&world);
    assert!(test_kill_process(stray).is_ok());
    kill_process(stray, Signal::KILL).unwrap();
}

/// A kept process, at an event that it does not answer in time, and while it is idle. Some of these see the end of
/// their input and end by themselves, some have to be asked.
#[test]
fn a_kept_process_ends_with_what_left_the_group() {
    let stray = "setsid sh stray.sh MARK";
    let trap = "sleep 0.05; : >done; exit";
    let cases = [
        ("41.4120", "timeout 60 READY", "", true),
        ("41.4121", "answer; timeout 60 READY", "", false),
        ("41.4122", "answer; timeout 60 READY &", "", false),
        ("41.4123", &format!("answer; {stray}"), trap, false),
        ("41.4124", &format!("answer; {stray} &"), "", false),
    ];
    std::thread::scope(|scope| {
        for (mark, does, trap, is_late) in cases {
            scope.spawn(move || {
                // One that cleans up is given all the time it needs.
                let grace = if trap.is_empty() { 1 } else { 100 };
                let world = World::with(|builder| builder.kill_grace(grace * DEADLINE));
                let script =
                    format!("trap '{trap}' TERM; echo $$ >ready; while :; do sleep 0.01; done");
                world.write("stray.sh", &script);
                let does = does.replace("READY", READY).replace("MARK", mark);
                let hook = shell(
                    &world,
                    &SHELL.replace("do answer;", &format!("do {does}\n")),
                );
                let timeout = if is_late { DEADLINE } else { 100 * DEADLINE };
                let result = world.one(hook.with_timeout(timeout));
                assert_eq!(result.timed_out(), is_late, "{result:?}");
                world.await_file("ready");
                let _ = world.executor.shutdown(Duration::ZERO);
                has_ended(&world, mark);
                let cleans_up = trap.contains("done") && !cfg!(forge_hooks_no_pidfd);
                assert_eq!(world.path("done").exists(), cleans_up, "{mark}");
            });
        }
    });
}
