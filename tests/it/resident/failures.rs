//! Failures of kept processes: each blocks, and ends the process.

use std::time::{Duration, Instant};

use forge_hooks::outcome::Residency;
use forge_hooks::{FailureKind, Hook, HookResult};
use serde_json::json;

use super::{PYTHON, SHELL, assert_kept, fire, has_ended, is_gone, python, shell};
use crate::support::{World, blocking_event, eventually};

/// A hook that is fine for the first event, and does this with the second.
fn then(world: &World, second: &str) -> Hook {
    let program = format!(
        r#"
import json, os, subprocess, sys, time
def answer(event, **more):
    print(json.dumps({{"id": event["id"], **more}}), flush=True)
event = json.loads(sys.stdin.readline())
answer(event)
event = json.loads(sys.stdin.readline())
{second}
sys.stdin.read()
"#
    );
    python(world, &program).with_timeout(Duration::from_secs(5))
}

/// The same in a shell. The start counts for its deadline, and may be slow on a busy machine.
fn then_until(world: &World, second: &str, deadline: Duration) -> Hook {
    let lines = "IFS= read -r event; answer; IFS= read -r event";
    let each = "while IFS= read -r event; do answer; done";
    let program = SHELL.replace(each, &format!("{lines}\n{second}"));
    shell(world, &program).with_timeout(deadline)
}

#[track_caller]
fn assert_failed(result: &HookResult, kind: FailureKind, words: &str) {
    assert_eq!(result.failure, Some(kind), "{result:?}");
    assert!(!result.should_continue(), "{result:?}");
    let error = result.error.as_deref().unwrap_or_default();
    assert!(error.contains(words), "{words}: {result:?}");
}

#[test]
fn an_invalid_answer_blocks() {
    use FailureKind::InvalidAnswer;
    for (second, words) in [
        (
            "print(json.dumps({'id': 'x'}), flush=True)",
            "another event",
        ),
        (
            "print(json.dumps({'id': event['id']}) + '\\n', flush=True)",
            "more than one line",
        ),
        ("sys.exit(0)", "without an answer (exit code 0)"),
        (
            "sys.exit('\\nno rules\\nfound')",
            "without an answer (exit code 1): found",
        ),
        ("os.kill(os.getpid(), 9)", "without an answer (signal 9)"),
        ("os.close(1); time.sleep(60)", "closed its standard output"),
        (
            "sys.stdout.write('x'); sys.stdout.flush(); sys.exit(0)",
            "without an answer",
        ),
        ("print('x' * (16 << 20), flush=True)", "longer than 1 MiB"),
        // A program that the hook starts shares its output.
        (
            "subprocess.run(['echo', '{}']); time.sleep(0.5); answer(event, decision='block')",
            "`id` is missing",
        ),
    ] {
        let world = World::new();
        world.registry().register(then(&world, second));
        assert_kept(&fire(&world), Residency::Started);
        let result = fire(&world);
        assert_failed(&result, InvalidAnswer, words);
        assert_eq!(result.residency, Some(Residency::Kept), "{second}");
        assert_kept(&fire(&world), Residency::Replaced);
    }
}

#[test]
fn output_between_events_fails_the_next() {
    let world = World::new();
    let program = PYTHON.replace("flush=True)", "flush=True); print('late', flush=True)");
    world.registry().register(python(&world, &program));
    // Whether it is seen with the answer or before the next event, it is seen.
    let results = [fire(&world), fire(&world)];
    let failed = results.iter().find(|result| !result.success());
    let error = failed
        .and_then(|result| result.error.clone())
        .unwrap_or_default();
    assert!(
        [
            "before it got an event",
            "more than one line",
            "not a JSON object"
        ]
        .iter()
        .any(|words| error.contains(words)),
        "{results:?}"
    );
}

#[test]
fn a_deadline_ends_the_process() {
    let world = World::new();
    let deadline = Duration::from_secs(1);
    let hook = then_until(&world, "sleep 30; answer", deadline);
    world.registry().register(hook);
    assert_kept(&fire(&world), Residency::Started);
    let result = fire(&world);
    assert_failed(&result, FailureKind::TimedOut, "timed out");
    assert!(result.timed_out && result.duration >= deadline);
    eventually("it is gone", || is_gone(result.pid));
}

