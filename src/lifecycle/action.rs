//! The one mechanism of all actions: `begin` fires the event before, `finish` the event after.
//!
//! Does not know the differences between actions, which are in the [table](super::table).

use std::borrow::Cow;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::Lifecycle;
use super::question::{Ask, Question, agreed};
use super::table::Row;
use crate::events::{AGENT_ID, AGENT_TYPE, EventType, HookEvent};
use crate::executor::{CancelToken, FireOptions};
use crate::hook::Hook;
use crate::logging::warn;
use crate::outcome::{HookBlockedError, Outcome, failures_of, joined};
use crate::printable::printable;

/// A kind of action. The trait is not exported, so that only this crate implements it.
pub trait Action: Sized {
    /// True if the action is a decision: hooks that ask do not block it, and a block is its failure.
    const DECIDES: bool = false;

    /// Returns a second event before the action, if it has one.
    fn prompt(_running: &mut Running<Self>) -> Option<(HookEvent, FireOptions)> {
        None
    }

    /// Takes what the hooks of the second event have decided.
    fn prompted(_running: &mut Running<Self>, _event: HookEvent, _outcome: Outcome) {}

    /// Called when the action is allowed and has begun.
    fn begun(_running: &mut Running<Self>) {}
}

/// An action that a host can begin and end by itself. A tool is not one: its begin gives a permit.
pub trait Begins: Action {}

/// An action that is about to begin. It borrows nothing of the [`Lifecycle`], so a host can move it to a
/// thread that may wait.
#[must_use = "nothing is fired before `begin` or `run`"]
pub struct Request<'a, A> {
    pub(super) open: Open,
    pub(super) action: A,
    pub(super) applies_updates: bool,
    ask: Option<Ask<'a>>,
}

impl<'a, A: Action> Request<'a, A> {
    pub(super) fn new<const N: usize>(
        lifecycle: &Lifecycle,
        row: impl Into<Cow<'static, Row>>,
        data: [(&str, Value); N],
        action: A,
    ) -> Self {
        Self {
            open: Open {
                lifecycle: lifecycle.clone(),
                row: row.into(),
                tool: None,
                data: data
                    .map(|(key, value)| (key.to_owned(), value))
                    .into_iter()
                    .collect(),
                running: None,
                seen_by: Vec::new(),
                is_running: false,
            },
            action,
            applies_updates: true,
            ask: None,
        }
    }

