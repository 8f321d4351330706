//! A trace as it was read: one entry for each readable line.
//!
//! Reads leniently: a later version may write more keys, and a program that was killed may have
//! written an incomplete line.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::json;
use crate::printable_lines;
use crate::trace::FIRED;

/// The most lines that are kept, which are the last ones.
pub(super) const MOST_ENTRIES: usize = 100_000;
/// The most bytes of all lines that are kept.
pub(super) const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// The most bytes of a line. No line of a trace is longer: masks and escapes make the kept data of an event a few times longer.
const LONGEST_LINE: usize = 2 * 1024 * 1024;

/// A trace, as far as it can be read.
#[derive(Debug, Default)]
pub(super) struct Traced {
    pub(super) entries: VecDeque<Entry>,
    /// The number of lines that the host could not write.
    pub(super) lost: u64,
    /// The number of lines that are not JSON objects with a time.
    pub(super) broken: u64,
    /// The number of lines before those that are kept.
    pub(super) left_out: u64,
    /// The number of bytes of the lines that are kept.
    pub(super) bytes: u64,
}

/// The run of one hook: the keys of its line, with printable texts.
#[derive(Debug, Default, Serialize)]
pub(super) struct Entry {
    #[serde(flatten)]
    pub(super) fields: Map<String, Value>,
    pub(super) kind: Kind,
    /// The length of its line in bytes.
    #[serde(skip)]
    bytes: u64,
}

/// The outcome of a hook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    #[default]
    Allow,
    /// The host had to ask its user.
    Ask,
    Block,
    /// The hook failed, and did not block.
    Failed,
    /// The hook would have asked, if it were enforced.
    #[serde(rename = "would_ask")]
    WouldAsk,
    #[serde(rename = "would_block")]
    WouldBlock,
    Dropped,
}

pub(super) fn read_from(input: impl BufRead) -> io::Result<Traced> {
    let mut traced = Traced::default();
    each_line(input, |_, line| match line {
        Some(line) => traced.take(line),
        None => traced.broken += 1,
    })?;
    Ok(traced)
}

/// Passes on each line that is not empty, with its number, counted from 1; none for one that is too long.
pub(super) fn each_line(
    mut input: impl BufRead,
    mut take: impl FnMut(usize, Option<&[u8]>),
) -> io::Result<()> {
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        number += 1;
        let mut start = (&mut input).take(LONGEST_LINE as u64 + 1);
        let length = start.read_until(b'\n', &mut line)?;
        if length == 0 {
            return Ok(());
        }
        if length > LONGEST_LINE && !line.ends_with(b"\n") {
            input.skip_until(b'\n')?;
            take(number, None);
        } else if !line.trim_ascii().is_empty() {
            take(number, Some(&line));
        }
    }
}

impl Traced {
    fn take(&mut self, line: &[u8]) {
        let text = str::from_utf8(line).unwrap_or_default();
        let fields: Map<String, Value> = json::read(text).unwrap_or_default();
        if let Some(lost) = fields.get("lost").and_then(Value::as_u64) {
            self.lost = self.lost.saturating_add(lost);
        } else if fields.contains_key(FIRED) {
            // This is the line of an event, not of a hook.
        } else if fields.get("time").is_some_and(Value::is_number) {
            self.keep(Entry::new(fields, line.len() as u64));
        } else {
            self.broken += 1;
        }
    }

    fn keep(&mut self, entry: Entry) {
        self.bytes += entry.bytes;
        self.entries.push_back(entry);
        while self.entries.len() > MOST_ENTRIES || self.bytes > MOST_BYTES {
            let Some(first) = self.entries.pop_front() else {
                return;
            };
            self.bytes -= first.bytes;
            self.left_out += 1;
        }
    }
}

impl Entry {
    fn new(mut fields: Map<String, Value>, bytes: u64) -> Self {
        let kind = kind_of(&fields);
        fields.retain(|_, value| !value.is_object() && !value.is_array());
        for value in fields.values_mut() {
            if let Value::String(text) = value {
                *text = printable_lines(text);
            }
        }
        Self {
            fields,
            kind,
            bytes,
        }
    }

