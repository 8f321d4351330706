//! Answers on a hook's standard output: when they are read, and the result of the answers of a chain. The
//! consequences of a single answer are in the tables of `golden`.

use std::time::Duration;

use forge_hooks::{Decision, FailureKind, FailurePolicy, FireOptions, HookEvent, Outcome};
use serde_json::json;

use crate::support::{AND, World, blocking_event, decision, hook, meets};

#[cfg(unix)]
#[test]
fn byte_order_marks_are_removed() {
    let world = World::new();
    let result = world.one(hook("*", "printf '\\357\\273\\277\\357\\273\\277hello'"));
    assert_eq!(result.stdout(), "hello");
    assert_eq!(result.stdout_bytes(), "\u{FEFF}\u{FEFF}hello".as_bytes());
    let text = "\u{FEFF} \r\n{\"decision\": \"block\"}\r\n";
    let result = world.one(hook("*", &world.says(text)));
    assert!(result.failure().is_none() && result.decision() == Decision::Block);
}

/// A wrapper has printed a word before the guard's answer: the user is told, also over JSON.
#[test]
fn a_guard_that_is_read_as_text_is_shown_to_the_user() {
    let world = World::new();
    for (text, is_shown) in [
        (r#"guard: {"decision": "block", "reason": "no"}"#, true),
        (
            r#"guard: {"hookSpecificOutput": {"permissionDecision": "deny"}}"#,
            true,
        ),
        (r#"guard: {"permissionDecision": "ask"}"#, true),
        (r#"guard: {"continue": false}"#, true),
        (r#"guard: {"decision": "allow"}"#, false),
        (r#"guard: {"systemMessage": "block"}"#, false),
        ("guard: the decision is to block", false),
    ] {
        world.registry().clear();
        world.add(hook("*", &world.says(text)).with_name("guard"));
        let outcome = world.outcome(&blocking_event());
        assert!(outcome.allowed(), "{text}");
        let message = outcome.failures().concat();
        let begins = message.starts_with("hook `guard` on `tool:pre_execute`: found `");
        assert_eq!(
            (begins, message.is_empty()),
            (is_shown, !is_shown),
            "{text}: {message}"
        );
        let messages = json!(outcome)["messages"].as_array().unwrap().len();
        assert_eq!(messages, usize::from(is_shown), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn an_answer_in_utf_16_is_invalid() {
    let answer: Vec<_> = "{\"continue\":false}".chars().map(String::from).collect();
    let (little, big) = (
        answer.join(r"\0") + r"\0",
        r"\0".to_owned() + &answer.join(r"\0"),
    );
    for bytes in [
        r"\377\376".to_owned() + &little,
        r"\376\377".to_owned() + &big,
        little,
        big,
    ] {
        let result = World::new().one(hook("*", &format!("printf '{bytes}'")));
        assert_eq!(
            result.failure(),
            Some(FailureKind::InvalidAnswer),
            "{bytes}"
        );
    }
}

#[test]
fn what_is_no_answer_is_text_or_invalid() {
    let key = "expected a key in double quotes";
    let object = "`updatedInput`: expected an object, found a string";
    let world = World::new();
    for (text, why) in [
        (r#"{"updatedInput": "ls"}"#, object),
        ("{decision: \"block\"}", key),
        ("{ echo hello; }", key),
        ("[1]", ""),
        ("\"{}\"", ""),
        ("code { echo hello; }", ""),
        ("null", ""),
    ] {
        let result = world.one(hook("*", &world.says(text)));
        assert_eq!(result.should_continue(), why.is_empty(), "{text}");
        assert!(result.output().is_none());
        let error = result.error().unwrap_or_default();
        assert!(error.contains(why), "{error}");
        assert_eq!(result.reason().unwrap_or_default(), error);
    }
}

/// A reason, the exit code, and the answer, which is printed before `aside` is on standard error.
const REASONS: &str = r#"
stop 0 {"decision": "block", "stopReason": "stop"}
aside 0 {"decision": "block"}
stop 0 {"continue": false, "stopReason": "stop", "reason": "no"}
sure? 0 {"decision": "ask", "reason": "sure?"}
- 0 {"decision": "allow", "reason": "fine"}
no 1 {"reason": "no"}
aside 1 {"decision": "allow", "reason": "fine"}
- 0 {"systemMessage": "hello"}
"#;

#[test]
fn the_reason_is_the_one_of_the_answer() {
    let world = World::new();
    for row in REASONS.trim().lines() {
        let [reason, code, answer] = row.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let says = world.says(answer);
        let command = format!("echo aside>&2{AND}{says}{AND}exit {code}");
        let result = world.one(hook("*", &command));
        assert_eq!(result.reason().unwrap_or("-"), reason, "{row}");
    }
    // Behind a log, the answer is invalid. With another exit code, the text is the reason.
    let says = world.says(r#"{"decision": "block", "reason": "no"}"#);
    for (code, begin, notes) in [(0, "its answer is invalid: ", 0), (3, "checking", 1)] {
        let command = format!("echo checking{AND}{says}{AND}exit {code}");
        let ignored = hook("*", &command).with_on_failure(FailurePolicy::Continue);
        let result = world.one(ignored);
        assert_eq!(result.failure(), Some(FailureKind::InvalidAnswer));
        assert!(!result.should_continue() && result.reason().unwrap().starts_with(begin));
        assert_eq!(
            result.diagnostics().len(),
            notes,
            "{:?}",
            result.diagnostics()
        );
    }
}

#[test]
fn an_answer_over_the_limit_blocks() {
    let block = r#"{"decision": "block"}"#;
    let blanks = format!("{}{block}{}", " ".repeat(10), "\n".repeat(10));
    for (limit, text) in [(0, block), (8, &blanks), (20, block)] {
        let world = World::with(|builder| builder.output_limit(limit));
        let result = world.one(hook("*", &world.says(text)));
        let failure = Some(FailureKind::InvalidAnswer);
        assert_eq!(result.failure(), failure, "with {limit} bytes");
        let error = result.error().unwrap();
        assert!(
            error.contains("longer than the part of the output"),
            "{error}"
        );
        let result = world.one(hook("*", &world.says("plain words")));
        assert!(result.should_continue(), "with {limit} bytes");
    }
    // Truncation of the other stream does not affect the answer.
    let world = World::with(|builder| builder.output_limit(64));
    let (noise, answer) = (world.says(&"x".repeat(100)), world.says("{}"));
    let result = world.one(hook("*", &format!("{noise} >&2 {AND}{answer}")));
    assert!(
        result.truncated() && result.output().is_some(),
        "{result:?}"
    );
}

#[test]
fn a_killed_hook_has_not_answered() {
    let world = World::new();
    let says = world.says(r#"{"decision": "allow", "systemMessage": "hello"}"#);
    world.hook("*", &format!("{says}{AND}{}", meets("said", "never")));
    let handle = world.submit(blocking_event());
    world.await_file("said");
    handle.cancel();
    let outcome = handle.wait();
    let result = &outcome.results()[0];
    assert_eq!(result.failure(), Some(FailureKind::Cancelled));
    assert!(result.stdout().contains("hello") && result.output().is_none());
}

#[test]
fn block_outranks_ask_and_ask_allow() {
    use Decision::{Allow, Ask, Block};
    let options = FireOptions::default().handles_ask();
    for (answers, expected) in [
        (vec![Allow, Allow], Allow),
        (vec![Allow, Ask, Allow], Ask),
        (vec![Ask, Block], Block),
        (vec![Block, Ask, Allow], Block),
    ] {
        let world = World::new();
        for answer in &answers {
            world.answering(json!({ "decision": answer.to_string() }));
        }
        for options in [options.clone(), options.clone().stop_on_failure(false)] {
            let outcome = world.executor.execute(&blocking_event(), options.clone());
            let blocked = outcome.blocked().map(|_| Block);
            let asks = outcome.asks().map(|_| Ask);
            let actual = asks.or(blocked).unwrap_or(Allow);
            assert_eq!(actual, expected, "{answers:?} {options:?}");
            assert_eq!(outcome.allowed(), expected == Allow);
            assert_eq!(decision(&outcome), Some(expected));
            // Nobody is asked about what is blocked in any case.
            assert_eq!(outcome.asks().is_some(), expected == Ask);
        }
    }
}

/// The end of an agent is what the host does then, so nothing keeps it from it.
#[test]
fn a_stop_of_the_turn_does_not_block_the_end_of_an_agent() {
    let event = HookEvent::agent_stop(false);
    for (others, allowed) in [(vec![], false), (vec![json!({"continue": false})], true)] {
        let world = World::new();
        world.answering(json!({"decision": "block", "reason": "go on"}));
        others.iter().for_each(|answer| world.answering(answer));
        let options = FireOptions::default().stop_on_failure(false);
        let outcome = world.executor.execute(&event, options);
        assert_eq!(
            (outcome.allowed(), outcome.stops_turn()),
            (allowed, allowed)
        );
    }
}

fn check_open(outcome: &Outcome) {
    assert!(!outcome.allowed() && !outcome.results()[0].should_continue());
    assert_eq!(outcome.blocked(), outcome.asks(), "{outcome:?}");
    assert_eq!(outcome.asks().unwrap().reason(), Some("sure?"));
    assert_eq!(outcome.reason(), Some("sure?"));
    let error = outcome.check().unwrap_err().to_string();
    assert!(error.contains("` asks, and the user has not answered: sure? ("));
    assert!(error.contains("`Outcome::answer`"), "{error}");
}

fn check_answered(outcome: &Outcome) {
    let yes = outcome
        .clone()
        .answer(|question| question.reason() == Some("sure?"));
    assert!(yes.allowed() && yes.check().is_ok() && yes.asks().is_none());
    assert_eq!(decision(&yes), Some(Decision::Allow));
    let no = outcome.clone().answer(|_| false);
    assert!(!no.allowed() && no.asks().is_none());
    assert_eq!(decision(&no), Some(Decision::Block));
    assert_eq!(no.reason(), Some("the user declined: sure?"));
    assert!(no.answer(|_| true).check().is_err(), "asked once");
}

#[test]
fn a_question_goes_to_a_host_that_asks() {
    let world = World::new();
    world.answering(json!({"decision": "ask", "reason": "sure?"}));
    world.answering("{}");
    let executor = &world.executor;
    let unhandled = world.outcome(&blocking_event());
    assert_eq!(unhandled.results().len(), 1, "it blocks and stops");
    let error = unhandled.check().unwrap_err().to_string();
    assert!(error.ends_with(": sure?"), "{error}");
    let options = FireOptions::default().handles_ask();
    let submitted = executor.submit(blocking_event(), options.clone()).unwrap();
    let called = executor.execute(&blocking_event(), options.clone());
    for outcome in [called, submitted.wait()] {
        assert_eq!(outcome.results().len(), 2, "those behind it may block");
        check_open(&outcome);
        check_answered(&outcome);
    }
    let after_the_fact = executor.execute(&HookEvent::user_interrupt(), options);
    assert!(after_the_fact.asks().is_none() && after_the_fact.allowed());
}

#[test]
fn a_declined_question_shows_no_secret() {
    let world = World::new();
    let asks = world.says(&json!({"decision": "ask", "reason": "use t0p-s3cr3t?"}).to_string());
    world.add(hook("*", &asks).with_env("WORD", "t0p-s3cr3t"));
    let options = FireOptions::default().handles_ask();
    let outcome = world.executor.execute(&blocking_event(), options);
    assert_eq!(outcome.reason(), Some("use [redacted]?"));
    let declined = outcome.answer(|_| false);
    let expected = "the user declined: use [redacted]?";
    assert_eq!(declined.reason(), Some(expected));
}

/// It makes no difference whether the hook could have blocked.
#[test]
fn no_reason_shows_a_secret() {
    let fails = format!("echo t0p-s3cr3t{AND}exit 1");
    for event in [blocking_event(), HookEvent::session_end("s1")] {
        let world = World::new();
        let result = world.run(hook("*", &fails).with_env("WORD", "t0p-s3cr3t"), &event);
        assert_eq!(result.reason(), Some("[redacted]"));
    }
}

#[test]
fn a_question_stays_open_until_each_is_answered() {
    let world = World::new();
    world.answering(json!({"decision": "ask", "reason": "one"}));
    world
        .answering(json!({"decision": "ask", "reason": "two", "updatedInput": {"command": "pwd"}}));
    let options = FireOptions::default().handles_ask().applies_updates();
    let mut handle = world.executor.submit(blocking_event(), options).unwrap();
    let outcome = handle.wait_timeout(Duration::MAX).unwrap();
    assert!(!handle.wait().allowed(), "a second wait is no yes either");
    assert!(outcome.updated_input().is_some(), "the question is open");
    for (answers, asked) in [("yy", "one two"), ("yn", "one two"), ("n", "one")] {
        let (mut given, mut seen) = (answers.chars(), Vec::new());
        let after = outcome.clone().answer(|question| {
            seen.push(question.reason().unwrap().to_owned());
            given.next() == Some('y')
        });
        assert_eq!(seen.join(" "), asked);
        assert_eq!(after.allowed(), answers == "yy", "{answers}");
        assert_eq!(after.check().is_ok(), answers == "yy", "{answers}");
        assert_eq!(after.updated_input().is_some(), answers == "yy");
    }
}

/// A yes to the question would let the host do what another hook has stopped.
#[test]
fn nothing_is_asked_where_a_hook_stops_the_turn() {
    let world = World::new();
    world.answering(json!({"decision": "ask"}));
    world.answering(json!({"continue": false}));
    let options = FireOptions::default().handles_ask();
    let outcome = world.executor.execute(&blocking_event(), options.clone());
    assert!(outcome.asks().is_none() && decision(&outcome) != Some(Decision::Ask));
    assert!(!outcome.answer(|_| true).allowed());
    let ends = world
        .executor
        .execute(&HookEvent::agent_stop(false), options);
    assert!(ends.allowed() && ends.asks().is_none());
}

#[test]
fn changes_are_combined_key_by_key() {
    let world = World::new();
    world.answering(json!({"updatedInput": {"cwd": "/tmp"}}));
    world.answering("plain words");
    world.answering(json!({"updatedInput": {"command": "ls -la", "nested": {"a": 1}}}));
    let failed = json!({
        "updatedInput": {"command": "rm"},
        "replacesInput": true,
        "additionalContext": "c",
    });
    let failed = format!("{}{AND}exit 1", world.says(&failed.to_string()));
    world.add(hook("*", &failed).with_on_failure(FailurePolicy::Continue));
    let options = FireOptions::new().applies_updates();
    let event = HookEvent::tool_pre_execute("bash", json!({"command": "ls", "timeout": 9}));
    let outcome = world.executor.execute(&event, options.clone());
    let expected = json!({"command": "ls -la", "cwd": "/tmp", "nested": {"a": 1}});
    assert_eq!(json!(outcome.updated_input()), expected);
    let changed = outcome.changed_event().unwrap();
    assert_eq!(
        changed.data()["tool_args"]["timeout"],
        9,
        "a failed hook replaces nothing"
    );
    assert_eq!(outcome.additional_context().as_deref(), Some("c"));

    let unapplied = world.outcome(&blocking_event());
    assert!(!unapplied.allowed() && unapplied.updated_input().is_none());
    let results = unapplied.results();
    assert!(!results[0].success() && !results[0].should_continue());
    assert!(unapplied.asks().is_none() && !unapplied.answer(|_| true).allowed());

    world.answering(json!({"decision": "block"}));
    let outcome = world.executor.execute(&blocking_event(), options);
    assert_eq!(outcome.updated_input(), None, "nothing is to be run");
}

/// However often it is asked for; a receiver gives out no change, so there the change blocks.
#[test]
fn a_change_is_not_forgotten() {
    let world = World::new();
    world.answering(json!({"updatedInput": {"command": "pwd"}}));
    let submit = || {
        let options = FireOptions::new().applies_updates();
        world.executor.submit(blocking_event(), options).unwrap()
    };
    let mut handle = submit();
    let first = handle.wait_timeout(Duration::MAX).unwrap();
    for outcome in [first, handle.wait()] {
        let changed = outcome.changed_event().unwrap();
        assert_eq!(changed.data()["tool_args"]["command"], "pwd");
    }
    let (early, late, mut returned) = (submit(), submit(), submit());
    let early = early.into_receiver();
    while !late.is_finished() {
        std::thread::yield_now();
    }
    assert!(returned.wait_timeout(Duration::MAX).is_some());
    for receiver in [early, late.into_receiver(), returned.into_receiver()] {
        let blocking = receiver.iter().filter(|result| !result.should_continue());
        assert_eq!(blocking.count(), 1);
    }
}
