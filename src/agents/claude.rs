//! Claude Code. This program runs under it, and hosts run its hooks. Most other agents copy its format.

use super::row::*;

#[rustfmt::skip]
const RESULT: Specific = Specific { output: &["updatedToolOutput", "updatedMCPToolOutput"], ..SPECIFIC };

/// Claude Code. <https://code.claude.com/docs/en/hooks> Most other agents copy its format.
pub const CLAUDE: &Agent = &ROW;

#[rustfmt::skip]
static ROW: Agent = Agent {
    name: "claude",
    title: "Claude Code",
    files: &[".claude/settings.json", ".claude/settings.local.json"],
    also_decides: &[".claude.json", ".claude/plugins", ".mcp.json"],
    may_decide: &[".claude/agents", ".claude/commands", ".claude/skills"],
    moved_by: ("CLAUDE_CONFIG_DIR", ".claude"),
    set_for_tools: "CLAUDECODE",
    all_off: Some(("disableAllHooks", true)),
    environment: Some("env"),
    events: EVENTS,
    fields: &[text("session_id"), text("transcript_path"), ("permission_mode", Text("default"))],
    tools: &[
        tool("Bash", &["bash", "shell"]).needing(&["command"]),
        tool("PowerShell", &["bash"]), tool("Monitor", &["bash"]),
        tool("Read", &["read"]).with_arguments(FILE_PATH).needing(&["file_path"]),
        tool("Write", &["write"]).with_arguments(FILE_PATH).needing(&["file_path", "content"]),
        tool("Edit", &["edit"]).with_arguments(FILE_PATH).needing(&["file_path", "new_string"]),
        tool("MultiEdit", &["edit", "multi_edit"]).with_arguments(FILE_PATH).needing(&["file_path"]),
        tool("NotebookEdit", &["edit"]).with_arguments(&[("notebook_path", "path"), ("new_source", "new_string")])
            .needing(&["notebook_path"]),
        tool("Glob", &["glob"]), tool("Grep", &["grep"]), tool("LS", &["ls", "list"]),
        tool("WebFetch", &["web_fetch"]).needing(&["url"]), tool("WebSearch", &["web_search"]),
        tool("Agent", &["task", "agent"]), tool("Task", &["task"]),
    ],
    variables: &[
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PLUGIN_ROOT", Variable::Plugin),
        ("CLAUDE_PLUGIN_DATA", DATA),
        ("CLAUDE_EFFORT", Variable::Effort),
        ("CLAUDE_ENV_FILE", Variable::EnvFile),
    ],
    emulated: &Emulated {
        manifest: ".claude-plugin",
        keys: &["args", "shell", "if", "timeout", "async", "asyncRewake", "onFailure", "statusMessage"],
        keys_not_applied: &["asyncRewake", "once", "rewakeMessage", "rewakeSummary"],
        list_of_names: "_- ,|",
        wraps_output: true,
        also_called: &[("Task", "Agent"), ("Agent", "Task")],
        takes_yes: true,
        checks_event_name: true,
        block_replaces_output: false,
        shell: UsualShell::Bash,
    },
    answers: Answers {
        // A context at the end of a turn would make the agent continue.
        context: &[
            "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit",
            "UserPromptExpansion", "SessionStart", "Setup", "SubagentStart", "Notification",
        ],
        questions: Questions::Reason,
        applies_input: true,
        takes_yes: true,
        outputs: Outputs::OwnForm,
        cannot_end_turn: &["PreToolUse"],
        blocks: BlockedBy::Code,
        messages: Messages::Json,
        messages_beside_block: &["PreToolUse", "PostToolBatch", "Stop"],
        ends_turn_later: Some("PostToolBatch"),
        prompts_have: None,
    },
    ..AGENT
};

const DATA: Variable = Variable::PluginData(".claude/plugins/data");

