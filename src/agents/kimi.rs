//! Kimi Code. This program runs under it. Hosts do not run its hooks.
//!
//! The events are those of Claude Code. A deny is the only answer that it reads. <https://www.kimi.com/code/docs/en/>

use super::row::*;

#[rustfmt::skip]
const DECISION: Specific = Specific {
    decision: Some(("permissionDecision", &["deny"])), reason: Some("permissionDecisionReason"), ..SPECIFIC
};

/// Kimi Code of Moonshot AI.
pub(crate) const KIMI: &Agent = &ROW;

#[rustfmt::skip]
static ROW: Agent = Agent {
    name: "kimi",
    title: "Kimi Code",
    files: &[".kimi-code/config.toml"],
    also_decides: &[".kimi-code/mcp.json", ".kimi-code/plugins"],
    may_decide: &[".kimi-code/agents", ".kimi-code/skills"],
    moved_by: ("KIMI_CODE_HOME", ".kimi-code"),
    // It sets no variable that other programs do not.
    set_for_tools: "",
    events: EVENTS,
    fields: &[text("session_id"), text("client_type")],
    renamed: &[("tool_args", "tool_input"), ("tool_result", "tool_output"), ("content", "prompt")],
    tools: &[
        tool("Bash", &["bash", "shell"]).with_arguments(&[("cwd", "directory")]),
        tool("Read", &["read"]), tool("Write", &["write"]),
        tool("Edit", &["edit"]), tool("Glob", &["glob"]).with_arguments(&[("directory", "path")]), tool("Grep", &["grep"]),
        tool("FetchURL", &["web_fetch"]), tool("WebSearch", &["web_search"]), tool("Agent", &["task", "agent"]),
    ],
    answers: Answers {
        context: &["UserPromptSubmit"],
        outputs: Outputs::Context,
        cannot_end_turn: &[
            "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "UserPromptSubmit", "SessionStart",
            "SessionEnd", "SubagentStart", "PreCompact", "Notification", "Interrupt", "PermissionResult", "PostCompact",
            "StopFailure",
        ],
        messages: Messages::Text,
        applies_input: false,
        ..ANSWERS
    },
    ..AGENT
};

#[rustfmt::skip]
const EVENTS: &[Event] = &[
    Event { name: "PreToolUse", subject: TOOL, effect: Blocks, specific: DECISION, fields: &[INPUT], ..EVENT },
    // The agent does not wait for a hook of these.
    Event { name: "PostToolUse", subject: TOOL, fields: &[INPUT, ("tool_output", Object)], ..EVENT },
    Event { name: "PostToolUseFailure", subject: TOOL, fields: &[INPUT, text("error")], ..EVENT },
    // It reads no answer.
    Event { name: "PermissionRequest", fires: Never, ..EVENT },
    Event { name: "UserPromptSubmit", effect: Blocks, fields: &[("prompt", List), ("is_steer", False)], ..EVENT },
    Event { name: "SessionStart", subject: Some("source"), fields: &[("source", Text("startup")), text("model")], ..EVENT },
    Event { name: "SessionEnd", subject: Some("reason"), fields: &[text("reason")], ..EVENT },
    Event { name: "Stop", effect: Blocks, fields: &[ACTIVE], ..EVENT },
    Event { name: "SubagentStart", subject: Some("agent_name"), fields: &[text("agent_name"), text("prompt")], ..EVENT },
    // A block has no effect.
    Event { name: "SubagentStop", subject: Some("agent_name"), effect: Blocks, fields: &[text("agent_name"), text("response")], ..EVENT },
    Event { name: "PreCompact", subject: Some("trigger"), ..EVENT },
    Event { name: "Notification", subject: Some("notification_type"), ..EVENT },
    Event { name: "Interrupt", fires: Never, ..EVENT },
    Event { name: "PermissionResult", fires: Never, ..EVENT },
    Event { name: "PostCompact", fires: Never, ..EVENT },
    Event { name: "StopFailure", fires: Never, ..EVENT },
];
