//! How each tool reads the end of a hook, where `tests/it/golden/fire.txt` does not say so.

use proptest::prelude::*;
use serde_json::Value;

use super::ending::{self, Strictness};
use super::tool::{Event, Tool};
use super::{CLAUDE, CODEX, GEMINI, TOOLS};
use crate::hook::End;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// For every event of every tool, and any exit code.
    #[test]
    fn whatever_a_hook_writes_is_read(
        key in "continue|decision|reason|hookSpecificOutput|x",
        value in prop_oneof!["null|true|1|\\[\\]|\\{\\}|\"block\"|\"ask\"", ".*"],
        nested in "decision|updatedInput|permissionDecision|tool_input",
        stderr in ".*",
        code in -1..4,
    ) {
        let specific = format!("{{\"hookEventName\": \"PreToolUse\", \"{nested}\": {value}}}");
        let whole = format!("{{\"{key}\": {value}, \"hookSpecificOutput\": {specific}}}");
        for tool in TOOLS {
            for event in tool.event_names().map(|name| tool.event_named(name).unwrap()) {
                for stdout in [&whole, &specific, &value] {
                    let said = read(tool, &event, (code, stdout, &stderr));
                    let blocks = said.starts_with("block");
                    let may_block = !matches!(event.name, "PostToolUse" | "SessionStart" | "AfterTool");
                    prop_assert!(may_block || !blocks, "{tool} {} {stdout}: {said}", event.name);
                }
            }
        }
    }
}

/// A summary: `block: why`, then the other parts.
fn read(tool: &Tool, event: &Event, ended: (i32, &str, &str)) -> String {
    let (code, stdout, stderr) = ended;
    let signalled = Some(code).filter(|code| *code >= 0);
    let end = End::new(signalled, (stdout, stdout.as_bytes()), stderr, None);
    let answer = ending::read(tool, event, Strictness::Lenient, &end);
    let output = answer.output.unwrap_or_default();
    let mut parts = Vec::new();
    if let Some(decision) = output.decision {
        let reason = output.reason.map(|reason| format!(": {reason}"));
        parts.push(format!("{decision}{}", reason.unwrap_or_default()));
    }
    if output.stops_turn {
        let how = if output.only_stops {
            "stop"
        } else {
            "stop and deny"
        };
        parts.push(format!("{how}: {}", output.stop_reason.unwrap_or_default()));
    }
    let texts = [
        ("context", output.additional_context),
        ("feedback", output.feedback),
        ("message", output.system_message),
        ("unusable", answer.invalid),
    ];
    for (name, text) in texts {
        parts.extend(text.map(|text| format!("{name}: {text}")));
    }
    if let Some(input) = output.updated_input {
        let how = if output.replaces_input {
            "input"
        } else {
            "merged input"
        };
        parts.push(format!("{how}: {}", Value::Object(input)));
    }
    parts.extend(output.updated_output.map(|it| format!("output: {it}")));
    if !answer.replaces_exit_code && code != 0 {
        parts.push(format!("failed {code}"));
    }
    if !answer.notes.is_empty() {
        parts.push("diagnostic".to_owned());
    }
    parts.join("; ")
}

#[track_caller]
fn rows(tool: &Tool, rows: &[(&str, (i32, &str, &str), &str)]) {
    for (event, ended, expected) in rows {
        let kind = tool.event_named(event).unwrap();
        assert_eq!(read(tool, &kind, *ended), *expected, "{event} {ended:?}");
    }
}

