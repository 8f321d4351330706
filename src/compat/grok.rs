//! Grok Build. This program runs under it. Hosts do not run its hooks.
//!
//! The events are those of Claude Code, whose settings it reads too. <https://docs.x.ai/build/hooks>

use super::agent::Effect::{Blocks, FeedsBack};
use super::agent::Unset::{Object, Text};
use super::agent::{Agent, EVENT, Event, NOT_EMULATED, Pairs, SPECIFIC, Specific, Variable, tool};
use super::agents::{ACTIVE, CALL, FILE_PATH, INPUT, SUBAGENT, TOOL, text};

#[rustfmt::skip]
const DECISION: Specific = Specific {
    decision: Some(("permissionDecision", &["deny"])), reason: Some("permissionDecisionReason"),
    input: Some("updatedInput"), ..SPECIFIC
};

const TARGET: Pairs = &[("target_file", "path")];

/// Grok Build of xAI.
#[rustfmt::skip]
pub(crate) const GROK: &Agent = &Agent {
    name: "grok",
    title: "Grok Build",
    files: &[".grok/hooks/forge-hooks.json", ".grok/config.toml", ".claude/settings.json", ".claude/settings.local.json"],
    also_decides: &[".claude.json", ".grok/hooks", ".grok/plugins", ".mcp.json"],
    may_decide: &[".grok/agents", ".grok/commands", ".grok/skills"],
    decides_at_home: &[],
    moved_by: ("GROK_HOME", ".grok"),
    set_for_tools: "GROK_AGENT",
    approval: None,
    reads_plain_json: true,
    version: None,
    bare_patches: false,
    all_off: None,
    disabled: None,
    environment: None,
    names_handlers: false,
    milliseconds: false,
    seconds: 600,
    events: EVENTS,
    fields: &[text("session_id"), text("transcript_path"), ("permission_mode", Text("default")), text("timestamp")],
    renamed: &[("tool_args", "tool_input"), ("tool_result", "tool_response"), ("content", "prompt")],
    tools: &[
        tool("run_terminal_command", &["bash", "shell"]).needing(&["command"]),
        tool("read_file", &["read"]).with_arguments(TARGET).needing(&["target_file"]),
        tool("write", &["write"]).with_arguments(FILE_PATH).needing(&["file_path"]),
        tool("search_replace", &["edit"]).with_arguments(FILE_PATH).needing(&["file_path"]),
        tool("grep", &["grep"]), tool("list_dir", &["ls", "list"]), tool("web_fetch", &["web_fetch"]),
        tool("web_search", &["web_search"]), tool("spawn_subagent", &["task", "agent"]),
    ],
    corrects_paths: false,
    joins_servers: Some("__"),
    plugin: None,
    variables: &[("GROK_WORKSPACE_ROOT", Variable::Project), ("CLAUDE_PROJECT_DIR", Variable::Project)],
    emulated: NOT_EMULATED,
};

#[rustfmt::skip]
const EVENTS: &[Event] = &[
    Event { name: "PreToolUse", subject: TOOL, effect: Blocks, specific: DECISION, fields: &[INPUT, CALL], ..EVENT },
    Event {
        name: "PostToolUse", subject: TOOL, effect: FeedsBack, fields: &[INPUT, ("tool_response", Object), CALL], ..EVENT
    },
    Event { name: "PostToolUseFailure", subject: TOOL, effect: FeedsBack, fields: &[INPUT, CALL, text("error")], ..EVENT },
    Event { name: "UserPromptSubmit", effect: Blocks, fields: &[text("prompt")], ..EVENT },
    Event { name: "SessionStart", subject: Some("source"), fields: &[("source", Text("new"))], ..EVENT },
    Event { name: "SessionEnd", subject: Some("reason"), fields: &[text("reason")], ..EVENT },
    Event { name: "Notification", subject: Some("notification_type"), fields: &[text("message")], ..EVENT },
    Event { name: "Stop", effect: Blocks, fields: &[ACTIVE, text("reason")], ..EVENT },
    Event { name: "SubagentStart", fields: &[SUBAGENT], ..EVENT },
    Event { name: "SubagentStop", effect: Blocks, fields: &[SUBAGENT, ACTIVE], ..EVENT },
    Event { name: "PreCompact", subject: Some("trigger"), ..EVENT },
];
