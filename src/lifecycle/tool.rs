//! A call of a tool, and what follows it: for the model, for the user, for the agent's loop.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::action::{Action, Running};
use crate::logging::warn;
use crate::outcome::{HookBlockedError, HookOutput, Outcome, failures_of, joined, texts};
use crate::printable::{printable, printable_lines};

/// A call of a tool; see [`Lifecycle::tool`](super::Lifecycle::tool).
#[derive(Debug)]
pub struct Tool;

impl Action for Tool {
    fn begun(running: &mut Running<Self>) {
        running.open.lifecycle.stops.note_tool();
    }
}

/// The next step of an agent after a call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// It gives this text to its model, as what the call has returned.
    GoOn(String),
    /// It ends the turn and does not call the model again before its user has spoken. The next prompt begins with this text.
    EndTurn(String),
    /// Its user has cancelled the call: it ends the turn. No hook has decided anything, so the model gets nothing.
    Cancelled,
}

/// What follows a call of a tool, whether it was made or not.
#[derive(Clone)]
#[non_exhaustive]
#[must_use = "`next` says what the agent does now"]
pub struct ToolRun {
    /// What the agent does now. Its text has the tool's output as hooks have left it, or why there is none, and what hooks say
    /// to the model.
    pub next: Next,
    /// What the agent shows to its user: the messages of hooks, hooks that failed, why the turn ends. Each is
    /// [printable](crate::printable_lines()).
    pub messages: Vec<String>,
    /// True if the text is an error: the call was blocked or refused, or the tool has failed.
    pub is_error: bool,
    /// The arguments with the changes of hooks; null if the call was blocked.
    pub args: Value,
    /// The outcome before the call; none if it was cancelled before its hooks ran.
    pub before: Option<Outcome>,
    /// The outcome after the call; none if it was not waited for.
    pub after: Option<Outcome>,
    blocked: Option<HookBlockedError>,
    output: Option<Value>,
}

/// The end of a call that hooks have allowed.
pub(super) struct End {
    pub(super) result: Result<Value, String>,
    pub(super) is_cancelled: bool,
    pub(super) args: Value,
    pub(super) before: Outcome,
    pub(super) after: Option<Outcome>,
}

impl ToolRun {
    pub(super) fn new(end: End) -> Self {
        let updated = end.after.as_ref().and_then(Outcome::updated_output);
        let output = end.result.map(|value| updated.unwrap_or(value));
        let is_error = output.is_err();
        let (first, output) = match output {
            Ok(value) => (text_of(&value), Some(value)),
            Err(error) => (error, None),
        };
        let outcomes = || std::iter::once(&end.before).chain(&end.after);
        let said: [fn(&HookOutput) -> Option<&str>; 2] = [
            |output| output.additional_context.as_deref(),
            |output| output.feedback.as_deref(),
        ];
        let [context, feedback] = said.map(|text| joined(outcomes(), text));
        let stops_turn = outcomes().any(Outcome::stops_turn);
        Self {
            next: Next::of(
                end.is_cancelled,
                stops_turn,
                [Some(first), context, feedback],
            ),
            messages: messages(outcomes()),
            is_error,
            args: end.args,
            before: Some(end.before),
            after: end.after,
            blocked: None,
            output,
        }
    }

    /// Returns an error if the tool was not called, because hooks blocked the call or it was cancelled: for a host that needs no
    /// more than the reason.
    ///
    /// # Errors
    /// If the tool was not called.
    pub fn check(&self) -> Result<(), HookBlockedError> {
        self.blocked.clone().map_or(Ok(()), Err)
    }

    /// Returns the tool's output as hooks have left it, as JSON and without what hooks say; none if the tool has failed or was not
    /// called. For a host whose model gets other things than text. `null` if the output cannot be written as JSON.
    #[must_use]
    pub fn output_json(&self) -> Option<&Value> {
        self.output.as_ref()
    }
}

impl From<HookBlockedError> for ToolRun {
    fn from(blocked: HookBlockedError) -> Self {
        let (text, outcome) = (Some(blocked.to_string()), blocked.outcome());
        let texts = [text, outcome.and_then(Outcome::additional_context), None];
        Self {
            next: Next::of(
                blocked.is_cancelled(),
                outcome.is_some_and(Outcome::stops_turn),
                texts,
            ),
            messages: messages(outcome),
            is_error: true,
            args: Value::Null,
            before: outcome.cloned(),
            after: None,
            blocked: Some(blocked),
            output: None,
        }
    }
}

impl Next {
    fn of(is_cancelled: bool, stops_turn: bool, texts: [Option<String>; 3]) -> Self {
        let texts: Vec<_> = texts.into_iter().flatten().collect();
        let text = texts.join("\n");
        if is_cancelled {
            Self::Cancelled
        } else if stops_turn {
            Self::EndTurn(text)
        } else {
            Self::GoOn(text)
        }
    }
}

/// Returns what hooks say to the user.
pub(super) fn messages<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Vec<String> {
    let outcomes: Vec<_> = outcomes.into_iter().collect();
    let failures = failures_of(outcomes.iter().copied());
    let said = texts(outcomes.iter().copied(), |output| {
        output.system_message.as_deref()
    });
    let stops = outcomes.iter().find_map(|outcome| outcome.stop_reason());
    let said = said.into_iter().chain(stops);
    let said = said.map(printable_lines);
    failures.into_iter().chain(said).collect()
}

/// Returns a tool's output for hooks and for the model.
pub(super) fn json_of(tool: &str, output: &impl Serialize) -> Value {
    serde_json::to_value(output).unwrap_or_else(|error| {
        let name = printable(tool);
        warn!("hooks and the model do not receive the result of tool `{name}`: {error}");
        Value::Null
    })
}

fn text_of(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Hides the arguments and the output, which may contain secrets.
impl fmt::Debug for ToolRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRun")
            .field("is_error", &self.is_error)
            .field("before", &self.before)
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}
