//! Tables of each agent's standard input of a hook, and of the events that it is converted to.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::protocol_tests::protocol;
use crate::agents::Agent;
use crate::agents::{AGENTS, CLAUDE};
use crate::events::{EventType, HookEvent, HostContext};

fn input(agent: &'static Agent, name: &str, event: &HookEvent) -> Value {
    let protocol = protocol(agent, name, "");
    serde_json::from_slice(&protocol.input(event, Path::new("/w")).unwrap()).unwrap()
}

/// Each event of each agent, and the fields that not all of the agent's events have.
pub(crate) const INPUTS: &str = r#"
claude PreToolUse {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": ""}
claude PostToolUse {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "", "tool_response": {"stdout": "out", "stderr": "", "interrupted": false, "isImage": false}}
claude PostToolUseFailure {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "", "error": "e", "is_interrupt": false}
claude PermissionRequest {"tool_name": "Bash", "tool_input": {}, "perm_level": "execute"}
claude UserPromptSubmit {"prompt": "hi"}
claude SessionStart {"session_id": "s", "source": "startup", "model": ""}
claude SessionEnd {"session_id": "s", "reason": "other"}
claude Notification {"message": "m", "notification_type": ""}
claude Stop {"stop_hook_active": true, "last_assistant_message": ""}
claude SubagentStart {"agent_type": "Explore", "agent_id": ""}
claude SubagentStop {"agent_type": "Explore", "agent_id": "", "agent_transcript_path": "", "stop_hook_active": false, "last_assistant_message": ""}
claude PreCompact {"trigger": "auto", "custom_instructions": ""}
claude PostCompact {"trigger": "auto", "compact_summary": ""}
claude UserPromptExpansion {"command_name": "", "prompt": ""}
claude PreModelSwitch {"from_model": "", "to_model": ""}
claude PostModelSwitch {"from_model": "", "to_model": ""}
claude ConfigChange {"source": "", "file_path": ""}
claude InstructionsLoaded {"file_path": "", "memory_type": "", "load_reason": ""}
claude MessageDisplay {}
claude PermissionDenied {"tool_name": "Bash", "tool_input": {}, "tool_use_id": "", "reason": "", "perm_level": "execute"}
claude PostToolBatch {"tool_calls": []}
claude StopFailure {"error": "", "error_details": "", "last_assistant_message": ""}
claude TeammateIdle {"teammate_name": "", "team_name": ""}
claude TaskCreated {"task_id": "", "task_subject": "", "task_description": "", "teammate_name": "", "team_name": ""}
claude TaskCompleted {"task_id": "", "task_subject": "", "task_description": "", "teammate_name": "", "team_name": ""}
claude Elicitation {"mcp_server_name": "", "message": ""}
claude ElicitationResult {"mcp_server_name": "", "action": "", "content": {}}
claude WorktreeCreate {"name": ""}
claude WorktreeRemove {"worktree_path": ""}
codex PreToolUse {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "", "turn_id": ""}
codex PostToolUse {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "", "turn_id": "", "tool_response": "out"}
codex PermissionRequest {"tool_name": "Bash", "tool_input": {}, "turn_id": "", "perm_level": "execute"}
codex UserPromptSubmit {"prompt": "hi", "turn_id": ""}
codex SessionStart {"session_id": "s", "source": "startup"}
codex SessionEnd {"session_id": "s", "reason": "other"}
codex Interrupt {"turn_id": ""}
codex Stop {"stop_hook_active": true, "last_assistant_message": null, "turn_id": ""}
codex SubagentStart {"agent_type": "Explore", "agent_id": "", "turn_id": ""}
codex SubagentStop {"agent_type": "Explore", "agent_id": "", "turn_id": "", "stop_hook_active": false, "agent_transcript_path": null, "last_assistant_message": null}
codex PreCompact {"trigger": "auto", "turn_id": ""}
codex PostCompact {"trigger": "auto", "turn_id": ""}
"#;

/// Returns the events of a host.
fn events() -> Vec<HookEvent> {
    let args = || json!({"command": "ls"});
    vec![
        HookEvent::tool_pre_execute("bash", args()),
        HookEvent::tool_post_execute("bash", args(), "out"),
        HookEvent::tool_error("bash", args(), "e"),
        HookEvent::permission_prompt("bash", "execute", None),
        HookEvent::permission_denied("bash", "execute", None),
        HookEvent::user_prompt_submit("hi"),
        HookEvent::session_start("s"),
        HookEvent::session_end("s"),
        HookEvent::notification_show("m"),
        HookEvent::agent_stop(true),
        HookEvent::agent_subagent_start("Explore"),
        HookEvent::agent_subagent_stop("Explore", false),
        HookEvent::context_pre_compact("auto"),
        HookEvent::context_post_compact("auto"),
    ]
}

#[test]
fn an_event_has_every_field_of_its_tool() {
    let events = events();
    for row in INPUTS.trim().lines() {
        let [agent, name, fields] = row.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let agent = AGENTS
            .into_iter()
            .find(|known| known.name() == agent)
            .unwrap();
        let mut expected = match agent.name() {
            "claude" => json!({"transcript_path": "", "permission_mode": "default"}),
            _ => json!({"transcript_path": null, "permission_mode": "default", "model": ""}),
        };
        let every = json!({"session_id": "", "cwd": "/w", "hook_event_name": name});
        let fields: Value = serde_json::from_str(fields).unwrap();
        for fields in [every, fields] {
            let fields = fields.as_object().unwrap().clone();
            expected.as_object_mut().unwrap().extend(fields);
        }
        let ours = agent.event_named(name).unwrap().ours().unwrap();
        let mut fired = events.iter();
        let fired = fired
            .find(|event| event.event_type.as_str() == ours)
            .cloned();
        let of_host = || HookEvent::new(EventType::of_name(ours).unwrap());
        let mut event = fired.unwrap_or_else(of_host);
        event.timestamp = 0.0;
        assert_eq!(input(agent, name, &event), expected, "{row}");
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

/// A model may have written something other than an object.
#[test]
fn a_text_as_input_comes_back() {
    let fields = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": "ls"});
    let event = CLAUDE.event(fields).unwrap();
    assert_eq!(event.data["tool_args"], "ls");
    assert_eq!(input(CLAUDE, "PreToolUse", &event)["tool_input"], "ls");
}
