//! Gemini CLI. This program runs under it. Hosts do not run its hooks. <https://geminicli.com/docs/hooks/reference>

use super::row::*;

const DIR_PATH: Pairs = &[("dir_path", "path")];
const SEARCH: Pairs = &[("dir_path", "path"), ("include_pattern", "include")];

#[rustfmt::skip]
const CALLED: Specific = Specific { input: Some("tool_input"), ..SPECIFIC };

/// Google's Gemini CLI.
pub(crate) const GEMINI: &Agent = &ROW;

#[rustfmt::skip]
static ROW: Agent = Agent {
    name: "gemini",
    title: "Gemini CLI",
    files: &[".gemini/settings.json"],
    also_decides: &[".gemini/.env", ".gemini/extensions", ".gemini/policies", ".gemini/trustedFolders.json", ".gemini/trusted_hooks.json"],
    may_decide: &[".gemini/agents", ".gemini/skills"],
    moved_by: ("GEMINI_CLI_HOME", ""),
    set_for_tools: "GEMINI_CLI",
    all_off: Some(("hooksConfig.enabled", false)),
    disabled: Some("hooksConfig.disabled"),
    names_handlers: true,
    milliseconds: true,
    seconds: 60,
    events: EVENTS,
    fields: &[text("session_id"), text("transcript_path"), text("timestamp")],
    renamed: &[
        ("last_assistant_message", "prompt_response"), ("tool_args", "tool_input"), ("tool_result", "tool_response"),
        ("content", "prompt"),
    ],
    tools: &[
        tool("run_shell_command", &["bash", "shell"]).with_arguments(&[("dir_path", "directory")]),
        tool("read_file", &["read"]).with_arguments(FILE_PATH),
        tool("read_many_files", &["read"]).with_arguments(&[("include", "path")]),
        tool("write_file", &["write"]).with_arguments(FILE_PATH),
        tool("replace", &["edit", "multi_edit"]).with_arguments(FILE_PATH),
        tool("grep_search", &["grep"]).with_arguments(SEARCH),
        tool("search_file_content", &["grep"]).with_arguments(DIR_PATH),
        tool("list_directory", &["ls", "list"]).with_arguments(DIR_PATH), tool("glob", &["glob"]).with_arguments(DIR_PATH),
        tool("web_fetch", &["web_fetch"]).fetching_from("prompt"), tool("google_web_search", &["web_search"]), tool("task", &["task", "agent"]),
        tool("invoke_agent", &["task"]),
    ],
    corrects_paths: true,
    variables: &[
        ("GEMINI_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("workspacePath", Variable::Project),
        ("extensionPath", Variable::Plugin),
    ],
    answers: Answers {
        context: &["AfterTool", "BeforeAgent", "SessionStart"],
        questions: Questions::Message,
        applies_input: true,
        takes_yes: false,
        outputs: Outputs::Reason("deny"),
        cannot_end_turn: &[],
        blocks: BlockedBy::CodeOrJson,
        messages: Messages::Json,
        // With a prompt, it shows a message in place of the reason.
        messages_beside_block: &["BeforeTool", "AfterAgent"],
        ends_turn_later: None,
        prompts_have: None,
    },
    ..AGENT
};

#[rustfmt::skip]
const EVENTS: &[Event] = &[
    Event { name: "BeforeTool", subject: TOOL, effect: Blocks, specific: CALLED, fields: &[INPUT], ..EVENT },
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
