//! Failures of kept processes: each blocks, and ends the process.

use std::time::Duration;

use forge_hooks::{FailureKind, FailurePolicy, Hook, HookEvent, HookResult};

use super::{SHELL, assert_kept, fire, fires, has_ended, is_gone, python, reason, shell};
use crate::support::{PATIENCE, World, blocking_event, eventually};

const SECOND: Duration = Duration::from_secs(1);

/// A hook that is fine for the first event, and does this with the second.
fn then(world: &World, second: &str) -> Hook {
    let lines = "IFS= read -r event; answer; IFS= read -r event";
    let each = "while IFS= read -r event; do answer; done";
    let program = SHELL.replace(each, &format!("{lines}\n{second}\ncat >/dev/null"));
    shell(world, &program)
}

#[track_caller]
fn assert_failed(result: &HookResult, kind: FailureKind, words: &str) {
    assert_eq!(result.failure(), Some(kind), "{result:?}");
    assert!(!result.should_continue(), "{result:?}");
    let error = result.error().unwrap_or_default();
    assert!(error.contains(words), "{words}: {result:?}");
}

/// A part of the error, and the way in which the hook handles an event. A program that it starts shares its output.
const INVALID: &str = r#"
has the `id` of another event <- echo '{"id":"x"}'
more than one line <- two=$(answer; echo x); echo "$two"
no line break at its end <- printf x; exit 0
no line break at its end <- printf x; exec >&-; sleep 60
longer than 1 MiB <- head -c 1100000 /dev/zero | tr '\0' x
has no `id` <- sh -c 'echo {}'; sleep 0.2; answer
"#;

const NO_ANSWER: &str = r#"
without an answer (exit code 0) <- exit 0
without an answer (exit code 1): found <- printf '\nno rules\nfound\n' >&2; exit 1
without an answer, by signal 9 (SIGKILL) <- kill -9 $$
closed its standard output <- exec >&-; sleep 60
"#;

#[test]
fn an_invalid_answer_blocks() {
    let invalid = INVALID
        .trim()
        .lines()
        .map(|row| (row, FailureKind::InvalidAnswer));
    let none = NO_ANSWER
        .trim()
        .lines()
        .map(|row| (row, FailureKind::NoAnswer));
    for (row, failure) in invalid.chain(none) {
        let (message, second) = row.split_once(" <- ").unwrap();
        let world = World::new();
        world.add(then(&world, second).with_on_failure(FailurePolicy::Continue));
        fires(&world, "started");
        let result = fire(&world);
        assert_eq!(
            result.should_continue(),
            failure == FailureKind::NoAnswer,
            "{second}"
        );
        assert_eq!(result.failure(), Some(failure), "{second}: {result:?}");
        assert_eq!(result.residency(), Some("kept"), "{second}");
        assert!(result.error().unwrap().contains(message), "{second}");
        fires(&world, "replaced");
    }
}

#[test]
fn output_between_events_fails_the_next() {
    let world = World::new();
    let program = SHELL.replace("do answer;", "do answer; echo late;");
    world.add(shell(&world, &program));
    // The error is seen with the answer, or before the next event.
    let results = [fire(&world), fire(&world)];
    let failed = results.iter().find(|result| !result.success());
    let error = failed.and_then(|result| result.error()).unwrap_or_default();
    let messages = "before it got an event|more than one line|not a JSON object";
    let is_seen = messages.split('|').any(|part| error.contains(part));
    assert!(is_seen, "{results:?}");
}

#[test]
fn a_deadline_ends_the_process() {
    let ends = |second: &str, words: &str| {
        let world = World::new();
        let hook = then(&world, second).with_timeout(SECOND);
        world.add(hook);
        eventually("a process answers", || fire(&world).success());
        let result = fire(&world);
        assert_failed(&result, FailureKind::TimedOut, words);
        assert!(result.timed_out() && result.duration() >= SECOND);
        eventually("it is gone", || is_gone(result.pid()));
    };
    std::thread::scope(|scope| {
        scope.spawn(|| ends("sleep 30; answer", "timed out"));
        scope.spawn(|| ends("kill -STOP $$", "stopped"));
    });
}

/// The other event gets a process of its own.
#[test]
fn an_event_does_not_wait_for_a_busy_process() {
    let world = World::new();
    let program = SHELL.replace(
        "do answer",
        "do if test -e first; then answer; continue; fi; : >first; until test -e go; do sleep 0.01; done; answer",
    );
    world.add(shell(&world, &program).with_timeout(PATIENCE));
    let first = world.submit(blocking_event());
    world.await_file("first");
    let second = fires(&world, "one_shot");
    assert!(second.success() && !world.path("go").exists());
    world.write("go", "");
    let first = first.wait().results()[0].clone();
    assert_kept(&first, "started");
    assert_eq!(fires(&world, "kept").pid(), first.pid());
}

#[test]
fn a_cancelled_process_is_replaced() {
    let world = World::new();
    world.add(then(&world, ": >reached; sleep 60").with_timeout(PATIENCE));
    fires(&world, "started");
    let handle = world.submit(blocking_event());
    world.await_file("reached");
    handle.cancel();
    let outcome = handle.wait();
    assert_failed(&outcome.results()[0], FailureKind::Cancelled, "cancelled");
    fires(&world, "replaced");
}

