//! A table of cases: events, each with the expected decision of its hooks, as a JSON array; and the decision that hooks made.
//!
//! Runs no hooks.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::cli::entries::title;
use crate::cli::error::json_words;
use crate::cli::fire::Said;
use crate::cli::{CommandError, Terminal, files};
use crate::json;
use crate::{Decision, EventType, HookEvent, HookResult, Outcome};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Case {
    /// The case's line in the file, counted from 1.
    #[serde(skip)]
    pub(crate) line: usize,
    pub(crate) name: Option<String>,
    /// The agent whose event it is, by the agent's own names.
    pub(crate) agent: Option<String>,
    pub(crate) event: String,
    pub(crate) tool: Option<String>,
    args: Option<Value>,
    #[serde(default)]
    data: Map<String, Value>,
    pub(crate) expect: Decision,
    /// A glob for the whole reason.
    pub(crate) reason: Option<String>,
    pub(crate) updated_input: Option<Map<String, Value>>,
    pub(crate) updated_output: Option<Value>,
    /// A glob for the whole text that the model gets.
    pub(crate) context: Option<String>,
}

const EXAMPLE: &str = r#"write each case as in {"event": "tool:pre_execute", "tool": "bash", "args": {"command": "sudo ls"}, "expect": "block"}"#;

impl Case {
    pub(crate) fn event(&self, event_type: EventType) -> HookEvent {
        let mut event = HookEvent::new(event_type);
        event.tool_name.clone_from(&self.tool);
        event.data.clone_from(&self.data);
        let args = self
            .args
            .iter()
            .map(|args| ("tool_args".to_owned(), args.clone()));
        event.data.extend(args);
        event
    }

    /// Returns what an agent writes to a hook at this event.
    pub(crate) fn payload(&self, here: &Path) -> Map<String, Value> {
        let mut payload = self.data.clone();
        let own = [
            ("hook_event_name", Some(self.event.clone().into())),
            ("cwd", Some(here.to_string_lossy().into())),
            ("tool_name", self.tool.clone().map(Value::from)),
            ("tool_input", self.args.clone()),
        ];
        for (key, value) in own {
            if let Some(value) = value {
                payload.entry(key).or_insert(value);
            }
        }
        payload
    }

    /// Returns its position, for example `cases.json:3`.
    pub(crate) fn place(&self, file: &Path) -> String {
        format!("{}:{}", display_name(file), self.line)
    }
}

/// Reads the cases of a file; `-` is standard input.
pub(crate) fn read(file: &Path, terminal: &mut Terminal<'_>) -> Result<Vec<Case>, CommandError> {
    let text = terminal.read_text(file);
    let text = text.map_err(|error| files::cannot_read(display_name(file), error))?;
    let cases = parse(file, &text)?;
    if cases.is_empty() {
        let message = format!("found no cases in `{}`", display_name(file));
        return Err(CommandError::new(message).with_fix(EXAMPLE));
    }
    Ok(cases)
}

fn parse(file: &Path, text: &str) -> Result<Vec<Case>, CommandError> {
    let readable = json::readable(text);
    let text = &*readable;
    let failed = |error: serde_json::Error| {
        let (line, column) = (error.line(), error.column().max(1));
        let message = json_words(&error);
        CommandError::new(format!("{}:{line}:{column}: {message}", display_name(file)))
            .with_fix(EXAMPLE)
    };
    let mut cases: Vec<Case> = json::parse(text).map_err(failed)?;
    // The list is parsed once more to know the position of each entry.
    let entries: Vec<&RawValue> = json::parse(text).map_err(failed)?;
    let (mut line, mut seen) = (1, 0);
    for (case, entry) in cases.iter_mut().zip(entries) {
        let start = entry.get().as_ptr() as usize - text.as_ptr() as usize;
        line += text[seen..start].matches('\n').count();
        seen = start;
        if entry.get().starts_with('[') {
            let message = format!(
                "{}:{line}: a case is an object, not a list",
                display_name(file)
            );
            return Err(CommandError::new(message).with_fix(EXAMPLE));
        }
        case.line = line;
    }
    Ok(cases)
}

/// Returns the name of a file for a message.
fn display_name(file: &Path) -> &str {
    match file.to_str() {
        Some("-") => "standard input",
        name => name.unwrap_or("the table"),
    }
}

/// The decision for a host that applies changes and cannot ask its user.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Verdict {
    pub(crate) decision: Decision,
    pub(crate) reason: Option<String>,
    pub(crate) updated_input: Option<Map<String, Value>>,
    pub(crate) updated_output: Option<Value>,
    pub(crate) context: Option<String>,
    /// The hook that made the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hook: Option<String>,
}

impl From<Said> for Verdict {
    fn from(said: Said) -> Self {
        Self {
            decision: said.decision,
            reason: said.reason,
            updated_input: said.updated_input,
            updated_output: said.updated_output,
            context: said.context,
            hook: None,
        }
    }
}

impl Verdict {
    pub(crate) fn new(outcome: &Outcome) -> Self {
        let blocked = outcome.blocked();
        Self {
            decision: blocked.map_or(Decision::Allow, HookResult::decision),
            reason: outcome.reason().map(str::to_owned),
            updated_input: outcome.updated_input().cloned(),
            updated_output: outcome.updated_output(),
            context: outcome.additional_context(),
            hook: blocked.map(|result| title(result.hook())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::assert_linear;

    #[test]
    fn errors_have_line_and_column() {
        let both = |second: &str| format!("[{{\"event\": \"x\", \"{second}\"}}]");
        let cases = [
            ("", "1:1: the JSON is incomplete"),
            ("{}", "1:1: expected a list, found an object"),
            ("[1]", "1:2: expected an object, found integer `1`"),
            (
                "[\n[null, null, \"a:b\", null, null, {}, \"ask\", null, null, null, null]]",
                "2: a case is an object",
            ),
            ("[\n {\"event\": \"x\"\n}]", "3:1: missing key `expect`"),
            ("[{\"ä\": 1}]", "1:6: unknown key `ä`"),
            (
                "[\n{},\n {\"expect\": \"deny\"}]",
                "2:2: missing key `event`",
            ),
            (
                &both("expect\": \"deny"),
                "1:33: expected one of `allow`, `ask`, `block`, found `deny`",
            ),
            (&both("event\": \"y"), "1:23: repeated key `event`"),
            (
                "[{\"event\": \"x\",}]",
                "1:16: not valid JSON: trailing comma",
            ),
        ];
        for (text, expected) in cases {
            let failure = parse(Path::new("f"), text).unwrap_err().to_string();
            let start = format!("error: f:{expected}");
            assert!(failure.starts_with(&start), "{text}: {failure}");
        }
    }

    #[test]
    fn many_cases_are_read_in_linear_time() {
        let case = r#"{"event":"a:b","expect":"ask"},"#;
        let list = |count: usize| format!("[{}{}]", case.repeat(count), case.trim_end_matches(','));
        assert_linear("cases", 20_000, list, |text| {
            let cases = parse(Path::new("f"), text).ok().unwrap();
            assert_eq!(cases[cases.len() - 1].line, 1);
        });
    }
}
