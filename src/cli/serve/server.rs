//! The state of `serve`: handles each request, and keeps the fires that have no response yet.
//!
//! Belongs to one thread. Events on other threads arrive as [`News`].

use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::message::{
    Cancel, Code, Fire, Id, Incoming, Initialize, Object, Options, PROTOCOL, Refusal, Shutdown,
    parse, text_of,
};
use super::outbox::Outbox;
use super::worker::{Answer, Task, Worker};
use crate::cli::error::json_words;
use crate::cli::events::{EventsOutput, name_of};
use crate::cli::fire::{FireOutput, unknown_key};
use crate::cli::io::start;
use crate::cli::{CommandError, Context};
use crate::{FireOptions, HookEvent, HookExecutor, HookHandle, Hooks, SubmitError, Trace};

/// The most bytes of requests for fires that have no response yet.
const MOST_OPEN: usize = 64 * 1024 * 1024;

/// The time limit for writing the last responses. Together with the time to end the hooks, it is less than a second.
const LAST_WRITES: Duration = Duration::from_millis(400);

const LONGEST_SHUTDOWN: Duration = Duration::from_secs(24 * 60 * 60);

/// The interval at which the last responses are checked: whether they are written.
const TICK: Duration = Duration::from_millis(2);

/// An event on another thread.
pub(super) enum News {
    /// The hooks of this fire may have ended.
    Ended(Id),
    Answered(Id, Answer),
    /// No hook runs any more after a `shutdown`.
    Drained,
    OutputClosed,
}

pub(super) struct Server {
    hooks: Hooks,
    /// Owns the executor. Dropping it writes the end of the user's trace.
    engine: Hooks,
    pub(super) outbox: Outbox,
    news: Sender<News>,
    fires: HashMap<Id, Open>,
    worker: Worker,
    /// The requests that the worker has not yet answered.
    asked: HashSet<Id>,
    is_initialized: bool,
    ending: Option<Ending>,
}

/// A fire without a response.
struct Open {
    /// The bytes of its request.
    size: usize,
    event: Arc<HookEvent>,
    handle: HookHandle,
}

/// A `shutdown` that was accepted.
struct Ending {
    /// The id of the request; none once it has its response.
    id: Option<Id>,
    is_drained: bool,
    /// The time until which the host may still read.
    until: Instant,
}

/// The error of a request that has no result.
type Answered = Result<(), Refusal>;

impl Server {
    pub(super) fn new(
        hooks: Hooks,
        outbox: Outbox,
        news: Sender<News>,
        (workers, trace): (usize, Option<&Trace>),
        context: &Context<'_>,
    ) -> Result<Self, CommandError> {
        let mut executor = HookExecutor::builder()
            .registry(Arc::clone(hooks.executor().registry()))
            .workers(workers);
        if let Some(trace) = trace {
            executor = executor.trace(trace);
        }
        let engine = context.engine(&hooks, executor);
        let sender = news.clone();
        let answered = move |id, answer| {
            // The receiver is gone when the program is about to end.
            let _ = sender.send(News::Answered(id, answer));
        };
        Ok(Self {
            worker: Worker::start(hooks.clone(), context.messenger(), answered)?,
            asked: HashSet::new(),
            engine,
            hooks,
            outbox,
            news,
            fires: HashMap::new(),
            is_initialized: false,
            ending: None,
        })
    }

    /// Handles a line of the host.
    pub(super) fn line(&mut self, line: &[u8]) {
        if let Err((id, refusal)) = self.message(line) {
            self.outbox.answer(id.as_ref(), Err::<(), _>(refusal));
        }
    }

    /// Handles an event on another thread. Returns whether to continue.
    pub(super) fn handle_news(&mut self, news: News) -> bool {
        match news {
            News::Ended(id) => self.advance(&id),
            News::Answered(id, answer) => self.answered(&id, answer),
            News::Drained => {
                if let Some(ending) = &mut self.ending {
                    ending.is_drained = true;
                }
            }
            News::OutputClosed => return false,
        }
        true
    }

    fn answered(&mut self, id: &Id, answer: Answer) {
        self.asked.remove(id);
        self.outbox.answer(Some(id), answer);
    }

