//! Copilot CLI. This program runs under it. Hosts do not run its hooks, whose files and answers have another form.
//!
//! The events are those whose names Claude Code has too: only these contain the name of the event, and their input is in the
//! form of the other agents. <https://docs.github.com/en/copilot/reference/hooks-reference>

use super::row::*;

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
pub(crate) const COPILOT: &Agent = &ROW;

#[rustfmt::skip]
static ROW: Agent = Agent {
    name: "copilot",
    title: "Copilot CLI",
    // The first file is one of this program alone: each file beside it has hooks too.
    files: &[
        ".copilot/hooks/forge-hooks.json", ".copilot/settings.json", ".copilot/config.json", ".github/copilot/settings.json",
        ".github/copilot/settings.local.json", ".claude/settings.json", ".claude/settings.local.json",
    ],
    also_decides: &[
        ".copilot/extensions", ".copilot/hooks", ".copilot/installed-plugins", ".copilot/mcp-config.json", ".github/extensions", ".github/hooks",
    ],
    may_decide: &[".copilot/agents", ".copilot/skills", ".github/agents", ".github/skills"],
    moved_by: ("COPILOT_HOME", ".copilot"),
    set_for_tools: "COPILOT_CLI",
    reads_plain_json: true,
    version: Some(1),
    bare_patches: true,
    all_off: Some(("disableAllHooks", true)),
    events: EVENTS,
    fields: &[text("session_id")],
    renamed: &[("tool_args", "tool_input"), ("content", "prompt")],
    // The agent's own names are different: it gives each tool the name that Claude Code has for it, but does not rename the
    // arguments.
    tools: &[
        tool("Bash", &["bash", "shell"]),
        // The text is typed into a shell that runs.
        tool("write_bash", &["bash"]).with_arguments(TYPED), tool("write_powershell", &["bash"]).with_arguments(TYPED),
        tool("Read", &["read"]),
        tool("Write", &["write"]).with_arguments(&[("file_text", "content")]),
        tool("Edit", &["edit"]).with_arguments(EDITS),
        tool(APPLY_PATCH, &["write", "edit", "multi_edit"]),
        tool("Glob", &["glob"]).with_arguments(PATHS), tool("Grep", &["grep"]).with_arguments(PATHS), tool("WebFetch", &["web_fetch"]),
        tool("WebSearch", &["web_search"]), tool("Agent", &["task", "agent"]),
    ],
    joins_servers: Some("-"),
    variables: &[("COPILOT_PROJECT_DIR", Variable::Project), ("CLAUDE_PROJECT_DIR", Variable::Project)],
    answers: Answers {
        context: &["PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart"],
        questions: Questions::Reason,
        applies_input: true,
        takes_yes: true,
        outputs: Outputs::Text("textResultForLlm"),
        cannot_end_turn: &[
            "PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart", "SessionEnd",
            "PreCompact", "PermissionRequest", "SubagentStart", "Notification", "ErrorOccurred", "PreMcpToolCall",
        ],
        blocks: BlockedBy::Json,
        messages: Messages::Error,
        messages_beside_block: &[],
        ends_turn_later: None,
        prompts_have: None,
    },
    ..AGENT
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
