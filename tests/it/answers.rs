//! What a hook answers on its standard output: when it is read, and the result of the answers of a chain.

use forge_hooks::{Decision, FailureKind, FireOptions, HookEvent, HookExecutor, Outcome};
use serde_json::json;

use crate::support::{World, blocking_event, hook};

impl World {
    /// A hook for all events that answers so.
    fn answering(&self, answer: impl ToString) {
        self.hook("*", &self.says(&answer.to_string()));
    }
}

#[cfg(unix)]
#[test]
fn a_block_after_invisible_characters_counts() {
    let world = World::new();
    let text = "\u{FEFF} \u{200B}\r\n{\"decision\": \"block\"}\r\n";
    let result = world.one(hook("*", &world.says(text)));
    assert_eq!(result.decision(), Decision::Block);
}

#[cfg(unix)]
#[test]
fn byte_order_marks_are_removed() {
    let result = World::new().one(hook("*", "printf '\\357\\273\\277\\357\\273\\277hello'"));
    assert_eq!(result.stdout, "hello");
    assert_eq!(result.stdout_bytes(), "\u{FEFF}\u{FEFF}hello".as_bytes());
}

#[cfg(unix)]
#[test]
fn an_answer_in_utf_16_is_invalid() {
    for bytes in [
        "\\377\\376{\\000}\\000",
        "\\376\\377\\000{\\000}",
        "\\000{\\000}",
    ] {
        let result = World::new().one(hook("*", &format!("printf '{bytes}'")));
        assert_eq!(result.failure, Some(FailureKind::InvalidAnswer), "{bytes}");
    }
}

