//! The line of an event: the event as it was fired, and the combined decision of its hooks.
//!
//! If an event can be blocked, its line has the data, so that the event can be fired again. The line of any other event has only
//! the keys that identify its call, and no result of a tool. The note is taken on the thread of the event, and masked on another.

use std::io::{self, ErrorKind, Write};
use std::sync::Arc;

use hmac_sha256::Hash;
use serde_json::{Map, Value, json};

use super::decided::Decided;
use super::line::{LONGEST_REASON, LONGEST_TEXT, json_line, text_of_hook, within};
use crate::events::{HookEvent, is_deeper, now};
use crate::hook::Hook;
use crate::named::of_text;
use crate::outcome::Decision;
use crate::redact::Redactor;
use crate::runner::FiredEvent;

/// The most bytes of one value of the data, as JSON.
const LARGEST_VALUE: usize = 64 * 1024;
/// The most bytes of all values of the data.
const LARGEST_DATA: usize = 256 * 1024;

/// The bytes of a note besides its values.
const FIXED: usize = 1024;

/// The most values that are named as left out.
const MOST_NAMES: usize = 100;
/// The most bytes of a name that is listed as left out.
const LONGEST_NAME: usize = 256;

const ID: &str = "tool_use_id";
const ARGUMENTS: &str = "tool_args";
/// The keys of the data that identify a call.
const OF_CALL: [&str; 3] = [ID, ARGUMENTS, "perm_level"];

/// The keys for results of tools, which are not recorded: some events that can be blocked have them in their data.
const RESULTS: [&str; 2] = ["tool_result", "tool_response"];

/// The keys of the data that identify the agent of the event. Each line has them.
const IDENTITY: [&str; 2] = ["agent_id", "agent_type"];

/// The most levels of a value: a reader accepts 128 for the whole line.
const DEEPEST: usize = 100;

/// The key of a line for the fired event.
pub(crate) const FIRED: &str = "fired";

/// The flags of a line: the options with which the host fired the event.
pub(crate) const ASK: &str = "ask";
pub(crate) const UPDATES: &str = "updates";
pub(crate) const KEEPS_GOING: &str = "keeps_going";
pub(crate) const DISABLED: &str = "disabled";
pub(crate) const CONTEXT: &str = "context";
pub(crate) const CANCELLED: &str = "cancelled";

/// A record of a fired event.
pub(super) struct EventNote {
    /// The seconds since 1970.
    time: f64,
    /// The event, with only the data that the line needs.
    event: HookEvent,
    /// The values that identify the call as hooks have changed it.
    changed: Option<HookEvent>,
    /// True if the line has all data: the event can be blocked, and its keys are known.
    has_data: bool,
    can_block: bool,
    left_out: Vec<String>,
    how: Vec<&'static str>,
    decided: Decided,
    reason: Option<String>,
    /// The hook that made the decision.
    by: Option<Arc<Hook>>,
    /// The digest of arguments that were too large.
    large_arguments: Option<String>,
    /// The hooks of the event: values of their `env` are masked.
    hooks: Vec<Arc<Hook>>,
    /// True if the line identifies the call.
    has_call: bool,
    /// The approximate memory of the note.
    pub(super) bytes: usize,
}

impl EventNote {
    pub(super) fn new(fired: &FiredEvent) -> Self {
        let (event, outcome) = (&*fired.event, &fired.outcome);
        let can_block = outcome.can_block();
        let has_data = can_block && fired.how.is_known;
        let mut kept = Kept::default();
        let mut decided = Decided::of(outcome);
        if let Some(update) = decided.updated_input.take() {
            let update = Value::Object(update);
            if kept.takes("updated_input", &update) {
                decided.updated_input = update.as_object().cloned();
            }
        }
        if can_block && !has_data {
            kept.leave_out("data");
        }
        let mut of_change = Kept::default();
        let changed = outcome.changed_event();
        let changed = changed.map(|changed| of_change.copy(changed, false));
        let by = outcome.blocked();
        let reason = by.and_then(|_| outcome.reason());
        Self {
            time: now(),
            event: kept.copy(event, has_data),
            large_arguments: match changed {
                Some(_) => of_change.large_arguments,
                None => kept.large_arguments,
            },
            changed,
            has_data,
            can_block,
            left_out: kept.left_out,
            how: how_of(fired),
            decided,
            reason: reason.map(|reason| within(reason, LONGEST_TEXT).to_owned()),
            by: by.map(|result| Arc::clone(result.hook())),
            hooks: fired.hooks.clone(),
            has_call: true,
            bytes: kept.bytes + FIXED,
        }
    }

