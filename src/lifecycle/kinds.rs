//! The other actions: a call of a model, a session, a turn of an agent, the shortening of a conversation.

use std::convert::Infallible;
use std::fmt;

use serde_json::Value;

use super::Lifecycle;
use super::action::{Action, Begins, Request, Running};
use super::agent::Agent;
use super::stops::MOST;
use super::table::{self, MESSAGE_COUNT, MESSAGES, TOKENS};
use crate::logging::warn;
use crate::outcome::{HookBlockedError, Outcome};

/// A call of a model; see [`Lifecycle::llm`].
///
/// ```
/// use forge_hooks::{HookExecutor, Lifecycle};
///
/// let hooks = Lifecycle::new(HookExecutor::builder().build());
/// let mut call = hooks.llm("large", 12).begin()?;
/// call.start_stream();
/// for chunk in ["Hello", ", ", "world"] {
///     print!("{chunk}");
///     call.add_tokens(1);
/// }
/// let tokens: Result<u64, std::io::Error> = Ok(call.tokens());
/// call.finish(tokens);
/// # Ok::<(), forge_hooks::HookBlockedError>(())
/// ```
#[derive(Debug)]
pub struct Model {
    /// The answer that arrives piece by piece, after its start.
    stream: Option<Box<Running<Stream>>>,
}

impl Model {
    pub(super) fn new() -> Self {
        Self { stream: None }
    }
}

impl Action for Model {}
impl Begins for Model {}

impl Request<'_, Model> {
    /// Sets the messages of the request, as the host sends them to the model, and their number. Default: hooks receive only the
    /// number.
    ///
    /// A hook can then replace them (`updatedInput` with `messages`): the hooks run once more on the changed messages and may
    /// block them. The host sends what [`messages`](Running::messages) returns.
    ///
    /// A hook with `"reads": "stdin"` gets messages of any size. Any other one fails, and so blocks, if they do not fit into an
    /// environment variable: on Linux, from 128 KiB on.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use forge_hooks::hook::May;
    /// use forge_hooks::{Hook, HookExecutor, Lifecycle};
    /// use serde_json::json;
    ///
    /// let executor = HookExecutor::builder().build();
    /// let command = r#"echo '{"updatedInput": {"messages": [{"role": "user", "content": "hi"}]}}'"#;
    /// let hook = Hook::new("llm:pre_request", command)?.with_may([May::ChangeInput]);
    /// executor.registry().register(hook);
    /// let messages = [
    ///     json!({"role": "user", "content": "an old question"}),
    ///     json!({"role": "user", "content": "hi"}),
    /// ];
    /// let call = Lifecycle::new(executor).llm("large", 2).with_messages(messages).begin()?;
    /// assert_eq!(call.messages(), Some(&[json!({"role": "user", "content": "hi"})][..]));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_messages(mut self, messages: impl Into<Vec<Value>>) -> Self {
        let messages = messages.into();
        let data = &mut self.open.data;
        data.insert(MESSAGE_COUNT.to_owned(), messages.len().into());
        data.insert(MESSAGES.to_owned(), messages.into());
        self
    }

    /// Fires `llm:pre_request`, calls the model, and fires `llm:post_response` with the number of tokens that the function
    /// returns beside the answer, or `llm:error` with its error message. Returns the answer or the error.
    ///
    /// # Errors
    /// The errors of [`begin`](Request::begin). The model has not been called then.
    pub fn run<T, E: fmt::Display>(
        self,
        call: impl FnOnce(&mut Running<Model>) -> Result<(T, u64), E>,
    ) -> Result<Result<T, E>, HookBlockedError> {
        let mut running = self.begin()?;
        let answer = call(&mut running);
        running.finish(answer.as_ref().map(|(_, tokens)| *tokens));
        Ok(answer.map(|(answer, _)| answer))
    }
}

impl Running<Model> {
    /// Returns the messages for the model, with the changes of hooks; none if the host has not [set](Request::with_messages)
    /// them.
    #[must_use]
    pub fn messages(&self) -> Option<&[Value]> {
        let messages = self.open.data.get(MESSAGES)?.as_array()?;
        Some(messages)
    }

    /// Fires `llm:stream_start`: the answer begins to arrive, piece by piece. Its end, `llm:stream_end`, is fired once, with the
    /// number of tokens so far: when the call ends, even if it is dropped, or when another stream starts.
    pub fn start_stream(&mut self) {
        self.action.stream = None;
        let model = self.open.data.get("llm_model").cloned();
        let data = [("llm_model", model.unwrap_or_default())];
        let request = Request::new(&self.open.lifecycle, &table::STREAM, data, Stream);
        let event = request.open.event(&table::STREAM.before);
        self.action.stream = Some(Box::new(request.announce(event)));
        self.add_tokens(0);
    }

