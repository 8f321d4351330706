//! The lines that the host of `serve` sends, and what each request does.
//!
//! Runs on one thread. Only a fire and `shutdown` are answered later, by others.

use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crossbeam_channel::Sender;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Signal;
use super::fires::Fires;
use super::message::{
    Approve, Block, Cancel, Fire, Id, Incoming, Initialize, Initialized, Nothing, Options, Refusal,
    Shutdown, parse,
};
use crate::cli::error::json_words;
use crate::cli::events;
use crate::cli::fire::KEYS_OF_EVENT;
use crate::cli::names::{name_of, of_other_tool};
use crate::{Approval, FireOptions, HookEvent, Hooks, TrustError, TrustStore};

/// The most bytes of a line.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// The bytes that a buffer keeps after a long line.
const USUAL_LINE: usize = 64 * 1024;

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
            if length > LONGEST_LINE {
                let words = format!("a line has more than {} MiB", LONGEST_LINE >> 20);
                let refusal = Refusal::invalid_request(words);
                self.fires.open.outbox.refuse(None, refusal);
            } else {
                self.line(&line);
            }
            line.clear();
            line.shrink_to(USUAL_LINE);
        }
        // Without a receiver, the program is about to end.
        let _ = self.control.send(Signal::InputEnded);
    }

    fn line(&mut self, line: &[u8]) {
        let (id, answer) = match parse(line) {
            Ok(incoming) => match incoming.id.clone() {
                Some(id) => {
                    let answer = self.request(&id, &incoming, line.len());
                    (Some(id), answer)
                }
                None => return self.notification(&incoming),
            },
            Err((id, refusal)) => (id, Err(refusal)),
        };
        if let Err(refusal) = answer {
            self.fires.open.outbox.refuse(id.as_ref(), refusal);
        }
    }

    /// A notification has no response, so one that is not known is ignored.
    fn notification(&self, incoming: &Incoming<'_>) {
        if incoming.method == "$/cancelRequest"
            && let Ok(Cancel { id }) = incoming.params()
        {
            self.fires.open.cancel(&id);
        }
    }

    fn request(&mut self, id: &Id, incoming: &Incoming<'_>, size: usize) -> Result<(), Refusal> {
        if self.fires.open.has(id) || self.ending.as_ref() == Some(id) {
            let words = "another request with this id has no response yet";
            return Err(Refusal::invalid_request(words));
        }
        if !self.is_initialized && incoming.method != "initialize" {
            return Err(Refusal::NOT_INITIALIZED);
        }
        match &*incoming.method {
            "initialize" => self.initialize(id, &incoming.params()?),
            "fire" => self.fire(id, incoming.params()?, size),
            "approvals" => incoming.params().and_then(|Nothing {}| self.approvals(id)),
            "approve" => self.approve(id, &incoming.params()?),
            "revoke" => incoming.params().and_then(|Nothing {}| self.revoke(id)),
            "reload" => incoming.params().map(|Nothing {}| self.reload(id)),
            "events" => incoming.params().map(|Nothing {}| {
                let events = events::Report::of(self.hooks.vocabulary());
                self.fires.open.outbox.respond(id, events);
            }),
            "shutdown" => self.shutdown(id, &incoming.params()?),
            method => Err(Refusal::unknown_method(method)),
        }
    }

    fn initialize(&mut self, id: &Id, params: &Initialize) -> Result<(), Refusal> {
        if self.is_initialized {
            return Err(Refusal::invalid_request("`initialize` was called already"));
        }
        self.is_initialized = true;
        let open = &self.fires.open;
        // A project whose approvals cannot be read has a problem in the report.
        let waiting = waiting(&self.hooks).unwrap_or_default();
        let initialized = Initialized {
            version: env!("CARGO_PKG_VERSION"),
            report: &self.hooks.report(),
            approvals: waiting.iter().count(),
        };
        open.outbox.respond(id, initialized);
        open.notifies.store(params.notify, Ordering::Relaxed);
        Ok(())
    }

    fn fire(&self, id: &Id, params: Fire, size: usize) -> Result<(), Refusal> {
        let event = self.event(params.event).map_err(Refusal::invalid_params)?;
        self.fires.fire(id, event, params.options.into(), size)
    }

    /// Reads an event. What is probably a typo is refused, since guards would not see the event.
    fn event(&self, event: Map<String, Value>) -> Result<HookEvent, String> {
        if let Some(name) = event.get("hook_event_name").and_then(Value::as_str)
            && let Some((tool, event)) = of_other_tool(name)
        {
            return Err(format!("`{name}` is an event of {tool}; use `{event}`"));
        }
        let mut keys = event.keys();
        if let Some(key) = keys.find(|key| !KEYS_OF_EVENT.contains(&key.as_str())) {
            let words = format!("unknown key `{key}` of the event; put other values into `data`");
            return Err(words);
        }
        let event =
            HookEvent::deserialize(Value::Object(event)).map_err(|error| json_words(&error))?;
        let (name, vocabulary) = (event.event_type.as_str(), self.hooks.vocabulary());
        match vocabulary.nearest_event(name) {
            Some(nearest) if vocabulary.event(name).is_none() => Err(format!(
                "unknown event `{name}`; did you mean `{}`? An event of the host's own with such a name is declared first",
                name_of(nearest)
            )),
            _ => Ok(event),
        }
    }

    fn approvals(&self, id: &Id) -> Result<(), Refusal> {
        let waiting = waiting(&self.hooks)?;
        let blocks: Vec<_> = waiting.iter().map(Block::from).collect();
        self.fires.open.outbox.respond(id, blocks);
        Ok(())
    }

    fn approve(&self, id: &Id, params: &Approve) -> Result<(), Refusal> {
        let mut now = None;
        let is_approved = self.hooks.approve_with(|approval| {
            let digest = approval.digest();
            let is_same = digest.eq_ignore_ascii_case(&params.digest);
            now = Some(digest);
            is_same
        })?;
        match (is_approved, now) {
            (true, Some(_)) => {
                self.fires.open.outbox.respond(id, &*self.hooks.report());
                Ok(())
            }
            (false, Some(_)) => Err(Refusal::of_approval(
                "the digest is not that of the hooks as they are now; show them again",
            )),
            _ => Err(Refusal::of_approval("there is nothing to approve")),
        }
    }

    fn revoke(&self, id: &Id) -> Result<(), Refusal> {
        let (store, root) = self.project()?;
        store.revoke(root)?;
        self.reload(id);
        Ok(())
    }

    fn project(&self) -> Result<(TrustStore, &Path), Refusal> {
        let words = "no project whose hooks need an approval";
        let project = self.hooks.trust().zip(self.hooks.project());
        project.ok_or_else(|| Refusal::of_approval(words))
    }

    fn reload(&self, id: &Id) {
        self.fires.open.outbox.respond(id, &*self.hooks.reload());
    }

    fn shutdown(&mut self, id: &Id, params: &Shutdown) -> Result<(), Refusal> {
        if self.ending.is_some() {
            return Err(Refusal::ENDING);
        }
        let deadline = Duration::try_from_secs_f64(params.deadline)
            .map_err(|error| Refusal::invalid_params(format!("`deadline`: {error}")))?;
        self.ending = Some(id.clone());
        let signal = Signal::Shutdown(id.clone(), deadline);
        let _ = self.control.send(signal);
        Ok(())
    }
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
        Self::of_approval(crate::cli::error::with_causes(&error))
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
