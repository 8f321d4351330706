//! The events of a tool call, a model call, a session or a permission, fired in the right order.
//!
//! Knows what comes before and after what the host does; neither what that is, nor how hooks run.

mod agent;
mod llm;
mod permission;
mod session;
mod tool;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use log::warn;
use serde_json::Value;

use crate::events::{HookEvent, HostContext};
use crate::executor::{FireOptions, HookExecutor};
use crate::outcome::{HookBlockedError, HookResult, Outcome};

pub use agent::Subagent;
pub use llm::{LlmCall, LlmRequest, LlmStream};
pub use permission::{Permission, PermissionRequest};
pub use session::Session;
pub use tool::{ToolCall, ToolRun};

/// Fires the events around what a host does, in the right order: a host that calls its tools and its
/// model through this forgets none.
///
/// Before the fact, the hooks run on this thread, for what they say is waited for. After it they run
/// on this thread too, unless [`without_waiting`](Lifecycle::without_waiting) has them submitted;
/// then one that fails does not keep the others from running.
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
/// assert_eq!(listing.result?, r#"what is in ".""#);
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
    /// With the hooks of this executor, and no session.
    #[must_use]
    pub fn new(executor: HookExecutor) -> Self {
        Self {
            executor,
            session_id: None,
            context: None,
            waits: true,
        }
    }

    /// The session that every event belongs to. [`session`](Lifecycle::session) sets it by itself.
    #[must_use]
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Sets what every event carries for hooks of other tools: the path of the transcript, the
    /// permission mode, and the like.
    #[must_use]
    pub fn context(mut self, context: impl Into<Arc<HostContext>>) -> Self {
        self.context = Some(context.into());
        self
    }

    /// Has events that cannot block submitted, in the order of their session, and nobody waits for
    /// their hooks: there is no [`Outcome`] of them. One that cannot be submitted, because so much
    /// is waiting already, is logged as a warning and lost.
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

    /// A call of a tool, with its arguments.
    pub fn tool(&self, name: impl Into<String>, args: impl Into<Value>) -> ToolCall<'_> {
        ToolCall::new(self, name.into(), args.into())
    }

    /// A request to a model, with the number of messages it holds.
    pub fn llm(&self, model: impl Into<String>, message_count: u64) -> LlmRequest<'_> {
        LlmRequest::new(self, model.into(), message_count)
    }

    /// Begins a session: fires `session:start`.
    pub fn session(&self, id: impl Into<String>) -> Session {
        Session::start(self.clone(), id.into())
    }

    /// A request for a permission: for a tool, at a level such as `execute`, as the host calls it.
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

    /// Fires an event before the fact.
    fn ask_leave(&self, event: &HookEvent, options: FireOptions) -> Outcome {
        self.executor.execute(event, options)
    }

    /// Fires an event after the fact.
    fn tell(&self, event: HookEvent) -> Option<Outcome> {
        let event = self.of_session(event);
        let options = FireOptions::default().stop_on_failure(false);
        // The model must not get an output before it is redacted.
        if self.waits || self.executor.redacts_output(&event) {
            return Some(self.executor.execute(&event, options));
        }
        match self.executor.submit(event, options) {
            Ok(handle) => drop(handle),
            Err(error) => warn!("no hook is told of {}: {error}", error.event().event_type),
        }
        None
    }
}

/// A hook wants the host's user asked.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Question<'a> {
    /// What the host is about to do, as it would do it: with what hooks have changed.
    pub event: &'a HookEvent,
    /// The first hook that asks, and what it says; none where the host's own rules want its user
    /// asked.
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

    /// Why, in the words of the first hook that asks. Others may ask for another reason:
    /// [`reasons`](Question::reasons).
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.result.and_then(HookResult::reason)
    }

    /// Why, in the words of all hooks that ask, each thing once: the user is asked once, for all of
    /// them.
    #[must_use]
    pub fn reasons(&self) -> Vec<&str> {
        let outcomes = self.outcomes.into_iter().flatten();
        let asked = outcomes.flat_map(Outcome::questions);
        once(asked.filter_map(HookResult::reason))
    }
}

/// Asks the host's user; true lets the operation go on.
type Ask<'a> = Box<dyn FnOnce(&Question<'_>) -> bool + Send + 'a>;

/// With somebody to ask, questions are handled.
fn options(ask: Option<&Ask<'_>>) -> FireOptions {
    let options = FireOptions::default();
    if ask.is_some() {
        options.handles_ask()
    } else {
        options
    }
}

/// The outcome, where nobody has anything against it: no hook, and not the user if a hook asks, also
/// in an earlier outcome.
fn settled(
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

/// A hook that has seen a call twice says most things twice.
fn once<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for words in words {
        if !all.contains(&words) {
            all.push(words);
        }
    }
    all
}

/// Tells of a panic, in its words, before it goes on.
fn telling_of_panic<T>(run: impl FnOnce() -> T, tell: impl FnOnce(&str)) -> T {
    // Whatever is left half done in `run` is left so by the panic that goes on behind this.
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(value) => value,
        Err(payload) => {
            tell(words_of(&*payload));
            resume_unwind(payload)
        }
    }
}

fn words_of(payload: &(dyn Any + Send)) -> &str {
    let fixed = payload.downcast_ref::<&str>().copied();
    let made = || payload.downcast_ref::<String>().map(String::as_str);
    fixed.or_else(made).unwrap_or("panicked")
}
