//! The line of an event: what was fired, and what its hooks decided together.
//!
//! Of an event that can be blocked, the line has the data, so that it can be fired again. Of any other, it has only what tells
//! one call from others: no result of a tool. The note is taken on the thread of the event, and masked on another one.

use std::io::{self, ErrorKind, Write};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::decided::Decided;
use super::line::{LONGEST_REASON, LONGEST_TEXT, json_line, text_of_hook, within};
use crate::events::{HookEvent, is_deeper, now};
use crate::hook::Hook;
use crate::named::of_text;
use crate::redact::Redactor;
use crate::runner::FiredEvent;

/// The most bytes of one value of the data, as JSON.
const LARGEST_VALUE: usize = 64 * 1024;
/// The most bytes of all values of the data.
const LARGEST_DATA: usize = 256 * 1024;
/// The most levels of a value: a reader takes 128 for the whole line.
const DEEPEST: usize = 100;

/// The most values that are named as left out.
const MOST_NAMES: usize = 100;
/// The most bytes of such a name.
const LONGEST_NAME: usize = 256;

/// The keys of the data by which calls differ.
const OF_CALL: [&str; 3] = ["tool_use_id", "tool_args", "perm_level"];

/// The key of a line with what was fired.
pub(crate) const FIRED: &str = "fired";
/// What a host does with answers.
pub(crate) const ASK: &str = "ask";
pub(crate) const UPDATES: &str = "updates";

/// A record of a fired event.
pub(super) struct EventNote {
    /// In seconds since 1970.
    time: f64,
    /// With the data that the line needs.
    event: HookEvent,
    can_block: bool,
    left_out: Vec<String>,
    handles: Vec<&'static str>,
    decided: Decided,
    reason: Option<String>,
    /// The hook that has decided.
    by: Option<Arc<Hook>>,
    /// The hooks that ran: values of their `env` are masked.
    hooks: Vec<Arc<Hook>>,
    /// About the memory that it takes.
    pub(super) bytes: usize,
}

impl EventNote {
    pub(super) fn new(fired: &FiredEvent<'_>) -> Self {
        let (event, outcome) = (fired.event, fired.outcome);
        let mut kept = Kept::default();
        let mut decided = Decided::of(outcome);
        if let Some(update) = decided.updated_input.take() {
            let update = Value::Object(update);
            if kept.takes("updated_input", &update) {
                decided.updated_input = update.as_object().cloned();
            }
        }
        let handles = [(ASK, fired.handles_ask), (UPDATES, fired.applies_updates)];
        let handles = handles.into_iter().filter(|(_, is_handled)| *is_handled);
        let by = outcome.blocked();
        let reason = by.and_then(|_| outcome.reason());
        let results = outcome.results().iter();
        Self {
            time: now(),
            event: kept.copy(event, outcome.can_block()),
            can_block: outcome.can_block(),
            left_out: kept.left_out,
            handles: handles.map(|(name, _)| name).collect(),
            decided,
            reason: reason.map(|reason| within(reason, LONGEST_TEXT).to_owned()),
            by: by.map(|result| Arc::clone(&result.hook)),
            hooks: results.map(|result| Arc::clone(&result.hook)).collect(),
            // With what every note takes.
            bytes: kept.bytes + 1024,
        }
    }

    /// Returns the line with its line break.
    pub(super) fn into_line(self, host_pid: u32, redactor: &Redactor) -> String {
        let hooks = self.hooks.iter();
        let secrets: Vec<&str> = hooks
            .flat_map(|hook| hook.env().values().map(String::as_str))
            .collect();
        let masked = |value: &Value| redactor.value_with(value, &secrets);
        let text = |text: &str| match masked(&text.into()) {
            Value::String(text) => text,
            _ => String::new(),
        };
        let object = |object: &Map<String, Value>| match masked(&Value::Object(object.clone())) {
            Value::Object(object) => object,
            _ => Map::new(),
        };
        let event = &self.event;
        let mut fired = HookEvent::new(event.event_type.clone());
        fired.timestamp = event.timestamp;
        fired.tool_name = event.tool_name.as_deref().map(text);
        fired.session_id = event.session_id.as_deref().map(text);
        fired.data = object(&event.data);
        let call = call_of(&fired);
        let update = self.decided.updated_input.as_ref().map(object);
        let left_out: Vec<_> = self.left_out.iter().map(|name| text(name)).collect();
        if !self.can_block {
            fired.data.clear();
        }
        let of_hook = |words: Option<&str>, most| match (&self.by, words) {
            (Some(hook), Some(words)) => text_of_hook(words, most, hook, redactor).into(),
            _ => Value::Null,
        };
        let by = self.by.as_ref();
        let source = by.and_then(|hook| hook.source()).map(ToString::to_string);
        let decided = &self.decided;
        json_line(&[
            ("time", self.time.into()),
            ("event", event.event_type.as_str().into()),
            ("tool", fired.tool_name.clone().into()),
            ("session", fired.session_id.clone().into()),
            ("host_pid", host_pid.into()),
            ("call", call.into()),
            (FIRED, json!(fired)),
            ("left_out", listed(left_out)),
            ("handles", listed(self.handles.clone())),
            ("can_block", self.can_block.into()),
            ("decision", decided.decision.as_str().into()),
            ("stops_turn", decided.stops_turn.then_some(true).into()),
            ("updated_input", update.into()),
            ("hook", of_hook(by.map(|hook| hook.label()), LONGEST_TEXT)),
            ("source", of_hook(source.as_deref(), LONGEST_TEXT)),
            ("reason", of_hook(self.reason.as_deref(), LONGEST_REASON)),
        ])
    }
}

