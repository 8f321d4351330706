//! Codex CLI. This program runs under it, and hosts run its hooks.

use super::row::*;

const TURN: Field = text("turn_id");

/// Codex CLI. <https://developers.openai.com/codex/hooks> Its answers are read as those of Claude Code.
pub const CODEX: &Agent = &ROW;

#[rustfmt::skip]
static ROW: Agent = Agent {
    name: "codex",
    title: "Codex",
    files: &[".codex/hooks.json"],
    // A role has settings of its own.
    also_decides: &[
        ".codex/.env", ".codex/agents", ".codex/config.toml", ".codex/managed_config.toml", ".codex/plugins", ".codex/rules",
    ],
    may_decide: &[".codex/skills"],
    // Its shell, which starts hooks, is one of logins: `exit 0` would let each call pass.
    decides_at_home: &[
        ".bash_login", ".bash_profile", ".bashrc", ".config/fish", ".profile", ".zlogin", ".zprofile", ".zshenv", ".zshrc",
    ],
    moved_by: ("CODEX_HOME", ".codex"),
    set_for_tools: "CODEX_THREAD_ID",
    approval: Some(HandlerApproval {
        program: "codex",
        by_hand: "approve them in Codex, in `/hooks`: before that it runs none of them, and does not say so",
    }),
    // The source is its `codex-rs/hooks/src/engine/discovery.rs`.
    reads_plain_json: true,
    events: EVENTS,
    fields: &[text("session_id"), ("transcript_path", Null), ("permission_mode", Text("default")), text("model")],
    tools: &[
        tool("Bash", &["bash", "shell"]).needing(&["command"]),
        tool(APPLY_PATCH, &["write", "edit", "multi_edit"]).needing(&["command"]),
        tool("ls", &["ls", "list"]), tool("task", &["task", "agent"]), tool("spawn_agent", &["task"]),
    ],
    variables: &[
        ("PLUGIN_ROOT", Variable::Plugin),
        ("CLAUDE_PLUGIN_ROOT", Variable::Plugin),
        ("PLUGIN_DATA", DATA),
        ("CLAUDE_PLUGIN_DATA", DATA),
    ],
    emulated: &Emulated {
        manifest: ".codex-plugin",
        keys: &[
            "timeout", "timeoutSec", "additionalContextLimit", "async", "commandWindows", "command_windows", "onFailure", "statusMessage",
        ],
        keys_not_applied: &["additionalContextLimit"],
        list_of_names: "_|",
        wraps_output: false,
        also_called: &[("apply_patch", "Edit"), ("apply_patch", "Write")],
        takes_yes: false,
        checks_event_name: false,
        block_replaces_output: true,
        shell: UsualShell::Login,
    },
    answers: Answers {
        context: &["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SubagentStart"],
        questions: Questions::Never,
        applies_input: false,
        takes_yes: false,
        outputs: Outputs::Reason("block"),
        cannot_end_turn: &["PreToolUse", "PermissionRequest", "PostToolUse"],
        blocks: BlockedBy::Code,
        messages: Messages::Json,
        // It reads no JSON beside exit code 2.
        messages_beside_block: &[],
        ends_turn_later: None,
        prompts_have: None,
    },
    ..AGENT
};

const DATA: Variable = Variable::PluginData(".codex/plugins/data");

#[rustfmt::skip]
const EVENTS: &[Event] = &[
    Event {
        name: "PreToolUse", subject: TOOL, effect: Blocks, specific: DECISION,
        fields: &[TURN, INPUT, CALL], ..EVENT
    },
    Event {
        name: "PostToolUse", subject: TOOL, effect: FeedsBack,
        fields: &[TURN, INPUT, ("tool_response", Null), CALL], ..EVENT
    },
    Event {
        name: "PermissionRequest", subject: TOOL, effect: Blocks, specific: REQUEST,
        fields: &[TURN, INPUT], ..EVENT
    },
    Event { name: "UserPromptSubmit", effect: Blocks, text_is_context: true, fields: &[TURN, text("prompt")], ..EVENT },
    Event {
        name: "SessionStart", subject: Some("source"), text_is_context: true,
        fields: &[("source", Text("startup"))], ..EVENT
    },
    Event {
        name: "SessionEnd", subject: Some("reason"), timeout: ms(1_000), longest: ms(3_000),
        fields: &[("reason", Text("other"))], ..EVENT
    },
    Event { name: "Interrupt", timeout: ms(1_000), longest: ms(3_000), fields: &[TURN], ..EVENT },
    Event {
        name: "Stop", effect: Blocks,
        fields: &[TURN, ACTIVE, ("last_assistant_message", Null)], ..EVENT
    },
    Event {
        name: "SubagentStart", subject: Some("agent_type"), text_is_context: true,
        fields: &[TURN, text("agent_id"), SUBAGENT], ..EVENT
    },
    Event {
        name: "SubagentStop", subject: Some("agent_type"), effect: Blocks,
        fields: &[TURN, text("agent_id"), SUBAGENT, ("agent_transcript_path", Null), ACTIVE,
            ("last_assistant_message", Null)], ..EVENT
    },
    Event { name: "PreCompact", subject: Some("trigger"), fields: &[TURN, TRIGGER], ..EVENT },
    Event { name: "PostCompact", subject: Some("trigger"), fields: &[TURN, TRIGGER], ..EVENT },
];
