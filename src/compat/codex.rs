//! Codex CLI: its tables, and how it reads the end of a hook. <https://developers.openai.com/codex/hooks> It is strict: an
//! unknown key or value makes an answer unusable.

use super::conclusion::{Conclusion, HookEnd, Members, nonblank};
use super::tool::{
    BLANK, Effect, Event, Files, Handlers, Subject, SwitchKeys, Text, Tool, ToolShell, Unset,
    Variable,
};
use crate::hook::{Decision, HookOutput};

pub(super) const TOOL: Tool = Tool {
    name: "codex",
    title: "Codex",
    files: Files {
        directory: ".codex",
        user: &[".codex/hooks.json"],
        project: &[".codex/hooks.json"],
        toml: Some(".codex/config.toml"),
        extensions: None,
        manifest: ".codex-plugin",
        switches: SwitchKeys {
            all_off: None,
            settings: None,
            not_events: &[],
        },
    },
    handlers: Handlers {
        timeout_keys: &["timeout", "timeoutSec"],
        milliseconds: false,
        keys: &["async", "statusMessage"],
        not_applied: &["additionalContextLimit"],
        other_types: &["prompt", "agent", "mcp_tool"],
        windows_key: Some("commandWindows"),
    },
    events: &EVENTS,
    fields: &[
        ("session_id", BLANK),
        ("transcript_path", Unset::Null),
        ("permission_mode", Unset::Is("default")),
        ("model", BLANK),
    ],
    has_timestamp: false,
    renamed: &[
        ("tool_args", "tool_input"),
        ("tool_result", "tool_response"),
        ("content", "prompt"),
    ],
    response: |_, _| None,
    tools: &[
        ("bash", "Bash"),
        ("shell", "Bash"),
        ("write", "apply_patch"),
        ("edit", "apply_patch"),
        ("multi_edit", "apply_patch"),
        ("list", "ls"),
        ("agent", "task"),
    ],
    also_called: &[("apply_patch", &["Edit", "Write"])],
    list_of_names: Some("_|"),
    other_matchers_are_names: false,
    invalid_matchers_are_names: false,
    variables: &[
        ("PLUGIN_ROOT", Variable::Plugin),
        ("CLAUDE_PLUGIN_ROOT", Variable::Plugin),
        ("PLUGIN_DATA", PLUGIN_DATA),
        ("CLAUDE_PLUGIN_DATA", PLUGIN_DATA),
    ],
    env_file: None,
    shell: ToolShell::Login,
    runs_once: false,
    stop_denies: false,
    read,
};

const PLUGIN_DATA: Variable = Variable::PluginData(".codex/plugins/data");

