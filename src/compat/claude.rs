//! Claude Code. <https://code.claude.com/docs/en/hooks> Most other tools copy its format.

use serde_json::{Value, json};

use super::tool::{Reading, Tool, Variable, Words};

pub(super) const TOOL: Tool = Tool {
    name: "claude",
    title: "Claude Code",
    files: ".claude/settings.json .claude/settings.local.json",
    toml: None,
    extensions: None,
    manifest: ".claude-plugin",
    all_off: Some(("disableAllHooks", true)),
    disabled: None,
    not_events: "",
    keys: "args shell if timeout async asyncRewake onFailure statusMessage",
    keys_not_applied: "asyncRewake once rewakeMessage rewakeSummary",
    other_types: "prompt agent http mcp_tool",
    milliseconds: false,
    seconds: 600,
    context_limit: None,
    list_of_names: Some("_- ,|"),
    events: EVENTS,
    fields: "session_id transcript_path permission_mode=default",
    renamed: "tool_args=tool_input tool_result=tool_response content=prompt",
    response,
    tools: "bash=Bash shell=Bash read=Read write=Write edit=Edit multi_edit=MultiEdit glob=Glob \
            grep=Grep ls=LS list=LS web_fetch=WebFetch web_search=WebSearch task=Task agent=Task",
    also_called: "Task=Agent Agent=Task",
    variables: &[
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PLUGIN_ROOT", Variable::Plugin),
        ("CLAUDE_PLUGIN_DATA", PLUGIN_DATA),
        ("CLAUDE_EFFORT", Variable::Effort),
        ("CLAUDE_ENV_FILE", Variable::EnvFile),
    ],
    has_login_shell: false,
    runs_once: true,
    reading: Reading::Typed,
    stop_denies: true,
    decisions: "approve block",
    specific: SPECIFIC,
    not_applied: "async asyncTimeout classifierContext initialUserMessage reloadSkills sessionTitle \
                  suppressOriginalPrompt terminalSequence updatedPermissions watchPaths",
    known: "",
    refused: "",
};

const PLUGIN_DATA: Variable = Variable::PluginData(".claude/plugins/data");

const SPECIFIC: Words = "\
PreToolUse decision=permissionDecision words=allow,deny,ask,defer \
    reason=permissionDecisionReason input=updatedInput
PermissionRequest within=decision decision=behavior words=allow,deny reason=message input=updatedInput
PostToolUse output=updatedToolOutput,updatedMCPToolOutput";

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

/// Returns what a tool has returned as the object that hooks of its name expect.
fn response(tool: &str, value: &Value) -> Option<Value> {
    let text = value.as_str().filter(|_| tool == "Bash")?;
    Some(json!({"stdout": text, "stderr": "", "interrupted": false, "isImage": false}))
}
