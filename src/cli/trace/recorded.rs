//! The events of a trace, as they were read: each fired event, with the decision of its hooks.
//!
//! Reads leniently, as [`traced`](super::traced) does, and keeps as much. A file may come from anywhere: nothing in it is a path
//! or a command for this program, and the values of one line at a time are in memory.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::traced::{MOST_BYTES, MOST_ENTRIES, each_line};
use crate::json;
use crate::trace::{CANCELLED, DISABLED, Decided};
use crate::{Decision, HookEvent, Redactor};

/// The events of a trace, as far as it can be read.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// The lines with events, each with its number.
    lines: VecDeque<(usize, String)>,
    /// The number of lines that the host could not write.
    pub(crate) lost: u64,
    /// The number of lines that cannot be read.
    pub(crate) broken: u64,
    /// The number of events before those that are kept.
    pub(crate) left_out: u64,
    bytes: usize,
}

/// One event that was fired.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// The number of its line, counted from 1.
    pub(crate) line: usize,
    pub(crate) event: HookEvent,
    /// The id of the event's call; none without a tool.
    pub(crate) call: Option<String>,
    /// The process of its host.
    pub(crate) host: u64,
    pub(crate) can_block: bool,
    /// The names of the values that were too large.
    left_out: Vec<String>,
    /// The options with which the host had fired the event.
    how: Vec<String>,
    pub(crate) decided: Decided,
    /// The hook that had decided.
    pub(crate) hook: Option<String>,
    pub(crate) reason: Option<String>,
}

/// The keys of a line that are read.
#[derive(Deserialize)]
struct Line {
    fired: HookEvent,
    call: Option<String>,
    #[serde(default)]
    host_pid: u64,
    #[serde(default)]
    left_out: Vec<String>,
    #[serde(default)]
    how: Vec<String>,
    can_block: bool,
    decision: Decision,
    #[serde(default)]
    grants: bool,
    #[serde(default)]
    stops_turn: bool,
    updated_input: Option<Map<String, Value>>,
    #[serde(default)]
    replaces_input: bool,
    hook: Option<String>,
    reason: Option<String>,
}

/// A line that has no event.
#[derive(Deserialize)]
struct Other {
    #[serde(default)]
    lost: u64,
    fired: Option<Value>,
    #[serde(rename = "time")]
    _time: f64,
}

pub(super) fn read_from(input: impl BufRead) -> io::Result<Record> {
    let mut record = Record::default();
    each_line(input, |number, line| match line {
        Some(line) => record.take(number, line),
        None => record.broken += 1,
    })?;
    Ok(record)
}

impl Record {
    fn take(&mut self, number: usize, line: &[u8]) {
        let text = str::from_utf8(line).unwrap_or_default();
        if json::read::<Line>(text).is_ok() {
            return self.keep(number, text);
        }
        match json::read::<Other>(text) {
            Ok(Other {
                lost, fired: None, ..
            }) => self.lost = self.lost.saturating_add(lost),
            _ => self.broken += 1,
        }
    }

    fn keep(&mut self, number: usize, text: &str) {
        self.bytes += text.len();
        self.lines.push_back((number, text.to_owned()));
        while self.lines.len() > MOST_ENTRIES || self.bytes as u64 > MOST_BYTES {
            let Some((_, first)) = self.lines.pop_front() else {
                return;
            };
            self.bytes -= first.len();
            self.left_out += 1;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the number of events.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns the events, of which each is read from its line when its turn comes.
    pub(crate) fn events(&self) -> impl Iterator<Item = Recorded> {
        let lines = self.lines.iter();
        // Each line was read once already, so it is valid.
        lines.filter_map(|(number, text)| Some(Recorded::new(*number, json::read(text).ok()?)))
    }
}

impl Recorded {
    fn new(line: usize, read: Line) -> Self {
        Self {
            line,
            event: read.fired,
            call: read.call,
            host: read.host_pid,
            can_block: read.can_block,
            left_out: read.left_out,
            how: read.how,
            decided: Decided {
                decision: read.decision,
                grants: read.grants,
                stops_turn: read.stops_turn,
                updated_input: read.updated_input,
                replaces_input: read.replaces_input,
            },
            hook: read.hook,
            reason: read.reason,
        }
    }

    /// Returns whether the host had fired the event with this option.
    pub(crate) fn was(&self, how: &str) -> bool {
        self.how.iter().any(|flag| flag == how)
    }

    /// Returns the reason why an event that can be blocked cannot be fired again as it was; none if it can.
    pub(crate) fn objection(&self) -> Option<String> {
        if !self.left_out.is_empty() {
            let names = self.left_out.join("`, `");
            return Some(format!("its data is not whole: `{names}`"));
        }
        if self.was(CANCELLED) {
            return Some("it was cancelled".to_owned());
        }
        if self.was(DISABLED) {
            return Some("the user had disabled the hooks".to_owned());
        }
        let update = self.decided.updated_input.clone().unwrap_or_default();
        let texts = [self.event.to_json(), Value::Object(update).to_string()];
        let is_masked = texts.iter().any(|text| text.contains(Redactor::MASK));
        is_masked.then(|| "a part of its data was masked".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_is_read_in_linear_time() {
        crate::growth::assert_reads_in_linear_time("recorded events", |bytes| {
            let _ = read_from(bytes);
        });
    }
}
