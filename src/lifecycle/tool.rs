//! A call of a tool: the events before it, after it, and on its failure.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::{
    Ask, Lifecycle, Question, ask_user_if_needed, options, with_panic_reported, without_duplicates,
};
use crate::events::{HookEvent, bounded_copy, drop_values};
use crate::logging::warn;
use crate::outcome::{HookBlockedError, HookOutput, HookResult, Outcome};
use crate::printable::printable;

/// A tool that is about to be called; see [`Lifecycle::tool`].
#[must_use = "the tool is not called before `run`"]
pub struct ToolCall<'a> {
    lifecycle: &'a Lifecycle,
    name: String,
    args: Value,
    applies_updates: bool,
    ask: Option<Ask<'a>>,
}

impl<'a> ToolCall<'a> {
    pub(super) fn new(lifecycle: &'a Lifecycle, name: String, args: Value) -> Self {
        Self {
            lifecycle,
            name,
            args,
            applies_updates: false,
            ask: None,
        }
    }

    /// Calls the tool with the changes that hooks have made to its arguments (`updatedInput`). The hooks run
    /// once more on the changed call and may block it, so that every guard sees every change. Further changes
    /// are ignored, with a warning. Background hooks do not run twice.
    ///
    /// Default: the tool is called with its original arguments; the changes are in
    /// [`ToolRun::before`]. The same applies to arguments that are not a JSON object.
    pub fn apply_updates(mut self) -> Self {
        self.applies_updates = true;
        self
    }

    /// Sets the function that asks the user when a hook answers `ask`; true allows the call.
    /// Default: such a hook blocks the call. The function is called once, after all changes, if no
    /// hook blocks; also if a hook has asked only about the original call.
    pub fn on_ask(mut self, ask: impl FnOnce(&Question<'_>) -> bool + Send + 'a) -> Self {
        self.ask = Some(Box::new(ask));
        self
    }

    /// Fires `tool:pre_execute`, calls the tool with its arguments, and fires `tool:post_execute`
    /// with what it returns, or `tool:error` with its error message.
    ///
    /// # Errors
    /// If a hook blocks the call, or the user declines when asked. The tool has not been called then.
    /// With [`on_ask`](ToolCall::on_ask), the [decision](HookResult::decision) of the result in the
    /// error is `Ask` if the user declined. An error of the tool itself is in [`ToolRun::output`].
    ///
    /// # Panics
    /// If the tool panics, after `tool:error` has been fired with the message of the panic.
    pub fn run<T: Serialize, E: fmt::Display>(
        mut self,
        tool: impl FnOnce(&Value) -> Result<T, E>,
    ) -> Result<ToolRun<T, E>, HookBlockedError> {
        let (before, again) = match self.ask_hooks() {
            Ok(outcomes) => outcomes,
            Err(blocked) => {
                drop_values(vec![self.args]);
                return Err(blocked);
            }
        };
        let call = || tool(&self.args);
        let result = with_panic_reported(call, |words| {
            let _ = self.fire_error(words);
        });
        let after = match &result {
            Ok(value) => self.fire_result(value),
            Err(error) => self.fire_error(&error.to_string()),
        };
        Ok(ToolRun {
            original: result,
            args: self.args,
            before,
            again,
            after,
        })
    }

    /// Returns the outcome of the original call, and of the changed call if hooks have changed it.
    fn ask_hooks(&mut self) -> Result<(Outcome, Option<Outcome>), HookBlockedError> {
        let ask = self.ask.take();
        let options = options(ask.as_ref());
        let event = self.event();
        let outcome = self
            .lifecycle
            .executor
            .execute(&event, options)
            .into_result()?;
        let Some(changed) = self.changed_by(&outcome) else {
            return Ok((ask_user_if_needed(&event, outcome, None, ask)?, None));
        };
        self.args = changed;
        let event = self.event();
        let options = options.without_background();
        let again = self.lifecycle.executor.execute(&event, options);
        if self.changed_by(&again).is_some() {
            let name = printable(&self.name);
            warn!(
                "a hook changed an already changed call of tool `{name}`: the second change is ignored"
            );
        }
        // A hook that asks only once and has asked about the original call means this call too.
        let again = ask_user_if_needed(&event, again, Some(&outcome), ask)?;
        Ok((outcome, Some(again)))
    }

    fn event(&self) -> HookEvent {
        let event = HookEvent::tool_pre_execute(&self.name, bounded_copy(&self.args));
        self.lifecycle.of_session(event)
    }

    /// Returns the arguments that hooks have changed, if they differ.
    fn changed_by(&self, outcome: &Outcome) -> Option<Value> {
        if !self.applies_updates {
            return None;
        }
        if let Value::Object(args) = &self.args {
            return outcome.changed_input(args).map(Value::Object);
        }
        if outcome.updated_input().is_some() {
            let name = printable(&self.name);
            warn!(
                "the changes of hooks to tool `{name}` are ignored: its arguments are not an object"
            );
        }
        None
    }

    fn fire_result(&self, value: &impl Serialize) -> Option<Outcome> {
        let result = serde_json::to_value(value).unwrap_or_else(|error| {
            let name = printable(&self.name);
            warn!("hooks do not receive the result of tool `{name}`: {error}");
            Value::Null
        });
        let event = HookEvent::tool_post_execute(&self.name, bounded_copy(&self.args), result);
        self.lifecycle.fire_after(event)
    }

    fn fire_error(&self, words: &str) -> Option<Outcome> {
        let event = HookEvent::tool_error(&self.name, bounded_copy(&self.args), words);
        self.lifecycle.fire_after(event)
    }
}

/// Hides the arguments, which may contain secrets.
impl fmt::Debug for ToolCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall")
            .field("name", &self.name)
            .field("applies_updates", &self.applies_updates)
            .finish_non_exhaustive()
    }
}