#[test]
fn a_failure_replaces_the_process() {
    let world = World::new();
    let program = "read -r event; echo the rules are missing >&2; exit 1";
    world.add(shell(&world, program));
    let message = "without an answer (exit code 1): the rules are missing";
    for how in ["started", "replaced", "replaced", "replaced"] {
        let result = fire(&world);
        assert_failed(&result, FailureKind::NoAnswer, message);
        assert_eq!(result.residency(), Some(how));
    }
    world.write("hook.sh", SHELL);
    fires(&world, "replaced");
}

#[test]
fn a_process_for_one_event_must_answer() {
    let world = World::new();
    let _ = world.executor.shutdown(Duration::ZERO);
    for (program, failure) in [
        (":", Some(FailureKind::NoAnswer)),
        ("exit 3", Some(FailureKind::NoAnswer)),
        ("echo {}", Some(FailureKind::InvalidAnswer)),
        (SHELL, None),
        (&format!("{SHELL}\nexit 3"), Some(FailureKind::Exit)),
    ] {
        let result = world.one(shell(&world, program));
        assert_eq!(result.residency(), Some("one_shot"), "{result:?}");
        assert_eq!(result.failure(), failure, "{program}: {result:?}");
        assert_eq!(result.should_continue(), failure.is_none(), "{result:?}");
    }
}

#[test]
fn an_answer_in_pieces_is_read() {
    let world = World::new();
    // A child of it may hold the output, too.
    let second = "head -c 1048576 /dev/zero | tr '\\0' e >&2; sleep 30 & \
        printf '{\"id\":\"'; sleep 0.01; id=${event##*\\\"id\\\":\\\"}; \
        printf '%s' \"${id%\\\"\\}}\"; sleep 0.01; printf '\",\"reason\":'; sleep 0.01; echo '\"slowly\"}'";
    world.add(then(&world, second));
    fires(&world, "started");
    let result = fires(&world, "kept");
    assert_eq!(reason(&result), "slowly");
    assert!(result.truncated() && result.stderr().starts_with("eeee"));
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
    world.add(python(&world, program));
    let event = |size: usize| blocking_event().with_data("text", "x".repeat(size));
    for size in [1, 1 << 20] {
        let result = world.fire(&event(size)).remove(0);
        assert!(result.success(), "{size}: {:?}", result.error());
        assert_eq!(reason(&result).len(), size / 8);
    }
    let result = world.fire(&event(16 << 20)).remove(0);
    let message = "too large for a resident hook";
    assert_failed(&result, FailureKind::EventTooLarge, message);
}

/// As in a run for one event.
#[test]
fn a_missing_command_is_not_found() {
    let world = World::new();
    world.write("not-executable", "");
    let directory = world.directory();
    let program = Hook::program("*", ["/no/such/program"]);
    for (hook, kind) in [
        (Hook::new("*", "no_such_command"), FailureKind::NotFound),
        (
            Hook::new("*", "./not-executable"),
            FailureKind::NotExecutable,
        ),
        (program, FailureKind::NotFound),
    ] {
        let hook = hook.unwrap().with_resident().with_working_dir(directory);
        world.registry().clear();
        world.add(hook);
        for _ in 0..4 {
            let result = fire(&world);
            assert_eq!(result.failure(), Some(kind), "{result:?}");
            assert!(!result.should_continue());
        }
    }
}

#[test]
fn an_answer_before_the_event_fails() {
    let world = World::new();
    let early = "head -c 1 >/dev/null; echo '{}'; sleep 60";
    world.add(shell(&world, early));
    let event = blocking_event().with_data("text", "x".repeat(1 << 20));
    let result = world.fire(&event).remove(0);
    let message = "before it had read the whole event";
    assert_failed(&result, FailureKind::InvalidAnswer, message);
}

/// Its end may be seen together with its answer.
#[test]
fn an_answer_counts_if_the_process_ends() {
    let world = World::new();
    let once = SHELL.replace(
        "while IFS= read -r event; do answer; done",
        "read -r event; answer",
    );
    world.add(shell(&world, &once));
    let mut before = None;
    for _ in 0..20 {
        let result = fire(&world);
        assert!(result.success(), "{result:?}");
        // An event that reaches a process that is about to end fails.
        eventually("it has ended", || has_ended(result.pid()));
        let is_reaped = || before.is_none() || is_gone(before);
        eventually("the one before is reaped", is_reaped);
        before = result.pid();
    }
}

/// A model chooses how large the output of a tool is, and must not silence an audit with it.
#[test]
fn a_large_answer_keeps_no_other_hook_from_running() {
    let world = World::new();
    let large = "IFS= read -r event; head -c 1100000 /dev/zero | tr '\\0' x; sleep 60";
    world.add(shell(&world, large));
    world.hook("tool:post_execute", "echo audit");
    let event = HookEvent::tool_post_execute("bash", serde_json::json!({}), "out");
    let outcome = world.outcome(&event);
    let results = outcome.results();
    assert_eq!(results[0].failure(), Some(FailureKind::InvalidAnswer));
    assert_eq!(results.len(), 2, "{outcome:?}");
}
