//! Tests of output as hooks write it: answers, text, and answers with a mistake.

use proptest::prelude::*;
use proptest::string::string_regex;
use serde_json::{Map, Value, json};

use super::answer::{ParsedOutput, read};
use crate::events::{EventType, HookEvent};
use crate::growth::{assert_linear, assert_reads_in_linear_time};
use crate::thorough::random_cases;

/// Describes the reading of an output: the answer, `text`, a note on text, or `invalid: why`.
fn describe(output: &[u8], gap: Option<usize>) -> String {
    match read(output, gap, false) {
        Ok(ParsedOutput {
            output: Some(output),
            ..
        }) => serde_json::to_string(&output).unwrap(),
        Ok(answer) => answer
            .warnings
            .into_iter()
            .chain(answer.notes)
            .next()
            .unwrap_or("text".to_owned()),
        Err(why) => format!("invalid: {why}"),
    }
}

fn is_text(output: &str) -> bool {
    let description = describe(output.as_bytes(), None);
    !description.starts_with("invalid") && !description.starts_with('{')
}

/// Returns outputs that deny and are not answers.
fn denials() -> impl Iterator<Item = String> {
    let rows = include_str!("denials.txt").lines();
    rows.filter(|row| !row.starts_with('#')).map(|row| {
        row.replace('⏎', "\n")
            .replace('␍', "\r")
            .replace('⇥', "\t")
            .replace('␛', "\u{1B}")
            .replace('␀', "\0")
            .replace('⌂', "\u{FEFF}")
    })
}

/// Returns outputs of programs, each with its name before it.
fn logs() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = include_str!("logs.txt").split("=== ").skip(1);
    rows.map(|row| row.split_once('\n').unwrap())
}

#[test]
fn no_denial_on_lines_of_its_own_passes() {
    let mut tried = 0;
    for denial in denials() {
        for output in [
            denial.clone(),
            format!("checking\n{denial}"),
            format!("{denial}\ndone\n"),
            format!("checking\n{denial}\ndone\n"),
            format!("checking\r\n{}\r\n", denial.replace('\n', "\r\n")),
            format!("checking\n  {}\n", denial.replace('\n', "\n  ")),
            format!(" 50%\r100%\r{denial}"),
            format!("[INFO] {{\"a\": 1}}\n{{\"level\":\"info\"}}\n\n{denial}"),
            format!("fn main() {{\n{denial}\n"),
            format!("{{x}} log\n{denial}\n"),
            format!("log\n{{\n\"a\": 1\n}}\n{denial}\n"),
        ] {
            let description = describe(output.as_bytes(), None);
            assert!(
                description.starts_with("invalid: "),
                "{output:?}: {description}"
            );
            tried += 1;
        }
    }
    assert!(tried > 300);
}

/// Outputs that decide nothing.
const MORE_LOGS: [&str; 41] = [
    "all good",
    "null",
    "[1, 2, 3]",
    "\"{}\"",
    "\"a string\"\n",
    "[{\"note\": 1}]",
    "[INFO] 2026-11-22 10:00:00 guard started\n",
    "\u{1b}[32m✓\u{1b}[0m lint passed\n",
    "  0% [          ]\r 50% [=====     ]\r100% [==========]\r\n",
    "{\"level\":\"info\",\"msg\":\"checking\",\"time\":1}\n{\"level\":\"warn\",\"msg\":\"{x}\"}\n",
    "{\"level\":\"info\",\"reason\":\"cache\"}\n{\"a\":{\"reason\":\"block\"}}\n",
    "started\n{\"level\":\"info\",\"msg\":\"a, decision: allowed\"}\nended\n",
    "log\n{\"status\":\"ok\",\"continued\":true}",
    "npm warn deprecated inflight@1.0.6: This module is not supported\n",
    "fn main() { call!(\"{}\", 1); }\n",
    "function f() { return {a: 1}; }\n",
    "if (x) { y(); } else { z(); }\n",
    "for x in y { if x { continue; } }\n",
    "int main()\n{\n    if (x) { continue; }\n}\n",
    "awk '{print $1}' file\n",
    "${HOME}/bin and ${x:-{y}}\n",
    "set: {1, 2, 3}\n",
    "dict: {'tool': 'bash', 'n': 1}\n",
    "} catch {\n",
    "}}}\n",
    "fn main() {",
    "+ grep -q sudo\n+ echo no\n",
    "KeyError: 'decision'\n",
    "-{\"decision\": \"allow\"}\n+{\"decision\": \"block\"}\n",
    "decision: block\nreason: yaml\n",
    "the decision is \"block\", and we continue: no\n",
    "usage: guard [--decision block] [--continue]\n",
    "unmatched `{` in x\nAfter review, decision: allowed",
    "key=\"decision\" value=\"block\"\n",
    "größe {道具} 🎉\n",
    "ok 1 - test {\"x\n",
    "not json: {\"x\": 1,}\n",
    "warning: unused `{`\n",
    "int main()\n{\n",
    "bash: {\"command\":\"x\",\"decision\":\"allow\"}\n",
    "bash: {\"command\":\"echo '{\\\"decision\\\":\\\"block\\\"}'\"}\nread: {\"path\":\"a\"}\n",
];

