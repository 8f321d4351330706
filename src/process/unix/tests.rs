//! Tests both ways of waiting for the end of a process with real processes.

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
    }
}

/// Runs a command once with each way of waiting for its end.
fn both_ways(command: &str, timeout: Duration, stdin: &[u8]) -> [Finished; 2] {
    let spec = Spec {
        stdin: Some(stdin),
        ..spec(command, timeout)
    };
    [false, true].map(|without| run_in(&spec, without))
}

fn run_in(spec: &Spec<'_>, without: bool) -> Finished {
    let started = Instant::now();
    let deadline = started + spec.timeout;
    let (child, input) = start(spec, deadline);
    let mut running = Running::new(spec, child, input, deadline);
    if without {
        running.leader.pidfd = None;
    }
    running.run_to_the_end(started)
}

fn start<'a>(spec: &Spec<'a>, deadline: Instant) -> (Child, Option<Rest<'a>>) {
    let command = spawn::command(spec, &spec.program);
    spawn::with_input(spec, command, deadline).unwrap()
}

const LONG: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(100);

#[test]
fn both_waits_see_the_same_end() {
    let large = vec![b'x'; 300_000];
    for (command, expected) in [
        ("exit 7", 7),
        ("exec >&- 2>&-; sleep 0.05; exit 8", 8),
        ("exec <&-; sleep 0.05; exit 9", 9),
        ("sleep 0.05; test $(wc -c) = 300000 && exit 10", 10),
        ("exec >&- 2>&-; sleep 0.05; cat >/dev/null; exit 11", 11),
    ] {
        for finished in both_ways(command, LONG, &large) {
            assert!(
                matches!(finished.end, End::Exited(code) if code == expected),
                "{finished:?}"
            );
            assert!(!finished.output_held_open);
            assert!(process_is_gone(finished.pid.unwrap()), "it is reaped");
        }
    }
}

#[test]
fn both_waits_keep_the_deadline() {
    for command in [
        "sleep 30",
        "exec >&- 2>&-; sleep 30",
        "trap '' TERM; sleep 30; sleep 30",
    ] {
        for finished in both_ways(command, SHORT, b"") {
            assert!(matches!(finished.end, End::TimedOut { .. }), "{finished:?}");
            assert!(finished.duration >= SHORT);
            assert!(process_is_gone(finished.pid.unwrap()), "it is reaped");
        }
    }
}

#[test]
fn both_waits_spare_background_processes() {
    for finished in both_ways("sleep 1 & echo early", LONG, b"") {
        assert!(matches!(finished.end, End::Exited(0)), "{finished:?}");
        assert!(finished.output_held_open);
        assert_eq!(finished.stdout.into_bytes(), b"early\n");
    }
}

#[test]
fn both_waits_see_a_cancellation() {
    for (without, command) in [
        (false, "sleep 30"),
        (true, "sleep 30"),
        (false, "exec >&- 2>&-; sleep 30"),
        (true, "exec >&- 2>&-; sleep 30"),
    ] {
        let cancel = Cancel::default();
        let spec = Spec {
            cancel: Some(&cancel),
            ..spec(command, LONG)
        };
        let finished = std::thread::scope(|scope| {
            let run = scope.spawn(|| run_in(&spec, without));
            std::thread::sleep(Duration::from_millis(20));
            cancel.request();
            run.join().unwrap()
        });
        assert!(matches!(finished.end, End::Cancelled), "{finished:?}");
    }
}

#[test]
fn dropping_a_run_kills_its_process() {
    let spec = spec("sleep 30", LONG);
    let (child, input) = start(&spec, Instant::now() + LONG);
    let pid = child.id();
    drop(Running::new(&spec, child, input, Instant::now() + LONG));
    let patience = Instant::now() + Duration::from_secs(10);
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
    let (child, input) = start(&spec, started + LONG);
    cancel.request();
    let finished = Running::new(&spec, child, input, started + LONG).run_to_the_end(started);
    assert!(matches!(finished.end, End::Cancelled), "{finished:?}");
    assert!(finished.duration < LONG / 2);
}
