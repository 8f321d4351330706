//! The events of a trace, as they were read: each fired event, with the decision of its hooks.
//!
//! Keeps as much as [`lines`](super::lines) does. A file may come from anywhere: nothing in it is a path or a command for this
//! program, and the values of one line at a time are in memory.

use std::io::{self, BufRead};

use serde::Deserialize;
use serde_json::Value;

use super::lines::{Line, Lines};
use crate::json;
use crate::trace::{CANCELLED, DISABLED, Decided};
use crate::{HookEvent, Redactor};

/// The lines with events, each with its number.
pub(crate) type Record = Lines<(usize, String)>;

/// One event that was fired.
#[derive(Debug, Deserialize)]
pub(crate) struct Recorded {
    /// The number of its line, counted from 1.
    #[serde(skip)]
    pub(crate) line: usize,
    #[serde(rename = "fired")]
    pub(crate) event: HookEvent,
    /// The id of the event's call; none without a tool.
    pub(crate) call: Option<String>,
    /// The process of its host.
    #[serde(default, rename = "host_pid")]
    pub(crate) host: u64,
    pub(crate) can_block: bool,
    /// The names of the values that were too large.
    #[serde(default)]
    left_out: Vec<String>,
    /// The options with which the host had fired the event.
    #[serde(default)]
    how: Vec<String>,
    #[serde(flatten)]
    pub(crate) decided: Decided,
    /// The hook that had decided.
    pub(crate) hook: Option<String>,
    pub(crate) reason: Option<String>,
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
    Lines::read(input, |number, line| {
        if json::read::<Recorded>(line).is_ok() {
            return Line::Kept((number, line.to_owned()));
        }
        match json::read::<Other>(line) {
            Ok(Other {
                lost, fired: None, ..
            }) => Line::Lost(lost),
            _ => Line::Broken,
        }
    })
}

impl Record {
    /// Returns the number of events.
    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    /// Returns the events, of which each is read from its line when its turn comes.
    pub(crate) fn events(&self) -> impl Iterator<Item = Recorded> {
        self.kept.iter().filter_map(|(line, text)| {
            // Each line was read once already, so it is valid.
            let recorded = json::read(text).ok()?;
            Some(Recorded {
                line: *line,
                ..recorded
            })
        })
    }
}

impl Recorded {
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