#[test]
fn ends_of_hooks_are_read() {
    let pre = |keys: &str| {
        format!(r#"{{"hookSpecificOutput": {{"hookEventName": "PreToolUse", {keys}}}}}"#)
    };
    let input =
        pre(r#""permissionDecision": "allow", "updatedInput": {"a": 1}, "additionalContext": "c""#);
    let nameless = pre(r#""": {"a": 1}"#).replacen('{', r#"{"": 1, "#, 1);
    let mcp =
        r#"{"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedMCPToolOutput": "x"}}"#;
    rows(
        CLAUDE,
        &[
            (
                "PreToolUse",
                (2, "", "python3: can't open file 'x'"),
                "block: python3: can't open file 'x'; diagnostic",
            ),
            (
                "PreToolUse",
                (2, "", "error: Failed to spawn: `x.py`"),
                "block: error: Failed to spawn: `x.py`; diagnostic",
            ),
            ("SessionStart", (0, " tree \n", ""), "context: tree"),
            ("PreToolUse", (0, r#"{"reason": null}"#, ""), ""),
            // As `JSON.stringify` writes half of an emoji.
            (
                "PreToolUse",
                (0, r#"{"decision": "block", "reason": "no \ud83d"}"#, ""),
                "block: no \u{FFFD}",
            ),
            (
                "PreToolUse",
                (
                    0,
                    r#"{"decision": "block", "reason": "\\ud83d \udc4d \ud83d\udc4d"}"#,
                    "",
                ),
                "block: \\ud83d \u{FFFD} \u{1F44D}",
            ),
            (
                "Stop",
                (0, r#"{"continue": "no"}"#, ""),
                "unusable: `continue`: expected true or false, found a string",
            ),
            (
                "PreToolUse",
                (0, r#"{"permissionDecision": "deny"}"#, ""),
                "diagnostic",
            ),
            (
                "PreToolUse",
                (0, &input, ""),
                r#"allow; context: c; input: {"a":1}"#,
            ),
            ("PreToolUse", (2, &input, "no"), "block: no; context: c"),
            ("PreToolUse", (0, &nameless, ""), ""),
            ("PostToolUse", (0, mcp, ""), r#"output: "x""#),
        ],
    );
    let dash = mcp.replace(r#""x""#, r#""x", "-": 1"#);
    let refused = "unusable: `updatedMCPToolOutput` is not supported on PostToolUse";
    rows(
        CODEX,
        &[
            ("PostToolUse", (0, mcp, ""), refused),
            ("PostToolUse", (0, &dash, ""), refused),
        ],
    );
    rows(
        GEMINI,
        &[
            (
                "BeforeTool",
                (0, r#""{\"decision\": \"block\"}""#, ""),
                "block",
            ),
            ("BeforeTool", (2, "", r#"{"decision": "allow"}"#), "allow"),
            (
                "BeforeTool",
                (0, r#"{"hookSpecificOutput": {"tool_input": {"a": 1}}}"#, ""),
                r#"merged input: {"a":1}"#,
            ),
            (
                "BeforeAgent",
                (0, r#"{"continue": false, "reason": "enough"}"#, ""),
                "stop: enough",
            ),
            (
                "BeforeTool",
                (
                    0,
                    r#"{"continue": false, "decision": "deny", "reason": "no"}"#,
                    "",
                ),
                "block: no; stop: no",
            ),
            ("BeforeTool", (0, "[1]", ""), ""),
        ],
    );
}

#[test]
fn keys_that_are_not_applied_are_named() {
    let specific = |keys: &str| format!(r#"{{"hookSpecificOutput": {{{keys}}}}}"#);
    let request = specific(
        r#""hookEventName": "PermissionRequest", "decision": {"behavior": "allow", "updatedPermissions": []}"#,
    );
    let session = specific(r#""hookEventName": "SessionStart", "watchPaths": ["/a"]"#);
    rows(
        CLAUDE,
        &[
            (
                "SessionStart",
                (0, r#"{"sessionTitle": "t"}"#, ""),
                "diagnostic",
            ),
            (
                "SessionStart",
                (0, r#"{"terminalSequence": "x"}"#, ""),
                "diagnostic",
            ),
            ("SessionStart", (0, &session, ""), "diagnostic"),
            ("PermissionRequest", (0, &request, ""), "allow; diagnostic"),
            ("PreToolUse", (0, r#"{"sessionTitle": null}"#, ""), ""),
        ],
    );
    for (event, key) in [
        ("AfterTool", "tailToolCallRequest"),
        ("AfterAgent", "clearContext"),
        ("BeforeModel", "llm_request"),
        ("AfterModel", "llm_response"),
        ("BeforeToolSelection", "toolConfig"),
    ] {
        let value = if key == "clearContext" {
            "true"
        } else {
            r#"{"x": {}}"#
        };
        let answer = specific(&format!(r#""{key}": {value}"#));
        rows(GEMINI, &[(event, (0, &answer, ""), "diagnostic")]);
    }
}