    /// Returns the first of these keys that has a text.
    pub(super) fn text(&self, keys: &[&str]) -> Option<&str> {
        let mut values = keys.iter().filter_map(|key| self.fields.get(*key));
        values.find_map(Value::as_str)
    }

    /// Returns a number; 0 if there is none.
    pub(super) fn number(&self, key: &str) -> f64 {
        let number = self.fields.get(key).and_then(Value::as_f64);
        number.unwrap_or_default().max(0.0)
    }
}

fn kind_of(fields: &Map<String, Value>) -> Kind {
    let has = |key: &str| fields.get(key).is_some_and(|value| !value.is_null());
    let can_block = fields.get("can_block") != Some(&false.into());
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    match text("decision") {
        _ if has("dropped") => Kind::Dropped,
        _ if text("would") == Some("ask") => Kind::WouldAsk,
        _ if text("would") == Some("block") && can_block => Kind::WouldBlock,
        Some("ask") => Kind::Ask,
        Some("block") if can_block => Kind::Block,
        Some("block") => Kind::Failed,
        _ if has("failure") => Kind::Failed,
        _ => Kind::Allow,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_run_is_read_in_linear_time() {
        crate::growth::assert_reads_in_linear_time("a trace", |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let _ = read_from(text.as_bytes());
        });
    }

    #[test]
    fn every_line_is_read_or_counted() {
        let text = concat!(
            "{\"time\":1.5,\"event\":\"tool:error\",\"hook\":\"a\",\"duration\":0.5,\"decision\":\"allow\",\"new\":[1]}\n",
            "{\"time\":2,\"event\":7,\"pattern\":\"*\",\"dropped\":\"Busy\",\"duration\":-1}\n",
            "\n{\"time\":3,\"lost\":4}\n",
            "no JSON\n[1]\n{\"event\":\"x\"}\n{\"time\":",
        );
        let traced = read_from(text.as_bytes()).unwrap();
        let kinds: Vec<_> = traced
            .entries
            .iter()
            .map(|entry| (entry.text(&["hook", "pattern"]).unwrap(), entry.kind))
            .collect();
        assert_eq!(kinds, [("a", Kind::Allow), ("*", Kind::Dropped)]);
        assert_eq!((traced.lost, traced.broken, traced.left_out), (4, 4, 0));
        assert_eq!(traced.entries[1].number("duration"), 0.0);
    }

    #[test]
    fn only_events_that_can_be_blocked_are_blocked() {
        for (can_block, decision, expected) in [
            (true, "block", Kind::Block),
            (false, "block", Kind::Failed),
            (false, "ask", Kind::Ask),
        ] {
            let line =
                json!({"failure": "timed_out", "decision": decision, "can_block": can_block});
            assert_eq!(kind_of(line.as_object().unwrap()), expected, "{line}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_one_broken_line() {
        let long = "x".repeat(5 * 1024 * 1024);
        let text = format!("{{\"time\":1}}\n{long}\n{{\"time\":2}}\n{long}");
        let traced = read_from(text.as_bytes()).unwrap();
        assert_eq!((traced.entries.len(), traced.broken), (2, 2));
    }

    #[test]
    fn of_long_lines_fewer_are_kept() {
        let mut traced = Traced::default();
        traced.take(br#"{"time":1,"hook":"x"}"#);
        assert_eq!(traced.bytes, 21);
        for _ in 0..70 {
            traced.keep(Entry {
                bytes: 1_000_000,
                ..Entry::default()
            });
        }
        assert!(traced.bytes <= MOST_BYTES);
        assert_eq!((traced.entries.len(), traced.left_out), (67, 4));
    }

    #[test]
    fn of_a_long_trace_the_end_is_kept() {
        let mut traced = Traced::default();
        for time in 0..5 {
            traced.take(format!("{{\"time\":{time}}}").as_bytes());
        }
        for _ in 0..MOST_ENTRIES - 2 {
            traced.keep(Entry::default());
        }
        assert_eq!((traced.entries.len(), traced.left_out), (MOST_ENTRIES, 3));
        assert_eq!(traced.entries[0].number("time"), 3.0);
    }
}
