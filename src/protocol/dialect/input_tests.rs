//! Tables of each tool's standard input of a hook, and of the events that it is converted to.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::input::{foreign_event, payload};
use crate::events::{HookEvent, HostContext};
use crate::hook::Dialect::{self, Claude, Codex, Gemini};
use crate::hook::{Foreign, dialects};

fn input(dialect: Dialect, name: &str, event: &HookEvent) -> Value {
    let foreign = Foreign::new(dialect, dialects::event(dialect, name).unwrap(), "");
    serde_json::from_slice(&payload(&foreign, event, Path::new("/w"))).unwrap()
}

/// Each event of each tool, with only the event itself.
#[test]
fn an_event_has_every_field_of_its_tool() {
    let args = || json!({"command": "ls"});
    let claude = json!({"session_id": "", "transcript_path": "", "permission_mode": "default",
        "cwd": "/w"});
    let codex = json!({"session_id": "", "transcript_path": null, "permission_mode": "default",
        "cwd": "/w", "model": ""});
    let gemini = json!({"session_id": "", "transcript_path": "", "cwd": "/w",
        "timestamp": "1970-01-01T00:00:00.000Z"});
    let tool = || HookEvent::tool_pre_execute("bash", args());
    let after = || HookEvent::tool_post_execute("bash", args(), "out");
    for (dialect, name, event, own) in [
        (
            Claude,
            "PreToolUse",
            tool(),
            json!({"tool_name": "Bash", "tool_input": args(), "tool_use_id": ""}),
        ),
        (
            Claude,
            "PostToolUse",
            after(),
            json!({"tool_name": "Bash", "tool_input": args(), "tool_use_id": "", "tool_response":
                {"stdout": "out", "stderr": "", "interrupted": false, "isImage": false}}),
        ),
        (
            Claude,
            "PostToolUseFailure",
            HookEvent::tool_error("bash", args(), "e"),
            json!({"tool_name": "Bash", "tool_input": args(), "tool_use_id": "", "error": "e",
                "is_interrupt": false}),
        ),
        (
            Claude,
            "PermissionRequest",
            HookEvent::permission_prompt("write", "execute", None),
            json!({"tool_name": "Write", "tool_input": {}, "perm_level": "execute"}),
        ),
        (
            Claude,
            "UserPromptSubmit",
            HookEvent::user_prompt_submit("hi"),
            json!({"prompt": "hi"}),
        ),
        (
            Claude,
            "SessionStart",
            HookEvent::session_start("s"),
            json!({"session_id": "s", "source": "startup", "model": ""}),
        ),
        (
            Claude,
            "SessionEnd",
            HookEvent::session_end("s"),
            json!({"session_id": "s", "reason": "other"}),
        ),
        (
            Claude,
            "Notification",
            HookEvent::notification_show("m"),
            json!({"message": "m", "notification_type": ""}),
        ),
        (
            Claude,
            "Stop",
            HookEvent::agent_stop(true),
            json!({"stop_hook_active": true, "last_assistant_message": ""}),
        ),
        (
            Claude,
            "SubagentStart",
            HookEvent::agent_subagent_start("Explore"),
            json!({"agent_type": "Explore", "agent_id": ""}),
        ),
        (
            Claude,
            "SubagentStop",
            HookEvent::agent_subagent_stop("Explore", false),
            json!({"agent_type": "Explore", "agent_id": "", "agent_transcript_path": "",
                "stop_hook_active": false, "last_assistant_message": ""}),
        ),
        (
            Claude,
            "PreCompact",
            HookEvent::context_pre_compact("manual"),
            json!({"trigger": "manual", "custom_instructions": ""}),
        ),
        (
            Claude,
            "PostCompact",
            HookEvent::context_post_compact("auto"),
            json!({"trigger": "auto", "compact_summary": ""}),
        ),
        (
            Codex,
            "PreToolUse",
            tool(),
            json!({"tool_name": "Bash", "tool_input": args(), "tool_use_id": "", "turn_id": ""}),
        ),
        (
            Codex,
            "PostToolUse",
            after(),
            json!({"tool_name": "Bash", "tool_input": args(), "tool_use_id": "", "turn_id": "",
                "tool_response": "out"}),
        ),
        (
            Codex,
            "PermissionRequest",
            HookEvent::permission_prompt("bash", "execute", None),
            json!({"tool_name": "Bash", "tool_input": {}, "turn_id": "", "perm_level": "execute"}),
        ),
        (
            Codex,
            "UserPromptSubmit",
            HookEvent::user_prompt_submit("hi"),
            json!({"prompt": "hi", "turn_id": ""}),
        ),
        (
            Codex,
            "SessionStart",
            HookEvent::session_start("s"),
            json!({"session_id": "s", "source": "startup"}),
        ),
        (
            Codex,
            "Stop",
            HookEvent::agent_stop(false),
            json!({"stop_hook_active": false, "last_assistant_message": null, "turn_id": ""}),
        ),
        (
            Codex,
            "SubagentStart",
            HookEvent::agent_subagent_start("x"),
            json!({"agent_type": "x", "agent_id": "", "turn_id": ""}),
        ),
        (
            Codex,
            "SubagentStop",
            HookEvent::agent_subagent_stop("x", true),
            json!({"agent_type": "x", "agent_id": "", "turn_id": "", "stop_hook_active": true,
                "agent_transcript_path": null, "last_assistant_message": null}),
        ),
        (
            Codex,
            "PreCompact",
            HookEvent::context_pre_compact("auto"),
            json!({"trigger": "auto", "turn_id": ""}),
        ),
        (
            Codex,
            "PostCompact",
            HookEvent::context_post_compact("auto"),
            json!({"trigger": "auto", "turn_id": ""}),
        ),
        (
            Gemini,
            "BeforeTool",
            tool(),
            json!({"tool_name": "run_shell_command", "tool_input": args()}),
        ),
        (
            Gemini,
            "AfterTool",
            after(),
            json!({"tool_name": "run_shell_command", "tool_input": args(),
                "tool_response": {"llmContent": "out", "returnDisplay": "out"}}),
        ),
        (
            Gemini,
            "BeforeAgent",
            HookEvent::user_prompt_submit("hi"),
            json!({"prompt": "hi"}),
        ),
        (
            Gemini,
            "AfterAgent",
            HookEvent::agent_stop(false),
            json!({"prompt": "", "prompt_response": "", "stop_hook_active": false}),
        ),
        (
            Gemini,
            "BeforeModel",
            HookEvent::llm_pre_request("m", 2),
            json!({"llm_request": {}, "llm_model": "m", "message_count": 2}),
        ),
        (
            Gemini,
            "AfterModel",
            HookEvent::llm_post_response("m", 3),
            json!({"llm_request": {}, "llm_response": {}, "llm_model": "m", "llm_tokens": 3}),
        ),
        (
            Gemini,
            "SessionStart",
            HookEvent::session_start("s"),
            json!({"session_id": "s", "source": "startup"}),
        ),
        (
            Gemini,
            "SessionEnd",
            HookEvent::session_end("s"),
            json!({"session_id": "s", "reason": "other"}),
        ),
        (
            Gemini,
            "PreCompress",
            HookEvent::context_pre_compact("auto"),
            json!({"trigger": "auto"}),
        ),
        (
            Gemini,
            "Notification",
            HookEvent::notification_show("m"),
            json!({"message": "m", "notification_type": "ToolPermission", "details": {}}),
        ),
    ] {
        let mut expected = match dialect {
            Claude => claude.clone(),
            Codex => codex.clone(),
            _ => gemini.clone(),
        };
        expected["hook_event_name"] = name.into();
        for (key, value) in own.as_object().unwrap() {
            expected[key] = value.clone();
        }
        let mut event = event;
        event.timestamp = 0.0;
        assert_eq!(input(dialect, name, &event), expected, "{dialect} {name}");
    }
}

