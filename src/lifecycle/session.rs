//! A session and what happens in it: its messages, the turns of its agent, other agents, and the shortening of
//! its conversation.

use super::Lifecycle;
use super::action::{Action, Asks, Request, Running};
use crate::events::HookEvent;
use crate::logging::warn;
use crate::outcome::{HookBlockedError, Outcome};

/// A session; see [`Lifecycle::session`]. Its end is fired once: by [`finish`](Running::finish), or when it is
/// dropped, also by a panic.
///
/// ```
/// use forge_hooks::{HookExecutor, Lifecycle};
///
/// let hooks = Lifecycle::new(HookExecutor::builder().build()).without_waiting();
/// let session = hooks.session("sess_1").begin()?;
/// session.message("user", "hello");
/// let call = session.lifecycle().tool("ls", "{}").run(|_| Ok::<_, String>("src"));
/// assert!(call.is_ok());
/// session.finish();
/// # Ok::<(), forge_hooks::HookBlockedError>(())
/// ```
#[derive(Debug)]
pub struct Session {
    pub(super) id: String,
}

impl Action for Session {
    fn event(&self) -> HookEvent {
        HookEvent::session_start(&self.id)
    }

    fn dropped(&self) -> Option<HookEvent> {
        Some(HookEvent::session_end(&self.id))
    }
}

impl Request<'_, Session> {
    /// Fires `session:start`, calls the function, and fires `session:end`, also if the function panics.
    ///
    /// # Errors
    /// As with [`begin`](Request::begin); hooks cannot block `session:start`.
    pub fn run<T>(self, work: impl FnOnce(&Running<Session>) -> T) -> Result<T, HookBlockedError> {
        let session = self.begin()?;
        let done = work(&session);
        session.finish();
        Ok(done)
    }
}

impl Running<Session> {
    /// The lifecycle for calls in this session: its events have the session's id.
    #[must_use]
    pub fn lifecycle(&self) -> &Lifecycle {
        &self.open.lifecycle
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.open.action.id
    }

    /// Creates a turn of the agent: the user has submitted this prompt, and the host has not acted on it yet.
    pub fn prompt(&self, content: impl Into<String>) -> Request<'static, Turn> {
        let turn = Turn {
            prompt: content.into(),
            stop_was_blocked: false,
        };
        Request::new(self.lifecycle(), turn)
    }

    /// Creates another agent of this type, for a part of the work.
    pub fn subagent(&self, agent_type: impl Into<String>) -> Request<'static, Subagent> {
        let subagent = Subagent {
            agent_type: agent_type.into(),
            stop_was_blocked: false,
        };
        Request::new(self.lifecycle(), subagent)
    }

    /// Creates a shortening of the conversation. `trigger` is `manual` or `auto`.
    pub fn compact<'a>(&self, trigger: impl Into<String>) -> Request<'a, Compaction> {
        let trigger = trigger.into();
        Request::new(self.lifecycle(), Compaction { trigger })
    }

    /// Fires `session:message`: a message was received or sent. Returns the outcome; none if it was not waited
    /// for.
    pub fn message(&self, role: impl Into<String>, content: impl Into<String>) -> Option<Outcome> {
        let event = HookEvent::session_message(self.id(), role, content);
        self.lifecycle().fire_after(event)
    }

    /// Fires `notification:show`: the host shows its user a message. Returns the outcome; none if it was not
    /// waited for.
    pub fn notify(&self, message: impl Into<String>) -> Option<Outcome> {
        let event = HookEvent::notification_show(message);
        self.lifecycle().fire_after(event)
    }

    /// Fires `user:interrupt`: the user has interrupted the host. Returns the outcome; none if it was not waited
    /// for.
    pub fn interrupt(&self) -> Option<Outcome> {
        self.lifecycle().fire_after(HookEvent::user_interrupt())
    }

    /// Fires `session:end`. Returns the outcome; none if it was not waited for.
    pub fn finish(mut self) -> Option<Outcome> {
        let event = HookEvent::session_end(self.id());
        self.open.end(event)
    }
}