    /// Adds to the number of tokens of the stream that have arrived. Without a stream, it does nothing.
    pub fn add_tokens(&mut self, count: u64) {
        let tokens = self.tokens().saturating_add(count);
        if let Some(stream) = &mut self.action.stream {
            stream.open.data.insert(TOKENS.to_owned(), tokens.into());
        }
    }

    /// Returns the number of tokens of the stream that have arrived.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let stream = self.action.stream.as_ref();
        let tokens = stream.and_then(|stream| stream.open.data.get(TOKENS));
        tokens.and_then(Value::as_u64).unwrap_or_default()
    }

    /// Fires `llm:post_response` with the number of tokens of the complete answer, or `llm:error` with the message
    /// of the error. Returns the outcome; none if it was not waited for.
    pub fn finish<E: fmt::Display>(mut self, tokens: Result<u64, E>) -> Option<Outcome> {
        self.action.stream = None;
        self.open.end(tokens.map(Value::from))
    }
}

/// An answer that arrives piece by piece. Its end is fired when it is dropped.
#[derive(Debug)]
struct Stream;

impl Action for Stream {}

/// A session; see [`Lifecycle::session`]. Its end is fired once: by [`finish`](Running::finish), or when it is dropped, even
/// by a panic.
///
/// ```
/// use forge_hooks::{HookExecutor, Lifecycle};
///
/// let hooks = Lifecycle::new(HookExecutor::builder().build()).without_waiting();
/// let session = hooks.session("sess_1").begin()?;
/// session.lifecycle().message("user", "hello");
/// let call = session.lifecycle().tool("ls", "{}");
/// call.run(|permit| permit.run(|_, _| Ok::<_, String>("src"))).check()?;
/// session.finish();
/// # Ok::<(), forge_hooks::HookBlockedError>(())
/// ```
#[derive(Debug)]
pub struct Session;

impl Action for Session {}
impl Begins for Session {}
impl Ends for Session {}

impl Running<Session> {
    /// Returns the lifecycle for calls in this session: its events have the session's id.
    #[must_use]
    pub fn lifecycle(&self) -> &Lifecycle {
        &self.open.lifecycle
    }

    /// Creates a turn of the session's own agent, as [`Lifecycle::prompt`] does.
    pub fn prompt(&self, content: impl Into<String>) -> Request<'static, Turn> {
        self.lifecycle().prompt(content)
    }
}

/// A turn of an agent, from the user's prompt to the end of the agent's work; see [`Running::prompt`]. It may also be a turn
/// of an agent that works for another one; see [`Running::subagent`].
///
/// `begin` fires `user:prompt_submit`. A hook can replace the prompt (`updatedInput` with `content`): the hooks run once more on the
/// changed prompt and may block it, and [`prompt`](Running::prompt) returns it. For the other agent, `begin`
/// fires `agent:subagent_start`. A turn that is dropped fires nothing.
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
#[derive(Debug)]
pub struct Turn {
    stop_was_blocked: bool,
    /// The lifecycle for calls in the turn, which is set when the turn has begun.
    lifecycle: Option<Lifecycle>,
}

impl Turn {
    pub(super) fn new() -> Self {
        Self {
            stop_was_blocked: false,
            lifecycle: None,
        }
    }
}

impl Action for Turn {
    fn begun(running: &mut Running<Self>) {
        let mut lifecycle = running.open.lifecycle.clone();
        lifecycle.agent.get_or_insert_with(Agent::main);
        running.action.lifecycle = Some(lifecycle);
    }
}
impl Begins for Turn {}

impl Running<Turn> {
    /// Returns the lifecycle for calls in this turn. Its events name the agent: they have the type of the
    /// [subagent](Running::subagent) as `agent_type`, or `main`, and the subagent's id as `agent_id`, if it [has
    /// one](Running::subagent_with_id). A token that was given to the turn cancels them too.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use forge_hooks::{Hook, HookExecutor, Lifecycle};
    ///
    /// let executor = HookExecutor::builder().build();
    /// let guard = Hook::new("tool:pre_execute:write", "echo an explorer only reads; exit 1")?;
    /// executor.registry().register(guard.with_when("/agent_type", "explorer")?);
    /// let session = Lifecycle::new(executor).session("s1").begin()?;
    /// let turn = session.prompt("explore").begin()?;
    /// let turn = turn.subagent("explorer").begin()?;
    /// assert!(turn.lifecycle().tool("write", "notes.txt").permit().is_err());
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn lifecycle(&self) -> &Lifecycle {
        let of_turn = self.action.lifecycle.as_ref();
        of_turn.unwrap_or(&self.open.lifecycle)
    }