/// Returns a list; `null`, which is left out, if it is empty.
fn listed<T: Into<Value>>(values: Vec<T>) -> Value {
    if values.is_empty() {
        return Value::Null;
    }
    values.into_iter().map(Into::into).collect()
}

/// Returns the digest of what tells one call from others: its `tool_use_id`, else its tool, its arguments, and the level of a
/// permission; none without a tool.
fn call_of(event: &HookEvent) -> Option<String> {
    let tool = event.tool_name.as_deref()?;
    let [id, arguments, level] = OF_CALL.map(|key| event.data.get(key));
    let call = match id {
        Some(id) => json!([id]),
        None => json!([tool, arguments, level]),
    };
    Some(of_text(call.to_string())[..32].to_owned())
}

/// What is kept of an event.
#[derive(Default)]
struct Kept {
    /// The bytes of all values, as JSON.
    bytes: usize,
    /// The names of those that were too large.
    left_out: Vec<String>,
}

impl Kept {
    /// Returns the event with the data that its line needs, as far as it is not too large.
    fn copy(&mut self, event: &HookEvent, can_block: bool) -> HookEvent {
        let mut copy = HookEvent::new(event.event_type.clone());
        copy.timestamp = event.timestamp;
        copy.tool_name = self.text("tool_name", event.tool_name.as_ref());
        copy.session_id = self.text("session_id", event.session_id.as_ref());
        for (key, value) in &event.data {
            let is_needed = can_block || OF_CALL.contains(&key.as_str());
            if is_needed && self.takes(key, value) {
                copy.data.insert(key.clone(), value.clone());
            }
        }
        copy
    }

    fn text(&mut self, name: &str, text: Option<&String>) -> Option<String> {
        if text.is_some_and(|text| text.len() > LONGEST_TEXT) {
            self.leave_out(name);
            return None;
        }
        text.cloned()
    }

    /// Returns whether a value is kept. One that is not is named.
    fn takes(&mut self, name: &str, value: &Value) -> bool {
        let most = LARGEST_DATA.saturating_sub(self.bytes + name.len());
        // Its size is only counted where that does not recurse too deep.
        let shallow = (!is_deeper(value, DEEPEST)).then_some(value);
        let size = shallow.and_then(|value| size_of(value, most.min(LARGEST_VALUE)));
        match size {
            Some(size) => self.bytes += name.len() + size,
            None => self.leave_out(name),
        }
        size.is_some()
    }

    fn leave_out(&mut self, name: &str) {
        if self.left_out.len() < MOST_NAMES {
            self.left_out.push(within(name, LONGEST_NAME).to_owned());
        }
    }
}

/// Returns the bytes of a value as JSON; none if they are more than this.
fn size_of(value: &Value, most: usize) -> Option<usize> {
    let mut counted = Counted { left: most };
    let is_within = serde_json::to_writer(&mut counted, value).is_ok();
    is_within.then(|| most - counted.left)
}

/// Counts what is written, and fails where it is too much.
struct Counted {
    left: usize,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.left.checked_sub(bytes.len());
        self.left = left.ok_or(ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventType;

    #[test]
    fn a_size_is_that_of_the_json() {
        for value in [json!(null), json!("a\n\"b"), json!({"k": [1, 2.5, {}]})] {
            let size = value.to_string().len();
            assert_eq!(size_of(&value, size), Some(size), "{value}");
            assert_eq!(size_of(&value, size - 1), None, "{value}");
        }
    }

    #[test]
    fn a_call_is_its_id_or_its_tool_and_arguments() {
        let event = |tool: &str, data: Value| {
            let mut event = HookEvent::new(EventType::ToolPreExecute).with_tool_name(tool);
            event.data = data.as_object().unwrap().clone();
            event
        };
        let call = |tool: &str, data: Value| call_of(&event(tool, data)).unwrap();
        let by_id = call("bash", json!({"tool_use_id": "t1", "tool_args": 1}));
        assert_eq!(
            by_id,
            call("bash", json!({"tool_use_id": "t1", "tool_args": 2}))
        );
        assert_ne!(
            by_id,
            call("bash", json!({"tool_use_id": "t2", "tool_args": 1}))
        );
        let by_arguments = call("bash", json!({"tool_args": 1}));
        assert_ne!(by_arguments, call("write", json!({"tool_args": 1})));
        assert_ne!(
            by_arguments,
            call("bash", json!({"tool_args": 1, "perm_level": "x"}))
        );
        assert_eq!(call_of(&HookEvent::user_interrupt()), None);
    }
}
