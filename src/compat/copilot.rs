//! Copilot CLI. This program runs under it. Hosts do not run its hooks, whose files and answers have another form.
//!
//! The events are those whose names Claude Code has too: only these contain the name of the event, and their input is in the
//! form of the other agents. <https://docs.github.com/en/copilot/reference/hooks-reference>

use super::agent::Effect::{Blocks, FeedsBack};
use super::agent::Fires::Never;
use super::agent::Unset::{Null, Object, Text};
use super::agent::{Agent, EVENT, Event, NOT_EMULATED, Pairs, SPECIFIC, Specific, Variable, tool};
use super::agents::{ACTIVE, APPLY_PATCH, INPUT, LAST, SUBAGENT, TOOL, TRIGGER, text};

#[rustfmt::skip]
const CALL: Specific = Specific {
    decision: Some(("permissionDecision", &["allow", "deny", "ask"])),
    reason: Some("permissionDecisionReason"), input: Some("modifiedArgs"), ..SPECIFIC
};

const RESULT: Specific = Specific {
    output: &["modifiedResult"],
    ..SPECIFIC
};

const PATHS: Pairs = &[("paths", "path")];
const TYPED: Pairs = &[("input", "command")];
const EDITS: Pairs = &[("old_str", "old_string"), ("new_str", "new_string")];

/// GitHub's Copilot CLI.
#[rustfmt::skip]
pub(crate) const COPILOT: &Agent = &Agent {
    name: "copilot",
    title: "Copilot CLI",
    // The first file is one of this program alone: each file beside it has hooks too.
    files: &[
        ".copilot/hooks/forge-hooks.json", ".copilot/settings.json", ".copilot/config.json", ".github/copilot/settings.json",
        ".github/copilot/settings.local.json", ".claude/settings.json", ".claude/settings.local.json",
    ],
    also_decides: &[
        ".copilot/extensions", ".copilot/hooks", ".copilot/mcp-config.json", ".github/extensions", ".github/hooks",
    ],
    may_decide: &[".copilot/agents", ".copilot/skills", ".github/agents", ".github/skills"],
    decides_at_home: &[],
    moved_by: ("COPILOT_HOME", ".copilot"),
    set_for_tools: "COPILOT_CLI",
    approval: None,
    reads_plain_json: true,
    version: Some(1),
    bare_patches: true,
    all_off: Some(("disableAllHooks", true)),
    disabled: None,
    environment: None,
    names_handlers: false,
    milliseconds: false,
    seconds: 600,
    events: EVENTS,
    fields: &[text("session_id")],
    renamed: &[("tool_args", "tool_input"), ("content", "prompt")],
    // The agent's own names are different: it gives each tool the name that Claude Code has for it, but does not rename the
    // arguments.
    tools: &[
        tool("Bash", &["bash", "shell"]).needing(&["command"]),
        // The text is typed into a shell that runs.
        tool("write_bash", &["bash"]).with_arguments(TYPED), tool("write_powershell", &["bash"]).with_arguments(TYPED),
        tool("Read", &["read"]).needing(&["path"]),
        tool("Write", &["write"]).with_arguments(&[("file_text", "content")]).needing(&["path"]),
        tool("Edit", &["edit"]).with_arguments(EDITS).needing(&["path"]),
        tool(APPLY_PATCH, &["write", "edit", "multi_edit"]).needing(&["command"]),
        tool("Glob", &["glob"]).with_arguments(PATHS), tool("Grep", &["grep"]).with_arguments(PATHS), tool("WebFetch", &["web_fetch"]),
        tool("WebSearch", &["web_search"]), tool("Agent", &["task", "agent"]),
    ],
    corrects_paths: false,
    joins_servers: Some("-"),
    plugin: None,
    variables: &[("COPILOT_PROJECT_DIR", Variable::Project), ("CLAUDE_PROJECT_DIR", Variable::Project)],
    emulated: NOT_EMULATED,
};

#[rustfmt::skip]
const EVENTS: &[Event] = &[
    Event { name: "PreToolUse", subject: TOOL, effect: Blocks, specific: CALL, fields: &[INPUT], ..EVENT },
    Event {
        name: "PostToolUse", subject: TOOL, effect: FeedsBack, specific: RESULT,
        fields: &[INPUT, ("tool_result", Null)], ..EVENT
    },
    Event { name: "PostToolUseFailure", subject: TOOL, effect: FeedsBack, fields: &[INPUT, text("error")], ..EVENT },
    Event { name: "UserPromptSubmit", effect: Blocks, fields: &[text("prompt")], ..EVENT },
    Event { name: "SessionStart", fields: &[("source", Text("new"))], ..EVENT },
    Event { name: "SessionEnd", fields: &[("reason", Text("complete"))], ..EVENT },
    Event { name: "Stop", effect: Blocks, fields: &[text("stop_reason"), ACTIVE], ..EVENT },
    Event {
        name: "SubagentStop", effect: Blocks,
        fields: &[text("agent_id"), SUBAGENT, ACTIVE, LAST], ..EVENT
    },
    Event { name: "PreCompact", subject: Some("trigger"), fields: &[TRIGGER, text("custom_instructions")], ..EVENT },
    // These events are not registered, since their input has another form.
    Event { name: "PermissionRequest", registered: false, subject: TOOL, effect: Blocks, fields: &[INPUT], ..EVENT },
    Event { name: "SubagentStart", registered: false, fields: &[text("agent_id"), SUBAGENT], ..EVENT },
    Event { name: "Notification", registered: false, fields: &[text("message"), ("details", Object)], ..EVENT },
    Event { name: "ErrorOccurred", fires: Never, ..EVENT },
    Event { name: "PreMcpToolCall", fires: Never, ..EVENT },
];
