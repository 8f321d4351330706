//! `trace`: what a host wrote of its hooks, one JSON object a line, for a person to look at.
//!
//! Reads leniently: a later version may write more, and a program that was killed writes half a line.

mod page;
mod table;

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use forge_hooks::{EventType, printable, printable_lines};
use serde::Serialize;
use serde_json::Value;

use crate::Ended;
use crate::args::Trace;
use crate::error::Failure;
use crate::files;
use crate::terminal::Terminal;

/// The last lines are kept; a browser has enough of so many.
const MOST_ENTRIES: usize = 100_000;
/// So many bytes of lines are kept, whatever their number.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// A longer line is none of a trace's.
const LONGEST_LINE: u64 = 1024 * 1024;

/// A whole trace, as far as it can be read.
#[derive(Debug, Default, Serialize)]
struct Traced {
    entries: VecDeque<Entry>,
    /// So many lines the host could not write.
    lost: u64,
    /// So many lines are no JSON objects with a time.
    broken: u64,
    /// So many lines before those that are kept.
    left_out: u64,
    /// So many bytes are the lines that are kept.
    #[serde(skip)]
    bytes: u64,
}

/// What happened to one hook, in words that can be shown.
#[derive(Debug, Default, PartialEq, Serialize)]
struct Entry {
    /// Of the end, in seconds since 1970.
    time: f64,
    duration: f64,
    queued: f64,
    event: String,
    hook: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host_pid: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The failure, the reason for a skip or a drop.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// How a hook whose process is kept got the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    resident: Option<String>,
    background: bool,
    cut: bool,
    kind: Kind,
    /// The length of its line.
    #[serde(skip)]
    bytes: u64,
}

/// The outcome of a hook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    #[default]
    Allow,
    /// The host was to ask the user.
    Ask,
    Block,
    /// It failed, and blocked nothing.
    Failed,
    Skipped,
    Dropped,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Allow => "allowed",
            Self::Ask => "asked",
            Self::Block => "blocked",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Dropped => "dropped",
        }
    }
}

pub(crate) fn run(args: &Trace, terminal: &mut Terminal) -> Result<Ended, Failure> {
    let (traced, mode) = read(&args.file).map_err(|error| {
        let words = format!(
            "could not read the trace `{}`: {error}",
            args.file.display()
        );
        Failure::new(words)
    })?;
    if traced.entries.is_empty() && traced.broken > 0 {
        let words = format!("`{}` is no trace", args.file.display());
        return Err(Failure::new(words).with_fix("a trace has one JSON object a line"));
    }
    match &args.html {
        Some(file) if file == Path::new("-") => terminal.write_all(page::of(&traced).as_bytes())?,
        Some(file) => {
            // The page says what the trace says: the same users may read it.
            files::replace(file, &page::of(&traced), mode).map_err(|error| {
                Failure::new(format!("could not write `{}`: {error}", file.display()))
            })?;
            let shown = printable(&file.to_string_lossy());
            writeln!(terminal, "wrote {shown}")?;
        }
        None => table::show(&traced, terminal)?,
    }
    Ok(Ended::Fine)
}

/// The trace, and who may read it, as a mode.
fn read(file: &Path) -> io::Result<(Traced, u32)> {
    if file == Path::new("-") {
        return Ok((read_from(io::stdin().lock())?, files::PRIVATE));
    }
    let file = files::open(file)?;
    let mode = files::mode_of(&file)?;
    Ok((read_from(BufReader::new(file))?, mode))
}

fn read_from(mut input: impl BufRead) -> io::Result<Traced> {
    let mut traced = Traced::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut start = (&mut input).take(LONGEST_LINE);
        let length = start.read_until(b'\n', &mut line)?;
        if length == 0 {
            return Ok(traced);
        }
        if length as u64 == LONGEST_LINE && !line.ends_with(b"\n") {
            input.skip_until(b'\n')?;
            traced.broken += 1;
        } else if !line.trim_ascii().is_empty() {
            traced.take(&line);
        }
    }
}

