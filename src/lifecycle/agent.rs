//! Events of an agent within a session, besides calls of tools: it stops, starts other agents,
//! shortens its conversation, shows a message.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{Lifecycle, Session};
use crate::events::HookEvent;
use crate::executor::FireOptions;
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
        let event = HookEvent::agent_stop(self.goes_on.load(Ordering::Relaxed));
        stop(&self.lifecycle, event, last_message.into(), &self.goes_on)
    }

    /// Fires `agent:subagent_start`: another agent of this type starts, for a part of the work.
    pub fn subagent(&self, agent_type: impl Into<String>) -> Subagent {
        let agent_type = agent_type.into();
        let event = HookEvent::agent_subagent_start(&agent_type);
        Subagent {
            started: self.lifecycle.tell(event),
            lifecycle: self.lifecycle.clone(),
            agent_type,
            goes_on: AtomicBool::new(false),
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
        let event = self
            .lifecycle
            .of_session(HookEvent::context_pre_compact(trigger));
        let before = self.lifecycle.ask_leave(&event, FireOptions::default());
        let _ = before.into_result()?;
        let done = compact();
        let _ = self
            .lifecycle
            .tell(HookEvent::context_post_compact(trigger));
        Ok(done)
    }

    /// Fires `notification:show`: the host shows its user a message. Returns the outcome; none with [`without_waiting`](Lifecycle::without_waiting).
    pub fn notify(&self, message: impl Into<String>) -> Option<Outcome> {
        self.lifecycle.tell(HookEvent::notification_show(message))
    }
}

/// An agent that works for another one; see [`Session::subagent`].
#[derive(Debug)]
pub struct Subagent {
    lifecycle: Lifecycle,
    agent_type: String,
    started: Option<Outcome>,
    goes_on: AtomicBool,
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
        let goes_on = self.goes_on.load(Ordering::Relaxed);
        let event = HookEvent::agent_subagent_stop(&self.agent_type, goes_on);
        stop(&self.lifecycle, event, last_message.into(), &self.goes_on)
    }
}

fn stop(lifecycle: &Lifecycle, event: HookEvent, last: String, goes_on: &AtomicBool) -> Outcome {
    let event = event.with_data("last_assistant_message", last);
    let event = lifecycle.of_session(event);
    let outcome = lifecycle.ask_leave(&event, FireOptions::default());
    goes_on.store(!outcome.allowed(), Ordering::Relaxed);
    outcome
}
