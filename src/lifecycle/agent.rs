//! Events of an agent within a session, besides calls of tools: it stops, starts other agents,
//! shortens its conversation, shows a message.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{Lifecycle, Session};
use crate::events::HookEvent;
use crate::outcome::{HookBlockedError, Outcome};

impl Session {
    /// Fires `agent:stop`: the agent is about to end its turn, with this last message. If the outcome
    /// does not [allow](Outcome::allowed) it, the agent continues with the [reason](Outcome::reason) as
    /// its next input. Its further stops have `stop_hook_active` until the user's next
    /// [prompt](Session::prompt).
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use forge_hooks::{Hook, HookExecutor, Lifecycle};
    ///
    /// let executor = HookExecutor::builder().build();
    /// let command = r#"grep -q '"stop_hook_active":true' || { echo run the tests; exit 1; }"#;
    /// executor.registry().register(Hook::new("agent:stop", command)?);
    /// let session = Lifecycle::new(executor).session("s1");
    /// assert_eq!(session.stop("done").reason(), Some("run the tests"));
    /// assert!(session.stop("they pass").allowed());
    /// # }
    /// # Ok::<(), forge_hooks::HookError>(())
    /// ```
    pub fn stop(&self, last_message: impl Into<String>) -> Outcome {
        let event = HookEvent::agent_stop(self.stop_was_blocked.load(Ordering::Relaxed));
        stop(
            &self.lifecycle,
            event,
            last_message.into(),
            &self.stop_was_blocked,
        )
    }

    /// Fires `agent:subagent_start`: another agent of this type starts, for a part of the work.
    pub fn subagent(&self, agent_type: impl Into<String>) -> Subagent {
        let agent_type = agent_type.into();
        let event = HookEvent::agent_subagent_start(&agent_type);
        Subagent {
            started: self.lifecycle.fire_after(event),
            lifecycle: self.lifecycle.clone(),
            agent_type,
            stop_was_blocked: AtomicBool::new(false),
        }
    }

    /// Shortens the conversation: fires `context:pre_compact`, runs `compact`, and fires
    /// `context:post_compact`. `trigger` is `manual` or `auto`.
    ///
    /// # Errors
    /// If a hook blocks it. Then `compact` has not been run.
    pub fn compact<T>(
        &self,
        trigger: &str,
        compact: impl FnOnce() -> T,
    ) -> Result<T, HookBlockedError> {
        let event = HookEvent::context_pre_compact(trigger);
        let before = self.lifecycle.fire_before(event);
        let _ = before.into_result()?;
        let done = compact();
        let _ = self
            .lifecycle
            .fire_after(HookEvent::context_post_compact(trigger));
        Ok(done)
    }

    /// Fires `notification:show`: the host shows its user a message. Returns the outcome; none with [`without_waiting`](Lifecycle::without_waiting).
    pub fn notify(&self, message: impl Into<String>) -> Option<Outcome> {
        self.lifecycle
            .fire_after(HookEvent::notification_show(message))
    }
}

/// An agent that works for another one; see [`Session::subagent`].
#[derive(Debug)]
pub struct Subagent {
    lifecycle: Lifecycle,
    agent_type: String,
    started: Option<Outcome>,
    stop_was_blocked: AtomicBool,
}

impl Subagent {
    /// The outcome of its start, for example with context for its model; none if it was not waited
    /// for.
    #[must_use]
    pub fn started(&self) -> Option<&Outcome> {
        self.started.as_ref()
    }

    /// Fires `agent:subagent_stop`: the subagent is about to end. If a hook blocks, the subagent continues, as
    /// with [`Session::stop`].
    pub fn stop(&self, last_message: impl Into<String>) -> Outcome {
        let stop_was_blocked = self.stop_was_blocked.load(Ordering::Relaxed);
        let event = HookEvent::agent_subagent_stop(&self.agent_type, stop_was_blocked);
        stop(
            &self.lifecycle,
            event,
            last_message.into(),
            &self.stop_was_blocked,
        )
    }
}

fn stop(
    lifecycle: &Lifecycle,
    event: HookEvent,
    last: String,
    stop_was_blocked: &AtomicBool,
) -> Outcome {
    let event = event.with_data("last_assistant_message", last);
    let outcome = lifecycle.fire_before(event);
    stop_was_blocked.store(!outcome.allowed(), Ordering::Relaxed);
    outcome
}
