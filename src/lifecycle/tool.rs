//! A call of a tool: before it, after it, or in its failure.

use std::fmt;

use log::warn;
use serde::Serialize;
use serde_json::Value;

use super::{Ask, Lifecycle, Question, once, options, settled, telling_of_panic};
use crate::events::{HookEvent, bounded_copy, drop_values};
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

    /// Calls the tool with what hooks would have in the place of some of its arguments
    /// (`updatedInput`), key by key. The hooks are run once more on the changed call, and may block
    /// it, so that no change passes a guard unseen; what they would change further is left undone,
    /// with a warning. Hooks in the background are not told twice.
    ///
    /// Without it, and for arguments that are no JSON object, the tool is called with its arguments
    /// as they are, whatever the hooks say; [`ToolRun::before`] has it.
    pub fn apply_updates(mut self) -> Self {
        self.applies_updates = true;
        self
    }

    /// Whom to ask where a hook answers `ask`; true lets the tool be called. Without it such a hook
    /// blocks the call. It is asked once, after all changes, when no hook blocks; also where a hook
    /// has asked of the call as it was alone.
    pub fn on_ask(mut self, ask: impl FnOnce(&Question<'_>) -> bool + Send + 'a) -> Self {
        self.ask = Some(Box::new(ask));
        self
    }

    /// Fires `tool:pre_execute`, calls the tool with its arguments, and fires `tool:post_execute`
    /// with what it returns, or `tool:error` with the words of its error.
    ///
    /// # Errors
    /// When a hook blocks the call, or the user does who is asked: the tool has not been called. With
    /// [`on_ask`](ToolCall::on_ask), the [decision](HookResult::decision) of the result in the error
    /// is `Ask` where it was the user. An error of the tool itself is in [`ToolRun::result`].
    ///
    /// # Panics
    /// When the tool does, after `tool:error` has been fired with the words of the panic.
    pub fn run<T: Serialize, E: fmt::Display>(
        mut self,
        tool: impl FnOnce(&Value) -> Result<T, E>,
    ) -> Result<ToolRun<T, E>, HookBlockedError> {
        let (before, again) = match self.leave() {
            Ok(outcomes) => outcomes,
            Err(blocked) => {
                drop_values(vec![self.args]);
                return Err(blocked);
            }
        };
        let call = || tool(&self.args);
        let result = telling_of_panic(call, |words| {
            let _ = self.tell_error(words);
        });
        let after = match &result {
            Ok(value) => self.tell_result(value),
            Err(error) => self.tell_error(&error.to_string()),
        };
        Ok(ToolRun {
            result,
            args: self.args,
            before,
            again,
            after,
        })
    }

    /// The outcome on the call as it was, and the one on the changed call if hooks have changed it.
    fn leave(&mut self) -> Result<(Outcome, Option<Outcome>), HookBlockedError> {
        let ask = self.ask.take();
        let options = options(ask.as_ref());
        let event = self.event();
        let outcome = self.lifecycle.ask_leave(&event, options).into_result()?;
        let Some(changed) = self.changed_by(&outcome) else {
            return Ok((settled(&event, outcome, None, ask)?, None));
        };
        self.args = changed;
        let event = self.event();
        let options = options.without_background();
        let again = self.lifecycle.ask_leave(&event, options);
        if self.changed_by(&again).is_some() {
            let name = printable(&self.name);
            warn!(
                "hooks would change a changed call of tool `{name}` further; that is left undone"
            );
        }
        // A hook that asks only once, and has asked of the call as it was, means this one too.
        let again = settled(&event, again, Some(&outcome), ask)?;
        Ok((outcome, Some(again)))
    }

    fn event(&self) -> HookEvent {
        let event = HookEvent::tool_pre_execute(&self.name, bounded_copy(&self.args));
        self.lifecycle.of_session(event)
    }

    /// The arguments as hooks would have them, where that is another thing than they are.
    fn changed_by(&self, outcome: &Outcome) -> Option<Value> {
        let changes = outcome.updated_input().filter(|_| self.applies_updates)?;
        let Value::Object(args) = &self.args else {
            let name = printable(&self.name);
            warn!(
                "what hooks would change of tool `{name}` is left undone: its arguments are no object"
            );
            return None;
        };
        let mut changed = if outcome.replaces_input() {
            serde_json::Map::new()
        } else {
            args.clone()
        };
        changed.extend(changes);
        (changed != *args).then_some(Value::Object(changed))
    }

    fn tell_result(&self, value: &impl Serialize) -> Option<Outcome> {
        let result = serde_json::to_value(value).unwrap_or_else(|error| {
            let name = printable(&self.name);
            warn!("the result of tool `{name}` is kept from its hooks: {error}");
            Value::Null
        });
        let event = HookEvent::tool_post_execute(&self.name, bounded_copy(&self.args), result);
        self.lifecycle.tell(event)
    }

    fn tell_error(&self, words: &str) -> Option<Outcome> {
        let event = HookEvent::tool_error(&self.name, bounded_copy(&self.args), words);
        self.lifecycle.tell(event)
    }
}

