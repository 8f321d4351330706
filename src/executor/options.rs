//! The options with which an event is fired.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use super::token::CancelToken;
use crate::events::HookEvent;
use crate::outcome::Handles;
use crate::pool::Priority;

/// The options with which an event is fired.
///
/// ```
/// use forge_hooks::FireOptions;
///
/// let keep_going = FireOptions::default().stop_on_failure(false);
/// let in_order = FireOptions::default().ordered_by("document 7");
/// assert_ne!(keep_going, in_order);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct FireOptions {
    pub(super) stop_on_failure: bool,
    pub(super) handles: Handles,
    pub(super) background: Background,
    /// The hash of the key of the events that a submitted event must not overtake. Two keys with the same hash are ordered
    /// together, which is harmless. Default: that of the session, unless the event can be blocked.
    order: Option<u64>,
    pub(super) token: Option<CancelToken>,
    pub(super) timeout: Option<Duration>,
}

/// The treatment of background hooks in their turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Background {
    Start,
    #[cfg(feature = "cli")]
    Skip,
}

impl Default for FireOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl FireOptions {
    /// Creates the default options. Can be called in a constant.
    pub const fn new() -> Self {
        Self {
            stop_on_failure: true,
            handles: Handles {
                ask: false,
                updates: false,
                only_decisions: false,
            },
            background: Background::Start,
            order: None,
            token: None,
            timeout: None,
        }
    }

    /// Sets whether a hook that blocks, fails (without `"on_failure": "continue"`) or stops the turn skips the hooks after it.
    /// On an event that cannot be blocked, only a failure of the hook itself skips them: not its answer, and not a value of the
    /// event that is too large. Default: true. Hooks of other agents are skipped after a hook that blocks, also with false.
    pub const fn stop_on_failure(mut self, stop: bool) -> Self {
        self.stop_on_failure = stop;
        self
    }

    /// Declares that the host asks its user when a hook answers `ask`: the operation is not allowed before
    /// [`Outcome::answer`](crate::Outcome::answer) has the user's yes. Default: such a hook blocks, since the user
    /// would not be asked.
    pub const fn handles_ask(mut self) -> Self {
        self.handles.ask = true;
        self
    }

    /// Declares that the host runs the operation with the changes that hooks make to the event's input
    /// ([`Outcome::changed_event`]). Default: a hook that changes the input blocks, since the host would run what the hook has not
    /// allowed. On events other than `tool:pre_execute`, `user:prompt_submit` and `llm:pre_request` with its `messages`, and where
    /// the arguments of a tool are no object, a change blocks in any case.
    ///
    /// Each hook receives the event as the hooks before it have left it. If a hook has changed the input, every hook that stands
    /// before the last one that did runs again, on the final input. There it may block; if it changes the input again, the event is
    /// blocked. The result of a hook is that of its last run. A change counts only if a value differs.
    ///
    /// [`Outcome::changed_event`]: crate::Outcome::changed_event
    pub const fn applies_updates(mut self) -> Self {
        self.handles.updates = true;
        self
    }

    /// Lets only hooks block that have decided: by an answer, or by an exit code. What could not run is a failure that is ignored.
    #[cfg(feature = "cli")]
    pub(crate) const fn only_decisions(mut self) -> Self {
        self.handles.only_decisions = true;
        self
    }

    /// Returns the host's way of handling answers to this event. A change of an input that cannot be changed does not count
    /// as a yes. An event that needs no yes is not blocked by a change, which has no effect.
    pub(super) fn handles_of(&self, event: &HookEvent, can_block: bool) -> Handles {
        Handles {
            updates: !needs_yes(event, can_block) || self.applies_input(event, can_block),
            ..self.handles
        }
    }

    /// Returns whether hooks may change the input of this event.
    pub(super) fn applies_input(&self, event: &HookEvent, can_block: bool) -> bool {
        self.handles.updates && needs_yes(event, can_block) && event.has_changeable_input()
    }

    /// Skips background hooks, for an event that they have already received. Default: they are started.
    #[cfg(feature = "cli")]
    pub(crate) const fn without_background(mut self) -> Self {
        self.background = Background::Skip;
        self
    }

    /// Runs submitted events with the same key one after the other, in the order of their
    /// submission. Events with other keys run concurrently. Blocking calls are not ordered.
    ///
    /// Default: the events of one session that cannot be blocked are ordered, so that a log has them in order.
    /// Events that can be blocked are not ordered, so that a guard does not wait for a log. The key of a session is
    /// its id: `ordered_by(id)` orders other events together with those of the session.
    pub fn ordered_by(mut self, key: impl Hash) -> Self {
        self.order = Some(hash(key));
        self
    }

    /// Limits the time of the whole event, from now on: in the queue, and of all its hooks, also of those that run again. When it is
    /// over, the running hook and each hook after it fail as [`TimedOut`](crate::FailureKind::TimedOut). Background hooks have their
    /// own time. Default: only the timeouts of the hooks.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Lets this token cancel the event. One token can cancel many events and calls. Default: only the handle of a submitted
    /// event and [`cancel_running`](crate::HookExecutor::cancel_running) cancel it.
    pub fn cancelled_by(mut self, token: &CancelToken) -> Self {
        self.token = Some(token.clone());
        self
    }

    /// Returns the end of the time of an event that was fired at this moment.
    pub(super) fn until(&self, fired: Instant) -> Option<Instant> {
        fired.checked_add(self.timeout?)
    }

    /// Returns the priority in the queue. A guard is an event that can be blocked.
    pub(super) fn priority_of(&self, event: &HookEvent, guard: bool) -> Priority {
        let session = || event.session_id.as_ref().filter(|_| !guard);
        let ordering_key = self.order.or_else(|| session().map(hash));
        Priority {
            guard,
            ordering_key,
        }
    }
}

/// Returns whether the host needs a yes of the hooks. An event that cannot be blocked needs none. Nor does the stop of an agent,
/// since a block would let the agent continue.
fn needs_yes(event: &HookEvent, can_block: bool) -> bool {
    can_block && !event.event_type.is_agent_stop()
}

fn hash(key: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}