#[test]
fn what_ordinary_hooks_write_is_text() {
    for (name, log) in logs() {
        let description = describe(log.as_bytes(), None);
        assert!(
            !description.starts_with("invalid") && !description.starts_with("{\""),
            "{name}: {description}"
        );
    }
    for log in MORE_LOGS {
        assert!(is_text(log), "{log:?}: {}", describe(log.as_bytes(), None));
    }
}

/// Arguments of a tool by which a model writes code, JSON or the page about answers.
#[test]
fn a_logger_of_arguments_writes_text() {
    for content in [
        include_str!("../../docs/protocol.md"),
        include_str!("answer.rs"),
        "{\n  \"decision\": \"block\"\n}\n",
        "answer = {'decision': 'block', 'continue': False}\nprint(answer)\n",
        "{\"decision\":\"allow\"}",
    ] {
        let args = json!({"path": "a", "content": content});
        for log in [
            format!("write: {args}\n"),
            format!("[10:00] write {args}\n[10:01] done\n"),
            format!("{}\n", json!({"level": "info", "args": args})),
            format!("{args}\n"),
        ] {
            assert!(is_text(&log), "{log}: {}", describe(log.as_bytes(), None));
        }
    }
}

#[test]
fn each_built_in_event_is_text() {
    for event_type in EventType::BUILTIN {
        let mut event = HookEvent::new(event_type.clone());
        event = event.with_tool_name("bash");
        event.data = json!({
            "tool_args": {"command": "echo '{\"decision\": \"allow\"}'"}, "tool_result": "{\"a\": 1}",
            "content": "continue: {\"decision\": \"block\"}", "error": "no", "stop_hook_active": false,
        })
        .as_object()
        .unwrap()
        .clone();
        let value: Value = serde_json::from_str(&event.to_json()).unwrap();
        for log in [
            event.to_json(),
            format!("{value:#}"),
            format!("{event_type} {value}\n"),
        ] {
            assert!(is_text(&log), "{log}: {}", describe(log.as_bytes(), None));
        }
    }
}

#[test]
fn a_mistake_is_explained() {
    const ALL: &str = ": an answer must be all that a hook writes to its standard output; write logs to standard error";
    for (output, why) in [
        (
            "{\n\"reason\": \"no\"\n\"decision\": \"block\"\n}",
            "expected `,` or `}` (line 3, column 1)",
        ),
        ("{\"decision\": \"bl", "`\"` is missing (line 1, column 16)"),
        ("{\"reason\":\n", "a value is missing (line 2)"),
        (
            "{ // guard\n \"decision\": \"block\" }",
            "expected a key in double quotes (line 1, column 3)",
        ),
        (
            "{'decision': 'block'}",
            "expected a key in double quotes (line 1, column 2)",
        ),
        (
            "{ echo hello; }",
            "expected a key in double quotes (line 1, column 3)",
        ),
        ("{\"\u{FFFD}\": 1", "`}` is missing (line 1, column 9)"),
        (
            "{\"note\": 1} done",
            &format!("found text after the object (line 1, column 13){ALL}"),
        ),
        (
            "one\n {\"decision\": \"block\"}\n  two",
            &format!("found `decision` (line 2, column 1){ALL}"),
        ),
        (
            "{\"note\": 1}\n{\"decision\": \"block\"}",
            &format!("found `decision` (line 2, column 1){ALL}"),
        ),
        (
            "one\n{\n  reason: no, decision: 'block'\n}",
            &format!("found `decision` (line 3, column 15){ALL}"),
        ),
        (
            "one\n'decision' => 'block'\n",
            &format!("found `decision` (line 2, column 2){ALL}"),
        ),
        (
            "\"{\\\"descision\\\":\\\"block\\\"}\"",
            &format!("found `descision` (line 1, column 5){ALL}"),
        ),
        (
            "{\"decision\": \"block\"}\u{1b}[0m",
            "it contains colour codes: write JSON without them",
        ),
        (
            "{\0\"\0c\0o\0n\0t\0i\0n\0u\0e\0\"\0:\0f\0a\0l\0s\0e\0}\0",
            "it contains NUL bytes, as UTF-16 does: write UTF-8",
        ),
    ] {
        assert_eq!(
            describe(output.as_bytes(), None),
            format!("invalid: {why}"),
            "{output:?}"
        );
    }
    let not_utf_8 = describe(b"{\"reason\": \"\xff\"}", None);
    assert_eq!(not_utf_8, "invalid: it is not UTF-8");
    for output in [
        "log\n[{\"additionalContext\": \"c\"}]\n",
        "read {\"decision\": \"block\"}",
        "{\"a\": 1}\n{\"systemMessage\": \"m\"}",
    ] {
        let note = describe(output.as_bytes(), None);
        assert!(
            note.starts_with("found `") && note.ends_with(ALL),
            "{output}: {note}"
        );
    }
}