    /// Creates a turn of another agent of this type, for a part of the work of this one. Its tools are called with the
    /// [lifecycle](Running::lifecycle) of that turn, which has the token of this turn.
    ///
    /// Hooks may decide by the type, so it comes from the host: a model that may choose it could choose one without a guard.
    pub fn subagent(&self, agent_type: impl Into<String>) -> Request<'static, Turn> {
        self.turn_of(Agent {
            agent_type: agent_type.into(),
            id: None,
        })
    }

    /// Creates a turn of a [subagent](Running::subagent) that has an id, so that hooks can tell subagents of one type apart.
    /// Each of its events has the id as `agent_id`.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use forge_hooks::{Hook, HookExecutor, Lifecycle};
    ///
    /// let executor = HookExecutor::builder().build();
    /// let names = Hook::new("tool:pre_execute", r#"echo "$FORGE_AGENT_TYPE $FORGE_AGENT_ID""#)?;
    /// executor.registry().register(names);
    /// let session = Lifecycle::new(executor).session("s1").begin()?;
    /// let turn = session.prompt("explore").begin()?;
    /// let subagent = turn.subagent_with_id("explorer", "explorer-2").begin()?;
    /// let read = subagent.lifecycle().tool("read", "notes.txt").permit()?;
    /// assert_eq!(read.before().results()[0].stdout(), "explorer explorer-2\n");
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn subagent_with_id(
        &self,
        agent_type: impl Into<String>,
        id: impl Into<String>,
    ) -> Request<'static, Turn> {
        self.turn_of(Agent {
            agent_type: agent_type.into(),
            id: Some(id.into()),
        })
    }

    fn turn_of(&self, agent: Agent) -> Request<'static, Turn> {
        let mut lifecycle = self.lifecycle().clone();
        lifecycle.stops = lifecycle.stops.of_other_agent();
        lifecycle.agent = Some(agent);
        Request::new(&lifecycle, &table::SUBAGENT, [], Turn::new())
    }

    /// Returns the prompt for the model, with the changes of hooks; empty for an agent that works for another one.
    #[must_use]
    pub fn prompt(&self) -> &str {
        let prompt = self.open.data.get("content");
        prompt.and_then(Value::as_str).unwrap_or_default()
    }

    /// Fires `agent:stop`, or `agent:subagent_stop`: the agent is about to end its turn, with this last message. If
    /// the outcome does not [allow](Outcome::allowed) it, the agent continues with the
    /// [reason](Outcome::reason) as its next input, and the host calls this again at the next end, which then has
    /// `stop_hook_active`.
    ///
    /// If the host cancels the event, the agent stops: a cancellation is no verdict, and the host wants it to end.
    ///
    /// The method only borrows the turn, since a blocked end does not end it: a host can keep the turn beside its agent, and
    /// drop it there.
    ///
    /// If hooks have blocked eight ends of this agent in a row, and the session has called no tool meanwhile, the next end
    /// is allowed regardless of their answers: otherwise a hook could keep an agent running forever. The turns of the
    /// session's own agent are counted together, and those of each [`subagent`](Running::subagent) separately.
    pub fn finish(&mut self, last_message: impl Into<String>) -> Outcome {
        let event = self.open.event(&self.open.row.after.0);
        let event = event
            .with_data("stop_hook_active", self.action.stop_was_blocked)
            .with_data("last_assistant_message", last_message.into());
        let lifecycle = &self.open.lifecycle;
        let mut outcome = lifecycle.executor.execute(&event, lifecycle.options());
        if outcome.is_cancelled() {
            outcome = outcome.without_block();
        }
        if lifecycle.stops.are_too_many(outcome.allowed()) {
            let name = &event.event_type;
            warn!("hooks have blocked `{name}` {MOST} times in a row: it is not blocked again");
            outcome = outcome.without_block();
        }
        self.action.stop_was_blocked = !outcome.allowed();
        outcome
    }
}

/// A shortening of the conversation; see [`Lifecycle::compact`]. Its end is `context:post_compact`; one that is
/// dropped fires nothing.
#[derive(Debug)]
pub struct Compaction;

impl Action for Compaction {}
impl Begins for Compaction {}
impl Ends for Compaction {}

/// An action without a result.
pub trait Ends: Action {}

impl<A: Begins + Ends> Request<'_, A> {
    /// Fires the event before the action, calls the function, and fires the event after it.
    ///
    /// # Errors
    /// The errors of [`begin`](Request::begin). The function has not been called then.
    pub fn run<T>(self, work: impl FnOnce(&Running<A>) -> T) -> Result<T, HookBlockedError> {
        let running = self.begin()?;
        let done = work(&running);
        running.finish();
        Ok(done)
    }
}

impl<A: Ends> Running<A> {
    /// Fires the event after the action. Returns the outcome; none if it was not waited for.
    pub fn finish(mut self) -> Option<Outcome> {
        self.open.end(Ok::<_, Infallible>(Value::Null))
    }
}
