//! Gemini CLI. <https://geminicli.com/docs/hooks/reference> Where it is not said otherwise, its format is that of Claude
//! Code. It treats plain text as an answer.

use serde_json::{Value, json};

use super::claude;
use super::tool::{Reading, Tool, Variable, Words};

pub(super) const TOOL: Tool = Tool {
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
    events: EVENTS,
    fields: "session_id transcript_path timestamp",
    renamed: "last_assistant_message=prompt_response tool_args=tool_input tool_result=tool_response \
              content=prompt",
    response,
    tools: "bash=run_shell_command shell=run_shell_command read=read_file write=write_file edit=replace \
            multi_edit=replace grep=grep_search ls=list_directory list=list_directory \
            web_search=google_web_search agent=task",
    also_called: "grep_search=search_file_content",
    variables: &[
        ("GEMINI_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("workspacePath", Variable::Project),
        ("extensionPath", Variable::Plugin),
        ("GEMINI_CWD", Variable::Cwd),
        ("GEMINI_SESSION_ID", Variable::Session),
    ],
    reading: Reading::Tolerant,
    stop_denies: false,
    decisions: "allow approve ask deny block",
    specific: "BeforeTool merged=tool_input",
    not_applied: "clearContext llm_request llm_response tailToolCallRequest toolConfig",
    ..claude::TOOL
};

const EVENTS: Words = "\
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

/// Returns what a tool has returned as the object that hooks expect.
fn response(_tool: &str, value: &Value) -> Option<Value> {
    let wrapped = || json!({"llmContent": value, "returnDisplay": value});
    (!value.is_object()).then(wrapped)
}
