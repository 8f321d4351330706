//! Grok Build. This program runs under it. Hosts do not run its hooks.
//!
//! The events are those of Claude Code, whose settings it reads too. <https://docs.x.ai/build/hooks>

use super::row::*;

#[rustfmt::skip]
const DECISION: Specific = Specific {
    decision: Some(("permissionDecision", &["deny"])), reason: Some("permissionDecisionReason"),
    input: Some("updatedInput"), ..SPECIFIC
};

const DIRECTORY: Pairs = &[("target_directory", "path")];
const TARGET: Pairs = &[("target_file", "path")];

/// Grok Build of xAI.
pub(crate) const GROK: &Agent = &ROW;

#[rustfmt::skip]
static ROW: Agent = Agent {
    name: "grok",
    title: "Grok Build",
    files: &[".grok/hooks/forge-hooks.json", ".grok/config.toml", ".claude/settings.json", ".claude/settings.local.json"],
    also_decides: &[
        ".claude.json", ".grok/hooks", ".grok/installed-plugins", ".grok/managed_config.toml", ".grok/plugins", ".mcp.json",
    ],
    may_decide: &[".grok/agents", ".grok/commands", ".grok/skills"],
    moved_by: ("GROK_HOME", ".grok"),
    set_for_tools: "GROK_AGENT",
    reads_plain_json: true,
    events: EVENTS,
    fields: &[text("session_id"), text("transcript_path"), ("permission_mode", Text("default")), text("timestamp")],
    tools: &[
        tool("run_terminal_command", &["bash", "shell"]),
        tool("read_file", &["read"]).with_arguments(TARGET),
        tool("write", &["write"]).with_arguments(FILE_PATH),
        tool("search_replace", &["edit"]).with_arguments(FILE_PATH),
        tool("grep", &["grep"]), tool("list_dir", &["ls", "list"]).with_arguments(DIRECTORY), tool("web_fetch", &["web_fetch"]),
        tool("web_search", &["web_search"]), tool("spawn_subagent", &["task", "agent"]),
    ],
    joins_servers: Some("__"),
    variables: &[("GROK_WORKSPACE_ROOT", Variable::Project), ("CLAUDE_PROJECT_DIR", Variable::Project)],
    answers: Answers {
        context: &["PreToolUse", "PostToolUse"],
        outputs: Outputs::Context,
        cannot_end_turn: &[
            "PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart", "SessionEnd",
            "Notification", "SubagentStart", "PreCompact",
        ],
        ..ANSWERS
    },
    ..AGENT
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