/// Shows no argument: they may hold secrets.
impl fmt::Debug for ToolCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall")
            .field("name", &self.name)
            .field("applies_updates", &self.applies_updates)
            .finish_non_exhaustive()
    }
}

/// A tool that was called, and what its hooks have said.
#[non_exhaustive]
#[must_use = "the tool may have failed: look at `result`"]
pub struct ToolRun<T, E> {
    /// What the tool has returned.
    pub result: Result<T, E>,
    /// The arguments that it was called with.
    pub args: Value,
    /// What hooks have said before it, of the call as it was.
    pub before: Outcome,
    /// What they have said of the changed call, where they had it changed.
    pub again: Option<Outcome>,
    /// What they have said after it; none where nobody waits for that.
    pub after: Option<Outcome>,
}

impl<T: Serialize, E> ToolRun<T, E> {
    /// What the model is to see of the tool's result: that result as JSON, or what hooks have put in its
    /// place ([`Outcome::updated_output`]). None where the tool has failed; a result that is no JSON is
    /// `null`, as hooks have seen it.
    #[must_use]
    pub fn output(&self) -> Option<Value> {
        let result = self.result.as_ref().ok()?;
        let updated = self.after.as_ref().and_then(Outcome::updated_output);
        Some(updated.unwrap_or_else(|| serde_json::to_value(result).unwrap_or_default()))
    }
}

impl<T, E> ToolRun<T, E> {
    /// Whether a hook wants the host to stop its whole turn; see [`Outcome::stops_turn`].
    #[must_use]
    pub fn stops_turn(&self) -> bool {
        self.outputs().any(|output| output.stops_turn)
    }

    /// What hooks want to be shown to the user, before and after, each thing once.
    #[must_use]
    pub fn system_messages(&self) -> Vec<&str> {
        once(
            self.outputs()
                .filter_map(|output| output.system_message.as_deref()),
        )
    }

    /// What hooks have for the model, before and after, each thing once, with a newline between two.
    #[must_use]
    pub fn additional_context(&self) -> Option<String> {
        let contexts = once(
            self.outputs()
                .filter_map(|output| output.additional_context.as_deref()),
        );
        (!contexts.is_empty()).then(|| contexts.join("\n"))
    }

    /// What the model hears after the tool, each thing once, with a newline between two; see
    /// [`Outcome::feedback`].
    #[must_use]
    pub fn feedback(&self) -> Option<String> {
        let words = once(
            self.outputs()
                .filter_map(|output| output.feedback.as_deref()),
        );
        (!words.is_empty()).then(|| words.join("\n"))
    }

    fn outputs(&self) -> impl Iterator<Item = &HookOutput> {
        let before = std::iter::once(&self.before);
        let outcomes = before.chain(&self.again).chain(&self.after);
        outcomes
            .flat_map(|outcome| outcome.results().iter())
            .filter_map(HookResult::output)
    }
}

/// Shows neither an argument nor what the tool has returned: they may hold secrets.
impl<T, E> fmt::Debug for ToolRun<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRun")
            .field("succeeded", &self.result.is_ok())
            .field("before", &self.before)
            .field("again", &self.again)
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}
