//! The lines that the host of `serve` sends, and what each request does.
//!
//! Runs on one thread. Only a fire and `shutdown` are answered later, by others.

use std::io::{self, BufRead, Read};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fires::{Fires, is_ending};
use super::message::{
    Approve, Block, Cancel, Fire, INVALID_PARAMS, INVALID_REQUEST, Id, Incoming, Initialize,
    Initialized, NOT_APPROVED, NOT_INITIALIZED, Options, Refusal, Shutdown, UNKNOWN_METHOD, parse,
};
use crate::cli::error::{json_words, with_causes};
use crate::cli::events;
use crate::cli::fire::KEYS_OF_EVENT;
use crate::cli::names::name_of;
use crate::trust::{Approval, TrustError};
use crate::{FireOptions, HookEvent, Hooks};

/// The most bytes of a line.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

const LONGEST_SHUTDOWN: Duration = Duration::from_secs(24 * 60 * 60);

/// The bytes that a buffer keeps after a long line.
const USUAL_LINE: usize = 64 * 1024;

/// What the thread that waits for the end must know.
pub(super) enum Signal {
    InputEnded,
    OutputClosed,
    Shutdown(Id, Duration),
    /// The hooks have ended after a `shutdown`; and how long the host may still read.
    Drained(Id, Instant),
}

pub(super) struct Requests {
    pub(super) hooks: Hooks,
    pub(super) fires: Fires,
    pub(super) control: Sender<Signal>,
    pub(super) is_initialized: bool,
    /// The `shutdown` that was accepted.
    pub(super) ending: Option<Id>,
}

impl Requests {
    /// Reads lines up to the end of the input.
    pub(super) fn read(mut self, mut input: impl BufRead) {
        let mut line = Vec::new();
        while let Ok(length @ 1..) = next_line(&mut input, &mut line) {
            let refused = match length > LONGEST_LINE {
                true => Err((None, invalid("a line has more than 16 MiB"))),
                false => self.line(&line),
            };
            if let Err((id, refusal)) = refused {
                self.fires.open.outbox.refuse(id.as_ref(), refusal);
            }
            line.clear();
            line.shrink_to(USUAL_LINE);
        }
        // Without a receiver, the program is about to end.
        let _ = self.control.send(Signal::InputEnded);
    }

    fn line(&mut self, line: &[u8]) -> Result<(), (Option<Id>, Refusal)> {
        let message = parse(line)?;
        let Some(id) = message.id.clone() else {
            self.notification(&message);
            return Ok(());
        };
        let answered = self.request(&id, &message, line.len());
        answered.map_err(|refusal| (Some(id), refusal))
    }

    /// A notification has no response, so one that is not known is ignored.
    fn notification(&self, message: &Incoming<'_>) {
        if message.method == "$/cancelRequest"
            && let Ok(Cancel { id }) = message.params()
        {
            self.fires.open.cancel(&id);
        }
    }

    fn request(&mut self, id: &Id, message: &Incoming<'_>, size: usize) -> Result<(), Refusal> {
        if self.fires.open.has(id) || self.ending.as_ref() == Some(id) {
            return Err(invalid("another request with this id has no response yet"));
        }
        if !self.is_initialized && message.method != "initialize" {
            let words = "the first request is `initialize`";
            return Err(Refusal::new(NOT_INITIALIZED, words));
        }
        match &*message.method {
            "initialize" => self.initialize(id, &message.params()?),
            "fire" => self.fire(id, message.params()?, size),
            "approvals" => {
                let waiting = waiting(&self.hooks)?;
                let blocks: Vec<_> = waiting.iter().map(Block::from).collect();
                self.respond(id, blocks)
            }
            "approve" => self.approve(id, &message.params()?),
            "revoke" => self.revoke(id),
            "reload" => self.respond(id, &*self.hooks.reload()),
            "events" => self.respond(id, events::Report::of(self.hooks.vocabulary())),
            "shutdown" => self.shutdown(id, &message.params()?),
            other => {
                let words = format!("unknown method `{other}`");
                Err(Refusal::new(UNKNOWN_METHOD, words))
            }
        }
    }

    fn respond(&self, id: &Id, result: impl Serialize) -> Result<(), Refusal> {
        self.fires.open.outbox.respond(id, result);
        Ok(())
    }

