//! Codex CLI. <https://developers.openai.com/codex/hooks> Where it is not said otherwise, its format is that of Claude
//! Code. It is strict: an unknown key or value makes an answer unusable.

use super::claude;
use super::tool::{Reading, Tool, Variable, Words};

pub(super) const TOOL: Tool = Tool {
    name: "codex",
    title: "Codex",
    files: ".codex/hooks.json",
    toml: Some(".codex/config.toml"),
    manifest: ".codex-plugin",
    all_off: None,
    keys: "timeout timeoutSec additionalContextLimit async commandWindows onFailure statusMessage",
    keys_not_applied: "",
    other_types: "prompt agent mcp_tool",
    context_limit: Some(2_500),
    list_of_names: Some("_|"),
    events: EVENTS,
    fields: "session_id transcript_path=null permission_mode=default model",
    response: |_, _| None,
    tools: "bash=Bash shell=Bash write=apply_patch edit=apply_patch multi_edit=apply_patch list=ls agent=task",
    also_called: "apply_patch=Edit apply_patch=Write",
    variables: &[
        ("PLUGIN_ROOT", Variable::Plugin),
        ("CLAUDE_PLUGIN_ROOT", Variable::Plugin),
        ("PLUGIN_DATA", PLUGIN_DATA),
        ("CLAUDE_PLUGIN_DATA", PLUGIN_DATA),
    ],
    has_login_shell: true,
    runs_once: false,
    reading: Reading::Strict,
    stop_denies: false,
    specific: SPECIFIC,
    not_applied: "",
    known: "continue stopReason suppressOutput systemMessage decision reason hookSpecificOutput",
    refused: REFUSED,
    ..claude::TOOL
};

const PLUGIN_DATA: Variable = Variable::PluginData(".codex/plugins/data");

const SPECIFIC: Words = "\
PreToolUse decision=permissionDecision words=allow,deny,ask reason=permissionDecisionReason input=updatedInput \
    known=hookEventName,permissionDecision,permissionDecisionReason,updatedInput,additionalContext
PermissionRequest within=decision decision=behavior words=allow,deny reason=message input=updatedInput";

const REFUSED: Words = "\
continue=false - PreToolUse PermissionRequest
stopReason - PreToolUse PermissionRequest
suppressOutput=true - PreToolUse PermissionRequest PostToolUse
decision=approve -
decision=block reason
updatedMCPToolOutput -
permissionDecision=ask - PreToolUse
permissionDecision=allow updatedInput PreToolUse
permissionDecision=deny permissionDecisionReason PreToolUse
permissionDecisionReason permissionDecision PreToolUse
updatedInput permissionDecision=allow PreToolUse
updatedInput - PermissionRequest
updatedPermissions - PermissionRequest
interrupt=true - PermissionRequest";

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