#[test]
fn an_invalid_answer_blocks() {
    let world = World::new();
    for (text, why) in [
        (r#"{"decision": "blok"}"#, "unknown decision `blok`"),
        (
            r#"{"updatedInput": "ls"}"#,
            "`updatedInput`: expected an object, found a string",
        ),
        ("{decision: \"block\"}", "expected a key in double quotes"),
        ("{ echo hello; }", "expected a key in double quotes"),
        (
            "{\"decision\": \"block\"} done",
            "found text after the object",
        ),
    ] {
        let result = world.one(hook("*", &world.says(text)));
        assert_eq!(result.failure, Some(FailureKind::InvalidAnswer), "{text}");
        let error = result.error.as_deref().unwrap();
        let expected = error.contains(why) && error.starts_with("its answer is invalid: ");
        assert!(expected, "{error}");
        assert!(!result.should_continue() && result.output().is_none());
        assert_eq!(result.reason(), Some(error));
    }
}

#[test]
fn a_guard_that_prints_before_its_answer_blocks() {
    let world = World::new();
    let and = if cfg!(windows) { "&" } else { ";" };
    let says = world.says(r#"{"decision":"block","reason":"no"}"#);
    let result = world.one(hook("*", &format!("echo checking{and} {says}")));
    assert_eq!(
        (result.decision(), result.reason()),
        (Decision::Block, Some("no"))
    );
    // Without a reason of its own, its log is not one.
    let says = world.says(r#"{"decision":"block"}"#);
    let result = world.one(hook("*", &format!("echo checking{and} {says}")));
    assert_eq!(
        (result.decision(), result.reason()),
        (Decision::Block, None)
    );
}

#[test]
fn output_without_an_answer_is_text() {
    let world = World::new();
    for text in [
        "[1]",
        "\"{}\"",
        "code { echo hello; }",
        "{\"note\": 1}",
        "null",
        "",
    ] {
        let result = world.one(hook("*", &world.says(text)));
        assert!(
            result.should_continue() && result.output().is_none(),
            "{text}"
        );
        let is_noted = result
            .diagnostics()
            .iter()
            .any(|words| words.contains("has no key of an answer"));
        assert_eq!(is_noted, text.contains("note"), "{text}");
    }
}

#[test]
fn an_invalid_answer_is_noted_where_it_cannot_block() {
    let world = World::new();
    world.answering(r#"{"decision": "blok"}"#);
    let outcome = world.outcome(&HookEvent::tool_post_execute("bash", "ls", ""));
    let result = &outcome.results()[0];
    let expected =
        "standard output is treated as plain text: its answer is invalid: unknown decision `blok`";
    assert!(
        result.success() && result.diagnostics()[0].starts_with(expected),
        "{result:?}"
    );
}

#[test]
fn an_answer_that_was_cut_is_none() {
    let world = World::with(|builder| builder.output_limit(64));
    let long = json!({"decision": "allow", "reason": "x".repeat(100)});
    let result = world.one(hook("*", &world.says(&long.to_string())));
    assert_eq!(result.failure, Some(FailureKind::InvalidAnswer));
    assert!(
        result
            .error
            .unwrap()
            .contains("longer than the part of the output")
    );
    // Truncation of the other stream does not affect the answer.
    let noisy = format!(
        "{} >&2 & {}",
        world.says(&"x".repeat(100)),
        world.says("{}")
    );
    let noisy = if cfg!(windows) {
        noisy
    } else {
        noisy.replace('&', ";").replace(">;2", ">&2")
    };
    let result = world.one(hook("*", &noisy));
    assert!(result.truncated && result.output().is_some(), "{result:?}");
}

#[test]
fn an_answer_over_the_limit_blocks() {
    let block = r#"{"decision": "block"}"#;
    let (before, behind) = (" ".repeat(10), "\n".repeat(10));
    for (limit, text) in [
        (0, block.to_owned()),
        (8, format!("{before}{block}{behind}")),
    ] {
        let world = World::with(|builder| builder.output_limit(limit));
        let result = world.one(hook("*", &world.says(&text)));
        let failure = Some(FailureKind::InvalidAnswer);
        assert_eq!(result.failure, failure, "with {limit} bytes");
        let result = world.one(hook("*", &world.says("plain words")));
        assert!(result.should_continue(), "with {limit} bytes");
    }
}

#[test]
fn a_killed_hook_has_not_answered() {
    use crate::support::LONG;
    let world = World::new();
    let says = world.says(r#"{"decision": "allow", "systemMessage": "hello"}"#);
    let and = if cfg!(windows) { "&" } else { ";" };
    let slow = hook("*", &format!("{says}{and} {LONG}"));
    let result = world.one(slow.with_timeout(std::time::Duration::from_millis(300)));
    assert_eq!(result.failure, Some(FailureKind::TimedOut));
    assert!(result.stdout.contains("hello") && result.output().is_none());
}

#[test]
fn the_reason_is_the_one_of_the_answer() {
    let world = World::new();
    let and = if cfg!(windows) { "&" } else { ";" };
    let cases = [
        (json!({"decision": "block", "reason": "no"}), 0, Some("no")),
        (
            json!({"decision": "block", "stopReason": "stop"}),
            0,
            Some("stop"),
        ),
        (json!({"decision": "block"}), 0, Some("aside")),
        (
            json!({"continue": false, "stopReason": "stop", "reason": "no"}),
            0,
            Some("stop"),
        ),
        (
            json!({"decision": "ask", "reason": "sure?"}),
            0,
            Some("sure?"),
        ),
        (json!({"decision": "allow", "reason": "fine"}), 0, None),
        (json!({"reason": "no"}), 1, Some("no")),
        (
            json!({"decision": "allow", "reason": "fine"}),
            1,
            Some("aside"),
        ),
        (json!({"systemMessage": "hello"}), 0, None),
    ];
    for (answer, code, reason) in cases {
        let says = world.says(&answer.to_string());
        let command = format!("echo aside>&2{and} {says}{and} exit {code}");
        let result = world.one(hook("*", &command));
        assert_eq!(result.reason(), reason, "{answer} {code}");
    }
}

#[test]
fn block_outranks_ask_and_ask_allow() {
    let [allow, ask, block] =
        ["allow", "ask", "block"].map(|decision| json!({"decision": decision}));
    let cases = [
        (vec![&allow, &allow], Decision::Allow),
        (vec![&allow, &ask, &allow], Decision::Ask),
        (vec![&ask, &block], Decision::Block),
        (vec![&block, &ask, &allow], Decision::Block),
    ];
    let options = FireOptions::default().handles_ask();
    for (answers, expected) in cases {
        for options in [options, options.stop_on_failure(false), options.parallel()] {
            let world = World::new();
            answers.iter().for_each(|answer| world.answering(answer));
            let outcome = world.executor.execute(&blocking_event(), options);
            let blocked = outcome.blocked().map(|_| Decision::Block);
            let asks = outcome.asks().map(|_| Decision::Ask);
            let decision = blocked.or(asks).unwrap_or(Decision::Allow);
            assert_eq!(decision, expected, "{answers:?} {options:?}");
            assert_eq!(outcome.allowed(), expected != Decision::Block);
        }
    }
}

fn asking() -> World {
    let world = World::new();
    world.answering(json!({"decision": "ask", "reason": "sure?"}));
    world.answering("{}");
    world
}

#[test]
fn an_unhandled_question_blocks_and_stops() {
    let outcome = asking().outcome(&blocking_event());
    assert_eq!(outcome.results().len(), 1);
    assert!(!outcome.allowed() && outcome.asks().is_none());
    let error = outcome.into_result().unwrap_err();
    assert_eq!(error.result.decision(), Decision::Ask);
    assert!(error.to_string().ends_with(": sure?"), "{error}");
}

#[test]
fn a_host_that_asks_gets_the_question() {
    let executor = &asking().executor;
    let options = FireOptions::default().handles_ask();
    let submitted = executor.submit(blocking_event(), options).unwrap();
    for outcome in [
        executor.execute(&blocking_event(), options),
        submitted.wait(),
    ] {
        assert_eq!(
            outcome.results().len(),
            2,
            "those behind it may still block"
        );
        assert!(outcome.allowed() && outcome.results()[0].should_continue());
        assert_eq!(outcome.asks().unwrap().reason(), Some("sure?"));
        assert!(outcome.into_result().is_ok());
    }
    let after_the_fact = executor.execute(&HookEvent::user_interrupt(), options);
    assert!(after_the_fact.asks().is_none());
}

#[test]
fn changes_are_combined_key_by_key() {
    let world = World::new();
    world.answering(json!({"updatedInput": {"command": "ls -l", "cwd": "/tmp"}}));
    world.answering("plain words");
    world.answering(json!({"updatedInput": {"command": "ls -la", "nested": {"a": 1}}}));
    let and = if cfg!(windows) { "&" } else { ";" };
    let failed = world
        .says(&json!({"updatedInput": {"command": "rm"}, "additionalContext": "c"}).to_string());
    let forgiven = forge_hooks::FailurePolicy::Continue;
    world
        .registry()
        .register(hook("*", &format!("{failed}{and} exit 1")).with_on_failure(forgiven));
    let outcome = world.outcome(&blocking_event());
    let expected = json!({"command": "ls -la", "cwd": "/tmp", "nested": {"a": 1}});
    assert_eq!(json!(outcome.updated_input()), expected);
    assert_eq!(outcome.additional_context().as_deref(), Some("c"));

    world.answering(json!({"decision": "block"}));
    let outcome = world.outcome(&blocking_event());
    assert_eq!(outcome.updated_input(), None, "nothing is to be run");
}

#[test]
fn messages_and_context_keep_the_order() {
    let world = World::new();
    world.answering(json!({"systemMessage": "one", "additionalContext": "first"}));
    world.answering(json!({"systemMessage": "two", "additionalContext": "second"}));
    let event = HookEvent::session_start("s1");
    for options in [FireOptions::default(), FireOptions::default().parallel()] {
        let outcome = world.executor.execute(&event, options);
        assert_eq!(outcome.system_messages(), ["one", "two"]);
        assert_eq!(
            outcome.additional_context().as_deref(),
            Some("first\nsecond")
        );
        assert!(!outcome.stops_turn() && outcome.stop_reason().is_none());
    }
}

#[test]
fn a_turn_is_stopped_also_after_the_fact() {
    let world = World::new();
    world.answering(json!({"continue": false, "stopReason": "the budget is spent"}));
    world.answering("{}");
    let event = HookEvent::tool_post_execute("bash", "ls", "");
    let outcome: Outcome = world.outcome(&event);
    assert_eq!(outcome.results().len(), 1, "nothing behind it runs");
    assert!(outcome.allowed() && outcome.stops_turn());
    assert_eq!(outcome.stop_reason(), Some("the budget is spent"));
    assert!(!world.outcome(&blocking_event()).allowed());
}

#[test]
fn an_event_without_hooks_has_no_answers() {
    let executor = HookExecutor::builder().build();
    let outcome = executor.execute(&blocking_event(), FireOptions::default());
    assert!(outcome.allowed() && outcome.asks().is_none() && outcome.updated_input().is_none());
    assert!(outcome.system_messages().is_empty() && outcome.additional_context().is_none());
}
