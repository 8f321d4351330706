//! Gemini CLI: its tables, and how it reads the end of a hook. <https://geminicli.com/docs/hooks/reference> It reads JSON
//! on every exit code, also from standard error, and treats plain text as an answer.

use serde_json::{Value, json};

use super::conclusion::{Conclusion, HookEnd, Members, from_json, nonblank};
use super::tool::{
    BLANK, Effect, Event, Files, Handlers, Subject, SwitchKeys, Tool, ToolShell, Unset, Variable,
};
use crate::hook::{Decision, HookOutput};

pub(super) const TOOL: Tool = Tool {
    name: "gemini",
    title: "Gemini CLI",
    files: Files {
        directory: ".gemini",
        user: &[".gemini/settings.json"],
        project: &[".gemini/settings.json"],
        toml: None,
        extensions: Some(".gemini/extensions"),
        manifest: "gemini-extension.json",
        switches: SwitchKeys {
            all_off: None,
            settings: Some("hooksConfig"),
            not_events: &["enabled", "disabled", "notifications"],
        },
    },
    handlers: Handlers {
        timeout_keys: &["timeout"],
        milliseconds: true,
        keys: &["name", "description", "env", "statusMessage"],
        not_applied: &["sequential"],
        other_types: &["plugin", "runtime"],
        windows_key: None,
    },
    events: &EVENTS,
    fields: &[("session_id", BLANK), ("transcript_path", BLANK)],
    has_timestamp: true,
    renamed: &[
        ("last_assistant_message", "prompt_response"),
        ("tool_args", "tool_input"),
        ("tool_result", "tool_response"),
        ("content", "prompt"),
    ],
    response,
    tools: &[
        ("bash", "run_shell_command"),
        ("shell", "run_shell_command"),
        ("read", "read_file"),
        ("write", "write_file"),
        ("edit", "replace"),
        ("multi_edit", "replace"),
        ("grep", "grep_search"),
        ("ls", "list_directory"),
        ("list", "list_directory"),
        ("web_search", "google_web_search"),
        ("agent", "task"),
    ],
    also_called: &[("grep_search", &["search_file_content"])],
    list_of_names: None,
    other_matchers_are_names: true,
    invalid_matchers_are_names: true,
    variables: &[
        ("GEMINI_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("workspacePath", Variable::Project),
        ("extensionPath", Variable::Plugin),
        ("GEMINI_CWD", Variable::Cwd),
        ("GEMINI_SESSION_ID", Variable::Session),
    ],
    env_file: None,
    shell: ToolShell::Bash,
    runs_once: true,
    stop_denies: false,
    read,
};

static EVENTS: [Event; 11] = [
    Event::new("BeforeTool", "tool:pre_execute")
        .on(Subject::Tool)
        .within(60_000)
        .blocks()
        .fields(&[("tool_input", Unset::Object)]),
    Event::new("AfterTool", "tool:post_execute")
        .on(Subject::Tool)
        .within(60_000)
        .feeds_back()
        .fields(&[
            ("tool_input", Unset::Object),
            ("tool_response", Unset::Object),
        ]),
    Event::new("BeforeAgent", "user:prompt_submit")
        .within(60_000)
        .blocks()
        .fields(&[("prompt", BLANK)]),
    Event::new("AfterAgent", "agent:stop")
        .within(60_000)
        .blocks()
        .fields(&[
            ("prompt", BLANK),
            ("prompt_response", BLANK),
            ("stop_hook_active", Unset::No),
        ]),
    Event::new("BeforeModel", "llm:pre_request")
        .within(60_000)
        .blocks()
        .fields(&[("llm_request", Unset::Object)]),
    Event::new("AfterModel", "llm:post_response")
        .within(60_000)
        .blocks()
        .fields(&[
            ("llm_request", Unset::Object),
            ("llm_response", Unset::Object),
        ]),
    Event::new("SessionStart", "session:start")
        .on(Subject::Data("source", "startup"))
        .within(60_000)
        .fields(&[("source", Unset::Is("startup"))]),
    Event::new("SessionEnd", "session:end")
        .on(Subject::Data("reason", "other"))
        .within(60_000)
        .fields(&[("reason", Unset::Is("other"))]),
    Event::new("PreCompress", "context:pre_compact")
        .on(Subject::Data("trigger", "auto"))
        .within(60_000)
        .fields(&[("trigger", Unset::Is("auto"))]),
    Event::new("Notification", "notification:show")
        .on(Subject::Data("notification_type", ""))
        .within(60_000)
        .fields(&[
            ("notification_type", Unset::Is("ToolPermission")),
            ("message", BLANK),
            ("details", Unset::Object),
        ]),
    Event::unfired("BeforeToolSelection"),
];

/// Returns what a tool has returned as the object that hooks expect.
fn response(_tool: &str, value: &Value) -> Option<Value> {
    let wrapped = || json!({"llmContent": value, "returnDisplay": value});
    (!value.is_object()).then(wrapped)
}

/// Keys of an answer that ask for what hosts do not do.
const NOT_APPLIED: &[&str] = &[
    "clearContext",
    "llm_request",
    "llm_response",
    "tailToolCallRequest",
    "toolConfig",
];

pub(super) fn read(event: &Event, ended: &HookEnd<'_>) -> Conclusion {
    let Some(text) = nonblank(ended.stdout).or_else(|| ended.stderr_text()) else {
        return Conclusion::default();
    };
    match parsed(&text) {
        Some(Value::Object(object)) => Conclusion {
            output: answer(event, Members(&object)),
            replaces_exit_code: true,
            diagnostics: Members(&object).not_applied(NOT_APPLIED),
            ..Conclusion::default()
        },
        Some(_) => Conclusion::default(),
        None => plain(event, ended.code, text),
    }
}

/// Parses JSON, also if it is inside a JSON string.
fn parsed(text: &str) -> Option<Value> {
    let value = from_json(text)?;
    match &value {
        Value::String(inner) => from_json(inner),
        _ => Some(value),
    }
}

fn plain(event: &Event, code: i32, text: String) -> Conclusion {
    let mut conclusion = Conclusion::default();
    match code {
        0 => conclusion.output.system_message = Some(text),
        ..2 => conclusion.output.system_message = Some(format!("Warning: {text}")),
        2.. => {
            deny(&mut conclusion.output, event, Some(text));
            conclusion.replaces_exit_code = event.effect != Effect::Nothing;
        }
    }
    conclusion
}

/// Reads an answer. Values of a wrong type count as missing.
fn answer(event: &Event, object: Members<'_>) -> HookOutput {
    let text = |key| object.nonblank(key).unwrap_or_default();
    let mut output = HookOutput {
        system_message: text("systemMessage"),
        ..HookOutput::default()
    };
    if event.effect != Effect::Nothing {
        output.stops_turn = object.get("continue") == Some(&Value::Bool(false));
        output.stop_reason = text("stopReason");
        if output.stops_turn {
            output.stop_reason = output.stop_reason.or_else(|| text("reason"));
        }
        match object.text("decision").unwrap_or_default() {
            Some("allow" | "approve") => output.decision = Some(Decision::Allow),
            Some("ask") => {
                output.decision = Some(Decision::Ask);
                output.reason = text("reason");
            }
            Some("deny" | "block") => deny(&mut output, event, text("reason")),
            _ => {}
        }
    }
    if let Ok(Some(specific)) = object.object("hookSpecificOutput") {
        output.additional_context = specific.nonblank("additionalContext").unwrap_or_default();
        if event.name == "BeforeTool" {
            output.updated_input = specific
                .get("tool_input")
                .and_then(Value::as_object)
                .cloned();
        }
    }
    output
}

/// Adds a denial. After a tool, the reason replaces the tool's output.
fn deny(output: &mut HookOutput, event: &Event, reason: Option<String>) {
    match event.effect {
        Effect::FeedsBack => {
            output.updated_output = reason.clone().map(Value::from);
            output.feedback = reason;
        }
        Effect::Blocks => {
            output.decision = Some(Decision::Block);
            output.reason = reason;
        }
        Effect::Nothing => {}
    }
}