#[rustfmt::skip]
const EVENTS: &[Event] = &[
    Event { name: "PreToolUse", subject: TOOL, effect: Blocks, specific: DECISION, fields: &[INPUT, CALL], ..EVENT },
    Event {
        name: "PostToolUse", subject: TOOL, effect: FeedsBack, specific: RESULT,
        fields: &[INPUT, ("tool_response", Null), CALL], ..EVENT
    },
    Event {
        name: "PostToolUseFailure", subject: TOOL, effect: FeedsBack,
        fields: &[INPUT, CALL, text("error"), ("is_interrupt", False)], ..EVENT
    },
    Event { name: "PermissionRequest", subject: TOOL, effect: Blocks, specific: REQUEST, fields: &[INPUT], ..EVENT },
    Event {
        name: "UserPromptSubmit", timeout: ms(30_000), effect: Blocks, text_is_context: true,
        fields: &[text("prompt")], ..EVENT
    },
    Event {
        name: "SessionStart", subject: Some("source"), text_is_context: true, has_env_file: true,
        fields: &[("source", Text("startup")), text("model")], ..EVENT
    },
    Event {
        name: "SessionEnd", subject: Some("reason"), timeout: ms(1_500), waits: ms(60_000),
        fields: &[("reason", Text("other"))], ..EVENT
    },
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
    Event {
        name: "PreCompact", subject: Some("trigger"), effect: Blocks,
        fields: &[TRIGGER, text("custom_instructions")], ..EVENT
    },
    Event { name: "PostCompact", subject: Some("trigger"), fields: &[TRIGGER, text("compact_summary")], ..EVENT },
    Event {
        name: "UserPromptExpansion", fires: OfHost("user:prompt_expansion"), subject: Some("command_name"),
        effect: Blocks, text_is_context: true,
        fields: &[text("command_name"), text("prompt")], ..EVENT
    },
    // Any answer but a block lets the command run as it is: the agent neither asks nor runs a changed one.
    Event {
        name: "PreSkillShellCommand", fires: UnderAgent("tool:pre_execute"), subject: TOOL, effect: Blocks,
        fields: &[INPUT, CALL, text("command_name"), text("command_source"), text("invoked_by")], ..EVENT
    },
    // The event is not registered: a version that does not know it warns of it.
    Event {
        name: "PreModelSwitch", fires: OfHost("model:pre_switch"), registered: false, subject: Some("to_model"), timeout: ms(30_000),
        effect: Blocks, is_closed: true,
        fields: &[text("from_model"), text("to_model")], ..EVENT
    },
    Event {
        name: "PostModelSwitch", fires: OfHost("model:post_switch"), registered: false, subject: Some("to_model"), text_is_context: true,
        fields: &[text("from_model"), text("to_model")], ..EVENT
    },
    Event { name: "DirectoryAdded", fires: OfHost("session:directory_added"), registered: false, ..EVENT },
    Event { name: "CwdChanged", fires: OfHost("session:cwd_changed"), has_env_file: true, ..EVENT },
    // The event is not registered: each change of any file would start a process.
    Event { name: "FileChanged", fires: OfHost("session:file_changed"), registered: false, has_env_file: true, ..EVENT },
    Event { name: "Setup", fires: OfHost("session:setup"), subject: Some("trigger"), has_env_file: true, ..EVENT },
    Event {
        name: "ConfigChange", fires: OfHost("session:config_changed"), subject: Some("source"), effect: Blocks,
        fields: &[text("source"), text("file_path")], ..EVENT
    },
    Event {
        name: "InstructionsLoaded", fires: OfHost("session:instructions_loaded"), subject: Some("load_reason"),
        fields: &[text("file_path"), text("memory_type"), text("load_reason")], ..EVENT
    },
    // The event is not registered: each piece of a message would start a process.
    Event { name: "MessageDisplay", fires: OfHost("message:display"), registered: false, timeout: ms(10_000), ..EVENT },
    Event { name: "PermissionDenied", subject: TOOL, fields: &[INPUT, CALL, text("reason")], ..EVENT },
    Event {
        name: "PostToolBatch", fires: OfHost("tool:post_batch"), effect: Blocks,
        fields: &[("tool_calls", List)], ..EVENT
    },
    Event {
        name: "StopFailure", fires: OfHost("agent:stop_failure"), subject: Some("error"),
        fields: &[text("error"), text("error_details"), LAST], ..EVENT
    },
    Event {
        name: "TeammateIdle", fires: OfHost("agent:teammate_idle"), effect: Blocks,
        fields: &[text("teammate_name"), text("team_name")], ..EVENT
    },
    Event {
        name: "TaskCreated", fires: OfHost("task:created"), effect: Blocks,
        fields: &[text("task_id"), text("task_subject"), text("task_description"), text("teammate_name"),
            text("team_name")], ..EVENT
    },
    Event {
        name: "TaskCompleted", fires: OfHost("task:completed"), effect: Blocks,
        fields: &[text("task_id"), text("task_subject"), text("task_description"), text("teammate_name"),
            text("team_name")], ..EVENT
    },
    Event {
        name: "Elicitation", fires: OfHost("mcp:elicitation"), subject: Some("mcp_server_name"), effect: Blocks,
        fields: &[text("mcp_server_name"), text("message")], ..EVENT
    },
    Event {
        name: "ElicitationResult", fires: OfHost("mcp:elicitation_result"), subject: Some("mcp_server_name"),
        effect: Blocks,
        fields: &[text("mcp_server_name"), text("action"), ("content", Object)], ..EVENT
    },
    // These events are not registered: a hook of them does in the agent's place what git does otherwise.
    Event {
        name: "WorktreeCreate", fires: OfHost("worktree:create"), registered: false, effect: Blocks, is_closed: true,
        fields: &[text("name")], ..EVENT
    },
    Event { name: "WorktreeRemove", fires: OfHost("worktree:remove"), registered: false, fields: &[text("worktree_path")], ..EVENT },
];
