//! Tests the end of a process whose run is given up.

use super::*;
use crate::process::{Args, Cancel, Environment, Inherited};

fn spec<'a>(command: &str, timeout: Duration) -> Spec<'a> {
    Spec {
        program: "/bin/sh".into(),
        args: Args::List(vec!["-c".into(), command.into()]),
        direct: Vec::new(),
        environment: Environment::new(Inherited::AllBut(&[]), Vec::new()),
        working_dir: "/".as_ref(),
        stdin: None,
        timeout,
        kill_grace: Duration::from_millis(200),
        output_limit: 1000,
        cancel: None,
        confinement: None,
    }
}

fn start<'a>(spec: &Spec<'a>, deadline: Instant) -> (Started, Option<Rest<'a>>) {
    let command = spawn::command(spec, &spec.program);
    spawn::with_input(spec, command, deadline).unwrap()
}

const LONG: Duration = Duration::from_secs(30);

#[test]
fn dropping_a_run_kills_its_process() {
    let spec = spec("sleep 60", LONG);
    let (process, input) = start(&spec, Instant::now() + LONG);
    let pid = process.leader.pid().as_raw_nonzero().get().unsigned_abs();
    drop(Running::new(&spec, process, input, Instant::now() + LONG));
    let patience = Instant::now() + LONG;
    while !process_is_gone(pid) {
        assert!(Instant::now() < patience, "it is still alive");
        child::reap_leftovers();
    }
}

#[test]
fn an_early_cancellation_is_seen() {
    let cancel = Cancel::default();
    let spec = Spec {
        cancel: Some(&cancel),
        ..spec("sleep 30", LONG)
    };
    let started = Instant::now();
    let (process, input) = start(&spec, started + LONG);
    cancel.request();
    let finished = Running::new(&spec, process, input, started + LONG).run_to_the_end(started);
    assert!(matches!(finished.end, End::Cancelled), "{finished:?}");
    assert!(finished.duration < LONG / 2);
}

#[cfg(all(target_os = "linux", not(forge_hooks_no_pidfd)))]
#[test]
fn dropping_a_run_kills_what_left_the_group() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pid");
    let stray = "echo $$ >\"$0.new\"; mv \"$0.new\" \"$0\"; exec sleep 30";
    let command = format!("setsid sh -c '{stray}' {} & wait", file.display());
    let spec = spec(&command, LONG);
    let (process, input) = start(&spec, Instant::now() + LONG);
    let patience = Instant::now() + Duration::from_secs(10);
    let pid = loop {
        if let Ok(pid) = std::fs::read_to_string(&file) {
            break pid.trim().parse().unwrap();
        }
        assert!(Instant::now() < patience, "it has not begun");
    };
    drop(Running::new(&spec, process, input, Instant::now() + LONG));
    let stat = format!("/proc/{pid}/stat");
    // Another process may adopt the stray process and not reap it.
    let is_dead = || std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") Z "));
    while !process_is_gone(pid) && !is_dead() {
        assert!(Instant::now() < patience, "it is still alive");
    }
}

/// Other code in the host may have reaped it, and its number may be that of another child, as it is of `child` here.
#[test]
fn no_process_is_reaped_later_by_its_number() {
    let mut command = std::process::Command::new("cat");
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut leader = child::Leader::new(rustix::process::Pid::from_child(&child));
    leader.pidfd = None;
    assert!(matches!(leader.reap(Duration::ZERO), End::StatusLost));
    drop(child.stdin.take());
    let ended = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
    let id = rustix::process::WaitId::Pid(leader.pid());
    rustix::process::waitid(id, ended).unwrap();
    child::reap_leftovers();
    assert!(child.wait().unwrap().success());
}

#[cfg(all(target_os = "linux", not(forge_hooks_no_pidfd)))]
#[test]
fn a_process_that_ends_late_is_reaped_later() {
    let spec = spec("sleep 60", LONG);
    let mut leader = start(&spec, Instant::now() + LONG).0.leader;
    let pid = leader.pid().as_raw_nonzero().get().unsigned_abs();
    assert!(matches!(leader.reap(Duration::ZERO), End::StatusLost));
    rustix::process::kill_process(leader.pid(), Signal::KILL).unwrap();
    let patience = Instant::now() + LONG;
    while !process_is_gone(pid) {
        assert!(Instant::now() < patience, "it is not reaped");
        child::reap_leftovers();
    }
}

/// In a host that ignores SIGCHLD, the id of a process that was reaped may be that of another group.
#[test]
fn the_group_of_a_process_that_others_reaped_is_not_signalled() {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::Command;

    use rustix::process::Pid;

    let spec = spec("exit 0", LONG);
    let mut leader = start(&spec, Instant::now() + LONG).0.leader;
    let group = leader.pid().as_raw_nonzero().get();
    let mut stranger = Command::new("sleep");
    let mut stranger = stranger.arg("30").process_group(group).spawn().unwrap();
    let options = rustix::process::WaitOptions::empty();
    rustix::process::waitpid(Some(leader.pid()), options).unwrap();
    for _ in 0..2 {
        leader.signal_tree(&[Signal::KILL]);
        assert!(leader.has_ended());
    }
    drop(leader);
    // The stranger ends by this signal only if it has received none before.
    let stranger_pid = Pid::from_child(&stranger);
    rustix::process::kill_process(stranger_pid, Signal::USR1).unwrap();
    let end = stranger.wait().unwrap();
    assert_eq!(end.signal(), Some(Signal::USR1.as_raw()));
}
