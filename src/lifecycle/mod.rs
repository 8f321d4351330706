//! The events of a tool call, a model call, a session or a permission, fired in the right order.
//!
//! Knows which events come before and after an action of the host; not the action itself, nor how
//! hooks run.

mod agent;
mod llm;
mod permission;
mod session;
mod tool;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use serde_json::Value;

use crate::events::{HookEvent, HostContext};
use crate::executor::{FireOptions, HookExecutor};
use crate::logging::warn;
use crate::outcome::{HookBlockedError, HookResult, Outcome};

pub use agent::Subagent;
pub use llm::{LlmCall, LlmRequest, LlmStream};
pub use permission::{Permission, PermissionRequest};
pub use session::Session;
pub use tool::{ToolCall, ToolRun};

/// Fires the events around the actions of a host, in the right order. A host that calls its tools
/// and its model through it forgets no event.
///
/// Events before an action run their hooks on this thread, since the host needs their outcome.
/// Events after an action do so too, unless [`without_waiting`](Lifecycle::without_waiting) submits
/// them. A failing hook after an action does not skip the others.
///
/// ```
/// use forge_hooks::{Hook, HookExecutor, Lifecycle};
/// use serde_json::json;
///
/// let executor = HookExecutor::builder().build();
/// executor.registry().register(Hook::new("tool:pre_execute:rm", "echo never; exit 1")?);
/// let session = Lifecycle::new(executor).session("s1");
/// let hooks = session.lifecycle();
///
/// let listing = hooks.tool("ls", json!({"path": "."})).run(|args| {
///     Ok::<_, std::io::Error>(format!("what is in {}", args["path"]))
/// })?;
/// // As hooks have left it: this is what the model gets.
/// assert_eq!(listing.output().unwrap(), r#"what is in ".""#);
///
/// let blocked = hooks.tool("rm", json!({"path": "/"})).run(|_| -> Result<(), String> {
///     unreachable!("a hook has blocked it")
/// });
/// assert_eq!(blocked.unwrap_err().result.reason(), Some("never"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Lifecycle {
    executor: HookExecutor,
    session_id: Option<String>,
    context: Option<Arc<HostContext>>,
    waits: bool,
}

impl Lifecycle {
    /// Creates a lifecycle for the hooks of this executor, without a session.
    #[must_use]
    pub fn new(executor: HookExecutor) -> Self {
        Self {
            executor,
            session_id: None,
            context: None,
            waits: true,
        }
    }

    /// Sets the session that every event belongs to. [`session`](Lifecycle::session) sets it
    /// itself.
    #[must_use]
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Sets the context of every event for hooks of other tools: the path of the transcript, the
    /// permission mode, and so on.
    #[must_use]
    pub fn context(mut self, context: impl Into<Arc<HostContext>>) -> Self {
        self.context = Some(context.into());
        self
    }

    /// Submits events that cannot be blocked, in the order of their session, and does not wait for their
    /// hooks: they return no [`Outcome`]. An event that cannot be submitted, because the queue is
    /// full, is logged as a warning and lost.
    #[must_use]
    pub fn without_waiting(mut self) -> Self {
        self.waits = false;
        self
    }

    /// The executor whose hooks run.
    #[must_use]
    pub fn executor(&self) -> &HookExecutor {
        &self.executor
    }

    /// Creates a call of a tool, with its arguments.
    pub fn tool(&self, name: impl Into<String>, args: impl Into<Value>) -> ToolCall<'_> {
        ToolCall::new(self, name.into(), args.into())
    }

    /// Creates a request to a model, with the number of its messages.
    pub fn llm(&self, model: impl Into<String>, message_count: u64) -> LlmRequest<'_> {
        LlmRequest::new(self, model.into(), message_count)
    }

    /// Begins a session: fires `session:start`.
    pub fn session(&self, id: impl Into<String>) -> Session {
        Session::start(self.clone(), id.into())
    }

    /// Creates a request for a permission: for a tool, at a level that the host names, such as
    /// `execute`.
    pub fn permission(
        &self,
        tool: impl Into<String>,
        level: impl Into<String>,
    ) -> PermissionRequest<'_> {
        PermissionRequest::new(self, tool.into(), level.into())
    }

    fn of_session(&self, event: HookEvent) -> HookEvent {
        let event = match &self.session_id {
            Some(id) if event.session_id.is_none() => event.with_session_id(id),
            _ => event,
        };
        match &self.context {
            Some(context) if event.context().is_none() => event.with_context(Arc::clone(context)),
            _ => event,
        }
    }

    /// Fires an event before an action.
    fn fire_before(&self, event: HookEvent) -> Outcome {
        let event = self.of_session(event);
        self.executor.execute(&event, FireOptions::default())
    }

    /// Fires an event after an action.
    fn fire_after(&self, event: HookEvent) -> Option<Outcome> {
        let event = self.of_session(event);
        let options = FireOptions::default().stop_on_failure(false);
        // The model must not get an output before it is redacted.
        if self.waits || self.executor.redacts_output(&event) {
            return Some(self.executor.execute(&event, options));
        }
        match self.executor.submit(event, options) {
            Ok(handle) => drop(handle),
            Err(error) => warn!("dropped an event, no hook saw it: {error}"),
        }
        None
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
    fn new(event: &'a HookEvent, outcomes: [Option<&'a Outcome>; 2]) -> Self {
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

/// Asks the host's user; true allows the operation.
type Ask<'a> = Box<dyn FnOnce(&Question<'_>) -> bool + Send + 'a>;

/// Returns the options. Questions are handled if there is a function that asks.
fn options(ask: Option<&Ask<'_>>) -> FireOptions {
    let options = FireOptions::default();
    if ask.is_some() {
        options.handles_ask()
    } else {
        options
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

/// Removes duplicates: a hook that runs twice on a call gives most texts twice.
fn without_duplicates<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for text in texts {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

/// Reports a panic with its message, and then continues it.
fn with_panic_reported<T>(run: impl FnOnce() -> T, report: impl FnOnce(&str)) -> T {
    // Unwind safety: the panic continues after this, so no state that `run` left inconsistent is
    // used here.
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(value) => value,
        Err(payload) => {
            report(panic_message(&*payload));
            resume_unwind(payload)
        }
    }
}

fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let fixed = payload.downcast_ref::<&str>().copied();
    let made = || payload.downcast_ref::<String>().map(String::as_str);
    fixed.or_else(made).unwrap_or("panicked")
}
