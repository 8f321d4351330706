//! Claude Code: its tables, and how it reads the end of a hook. <https://code.claude.com/docs/en/hooks>

use serde_json::{Value, json};

use super::conclusion::{Conclusion, HookEnd, Members, nonblank};
use super::tool::{
    BLANK, Effect, Event, Files, Handlers, Subject, SwitchKeys, Text, Tool, ToolShell, Unset,
    Variable,
};
use crate::hook::{Decision, HookOutput};

pub(super) const TOOL: Tool = Tool {
    name: "claude",
    title: "Claude Code",
    files: Files {
        directory: ".claude",
        user: &[".claude/settings.json"],
        project: &[".claude/settings.json", ".claude/settings.local.json"],
        toml: None,
        extensions: None,
        manifest: ".claude-plugin",
        switches: SwitchKeys {
            all_off: Some("disableAllHooks"),
            settings: None,
            not_events: &[],
        },
    },
    handlers: Handlers {
        timeout_keys: &["timeout"],
        milliseconds: false,
        keys: &[
            "args",
            "shell",
            "if",
            "async",
            "asyncRewake",
            "onFailure",
            "statusMessage",
        ],
        not_applied: &["once", "rewakeMessage", "rewakeSummary"],
        other_types: &["prompt", "agent", "http", "mcp_tool"],
        windows_key: None,
    },
    events: &EVENTS,
    fields: &[
        ("session_id", BLANK),
        ("transcript_path", BLANK),
        ("permission_mode", Unset::Is("default")),
    ],
    has_timestamp: false,
    renamed: &[
        ("tool_args", "tool_input"),
        ("tool_result", "tool_response"),
        ("content", "prompt"),
    ],
    response,
    tools: &[
        ("bash", "Bash"),
        ("shell", "Bash"),
        ("read", "Read"),
        ("write", "Write"),
        ("edit", "Edit"),
        ("multi_edit", "MultiEdit"),
        ("glob", "Glob"),
        ("grep", "Grep"),
        ("ls", "LS"),
        ("list", "LS"),
        ("web_fetch", "WebFetch"),
        ("web_search", "WebSearch"),
        ("task", "Task"),
        ("agent", "Task"),
    ],
    also_called: &[("Task", &["Agent"]), ("Agent", &["Task"])],
    list_of_names: Some("_- ,|"),
    other_matchers_are_names: false,
    invalid_matchers_are_names: false,
    variables: &[
        ("CLAUDE_PROJECT_DIR", Variable::Project),
        ("CLAUDE_PLUGIN_ROOT", Variable::Plugin),
        (
            "CLAUDE_PLUGIN_DATA",
            Variable::PluginData(".claude/plugins/data"),
        ),
        ("CLAUDE_EFFORT", Variable::Effort),
    ],
    env_file: Some((
        "CLAUDE_ENV_FILE",
        &["SessionStart", "Setup", "CwdChanged", "FileChanged"],
    )),
    shell: ToolShell::Bash,
    runs_once: true,
    stop_denies: true,
    read,
};

