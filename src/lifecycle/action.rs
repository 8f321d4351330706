//! The one shape of all actions: `begin` fires the event before, `finish` the event after.
//!
//! Does not know what differs between actions: an [`Action`] says so.

use std::fmt;

use super::Lifecycle;
use crate::events::HookEvent;
use crate::executor::FireOptions;
use crate::logging::warn;
use crate::outcome::{Failures, HookBlockedError, HookOutput, HookResult, Outcome};

/// What differs between the actions of a host. Not exported, so that only this crate has some.
pub trait Action: Sized {
    /// The event before it.
    fn event(&self) -> HookEvent;

    /// Returns the action as hooks have changed it, if they have.
    fn changed(&self, _outcome: &Outcome) -> Option<Self> {
        None
    }

    /// The event that ends an action that the host drops without `finish`.
    fn dropped(&self) -> Option<HookEvent> {
        None
    }

    /// Fires the event before it.
    fn begin(request: Request<'_, Self>) -> Result<Running<Self>, HookBlockedError> {
        request.begin_usual()
    }
}

/// An action about which the user may be asked.
pub trait Asks: Action {}

/// Asks the host's user; true allows the action.
type Ask<'a> = Box<dyn FnOnce(&Question<'_>) -> bool + Send + 'a>;

/// An action that is about to begin. It borrows nothing of the [`Lifecycle`], so a host can move it to a
/// thread that may wait.
#[must_use = "nothing is fired before `begin` or `run`"]
pub struct Request<'a, A> {
    pub(super) lifecycle: Lifecycle,
    pub(super) action: A,
    ask: Option<Ask<'a>>,
}

impl<'a, A: Action> Request<'a, A> {
    pub(super) fn new(lifecycle: &Lifecycle, action: A) -> Self {
        Self {
            lifecycle: lifecycle.clone(),
            action,
            ask: None,
        }
    }

    /// Sets the function that asks the user when a hook answers `ask`; true allows the action. Default: such a
    /// hook blocks it. The function is called once, after all changes, if no hook blocks; also if a hook has
    /// asked only about the action before it was changed.
    pub fn on_ask(mut self, ask: impl FnOnce(&Question<'_>) -> bool + Send + 'a) -> Self
    where
        A: Asks,
    {
        self.ask = Some(Box::new(ask));
        self
    }

    /// Fires the event before the action, and runs its hooks on this thread. The host then does what it has
    /// announced, and ends it with `finish`. An event that cannot be blocked is always allowed.
    ///
    /// # Errors
    /// If a hook blocks the action, or the user declines when asked. Then the host does nothing, and
    /// [gives its model the reason](super#when-a-hook-blocks). If the user has declined, the
    /// [decision](HookResult::decision) of the result in the error is `Ask`.
    pub fn begin(self) -> Result<Running<A>, HookBlockedError> {
        A::begin(self)
    }

    fn begin_usual(mut self) -> Result<Running<A>, HookBlockedError> {
        let event = self.lifecycle.of_session(self.action.event());
        if !event.event_type.can_block() {
            return Ok(Running::announced(self.lifecycle, self.action));
        }
        let ask = self.ask.take();
        let options = match ask {
            Some(_) => FireOptions::default().handles_ask(),
            None => FireOptions::default(),
        };
        let executor = self.lifecycle.executor().clone();
        let before = executor.execute(&event, options).into_result()?;
        let Some(changed) = self.action.changed(&before) else {
            let before = ask_user_if_needed(&event, before, None, ask)?;
            return Ok(self.running(before, None));
        };
        self.action = changed;
        let event = self.lifecycle.of_session(self.action.event());
        let again = executor.execute(&event, options.without_background());
        if self.action.changed(&again).is_some() {
            let name = &event.event_type;
            warn!("a hook changed an already changed `{name}`: the second change is ignored");
        }
        // A hook that asks only once and has asked before the change means this action too.
        let again = ask_user_if_needed(&event, again, Some(&before), ask)?;
        Ok(self.running(before, Some(again)))
    }

    pub(super) fn running(self, before: Outcome, again: Option<Outcome>) -> Running<A> {
        Running {
            before,
            again,
            open: Open {
                lifecycle: self.lifecycle,
                action: self.action,
                has_ended: false,
            },
        }
    }
}

/// Hides what the action is about, which may contain secrets.
impl<A: Action> fmt::Debug for Request<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Request")
            .field(&self.action.event().event_type)
            .finish()
    }
}

/// An action that hooks have allowed, and that has begun. It borrows nothing and can be sent, so a host can
/// store it, move it to another thread, or hold it across an `.await`.
///
/// `finish` ends it. If it is dropped before, by an error, a panic or a cancelled future, then the event for
/// that is fired, if there is one: `tool:error`, `llm:stream_end`, `session:end`, `permission:denied`. Dropping
/// it takes as long as the hooks of this event, except
/// [`without_waiting`](super::Lifecycle::without_waiting).
#[must_use = "an action that is dropped at once has ended without a result"]
pub struct Running<A: Action> {
    pub(super) before: Outcome,
    pub(super) again: Option<Outcome>,
    pub(super) open: Open<A>,
}

