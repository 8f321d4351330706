//! Tests of reading answers.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::answer::read;
use super::keys::{Field, KEYS, SPECIFIC, Scope, keys_of};
use crate::entry::{Decision, HookOutput};

#[track_caller]
fn output(answer_text: impl ToString) -> HookOutput {
    let text = answer_text.to_string();
    match answer(text.as_bytes()) {
        Ok(output) => output.unwrap_or_default(),
        Err(error) => panic!("{text}: {error}"),
    }
}

/// Returns the answer in an output, if there is one.
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
        decision in prop_oneof![Just(Decision::Allow), Just(Decision::Ask), Just(Decision::Block)],
        texts in proptest::collection::vec(" *[a-z].*", KEYS.len()),
        are_set in proptest::collection::vec(any::<bool>(), KEYS.len()),
    ) {
        let mut output = HookOutput::default();
        let rows = KEYS.iter().zip(texts).zip(are_set);
        for ((key, text), _) in rows.filter(|((key, _), is_set)| *is_set && key.is_in(Scope::Top)) {
            let out = &mut output;
            match key.field {
                Field::Choice(field) => *field(out) = Some(decision),
                Field::Text(field) => *field(out) = Some(text),
                Field::Flag(_, field) => *field(out) = true,
                Field::Object(field) => *field(out) = Some(Map::from_iter([("a".to_owned(), json!([1]))])),
                Field::Any(field) => *field(out) = Some(json!([1, null])),
                Field::Keys(_) => {}
            }
        }
        let text = serde_json::to_vec(&output).unwrap();
        prop_assert_eq!(answer(&text).unwrap(), Some(output));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut output = b"{".to_vec();
        output.extend(bytes);
        let gap = output.len() / 2;
        for (gap, is_strict) in [(None, false), (Some(gap), false), (None, true)] {
            let _ = read(&output, gap, is_strict);
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
        "updatedInput": {"command": "ls -l", "n": 1}, "updatedOutput": [1], "feedback": "f",
        "onlyStops": true, "replacesInput": true,
    }));
    let expected = HookOutput {
        decision: Some(Decision::Ask),
        reason: Some("why".to_owned()),
        stop_reason: Some("enough".to_owned()),
        system_message: Some("for the user".to_owned()),
        additional_context: Some("for the model".to_owned()),
        updated_input: json!({"command": "ls -l", "n": 1}).as_object().cloned(),
        updated_output: Some(json!([1])),
        feedback: Some("f".to_owned()),
        only_stops: true,
        replaces_input: true,
        ..HookOutput::default()
    };
    assert_eq!(read, expected);
    assert_eq!(output("{}"), HookOutput::default());
}

/// This test fails if a key is not read in one of its scopes.
#[test]
fn a_key_says_the_same_in_each_place() {
    for key in &KEYS {
        for scope in key.scopes {
            let mut expected = HookOutput::default();
            let value = match key.field {
                Field::Choice(field) => json!(*field(&mut expected).insert(Decision::Block)),
                Field::Text(field) => json!(field(&mut expected).insert("t".to_owned())),
                Field::Flag(effective, field) => {
                    *field(&mut expected) = true;
                    json!(effective)
                }
                Field::Object(field) => {
                    let object = Map::from_iter([("a".to_owned(), json!(1))]);
                    json!(field(&mut expected).insert(object))
                }
                Field::Any(field) => field(&mut expected).insert(json!([1])).clone(),
                Field::Keys(_) => continue,
            };
            let mut keys = json!({key.name: value});
            if *scope == Scope::Request {
                keys["behavior"] = json!("deny");
                expected.decision = Some(Decision::Block);
            }
            let answer = match scope {
                Scope::Top => keys,
                Scope::Specific => json!({SPECIFIC: keys}),
                Scope::Request => json!({SPECIFIC: {"decision": keys}}),
            };
            assert!(output(&answer) == expected, "{answer}");
        }
    }
}

#[test]
fn null_blank_and_unknown_keys_say_nothing() {
    for answer in [
        json!({"decision": null, "reason": null, "continue": null, "updatedInput": null}),
        json!({"reason": " ", "stopReason": "", "systemMessage": "\n", "additionalContext": ""}),
        json!({"hookSpecificOutput": null}),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": null}}),
        json!({"suppressOutput": true, "type": "tool:pre_execute", "data": {"decision": "blocked"}}),
    ] {
        assert_eq!(output(&answer), HookOutput::default(), "{answer}");
    }
}

