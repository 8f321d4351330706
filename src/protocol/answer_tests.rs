//! Tests of reading answers.

use proptest::prelude::*;
use serde_json::{Map, json};

use super::answer::read;
use crate::hook::{Decision, HookOutput};

#[track_caller]
fn output(answer: impl ToString) -> HookOutput {
    let text = answer.to_string();
    match read(text.as_bytes(), None, false) {
        Ok(answer) => answer.output.unwrap_or_default(),
        Err(error) => panic!("{text}: {error}"),
    }
}

/// The answer in an output, if there is one.
fn answer(output: &[u8]) -> Result<Option<HookOutput>, String> {
    read(output, None, false).map(|answer| answer.output)
}

proptest! {
    #[test]
    fn part_of_an_answer_is_invalid(
        reason in ".*", decision in prop_oneof!["allow", "ask", "block"], at in any::<prop::sample::Index>()
    ) {
        let whole = json!({"decision": decision, "reason": reason, "updatedInput": {"a": [1]}}).to_string();
        prop_assert!(answer(whole.as_bytes()).unwrap().is_some());
        let part = &whole.as_bytes()[..at.index(whole.len() - 1) + 1];
        prop_assert!(answer(part).is_err());
    }

    #[test]
    fn an_answer_is_written_as_it_is_read(
        decision in prop_oneof![Just(None), prop_oneof!["allow", "ask", "block"].prop_map(Some)],
        texts in proptest::collection::vec(proptest::option::of(" *[a-z].*"), 4),
        stops in any::<bool>(),
    ) {
        let output = HookOutput {
            decision: decision.map(|word| match word.as_str() {
                "allow" => Decision::Allow,
                "ask" => Decision::Ask,
                _ => Decision::Block,
            }),
            reason: texts[0].clone(),
            stops_turn: stops,
            stop_reason: texts[1].clone(),
            system_message: texts[2].clone(),
            additional_context: texts[3].clone(),
            updated_input: stops.then(|| Map::from_iter([("a".to_owned(), json!([1]))])),
            updated_output: stops.then(|| json!([1, null])),
            ..HookOutput::default()
        };
        let written = serde_json::to_vec(&output).unwrap();
        prop_assert_eq!(answer(&written).unwrap(), Some(output));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut written = b"{".to_vec();
        written.extend(bytes);
        let gap = written.len() / 2;
        for (gap, is_strict) in [(None, false), (Some(gap), false), (None, true)] {
            let _ = read(&written, gap, is_strict);
        }
    }
}

#[test]
fn invalid_unicode_is_an_error() {
    assert!(answer(b"{\"reason\": \"\xff\"}").is_err());
}

#[test]
fn every_key_is_read() {
    let read = output(json!({
        "decision": "ask", "reason": "why", "continue": true, "stopReason": "enough",
        "systemMessage": "for the user", "additionalContext": "for the model",
        "updatedInput": {"command": "ls -l", "n": 1},
    }));
    let expected = HookOutput {
        decision: Some(Decision::Ask),
        reason: Some("why".to_owned()),
        stops_turn: false,
        stop_reason: Some("enough".to_owned()),
        system_message: Some("for the user".to_owned()),
        additional_context: Some("for the model".to_owned()),
        updated_input: json!({"command": "ls -l", "n": 1}).as_object().cloned(),
        ..HookOutput::default()
    };
    assert_eq!(read, expected);
    assert_eq!(output("{}"), HookOutput::default());
}

#[test]
fn null_blank_and_unknown_keys_say_nothing() {
    for answer in [
        json!({"decision": null, "reason": null, "continue": null, "updatedInput": null}),
        json!({"reason": " ", "stopReason": "", "systemMessage": "\n", "additionalContext": ""}),
        json!({"hookSpecificOutput": null}),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": null}}),
        json!({"suppressOutput": true, "type": "tool:pre_execute", "data": {"decision": "block"}}),
    ] {
        assert_eq!(output(&answer), HookOutput::default(), "{answer}");
    }
}