impl<A: Action> Running<A> {
    /// Begins an action whose event cannot be blocked.
    pub(super) fn announced(lifecycle: Lifecycle, action: A) -> Self {
        let event = action.event();
        let event_type = event.event_type.clone();
        let before = lifecycle.fire_after(event);
        let before = before.unwrap_or_else(|| Outcome::new(event_type, Vec::new()));
        let request = Request {
            lifecycle,
            action,
            ask: None,
        };
        request.running(before, None)
    }

    /// The outcome of the event before the action; empty if it was not waited for.
    pub fn before(&self) -> &Outcome {
        &self.before
    }

    /// The outcome of the changed event, if hooks have changed the action.
    #[must_use]
    pub fn again(&self) -> Option<&Outcome> {
        self.again.as_ref()
    }

    /// The context of hooks for the model so far, without duplicates, separated by newlines.
    #[must_use]
    pub fn additional_context(&self) -> Option<String> {
        joined(&texts(self.outcomes(), |output| {
            output.additional_context.as_deref()
        }))
    }

    /// The hooks that have failed so far and did not block, for the user; see [`Outcome::failures`].
    #[must_use]
    pub fn failures(&self) -> Failures<'_> {
        Failures::of(self.outcomes())
    }

    fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        std::iter::once(&self.before).chain(&self.again)
    }
}

/// Hides what the action is about, which may contain secrets.
impl<A: Action> fmt::Debug for Running<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("before", &self.before)
            .field("again", &self.again)
            .finish_non_exhaustive()
    }
}

/// The part of a running action that fires its end. Apart, so that the outcomes can be moved out.
pub(super) struct Open<A: Action> {
    pub(super) lifecycle: Lifecycle,
    pub(super) action: A,
    has_ended: bool,
}

impl<A: Action> Open<A> {
    /// Fires the event that ends the action.
    pub(super) fn end(&mut self, event: HookEvent) -> Option<Outcome> {
        self.has_ended = true;
        self.lifecycle.fire_after(event)
    }
}

impl<A: Action> Drop for Open<A> {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        if let Some(event) = self.action.dropped() {
            // No caller is left to check the outcome.
            let _ = self.lifecycle.fire_after(event);
        }
    }
}

/// A question of a hook to the host's user.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Question<'a> {
    /// The event of the action, with the changes that hooks have made.
    pub event: &'a HookEvent,
    /// The result of the first hook that asks; none if the host's own rules ask.
    pub result: Option<&'a HookResult>,
    outcomes: [Option<&'a Outcome>; 2],
}

impl<'a> Question<'a> {
    pub(super) fn new(event: &'a HookEvent, outcomes: [Option<&'a Outcome>; 2]) -> Self {
        let asked = outcomes.into_iter().flatten();
        Self {
            event,
            result: asked.flat_map(Outcome::questions).next(),
            outcomes,
        }
    }

    /// The reason of the first hook that asks. Others may ask for another reason:
    /// [`reasons`](Question::reasons).
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.result.and_then(HookResult::reason)
    }

    /// The reasons of all hooks that ask, without duplicates: the user is asked once, for all of
    /// them.
    #[must_use]
    pub fn reasons(&self) -> Vec<&str> {
        let outcomes = self.outcomes.into_iter().flatten();
        let asked = outcomes.flat_map(Outcome::questions);
        without_duplicates(asked.filter_map(HookResult::reason))
    }
}

/// Returns the outcome if no hook blocks, and the user agrees if a hook asks in this or an earlier
/// outcome.
fn ask_user_if_needed(
    event: &HookEvent,
    outcome: Outcome,
    earlier: Option<&Outcome>,
    ask: Option<Ask<'_>>,
) -> Result<Outcome, HookBlockedError> {
    let outcome = outcome.into_result()?;
    let question = Question::new(event, [Some(&outcome), earlier]);
    let (Some(result), Some(ask)) = (question.result, ask) else {
        return Ok(outcome);
    };
    if ask(&question) {
        return Ok(outcome);
    }
    let result = result.clone();
    Err(HookBlockedError::of(outcome, result))
}

/// Returns this text of all answers, without duplicates.
pub(super) fn texts<'a>(
    outcomes: impl Iterator<Item = &'a Outcome>,
    text: impl Fn(&'a HookOutput) -> Option<&'a str>,
) -> Vec<&'a str> {
    let results = outcomes.flat_map(|outcome| outcome.results());
    without_duplicates(results.filter_map(HookResult::output).filter_map(text))
}

pub(super) fn joined(texts: &[&str]) -> Option<String> {
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Removes duplicates: a hook that runs twice on an action gives most texts twice.
fn without_duplicates<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for text in texts {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}