static EVENTS: [Event; 12] = [
    Event::new("SessionEnd", "session:end")
        .on(Subject::Data("reason", "other"))
        .within(1_000)
        .at_most(3_000)
        .fields(&[("reason", Unset::Is("other"))]),
    Event::new("Interrupt", "user:interrupt").fields(&[("turn_id", BLANK)]),
    Event::new("PreToolUse", "tool:pre_execute")
        .on(Subject::Tool)
        .blocks()
        .fields(&[
            ("turn_id", BLANK),
            ("tool_input", Unset::Object),
            ("tool_use_id", BLANK),
        ]),
    Event::new("PostToolUse", "tool:post_execute")
        .on(Subject::Tool)
        .feeds_back()
        .fields(&[
            ("turn_id", BLANK),
            ("tool_input", Unset::Object),
            ("tool_response", Unset::Null),
            ("tool_use_id", BLANK),
        ]),
    Event::new("PermissionRequest", "permission:prompt")
        .on(Subject::Tool)
        .blocks()
        .fields(&[("turn_id", BLANK), ("tool_input", Unset::Object)]),
    Event::new("UserPromptSubmit", "user:prompt_submit")
        .blocks()
        .text(Text::Context)
        .fields(&[("turn_id", BLANK), ("prompt", BLANK)]),
    Event::new("SessionStart", "session:start")
        .on(Subject::Data("source", "startup"))
        .text(Text::Context)
        .fields(&[("source", Unset::Is("startup"))]),
    Event::new("Stop", "agent:stop")
        .blocks()
        .text(Text::Invalid)
        .fields(&[
            ("turn_id", BLANK),
            ("stop_hook_active", Unset::No),
            ("last_assistant_message", Unset::Null),
        ]),
    Event::new("SubagentStart", "agent:subagent_start")
        .on(Subject::Data("agent_type", "general-purpose"))
        .text(Text::Context)
        .fields(&[
            ("turn_id", BLANK),
            ("agent_id", BLANK),
            ("agent_type", BLANK),
        ]),
    Event::new("SubagentStop", "agent:subagent_stop")
        .on(Subject::Data("agent_type", "general-purpose"))
        .blocks()
        .text(Text::Invalid)
        .fields(&[
            ("turn_id", BLANK),
            ("agent_id", BLANK),
            ("agent_type", BLANK),
            ("agent_transcript_path", Unset::Null),
            ("stop_hook_active", Unset::No),
            ("last_assistant_message", Unset::Null),
        ]),
    Event::new("PreCompact", "context:pre_compact")
        .on(Subject::Data("trigger", "auto"))
        .fields(&[("turn_id", BLANK), ("trigger", Unset::Is("auto"))]),
    Event::new("PostCompact", "context:post_compact")
        .on(Subject::Data("trigger", "auto"))
        .fields(&[("turn_id", BLANK), ("trigger", Unset::Is("auto"))]),
];

pub(super) fn read(event: &Event, ended: &HookEnd<'_>) -> Conclusion {
    match ended.code {
        0 => read_output(event, ended),
        2 => read_exit_code_2(event, ended),
        _ => Conclusion::default(),
    }
}

fn read_output(event: &Event, ended: &HookEnd<'_>) -> Conclusion {
    let text = ended.stdout.trim();
    if let Some(object) = ended.object() {
        return Conclusion::from_answer(answer(event, Members(&object)));
    }
    let is_broken = text.starts_with(['{', '[']);
    let must_be_json = event.text == Text::Invalid && !text.is_empty();
    if is_broken || must_be_json {
        return Conclusion::from_answer(Err("it is not one JSON object".to_owned()));
    }
    let mut conclusion = Conclusion::default();
    if event.text == Text::Context {
        conclusion.output.additional_context = nonblank(text);
    }
    conclusion
}

/// Reads exit code 2, which needs a reason on standard error.
fn read_exit_code_2(event: &Event, ended: &HookEnd<'_>) -> Conclusion {
    let mut conclusion = Conclusion::default();
    let reason = ended.stderr_text();
    if reason.is_none() {
        let silent = "exit code 2 blocks only with a reason on standard error";
        conclusion.diagnostics.push(silent.to_owned());
        return conclusion;
    }
    match event.effect {
        Effect::Blocks => conclusion.block_by_code(reason),
        Effect::FeedsBack => conclusion.feed_back_by_code(reason),
        Effect::Nothing => {}
    }
    conclusion
}

const KEYS: &[&str] = &[
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "decision",
    "reason",
    "hookSpecificOutput",
];

fn answer(event: &Event, object: Members<'_>) -> Result<HookOutput, String> {
    refuse_unknown(object, KEYS)?;
    let mut output = object.common()?;
    let name = event.name;
    let is_before = matches!(name, "PreToolUse" | "PermissionRequest");
    if is_before && (output.stops_turn || object.get("stopReason").is_some()) {
        return Err(format!(
            "`continue` and `stopReason` are not supported on {name}"
        ));
    }
    let suppresses = object.flag("suppressOutput")? == Some(true);
    if suppresses && (is_before || name == "PostToolUse") {
        return Err(format!("`suppressOutput` is not supported on {name}"));
    }
    if output.stops_turn && event.effect == Effect::FeedsBack {
        output.feedback = object
            .nonblank("reason")?
            .or_else(|| output.stop_reason.clone());
    }
    let specific = object.object("hookSpecificOutput")?;
    if let Some(specific) = specific {
        if specific.text("hookEventName")?.is_none() {
            return Err("`hookSpecificOutput` lacks `hookEventName`".to_owned());
        }
        if specific.get("updatedMCPToolOutput").is_some() {
            return Err("`updatedMCPToolOutput` is not supported".to_owned());
        }
        output.additional_context = specific.nonblank("additionalContext")?;
    }
    match (name, specific) {
        ("PreToolUse", Some(specific)) if decides(specific) => {
            add_permission(&mut output, specific)?
        }
        ("PermissionRequest", Some(specific)) => add_request(&mut output, specific)?,
        _ => add_decision(&mut output, event, object)?,
    }
    Ok(output)
}

