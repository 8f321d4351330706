//! Qwen Code. This program runs under it. Hosts do not run its hooks.
//!
//! The events are those of Claude Code, the tools are mostly those of Gemini CLI, from which it was forked.
//! <https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks>

use super::row::*;

/// No key changes the input.
#[rustfmt::skip]
const DECISION: Specific = Specific {
    decision: Some(("permissionDecision", &["allow", "deny", "ask"])),
    reason: Some("permissionDecisionReason"), ..SPECIFIC
};

const CELL: Pairs = &[("notebook_path", "path"), ("new_source", "new_string")];

/// Qwen Code of Alibaba.
pub(crate) const QWEN: &Agent = &ROW;

#[rustfmt::skip]
static ROW: Agent = Agent {
    name: "qwen",
    title: "Qwen Code",
    files: &[".qwen/settings.json"],
    also_decides: &[".qwen/.env", ".qwen/extensions", ".qwen/hooks", ".qwen/trustedFolders.json"],
    may_decide: &[".qwen/agents", ".qwen/commands", ".qwen/skills"],
    moved_by: ("QWEN_HOME", ".qwen"),
    set_for_tools: "QWEN_CODE",
    all_off: Some(("disableAllHooks", true)),
    names_handlers: true,
    // Whatever timeout a hook has, the agent waits for no answer longer than this.
    seconds: 60,
    events: EVENTS,
    fields: &[text("session_id"), text("transcript_path"), ("permission_mode", Text("default")), text("timestamp")],
    tools: &[
        tool("run_shell_command", &["bash", "shell"]).with_arguments(&[("directory", "directory")]),
        tool("monitor", &["bash"]),
        tool("read_file", &["read"]).with_arguments(FILE_PATH),
        tool("write_file", &["write"]).with_arguments(FILE_PATH),
        tool("edit", &["edit", "multi_edit"]).with_arguments(FILE_PATH),
        tool("notebook_edit", &["edit"]).with_arguments(CELL),
        tool("grep_search", &["grep"]), tool("glob", &["glob"]), tool("list_directory", &["ls", "list"]),
        tool("web_fetch", &["web_fetch"]), tool("web_search", &["web_search"]), tool("agent", &["task", "agent"]),
    ],
    variables: &[("QWEN_PROJECT_DIR", Variable::Project), ("CLAUDE_PROJECT_DIR", Variable::Project)],
    answers: Answers {
        // The one before a tool has been seen to have no effect.
        context: &["PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit", "SessionStart", "SubagentStart"],
        questions: Questions::Reason,
        applies_input: false,
        // It asks by its own rules beside a yes of a hook.
        takes_yes: false,
        outputs: Outputs::StopReason,
        // Elsewhere `continue: false` blocks, replaces an output or has no effect; the model goes on.
        cannot_end_turn: &[
            "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "SessionStart",
            "SessionEnd", "Notification", "SubagentStart", "PreCompact", "InstructionsLoaded", "MessageDisplay",
            "PermissionDenied", "PostCompact", "SessionDelete", "StopFailure", "TodoCompleted", "TodoCreated",
            "UserPromptExpansion",
        ],
        blocks: BlockedBy::Code,
        messages: Messages::Json,
        // It reads no JSON beside exit code 2.
        messages_beside_block: &[],
        ends_turn_later: None,
        prompts_have: Some("submitted_prompt"),
    },
    ..AGENT
};

#[rustfmt::skip]
const EVENTS: &[Event] = &[
    Event { name: "PreToolUse", subject: TOOL, effect: Blocks, specific: DECISION, fields: &[INPUT, CALL], ..EVENT },
    Event {
        name: "PostToolUse", subject: TOOL, effect: FeedsBack,
        fields: &[INPUT, ("tool_response", Object), CALL], ..EVENT
    },
    Event {
        name: "PostToolUseFailure", subject: TOOL, effect: FeedsBack,
        fields: &[INPUT, CALL, text("error"), ("is_interrupt", False)], ..EVENT
    },
    // The agent waits no longer.
    Event {
        name: "PostToolBatch", fires: OfHost("tool:post_batch"), longest: ms(15_000), effect: Blocks,
        fields: &[("tool_calls", List)], ..EVENT
    },
    Event { name: "PermissionRequest", subject: TOOL, effect: Blocks, specific: REQUEST, fields: &[INPUT], ..EVENT },
    Event { name: "UserPromptSubmit", effect: Blocks, fields: &[text("prompt")], ..EVENT },
    Event {
        name: "SessionStart", subject: Some("source"), fields: &[("source", Text("startup")), text("model")], ..EVENT
    },
    Event { name: "SessionEnd", subject: Some("reason"), fields: &[("reason", Text("other"))], ..EVENT },
    Event {
        name: "Notification", subject: Some("notification_type"),
        fields: &[text("message"), text("notification_type")], ..EVENT
    },
    Event { name: "Stop", effect: Blocks, fields: &[ACTIVE, LAST], ..EVENT },
    Event { name: "SubagentStart", subject: Some("agent_type"), fields: &[text("agent_id"), SUBAGENT], ..EVENT },
    Event {
        name: "SubagentStop", subject: Some("agent_type"), effect: Blocks,
        fields: &[text("agent_id"), SUBAGENT, text("agent_transcript_path"), ACTIVE, LAST], ..EVENT
    },
    Event { name: "PreCompact", subject: Some("trigger"), fields: &[TRIGGER, text("custom_instructions")], ..EVENT },
    // These events have not been tried.
    Event { name: "InstructionsLoaded", fires: Never, ..EVENT },
    Event { name: "MessageDisplay", fires: Never, ..EVENT },
    Event { name: "PermissionDenied", fires: Never, ..EVENT },
    Event { name: "PostCompact", fires: Never, ..EVENT },
    Event { name: "SessionDelete", fires: Never, ..EVENT },
    Event { name: "StopFailure", fires: Never, ..EVENT },
    Event { name: "TodoCompleted", fires: Never, ..EVENT },
    Event { name: "TodoCreated", fires: Never, ..EVENT },
    Event { name: "UserPromptExpansion", fires: Never, ..EVENT },
];