    /// Sets the function that asks the user when a hook answers `ask`; true allows the action. Default: such a hook blocks
    /// it. The function is called once, after all changes, if no hook blocks. It is also called if a hook has asked only
    /// about the action before it was changed. For a permission, `run` or `question` asks instead.
    pub fn on_ask(mut self, ask: impl FnOnce(&Question<'_>) -> bool + Send + 'a) -> Self {
        self.ask = Some(Box::new(ask));
        self
    }

    /// Adds a field to the data of each event of this action, such as `tool_use_id` for one call of a tool. Loading reports
    /// conditions on a field that no [declaration](crate::HooksBuilder::event) of the event has. If an event of
    /// the action has a field of this name itself, such as `tool_args` or `error`, the new field is ignored, with a warning
    /// in the log.
    ///
    /// ```
    /// use forge_hooks::Lifecycle;
    ///
    /// let hooks = Lifecycle::without_hooks();
    /// let call = hooks.tool("ls", ".").with_field("tool_use_id", "toolu_7");
    /// call.run(|permit| permit.run(|_, _| Ok::<_, String>("src"))).check()?;
    /// # Ok::<(), forge_hooks::HookBlockedError>(())
    /// ```
    pub fn with_field(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.open.set_field(name.into(), value.into());
        self
    }

    /// Lets this token cancel the events of this action, including that of its end, in place of the
    /// [lifecycle's](Lifecycle::cancelled_by).
    pub fn cancelled_by(mut self, token: &CancelToken) -> Self {
        self.open.lifecycle.token = Some(token.clone());
        self
    }

    pub(super) fn start(mut self) -> Result<Running<A>, HookBlockedError> {
        let event = self.announced()?;
        if !self.open.can_block(&event) {
            let mut running = self.announce(event);
            A::begun(&mut running);
            return Ok(running);
        }
        let ask = self.ask.take().filter(|_| !A::DECIDES);
        let options = self.options(ask.is_some());
        let outcome = self.open.lifecycle.executor.execute(&event, options);
        let (event, outcome) = self.heard(event, outcome)?;
        let before = agreed(&event, outcome, ask);
        // A host that answers for a user who has cancelled the call meanwhile gives no answer.
        self.open.check()?;
        let mut running = self.running(before?);
        if let Some((event, options)) = A::prompt(&mut running) {
            let outcome = running.open.lifecycle.executor.execute(&event, options);
            A::prompted(&mut running, event, outcome.unless_denied()?);
        }
        A::begun(&mut running);
        Ok(running)
    }

    /// Creates the event before the action.
    ///
    /// # Errors
    /// If the host has cancelled the action. One that cannot be blocked is not cancelled.
    pub(super) fn announced(&mut self) -> Result<HookEvent, HookBlockedError> {
        let event = self.open.event(&self.open.row.before);
        self.open.running = Some(self.open.lifecycle.executor.running());
        // Before the event: a hook that is registered meanwhile has not seen it.
        self.open.seen_by = self.open.lifecycle.executor.hooks_of(&event);
        if self.open.can_block(&event) {
            self.open.is_running = A::DECIDES;
            self.open.check()?;
        }
        Ok(event)
    }

    /// Fires the event before an action that cannot be blocked.
    pub(super) fn announce(self, event: HookEvent) -> Running<A> {
        let lifecycle = &self.open.lifecycle;
        let unseen = lifecycle.executor.outcome_of(&event.event_type);
        let before = lifecycle.fire_after(event).unwrap_or(unseen);
        self.running(before)
    }

    /// Returns the options of the event before the action.
    pub(super) fn options(&self, asks: bool) -> FireOptions {
        let mut options = self.open.lifecycle.options();
        if asks || A::DECIDES {
            options = options.handles_ask();
        }
        if self.applies_updates {
            options = options.applies_updates();
        }
        options
    }

    /// Takes over the changes of hooks, unless one of them blocks. Returns the changed event.
    pub(super) fn heard(
        &mut self,
        event: HookEvent,
        outcome: Outcome,
    ) -> Result<(HookEvent, Outcome), HookBlockedError> {
        let before = outcome.unless_denied()?;
        let event = match before.changed_event() {
            Some(changed) => {
                self.open.set_input(changed);
                changed.clone()
            }
            None => event,
        };
        Ok((event, before))
    }

    pub(super) fn running(mut self, before: Outcome) -> Running<A> {
        self.open.is_running = true;
        Running {
            before,
            prompt: None,
            open: self.open,
            action: self.action,
        }
    }
}

impl<A: Begins> Request<'_, A> {
    /// Fires the event before the action, and runs its hooks on this thread. The host then performs the action, and ends it
    /// with `finish`. An event that cannot be blocked is always allowed.
    ///
    /// # Errors
    /// If a hook blocks the action or stops the turn, the user declines when asked, or the host
    /// [cancels](HookBlockedError::is_cancelled) the event. The host then does not perform the action, and [gives its model
    /// the reason](super#when-a-hook-blocks).
    pub fn begin(self) -> Result<Running<A>, HookBlockedError> {
        self.start()
    }
}

// Beginning an action consumes the request, so that the function that asks is called once at most.
impl<A> UnwindSafe for Request<'_, A> {}
impl<A> RefUnwindSafe for Request<'_, A> {}

impl<A> fmt::Debug for Request<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Request").field(&self.open).finish()
    }
}

/// An action that hooks have allowed, and that has begun. It borrows nothing and can be sent, so a host can
/// store it, move it to another thread, or hold it across an `.await`.
///
/// `finish` ends the action. If it is dropped before, by an error, a panic or a cancelled future, then the event for that is
/// fired, if there is one: `tool:error`, `llm:error`, `llm:stream_end`, `session:end`, `permission:denied`. Dropping it
/// takes as long as the hooks of this event, except [`without_waiting`](super::Lifecycle::without_waiting).
#[must_use = "an action that is dropped at once has ended without a result"]
#[derive(Debug)]
pub struct Running<A> {
    pub(super) before: Outcome,
    /// The outcome of the prompt for a permission.
    pub(super) prompt: Option<Outcome>,
    /// Dropped before `open`: a stream ends before its call.
    pub(super) action: A,
    pub(super) open: Open,
}

impl<A> Running<A> {
    /// Returns the outcome of the event before the action; empty if it was not waited for.
    pub fn before(&self) -> &Outcome {
        &self.before
    }

    /// Returns the context of hooks for the model so far, without duplicates, separated by newlines.
    #[must_use]
    pub fn additional_context(&self) -> Option<String> {
        joined(self.outcomes(), |output| {
            output.additional_context.as_deref()
        })
    }

    /// Returns the hooks that have failed so far and did not block, a line each, for the user; see [`Outcome::failures`].
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        failures_of(self.outcomes())
    }

    pub(super) fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        std::iter::once(&self.before).chain(&self.prompt)
    }
}