fn decides(specific: Members<'_>) -> bool {
    let keys = [
        "permissionDecision",
        "permissionDecisionReason",
        "updatedInput",
    ];
    keys.iter().any(|key| specific.get(key).is_some())
}

fn add_decision(output: &mut HookOutput, event: &Event, object: Members<'_>) -> Result<(), String> {
    let reason = object.nonblank("reason")?;
    match object.choice("decision", &["approve", "block"])? {
        None => Ok(()),
        Some("approve") => Err("`approve` is not supported".to_owned()),
        Some(_) if reason.is_none() => Err("`block` needs a `reason`".to_owned()),
        Some(_) => {
            match event.effect {
                // Only its exit code, and `decision.behavior`, deny a permission.
                _ if event.name == "PermissionRequest" => {}
                Effect::Blocks => {
                    output.decision = Some(Decision::Block);
                    output.reason = reason;
                }
                Effect::FeedsBack => output.feedback = reason,
                Effect::Nothing => {}
            }
            Ok(())
        }
    }
}

fn add_permission(output: &mut HookOutput, specific: Members<'_>) -> Result<(), String> {
    refuse_unknown(
        specific,
        &[
            "hookEventName",
            "permissionDecision",
            "permissionDecisionReason",
            "updatedInput",
            "additionalContext",
        ],
    )?;
    let reason = specific.nonblank("permissionDecisionReason")?;
    let input = specific.object("updatedInput")?;
    match specific.choice("permissionDecision", &["allow", "deny", "ask"])? {
        Some("allow") => {
            let Some(input) = input else {
                return Err("`allow` without `updatedInput` is not supported".to_owned());
            };
            output.decision = Some(Decision::Allow);
            output.updated_input = Some(input.0.clone());
            output.replaces_input = true;
            Ok(())
        }
        _ if input.is_some() => Err("`updatedInput` needs `allow`".to_owned()),
        Some("deny") if reason.is_none() => {
            Err("`deny` needs a `permissionDecisionReason`".to_owned())
        }
        Some("deny") => {
            output.decision = Some(Decision::Block);
            output.reason = reason;
            Ok(())
        }
        Some(word) => Err(format!("`{word}` is not supported")),
        None => Err("`permissionDecisionReason` without a `permissionDecision`".to_owned()),
    }
}

fn add_request(output: &mut HookOutput, specific: Members<'_>) -> Result<(), String> {
    let Some(decision) = specific.object("decision")? else {
        return Ok(());
    };
    let reserved = ["updatedInput", "updatedPermissions"];
    let interrupts = decision.flag("interrupt")? == Some(true);
    if interrupts || reserved.iter().any(|key| decision.get(key).is_some()) {
        return Err(
            "`updatedInput`, `updatedPermissions` and `interrupt` are not supported".to_owned(),
        );
    }
    match decision.choice("behavior", &["allow", "deny"])? {
        Some("allow") => output.decision = Some(Decision::Allow),
        Some(_) => {
            output.decision = Some(Decision::Block);
            output.reason = decision.nonblank("message")?;
        }
        None => return Err("`decision` lacks `behavior`".to_owned()),
    }
    Ok(())
}

fn refuse_unknown(members: Members<'_>, known: &[&str]) -> Result<(), String> {
    match members.other_than(known) {
        Some(key) => {
            let key: String = key.chars().take(40).collect();
            Err(format!("unknown key `{key}`"))
        }
        None => Ok(()),
    }
}
