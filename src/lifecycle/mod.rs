//! The events around a tool, a model call, a session, an agent and a permission, fired in the right order.
//!
//! Knows the events before and after an action of the host. Does not know the action itself, or how hooks run.
//!
//! Each action has the same three steps. `begin` fires the event before the action, and fails if a hook blocks. Then the
//! host acts. `finish` fires the event after the action. `run` does all three, with a function that acts. A tool has its
//! own: `permit` returns the [`Permit`] that the function which runs tools takes, and [`ToolRun`] is what follows.
//!
//! `begin`, `permit`, `run` and `finish` run hooks on the calling thread. An async host calls them where a thread may wait, such as
//! in `spawn_blocking`: a [`Request`] and a [`Running`] can be moved there. [`Permit::run_async`] does not wait.
//!
//! # When a hook blocks
//! The model must learn that its call was not made, and why, so that it can do something else. [`ToolRun::next`] has the text
//! for it: "blocked by hook \`No sudo\`: sudo is not allowed". For other actions, the host gives it the message of the error. The
//! error's [outcome](crate::HookBlockedError::outcome) has more: its [context](Outcome::additional_context) is for the model too,
//! its [failures](Outcome::failures) are for the user, and if it [stops the turn](Outcome::stops_turn), the host does not call
//! the model again before its user has spoken. The same is right if the error [is cancelled](crate::HookBlockedError::is_cancelled): no hook has decided anything, so the model gets
//! nothing. The model does not get a blocked prompt: the host shows its user the reason.

mod action;
mod agent;
mod kinds;
mod own;
mod permission;
mod permit;
mod question;
mod stops;
mod submitted;
mod table;
mod tool;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use self::agent::Agent;
use self::stops::Stops;
use crate::events::{EventType, HookEvent, HostContext};
use crate::executor::{CancelToken, FireOptions, HookExecutor};
use crate::logging::warn;
use crate::outcome::Outcome;

pub use action::{Request, Running};
pub use kinds::{Compaction, Model, Session, Turn};
pub use own::OwnAction;
pub use permission::Permission;
pub use permit::Permit;
pub use question::Question;
pub use submitted::Submitted;
pub use tool::{Next, Tool, ToolRun};

/// Fires the events around the actions of a host, in the right order.
///
/// A host that calls its tools and its model through it forgets no event. [The module](self) explains this, and the text
/// that the model gets if a hook blocks.
///
/// Hooks run on the calling thread. With [`without_waiting`](Lifecycle::without_waiting), events that cannot be blocked are
/// submitted instead. If a hook fails on such an event, the hooks after it run nevertheless.
///
/// ```
/// use forge_hooks::lifecycle::{Next, ToolRun};
/// use forge_hooks::{Hook, HookExecutor, Lifecycle, Permit};
/// use serde_json::json;
///
/// let executor = HookExecutor::builder().build();
/// executor.registry().register(Hook::new("tool:pre_execute:rm", "echo never && exit 1")?.with_name("guard"));
/// let session = Lifecycle::new(executor).session("s1").begin()?;
/// let hooks = session.lifecycle();
///
/// fn use_tool(permit: Permit) -> ToolRun {
///     permit.run(|tool, args| Ok::<_, std::io::Error>(format!("{tool} of {}", args["path"])))
/// }
/// // As hooks have left it: this is what the model gets.
/// let listed = hooks.tool("ls", json!({"path": "."})).run(use_tool);
/// assert_eq!(listed.next, Next::GoOn(r#"ls of ".""#.to_owned()));
/// let blocked = hooks.tool("rm", json!({"path": "/"})).run(use_tool);
/// assert_eq!(blocked.next, Next::GoOn("blocked by hook `guard`: never".to_owned()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Lifecycle {
    executor: HookExecutor,
    session_id: Option<String>,
    /// The agent in whose turn the events occur; none outside of a turn.
    agent: Option<Agent>,
    context: Option<Arc<HostContext>>,
    waits: bool,
    token: Option<CancelToken>,
    stops: Stops,
    /// True if it is known that there may be no hooks: they were loaded, or the host wants none.
    may_be_unguarded: bool,
}

impl Lifecycle {
    /// Creates a lifecycle for the hooks of this executor, without a session. A host that loads hooks calls
    /// [`Hooks::lifecycle`](crate::Hooks::lifecycle): this one logs a warning if a tool is called and the executor has no hooks.
    #[must_use]
    pub fn new(executor: HookExecutor) -> Self {
        Self {
            may_be_unguarded: false,
            executor,
            session_id: None,
            agent: None,
            context: None,
            waits: true,
            token: None,
            stops: Stops::default(),
        }
    }

    /// Creates a lifecycle that allows everything, for the tests of a host: they get their [`Permit`]s from it.
    #[must_use]
    pub fn without_hooks() -> Self {
        Self::of_loaded(HookExecutor::builder().build())
    }

    /// Creates a lifecycle for an executor whose hooks were loaded.
    pub(crate) fn of_loaded(executor: HookExecutor) -> Self {
        let mut lifecycle = Self::new(executor);
        lifecycle.may_be_unguarded = true;
        lifecycle
    }

    /// Warns, once, that no hook can see a call of a tool although the host expects some.
    fn warn_if_unguarded(&self) {
        static WARNED: AtomicBool = AtomicBool::new(false);
        let is_unguarded = !self.may_be_unguarded && self.executor.registry().is_empty();
        if is_unguarded && !WARNED.swap(true, Ordering::Relaxed) {
            warn!(
                "a tool is called, and its lifecycle has no hooks: was another executor loaded? \
                 `Hooks::lifecycle` has the loaded hooks, `Lifecycle::without_hooks` wants none"
            );
        }
    }

