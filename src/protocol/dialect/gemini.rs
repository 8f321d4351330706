//! How Gemini CLI reads the end of a hook: <https://geminicli.com/docs/hooks/reference>. It reads JSON on
//! every exit code, also from standard error, and treats plain text as an answer.

use serde_json::{Map, Value};

use super::conclusion::{Conclusion, HookEnd, Members, from_json, nonblank};
use crate::hook::{Decision, HookOutput};

pub(super) fn read(event: &str, ended: &HookEnd<'_>) -> Conclusion {
    let Some(text) = nonblank(ended.stdout).or_else(|| ended.stderr_text()) else {
        return Conclusion::default();
    };
    match parsed(&text) {
        Some(Value::Object(object)) => Conclusion {
            output: answer(event, Members(&object)),
            replaces_exit_code: true,
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

fn plain(event: &str, code: i32, text: String) -> Conclusion {
    let mut conclusion = Conclusion::default();
    match code {
        0 => conclusion.output.system_message = Some(text),
        ..2 => conclusion.output.system_message = Some(format!("Warning: {text}")),
        2.. => {
            deny(&mut conclusion.output, event, Some(text));
            conclusion.replaces_exit_code = is_decided(event);
        }
    }
    conclusion
}

/// Reads an answer. Values of a wrong type count as missing.
fn answer(event: &str, object: Members<'_>) -> HookOutput {
    let text = |key| object.nonblank(key).unwrap_or_default();
    let mut output = HookOutput {
        system_message: text("systemMessage"),
        ..HookOutput::default()
    };
    if is_decided(event) {
        output.stops_turn = object.get("continue") == Some(&Value::Bool(false));
        output.stop_reason = text("stopReason");
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
        if event == "BeforeTool" {
            output.updated_input = specific.get("tool_input").and_then(object_of).cloned();
        }
    }
    output
}

fn object_of(value: &Value) -> Option<&Map<String, Value>> {
    value.as_object()
}

/// Whether a decision has an effect on this event.
fn is_decided(event: &str) -> bool {
    matches!(
        event,
        "BeforeTool" | "AfterTool" | "BeforeAgent" | "AfterAgent" | "BeforeModel" | "AfterModel"
    )
}

/// Adds a denial. After a tool, the reason replaces the tool's output.
fn deny(output: &mut HookOutput, event: &str, reason: Option<String>) {
    match event {
        "AfterTool" => {
            output.updated_output = reason.clone().map(Value::from);
            output.feedback = reason;
        }
        _ if is_decided(event) => {
            output.decision = Some(Decision::Block);
            output.reason = reason;
        }
        _ => {}
    }
}
