//! The tools whose hooks this crate runs. Another tool is another value; what it does not say is as in Claude Code.

use serde_json::json;

use super::tool::{Reading, Tool, UsualShell, Variable, Words};

/// All tools.
pub const TOOLS: [&Tool; 3] = [CLAUDE, CODEX, GEMINI];

/// Claude Code. <https://code.claude.com/docs/en/hooks> Most other tools copy its format.
pub const CLAUDE: &Tool = &CLAUDE_CODE;

const CLAUDE_CODE: Tool = Tool {
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
    events: CLAUDE_EVENTS,
    fields: "session_id transcript_path permission_mode=default",
    renamed: "tool_args=tool_input tool_result=tool_response content=prompt",
    response: |tool, value| {
        let text = value.as_str().filter(|_| tool == "Bash")?;
        Some(json!({"stdout": text, "stderr": "", "interrupted": false, "isImage": false}))
    },
    tools: "bash=Bash shell=Bash read=Read write=Write edit=Edit multi_edit=MultiEdit glob=Glob \
            grep=Grep ls=LS list=LS web_fetch=WebFetch web_search=WebSearch task=Task agent=Task",
    arguments: "Bash=command Read=file_path Write=file_path,content Edit=file_path,new_string \
                MultiEdit=file_path NotebookEdit=notebook_path WebFetch=url",
    also_called: "Task=Agent Agent=Task",
    variables: &[
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PLUGIN_ROOT", Variable::Plugin),
        ("CLAUDE_PLUGIN_DATA", CLAUDE_DATA),
        ("CLAUDE_EFFORT", Variable::Effort),
        ("CLAUDE_ENV_FILE", Variable::EnvFile),
    ],
    shell: UsualShell::Bash,
    runs_once: true,
    reading: Reading::Typed,
    stop_denies: true,
    decisions: "approve block",
    specific: CLAUDE_SPECIFIC,
    not_applied: "action async asyncTimeout classifierContext content initialUserMessage reloadSkills retry \
                  sessionTitle suppressOriginalPrompt terminalSequence updatedPermissions watchPaths worktreePath",
    known: "",
    refused: "",
};

const CLAUDE_DATA: Variable = Variable::PluginData(".claude/plugins/data");

const CLAUDE_SPECIFIC: Words = "\
PreToolUse decision=permissionDecision words=allow,deny,ask,defer \
    reason=permissionDecisionReason input=updatedInput
PermissionRequest within=decision decision=behavior words=allow,deny reason=message input=updatedInput
PostToolUse output=updatedToolOutput,updatedMCPToolOutput";

const CLAUDE_EVENTS: Words = "\
PreToolUse tool:pre_execute on=tool_name blocks tool_input={} tool_use_id
PostToolUse tool:post_execute on=tool_name feeds_back tool_input={} tool_response=null tool_use_id
PostToolUseFailure tool:error on=tool_name feeds_back \
    tool_input={} tool_use_id error is_interrupt=false
PermissionRequest permission:prompt on=tool_name blocks tool_input={}
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
ConfigChange session:config_changed of_host on=source blocks source file_path
InstructionsLoaded session:instructions_loaded of_host on=load_reason file_path memory_type load_reason
MessageDisplay message:display of_host ms=10000
PermissionDenied permission:denied on=tool_name tool_input={} tool_use_id reason
PostToolBatch tool:post_batch of_host blocks tool_calls=[]
StopFailure agent:stop_failure of_host on=error error error_details last_assistant_message
TeammateIdle agent:teammate_idle of_host blocks teammate_name team_name
TaskCreated task:created of_host blocks task_id task_subject task_description teammate_name team_name
TaskCompleted task:completed of_host blocks task_id task_subject task_description teammate_name team_name
Elicitation mcp:elicitation of_host on=mcp_server_name blocks mcp_server_name message
ElicitationResult mcp:elicitation_result of_host on=mcp_server_name blocks mcp_server_name action content={}
WorktreeCreate worktree:create of_host blocks closed name
WorktreeRemove worktree:remove of_host worktree_path";

/// Codex CLI. <https://developers.openai.com/codex/hooks> It is strict: an unknown key or value makes an answer unusable.
pub const CODEX: &Tool = &Tool {
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
    events: CODEX_EVENTS,
    fields: "session_id transcript_path=null permission_mode=default model",
    response: |_, _| None,
    tools: "bash=Bash shell=Bash write=apply_patch edit=apply_patch multi_edit=apply_patch list=ls agent=task",
    arguments: "Bash=command apply_patch=command",
    also_called: "apply_patch=Edit apply_patch=Write",
    variables: &[
        ("PLUGIN_ROOT", Variable::Plugin),
        ("CLAUDE_PLUGIN_ROOT", Variable::Plugin),
        ("PLUGIN_DATA", CODEX_DATA),
        ("CLAUDE_PLUGIN_DATA", CODEX_DATA),
    ],
    shell: UsualShell::Login,
    runs_once: false,
    reading: Reading::Strict,
    stop_denies: false,
    specific: CODEX_SPECIFIC,
    not_applied: "",
    known: "continue stopReason suppressOutput systemMessage decision reason hookSpecificOutput",
    refused: CODEX_REFUSED,
    ..CLAUDE_CODE
};

