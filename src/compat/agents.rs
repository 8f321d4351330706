//! The agents whose hooks this crate runs. Another agent is another value; a field that it does not set is as in Claude
//! Code.

use std::time::Duration;

use super::agent::Effect::{Blocks, FeedsBack};
use super::agent::Fires::{OfHost, UnderAgent};
use super::agent::Unset::{False, List, Null, Object, Text};
use super::agent::{
    Agent, EVENT, Emulated, Event, Field, HandlerApproval, Pairs, SPECIFIC, Specific, TOOL_NAME,
    UsualShell, Variable, tool,
};

// These constants are parts of the rows below.
pub(super) const TOOL: Option<&str> = Some(TOOL_NAME);
pub(super) const INPUT: Field = ("tool_input", Object);
pub(super) const CALL: Field = text("tool_use_id");
const TURN: Field = text("turn_id");
pub(super) const TRIGGER: Field = ("trigger", Text("auto"));
pub(super) const SUBAGENT: Field = ("agent_type", Text("general-purpose"));
pub(super) const ACTIVE: Field = ("stop_hook_active", False);
pub(super) const LAST: Field = text("last_assistant_message");

pub(super) const FILE_PATH: Pairs = &[("file_path", "path")];

/// A field that is an empty text unless the host sets it.
pub(crate) const fn text(key: &'static str) -> Field {
    (key, Text(""))
}

pub(super) const fn ms(milliseconds: u64) -> Option<Duration> {
    Some(Duration::from_millis(milliseconds))
}

#[rustfmt::skip]
const CLAUDE_CALL: Specific = Specific {
    decision: Some(("permissionDecision", &["allow", "deny", "ask", "defer"])),
    reason: Some("permissionDecisionReason"), input: Some("updatedInput"), ..SPECIFIC
};

#[rustfmt::skip]
const CLAUDE_RESULT: Specific = Specific { output: &["updatedToolOutput", "updatedMCPToolOutput"], ..SPECIFIC };

#[rustfmt::skip]
pub(super) const REQUEST: Specific = Specific {
    within: Some("decision"), decision: Some(("behavior", &["allow", "deny"])),
    reason: Some("message"), input: Some("updatedInput"), ..SPECIFIC
};

/// The agents whose hooks hosts run.
pub const AGENTS: [&Agent; 2] = [CLAUDE, CODEX];

/// The tool that applies a patch, which may be for several files.
pub(crate) const APPLY_PATCH: &str = "apply_patch";