/// A turn of the agent, from the user's prompt to the end of the agent's work; see [`Running::prompt`].
///
/// `begin` fires `user:prompt_submit`. A hook that answers `ask` blocks, since the prompt is already the user's
/// decision. A hook can replace the prompt (`updatedInput` with `content`): the hooks run once more on the
/// changed prompt and may block it, and [`prompt`](Running::prompt) returns it. A turn that is dropped fires
/// nothing.
///
/// ```
/// # #[cfg(unix)] {
/// use forge_hooks::{Hook, HookExecutor, Lifecycle};
///
/// let executor = HookExecutor::builder().build();
/// let command = r#"grep -q '"stop_hook_active":true' || { echo run the tests; exit 1; }"#;
/// executor.registry().register(Hook::new("agent:stop", command)?);
/// let session = Lifecycle::new(executor).session("s1").begin()?;
/// let mut turn = session.prompt("fix it").begin()?;
/// assert_eq!(turn.prompt(), "fix it");
/// assert_eq!(turn.finish("done").reason(), Some("run the tests"));
/// assert!(turn.finish("they pass").allowed());
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Turn {
    prompt: String,
    stop_was_blocked: bool,
}

impl Action for Turn {
    fn event(&self) -> HookEvent {
        HookEvent::user_prompt_submit(&self.prompt)
    }

    fn changed(&self, outcome: &Outcome) -> Option<Self> {
        let content = outcome.updated_input()?.remove("content")?;
        let Some(content) = content.as_str() else {
            warn!("the new prompt of a hook is ignored: `content` is not a text");
            return None;
        };
        (content != self.prompt).then(|| Self {
            prompt: content.to_owned(),
            stop_was_blocked: false,
        })
    }
}

impl Running<Turn> {
    /// The prompt for the model, with the changes of hooks.
    #[must_use]
    pub fn prompt(&self) -> &str {
        &self.open.action.prompt
    }

    /// Fires `agent:stop`: the agent is about to end its turn, with this last message. If the outcome does not
    /// [allow](Outcome::allowed) it, the agent continues with the [reason](Outcome::reason) as its next input,
    /// and the host calls this again at the next end, which then has `stop_hook_active`.
    pub fn finish(&mut self, last_message: impl Into<String>) -> Outcome {
        let event = HookEvent::agent_stop(self.open.action.stop_was_blocked);
        let outcome = stop(&self.open.lifecycle, event, last_message.into());
        self.open.action.stop_was_blocked = !outcome.allowed();
        outcome
    }
}

/// An agent that works for another one; see [`Running::subagent`]. `begin` fires `agent:subagent_start`. An agent
/// that is dropped fires nothing.
#[derive(Debug)]
pub struct Subagent {
    agent_type: String,
    stop_was_blocked: bool,
}

impl Action for Subagent {
    fn event(&self) -> HookEvent {
        HookEvent::agent_subagent_start(&self.agent_type)
    }
}

impl Running<Subagent> {
    /// Fires `agent:subagent_stop`: the agent is about to end, with this last message. If a hook blocks, it
    /// continues, as with a [`Turn`].
    pub fn finish(&mut self, last_message: impl Into<String>) -> Outcome {
        let agent = &self.open.action;
        let event = HookEvent::agent_subagent_stop(&agent.agent_type, agent.stop_was_blocked);
        let outcome = stop(&self.open.lifecycle, event, last_message.into());
        self.open.action.stop_was_blocked = !outcome.allowed();
        outcome
    }
}

fn stop(lifecycle: &Lifecycle, event: HookEvent, last_message: String) -> Outcome {
    lifecycle.fire_before(event.with_data("last_assistant_message", last_message))
}

/// A shortening of the conversation; see [`Running::compact`].
#[derive(Debug)]
pub struct Compaction {
    trigger: String,
}

impl Action for Compaction {
    fn event(&self) -> HookEvent {
        HookEvent::context_pre_compact(&self.trigger)
    }
}

impl Asks for Compaction {}

impl Request<'_, Compaction> {
    /// Fires `context:pre_compact`, calls the function, and fires `context:post_compact`.
    ///
    /// # Errors
    /// As with [`begin`](Request::begin). The function has not been called then.
    pub fn run<T>(self, compact: impl FnOnce() -> T) -> Result<T, HookBlockedError> {
        let running = self.begin()?;
        let done = compact();
        running.finish();
        Ok(done)
    }
}

impl Running<Compaction> {
    /// Fires `context:post_compact`. Returns the outcome; none if it was not waited for.
    pub fn finish(mut self) -> Option<Outcome> {
        let event = HookEvent::context_post_compact(&self.open.action.trigger);
        self.open.end(event)
    }
}
