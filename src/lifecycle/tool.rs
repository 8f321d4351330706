//! A call of a tool, and the output that the model receives.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use serde::Serialize;
use serde_json::Value;

use super::action::{Action, Request, Running};
use super::permit::Permit;
use crate::executor::CancelToken;
use crate::logging::warn;
use crate::outcome::{Failures, HookBlockedError, Outcome, joined, texts};
use crate::printable::printable;

/// The key of the arguments in the data of an event.
const ARGS: &str = "tool_args";

/// A call of a tool; see [`Lifecycle::tool`](super::Lifecycle::tool).
#[derive(Debug)]
pub struct Tool;

impl Action for Tool {
    fn begun(running: &mut Running<Self>) -> Result<(), HookBlockedError> {
        running.open.lifecycle.stops.note_tool();
        Ok(())
    }
}

impl Request<'_, Tool> {
    /// Lets hooks that change the arguments (`updatedInput`) block the call.
    ///
    /// Default: the permit has the changed arguments, as [`applies_updates`](crate::FireOptions::applies_updates) says. A change of
    /// arguments that are not a JSON object blocks.
    pub fn refuse_updates(mut self) -> Self {
        self.applies_updates = false;
        self
    }

    /// Fires `tool:pre_execute`, and runs its hooks on this thread. The host then runs the tool of the permit, and passes
    /// its result to [`finish`](Running::finish).
    ///
    /// This is for a host that cannot call its tool in a function, such as an async one; any other one calls
    /// [`run`](Request::run). A batch of calls needs no order: each permit has its own tool and arguments.
    ///
    /// # Errors
    /// If a hook blocks the call or stops the turn, the user declines when asked, or the host
    /// [cancels](HookBlockedError::is_cancelled) the event. The host then [gives its model the
    /// reason](super#when-a-hook-blocks).
    pub fn permit(self) -> Result<(Permit, Running<Tool>), HookBlockedError> {
        let running = self.start()?;
        let open = &running.open;
        let permit = Permit::new(
            open.tool.clone().unwrap_or_default(),
            open.data.get(ARGS).cloned().unwrap_or_default(),
        );
        Ok((permit, running))
    }

    /// Fires `tool:pre_execute`, calls the function that runs tools with the [`Permit`], and fires `tool:post_execute` with
    /// its result, or `tool:error` with its error message.
    ///
    /// # Errors
    /// The errors of [`permit`](Request::permit). The tool has not been called then. An error of the tool itself is in
    /// [`ToolRun::output`].
    ///
    /// # Panics
    /// If the tool panics, after `tool:error` has been fired with the message of the panic.
    pub fn run<T: Serialize, E: fmt::Display>(
        self,
        tool: impl FnOnce(Permit) -> Result<T, E>,
    ) -> Result<ToolRun<T, E>, HookBlockedError> {
        let (permit, running) = self.permit()?;
        // Unwind safety: the panic continues, so no state that the tool left inconsistent is used.
        match catch_unwind(AssertUnwindSafe(|| tool(permit))) {
            Ok(result) => Ok(running.finish(result)),
            Err(payload) => {
                let _ = running.finish(Err::<(), _>(panic_message(&*payload)));
                resume_unwind(payload)
            }
        }
    }
}

fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let fixed = payload.downcast_ref::<&str>().copied();
    let made = || payload.downcast_ref::<String>().map(String::as_str);
    fixed.or_else(made).unwrap_or("panicked")
}

impl Running<Tool> {
    /// Fires `tool:post_execute` with the tool's result, or `tool:error` with its error message.
    pub fn finish<T: Serialize, E: fmt::Display>(mut self, result: Result<T, E>) -> ToolRun<T, E> {
        let after = match &result {
            Ok(value) => {
                let value = serde_json::to_value(value).unwrap_or_else(|error| {
                    let name = printable(self.open.tool.as_deref().unwrap_or_default());
                    warn!("hooks do not receive the result of tool `{name}`: {error}");
                    Value::Null
                });
                self.open.end(Ok(value))
            }
            Err(error) => self.open.end(Err(&error.to_string())),
        };
        let token = self.open.lifecycle.token.as_ref();
        ToolRun {
            unmasked: result,
            is_cancelled: token.is_some_and(CancelToken::is_cancelled),
            args: self.open.data.remove(ARGS).unwrap_or_default(),
            before: self.before,
            after,
        }
    }
}

/// A tool that was called, with the outcomes of its hooks.
#[non_exhaustive]
#[must_use = "the tool may have failed: look at `output`"]
pub struct ToolRun<T, E> {
    unmasked: Result<T, E>,
    is_cancelled: bool,
    /// The arguments with which the tool was called.
    pub args: Value,
    /// The outcome before the call.
    pub before: Outcome,
    /// The outcome after the call; none if it was not waited for.
    pub after: Option<Outcome>,
}