static EVENTS: [Event; 33] = [
    Event::new("PreToolUse", "tool:pre_execute")
        .on(Subject::Tool)
        .blocks()
        .fields(&[("tool_input", Unset::Object), ("tool_use_id", BLANK)]),
    Event::new("PostToolUse", "tool:post_execute")
        .on(Subject::Tool)
        .feeds_back()
        .fields(&[
            ("tool_input", Unset::Object),
            ("tool_response", Unset::Null),
            ("tool_use_id", BLANK),
        ]),
    Event::new("PostToolUseFailure", "tool:error")
        .on(Subject::Tool)
        .feeds_back()
        .fields(&[
            ("tool_input", Unset::Object),
            ("tool_use_id", BLANK),
            ("error", BLANK),
            ("is_interrupt", Unset::No),
        ]),
    Event::new("PermissionRequest", "permission:prompt")
        .on(Subject::Tool)
        .fields(&[("tool_input", Unset::Object)]),
    Event::new("UserPromptSubmit", "user:prompt_submit")
        .within(30_000)
        .blocks()
        .text(Text::Context)
        .fields(&[("prompt", BLANK)]),
    Event::new("SessionStart", "session:start")
        .on(Subject::Data("source", "startup"))
        .text(Text::Context)
        .fields(&[("source", Unset::Is("startup")), ("model", BLANK)]),
    Event::new("SessionEnd", "session:end")
        .on(Subject::Data("reason", "other"))
        .within(1_500)
        .fields(&[("reason", Unset::Is("other"))]),
    Event::new("Notification", "notification:show")
        .on(Subject::Data("notification_type", ""))
        .fields(&[("message", BLANK), ("notification_type", BLANK)]),
    Event::new("Stop", "agent:stop").blocks().fields(&[
        ("stop_hook_active", Unset::No),
        ("last_assistant_message", BLANK),
    ]),
    Event::new("SubagentStart", "agent:subagent_start")
        .on(Subject::Data("agent_type", "general-purpose"))
        .fields(&[("agent_id", BLANK), ("agent_type", BLANK)]),
    Event::new("SubagentStop", "agent:subagent_stop")
        .on(Subject::Data("agent_type", "general-purpose"))
        .blocks()
        .fields(&[
            ("agent_id", BLANK),
            ("agent_type", BLANK),
            ("agent_transcript_path", BLANK),
            ("stop_hook_active", Unset::No),
            ("last_assistant_message", BLANK),
        ]),
    Event::new("PreCompact", "context:pre_compact")
        .on(Subject::Data("trigger", "auto"))
        .blocks()
        .fields(&[
            ("trigger", Unset::Is("auto")),
            ("custom_instructions", BLANK),
        ]),
    Event::new("PostCompact", "context:post_compact")
        .on(Subject::Data("trigger", "auto"))
        .fields(&[("trigger", Unset::Is("auto")), ("compact_summary", BLANK)]),
    Event::of_host("UserPromptExpansion", "user:prompt_expansion")
        .on(Subject::Data("command_name", ""))
        .blocks()
        .text(Text::Context)
        .fields(&[("command_name", BLANK), ("prompt", BLANK)]),
    Event::of_host("PreModelSwitch", "model:pre_switch")
        .on(Subject::Data("to_model", ""))
        .within(30_000)
        .blocks()
        .closed()
        .fields(&[("from_model", BLANK), ("to_model", BLANK)]),
    Event::of_host("PostModelSwitch", "model:post_switch")
        .on(Subject::Data("to_model", ""))
        .text(Text::Context)
        .fields(&[("from_model", BLANK), ("to_model", BLANK)]),
    Event::of_host("DirectoryAdded", "session:directory_added"),
    Event::of_host("CwdChanged", "session:cwd_changed"),
    Event::of_host("FileChanged", "session:file_changed"),
    Event::of_host("Setup", "session:setup").on(Subject::Data("trigger", "")),
    Event::unfired("ConfigChange"),
    Event::unfired("Elicitation"),
    Event::unfired("ElicitationResult"),
    Event::unfired("InstructionsLoaded"),
    Event::unfired("MessageDisplay"),
    Event::unfired("PermissionDenied"),
    Event::unfired("PostToolBatch"),
    Event::unfired("StopFailure"),
    Event::unfired("TaskCompleted"),
    Event::unfired("TaskCreated"),
    Event::unfired("TeammateIdle"),
    Event::unfired("WorktreeCreate"),
    Event::unfired("WorktreeRemove"),
];

/// Returns what a tool has returned as the object that hooks of its name expect.
fn response(tool: &str, value: &Value) -> Option<Value> {
    let text = value.as_str().filter(|_| tool == "Bash")?;
    Some(json!({"stdout": text, "stderr": "", "interrupted": false, "isImage": false}))
}

/// Keys of an answer that ask for what hosts do not do.
const NOT_APPLIED: &[&str] = &[
    "async",
    "asyncTimeout",
    "classifierContext",
    "initialUserMessage",
    "reloadSkills",
    "sessionTitle",
    "suppressOriginalPrompt",
    "terminalSequence",
    "updatedPermissions",
    "watchPaths",
];

pub(super) fn read(event: &Event, ended: &HookEnd<'_>) -> Conclusion {
    let mut conclusion = match ended.object() {
        Some(object) => {
            let mut conclusion = Conclusion::from_answer(answer(event, Members(&object)));
            if object.contains_key("permissionDecision") {
                let words = "`permissionDecision` is ignored outside of `hookSpecificOutput`";
                conclusion.ignored = Some(words.to_owned());
            }
            conclusion.diagnostics = Members(&object).not_applied(NOT_APPLIED);
            conclusion
        }
        None => plain(event, ended),
    };
    if ended.code != 2 {
        return conclusion;
    }
    match event.effect {
        Effect::Blocks => {
            let silent = || Some("the hook exited with code 2 and gave no reason".to_owned());
            conclusion.block_by_code(ended.stderr_text().or_else(silent));
        }
        Effect::FeedsBack => conclusion.feed_back_by_code(ended.stderr_text()),
        Effect::Nothing => {}
    }
    conclusion
}

