//! Processes of a hook that have left its process group: `timeout`, `set -m`, `setsid`.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use forge_hooks::{FailureKind, HookResult};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::processes::lives;
use crate::support::{World, blocking_event, eventually, hook};

const DEADLINE: Duration = Duration::from_millis(700);

/// Runs a hook past its deadline, which must have begun to write the file `ready`.
#[track_caller]
fn times_out(world: &World, mark: &str, command: &str) -> HookResult {
    let hook = hook("*", &command.replace("MARK", mark)).with_timeout(DEADLINE);
    let result = world.one(hook);
    assert!(result.timed_out, "{result:?}");
    assert!(world.path("ready").exists(), "it started: {result:?}");
    result
}

fn number(world: &World) -> Pid {
    let number = world.read("ready").trim().parse().unwrap();
    Pid::from_raw(number).unwrap()
}

/// Where a pidfd cannot be had, only the group is ended.
#[track_caller]
fn has_ended(world: &World, mark: &str) {
    if cfg!(forge_hooks_no_pidfd) {
        assert!(lives(mark), "nothing outside the group was signalled");
        let _ = kill_process(number(world), Signal::KILL);
    }
    eventually("nothing of the tree is left", || !lives(mark));
}

#[test]
fn timeout_ends_what_left_the_group() {
    let ready = "sh -c \"echo \\$\\$ >part; mv part ready; exec sleep MARK\"";
    let commands = [
        ("41.4101", "timeout 60 READY"),
        ("41.4102", "bash -c 'set -m; READY & wait'"),
        ("41.4103", "setsid -w READY"),
        ("41.4104", "setsid READY & wait"),
        ("41.4105", "timeout 60 setsid -w READY & wait"),
        ("41.4106", "setsid -w timeout 60 READY; sleep MARK"),
    ];
    std::thread::scope(|scope| {
        for (mark, command) in commands {
            scope.spawn(move || {
                let world = World::new();
                times_out(&world, mark, &command.replace("READY", ready));
                has_ended(&world, mark);
            });
        }
    });
}

#[test]
fn a_stray_may_tidy_up_in_its_grace() {
    let world = World::with(|builder| builder.kill_grace(Duration::from_secs(20)));
    let script =
        "trap 'sleep 0.1; : >tidied; exit' TERM; echo $$ >ready; while :; do sleep 0.01; done";
    world.write("stray.sh", script);
    let start = Instant::now();
    times_out(&world, "41.4107", "setsid sh stray.sh MARK & wait");
    if !cfg!(forge_hooks_no_pidfd) {
        assert!(world.path("tidied").exists(), "it is waited for");
    }
    assert!(
        start.elapsed() < Duration::from_secs(15),
        "both ended early"
    );
    has_ended(&world, "41.4107");
}

#[test]
fn a_stray_that_ignores_term_is_killed() {
    let world = World::new();
    let script = "trap '' TERM; echo $$ >ready; while :; do sleep 0.01; done";
    world.write("stray.sh", script);
    let result = times_out(&world, "41.4108", "setsid sh stray.sh MARK & wait");
    if !cfg!(forge_hooks_no_pidfd) {
        let grace = Duration::from_millis(250);
        assert!(result.duration >= DEADLINE + grace, "{result:?}");
    }
    has_ended(&world, "41.4108");
}

#[test]
fn a_stray_born_in_the_grace_is_killed() {
    if cfg!(forge_hooks_no_pidfd) {
        return;
    }
    let world = World::new();
    let script = "trap 'setsid sleep 41.4109 & : >born' TERM; echo $$ >ready
                  while :; do sleep 0.01; done";
    world.write("stray.sh", script);
    times_out(&world, "41.4109", "setsid sh stray.sh MARK & wait");
    assert!(world.path("born").exists());
    has_ended(&world, "41.4109");
}

#[test]
fn an_adopted_process_is_left_alone() {
    let world = World::new();
    let daemon = "(setsid sh -c 'echo $$ >part; mv part ready; exec sleep MARK' >/dev/null 2>&1 &)
                  sleep 60";
    times_out(&world, "41.4110", daemon);
    assert!(lives("41.4110"), "docs/gotchas.md says so");
    kill_process(number(&world), Signal::KILL).unwrap();
    eventually("the daemon is gone", || !lives("41.4110"));
}

#[test]
fn other_children_of_the_host_survive() {
    let mut children = [0, 1].map(|group: i32| {
        let mut command = Command::new("sleep");
        command.arg("60");
        if group == 1 {
            command.process_group(0);
        }
        command.spawn().unwrap()
    });
    let world = World::new();
    let other = World::running(["setsid sh -c ': >ready; sleep 60' & wait"]);
    let handle = other.submit(blocking_event());
    other.await_file("ready");
    let ready = "setsid sh -c \"echo \\$\\$ >part; mv part ready; exec sleep MARK\" & wait";
    times_out(&world, "41.4111", ready);
    for child in &mut children {
        assert!(child.try_wait().unwrap().is_none(), "it still runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(!handle.is_finished(), "nor is another hook touched");
    handle.cancel();
    assert!(!handle.wait().allowed());
    has_ended(&world, "41.4111");
}

#[test]
fn cancel_ends_processes_outside_the_group() {
    for (mark, shuts_down) in [("41.4112", false), ("41.4113", true)] {
        let command = "setsid sh -c \"echo \\$\\$ >part; mv part ready; exec sleep MARK\" & wait";
        let world = World::new();
        world.hook("*", &command.replace("MARK", mark));
        let handle = world.submit(blocking_event());
        world.await_file("ready");
        eventually("it has begun", || lives(mark));
        if shuts_down {
            assert!(!world.executor.shutdown(Duration::ZERO).is_complete());
        } else {
            handle.cancel();
        }
        let outcome = handle.wait();
        assert_eq!(outcome.results()[0].failure, Some(FailureKind::Cancelled));
        has_ended(&world, mark);
    }
}

#[test]
fn a_finished_hooks_daemon_lives_on() {
    let world = World::new();
    let command = "setsid sh -c 'echo $$ >part; mv part ready; exec sleep 60' >/dev/null 2>&1 &
                   until test -e ready; do sleep 0.01; done";
    assert!(world.one(hook("*", command)).success());
    let stray = number(&world);
    assert!(test_kill_process(stray).is_ok());
    kill_process(stray, Signal::KILL).unwrap();
}
