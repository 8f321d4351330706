//! Causes that block and causes that do not: every cause, under both policies, for an event that can block and for
//! one that cannot. The consequences of exit codes and answers are in the tables of `golden`.

use std::time::Duration;

use forge_hooks::{
    Decision, EventType, FailureKind, FailurePolicy, Hook, HookBlockedError, HookEvent, HookOutput,
    HookResult, Outcome,
};

use crate::support::{AND, LONG, World, blocking_event, hook};

/// The result of a hook: a row of the table in docs/protocol.md. A row is the failure on an event that can
/// block, that on one that cannot, and whether the operation goes on or stops: under `block`, and under
/// `continue`. With `large`, the event has a value that fits into no variable.
type Row = (Hook, &'static str);

fn rows(world: &World) -> Vec<Row> {
    let missing = world.path("missing").display().to_string();
    let plain = || hook("*", "exit 0");
    let slow = hook("*", LONG).with_timeout(Duration::from_millis(50));
    let program = Hook::program("*", [missing.as_str()]).unwrap();
    let nowhere = plain().with_working_dir(missing);
    let mut rows = vec![
        (slow, "timed_out timed_out stops goes"),
        (nowhere, "no_working_dir no_working_dir stops goes"),
        (program, "not_found not_found stops goes"),
        // The others run with a file in the place of the value.
        (plain(), "event_too_large - stops goes large"),
        (plain(), "- - goes goes"),
        (hook("*", "exit 1"), "exit exit stops goes"),
    ];
    for (decision, code, expected) in [
        ("block", 0, "- - stops stops"),
        ("block", 3, "- - stops stops"),
        ("ask", 0, "- - stops stops"),
        ("ask", 1, "exit exit stops goes"),
        ("blok", 0, "invalid_answer invalid_answer stops stops"),
        ("blok", 2, "invalid_answer invalid_answer stops stops"),
    ] {
        let says = world.says(&format!(r#"{{"decision": "{decision}"}}"#));
        rows.push((hook("*", &format!("{says}{AND}exit {code}")), expected));
    }
    rows
}

#[cfg(unix)]
fn rows_of_unix() -> Vec<Row> {
    let directory = Hook::program("*", ["/"]).unwrap();
    let bad_name = hook("*", "true").with_env("A=B", "c");
    let [killed, none, file] = ["kill -9 $$", "no-such-command", "/etc/passwd"];
    vec![
        (hook("*", killed), "signal signal stops goes"),
        (hook("*", none), "not_found not_found stops goes"),
        (hook("*", file), "not_executable not_executable stops goes"),
        (directory, "not_executable not_executable stops goes"),
        (bad_name, "not_started not_started stops goes"),
    ]
}

/// The failures that have no row here. Some take a host of their own, as lost exit statuses (`hosts`) and circles do; the
/// others have a file or a module of tests, such as `trust`, `sandbox` and `resident`.
#[cfg(unix)]
const ELSEWHERE: &str = "no_sandbox arguments_not_mapped misconfigured no_answer status_lost panicked circular approval_lost \
    not_taken cancelled";

#[cfg(unix)]
#[test]
fn each_failure_has_a_row_or_other_tests() {
    let world = World::new();
    let rows = rows(&world).into_iter().chain(rows_of_unix());
    let of_rows = rows.filter_map(|(_, expected)| expected.split(' ').next());
    let tested: Vec<_> = of_rows.chain(ELSEWHERE.split_whitespace()).collect();
    for failure in FailureKind::ALL {
        assert!(
            tested.contains(&&*failure.to_string()),
            "no row for {failure}"
        );
    }
}

#[test]
fn what_blocks_is_what_the_table_says() {
    let world = World::new();
    let rows = rows(&world);
    #[cfg(unix)]
    let rows = rows.into_iter().chain(rows_of_unix());
    for (hook, expected) in rows {
        let columns: Vec<_> = expected.split(' ').collect();
        let value = "x".repeat(if columns.len() > 4 { 300_000 } else { 0 });
        for (policy, ends) in [
            (FailurePolicy::Block, columns[2]),
            (FailurePolicy::Continue, columns[3]),
        ] {
            // A hook whose failures are ignored is not a guard: it runs in spite of the large value.
            let runs_all_the_same = columns.len() > 4 && policy == FailurePolicy::Continue;
            let before = if runs_all_the_same { "-" } else { columns[0] };
            let hook = hook.clone().with_on_failure(policy);
            let event = blocking_event().with_data("value", &*value);
            check(&world, &hook, &event, before, ends == "goes");
            let event = HookEvent::user_interrupt().with_data("value", &*value);
            check(&world, &hook, &event, columns[1], ends == "goes");
        }
    }
}

fn check(world: &World, hook: &Hook, event: &HookEvent, failure: &str, goes_on: bool) {
    world.registry().clear();
    world.add(hook.clone());
    let outcome = world.outcome(event);
    let result = &outcome.results()[0];
    let case = format!("{} under {}: {result:?}", hook.command(), hook.on_failure());
    let kind = result
        .failure()
        .map_or("-".to_owned(), |failure| failure.to_string());
    assert_eq!(kind, failure, "{case}");
    let succeeds = failure == "-" && result.exit_code() == 0 && result.should_continue();
    assert_eq!(result.success(), succeeds, "{case}");
    assert_eq!(result.error().is_some(), failure != "-", "{case}");
    if event.event_type.can_block() {
        assert_eq!(result.should_continue(), goes_on, "{case}");
        assert_eq!(outcome.allowed(), goes_on, "{case}");
    } else {
        assert!(outcome.allowed(), "{case}, after the fact");
    }
}

#[test]
fn only_events_before_an_action_block() {
    let world = World::running(["exit 1"]);
    let custom = EventType::custom("game:save").unwrap();
    for event_type in EventType::BUILTIN.into_iter().chain([custom]) {
        let outcome = world.outcome(&HookEvent::new(event_type.clone()));
        assert_eq!(outcome.allowed(), !event_type.can_block(), "{event_type}");
        let continues = outcome.results()[0].should_continue();
        assert!(!continues, "the result says what the hook did");
        assert_eq!(outcome.event_type(), &event_type);
    }
}

#[test]
fn an_error_says_which_hook_blocked_and_why() {
    let world = World::new();
    let guard = hook("*:*:bash", &format!("echo Blocked: dangerous{AND}exit 1"));
    let label = guard.command().to_string();
    let described = guard.clone().with_description("Guards the shell");
    for (guard, label) in [(guard, &*label), (described, "Guards the shell")] {
        world.registry().clear();
        world.hook("tool:*", "echo fine");
        world.add(guard);
        let outcome = world.outcome(&blocking_event());
        assert_eq!(outcome.reason(), Some("Blocked: dangerous"));
        let error = outcome.check().unwrap_err();
        let expected = format!("blocked by hook `{label}`: Blocked: dangerous");
        assert_eq!(error.to_string(), expected);
        assert_eq!(format!("{error:?}"), expected);
        assert_eq!(error.outcome().unwrap().results().len(), 2);
        assert_eq!(error.result.exit_code(), 1);
    }
}

/// The results are those that a host's test would make.
#[test]
fn the_reason_is_the_output_or_the_failure() {
    use FailureKind::{Exit, NotFound, TimedOut};
    let json = "{\"error\": \"no sudo\"}";
    for (failure, code, stdout, stderr, expected) in [
        (Exit, 1, " printed\n", "whispered", "printed"),
        (Exit, 137, " \n", "whispered\n", "whispered"),
        (Exit, i32::MIN, "", "", "exited with code -2147483648"),
        (Exit, 1, "{\"note\": 1}", "whispered", "{\"note\": 1}"),
        (Exit, 1, "", json, json),
        (TimedOut, -1, "half a sen", "", "the error"),
        (NotFound, -1, "", "sh: 1: x: not found", "the error"),
    ] {
        let result = match failure {
            Exit => HookResult::new(hook("*", "x"), code),
            _ => HookResult::failing(hook("*", "x"), failure, "the error"),
        };
        assert_eq!(result.failure(), Some(failure));
        assert_eq!(
            (result.exit_code(), result.timed_out()),
            (code, failure == TimedOut)
        );
        let result = result.with_stdout(stdout).with_stderr(stderr);
        assert!(!result.success() && !result.should_continue());
        assert_eq!(result.reason(), Some(expected));
        let message = HookBlockedError::new(result).to_string();
        assert_eq!(message, format!("blocked by hook `x`: {expected}"));
    }
    let result = HookResult::new(hook("*", "x"), 0).with_stdout("Success!");
    assert!(result.success() && result.should_continue() && result.reason().is_none());
}

/// A result that a host's test makes is that of a run.
#[test]
fn an_exit_code_has_the_kind_of_a_run() {
    use FailureKind::{Exit, NotExecutable, NotFound};
    for (code, kind) in [
        (1, Exit),
        (125, Exit),
        (126, NotExecutable),
        (127, NotFound),
        (128, Exit),
    ] {
        let made = HookResult::new(hook("*", "x"), code);
        let run = World::new().one(hook("*", &format!("exit {code}")));
        assert_eq!((made.failure(), &made.error()), (Some(kind), &run.error()));
        assert_eq!((run.failure(), run.should_continue()), (Some(kind), false));
    }
}

/// A test of a host creates a failure, which follows the policy of its hook.
#[test]
fn a_failure_that_a_test_creates_follows_its_policy() {
    use FailurePolicy::{Block, Continue};
    for policy in [Block, Continue] {
        let own = || hook("*", "x").with_on_failure(policy);
        let failed = HookResult::failing(own(), FailureKind::TimedOut, "the error");
        assert!(failed.timed_out() && failed.error() == Some("the error"));
        let exited = HookResult::new(own(), 1).with_stderr("other");
        for result in [failed, exited] {
            assert!(!result.success());
            assert_eq!(result.should_continue(), policy == Continue);
            let outcome = Outcome::new(EventType::ToolPreExecute, vec![result]);
            assert_eq!(outcome.allowed(), policy == Continue);
        }
    }
}

/// The answers of one result follow each other, and only the last one counts.
#[test]
fn a_test_builds_each_kind_of_result() {
    let of = |code| HookResult::new(hook("*", "x"), code);
    let answer = |decision| {
        let mut output = HookOutput::default();
        output.decision = Some(decision);
        output
    };
    let blocks = of(1).with_output(answer(Decision::Block));
    assert_eq!(
        (blocks.failure(), blocks.decision()),
        (None, Decision::Block)
    );
    let fails = blocks.with_output(answer(Decision::Allow));
    assert_eq!(fails.failure(), Some(FailureKind::Exit));
    assert!(!fails.should_continue());
    let asks = of(0).with_output(answer(Decision::Ask));
    let outcome = |result| Outcome::new(EventType::ToolPreExecute, vec![result]);
    assert!(outcome(asks.clone()).asks().is_none());
    let before = of(0).handles_ask().with_output(answer(Decision::Ask));
    assert!(outcome(before).asks().is_some());
    let open = outcome(asks.handles_ask());
    assert!(open.asks().is_some() && !open.allowed());
    assert!(open.clone().answer(|_| true).allowed());
    let declined = open.answer(|_| false);
    assert_eq!(declined.results()[0].decision(), Decision::Block);
    let reason = declined.reason().unwrap();
    assert_eq!(reason, "the user declined: no reason given");
}

#[test]
fn the_message_of_a_block_hides_nothing() {
    let hook = hook("*", "x").with_description("a\u{200b}\nb");
    let result = HookResult::new(hook, 1).with_stdout("no\u{e0041}\nreally\u{1b}[2J");
    let message = HookBlockedError::new(result).to_string();
    let expected = "blocked by hook `a\\u{200b}\\nb`: no\\u{e0041}\nreally\\u{1b}[2J";
    assert_eq!(message, expected);
}

#[test]
#[cfg(unix)]
fn failures_are_shown_on_any_event() {
    let world = World::new();
    world.add(hook("*", "./nope.sh").with_description("Greets\u{202e}"));
    world.hook("session:start", "exit 0");
    let outcome = world.outcome(&HookEvent::session_start("s1"));
    assert!(outcome.check().is_ok());
    let failures = outcome.failures();
    let [message] = &failures[..] else {
        panic!("{failures:?}")
    };
    let start =
        "hook `Greets\\u{202e}` failed on `session:start`: exited with code 127, as a shell does";
    let is_shown = message.starts_with(start) && message.contains(": ./nope.sh: ");
    assert!(is_shown, "{message}");

    let outcome = world.outcome(&blocking_event());
    assert!(outcome.failures().is_empty(), "it blocks: `check` says so");
    assert!(outcome.check().is_err());

    world.registry().clear();
    let long = hook("*", "echo one; echo two; exit 1");
    world.add(long.with_on_failure(FailurePolicy::Continue));
    world.hook("*", "exit 0");
    let outcome = world.outcome(&blocking_event());
    assert!(outcome.allowed() && outcome.reason().is_none());
    assert_eq!(outcome.results().len(), 2, "it does not stop");
    let failures = outcome.failures();
    assert!(failures[0].ends_with(": one…"), "{failures:?}");
}

/// The first lines that an interpreter writes when a hook crashes say nothing.
#[cfg(unix)]
#[test]
fn a_crash_begins_with_its_code_and_its_error() {
    let world = World::new();
    let trace = "Traceback (most recent call last):\n  File \"g.py\", line 1\nKeyError: 1";
    let long = "no sudo\nask first\nor use doas";
    for (stderr, code, first) in [
        (trace, 1, "failed, exit code 1: KeyError: 1\n"),
        (long, 3, "failed, exit code 3: or use doas\n"),
        // An author has written these.
        (trace, 2, ""),
        (long, 2, ""),
        ("no sudo\n\nask first", 1, ""),
    ] {
        let command = format!("echo '{stderr}' >&2; exit {code}");
        let result = world.one(hook("*", &command));
        let expected = format!("{first}{stderr}");
        assert_eq!(result.reason(), Some(&*expected), "{code}");
        assert_eq!(result.stderr().trim_end(), stderr);
    }
    // The reason on standard output is the hook's own.
    let command = format!("echo '{trace}' >&2; echo no; exit 1");
    assert_eq!(world.one(hook("*", &command)).reason(), Some("no"));
    let outcome = {
        world.registry().clear();
        let hook = hook("*", &format!("echo '{trace}' >&2; exit 1")).with_name("guard");
        world.add(hook.with_on_failure(FailurePolicy::Continue));
        world.outcome(&blocking_event())
    };
    assert_eq!(
        outcome.failures(),
        ["hook `guard` failed on `tool:pre_execute`: failed, exit code 1: KeyError: 1…"]
    );
}

/// It counts for the hooks that run again, and in the queue.
#[cfg(unix)]
#[test]
fn an_event_has_a_time_for_all_its_hooks() {
    use std::time::Instant;

    use forge_hooks::FireOptions;
    let timeout = Duration::from_millis(400);
    let options = FireOptions::new().timeout(timeout).stop_on_failure(false);
    let world = World::running(["exit 0", "sleep 60", "echo never"]);
    let begun = Instant::now();
    let called = world.executor.execute(&blocking_event(), options.clone());
    let failures = |outcome: &Outcome| {
        outcome
            .results()
            .iter()
            .map(HookResult::failure)
            .collect::<Vec<_>>()
    };
    let expected = [
        None,
        Some(FailureKind::TimedOut),
        Some(FailureKind::TimedOut),
    ];
    assert_eq!(failures(&called), expected);
    assert!(begun.elapsed() >= timeout && !called.results()[2].started());
    // The guard has time for one run.
    let options = options.timeout(Duration::from_secs(2));
    let world = World::running(["sleep 1.2"]);
    world.answering(serde_json::json!({"updatedInput": {"command": "pwd"}}));
    let submitted = world
        .executor
        .submit(blocking_event(), options.applies_updates());
    let outcome = submitted.unwrap().wait();
    assert_eq!(failures(&outcome), [Some(FailureKind::TimedOut), None]);
    assert_eq!(outcome.changed_event(), None);
}