/// Other cases of two decisions are in `tests/it/golden/fire.txt`.
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
fn claude_codes_answer_to_a_request_is_a_decision() {
    let request = |decision| json!({"hookSpecificOutput": {"decision": decision}});
    let denied = output(request(
        json!({"behavior": "deny", "message": "no", "interrupt": true}),
    ));
    assert_eq!(denied.decision, Some(Decision::Block));
    assert!(denied.stops_turn && denied.reason.as_deref() == Some("no"));
    let changed = json!({"behavior": "allow", "updatedInput": {"command": "ls"}});
    let allowed = output(request(changed));
    assert_eq!(allowed.decision, Some(Decision::Allow));
    assert_eq!(json!(allowed.updated_input), json!({"command": "ls"}));
}

/// This test fails if the page lacks a key.
#[test]
fn each_key_is_on_the_page() {
    let page = include_str!("../../docs/protocol.md");
    let (_, rest) = page.split_once("| key | meaning |\n").unwrap();
    let (table, _) = rest.split_once("\n\n").unwrap();
    let (_, rest) = page.split_once("*decide*: ").unwrap();
    let (deciding, _) = rest.split_once('.').unwrap();
    for key in keys_of(Scope::Top) {
        let name = key.name;
        assert!(table.contains(name), "the page lacks {name}");
        let decides = deciding.contains(&format!("`{name}`"));
        assert_eq!(decides, key.decides, "the page: {name}");
    }
    for row in table.lines().skip(1) {
        let name = row.split('`').nth(1).unwrap();
        assert!(KEYS.iter().any(|key| key.name == name), "no key: {name}");
    }
}

#[test]
fn an_invalid_answer_is_explained() {
    for (text, why) in [
        (
            r#"{"decision": "blok"}"#,
            "unknown decision `blok`, expected `allow`, `block` or `ask`",
        ),
        (
            r#"{"decision": "Block"}"#,
            "unknown decision `Block`, expected `allow`, `block` or `ask`",
        ),
        (
            r#"{"decision": true}"#,
            "`decision`: expected a string, found true or false",
        ),
        (
            r#"{"decision": "block", "decision": "allow"}"#,
            "`decision` occurs twice",
        ),
        (
            r#"{"decision": "allow", "permissionDecision": "deny"}"#,
            "`permissionDecision` occurs twice, the first time as another key",
        ),
        (
            r#"{"continue": "false"}"#,
            "`continue`: expected true or false, found a string",
        ),
        (
            r#"{"updatedInput": ["ls"]}"#,
            "`updatedInput`: expected an object, found a list",
        ),
        (
            r#"{"updatedOutput": null}"#,
            "`updatedOutput`: expected a value (an empty output is `\"\"`), found null",
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
            "unknown decision `never`, expected `allow`, `block` or `ask`",
        ),
        (
            r#"{"hookSpecificOutput": {"decision": "block"}}"#,
            "`decision`: expected an object with `behavior`, or `permissionDecision` instead, found a string",
        ),
        (
            r#"{"hookSpecificOutput": {"decision": {}}}"#,
            "`decision` has no `behavior`",
        ),
        (
            r#"{"hookSpecificOutput": {"behavior": "Deny"}}"#,
            "`behavior` is not a known key; did you mean `permissionDecision`?",
        ),
        (
            r#"{"descision": "block"}"#,
            "`descision` is not a known key; did you mean `decision`?",
        ),
        (
            r#"{"result": {"decision": "block"}}"#,
            "`decision` is not read in this place: docs/protocol.md says where it stands",
        ),
    ] {
        assert_eq!(answer(text.as_bytes()), Err(why.to_owned()), "{text}");
    }
    // These values are not decisions, so the names are not typos of keys that decide.
    for text in [
        "{\"decisions\": 3}",
        "{\"descision\": \"maybe\"}",
        "{\"continued\": \"yes\"}",
    ] {
        assert_eq!(answer(text.as_bytes()), Ok(None), "{text}");
    }
    let (open, close) = ("{\"a\":".repeat(10_000), "}".repeat(10_000));
    let deep = format!("{{\"updatedInput\": {open}1{close}}}");
    let why = answer(deep.as_bytes()).unwrap_err();
    assert!(
        why.starts_with("it is nested deeper than 128 levels"),
        "{why}"
    );
}

#[test]
fn debug_shows_keys_but_no_text() {
    let read = output(json!({
        "decision": "block", "reason": "hunter2", "updatedInput": {"command": "hunter2"},
    }));
    let debug = format!("{read:?}");
    let expected = debug.contains("Block") && debug.contains("command");
    assert!(expected && !debug.contains("hunter2"), "{debug}");
}

/// An entry with `answer` has the same keys.
#[test]
fn the_schema_has_the_keys_of_an_answer() {
    let schema: Value = serde_json::from_str(include_str!("../../hooks.schema.json")).unwrap();
    let described = &schema["properties"]["hooks"]["items"]["properties"]["answer"]["properties"];
    let described: BTreeSet<_> = described.as_object().unwrap().keys().collect();
    let keys: Vec<_> = keys_of(Scope::Top).map(|key| key.name.to_owned()).collect();
    assert_eq!(described, keys.iter().collect());
}
