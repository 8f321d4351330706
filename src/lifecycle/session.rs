//! A session: its start, its messages, what its user wants, and its one end.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Lifecycle;
use crate::events::HookEvent;
use crate::executor::FireOptions;
use crate::outcome::{HookBlockedError, Outcome};

/// A session that has begun; see [`Lifecycle::session`]. Its end is told once: by
/// [`end`](Session::end), or when it is dropped, also by a panic.
///
/// Where the [`Lifecycle`] waits for hooks after the fact, dropping it takes as long as those of
/// `session:end`.
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
    /// Whether a hook has kept the agent from its last stop.
    pub(super) goes_on: AtomicBool,
    ended: bool,
}

impl Session {
    pub(super) fn start(lifecycle: Lifecycle, id: String) -> Self {
        let lifecycle = lifecycle.session_id(&id);
        Self {
            started: lifecycle.tell(HookEvent::session_start(&id)),
            lifecycle,
            id,
            goes_on: AtomicBool::new(false),
            ended: false,
        }
    }

    /// What is called in this session is called through this: its events carry the session's id.
    #[must_use]
    pub fn lifecycle(&self) -> &Lifecycle {
        &self.lifecycle
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What hooks have said of its start, context for the model above all; none where nobody waits
    /// for that.
    pub fn started(&self) -> Option<&Outcome> {
        self.started.as_ref()
    }

    /// A message has come or gone: fires `session:message`. Returns what hooks have said; none where
    /// nobody waits for that.
    pub fn message(&self, role: impl Into<String>, content: impl Into<String>) -> Option<Outcome> {
        let event = HookEvent::session_message(&self.id, role, content);
        self.lifecycle.tell(event)
    }

    /// The user has submitted a prompt, and the host has not acted on it yet: fires
    /// `user:prompt_submit`. The outcome may have [context](Outcome::additional_context) for the
    /// model. A hook that answers `ask` blocks, for the user has just said what they want.
    ///
    /// # Errors
    /// When a hook blocks the prompt.
    pub fn prompt(&self, content: impl Into<String>) -> Result<Outcome, HookBlockedError> {
        self.goes_on.store(false, Ordering::Relaxed);
        let event = HookEvent::user_prompt_submit(content);
        let event = self.lifecycle.of_session(event);
        let options = FireOptions::default();
        self.lifecycle.ask_leave(&event, options).into_result()
    }

    /// The user has interrupted the host: fires `user:interrupt`. Returns what hooks have said; none
    /// where nobody waits for that.
    pub fn interrupt(&self) -> Option<Outcome> {
        self.lifecycle.tell(HookEvent::user_interrupt())
    }

    /// Fires `session:end`. Returns what hooks have said; none where nobody waits for that.
    pub fn end(mut self) -> Option<Outcome> {
        self.tell_end()
    }

    fn tell_end(&mut self) -> Option<Outcome> {
        if std::mem::replace(&mut self.ended, true) {
            return None;
        }
        self.lifecycle.tell(HookEvent::session_end(&self.id))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Nobody is left who could look at what the hooks say.
        let _ = self.tell_end();
    }
}