    /// Sets the session that every event belongs to. [`session`](Lifecycle::session) sets it
    /// itself.
    #[must_use]
    pub fn with_session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Sets the context of every event for hooks of other agents: the path of the transcript, the
    /// permission mode, and so on.
    #[must_use]
    pub fn with_context(mut self, context: impl Into<Arc<HostContext>>) -> Self {
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

    /// Lets this token cancel every event of this lifecycle, including those of an action's end. To cancel one turn and not
    /// the end of the session, give the token to a clone. [`Request::cancelled_by`] is for one action.
    #[must_use]
    pub fn cancelled_by(mut self, token: &CancelToken) -> Self {
        self.token = Some(token.clone());
        self
    }

    /// Creates a call of a tool, with its arguments. The call takes them: the function that runs the tool gets them back,
    /// with the changes of hooks, in a [`Permit`].
    pub fn tool<'a>(&self, name: impl Into<String>, args: impl Into<Value>) -> Request<'a, Tool> {
        let mut request = Request::new(self, &table::TOOL, [(table::ARGS, args.into())], Tool);
        request.open.tool = Some(name.into());
        request
    }

    /// Creates a custom action of the host, between events that it has [declared](crate::HooksBuilder::event). A change that
    /// a hook makes blocks it: only a tool, a prompt and the messages for a model can be changed.
    pub fn action<'a>(&self, action: &OwnAction) -> Request<'a, OwnAction> {
        Request::new(self, action.row(), [], action.clone())
    }

    /// Creates a call of a model, with the number of its messages. [`with_messages`](Request::with_messages) lets hooks see and
    /// change the messages themselves.
    pub fn llm<'a>(&self, model: impl Into<String>, message_count: u64) -> Request<'a, Model> {
        let data = [
            ("llm_model", Value::from(model.into())),
            ("message_count", message_count.into()),
        ];
        Request::new(self, &table::MODEL, data, Model::new())
    }

    /// Creates a session. All events of its own [lifecycle](Running::lifecycle) have its id.
    pub fn session(&self, id: impl Into<String>) -> Request<'static, Session> {
        let mut lifecycle = self.clone().with_session_id(id);
        lifecycle.stops = Stops::default();
        lifecycle.agent = None;
        Request::new(&lifecycle, &table::SESSION, [], Session)
    }

    /// Creates a request for a permission: for a tool, at a level that the host names, such as
    /// `execute`.
    pub fn permission(
        &self,
        tool: impl Into<String>,
        level: impl Into<String>,
    ) -> Request<'static, Permission> {
        let data = [("perm_level", Value::from(level.into()))];
        let mut request = Request::new(self, &table::PERMISSION, data, Permission::new());
        request.open.tool = Some(tool.into());
        request
    }

    /// Creates a turn of the agent: its user has submitted this prompt, and the host has not acted on it yet. Called on the
    /// lifecycle of a [subagent's](Running::subagent) turn, it is for a prompt that the subagent gets after its start.
    pub fn prompt(&self, content: impl Into<String>) -> Request<'static, Turn> {
        let content = Value::from(content.into());
        Request::new(self, &table::TURN, [("content", content)], Turn::new())
    }

    /// Creates a shortening of the conversation. `trigger` is `manual` or `auto`.
    pub fn compact<'a>(&self, trigger: impl Into<String>) -> Request<'a, Compaction> {
        let data = [("trigger", Value::from(trigger.into()))];
        Request::new(self, &table::COMPACTION, data, Compaction)
    }

    /// Fires `session:message`: a message was received or sent. Returns the outcome; none if it was not waited
    /// for.
    pub fn message(&self, role: impl Into<String>, content: impl Into<String>) -> Option<Outcome> {
        let event = HookEvent::new(EventType::SessionMessage)
            .with_data("role", role.into())
            .with_data("content", content.into());
        self.fire_after(self.of_session(event))
    }

    /// Fires `notification:show`: the host shows its user a message. Returns the outcome; none if it was not
    /// waited for.
    pub fn notify(&self, message: impl Into<String>) -> Option<Outcome> {
        self.fire_after(self.of_session(HookEvent::notification_show(message)))
    }

    /// Fires `user:interrupt`: the user has interrupted the host. Returns the outcome; none if it was not waited
    /// for.
    pub fn interrupt(&self) -> Option<Outcome> {
        self.fire_after(self.of_session(HookEvent::user_interrupt()))
    }

    fn of_session(&self, event: HookEvent) -> HookEvent {
        let event = match &self.agent {
            Some(agent) => event.of_agent(&agent.agent_type, agent.id.as_deref()),
            None => event,
        };
        let event = match &self.session_id {
            Some(id) if event.session_id.is_none() => event.with_session_id(id),
            _ => event,
        };
        match &self.context {
            Some(context) if event.context().is_none() => event.with_context(Arc::clone(context)),
            _ => event,
        }
    }

    fn options(&self) -> FireOptions {
        let options = FireOptions::default();
        match &self.token {
            Some(token) => options.cancelled_by(token),
            None => options,
        }
    }

    /// Fires an event as [`fire_after`](Self::fire_after) does, on the pool.
    async fn submit_after(&self, event: HookEvent) -> Option<Outcome> {
        if !self.waits && !self.executor.redacts_output(&event) {
            return self.fire_after(event);
        }
        let options = self.options().stop_on_failure(false);
        match self.executor.submit(event, options.clone()) {
            Ok(handle) => Some(handle.await),
            // The model must not get an output that no hook has redacted.
            Err(error) => Some(self.executor.execute(&error.into_event(), options)),
        }
    }

    /// Fires an event of this session that cannot be blocked. Returns the outcome; none if it is not waited for.
    fn fire_after(&self, event: HookEvent) -> Option<Outcome> {
        let options = self.options().stop_on_failure(false);
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
