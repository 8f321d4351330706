//! Codex CLI. <https://developers.openai.com/codex/hooks> It is strict: an unknown key or value makes an answer unusable.

use std::sync::LazyLock;

use super::claude;
use super::tool::{Answers, Event, Files, Handlers, Reading, Specific, Tool, Variable, Words};
use crate::hook::Decision::{Allow, Ask, Block};

pub(super) const TOOL: Tool = Tool {
    name: "codex",
    title: "Codex",
    files: Files {
        directory: ".codex",
        user: ".codex/hooks.json",
        project: ".codex/hooks.json",
        toml: Some(".codex/config.toml"),
        extensions: None,
        manifest: ".codex-plugin",
        all_off: "",
        settings: "",
        not_events: "",
    },
    handlers: Handlers {
        timeout_keys: "timeout timeoutSec",
        milliseconds: false,
        keys: "additionalContextLimit async onFailure statusMessage",
        not_applied: "",
        other_types: "prompt agent mcp_tool",
        context_limit: Some(2_500),
        windows_key: Some("commandWindows"),
    },
    events,
    fields: "session_id transcript_path=null permission_mode=default model",
    has_timestamp: false,
    renamed: claude::TOOL.renamed,
    response: |_, _| None,
    tools: "bash=Bash shell=Bash write=apply_patch edit=apply_patch multi_edit=apply_patch list=ls agent=task",
    also_called: "apply_patch=Edit apply_patch=Write",
    list_of_names: Some("_|"),
    variables: &[
        ("PLUGIN_ROOT", Variable::Plugin),
        ("CLAUDE_PLUGIN_ROOT", Variable::Plugin),
        ("PLUGIN_DATA", PLUGIN_DATA),
        ("CLAUDE_PLUGIN_DATA", PLUGIN_DATA),
    ],
    env_file: "",
    has_login_shell: true,
    runs_once: false,
    answers: Answers {
        reading: Reading::Strict,
        stop_denies: false,
        decisions: &[("approve", Allow), ("block", Block)],
        specific: &[BEFORE_TOOL, claude::REQUEST],
        not_applied: "",
        known: "continue stopReason suppressOutput systemMessage decision reason hookSpecificOutput",
        refused: REFUSED,
    },
};

const PLUGIN_DATA: Variable = Variable::PluginData(".codex/plugins/data");

const BEFORE_TOOL: Specific = Specific {
    event: "PreToolUse",
    decision: "permissionDecision",
    words: &[("allow", Allow), ("deny", Block), ("ask", Ask)],
    reason: "permissionDecisionReason",
    new_input: "updatedInput",
    known: "hookEventName permissionDecision permissionDecisionReason updatedInput additionalContext",
    ..Specific::NONE
};

const REFUSED: &[(Words, &str, &str)] = &[
    ("PreToolUse PermissionRequest", "continue=false", ""),
    ("PreToolUse PermissionRequest", "stopReason", ""),
    ("PreToolUse PermissionRequest", "suppressOutput=true", ""),
    ("PostToolUse", "suppressOutput=true", ""),
    ("", "decision=approve", ""),
    ("", "decision=block", "reason"),
    ("", "updatedMCPToolOutput", ""),
    ("PreToolUse", "permissionDecision=ask", ""),
    ("PreToolUse", "permissionDecision=allow", "updatedInput"),
    (
        "PreToolUse",
        "permissionDecision=deny",
        "permissionDecisionReason",
    ),
    (
        "PreToolUse",
        "permissionDecisionReason",
        "permissionDecision",
    ),
    ("PreToolUse", "updatedInput", "permissionDecision=allow"),
    ("PermissionRequest", "updatedInput", ""),
    ("PermissionRequest", "updatedPermissions", ""),
    ("PermissionRequest", "interrupt=true", ""),
];

const EVENTS: Words = "\
PreToolUse tool:pre_execute on=tool_name blocks turn_id tool_input={} tool_use_id
PostToolUse tool:post_execute on=tool_name feeds_back \
    turn_id tool_input={} tool_response=null tool_use_id
PermissionRequest permission:prompt on=tool_name blocks turn_id tool_input={}
UserPromptSubmit user:prompt_submit blocks context turn_id prompt
SessionStart session:start on=source context source=startup
SessionEnd session:end on=reason ms=1000 most_ms=3000 reason=other
Interrupt user:interrupt turn_id
Stop agent:stop blocks json turn_id stop_hook_active=false last_assistant_message=null
SubagentStart agent:subagent_start on=agent_type context turn_id agent_id agent_type=general-purpose
SubagentStop agent:subagent_stop on=agent_type blocks json turn_id agent_id \
    agent_type=general-purpose agent_transcript_path=null stop_hook_active=false \
    last_assistant_message=null
PreCompact context:pre_compact on=trigger turn_id trigger=auto
PostCompact context:post_compact on=trigger turn_id trigger=auto";

fn events() -> &'static [Event] {
    static TABLE: LazyLock<Vec<Event>> = LazyLock::new(|| Event::table(600, EVENTS));
    &TABLE
}