    /// Returns whether a `shutdown` is done, and the host has read its response.
    pub(super) fn has_ended(&mut self) -> bool {
        let Some(ending) = &mut self.ending else {
            return false;
        };
        let is_late = Instant::now() >= ending.until;
        if ending.is_drained
            && (self.fires.is_empty() && self.asked.is_empty() || is_late)
            && let Some(id) = ending.id.take()
        {
            self.outbox.answer(Some(&id), Ok(()));
        }
        ending.id.is_none() && (self.outbox.is_empty() || is_late)
    }

    /// Ends all hooks, and writes the last responses for a short time.
    pub(super) fn end(mut self, news: &Receiver<News>) {
        // The shutdown waits until the hooks have been killed.
        let _ = self.engine.executor().shutdown(Duration::ZERO);
        let deadline = Instant::now() + LAST_WRITES;
        while !self.fires.is_empty()
            && let Ok(event) = news.recv_deadline(deadline)
        {
            self.handle_news(event);
        }
        while !self.outbox.is_empty() && Instant::now() < deadline {
            thread::sleep(TICK);
        }
    }

    fn message(&mut self, line: &[u8]) -> Result<(), (Option<Id>, Refusal)> {
        let text = text_of(line).map_err(|refusal| (None, refusal))?;
        let message = parse(&text)?;
        let Some(id) = message.id.clone() else {
            self.notification(&message);
            return Ok(());
        };
        let answered = self.request(&id, &message, line.len());
        answered.map_err(|refusal| (Some(id), refusal))
    }

    /// Ignores an unknown notification, since a notification has no response.
    fn notification(&mut self, message: &Incoming<'_>) {
        if message.method == "$/cancelRequest"
            && let Ok(Cancel { id }) = message.params()
            && let Some(fire) = self.fires.get(&id)
        {
            fire.handle.cancel();
        }
    }

    fn request(&mut self, id: &Id, message: &Incoming<'_>, size: usize) -> Answered {
        let ending = self.ending.as_ref().and_then(|ending| ending.id.as_ref());
        if self.fires.contains_key(id) || self.asked.contains(id) || ending == Some(id) {
            return Err(
                Code::NotARequest.refuses("another request with this id has no response yet")
            );
        }
        if !self.is_initialized && message.method != "initialize" {
            return Err(Code::NotInitialized.refuses("the first request is `initialize`"));
        }
        match &*message.method {
            "initialize" => self.initialize(id, message.params()?),
            "fire" => self.fire(id, message.params()?, size),
            "approvals" => self.ask(id, Task::Approvals),
            "approve" => self.ask(id, Task::Approve(message.params()?)),
            "revoke" => self.ask(id, Task::Revoke),
            "reload" => self.ask(id, Task::Reload),
            "events" => {
                let report = EventsOutput::of(self.hooks.vocabulary());
                self.outbox.answer(Some(id), Ok(report));
                Ok(())
            }
            "shutdown" => self.shutdown(id, &message.params()?),
            other => Err(Code::UnknownMethod.refuses(format!("unknown method `{other}`"))),
        }
    }

    fn initialize(&mut self, id: &Id, params: Initialize) -> Answered {
        if self.is_initialized {
            return Err(Code::NotARequest.refuses("`initialize` was called already"));
        }
        if params.protocol != Some(PROTOCOL) {
            let spoken = params
                .protocol
                .map_or("missing".to_owned(), |number| number.to_string());
            return Err(Code::Params.refuses(format!(
                "`protocol` is {spoken}, expected {PROTOCOL}: use a client that was written for this program's version"
            )));
        }
        self.is_initialized = true;
        self.ask(id, Task::Initialize(params))
    }

    fn ask(&mut self, id: &Id, task: Task) -> Answered {
        self.worker.submit(id, task)?;
        self.asked.insert(id.clone());
        Ok(())
    }