impl Traced {
    fn take(&mut self, line: &[u8]) {
        let value: Value = serde_json::from_slice(line).unwrap_or_default();
        if let Some(lost) = value.get("lost").and_then(Value::as_u64) {
            self.lost = self.lost.saturating_add(lost);
        } else if let Some(mut entry) = Entry::of(&value) {
            entry.bytes = line.len() as u64;
            self.keep(entry);
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

    fn count(&self, kind: Kind) -> usize {
        self.entries.iter().filter(|it| it.kind == kind).count()
    }
}

impl Entry {
    /// None for what has no time: it is nobody's line.
    fn of(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(printable_lines);
        let number = |key: &str| value.get(key).and_then(Value::as_f64);
        let whole = |key: &str| value.get(key).and_then(Value::as_u64);
        let is = |key: &str| value.get(key).and_then(Value::as_bool).unwrap_or_default();
        let seconds = |key: &str| number(key).unwrap_or_default().max(0.0);
        let why = ["failure", "skipped", "dropped"].into_iter().find_map(text);
        Some(Self {
            time: number("time")?,
            duration: seconds("duration"),
            queued: seconds("queued"),
            event: text("event").unwrap_or_default(),
            hook: text("hook").or_else(|| text("pattern")).unwrap_or_default(),
            tool: text("tool"),
            session: text("session"),
            pattern: text("pattern"),
            command: text("command"),
            source: text("source"),
            host_pid: whole("host_pid"),
            pid: whole("pid"),
            exit_code: value.get("exit_code").and_then(Value::as_i64),
            reason: text("reason"),
            why,
            resident: text("resident"),
            background: is("background"),
            cut: is("cut"),
            kind: kind_of(value),
            bytes: 0,
        })
    }
}

/// Whether the event can be blocked, as custom events can.
fn can_block(value: &Value) -> bool {
    let name = value.get("event").and_then(Value::as_str);
    let event = name.and_then(|name| name.parse::<EventType>().ok());
    event.is_none_or(|event| event.can_block())
}

fn decided(value: &Value) -> Option<Kind> {
    match value.get("decision")?.as_str()? {
        "ask" => Some(Kind::Ask),
        "block" if can_block(value) => Some(Kind::Block),
        "block" => Some(Kind::Failed),
        _ => None,
    }
}

fn kind_of(value: &Value) -> Kind {
    let is_said = |key: &str| value.get(key).is_some_and(|it| !it.is_null());
    if is_said("dropped") {
        Kind::Dropped
    } else if is_said("skipped") {
        Kind::Skipped
    } else if let Some(kind) = decided(value) {
        kind
    } else if is_said("failure") {
        Kind::Failed
    } else {
        Kind::Allow
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whatever_stands_in_a_trace_is_read_or_counted() {
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
            .map(|it| (it.hook.as_str(), it.kind))
            .collect();
        assert_eq!(kinds, [("a", Kind::Allow), ("*", Kind::Dropped)]);
        assert_eq!((traced.lost, traced.broken, traced.left_out), (4, 4, 0));
        assert_eq!(traced.entries[1].duration, 0.0);
    }

    #[test]
    fn only_events_that_can_be_blocked_are_blocked() {
        for (event, decision, expected) in [
            ("tool:pre_execute", "block", Kind::Block),
            ("my:event", "block", Kind::Block),
            ("session:start", "block", Kind::Failed),
            ("tool:post_execute", "ask", Kind::Ask),
        ] {
            let line = json!({"event": event, "failure": "timed_out", "decision": decision});
            assert_eq!(kind_of(&line), expected, "{event}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_one_broken_line() {
        let long = "x".repeat(3 * 1024 * 1024);
        let text = format!("{{\"time\":1}}\n{long}\n{{\"time\":2}}\n{long}");
        let traced = read_from(text.as_bytes()).unwrap();
        assert_eq!((traced.entries.len(), traced.broken), (2, 2));
    }

    #[test]
    fn of_long_lines_fewer_are_kept() {
        let line = format!("{{\"time\":1,\"hook\":\"{}\"}}", "x".repeat(1_000_000));
        let mut traced = Traced::default();
        for _ in 0..70 {
            traced.take(line.as_bytes());
        }
        assert!(traced.bytes <= MOST_BYTES);
        assert_eq!((traced.entries.len(), traced.left_out), (67, 3));
    }

    #[test]
    fn of_a_long_trace_the_end_is_kept() {
        let mut traced = Traced::default();
        for time in 0..MOST_ENTRIES + 3 {
            traced.take(format!("{{\"time\":{time}}}").as_bytes());
        }
        assert_eq!((traced.entries.len(), traced.left_out), (MOST_ENTRIES, 3));
        assert_eq!(traced.entries[0].time, 3.0);
    }
}
