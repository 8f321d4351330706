//! Tests of finding answers: outputs as hooks write them.

use std::time::Instant;

use proptest::prelude::*;

use super::answer::{Written, read};
use super::ending::{find, is_blank};

/// What is found in an output, in short: the answer, the first note, `text`, or `invalid: why`.
fn found(output: &[u8], gap: Option<usize>) -> String {
    match read(output, gap, false) {
        Ok(Written {
            output: Some(output),
            ..
        }) => serde_json::to_string(&output).unwrap(),
        Ok(answer) => answer.notes.into_iter().next().unwrap_or("text".to_owned()),
        Err(why) => format!("invalid: {why}"),
    }
}

const NO_KEY: &str = "the object has no key of an answer, and is treated as plain text";

/// Answers, and what is read of them.
const ANSWERS: [(&str, &str); 9] = [
    (
        r#"{"decision":"block","reason":"no"}"#,
        r#"{"decision":"block","reason":"no"}"#,
    ),
    (
        "{\n  \"decision\": \"ask\",\n  \"reason\": \"a {brace} and \\\"quotes\\\"\"\n}\n",
        r#"{"decision":"ask","reason":"a {brace} and \"quotes\""}"#,
    ),
    (
        r#"{"continue":false,"stopReason":"enough"}"#,
        r#"{"stopReason":"enough","continue":false}"#,
    ),
    (
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#,
        r#"{"decision":"block"}"#,
    ),
    (
        r#"{"updatedInput":{"command":"ls","nested":{"decision":"block"}}}"#,
        r#"{"updatedInput":{"command":"ls","nested":{"decision":"block"}}}"#,
    ),
    (
        r#"{"updatedOutput":[{"a":1}]}"#,
        r#"{"updatedOutput":[{"a":1}]}"#,
    ),
    (r#"{"systemMessage":"m"}"#, r#"{"systemMessage":"m"}"#),
    (
        r#"{"additionalContext":"c","other":{"x":[1,2]}}"#,
        r#"{"additionalContext":"c"}"#,
    ),
    ("{}", "{}"),
];

/// What hooks write before their answers, and is no answer alone.
const LOGS: [&str; 41] = [
    "checking\n",
    "checking... ",
    "\n\n\n",
    "[INFO] 2026-11-22 10:00:00 guard started\n",
    "\u{1b}[32m✓\u{1b}[0m lint passed\n",
    "\u{1b}[1m{bold}\u{1b}[0m\n",
    "  0% [          ]\r 50% [=====     ]\r100% [==========]\r\n",
    "{\"level\":\"info\",\"msg\":\"checking\",\"time\":1}\n{\"level\":\"warn\",\"msg\":\"{x}\"}\n",
    "{\"level\":\"info\",\"reason\":\"cache\"} {\"a\":{\"decision\":\"block\"}}\n",
    "npm warn deprecated inflight@1.0.6: This module is not supported\n",
    "> project@1.0.0 lint\n> eslint .\n\n",
    "fn main() { call!(\"{}\", 1); }\n",
    "fn main() {\n    let x = 1;\n}\n",
    "function f() { return {a: 1}; }\n",
    "if (x) { y(); } else { z(); }\n",
    "a { color: red; }\n",
    "awk '{print $1}' file\n",
    "${HOME}/bin and ${x:-{y}}\n",
    "for i in {1..10}; do echo $i; done\n",
    "{{ template }} and {% tag %}\n",
    "set: {1, 2, 3}\n",
    "dict: {'tool': 'bash', 'n': 1}\n",
    "{ echo hello; }\n",
    "} catch {\n",
    "}}}\n",
    "{{{\nx\n",
    "+ grep -q sudo\n+ echo no\n",
    "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nKeyError: 'decision'\n",
    "diff --git a/x b/x\n-{\"a\": 1}\n+{\"a\": 2}\n",
    "decision: block\nreason: yaml\n",
    "the decision is \"block\", and we continue: no\n",
    "usage: guard [--decision block] [--continue]\n",
    "key=\"decision\" value=\"block\"\n",
    "[1, 2, 3]\n[{\"a\": 1}]\n",
    "\"a string\"\n",
    "null\n",
    "größe {道具} 🎉\n",
    "ok 1 - test {\"x\n",
    "not json: {\"x\": }\n",
    "not json: {\"x\": 1,}\n",
    "warning: unused `{`\n",
];

/// What stands after an answer by mistake.
const AFTERTHOUGHTS: [&str; 14] = [
    "done",
    "\ndone\n",
    "\n0",
    " }",
    "]",
    "\u{1b}[0m",
    ",",
    "\n{}",
    "\n{\"a\": 1}",
    "\n{\"decision\":\"allow\"}",
    " {\"decision\":\"block\"}",
    "\n+ exit 0",
    "\n```",
    ";",
];

/// Characters after an answer that do not count.
const UNSEEN: [&str; 5] = ["", "\n", " \r\n\t\n", "\u{FEFF}\u{200B}", "\0\u{1b}"];

#[test]
fn text_before_an_answer_is_a_log() {
    for (answer, expected) in ANSWERS {
        for log in LOGS.iter().chain(&UNSEEN) {
            for after in UNSEEN {
                let output = format!("{log}{answer}{after}");
                assert_eq!(found(output.as_bytes(), None), expected, "{output:?}");
            }
        }
    }
}

#[test]
fn text_after_an_answer_is_invalid() {
    for (answer, _) in &ANSWERS[..6] {
        for after in AFTERTHOUGHTS {
            for log in ["", "checking\n", "{\"level\":\"info\"}\n"] {
                let output = format!("{log}{answer}{after}");
                let found = found(output.as_bytes(), None);
                assert!(
                    found.starts_with("invalid: found text after the object (line "),
                    "{output:?}: {found}"
                );
            }
        }
    }
    let found = found(b"one\n {\"decision\": \"block\"}\n  two", None);
    assert_eq!(
        found,
        "invalid: found text after the object (line 3, column 3): an answer is the end of the output"
    );
}

#[test]
fn logs_alone_are_text() {
    // What begins with a brace and is no object may be meant as one.
    for log in LOGS
        .iter()
        .filter(|log| !log.starts_with("{ ") && !log.starts_with("{{"))
    {
        let found = found(log.as_bytes(), None);
        let is_text = found == "text" || found == NO_KEY;
        assert!(is_text, "{log:?}: {found}");
    }
    for (output, expected) in [
        ("", "text"),
        ("\u{FEFF} \n", "text"),
        ("all good", "text"),
        ("{\"note\": 1}", NO_KEY),
        ("log\n{\"level\": \"info\", \"msg\": \"x\"}\n", "text"),
        ("{\"suppressOutput\": true}", NO_KEY),
        (
            "{\"additionalContex\": \"c\"}",
            "`additionalContex` is not a known key; did you mean `additionalContext`?",
        ),
        ("[{\"note\": 1}]", "text"),
        ("{\"systemMessage\": \"m\"} and more", "text"),
        ("}", "text"),
        ("fn main() {", "text"),
        ("int main()\n{\n", "text"),
        ("pattern was {\"", "text"),
        (
            "unmatched `{` in x\nAfter review, decision: allowed",
            "text",
        ),
        ("+  return { continue: true };", "text"),
        ("for x in y { if x { continue; } }\n", "text"),
        ("log\n{\"level\":\"error\",\"reason\":{\"code\":1}}", "text"),
        ("log\n{\"status\":\"ok\",\"continued\":true}", "text"),
        ("a\0{x}\0b{\"y\"\0 and more text", "text"),
    ] {
        assert_eq!(found(output.as_bytes(), None), expected, "{output:?}");
    }
}

#[test]
fn malformed_answers_are_invalid() {
    for (output, why) in [
        (
            "{\n\"reason\": \"no\"\n\"decision\": \"block\"\n}",
            "expected `,` or `}` (line 3",
        ),
        (
            "log\n{\n\"reason\": \"no\"\n\"decision\": \"block\"\n}",
            "`decision` is not within a whole JSON object (line 4, column 2)",
        ),
        (
            "log\n{\"meta\":{\"a\":1,},\"decision\":\"block\"}",
            "`decision` is not within a whole JSON object",
        ),
        (
            "{\"reason\":\"blocked: sed s/\\}/x/\",\"decision\":\"block\"}",
            "invalid escape (line 1",
        ),
        (
            "{ // guard\n \"decision\": \"block\" }",
            "expected a key in double quotes",
        ),
        (
            "\u{1b}[1;39m{\u{1b}[0m\u{1b}[34;1m\"decision\"\u{1b}[0m\u{1b}[1;39m:\u{1b}[0m\u{1b}[0;32m\"block\"\u{1b}[0m\u{1b}[1;39m}\u{1b}[0m\n",
            "it contains colour codes",
        ),
        (
            "log {:decision=>\"block\"}",
            "`decision` is not within a whole JSON object",
        ),
        (
            "\"{\\\"decision\\\":\\\"block\\\"}\"",
            "`decision` is not within a whole JSON object",
        ),
        ("{\"Decision\":\"Block\"}", "did you mean `decision`?"),
        (
            "{\"permission_decision\":\"deny\"}",
            "did you mean `permissionDecision`?",
        ),
        (
            "{\"hookSpecificOutput\":{\"decision\":\"block\"}}",
            "`hookSpecificOutput.decision` is not a known key",
        ),
        ("{", "`}` is missing (line 1, column 1)"),
        ("{\"decision\": \"bl", "`\"` is missing (line 1, column 16)"),
        (
            "log\n{\"decision\": \"block\"",
            "`}` is missing (line 2, column 20)",
        ),
        (
            "{\"decision\": \"block\", \"reason\": \"he said \"no\"\"}",
            "expected `,` or `}` (line 1",
        ),
        (
            "{\"decision\": \"block\",}",
            "expected a key in double quotes (line 1",
        ),
        ("{\"decision\": 'block'}", "expected value (line 1"),
        ("{\"decision\": \"a\nb\"}", "control character"),
        (
            "{'decision': 'block'}",
            "expected a key in double quotes (line 1, column 2)",
        ),
        (
            "log\n{'tool': 'bash', 'decision': 'block'}\n",
            "`decision` is not within a whole JSON object (line 2, column 19)",
        ),
        (
            "{\n  reason: 'no',\n  decision: 'block'\n}\n",
            "expected a key in double quotes (line 2",
        ),
        (
            r#"{\"decision\": \"block\"}"#,
            "expected a key in double quotes",
        ),
        ("{decision=block}", "expected a key in double quotes"),
        (
            "{\"a\": bad, \"b\": {\"decision\": \"allow\"}}",
            "found text after the object",
        ),
        (
            "[{\"decision\": \"block\"}]",
            "found text after the object (line 1, column 23)",
        ),
        (
            "log\n\n{\"decision\": \"blok\"}",
            "unknown decision `blok`, expected `allow`, `block` or `ask` (line 3",
        ),
        (
            "{\"descision\": \"block\"}",
            "`descision` is not a known key; did you mean `decision`?",
        ),
        ("{\"continu\": false}", "did you mean `continue`?"),
        (
            "{\"descision\": \"block\"}\ndone",
            "found text after the object (line 2, column 1)",
        ),
    ] {
        let found = found(output.as_bytes(), None);
        let is_meant = found.starts_with("invalid: ") && found.contains(why);
        assert!(is_meant, "{output:?}: {found}");
    }
    // Not the value of a decision.
    for output in [
        "{\"decisions\": 3}",
        "{\"descision\": \"maybe\"}",
        "{\"continued\": \"yes\"}",
    ] {
        let found = found(output.as_bytes(), None);
        assert!(!found.starts_with("invalid"), "{output}");
    }
}

#[test]
fn utf_16_is_invalid() {
    let utf_16 = |text: &str, little: bool| -> Vec<u8> {
        let units = text.encode_utf16();
        units
            .flat_map(|unit| {
                if little {
                    unit.to_le_bytes()
                } else {
                    unit.to_be_bytes()
                }
            })
            .collect()
    };
    for text in [
        "{}",
        "{\"decision\":\"block\"}",
        "\u{FEFF}log\r\n{\"decision\":\"block\"}\r\n",
        "{\"decision\":\"bl",
    ] {
        for little in [true, false] {
            let found = found(&utf_16(text, little), None);
            assert_eq!(found, "invalid: it is UTF-16, expected UTF-8", "{text}");
        }
    }
    assert_eq!(found(&utf_16("checked", true), None), "text");
    assert_eq!(
        found(b"\0\0{\"decision\":\"block\"}\0", None),
        r#"{"decision":"block"}"#
    );
    assert_eq!(found(b"\x7fELF\0\0{\0}", None), "text");
    assert_eq!(
        found(b"{\"\xff\": 1}", None),
        "invalid: found text that is not UTF-8 in the object (line 1, column 1)"
    );
    let zeros = [&[0; 100][..], b"\n{\"decision\":\"block\"}"].concat();
    assert_eq!(found(&zeros, None), r#"{"decision":"block"}"#);
}

#[test]
fn of_cut_output_the_end_is_read() {
    const CUT: &str = "invalid: it is longer than the part of the output that is kept";
    const BLOCK: &str = r#"{"decision":"block"}"#;
    for (head, tail, expected) in [
        ("log\n", "log\n{\"decision\": \"block\"}\n", BLOCK),
        (
            "{\"level\": 1}\n{\"level\": ",
            "2}\n{\"decision\": \"block\"}\n",
            BLOCK,
        ),
        ("log\n", "log\n", "text"),
        ("log\n{", "log\n", "text"),
        ("\0\0", "\0\0\0", "text"),
        ("{\"decision\": \"block\"}\n", "log\n", CUT),
        ("{\"decision\": \"block\"}\n", "\n\n", CUT),
        ("{\"decision\": \"block\"} log\n", "log\n", CUT),
        ("{\"decision\": \"block\", \"reason\": \"", "xxx\"}", CUT),
        ("{\"reason\": \"", "xxx\", \"decision\": \"block\"}", CUT),
        ("{\"updatedInput\": [", "{\"decision\": \"allow\"}", CUT),
        ("log", "{\"a\": {\"b\": 1}}}", CUT),
        ("{\"log\":[\"x", "x\"],\"decision\":\"block\"}\ndone", CUT),
        (
            "{\"log\":[\"x",
            "x\"],\"decision\":\"block\"}\n{\"level\": 1}",
            CUT,
        ),
        ("  ", "  \n", CUT),
        ("", "", CUT),
        ("log", "\n", CUT),
    ] {
        let output = format!("{head}{tail}");
        let found = found(output.as_bytes(), Some(head.len()));
        assert_eq!(found, expected, "{head:?} {tail:?}");
    }
}

/// A hook that redacts must not let an output pass that it meant to replace.
#[test]
fn a_redactor_answers_with_known_keys_alone() {
    let strict = |output: &str| read(output.as_bytes(), None, true).is_ok();
    for output in [
        "",
        "{}",
        r#"{"decision": "allow"}"#,
        r#"{"updatedOutput": 1, "note": 2}"#,
        r#"{"hookSpecificOutput": {"hookEventName": "x", "updatedOutput": 1}}"#,
    ] {
        assert!(strict(output), "{output}");
    }
    for output in [
        "text",
        "log\n{\"updatedOutput\": 1}",
        r#"{"note": 1}"#,
        r#"{"reason": "masked", "output": 1}"#,
        r#"{"decision": "allow", "tool_result": 1}"#,
        r#"{"hookSpecificOutput": {"updatedMCPToolOutput": 1}}"#,
        r#"{"updatedoutput": 1}"#,
    ] {
        assert!(!strict(output), "{output}");
    }
}

#[test]
fn the_search_takes_linear_time() {
    let search = |length: usize| {
        let start = Instant::now();
        for piece in ["{\"a\":", "{\"", "{ ", "{'decision' "] {
            let output = piece.repeat(length / piece.len());
            let _ = find(output.as_bytes(), None);
        }
        start.elapsed()
    };
    // At the smaller one, as much is tried as may be.
    let [small, large] = [search(16 * 1024), search(64 * 1024)];
    // Where the time grew with the square, it would be 16 times as long.
    assert!(large < 10 * small, "{small:?}, {large:?}");
    let log = "{\n \"level\": \"info\",\n \"tags\": [1, {\"a\": {}}]\n}".repeat(1_000);
    let output = format!("{log}\n{{\"decision\":\"block\"}}");
    let answer = "{\"decision\":\"block\"}";
    assert_eq!(found(output.as_bytes(), None), answer);
}

#[test]
fn unseen_characters_are_blank() {
    for (text, expected) in [
        (&b""[..], true),
        (b" \t\r\n\x0B\x0C\0\x1B\x7F", true),
        (
            "\u{FEFF}\u{A0}\u{85}\u{2028}\u{3000}\u{200B}\u{AD}\u{FE0F}\u{202E}\u{E0041}"
                .as_bytes(),
            true,
        ),
        (b"\xFF\xFE \xFE\xFF", true),
        (b" a", false),
        (b" \x80", false),
        (b"\xEF\xBB", false),
    ] {
        assert_eq!(is_blank(text), expected, "{text:?}");
    }
}

proptest! {
    #[test]
    fn an_answer_after_any_line_is_read(log in "[^{}]*") {
        let output = format!("{log}\n{{\"decision\":\"block\"}}\n");
        prop_assert_eq!(found(output.as_bytes(), None), "{\"decision\":\"block\"}");
    }

    /// Whatever stands around a block, it is never overlooked.
    #[test]
    fn a_block_never_passes(before in "([^{}]|\\{ |\\} ?|\\{\\}|\\{\"a\" ?)*", after in ".*") {
        let output = format!("{before}\n{{\"decision\":\"block\"}}{after}");
        let found = found(output.as_bytes(), None);
        prop_assert!(found == "{\"decision\":\"block\"}" || found.starts_with("invalid"), "{}", found);
    }
}