/// Reads plain text: context for the model before its turn, ignored on other events.
fn plain(event: &Event, ended: &HookEnd<'_>) -> Conclusion {
    let mut conclusion = Conclusion::default();
    if event.text == Text::Context && ended.code == 0 {
        conclusion.output.additional_context = nonblank(ended.stdout);
    }
    conclusion
}

fn answer(event: &Event, object: Members<'_>) -> Result<HookOutput, String> {
    let mut output = object.common()?;
    let decision = object.choice("decision", &["approve", "block"])?;
    let reason = object.nonblank("reason")?;
    object.flag("suppressOutput")?;
    match (decision, event.effect) {
        (Some("block"), Effect::Blocks) => {
            output.decision = Some(Decision::Block);
            output.reason = reason.clone();
        }
        (Some("block"), Effect::FeedsBack) => output.feedback = reason.clone(),
        (Some("approve"), _) if event.name == "PreToolUse" => {
            output.decision = Some(Decision::Allow)
        }
        _ => {}
    }
    if let Some(specific) = object.object("hookSpecificOutput")? {
        add_specific(&mut output, event, specific, reason)?;
    }
    Ok(output)
}

fn add_specific(
    output: &mut HookOutput,
    event: &Event,
    specific: Members<'_>,
    reason: Option<String>,
) -> Result<(), String> {
    match specific.text("hookEventName")? {
        Some(name) if name == event.name => {}
        Some(name) => {
            let name: String = name.chars().take(40).collect();
            return Err(format!(
                "`hookEventName`: expected `{}`, found `{name}`",
                event.name
            ));
        }
        None => {
            return Err(format!(
                "`hookSpecificOutput` lacks `\"hookEventName\": \"{}\"`",
                event.name
            ));
        }
    }
    output.additional_context = specific.nonblank("additionalContext")?;
    match event.name {
        "PreToolUse" => add_permission(output, specific, reason)?,
        "PermissionRequest" => add_request(output, specific)?,
        "PostToolUse" => {
            let new = specific.get("updatedToolOutput");
            let replaced = new.or_else(|| specific.get("updatedMCPToolOutput"));
            output.updated_output = replaced.cloned();
        }
        _ => {}
    }
    Ok(())
}

/// Adds a permission decision. If `decision` differs, the stricter one counts.
fn add_permission(
    output: &mut HookOutput,
    specific: Members<'_>,
    reason: Option<String>,
) -> Result<(), String> {
    let words = &["allow", "deny", "ask", "defer"];
    let decision = match specific.choice("permissionDecision", words)? {
        None => None,
        Some("allow") => Some(Decision::Allow),
        Some("deny") => Some(Decision::Block),
        // The call waits for the user: no host of this crate lets it wait for another program.
        Some(_) => Some(Decision::Ask),
    };
    if let Some(inner) = decision {
        let outer = output.decision.unwrap_or(inner);
        if outer.stricter(inner) == inner {
            output.decision = Some(inner);
            output.reason = specific.nonblank("permissionDecisionReason")?.or(reason);
        }
    }
    if let Some(input) = specific.object("updatedInput")? {
        output.updated_input = Some(input.0.clone());
        output.replaces_input = true;
    }
    Ok(())
}

fn add_request(output: &mut HookOutput, specific: Members<'_>) -> Result<(), String> {
    let Some(decision) = specific.object("decision")? else {
        return Ok(());
    };
    match decision.choice("behavior", &["allow", "deny"])? {
        Some("allow") => output.decision = Some(Decision::Allow),
        Some(_) => {
            output.decision = Some(Decision::Block);
            output.reason = decision.nonblank("message")?;
            output.stops_turn |= decision.flag("interrupt")? == Some(true);
        }
        None => return Err("`decision` lacks `behavior`".to_owned()),
    }
    if let Some(input) = decision.object("updatedInput")? {
        output.updated_input = Some(input.0.clone());
        output.replaces_input = true;
    }
    Ok(())
}