    fn fire(&mut self, id: &Id, params: Fire, size: usize) -> Answered {
        if self.ending.is_some() {
            return Err(Refusal::ending());
        }
        let mut event = self
            .event(params.event)
            .map_err(|reason| Code::Params.refuses(reason))?;
        if let Some(Object(agent)) = params.agent {
            if agent.agent_type.is_empty() {
                let message = "`agent.type` is empty, expected the type of a subagent";
                return Err(Code::Params.refuses(message));
            }
            event = event.of_agent(&agent.agent_type, agent.id.as_deref());
        }
        let open: usize = self.fires.values().map(|fire| fire.size).sum();
        if open + size > MOST_OPEN {
            return Err(Refusal::busy());
        }
        self.submit(id, event, params.options.0.into(), size)
    }

    /// Reads an event. Refuses a name that is probably a typo, since guards would not see the event.
    fn event(&self, event: Map<String, Value>) -> Result<HookEvent, String> {
        if let Some(reason) = unknown_key(&event) {
            return Err(format!("{reason}; put other values into `data`"));
        }
        let event = HookEvent::deserialize(Value::Object(event));
        let event = event.map_err(|error| json_words(&error))?;
        let (name, vocabulary) = (event.event_type.as_str(), self.hooks.vocabulary());
        match vocabulary.nearest_event(name) {
            Some(nearest) if vocabulary.event(name).is_none() => Err(format!(
                "unknown event `{name}`; did you mean `{}`? Else declare it with `--vocabulary`",
                name_of(nearest)
            )),
            _ => Ok(event),
        }
    }

    fn submit(&mut self, id: &Id, event: HookEvent, options: FireOptions, size: usize) -> Answered {
        let event = Arc::new(event);
        let submitted = self.engine.executor().submit(Arc::clone(&event), options);
        let handle = submitted?;
        let open = Open {
            size,
            event,
            handle,
        };
        self.fires.insert(id.clone(), open);
        self.advance(id);
        Ok(())
    }

    /// Responds to a fire whose hooks have ended.
    fn advance(&mut self, id: &Id) {
        let Some(fire) = self.fires.get_mut(id) else {
            return;
        };
        let waker = Waker::from(Arc::new(FireWaker(id.clone(), self.news.clone())));
        let mut task = std::task::Context::from_waker(&waker);
        let Poll::Ready(outcome) = Pin::new(&mut fire.handle).poll(&mut task) else {
            return;
        };
        let Some(fire) = self.fires.remove(id) else {
            return;
        };
        let report = FireOutput::new(&fire.event, &outcome);
        self.outbox.answer(Some(id), Ok(report));
    }

    /// Lets the hooks end until the deadline, on another thread.
    fn shutdown(&mut self, id: &Id, params: &Shutdown) -> Answered {
        if self.ending.is_some() {
            return Err(Refusal::ending());
        }
        let deadline = Duration::try_from_secs_f64(params.deadline)
            .map_err(|error| Code::Params.refuses(format!("`deadline`: {error}")))?
            .min(LONGEST_SHUTDOWN);
        let (executor, news) = (self.engine.executor().clone(), self.news.clone());
        start(move || {
            let _ = executor.shutdown(deadline);
            let _ = news.send(News::Drained);
        })
        .map_err(|error| Code::Failed.refuses(error.message))?;
        self.ending = Some(Ending {
            id: Some(id.clone()),
            is_drained: false,
            until: Instant::now() + deadline + LAST_WRITES,
        });
        Ok(())
    }
}

/// Wakes the server when the hooks of a fire have ended.
struct FireWaker(Id, Sender<News>);

impl Wake for FireWaker {
    fn wake(self: Arc<Self>) {
        // The receiver is gone when the program is about to end.
        let _ = self.1.send(News::Ended(self.0.clone()));
    }
}

impl From<SubmitError> for Refusal {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Busy(_) => Refusal::busy(),
            SubmitError::ShutDown(_) => Refusal::ending(),
            error => Code::Failed.refuses(error.to_string()),
        }
    }
}

impl From<Options> for FireOptions {
    fn from(request: Options) -> Self {
        let mut options = Self::default().stop_on_failure(request.stop_on_failure.unwrap_or(true));
        if request.handles_ask {
            options = options.handles_ask();
        }
        if request.applies_updates {
            options = options.applies_updates();
        }
        match request.ordered {
            Some(key) => options.ordered_by(key),
            None => options,
        }
    }
}