#[test]
fn of_cut_output_nothing_is_an_answer() {
    const CUT: &str = "invalid: it is longer than the part of the output that is kept";
    const NUL: &str = "invalid: it contains NUL bytes, as UTF-16 does: write UTF-8";
    for (head, tail, expected) in [
        ("log\n", "log\n", "text"),
        ("log\n{", "log\n", "text"),
        ("log\n", "log\n{\"decision\": \"block\"}\n", CUT),
        ("{\"decision\": \"block\"}\n", "log\n", CUT),
        ("  {\"decision\": \"block\"", " log\n", CUT),
        ("\u{1b}[1m{\"decision\": \"block\"", " log\n", CUT),
        ("[{\"decision\": \"block\"}", " log\n", CUT),
        ("log", "\"decision\": \"block\"}'\n", CUT),
        ("  ", "  \n", CUT),
        ("", "", CUT),
        ("log", "\n", CUT),
        ("\0\0", "\0\0\0", NUL),
    ] {
        let output = format!("{head}{tail}");
        let description = describe(output.as_bytes(), Some(head.len()));
        assert_eq!(description, expected, "{head:?} {tail:?}");
    }
    let inside = describe(b"log\n{\"decision\": \"block\"}\nlog\nlog\n", Some(26));
    assert!(
        inside.starts_with("invalid: found `decision` (line 2"),
        "{inside}"
    );
}

/// A hook that redacts must not let an output pass that it intended to replace.
#[test]
fn a_redactor_answers_with_known_keys_alone() {
    let strict = |output: &str| read(output.as_bytes(), None, true).is_ok();
    for output in [
        "",
        " \n",
        "{}",
        r#"{"decision": "allow"}"#,
        r#"{"updatedOutput": "", "note": 2}"#,
        r#"{"hookSpecificOutput": {"hookEventName": "x", "updatedOutput": 1}}"#,
    ] {
        assert!(strict(output), "{output}");
    }
    for output in [
        "text",
        "[]",
        "\u{200B}",
        "log\n{\"updatedOutput\": 1}",
        r#"{"updatedOutput": null}"#,
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
fn each_run_is_read_in_linear_time() {
    assert_reads_in_linear_time("output", |output| {
        let _ = describe(output, None);
    });
}

#[test]
fn output_is_read_in_linear_time() {
    for piece in [
        "{\"a\":",
        "{\"",
        "{ ",
        "{'decision' ",
        "\n{decision ",
        "decision\"\"",
        "\u{1b}[",
        "\n[[{",
        "\n{}",
        "a \n",
        "{,descision=x",
        "\"{\\\"",
    ] {
        for begin in ["", "log\n"] {
            let output = |length| begin.to_owned() + &piece.repeat(length / piece.len());
            assert_linear(piece, 32 * 1024, output, |output| {
                let _ = describe(output.as_bytes(), None);
            });
        }
    }
}

/// Makes text that this expression matches. An expression that is a strategy itself would be parsed for each case.
fn matching(expression: &str) -> BoxedStrategy<String> {
    string_regex(expression).unwrap().boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(random_cases(5_000)))]

    /// An output is read as an answer only if it is one JSON object.
    #[test]
    fn an_answer_is_one_object(
        before in matching("( |\n|\u{FEFF}|x|\\{\\}|\\{\"a\":1\\}|\\[|\"|'|,|#){0,2}"),
        object in prop_oneof![
            Just("{\"decision\":\"block\"}"), Just("{\"decision\": \"allow\", \"reason\": \"r\"}"), Just("{}"),
            Just("{\"systemMessage\":\"m\"}"), Just("{\"a\":1}"), Just("{\"continue\":false"), Just("")
        ],
        after in matching("( |\n|\u{FEFF}|x|\\{\\}|\\{\"a\":1\\}|\\]|\"|'|,|\\}|#){0,2}"),
    ) {
        let output = format!("{before}{object}{after}");
        let is_blank = |text: &str| text.chars().all(|c| c.is_whitespace() || c == '\u{FEFF}');
        let parsed = read(output.as_bytes(), None, false);
        let is_answer = parsed.is_ok_and(|parsed| parsed.output.is_some());
        let trimmed = output.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}');
        let is_object = serde_json::from_str::<Map<String, Value>>(trimmed).is_ok();
        prop_assert!(!is_answer || is_object, "{}", output);
        if is_blank(&before) && is_blank(&after) && object.ends_with('}') && object != "{\"a\":1}" {
            prop_assert!(is_answer, "{}", output);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// A block on lines of its own is never overlooked, independent of the text around it.
    #[test]
    fn a_block_never_passes(
        before in "([^{}]|\\{ |\\} ?|\\{\\}|\\{\"a\" ?)*", after in ".*"
    ) {
        let output = format!("{before}\n{{\"decision\":\"block\"}}\n{after}");
        let description = describe(output.as_bytes(), None);
        prop_assert!(description == "{\"decision\":\"block\"}" || description.starts_with("invalid"), "{}", description);
    }
}
