//! A trace as it was read: one entry for each line of a hook.
//!
//! A later version may write more keys.

use std::io::{self, BufRead};

use serde::Serialize;
use serde_json::{Map, Value};

use super::lines::{Line, Lines};
use crate::json;
use crate::printable_lines;
use crate::trace::FIRED;

pub(super) type Traced = Lines<Entry>;

/// The run of one hook: the keys of its line, with printable texts.
#[derive(Debug, Default, Serialize)]
pub(super) struct Entry {
    #[serde(flatten)]
    pub(super) fields: Map<String, Value>,
    pub(super) kind: Kind,
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
    Lines::read(input, |_, line| {
        let fields: Map<String, Value> = json::read(line).unwrap_or_default();
        if let Some(lost) = fields.get("lost").and_then(Value::as_u64) {
            Line::Lost(lost)
        } else if fields.contains_key(FIRED) {
            // This is the line of an event, not of a hook.
            Line::Skipped
        } else if fields.get("time").is_some_and(Value::is_number) {
            Line::Kept(Entry::new(fields))
        } else {
            Line::Broken
        }
    })
}

impl Entry {
    fn new(mut fields: Map<String, Value>) -> Self {
        let kind = kind_of(&fields);
        fields.retain(|_, value| !value.is_object() && !value.is_array());
        for value in fields.values_mut() {
            if let Value::String(text) = value {
                *text = printable_lines(text);
            }
        }
        Self { fields, kind }
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
    use crate::cli::trace::lines::{MOST_BYTES, MOST_KEPT};

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
            .kept
            .iter()
            .map(|entry| (entry.text(&["hook", "pattern"]).unwrap(), entry.kind))
            .collect();
        assert_eq!(kinds, [("a", Kind::Allow), ("*", Kind::Dropped)]);
        assert_eq!((traced.lost, traced.broken, traced.left_out), (4, 4, 0));
        assert_eq!(traced.kept[1].number("duration"), 0.0);
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
        assert_eq!((traced.kept.len(), traced.broken), (2, 2));
    }

    #[test]
    fn of_long_lines_fewer_are_kept() {
        let mut traced = read_from(&b"{\"time\":1}\n"[..]).unwrap();
        assert_eq!(traced.bytes, 11);
        for _ in 0..70 {
            traced.add(Line::Kept(Entry::default()), 1_000_000);
        }
        assert!(traced.bytes <= MOST_BYTES);
        assert_eq!((traced.kept.len(), traced.left_out), (67, 4));
    }

    #[test]
    fn of_a_long_trace_the_end_is_kept() {
        let lines: String = (0..5)
            .map(|time| format!("{{\"time\":{time}}}\n"))
            .collect();
        let mut traced = read_from(lines.as_bytes()).unwrap();
        for _ in 0..MOST_KEPT - 2 {
            traced.add(Line::Kept(Entry::default()), 0);
        }
        assert_eq!((traced.kept.len(), traced.left_out), (MOST_KEPT, 3));
        assert_eq!(traced.kept[0].number("time"), 3.0);
    }
}
