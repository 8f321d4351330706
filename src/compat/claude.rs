//! Claude Code. <https://code.claude.com/docs/en/hooks>

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::tool::{Answers, Event, Files, Handlers, Reading, Specific, Tool, Variable, Words};
use crate::hook::Decision::{Allow, Ask, Block};

pub(super) const TOOL: Tool = Tool {
    name: "claude",
    title: "Claude Code",
    files: Files {
        directory: ".claude",
        user: ".claude/settings.json",
        project: ".claude/settings.json .claude/settings.local.json",
        toml: None,
        extensions: None,
        manifest: ".claude-plugin",
        all_off: "disableAllHooks",
        settings: "",
        not_events: "",
    },
    handlers: Handlers {
        timeout_keys: "timeout",
        milliseconds: false,
        keys: "args shell if async asyncRewake onFailure statusMessage",
        not_applied: "once rewakeMessage rewakeSummary",
        other_types: "prompt agent http mcp_tool",
        context_limit: None,
        windows_key: None,
    },
    events,
    fields: "session_id transcript_path permission_mode=default",
    has_timestamp: false,
    renamed: "tool_args=tool_input tool_result=tool_response content=prompt",
    response,
    tools: "bash=Bash shell=Bash read=Read write=Write edit=Edit multi_edit=MultiEdit glob=Glob \
            grep=Grep ls=LS list=LS web_fetch=WebFetch web_search=WebSearch task=Task agent=Task",
    also_called: "Task=Agent Agent=Task",
    list_of_names: Some("_- ,|"),
    variables: &[
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PLUGIN_ROOT", Variable::Plugin),
        ("CLAUDE_PLUGIN_DATA", PLUGIN_DATA),
        ("CLAUDE_EFFORT", Variable::Effort),
    ],
    env_file: "CLAUDE_ENV_FILE",
    has_login_shell: false,
    runs_once: true,
    answers: Answers {
        reading: Reading::Typed,
        stop_denies: true,
        decisions: &[("approve", Allow), ("block", Block)],
        specific: &[BEFORE_TOOL, REQUEST, AFTER_TOOL],
        not_applied: "async asyncTimeout classifierContext initialUserMessage reloadSkills sessionTitle \
                      suppressOriginalPrompt terminalSequence updatedPermissions watchPaths",
        known: "",
        refused: &[],
    },
};

const PLUGIN_DATA: Variable = Variable::PluginData(".claude/plugins/data");

/// The call waits for the user at `defer`: no host of this crate lets it wait for another program.
const BEFORE_TOOL: Specific = Specific {
    event: "PreToolUse",
    decision: "permissionDecision",
    words: &[
        ("allow", Allow),
        ("deny", Block),
        ("ask", Ask),
        ("defer", Ask),
    ],
    reason: "permissionDecisionReason",
    new_input: "updatedInput",
    ..Specific::NONE
};

pub(super) const REQUEST: Specific = Specific {
    event: "PermissionRequest",
    within: "decision",
    decision: "behavior",
    words: &[("allow", Allow), ("deny", Block)],
    reason: "message",
    new_input: "updatedInput",
    ..Specific::NONE
};

const AFTER_TOOL: Specific = Specific {
    event: "PostToolUse",
    new_output: "updatedToolOutput updatedMCPToolOutput",
    ..Specific::NONE
};

const EVENTS: Words = "\
PreToolUse tool:pre_execute on=tool_name blocks tool_input={} tool_use_id
PostToolUse tool:post_execute on=tool_name feeds_back tool_input={} tool_response=null tool_use_id
PostToolUseFailure tool:error on=tool_name feeds_back \
    tool_input={} tool_use_id error is_interrupt=false
PermissionRequest permission:prompt on=tool_name tool_input={}
UserPromptSubmit user:prompt_submit ms=30000 blocks context prompt
SessionStart session:start on=source context env_file source=startup model
SessionEnd session:end on=reason ms=1500 reason=other
Notification notification:show on=notification_type message notification_type
Stop agent:stop blocks stop_hook_active=false last_assistant_message
SubagentStart agent:subagent_start on=agent_type agent_id agent_type=general-purpose
SubagentStop agent:subagent_stop on=agent_type blocks agent_id agent_type=general-purpose \
    agent_transcript_path stop_hook_active=false last_assistant_message
PreCompact context:pre_compact on=trigger blocks trigger=auto custom_instructions
PostCompact context:post_compact on=trigger trigger=auto compact_summary
UserPromptExpansion user:prompt_expansion of_host on=command_name blocks context command_name prompt
PreModelSwitch model:pre_switch of_host on=to_model ms=30000 blocks closed from_model to_model
PostModelSwitch model:post_switch of_host on=to_model context from_model to_model
DirectoryAdded session:directory_added of_host
CwdChanged session:cwd_changed of_host env_file
FileChanged session:file_changed of_host env_file
Setup session:setup of_host on=trigger env_file
ConfigChange -
Elicitation -
ElicitationResult -
InstructionsLoaded -
MessageDisplay -
PermissionDenied -
PostToolBatch -
StopFailure -
TaskCompleted -
TaskCreated -
TeammateIdle -
WorktreeCreate -
WorktreeRemove -";

fn events() -> &'static [Event] {
    static TABLE: LazyLock<Vec<Event>> = LazyLock::new(|| Event::table(600, EVENTS));
    &TABLE
}

/// Returns what a tool has returned as the object that hooks of its name expect.
fn response(tool: &str, value: &Value) -> Option<Value> {
    let text = value.as_str().filter(|_| tool == "Bash")?;
    Some(json!({"stdout": text, "stderr": "", "interrupted": false, "isImage": false}))
}