    fn initialize(&mut self, id: &Id, params: &Initialize) -> Result<(), Refusal> {
        if self.is_initialized {
            return Err(invalid("`initialize` was called already"));
        }
        self.is_initialized = true;
        // A project whose approvals cannot be read has a problem in the report.
        let waiting = waiting(&self.hooks).unwrap_or_default();
        let initialized = Initialized {
            version: env!("CARGO_PKG_VERSION"),
            report: &self.hooks.report(),
            approvals: waiting.iter().count(),
        };
        self.respond(id, initialized)?;
        let notifies = &self.fires.open.notifies;
        notifies.store(params.notify, Ordering::Relaxed);
        Ok(())
    }

    fn fire(&self, id: &Id, params: Fire, size: usize) -> Result<(), Refusal> {
        if self.ending.is_some() {
            return Err(is_ending());
        }
        let event = self.event(params.event);
        let event = event.map_err(|words| Refusal::new(INVALID_PARAMS, words))?;
        self.fires.fire(id, event, params.options.into(), size)
    }

    /// Reads an event. What is probably a typo is refused, since guards would not see the event.
    fn event(&self, event: Map<String, Value>) -> Result<HookEvent, String> {
        let mut keys = event.keys();
        if let Some(key) = keys.find(|key| !KEYS_OF_EVENT.contains(&key.as_str())) {
            let words = "put other values into `data`";
            return Err(format!("unknown key `{key}` of the event; {words}"));
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

    /// Approves what has this digest now, and nothing else.
    fn approve(&self, id: &Id, params: &Approve) -> Result<(), Refusal> {
        let mut is_asked = false;
        let is_approved = self.hooks.approve_with(|approval| {
            is_asked = true;
            approval.digest().eq_ignore_ascii_case(&params.digest)
        })?;
        let words = match (is_asked, is_approved) {
            (true, true) => return self.respond(id, &*self.hooks.report()),
            (true, false) => "the hooks or their scripts are not those that were shown",
            (false, _) => "there is nothing to approve",
        };
        Err(Refusal::new(NOT_APPROVED, words))
    }

    fn revoke(&self, id: &Id) -> Result<(), Refusal> {
        let project = self.hooks.trust().zip(self.hooks.project());
        let words = "no project whose hooks need an approval";
        let (store, root) = project.ok_or_else(|| Refusal::new(NOT_APPROVED, words))?;
        store.revoke(root)?;
        self.respond(id, &*self.hooks.reload())
    }

    fn shutdown(&mut self, id: &Id, params: &Shutdown) -> Result<(), Refusal> {
        if self.ending.is_some() {
            return Err(is_ending());
        }
        let deadline = Duration::try_from_secs_f64(params.deadline)
            .map_err(|error| Refusal::new(INVALID_PARAMS, format!("`deadline`: {error}")))?
            .min(LONGEST_SHUTDOWN);
        self.ending = Some(id.clone());
        let _ = self.control.send(Signal::Shutdown(id.clone(), deadline));
        Ok(())
    }
}

fn invalid(words: &'static str) -> Refusal {
    Refusal::new(INVALID_REQUEST, words)
}

/// Reads a line, and of a line that is too long only the beginning. Returns its length, 0 at the end.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    let most = LONGEST_LINE as u64 + 1;
    let length = input.by_ref().take(most).read_until(b'\n', line)?;
    if length > LONGEST_LINE && line.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
    }
    Ok(length)
}

/// Returns what a person must decide on, if anything.
fn waiting(hooks: &Hooks) -> Result<Option<Approval>, TrustError> {
    let mut waiting = None;
    hooks.approve_with(|approval| {
        waiting = Some(approval.clone());
        false
    })?;
    Ok(waiting)
}

impl<'a> From<&'a Approval> for Block<'a> {
    fn from(approval: &'a Approval) -> Self {
        Self {
            digest: approval.digest(),
            text: approval.to_string(),
            entries: &approval.hooks,
        }
    }
}

impl From<TrustError> for Refusal {
    fn from(error: TrustError) -> Self {
        Self::new(NOT_APPROVED, with_causes(&error))
    }
}

impl From<Options> for FireOptions {
    fn from(given: Options) -> Self {
        let mut options = Self::default().stop_on_failure(given.stop_on_failure.unwrap_or(true));
        if given.parallel {
            options = options.parallel();
        }
        if given.handles_ask {
            options = options.handles_ask();
        }
        match given.ordered {
            Some(key) => options.ordered_by(key),
            None => options,
        }
    }
}
