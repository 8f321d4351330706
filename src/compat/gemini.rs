//! Gemini CLI. This program runs under it. Hosts do not run its hooks. <https://geminicli.com/docs/hooks/reference>

use super::agent::Effect::{Blocks, FeedsBack};
use super::agent::Fires::Never;
use super::agent::Unset::{Object, Text};
use super::agent::{Agent, EVENT, Event, NOT_EMULATED, Pairs, SPECIFIC, Specific, Variable, tool};
use super::agents::{ACTIVE, FILE_PATH, INPUT, TOOL, TRIGGER, text};

const DIR_PATH: Pairs = &[("dir_path", "path")];

#[rustfmt::skip]
const GEMINI_CALL: Specific = Specific { input: Some("tool_input"), ..SPECIFIC };

/// Google's Gemini CLI.
#[rustfmt::skip]
pub(crate) const GEMINI: &Agent = &Agent {
    name: "gemini",
    title: "Gemini CLI",
    files: &[".gemini/settings.json"],
    also_decides: &[".gemini/.env", ".gemini/extensions", ".gemini/policies"],
    may_decide: &[".gemini/agents", ".gemini/skills"],
    decides_at_home: &[],
    moved_by: ("GEMINI_CLI_HOME", ""),
    set_for_tools: "GEMINI_CLI",
    approval: None,
    reads_plain_json: false,
    version: None,
    bare_patches: false,
    all_off: Some(("hooksConfig.enabled", false)),
    disabled: Some("hooksConfig.disabled"),
    environment: None,
    names_handlers: true,
    milliseconds: true,
    seconds: 60,
    events: GEMINI_EVENTS,
    fields: &[text("session_id"), text("transcript_path"), text("timestamp")],
    renamed: &[
        ("last_assistant_message", "prompt_response"), ("tool_args", "tool_input"), ("tool_result", "tool_response"),
        ("content", "prompt"),
    ],
    tools: &[
        tool("run_shell_command", &["bash", "shell"]).needing(&["command"]),
        tool("read_file", &["read"]).with_arguments(FILE_PATH).needing(&["file_path"]),
        tool("write_file", &["write"]).with_arguments(FILE_PATH).needing(&["file_path", "content"]),
        tool("replace", &["edit", "multi_edit"]).with_arguments(FILE_PATH).needing(&["file_path", "new_string"]),
        tool("grep_search", &["grep"]).with_arguments(DIR_PATH),
        tool("search_file_content", &["grep"]).with_arguments(DIR_PATH),
        tool("list_directory", &["ls", "list"]).with_arguments(DIR_PATH), tool("glob", &["glob"]).with_arguments(DIR_PATH),
        tool("web_fetch", &["web_fetch"]), tool("google_web_search", &["web_search"]), tool("task", &["task", "agent"]),
        tool("invoke_agent", &["task"]),
    ],
    corrects_paths: true,
    joins_servers: None,
    plugin: None,
    variables: &[
        ("GEMINI_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("workspacePath", Variable::Project),
        ("extensionPath", Variable::Plugin),
    ],
    emulated: NOT_EMULATED,
};

#[rustfmt::skip]
const GEMINI_EVENTS: &[Event] = &[
    Event { name: "BeforeTool", subject: TOOL, effect: Blocks, specific: GEMINI_CALL, fields: &[INPUT], ..EVENT },
    Event { name: "AfterTool", subject: TOOL, effect: FeedsBack, fields: &[INPUT, ("tool_response", Object)], ..EVENT },
    Event { name: "BeforeAgent", effect: Blocks, fields: &[text("prompt")], ..EVENT },
    Event { name: "AfterAgent", effect: Blocks, fields: &[text("prompt"), text("prompt_response"), ACTIVE], ..EVENT },
    // The events are not registered: each request would send the whole conversation, and each piece of an answer would send
    // it once more.
    Event { name: "BeforeModel", registered: false, effect: Blocks, fields: &[("llm_request", Object)], ..EVENT },
    Event { name: "AfterModel", registered: false, effect: Blocks, fields: &[("llm_request", Object), ("llm_response", Object)], ..EVENT },
    Event { name: "SessionStart", subject: Some("source"), fields: &[("source", Text("startup"))], ..EVENT },
    Event { name: "SessionEnd", subject: Some("reason"), fields: &[("reason", Text("other"))], ..EVENT },
    Event { name: "PreCompress", subject: Some("trigger"), fields: &[TRIGGER], ..EVENT },
    Event {
        name: "Notification", subject: Some("notification_type"),
        fields: &[("notification_type", Text("ToolPermission")), text("message"), ("details", Object)], ..EVENT
    },
    Event { name: "BeforeToolSelection", fires: Never, ..EVENT },
];
