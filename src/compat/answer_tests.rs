//! Tables of how each tool reads the end of a hook.

use proptest::prelude::*;
use serde_json::Value;

use super::ending::{self, HookEnd, Strictness};
use super::tool::{Event, Tool};
use super::{CLAUDE, CODEX, GEMINI, TOOLS};

proptest! {
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
            for event in (tool.events)() {
                for stdout in [&whole, &specific, &value] {
                    let said = read(tool, event, (code, stdout, &stderr));
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
    let ended = HookEnd {
        code,
        stdout,
        stderr,
    };
    let answer = ending::read(tool, event, Strictness::Lenient, &ended);
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
        assert_eq!(read(tool, kind, *ended), *expected, "{event} {ended:?}");
    }
}

#[test]
fn claude_reads_exit_codes() {
    rows(
        CLAUDE,
        &[
            ("PreToolUse", (0, "", ""), ""),
            ("PreToolUse", (0, "fine", ""), ""),
            ("PreToolUse", (2, "", "no sudo\n"), "block: no sudo"),
            (
                "PreToolUse",
                (2, "out", ""),
                "block: the hook exited with code 2 and gave no reason",
            ),
            ("PreToolUse", (1, "BLOCKED", "no"), "failed 1; diagnostic"),
            (
                "PreToolUse",
                (127, "", "x: not found"),
                "failed 127; diagnostic",
            ),
            (
                "PreToolUse",
                (126, "", "x: denied"),
                "failed 126; diagnostic",
            ),
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
            ("PreToolUse", (-1, "", ""), "failed -1; diagnostic"),
            ("UserPromptSubmit", (2, "", "no"), "block: no"),
            ("Stop", (2, "", "go on"), "block: go on"),
            ("SubagentStop", (2, "", "go on"), "block: go on"),
            ("PreCompact", (2, "", "not now"), "block: not now"),
            ("PostToolUse", (2, "", "lint"), "feedback: lint"),
            ("PostToolUseFailure", (2, "", "hint"), "feedback: hint"),
            ("PermissionRequest", (2, "", "no"), "failed 2"),
            ("SessionStart", (2, "", "no"), "failed 2"),
            ("SessionStart", (0, " tree \n", ""), "context: tree"),
            ("SessionStart", (1, "tree", ""), "failed 1; diagnostic"),
            ("UserPromptSubmit", (0, "today", ""), "context: today"),
            ("PostToolUse", (0, "text", ""), ""),
        ],
    );
}

#[test]
fn claude_reads_json_on_every_exit_code() {
    let deny = r#" {"hookSpecificOutput": {"hookEventName": "PreToolUse",
        "permissionDecision": "deny", "permissionDecisionReason": "why"}}"#;
    let allow = &deny.replace("deny", "allow");
    let request = r#"{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision":
        {"behavior": "deny", "message": "why"}}}"#;
    rows(
        CLAUDE,
        &[
            ("PreToolUse", (0, deny, ""), "block: why"),
            ("PreToolUse", (1, deny, ""), "block: why"),
            ("PreToolUse", (2, deny, "err"), "block: why"),
            ("PreToolUse", (0, allow, ""), "allow: why"),
            ("PreToolUse", (2, allow, "err"), "block: err"),
            (
                "PreToolUse",
                (0, &deny.replace("deny", "ask"), ""),
                "ask: why",
            ),
            (
                "PreToolUse",
                (0, &deny.replace("deny", "defer"), ""),
                "ask: why",
            ),
            (
                "PreToolUse",
                (0, r#"{"decision": "block", "reason": "r"}"#, ""),
                "block: r",
            ),
            (
                "PreToolUse",
                (0, r#"{"decision": "approve", "reason": "r"}"#, ""),
                "allow",
            ),
            ("PermissionRequest", (0, request, ""), "block: why"),
            (
                "PermissionRequest",
                (2, &request.replace("deny", "allow"), "err"),
                "allow",
            ),
            (
                "Stop",
                (0, r#"{"decision": "block", "reason": "go on"}"#, ""),
                "block: go on",
            ),
            (
                "Stop",
                (0, r#"{"continue": false, "stopReason": "enough"}"#, ""),
                "stop and deny: enough",
            ),
            (
                "PostToolUse",
                (0, r#"{"decision": "block", "reason": "r"}"#, ""),
                "feedback: r",
            ),
            (
                "PostToolUse",
                (1, r#"{"systemMessage": "m"}"#, ""),
                "message: m",
            ),
            (
                "SessionEnd",
                (0, r#"{"decision": "block", "reason": "r"}"#, ""),
                "",
            ),
            (
                "PreToolUse",
                (0, r#"{"suppressOutput": true, "x": 1}"#, ""),
                "",
            ),
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
        ],
    );
}

#[test]
fn claude_refuses_what_does_not_fit() {
    let nameless = r#"{"hookSpecificOutput": {"permissionDecision": "deny"}}"#;
    let other = r#"{"hookSpecificOutput": {"hookEventName": "PostToolUse"}}"#;
    rows(
        CLAUDE,
        &[
            (
                "PreToolUse",
                (0, nameless, ""),
                r#"unusable: `hookSpecificOutput` lacks `"hookEventName": "PreToolUse"`"#,
            ),
            ("PreToolUse", (2, nameless, "err"), "block: err; diagnostic"),
            (
                "PreToolUse",
                (0, other, ""),
                "unusable: `hookEventName`: expected `PreToolUse`, found `PostToolUse`",
            ),
            (
                "PreToolUse",
                (0, r#"{"decision": "deny"}"#, ""),
                "unusable: `decision`: expected `approve`, `block`, found `deny`",
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
            ("PreToolUse", (0, "{not json", ""), "diagnostic"),
            (
                "UserPromptSubmit",
                (0, "{not json", ""),
                "context: {not json; diagnostic",
            ),
            (
                "PreToolUse",
                (0, "log\n{\"decision\": \"block\"}", ""),
                "diagnostic",
            ),
        ],
    );
}

#[test]
fn claude_replaces_inputs_and_outputs() {
    let input = r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
        "updatedInput": {"command": "ls"}, "additionalContext": "c"}}"#;
    let nameless =
        r#"{"": 1, "hookSpecificOutput": {"hookEventName": "PreToolUse", "": {"a": 1}}}"#;
    let output = r#"{"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedMCPToolOutput": "x",
        "additionalContext": "c"}}"#;
    rows(
        CLAUDE,
        &[
            (
                "PreToolUse",
                (0, input, ""),
                r#"allow; context: c; input: {"command":"ls"}"#,
            ),
            ("PreToolUse", (2, input, "no"), "block: no; context: c"),
            ("PreToolUse", (0, nameless, ""), ""),
            ("PostToolUse", (0, output, ""), r#"context: c; output: "x""#),
        ],
    );
}

#[test]
fn codex_reads_json_on_exit_code_0_only() {
    let decision = |word: &str| {
        format!(
            r#"{{"hookSpecificOutput": {{"hookEventName": "PreToolUse", "permissionDecision": "{word}",
            "permissionDecisionReason": "why"}}}}"#
        )
    };
    let rewrite = decision("allow").replace("\"why\"", r#""why", "updatedInput": {"a": 1}"#);
    let request = r#"{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision":
        {"behavior": "deny", "message": "why"}}}"#;
    rows(
        CODEX,
        &[
            ("PreToolUse", (0, &decision("deny"), ""), "block: why"),
            (
                "PreToolUse",
                (1, &decision("deny"), ""),
                "failed 1; diagnostic",
            ),
            ("PreToolUse", (2, &decision("deny"), "err"), "block: err"),
            ("PreToolUse", (2, "out", ""), "failed 2; diagnostic"),
            (
                "PreToolUse",
                (0, &decision("ask"), ""),
                "unusable: `ask` is not supported on PreToolUse",
            ),
            (
                "PreToolUse",
                (0, &decision("allow"), ""),
                "unusable: `allow` needs `updatedInput`",
            ),
            (
                "PreToolUse",
                (0, &rewrite, ""),
                r#"allow: why; input: {"a":1}"#,
            ),
            (
                "PreToolUse",
                (0, r#"{"decision": "approve"}"#, ""),
                "unusable: `approve` is not supported on PreToolUse",
            ),
            (
                "PreToolUse",
                (0, r#"{"decision": "block"}"#, ""),
                "unusable: `block` needs `reason`",
            ),
            (
                "PreToolUse",
                (0, r#"{"continue": false}"#, ""),
                "unusable: `continue` is not supported on PreToolUse",
            ),
            (
                "PreToolUse",
                (0, r#"{"x": 1}"#, ""),
                "unusable: unknown key `x`",
            ),
            (
                "PreToolUse",
                (0, "{broken", ""),
                "unusable: it is not one JSON object",
            ),
            ("PreToolUse", (0, "text", ""), ""),
            ("PermissionRequest", (0, request, ""), "block: why"),
            ("PermissionRequest", (2, "", "no"), "block: no"),
            ("PostToolUse", (2, "", "lint"), "feedback: lint"),
            (
                "PostToolUse",
                (0, r#"{"decision": "block", "reason": "r"}"#, ""),
                "feedback: r",
            ),
            (
                "PostToolUse",
                (0, r#"{"continue": false, "stopReason": "enough"}"#, ""),
                "stop: enough; feedback: enough",
            ),
            (
                "UserPromptSubmit",
                (0, r#"{"continue": false, "stopReason": "enough"}"#, ""),
                "stop: enough",
            ),
            ("SessionStart", (0, "text", ""), "context: text"),
            (
                "PostToolUse",
                (0, r#"{"suppressOutput": true}"#, ""),
                "unusable: `suppressOutput` is not supported on PostToolUse",
            ),
            (
                "PostToolUse",
                (
                    0,
                    r#"{"hookSpecificOutput": {"hookEventName": "PostToolUse",
                    "updatedMCPToolOutput": 1}}"#,
                    "",
                ),
                "unusable: `updatedMCPToolOutput` is not supported on PostToolUse",
            ),
            ("SessionStart", (2, "", "no"), "failed 2"),
            (
                "Stop",
                (0, "text", ""),
                "unusable: it is not one JSON object",
            ),
            (
                "Stop",
                (0, r#"{"decision": "block", "reason": "go on"}"#, ""),
                "block: go on",
            ),
            ("Stop", (2, "", "go on"), "block: go on"),
            ("PreToolUse", (1, "", "no"), "failed 1; diagnostic"),
        ],
    );
}

#[test]
fn gemini_reads_json_and_text() {
    let deny = r#"{"decision": "deny", "reason": "why"}"#;
    rows(
        GEMINI,
        &[
            ("BeforeTool", (0, deny, ""), "block: why"),
            ("BeforeTool", (1, deny, ""), "block: why"),
            ("BeforeTool", (0, "", deny), "block: why"),
            (
                "BeforeTool",
                (2, r#"{"decision": "allow"}"#, "err"),
                "allow",
            ),
            ("BeforeTool", (2, "", r#"{"decision": "allow"}"#), "allow"),
            (
                "BeforeTool",
                (0, r#""{\"decision\": \"block\"}""#, ""),
                "block",
            ),
            (
                "BeforeTool",
                (0, r#"{"decision": "ask", "reason": "r"}"#, ""),
                "ask: r",
            ),
            ("BeforeTool", (0, "text", ""), "message: text"),
            (
                "BeforeTool",
                (1, "text", ""),
                "message: Warning: text; failed 1; diagnostic",
            ),
            ("BeforeTool", (2, "", "no"), "block: no"),
            ("BeforeTool", (3, "out", "no"), "block: out"),
            (
                "BeforeTool",
                (127, "", "x: not found"),
                "block: x: not found; diagnostic",
            ),
            ("BeforeTool", (2, "", ""), "failed 2"),
            (
                "BeforeTool",
                (-1, "", "x"),
                "message: Warning: x; failed -1; diagnostic",
            ),
            ("BeforeAgent", (2, "", "no"), "block: no"),
            ("AfterAgent", (0, deny, ""), "block: why"),
            (
                "AfterTool",
                (0, deny, ""),
                r#"feedback: why; output: "why""#,
            ),
            ("AfterTool", (2, "", "no"), r#"feedback: no; output: "no""#),
            ("SessionStart", (0, "text", ""), "message: text"),
            ("SessionStart", (0, deny, ""), ""),
            ("SessionStart", (2, "", "no"), "failed 2"),
            (
                "BeforeAgent",
                (
                    0,
                    r#"{"hookSpecificOutput": {"additionalContext": "c"}}"#,
                    "",
                ),
                "context: c",
            ),
            (
                "BeforeTool",
                (0, r#"{"hookSpecificOutput": {"tool_input": {"a": 1}}}"#, ""),
                r#"merged input: {"a":1}"#,
            ),
            (
                "BeforeModel",
                (0, r#"{"continue": false, "stopReason": "enough"}"#, ""),
                "stop: enough",
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
    let title = r#"{"sessionTitle": "t", "terminalSequence": "x"}"#;
    let request = r#"{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision":
        {"behavior": "allow", "updatedPermissions": []}}}"#;
    let session =
        r#"{"hookSpecificOutput": {"hookEventName": "SessionStart", "watchPaths": ["/a"]}}"#;
    rows(
        CLAUDE,
        &[
            ("SessionStart", (0, title, ""), "diagnostic"),
            ("SessionStart", (0, session, ""), "diagnostic"),
            ("PermissionRequest", (0, request, ""), "allow; diagnostic"),
            ("PreToolUse", (0, r#"{"sessionTitle": null}"#, ""), ""),
        ],
    );
    let tail = r#"{"hookSpecificOutput": {"tailToolCallRequest": {"name": "x", "args": {}}}}"#;
    let clear =
        r#"{"decision": "deny", "reason": "r", "hookSpecificOutput": {"clearContext": true}}"#;
    rows(
        GEMINI,
        &[
            ("AfterTool", (0, tail, ""), "diagnostic"),
            ("AfterAgent", (0, clear, ""), "block: r; diagnostic"),
            (
                "BeforeModel",
                (
                    0,
                    r#"{"hookSpecificOutput": {"llm_request": {"model": "x"}}}"#,
                    "",
                ),
                "diagnostic",
            ),
            (
                "AfterModel",
                (0, r#"{"hookSpecificOutput": {"llm_response": {}}}"#, ""),
                "diagnostic",
            ),
            (
                "BeforeToolSelection",
                (0, r#"{"hookSpecificOutput": {"toolConfig": {}}}"#, ""),
                "diagnostic",
            ),
            (
                "AfterTool",
                (0, r#"{"continue": false, "stopReason": "enough"}"#, ""),
                "stop: enough",
            ),
        ],
    );
}