    /// Returns whether the event was blocked, or its hooks asked.
    pub(super) fn matters(&self) -> bool {
        self.decided.decision != Decision::Allow
    }

    /// Leaves out all data but the keys that identify the agent.
    pub(super) fn drop_data(&mut self) {
        self.event
            .data
            .retain(|key, _| IDENTITY.contains(&key.as_str()));
        (self.decided.updated_input, self.changed) = (None, None);
        self.left_out = vec!["data".to_owned()];
        (self.has_data, self.has_call) = (false, false);
        self.bytes = FIXED;
    }

    /// Returns the redactor for events, which also removes results of tools.
    pub(super) fn redactor(of_hooks: &Redactor) -> Redactor {
        let redactor = of_hooks.clone();
        RESULTS
            .into_iter()
            .fold(redactor, Redactor::with_secret_key)
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
        // The digest of the call uses data that is masked independent of hooks: the end of a call has other hooks than its begin.
        let of_call = self.changed.as_ref().unwrap_or(event);
        fired.data = match redactor.value(&Value::Object(of_call.data.clone())) {
            Value::Object(data) => data,
            _ => Map::new(),
        };
        let call = call_of(&fired, self.large_arguments.as_deref()).filter(|_| self.has_call);
        if !secrets.is_empty() || self.changed.is_some() {
            fired.data = object(&event.data);
        }
        if !self.has_data {
            fired.data.retain(|key, _| IDENTITY.contains(&key.as_str()));
        }
        let left_out: Vec<_> = self.left_out.iter().map(|name| text(name)).collect();
        let decided = self.decided.masked(redactor, &secrets);
        let of_hook = |text: Option<&str>, most| match (&self.by, text) {
            (Some(hook), Some(text)) => text_of_hook(text, most, hook, redactor).into(),
            _ => Value::Null,
        };
        let by = self.by.as_ref();
        let source = by.and_then(|hook| hook.source()).map(ToString::to_string);
        let replaces = decided.replaces_input.then_some(true);
        json_line(&[
            ("time", self.time.into()),
            ("event", event.event_type.as_str().into()),
            ("tool", fired.tool_name.clone().into()),
            ("session", fired.session_id.clone().into()),
            ("host_pid", host_pid.into()),
            ("call", call.into()),
            (FIRED, json!(fired)),
            ("left_out", listed(left_out)),
            ("how", listed(self.how.clone())),
            ("can_block", self.can_block.into()),
            ("decision", decided.decision.as_str().into()),
            ("grants", decided.grants.then_some(true).into()),
            ("stops_turn", decided.stops_turn.then_some(true).into()),
            ("updated_input", decided.updated_input.into()),
            ("replaces_input", replaces.into()),
            ("hook", of_hook(by.map(|hook| hook.label()), LONGEST_TEXT)),
            ("source", of_hook(source.as_deref(), LONGEST_TEXT)),
            ("reason", of_hook(self.reason.as_deref(), LONGEST_REASON)),
        ])
    }
}

/// Returns the flags of a line: the options with which the host fires the event.
fn how_of(fired: &FiredEvent) -> Vec<&'static str> {
    let how = fired.how;
    let context = fired.event.context();
    let flags = [
        (ASK, how.handles_ask),
        (UPDATES, how.applies_updates),
        (KEEPS_GOING, !how.stop_on_failure),
        (DISABLED, how.is_disabled),
        (
            CONTEXT,
            context.is_some_and(|context| !context.fields().is_empty()),
        ),
        (CANCELLED, fired.outcome.is_cancelled()),
    ];
    let set = flags.into_iter().filter(|(_, is_set)| *is_set);
    set.map(|(flag, _)| flag).collect()
}

/// Returns a list; `null`, which is left out, if it is empty.
fn listed<T: Into<Value>>(values: Vec<T>) -> Value {
    if values.is_empty() {
        return Value::Null;
    }
    values.into_iter().map(Into::into).collect()
}

