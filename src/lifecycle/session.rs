//! A session: its start, its messages, its user's prompts, and its end.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Lifecycle;
use crate::events::HookEvent;
use crate::outcome::{HookBlockedError, Outcome};

/// A session that has begun; see [`Lifecycle::session`]. Its end is fired once: by
/// [`end`](Session::end), or when it is dropped, also by a panic.
///
/// Unless the [`Lifecycle`] is [`without_waiting`](Lifecycle::without_waiting), dropping it takes
/// as long as the hooks of `session:end`.
///
/// ```
/// use forge_hooks::{HookExecutor, Lifecycle};
///
/// let hooks = Lifecycle::new(HookExecutor::builder().build()).without_waiting();
/// let session = hooks.session("sess_1");
/// session.message("user", "hello");
/// let call = session.lifecycle().tool("ls", "{}").run(|_| Ok::<_, String>("src"));
/// assert!(call.is_ok());
/// session.end();
/// ```
#[derive(Debug)]
#[must_use = "a session that is dropped at once has ended"]
pub struct Session {
    pub(super) lifecycle: Lifecycle,
    id: String,
    started: Option<Outcome>,
    /// Whether a hook has blocked the agent's last stop.
    pub(super) stop_was_blocked: AtomicBool,
    ended: bool,
}

impl Session {
    pub(super) fn start(lifecycle: Lifecycle, id: String) -> Self {
        let lifecycle = lifecycle.session_id(&id);
        Self {
            started: lifecycle.fire_after(HookEvent::session_start(&id)),
            lifecycle,
            id,
            stop_was_blocked: AtomicBool::new(false),
            ended: false,
        }
    }

    /// The lifecycle for calls in this session: its events have the session's id.
    #[must_use]
    pub fn lifecycle(&self) -> &Lifecycle {
        &self.lifecycle
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The outcome of its start, for example with context for the model; none if it was not waited
    /// for.
    pub fn started(&self) -> Option<&Outcome> {
        self.started.as_ref()
    }

    /// Fires `session:message`: a message was received or sent. Returns the outcome; none if it does
    /// not wait for the hooks.
    pub fn message(&self, role: impl Into<String>, content: impl Into<String>) -> Option<Outcome> {
        let event = HookEvent::session_message(&self.id, role, content);
        self.lifecycle.fire_after(event)
    }

    /// Fires `user:prompt_submit`: the user has submitted a prompt, and the host has not acted on
    /// it yet. The outcome may have [context](Outcome::additional_context) for the model. A hook
    /// that answers `ask` blocks, since the prompt is already the user's decision.
    ///
    /// # Errors
    /// If a hook blocks the prompt.
    pub fn prompt(&self, content: impl Into<String>) -> Result<Outcome, HookBlockedError> {
        self.stop_was_blocked.store(false, Ordering::Relaxed);
        let event = HookEvent::user_prompt_submit(content);
        self.lifecycle.fire_before(event).into_result()
    }

    /// Fires `user:interrupt`: the user has interrupted the host. Returns the outcome; none with [`without_waiting`](Lifecycle::without_waiting).
    pub fn interrupt(&self) -> Option<Outcome> {
        self.lifecycle.fire_after(HookEvent::user_interrupt())
    }

    /// Fires `session:end`. Returns the outcome; none with [`without_waiting`](Lifecycle::without_waiting).
    pub fn end(mut self) -> Option<Outcome> {
        self.fire_end()
    }

    fn fire_end(&mut self) -> Option<Outcome> {
        if std::mem::replace(&mut self.ended, true) {
            return None;
        }
        self.lifecycle.fire_after(HookEvent::session_end(&self.id))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // No caller is left to check the outcome.
        let _ = self.fire_end();
    }
}