#[test]
fn a_stopped_hook_times_out() {
    let world = World::new();
    let hook = then_until(&world, "kill -STOP $$", Duration::from_secs(1));
    world.registry().register(hook);
    assert_kept(&fire(&world), Residency::Started);
    let result = fire(&world);
    assert_failed(&result, FailureKind::TimedOut, "stopped");
    eventually("it is gone", || is_gone(result.pid));
}

#[test]
fn a_cancelled_process_is_replaced() {
    let world = World::new();
    let hook = then(&world, "open('reached', 'w'); time.sleep(60)");
    world.registry().register(hook);
    assert_kept(&fire(&world), Residency::Started);
    let handle = world.submit(blocking_event());
    world.await_file("reached");
    let begun = Instant::now();
    handle.cancel();
    let outcome = handle.wait();
    assert!(begun.elapsed() < Duration::from_secs(3));
    assert_failed(&outcome.results()[0], FailureKind::Cancelled, "cancelled");
    assert_kept(&fire(&world), Residency::Replaced);
}

#[test]
fn the_deadline_includes_the_wait() {
    let world = World::new();
    let hook = then(&world, "open('reached', 'w'); time.sleep(60)");
    world
        .registry()
        .register(hook.with_timeout(Duration::from_secs(3)));
    assert_kept(&fire(&world), Residency::Started);
    let busy = world.submit(blocking_event());
    world.await_file("reached");
    let result = fire(&world);
    assert_failed(&result, FailureKind::TimedOut, "timed out");
    assert!(!busy.wait().allowed());
}

#[test]
fn after_three_failures_none_is_kept() {
    let world = World::new();
    let program = "import sys\nsys.stdin.readline()\nsys.exit('the rules are missing')\n";
    world.registry().register(python(&world, program));
    for how in [Residency::Started, Residency::Replaced, Residency::Replaced] {
        let result = fire(&world);
        assert_failed(&result, FailureKind::InvalidAnswer, "exit code 1");
        assert_eq!(result.residency, Some(how));
    }
    let result = fire(&world);
    let words = "without an answer (exit code 1): the rules are missing";
    assert_failed(&result, FailureKind::InvalidAnswer, words);
    assert_eq!(result.residency, Some(Residency::OneShot));
    world.write("hook.py", PYTHON);
    let result = fire(&world);
    assert_kept(&result, Residency::OneShot);
}

#[test]
fn a_process_for_one_event_must_answer() {
    let world = World::with(|builder| builder);
    let _ = world.executor.shutdown(Duration::ZERO);
    for (program, failure) in [
        ("import sys", Some(FailureKind::InvalidAnswer)),
        ("import sys; sys.exit(3)", Some(FailureKind::InvalidAnswer)),
        ("print('{}')", Some(FailureKind::InvalidAnswer)),
        (PYTHON, None),
        (&format!("{PYTHON}\nsys.exit(3)"), Some(FailureKind::Exit)),
    ] {
        world.registry().clear();
        world.registry().register(python(&world, program));
        let result = fire(&world);
        assert_eq!(result.residency, Some(Residency::OneShot), "{result:?}");
        assert_eq!(result.failure, failure, "{program}: {result:?}");
        assert_eq!(result.should_continue(), failure.is_none(), "{result:?}");
    }
}

#[test]
fn an_answer_in_pieces_is_read() {
    let world = World::new();
    let second = r#"
sys.stderr.write("e" * (1 << 20)); sys.stderr.flush()
for byte in json.dumps({"id": event["id"], "reason": "slowly"}) + "\n":
    sys.stdout.write(byte); sys.stdout.flush()
"#;
    world.registry().register(then(&world, second));
    assert_kept(&fire(&world), Residency::Started);
    let result = fire(&world);
    assert_kept(&result, Residency::Kept);
    let reason = result.output().and_then(|it| it.reason.as_deref());
    assert_eq!(reason, Some("slowly"));
    assert!(result.truncated && result.stderr.starts_with("eeee"));
}