const CODEX_DATA: Variable = Variable::PluginData(".codex/plugins/data");

const CODEX_SPECIFIC: Words = "\
PreToolUse decision=permissionDecision words=allow,deny,ask reason=permissionDecisionReason input=updatedInput \
    known=hookEventName,permissionDecision,permissionDecisionReason,updatedInput,additionalContext
PermissionRequest within=decision decision=behavior words=allow,deny reason=message input=updatedInput";

const CODEX_REFUSED: Words = "\
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
updatedInput permissionDecision PreToolUse
updatedInput - PermissionRequest
updatedPermissions - PermissionRequest
interrupt=true - PermissionRequest";

const CODEX_EVENTS: Words = "\
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

/// Gemini CLI. <https://geminicli.com/docs/hooks/reference> It treats plain text as an answer.
pub const GEMINI: &Tool = &Tool {
    name: "gemini",
    title: "Gemini CLI",
    files: ".gemini/settings.json",
    extensions: Some(".gemini/extensions"),
    manifest: "gemini-extension.json",
    all_off: Some(("hooksConfig.enabled", false)),
    disabled: Some("hooksConfig.disabled"),
    not_events: "enabled disabled notifications",
    keys: "name description env timeout onFailure statusMessage",
    keys_not_applied: "sequential",
    other_types: "plugin runtime",
    milliseconds: true,
    seconds: 60,
    list_of_names: None,
    events: GEMINI_EVENTS,
    fields: "session_id transcript_path timestamp",
    renamed: "last_assistant_message=prompt_response tool_args=tool_input tool_result=tool_response \
              content=prompt",
    response: |_, value| {
        let wrapped = || json!({"llmContent": value, "returnDisplay": value});
        (!value.is_object()).then(wrapped)
    },
    tools: "bash=run_shell_command shell=run_shell_command read=read_file write=write_file edit=replace \
            multi_edit=replace grep=grep_search ls=list_directory list=list_directory \
            web_search=google_web_search agent=task",
    arguments: "run_shell_command=command read_file=file_path write_file=file_path,content \
                replace=file_path,new_string",
    also_called: "grep_search=search_file_content",
    variables: &[
        ("GEMINI_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("workspacePath", Variable::Project),
        ("extensionPath", Variable::Plugin),
        ("GEMINI_CWD", Variable::Cwd),
        ("GEMINI_SESSION_ID", Variable::Session),
    ],
    shell: UsualShell::BashOnUnix,
    reading: Reading::Tolerant,
    stop_denies: false,
    decisions: "allow approve ask deny block",
    specific: "BeforeTool merged=tool_input",
    not_applied: "clearContext llm_request llm_response tailToolCallRequest toolConfig",
    ..CLAUDE_CODE
};

const GEMINI_EVENTS: Words = "\
BeforeTool tool:pre_execute on=tool_name blocks tool_input={}
AfterTool tool:post_execute on=tool_name feeds_back tool_input={} tool_response={}
BeforeAgent user:prompt_submit blocks prompt
AfterAgent agent:stop blocks prompt prompt_response stop_hook_active=false
BeforeModel llm:pre_request blocks llm_request={}
AfterModel llm:post_response blocks llm_request={} llm_response={}
SessionStart session:start on=source source=startup
SessionEnd session:end on=reason reason=other
PreCompress context:pre_compact on=trigger trigger=auto
Notification notification:show on=notification_type \
    notification_type=ToolPermission message details={}
BeforeToolSelection -";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{EventType, meant_by};

    #[test]
    fn every_event_is_one_of_ours() {
        for tool in TOOLS {
            let names: Vec<_> = tool.event_names().collect();
            for (index, name) in names.iter().enumerate() {
                let event = tool.event_named(name).unwrap();
                if let Some(ours) = event.ours {
                    EventType::of_name(ours).unwrap();
                    let meant = meant_by(event.name);
                    let is_told = event.is_of_host || event.name == "Interrupt";
                    assert!(meant.as_deref() == Some(ours) || is_told && meant.is_none());
                }
                assert!(!names[index + 1..].contains(name));
            }
        }
    }

    #[test]
    fn lists_of_names_have_their_characters() {
        for (matcher, tools) in [
            ("Bash", &[CLAUDE, CODEX][..]),
            ("Edit|mcp__a__b2", &[CLAUDE, CODEX]),
            ("mcp__my-server", &[CLAUDE]),
            ("Edit, Write", &[CLAUDE]),
            ("Edit |Write", &[CLAUDE]),
            ("Edit.*", &[]),
            ("Änderung", &[]),
        ] {
            let found = TOOLS.into_iter().filter(|it| it.is_list_of_names(matcher));
            assert_eq!(found.collect::<Vec<_>>(), tools, "{matcher}");
        }
    }

    #[test]
    fn tools_have_the_other_tools_names() {
        for (tool, ours, expected) in [
            (CLAUDE, "bash", "Bash"),
            (CLAUDE, "Bash", "Bash"),
            (CODEX, "edit", "apply_patch"),
            (GEMINI, "bash", "run_shell_command"),
            (GEMINI, "mcp__x__y", "mcp__x__y"),
        ] {
            assert_eq!(tool.tool_name(ours), expected);
        }
    }
}