/// The events of one action: their common data, and whether the end must still be fired.
pub(super) struct Open {
    pub(super) lifecycle: Lifecycle,
    pub(super) row: Cow<'static, Row>,
    pub(super) tool: Option<String>,
    pub(super) data: Map<String, Value>,
    /// The token of `cancel_running`, as of the action's begin. None before it.
    running: Option<CancelToken>,
    /// The hooks of the event before the action, whatever their conditions.
    pub(super) seen_by: Vec<Arc<Hook>>,
    is_running: bool,
}

impl Open {
    /// Creates an event of this action.
    pub(super) fn event(&self, name: &str) -> HookEvent {
        // A test checks that each name of the table is valid.
        let event_type = EventType::of_name(name).unwrap_or(EventType::ToolError);
        let mut event = HookEvent::new(event_type);
        event.tool_name.clone_from(&self.tool);
        for (key, value) in &self.data {
            if name == self.row.before || !self.row.left_out.contains(&&**key) {
                event = event.with_copy(key, value);
            }
        }
        self.lifecycle.of_session(event)
    }

    /// Adds a field to the data of the events that must still be fired.
    pub(super) fn set_field(&mut self, name: String, value: Value) {
        // Only a turn sets the agent of an event, since guards decide by it.
        if self.row.has_key(&name) || [AGENT_TYPE, AGENT_ID].contains(&&*name) {
            warn!(
                "the field `{}` is ignored: it is one of the events' own",
                printable(&name)
            );
        } else {
            self.data.insert(name, value);
        }
    }

    /// Returns whether the host no longer wants the action, so that a yes does not count: its token was cancelled, or, since the
    /// action began, all that ran was.
    pub(super) fn is_cancelled(&self) -> bool {
        let mut tokens = self.lifecycle.token.iter().chain(&self.running);
        tokens.any(CancelToken::is_cancelled)
    }

    /// Returns whether the action's own token was cancelled.
    pub(super) fn is_cancelled_by_token(&self) -> bool {
        let token = self.lifecycle.token.as_ref();
        token.is_some_and(CancelToken::is_cancelled)
    }

    /// Returns whether the event before the action has other hooks than when it was fired.
    pub(super) fn has_other_hooks(&self) -> bool {
        let event_type = EventType::of_name(&self.row.before).unwrap_or(EventType::ToolError);
        let mut event = HookEvent::new(event_type);
        event.tool_name.clone_from(&self.tool);
        self.lifecycle.executor.hooks_of(&event) != self.seen_by
    }

    /// Returns whether hooks can block the event.
    fn can_block(&self, event: &HookEvent) -> bool {
        self.lifecycle.executor.can_block(&event.event_type)
    }

    /// Fires no event at the end.
    pub(super) fn forget(&mut self) {
        self.is_running = false;
    }

    /// Checks that the host still wants the action, whether there are hooks or not.
    ///
    /// # Errors
    /// If the action [is cancelled](Self::is_cancelled).
    pub(super) fn check(&self) -> Result<(), HookBlockedError> {
        if self.is_cancelled() {
            return Err(HookBlockedError::cancelled());
        }
        Ok(())
    }

    /// Takes over the input of an event that hooks have changed.
    fn set_input(&mut self, changed: &HookEvent) {
        for key in changed.input_keys() {
            if let Some(value) = changed.data.get(key) {
                self.data.insert(key.to_owned(), value.clone());
            }
        }
    }

    /// Fires the event of the action's end, with its result or the reason of its failure.
    pub(super) fn end(&mut self, result: Result<Value, impl fmt::Display>) -> Option<Outcome> {
        let event = self.end_event(result)?;
        self.lifecycle.fire_after(event)
    }

    /// Fires this event where no caller is left to see its outcome.
    pub(super) fn end_unseen(&mut self, result: Result<Value, impl fmt::Display>) {
        if let Some(outcome) = self.end(result) {
            self.lifecycle.executor.keep_for_user(outcome.failures());
        }
    }

    /// Creates the event of the action's end, which the caller fires.
    pub(super) fn end_event(
        &mut self,
        result: Result<Value, impl fmt::Display>,
    ) -> Option<HookEvent> {
        self.is_running = false;
        let ((name, key), value) = match result {
            Ok(value) => (&self.row.after, value),
            Err(why) => (self.row.failed.as_ref()?, why.to_string().into()),
        };
        let mut event = self.event(name);
        if let Some(key) = key {
            event = event.with_data(*key, value);
        }
        Some(event)
    }
}

/// Hides the data, which may contain secrets.
impl fmt::Debug for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.row.before)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if self.is_running {
            self.end_unseen(Err("the call was dropped before its end"));
        }
    }
}
