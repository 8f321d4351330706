//! A trace as a table for a terminal.

use super::traced::{Entry, Kind, Traced};
use crate::cli::{Style, counted};
use crate::printable;

/// The most characters of a column.
const WIDEST: usize = 32;

const HEAD: [&str; 6] = ["ended (UTC)", "took", "outcome", "event", "hook", "why"];

pub(super) fn of(traced: &Traced) -> String {
    let head = (Style::DIM, HEAD.map(str::to_owned));
    let rows = traced
        .kept
        .iter()
        .map(|entry| (name_and_style(entry.kind).1, row(entry)));
    let rows: Vec<_> = [head].into_iter().chain(rows).collect();
    let widths: [usize; 6] = std::array::from_fn(|column| {
        let widths = rows.iter().map(|(_, row)| row[column].chars().count());
        widths.max().unwrap_or_default()
    });
    let mut table = String::new();
    if !traced.kept.is_empty() {
        for (style, row) in &rows {
            table += &format!("{}\n", style.paint(line(row, widths)));
        }
        table += "\n";
    }
    table += &sum(traced);
    if traced.kept.is_empty() {
        table += ": no hook has run; `replay` and `trace --check` read recorded events";
    }
    table + "\n"
}

fn name_and_style(kind: Kind) -> (&'static str, Style) {
    match kind {
        Kind::Allow => ("allowed", Style::PLAIN),
        Kind::Ask => ("asked", Style::WARNING),
        Kind::Block => ("blocked", Style::BAD),
        Kind::Failed => ("failed", Style::WARNING),
        Kind::WouldAsk => ("would ask", Style::WARNING),
        Kind::WouldBlock => ("would block", Style::WARNING),
        Kind::Dropped => ("dropped", Style::WARNING),
    }
}

/// Counts the lines, and those of each kind that is listed.
fn sum(traced: &Traced) -> String {
    let mut parts = vec![counted(traced.kept.len(), "line")];
    for kind in [
        Kind::Block,
        Kind::Ask,
        Kind::Failed,
        Kind::WouldBlock,
        Kind::WouldAsk,
        Kind::Dropped,
    ] {
        let count = traced
            .kept
            .iter()
            .filter(|entry| entry.kind == kind)
            .count();
        parts.extend((count > 0).then(|| format!("{count} {}", name_and_style(kind).0)));
    }
    parts.extend(traced.missing());
    parts.join(", ")
}

fn line(row: &[String; 6], widths: [usize; 6]) -> String {
    let [ended, took, kind, event, hook, why] = row;
    let [a, b, c, d, e, _] = widths;
    let line = format!("{ended:<a$}  {took:>b$}  {kind:<c$}  {event:<d$}  {hook:<e$}  {why}");
    line.trim_end().to_owned()
}

fn row(entry: &Entry) -> [String; 6] {
    let text = |keys: &[&str]| entry.text(keys).unwrap_or_default();
    let first_line = |keys: &[&str]| printable(text(keys).lines().next().unwrap_or_default());
    let took = match entry.kind {
        Kind::Dropped => String::new(),
        _ => format!("{:.1} ms", entry.number("duration") * 1e3),
    };
    // The table shows only those that take long (a start) or should be rare (a replacement, a one-shot run).
    let resident = match &*first_line(&["resident"]) {
        "" | "kept" => String::new(),
        how => format!("resident {}", how.replace('_', "-")),
    };
    let failure = first_line(&["failure", "dropped"]);
    let mut why = vec![failure, first_line(&["reason"]), resident];
    why.retain(|part| !part.is_empty());
    let is_background = entry.fields.get("background") == Some(&true.into());
    let background = if is_background { " &" } else { "" };
    let event = format!("{} {}", text(&["event"]), text(&["tool"]));
    let hook = format!("{}{background}", text(&["hook", "pattern"]));
    [
        clock(entry.number("time")),
        took,
        name_and_style(entry.kind).0.to_owned(),
        narrow(event.trim_end()),
        narrow(&hook),
        why.join(": "),
    ]
}

/// Cuts a text to the widest column.
fn narrow(text: &str) -> String {
    let text = printable(text);
    match text.char_indices().nth(WIDEST) {
        Some(_) => text.chars().take(WIDEST - 1).chain(['…']).collect(),
        None => text,
    }
}

/// Formats seconds since 1970 as time of day, in UTC.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn clock(time: f64) -> String {
    let millis = (time * 1e3) as u64;
    let (seconds, millis) = (millis / 1000, millis % 1000);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{hour:02}:{minute:02}:{second:02}.{millis:03}")
}