#[test]
fn the_hosts_context_reaches_the_input() {
    let context = HostContext::new()
        .with_cwd("/elsewhere")
        .with_transcript_path("/t.jsonl")
        .with_permission_mode("plan")
        .with_field("x", json!([1]));
    let event = HookEvent::user_prompt_submit("hi").with_context(Arc::new(context));
    let input = input(Claude, "UserPromptSubmit", &event);
    for (key, expected) in [
        ("cwd", json!("/elsewhere")),
        ("transcript_path", json!("/t.jsonl")),
        ("permission_mode", json!("plan")),
        ("x", json!([1])),
        ("prompt", json!("hi")),
    ] {
        assert_eq!(input[key], expected, "{key}");
    }
}

#[test]
fn a_tools_own_input_comes_back_as_it_was() {
    let written = json!({"hook_event_name": "PostToolUse", "session_id": "s", "cwd": "/c",
        "transcript_path": "/t", "permission_mode": "plan", "tool_name": "Bash",
        "tool_input": {"command": "ls"}, "tool_response": "out", "tool_use_id": "t1",
        "duration_ms": 3, "unheard_of": {"a": [null]}});
    let event = foreign_event(Claude, written.clone()).unwrap();
    assert_eq!(event.event_type.as_str(), "tool:post_execute");
    assert_eq!(event.tool_name.as_deref(), Some("Bash"));
    assert_eq!(event.data["tool_args"]["command"], "ls");
    assert_eq!(input(Claude, "PostToolUse", &event), written);
}

#[test]
fn an_input_that_is_no_event_is_refused() {
    for (dialect, written, expected) in [
        (
            Claude,
            json!([]),
            "expected an object with `hook_event_name`",
        ),
        (Claude, json!({}), "expected a string `hook_event_name`"),
        (
            Claude,
            json!({"hook_event_name": "BeforeTool"}),
            "`hook_event_name`: `BeforeTool` is not an event of `claude`",
        ),
        (
            Gemini,
            json!({"hook_event_name": "BeforeToolSelection"}),
            "`hook_event_name`: hosts do not fire `BeforeToolSelection`, so its hooks do not run",
        ),
        (Dialect::Native, json!({}), "missing field `type`"),
    ] {
        let error = foreign_event(dialect, written).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn times_are_written_in_utc() {
    for (seconds, expected) in [
        (0.0, "1970-01-01T00:00:00.000Z"),
        (951_782_400.5, "2000-02-29T00:00:00.500Z"),
        (1_795_301_999.25, "2026-11-21T22:59:59.250Z"),
        (-1.0, "1969-12-31T23:59:59.000Z"),
    ] {
        let mut event = HookEvent::session_start("s");
        event.timestamp = seconds;
        assert_eq!(input(Gemini, "SessionStart", &event)["timestamp"], expected);
    }
}