/// The others are in `tests/it/golden/fire.txt`.
#[test]
fn of_two_decisions_the_stricter_is_read() {
    let read = output(json!({"permissionDecision": "deny"}));
    assert_eq!(read.decision, Some(Decision::Block));
    let specific = json!({"permissionDecision": "ask"});
    let read = output(json!({"decision": "approve", "hookSpecificOutput": specific}));
    assert_eq!(read.decision, Some(Decision::Ask));
}

#[test]
fn keys_in_both_places_are_combined() {
    let read = output(json!({
        "decision": "approve", "reason": "outer", "additionalContext": "one",
        "updatedInput": {"a": 1, "b": 1},
        "hookSpecificOutput": {
            "permissionDecision": "deny", "permissionDecisionReason": "inner",
            "additionalContext": "two", "updatedInput": {"b": 2},
        },
    }));
    assert_eq!(read.reason.as_deref(), Some("inner"));
    assert_eq!(read.additional_context.as_deref(), Some("one\ntwo"));
    assert_eq!(json!(read.updated_input), json!({"a": 1, "b": 2}));
    let read =
        output(json!({"reason": "outer", "hookSpecificOutput": {"permissionDecision": "deny"}}));
    assert_eq!(read.reason.as_deref(), Some("outer"));
}

#[test]
fn an_invalid_answer_is_explained() {
    for (text, why) in [
        (
            r#"{"decision": "block""#,
            "`}` is missing (line 1, column 20)",
        ),
        ("{\"reason\":\n", "a value is missing (line 2)"),
        (
            r#"{"decision": "blok"}"#,
            "unknown decision `blok`, expected `allow`, `block` or `ask` (line 1, column 20)",
        ),
        (r#"{"decision": "Block"}"#, "unknown decision `Block`"),
        (
            r#"{"decision": true}"#,
            "`decision`: expected a string, found true or false",
        ),
        (
            r#"{"decision": "block", "decision": "allow"}"#,
            "`decision` occurs twice (line 1, column ",
        ),
        (
            r#"{"decision": "allow", "permissionDecision": "deny"}"#,
            "`decision` occurs twice",
        ),
        (
            r#"{"continue": "false"}"#,
            "`continue`: expected true or false, found a string",
        ),
        (
            r#"{"updatedInput": ["ls"]}"#,
            "`updatedInput`: expected an object, found a list (line 1, column ",
        ),
        (
            r#"{"reason": 1}"#,
            "`reason`: expected a string, found a number",
        ),
        (
            r#"{"hookSpecificOutput": {"additionalContext": []}}"#,
            "`additionalContext`: expected a string, found a list",
        ),
        (
            r#"{"hookSpecificOutput": {"permissionDecision": "never"}}"#,
            "unknown decision `never`",
        ),
        (
            "{\"decision\": \"allow\"}\n{\"decision\": \"block\"}\n",
            "found text after the object (line 2, column 1)",
        ),
        ("{\"decision\": \"allow\"} done", "text after the object"),
        ("{decision: 'block'}", "expected a key in double quotes"),
    ] {
        let Err(error) = answer(text.as_bytes()) else {
            panic!("{text} was read");
        };
        assert!(error.to_string().contains(why), "{text}: {error}");
    }
    let (open, close) = ("{\"a\":".repeat(10_000), "}".repeat(10_000));
    let deep = format!("{{\"updatedInput\": {open}1{close}}}");
    assert!(answer(deep.as_bytes()).is_err());
}

#[test]
fn debug_shows_keys_but_no_text() {
    let read = output(json!({
        "decision": "block", "reason": "hunter2", "updatedInput": {"command": "hunter2"},
    }));
    let shown = format!("{read:?}");
    let expected = shown.contains("Block") && shown.contains("command");
    assert!(expected && !shown.contains("hunter2"), "{shown}");
}
