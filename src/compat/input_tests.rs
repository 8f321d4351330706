//! Tables of each tool's standard input of a hook, and of the events that it is converted to.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::input::payload;
use super::tool::Tool;
use super::{CLAUDE, CODEX, GEMINI};
use crate::events::{EventType, HookEvent, HostContext};

fn input(tool: &Tool, name: &str, event: &HookEvent) -> Value {
    let kind = tool.event_named(name).unwrap();
    let called = tool.tool_name(event.tool_name.as_deref().unwrap_or_default());
    serde_json::from_slice(&payload(tool, kind, called, event, Path::new("/w"))).unwrap()
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
    let before = || HookEvent::tool_pre_execute("bash", args());
    let of_host = |name| HookEvent::new(EventType::of_name(name).unwrap());
    let after = || HookEvent::tool_post_execute("bash", args(), "out");
    for (tool, name, event, own) in [
        (
            CLAUDE,
            "PreToolUse",
            before(),
            json!({"tool_name": "Bash", "tool_input": args(), "tool_use_id": ""}),
        ),
        (
            CLAUDE,
            "PostToolUse",
            after(),
            json!({"tool_name": "Bash", "tool_input": args(), "tool_use_id": "", "tool_response":
                {"stdout": "out", "stderr": "", "interrupted": false, "isImage": false}}),
        ),
        (
            CLAUDE,
            "PostToolUseFailure",
            HookEvent::tool_error("bash", args(), "e"),
            json!({"tool_name": "Bash", "tool_input": args(), "tool_use_id": "", "error": "e",
                "is_interrupt": false}),
        ),
        (
            CLAUDE,
            "PermissionRequest",
            HookEvent::permission_prompt("write", "execute", None),
            json!({"tool_name": "Write", "tool_input": {}, "perm_level": "execute"}),
        ),
        (
            CLAUDE,
            "UserPromptSubmit",
            HookEvent::user_prompt_submit("hi"),
            json!({"prompt": "hi"}),
        ),
        (
            CLAUDE,
            "SessionStart",
            HookEvent::session_start("s"),
            json!({"session_id": "s", "source": "startup", "model": ""}),
        ),
        (
            CLAUDE,
            "SessionEnd",
            HookEvent::session_end("s"),
            json!({"session_id": "s", "reason": "other"}),
        ),
        (
            CLAUDE,
            "Notification",
            HookEvent::notification_show("m"),
            json!({"message": "m", "notification_type": ""}),
        ),
        (
            CLAUDE,
            "Stop",
            HookEvent::agent_stop(true),
            json!({"stop_hook_active": true, "last_assistant_message": ""}),
        ),
        (
            CLAUDE,
            "SubagentStart",
            HookEvent::agent_subagent_start("Explore"),
            json!({"agent_type": "Explore", "agent_id": ""}),
        ),
        (
            CLAUDE,
            "SubagentStop",
            HookEvent::agent_subagent_stop("Explore", false),
            json!({"agent_type": "Explore", "agent_id": "", "agent_transcript_path": "",
                "stop_hook_active": false, "last_assistant_message": ""}),
        ),
        (
            CLAUDE,
            "PreCompact",
            HookEvent::context_pre_compact("manual"),
            json!({"trigger": "manual", "custom_instructions": ""}),
        ),
        (
            CLAUDE,
            "PostCompact",
            HookEvent::context_post_compact("auto"),
            json!({"trigger": "auto", "compact_summary": ""}),
        ),
        (
            CLAUDE,
            "UserPromptExpansion",
            of_host("user:prompt_expansion"),
            json!({"command_name": "", "prompt": ""}),
        ),
        (
            CLAUDE,
            "PreModelSwitch",
            of_host("model:pre_switch"),
            json!({"from_model": "", "to_model": ""}),
        ),
        (
            CLAUDE,
            "PostModelSwitch",
            of_host("model:post_switch"),
            json!({"from_model": "", "to_model": ""}),
        ),
        (
            CODEX,
            "PreToolUse",
            before(),
            json!({"tool_name": "Bash", "tool_input": args(), "tool_use_id": "", "turn_id": ""}),
        ),
        (
            CODEX,
            "PostToolUse",
            after(),
            json!({"tool_name": "Bash", "tool_input": args(), "tool_use_id": "", "turn_id": "",
                "tool_response": "out"}),
        ),
        (
            CODEX,
            "PermissionRequest",
            HookEvent::permission_prompt("bash", "execute", None),
            json!({"tool_name": "Bash", "tool_input": {}, "turn_id": "", "perm_level": "execute"}),
        ),
        (
            CODEX,
            "UserPromptSubmit",
            HookEvent::user_prompt_submit("hi"),
            json!({"prompt": "hi", "turn_id": ""}),
        ),
        (
            CODEX,
            "SessionStart",
            HookEvent::session_start("s"),
            json!({"session_id": "s", "source": "startup"}),
        ),
        (
            CODEX,
            "SessionEnd",
            HookEvent::session_end("s"),
            json!({"session_id": "s", "reason": "other"}),
        ),
        (
            CODEX,
            "Interrupt",
            of_host("user:interrupt"),
            json!({"turn_id": ""}),
        ),
        (
            CODEX,
            "Stop",
            HookEvent::agent_stop(false),
            json!({"stop_hook_active": false, "last_assistant_message": null, "turn_id": ""}),
        ),
        (
            CODEX,
            "SubagentStart",
            HookEvent::agent_subagent_start("x"),
            json!({"agent_type": "x", "agent_id": "", "turn_id": ""}),
        ),
        (
            CODEX,
            "SubagentStop",
            HookEvent::agent_subagent_stop("x", true),
            json!({"agent_type": "x", "agent_id": "", "turn_id": "", "stop_hook_active": true,
                "agent_transcript_path": null, "last_assistant_message": null}),
        ),
        (
            CODEX,
            "PreCompact",
            HookEvent::context_pre_compact("auto"),
            json!({"trigger": "auto", "turn_id": ""}),
        ),
        (
            CODEX,
            "PostCompact",
            HookEvent::context_post_compact("auto"),
            json!({"trigger": "auto", "turn_id": ""}),
        ),
        (
            GEMINI,
            "BeforeTool",
            before(),
            json!({"tool_name": "run_shell_command", "tool_input": args()}),
        ),
        (
            GEMINI,
            "AfterTool",
            after(),
            json!({"tool_name": "run_shell_command", "tool_input": args(),
                "tool_response": {"llmContent": "out", "returnDisplay": "out"}}),
        ),
        (
            GEMINI,
            "BeforeAgent",
            HookEvent::user_prompt_submit("hi"),
            json!({"prompt": "hi"}),
        ),
        (
            GEMINI,
            "AfterAgent",
            HookEvent::agent_stop(false),
            json!({"prompt": "", "prompt_response": "", "stop_hook_active": false}),
        ),
        (
            GEMINI,
            "BeforeModel",
            HookEvent::llm_pre_request("m", 2),
            json!({"llm_request": {}, "llm_model": "m", "message_count": 2}),
        ),
        (
            GEMINI,
            "AfterModel",
            HookEvent::llm_post_response("m", 3),
            json!({"llm_request": {}, "llm_response": {}, "llm_model": "m", "llm_tokens": 3}),
        ),
        (
            GEMINI,
            "SessionStart",
            HookEvent::session_start("s"),
            json!({"session_id": "s", "source": "startup"}),
        ),
        (
            GEMINI,
            "SessionEnd",
            HookEvent::session_end("s"),
            json!({"session_id": "s", "reason": "other"}),
        ),
        (
            GEMINI,
            "PreCompress",
            HookEvent::context_pre_compact("auto"),
            json!({"trigger": "auto"}),
        ),
        (
            GEMINI,
            "Notification",
            HookEvent::notification_show("m"),
            json!({"message": "m", "notification_type": "ToolPermission", "details": {}}),
        ),
    ] {
        let mut expected = match tool.name() {
            "claude" => claude.clone(),
            "codex" => codex.clone(),
            _ => gemini.clone(),
        };
        expected["hook_event_name"] = name.into();
        for (key, value) in own.as_object().unwrap() {
            expected[key] = value.clone();
        }
        let mut event = event;
        event.timestamp = 0.0;
        assert_eq!(input(tool, name, &event), expected, "{tool} {name}");
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
    let input = input(CLAUDE, "UserPromptSubmit", &event);
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
    let event = CLAUDE.event(written.clone()).unwrap();
    assert_eq!(event.event_type.as_str(), "tool:post_execute");
    assert_eq!(event.tool_name.as_deref(), Some("Bash"));
    assert_eq!(event.data["tool_args"]["command"], "ls");
    assert_eq!(input(CLAUDE, "PostToolUse", &event), written);
}

#[test]
fn an_input_that_is_no_event_is_refused() {
    for (tool, written, expected) in [
        (
            CLAUDE,
            json!([]),
            "expected an object with `hook_event_name`",
        ),
        (CLAUDE, json!({}), "expected a string `hook_event_name`"),
        (
            CLAUDE,
            json!({"hook_event_name": "BeforeTool"}),
            "`hook_event_name`: `BeforeTool` is not an event of `claude`",
        ),
        (
            GEMINI,
            json!({"hook_event_name": "BeforeToolSelection"}),
            "`hook_event_name`: hosts do not fire `BeforeToolSelection`, so its hooks do not run",
        ),
    ] {
        let error = tool.event(written).unwrap_err();
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
        assert_eq!(input(GEMINI, "SessionStart", &event)["timestamp"], expected);
    }
}
