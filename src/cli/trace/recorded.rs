//! The events of a trace, as they were read: what was fired, and what its hooks had decided.
//!
//! Reads leniently, as [`traced`](super::traced) does, and keeps as much. A file may come from anywhere: nothing in it is a path
//! or a command for this program.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::traced::{MOST_BYTES, MOST_ENTRIES, each_line};
use crate::json;
use crate::trace::{ASK, Decided, UPDATES};
use crate::{Decision, HookEvent, Redactor};

/// The events of a trace, as far as it can be read.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) events: VecDeque<Recorded>,
    /// The number of lines that the host could not write.
    pub(crate) lost: u64,
    /// The number of lines that cannot be read.
    pub(crate) broken: u64,
    /// The number of events before those that are kept.
    pub(crate) left_out: u64,
    bytes: u64,
}

/// One event that was fired.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// The number of its line, counted from 1.
    pub(crate) line: usize,
    pub(crate) event: HookEvent,
    /// What tells its call from others; none without a tool.
    pub(crate) call: Option<String>,
    /// The process of its host.
    pub(crate) host: u64,
    pub(crate) can_block: bool,
    /// The values that were too large.
    pub(crate) left_out: Vec<String>,
    pub(crate) handles_ask: bool,
    pub(crate) applies_updates: bool,
    pub(crate) decided: Decided,
    /// The hook that had decided.
    pub(crate) hook: Option<String>,
    pub(crate) reason: Option<String>,
    bytes: u64,
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
    handles: Vec<String>,
    can_block: bool,
    decision: Decision,
    #[serde(default)]
    stops_turn: bool,
    updated_input: Option<Map<String, Value>>,
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
        if let Ok(read) = json::read::<Line>(text) {
            return self.keep(Recorded::new(number, read, line.len() as u64));
        }
        match json::read::<Other>(text) {
            Ok(Other {
                lost, fired: None, ..
            }) => self.lost = self.lost.saturating_add(lost),
            _ => self.broken += 1,
        }
    }

    fn keep(&mut self, event: Recorded) {
        self.bytes += event.bytes;
        self.events.push_back(event);
        while self.events.len() > MOST_ENTRIES || self.bytes > MOST_BYTES {
            let Some(first) = self.events.pop_front() else {
                return;
            };
            self.bytes -= first.bytes;
            self.left_out += 1;
        }
    }
}

impl Recorded {
    fn new(line: usize, read: Line, bytes: u64) -> Self {
        let handles = |what: &str| read.handles.iter().any(|name| name == what);
        Self {
            line,
            handles_ask: handles(ASK),
            applies_updates: handles(UPDATES),
            event: read.fired,
            call: read.call,
            host: read.host_pid,
            can_block: read.can_block,
            left_out: read.left_out,
            decided: Decided {
                decision: read.decision,
                stops_turn: read.stops_turn,
                updated_input: read.updated_input,
            },
            hook: read.hook,
            reason: read.reason,
            bytes,
        }
    }

    /// Returns why the event cannot be fired again as it was; none if it can.
    pub(crate) fn objection(&self) -> Option<String> {
        if !self.can_block {
            return Some("it cannot be blocked, and its data was not recorded".to_owned());
        }
        if !self.left_out.is_empty() {
            let names = self.left_out.join("`, `");
            return Some(format!("`{names}` was too large to be recorded"));
        }
        let is_masked = self.event.to_json().contains(Redactor::MASK);
        is_masked.then(|| "a secret in its data was masked".to_owned())
    }
}