#[test]
fn large_events_and_answers_pass() {
    let world = World::new();
    let program = r#"
import json, sys
for line in sys.stdin:
    event = json.loads(line)
    size = len(event["data"].get("text", ""))
    print(json.dumps({"id": event["id"], "reason": "x" * (size // 8)}), flush=True)
"#;
    world.registry().register(python(&world, program));
    let event = |size: usize| blocking_event().with_data("text", json!("x".repeat(size)));
    for size in [1, 100_000, 4 << 20] {
        let result = world.fire(&event(size)).remove(0);
        assert!(result.success(), "{size}: {:?}", result.error);
        let length = result
            .output()
            .and_then(|it| it.reason.as_ref())
            .map(String::len);
        assert_eq!(length.unwrap_or(0), size / 8);
    }
    let result = world.fire(&event(16 << 20)).remove(0);
    assert_failed(
        &result,
        FailureKind::EventTooLarge,
        "too large for a resident hook",
    );
}

#[test]
fn a_child_may_hold_the_output() {
    let world = World::new();
    let second = "subprocess.Popen(['sleep', '30']); answer(event)";
    world.registry().register(then(&world, second));
    assert_kept(&fire(&world), Residency::Started);
    assert_kept(&fire(&world), Residency::Kept);
}

/// As in a run for one event.
#[test]
fn a_missing_command_is_not_found() {
    for (command, kind) in [
        ("no_such_command", FailureKind::NotFound),
        ("./not-executable x", FailureKind::NotExecutable),
    ] {
        let world = World::new();
        world.write("not-executable", "");
        let hook = Hook::new("*", command).unwrap().with_resident();
        world
            .registry()
            .register(hook.with_working_dir(world.directory()));
        for _ in 0..5 {
            let result = fire(&world);
            assert_eq!(result.failure, Some(kind), "{result:?}");
            assert!(!result.should_continue());
        }
    }
    let world = World::new();
    let hook = Hook::program("*", ["/no/such/program"]).unwrap();
    world.registry().register(hook.with_resident());
    let result = fire(&world);
    assert_eq!(
        (result.failure, result.residency),
        (Some(FailureKind::NotFound), None)
    );
}

#[test]
fn an_answer_before_the_event_fails() {
    let world = World::new();
    let early = "import sys, time\nsys.stdin.read(1)\nprint('{}', flush=True)\ntime.sleep(60)\n";
    world.registry().register(python(&world, early));
    let event = blocking_event().with_data("text", json!("x".repeat(4 << 20)));
    let result = world.fire(&event).remove(0);
    let words = "before it had read the whole event";
    assert_failed(&result, FailureKind::InvalidAnswer, words);
}

/// Its end may be seen together with its answer.
#[test]
fn an_answer_counts_if_the_process_ends() {
    let world = World::new();
    let command =
        r#"IFS= read -r event; id=${event##*\"id\":\"}; printf '{"id":"%s"}\n' "${id%\"\}}""#;
    world
        .registry()
        .register(Hook::new("*", command).unwrap().with_resident());
    for _ in 0..50 {
        let result = fire(&world);
        assert!(result.success(), "{result:?}");
        // An event that reaches a process that is about to end fails.
        eventually("it has ended", || has_ended(result.pid));
    }
}

/// A later event does not overtake an earlier one.
#[test]
fn turns_are_taken_in_order() {
    let world = World::new();
    let program = PYTHON.replace(
        "    event =",
        "    __import__('time').sleep(0.02)\n    event =",
    );
    let hook = python(&world, &program).with_timeout(Duration::from_secs(20));
    world.registry().register(hook);
    assert!(fire(&world).success());
    let begun = Instant::now();
    let longest = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..10)
            .map(|_| {
                scope.spawn(|| {
                    let turns = (0..8).map(|_| fire(&world).duration);
                    turns.max().unwrap_or_default()
                })
            })
            .collect();
        let times = threads.into_iter().map(|thread| thread.join().unwrap());
        times.max().unwrap()
    });
    // In order, it waits for ten of the eighty turns; out of order, for nearly all.
    let total = begun.elapsed();
    assert!(longest < total / 2, "{longest:?} of {total:?}");
}