/// A tool that was called, with the outcomes of its hooks.
#[non_exhaustive]
#[must_use = "the tool may have failed: look at `output`"]
pub struct ToolRun<T, E> {
    /// What the tool returned, before its hooks. The model must not receive it: hooks may have masked or withheld
    /// it. [`output`](Self::output) is for the model.
    pub original: Result<T, E>,
    /// The arguments that it was called with.
    pub args: Value,
    /// The outcome before the call, of the original call.
    pub before: Outcome,
    /// The outcome of the changed call, if hooks changed it.
    pub again: Option<Outcome>,
    /// The outcome after the call; none if it was not waited for.
    pub after: Option<Outcome>,
}

impl<T: Serialize, E> ToolRun<T, E> {
    /// Returns the tool's output for the model, as hooks have left it ([`Outcome::updated_output`]): text as it is,
    /// any other value as JSON, and one that cannot be written as JSON as `null`.
    ///
    /// # Errors
    /// With the error of the tool, if it has failed.
    pub fn output(&self) -> Result<String, &E> {
        Ok(match self.output_json()? {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }

    /// Returns the same as JSON. `null` if the tool's own output cannot be written as JSON, as hooks receive it.
    ///
    /// # Errors
    /// As with [`output`](Self::output).
    pub fn output_json(&self) -> Result<Value, &E> {
        let original = self.original.as_ref()?;
        let updated = self.after.as_ref().and_then(Outcome::updated_output);
        Ok(updated.unwrap_or_else(|| serde_json::to_value(original).unwrap_or_default()))
    }
}

impl<T, E> ToolRun<T, E> {
    /// Whether a hook asks the host to stop its whole turn; see [`Outcome::stops_turn`].
    #[must_use]
    pub fn stops_turn(&self) -> bool {
        self.outputs().any(|output| output.stops_turn)
    }

    /// The messages of hooks for the user, before and after the call, without duplicates.
    #[must_use]
    pub fn system_messages(&self) -> Vec<&str> {
        self.texts(|output| output.system_message.as_deref())
    }

    /// The context of hooks for the model, before and after the call, without duplicates, separated
    /// by newlines.
    #[must_use]
    pub fn additional_context(&self) -> Option<String> {
        joined(&self.texts(|output| output.additional_context.as_deref()))
    }

    /// The feedback for the model after the tool, without duplicates, separated by newlines; see
    /// [`Outcome::feedback`].
    #[must_use]
    pub fn feedback(&self) -> Option<String> {
        joined(&self.texts(|output| output.feedback.as_deref()))
    }

    fn texts(&self, text: impl Fn(&HookOutput) -> Option<&str>) -> Vec<&str> {
        without_duplicates(self.outputs().filter_map(text))
    }

    fn outputs(&self) -> impl Iterator<Item = &HookOutput> {
        let before = std::iter::once(&self.before);
        let outcomes = before.chain(&self.again).chain(&self.after);
        outcomes
            .flat_map(|outcome| outcome.results().iter())
            .filter_map(HookResult::output)
    }
}

fn joined(texts: &[&str]) -> Option<String> {
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Hides the arguments and the return value, which may contain secrets.
impl<T, E> fmt::Debug for ToolRun<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRun")
            .field("succeeded", &self.original.is_ok())
            .field("before", &self.before)
            .field("again", &self.again)
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}