/// Claude Code. <https://code.claude.com/docs/en/hooks> Most other agents copy its format.
#[rustfmt::skip]
pub const CLAUDE: &Agent = &Agent {
    name: "claude",
    title: "Claude Code",
    files: &[".claude/settings.json", ".claude/settings.local.json"],
    also_decides: &[".claude.json", ".claude/plugins", ".mcp.json"],
    may_decide: &[".claude/agents", ".claude/commands", ".claude/skills"],
    decides_at_home: &[],
    moved_by: ("CLAUDE_CONFIG_DIR", ".claude"),
    set_for_tools: "CLAUDECODE",
    approval: None,
    reads_plain_json: false,
    version: None,
    bare_patches: false,
    all_off: Some(("disableAllHooks", true)),
    disabled: None,
    environment: Some("env"),
    names_handlers: false,
    milliseconds: false,
    seconds: 600,
    events: CLAUDE_EVENTS,
    fields: &[text("session_id"), text("transcript_path"), ("permission_mode", Text("default"))],
    renamed: &[("tool_args", "tool_input"), ("tool_result", "tool_response"), ("content", "prompt")],
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
    corrects_paths: false,
    joins_servers: None,
    plugin: None,
    variables: &[
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PLUGIN_ROOT", Variable::Plugin),
        ("CLAUDE_PLUGIN_DATA", CLAUDE_DATA),
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
};

const CLAUDE_DATA: Variable = Variable::PluginData(".claude/plugins/data");

#[rustfmt::skip]
const CLAUDE_EVENTS: &[Event] = &[
    Event { name: "PreToolUse", subject: TOOL, effect: Blocks, specific: CLAUDE_CALL, fields: &[INPUT, CALL], ..EVENT },
    Event {
        name: "PostToolUse", subject: TOOL, effect: FeedsBack, specific: CLAUDE_RESULT,
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

/// Codex CLI. <https://developers.openai.com/codex/hooks> Its answers are read as those of Claude Code.
#[rustfmt::skip]
pub const CODEX: &Agent = &Agent {
    name: "codex",
    title: "Codex",
    files: &[".codex/hooks.json"],
    // A role has settings of its own.
    also_decides: &[".codex/agents", ".codex/config.toml"],
    may_decide: &[".codex/skills"],
    // Its shell, which starts hooks, is one of logins: `exit 0` would let each call pass.
    decides_at_home: &[
        ".bash_login", ".bash_profile", ".bashrc", ".config/fish", ".profile", ".zlogin", ".zprofile", ".zshenv", ".zshrc",
    ],
    moved_by: ("CODEX_HOME", ".codex"),
    set_for_tools: "CODEX_THREAD_ID",
    approval: Some(HandlerApproval {
        program: "codex",
        by_hand: "approve them in `/hooks`: before that Codex runs none of them, and does not say so",
    }),
    // The source is its `codex-rs/hooks/src/engine/discovery.rs`.
    reads_plain_json: true,
    version: None,
    bare_patches: false,
    all_off: None,
    disabled: None,
    environment: None,
    names_handlers: false,
    milliseconds: false,
    seconds: 600,
    events: CODEX_EVENTS,
    fields: &[text("session_id"), ("transcript_path", Null), ("permission_mode", Text("default")), text("model")],
    renamed: &[("tool_args", "tool_input"), ("tool_result", "tool_response"), ("content", "prompt")],
    tools: &[
        tool("Bash", &["bash", "shell"]).needing(&["command"]),
        tool(APPLY_PATCH, &["write", "edit", "multi_edit"]).needing(&["command"]),
        tool("ls", &["ls", "list"]), tool("task", &["task", "agent"]), tool("spawn_agent", &["task"]),
    ],
    corrects_paths: false,
    joins_servers: None,
    plugin: None,
    variables: &[
        ("PLUGIN_ROOT", Variable::Plugin),
        ("CLAUDE_PLUGIN_ROOT", Variable::Plugin),
        ("PLUGIN_DATA", CODEX_DATA),
        ("CLAUDE_PLUGIN_DATA", CODEX_DATA),
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
};

const CODEX_DATA: Variable = Variable::PluginData(".codex/plugins/data");

#[rustfmt::skip]
const CODEX_EVENTS: &[Event] = &[
    Event {
        name: "PreToolUse", subject: TOOL, effect: Blocks, specific: CLAUDE_CALL,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventType;

    #[test]
    fn rows_name_events_and_keys_that_there_are() {
        for agent in AGENTS {
            let names: Vec<_> = agent.event_names().collect();
            for (index, event) in agent.events.iter().enumerate() {
                let is_known = |ours| EventType::of_name(ours).is_ok();
                assert_eq!(
                    event.ours().is_some_and(is_known),
                    event.fires != super::super::agent::Fires::Never,
                    "{event:?}"
                );
                assert!(!names[index + 1..].contains(&event.name), "{event:?}");
            }
        }
    }

    #[test]
    fn lists_of_names_have_their_characters() {
        for (matcher, agents) in [
            ("Bash", &[CLAUDE, CODEX][..]),
            ("Edit|mcp__a__b2", &[CLAUDE, CODEX]),
            ("mcp__my-server", &[CLAUDE]),
            ("Edit, Write", &[CLAUDE]),
            ("Edit |Write", &[CLAUDE]),
            ("Edit.*", &[]),
            ("Änderung", &[]),
        ] {
            let of_list = AGENTS
                .into_iter()
                .filter(|agent| agent.is_list_of_names(matcher));
            assert_eq!(of_list.collect::<Vec<_>>(), agents, "{matcher}");
        }
    }

    #[test]
    fn tools_have_the_agents_names() {
        for (agent, ours, expected) in [
            (CLAUDE, "bash", "Bash"),
            (CLAUDE, "Bash", "Bash"),
            (CODEX, "edit", "apply_patch"),
            (CODEX, "mcp__x__y", "mcp__x__y"),
        ] {
            assert_eq!(agent.tool_name(ours), expected);
        }
    }
}