impl<T: Serialize, E> ToolRun<T, E> {
    /// Returns the tool's output for the model, with the changes of hooks ([`Outcome::updated_output`]): text unchanged, any
    /// other value as JSON, and a value that cannot be written as JSON as `null`.
    ///
    /// # Errors
    /// The error of the tool, if it has failed.
    pub fn output(&self) -> Result<String, &E> {
        self.output_json().map(text_of)
    }

    /// Returns the output for the model, as [`output`](Self::output) does, or the tool's own error by value, so that `?` works.
    ///
    /// # Errors
    /// The errors of [`output`](Self::output).
    pub fn into_output(self) -> Result<String, E> {
        self.into_output_json().map(text_of)
    }

    /// Returns the tool's output for the model as JSON. `null` if the tool's own output cannot be written as JSON; hooks then
    /// receive `null` too.
    ///
    /// # Errors
    /// The errors of [`output`](Self::output).
    pub fn output_json(&self) -> Result<Value, &E> {
        let unmasked = self.unmasked()?;
        Ok(for_the_model(unmasked, self.after.as_ref()))
    }

    /// Returns the tool's output for the model as JSON, as [`output_json`](Self::output_json) does, or the tool's own error by
    /// value.
    ///
    /// # Errors
    /// The errors of [`output`](Self::output).
    pub fn into_output_json(self) -> Result<Value, E> {
        let unmasked = self.unmasked?;
        Ok(for_the_model(&unmasked, self.after.as_ref()))
    }
}

/// Returns a tool's output with the changes of hooks.
fn for_the_model(unmasked: &impl Serialize, after: Option<&Outcome>) -> Value {
    let updated = after.and_then(Outcome::updated_output);
    updated.unwrap_or_else(|| serde_json::to_value(unmasked).unwrap_or_default())
}

fn text_of(output: Value) -> String {
    match output {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

impl<T, E> ToolRun<T, E> {
    /// Returns the output of the tool itself. The model must not receive it, since hooks may have masked or withheld it:
    /// [`output`](Self::output) is for the model.
    ///
    /// # Errors
    /// The error of the tool, if it has failed.
    pub fn unmasked(&self) -> Result<&T, &E> {
        self.unmasked.as_ref()
    }

    /// Returns the output of the tool itself, by value; see [`unmasked`](Self::unmasked).
    ///
    /// # Errors
    /// The error of the tool, if it has failed.
    pub fn into_unmasked(self) -> Result<T, E> {
        self.unmasked
    }

    /// Returns whether the [token](Request::cancelled_by) of the call was cancelled before its end: the host then ends the
    /// cancelled work, and the model gets nothing. The tool has run, perhaps not to its end; its last hooks were cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled
    }

    /// Returns whether a hook asks the host to stop its whole turn; see [`Outcome::stops_turn`].
    #[must_use]
    pub fn stops_turn(&self) -> bool {
        self.outcomes().any(Outcome::stops_turn)
    }

    /// Returns the reason that a hook gives for stopping the turn, before or after the call; see [`Outcome::stop_reason`].
    #[must_use]
    pub fn stop_reason(&self) -> Option<&str> {
        self.outcomes().find_map(Outcome::stop_reason)
    }

    /// Returns the messages of hooks for the user, before and after the call, without duplicates.
    #[must_use]
    pub fn system_messages(&self) -> Vec<&str> {
        texts(self.outcomes(), |output| output.system_message.as_deref())
    }

    /// Returns the context of hooks for the model, before and after the call, without duplicates, separated by newlines.
    #[must_use]
    pub fn additional_context(&self) -> Option<String> {
        joined(self.outcomes(), |output| {
            output.additional_context.as_deref()
        })
    }

    /// Returns the feedback for the model after the tool, without duplicates, separated by newlines; see
    /// [`Outcome::feedback`].
    #[must_use]
    pub fn feedback(&self) -> Option<String> {
        joined(self.outcomes(), |output| output.feedback.as_deref())
    }

    /// Returns the hooks that failed and did not block, before and after the call, for the user; see [`Outcome::failures`].
    #[must_use]
    pub fn failures(&self) -> Failures<'_> {
        Failures::of(self.outcomes())
    }

    fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        let before = std::iter::once(&self.before);
        before.chain(&self.after)
    }
}

/// Hides the arguments and the return value, which may contain secrets.
impl<T, E> fmt::Debug for ToolRun<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRun")
            .field("succeeded", &self.unmasked.is_ok())
            .field("before", &self.before)
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}