/// Returns the digest that identifies a call: of its `tool_use_id`, else of its tool, its arguments, and the level of a
/// permission; none without a tool.
fn call_of(event: &HookEvent, large_arguments: Option<&str>) -> Option<String> {
    let tool = event.tool_name.as_deref()?;
    let [_, arguments, level] = OF_CALL.map(|key| event.data.get(key));
    let call = match id_of(&event.data) {
        Some(id) => json!([id]),
        None => json!([tool, arguments, large_arguments, level]),
    };
    Some(of_text(call.to_string())[..32].to_owned())
}

/// Returns the id of a call. Another agent has it among the values that have no other key in our events.
fn id_of(data: &Map<String, Value>) -> Option<&Value> {
    data.get(ID).or_else(|| data.get("agent")?.get(ID))
}

/// The sizes and omissions of the data that the line of an event keeps.
#[derive(Default)]
struct Kept {
    /// The bytes of all values, as JSON.
    bytes: usize,
    /// The names of the values that were too large.
    left_out: Vec<String>,
    /// The digest of arguments that were too large.
    large_arguments: Option<String>,
}

impl Kept {
    /// Returns the event with the data that its line needs, without values that are too large. The keys that identify a call come
    /// first, so that nothing else takes their space.
    fn copy(&mut self, event: &HookEvent, has_data: bool) -> HookEvent {
        let mut copy = HookEvent::new(event.event_type.clone());
        copy.timestamp = event.timestamp;
        copy.tool_name = self.text("tool_name", event.tool_name.as_ref());
        copy.session_id = self.text("session_id", event.session_id.as_ref());
        for key in event.too_deep() {
            self.leave_out(key);
        }
        let is_first = |key: &str| OF_CALL.contains(&key) || IDENTITY.contains(&key);
        let (first, rest): (Vec<_>, Vec<_>) = event.data.iter().partition(|(key, _)| is_first(key));
        let rest = rest.into_iter().filter(|_| has_data);
        for (key, value) in first.into_iter().chain(rest) {
            if self.takes(key, value) {
                copy.data.insert(key.clone(), value.clone());
            }
        }
        if let Some(id) = id_of(&event.data).filter(|_| !has_data)
            && self.takes(ID, id)
        {
            copy.data.insert(ID.to_owned(), id.clone());
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

    /// Returns whether a value is kept. Records the name of one that is not.
    fn takes(&mut self, name: &str, value: &Value) -> bool {
        let most = LARGEST_DATA.saturating_sub(self.bytes + name.len());
        let mut counted = Counted::new(most.min(LARGEST_VALUE));
        let is_taken = !is_deeper(value, DEEPEST) && counted.takes(value);
        if is_taken {
            self.bytes += name.len() + counted.bytes;
        } else {
            self.leave_out(name);
        }
        if !is_taken && name == ARGUMENTS {
            self.large_arguments = Some(counted.digest());
        }
        is_taken
    }

    fn leave_out(&mut self, name: &str) {
        if self.left_out.len() < MOST_NAMES {
            self.left_out.push(within(name, LONGEST_NAME).to_owned());
        }
    }
}

/// Counts the bytes of a value as JSON, up to a limit, with their digest.
struct Counted {
    bytes: usize,
    most: usize,
    hash: Hash,
}

impl Counted {
    fn new(most: usize) -> Self {
        Self {
            bytes: 0,
            most,
            hash: Hash::new(),
        }
    }

    /// Returns whether a value is within the limit.
    fn takes(&mut self, value: &Value) -> bool {
        serde_json::to_writer(self, value).is_ok()
    }

    /// Returns the digest of the part within the limit. Such a long text cannot be guessed from its digest.
    fn digest(self) -> String {
        self.hash
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let within = bytes.len().min(self.most - self.bytes);
        self.hash.update(&bytes[..within]);
        self.bytes += within;
        if within < bytes.len() {
            return Err(ErrorKind::FileTooLarge.into());
        }
        Ok(within)
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
            let mut exact = Counted::new(size);
            assert!(exact.takes(&value) && exact.bytes == size, "{value}");
            assert!(!Counted::new(size - 1).takes(&value), "{value}");
        }
    }

    #[test]
    fn a_call_is_its_id_or_its_tool_and_arguments() {
        let event = |tool: &str, data: Value| {
            let mut event = HookEvent::new(EventType::ToolPreExecute).with_tool_name(tool);
            event.data = data.as_object().unwrap().clone();
            event
        };
        let call = |tool: &str, data: Value| call_of(&event(tool, data), None).unwrap();
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
        assert_eq!(call_of(&HookEvent::user_interrupt(), None), None);
    }
}
