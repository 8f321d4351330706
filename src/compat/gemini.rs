//! Gemini CLI. <https://geminicli.com/docs/hooks/reference> It treats plain text as an answer.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::tool::{Answers, Event, Files, Handlers, Reading, Specific, Tool, Variable, Words};
use crate::hook::Decision::{Allow, Ask, Block};

pub(super) const TOOL: Tool = Tool {
    name: "gemini",
    title: "Gemini CLI",
    files: Files {
        directory: ".gemini",
        user: ".gemini/settings.json",
        project: ".gemini/settings.json",
        toml: None,
        extensions: Some(".gemini/extensions"),
        manifest: "gemini-extension.json",
        all_off: "",
        settings: "hooksConfig",
        not_events: "enabled disabled notifications",
    },
    handlers: Handlers {
        timeout_keys: "timeout",
        milliseconds: true,
        keys: "name description env onFailure statusMessage",
        not_applied: "sequential",
        other_types: "plugin runtime",
        context_limit: None,
        windows_key: None,
    },
    events,
    fields: "session_id transcript_path",
    has_timestamp: true,
    renamed: "last_assistant_message=prompt_response tool_args=tool_input tool_result=tool_response \
              content=prompt",
    response,
    tools: "bash=run_shell_command shell=run_shell_command read=read_file write=write_file edit=replace \
            multi_edit=replace grep=grep_search ls=list_directory list=list_directory \
            web_search=google_web_search agent=task",
    also_called: "grep_search=search_file_content",
    list_of_names: None,
    variables: &[
        ("GEMINI_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("workspacePath", Variable::Project),
        ("extensionPath", Variable::Plugin),
        ("GEMINI_CWD", Variable::Cwd),
        ("GEMINI_SESSION_ID", Variable::Session),
    ],
    env_file: "",
    has_login_shell: false,
    runs_once: true,
    answers: Answers {
        reading: Reading::Tolerant,
        stop_denies: false,
        decisions: &[
            ("allow", Allow),
            ("approve", Allow),
            ("ask", Ask),
            ("deny", Block),
            ("block", Block),
        ],
        specific: &[BEFORE_TOOL],
        not_applied: "clearContext llm_request llm_response tailToolCallRequest toolConfig",
        known: "",
        refused: &[],
    },
};

const BEFORE_TOOL: Specific = Specific {
    event: "BeforeTool",
    merged_input: "tool_input",
    ..Specific::NONE
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

fn events() -> &'static [Event] {
    static TABLE: LazyLock<Vec<Event>> = LazyLock::new(|| Event::table(60, EVENTS));
    &TABLE
}

/// Returns what a tool has returned as the object that hooks expect.
fn response(_tool: &str, value: &Value) -> Option<Value> {
    let wrapped = || json!({"llmContent": value, "returnDisplay": value});
    (!value.is_object()).then(wrapped)
}
