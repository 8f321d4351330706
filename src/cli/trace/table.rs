//! A trace as a table for a terminal.

use std::io::{self, Write};

use super::traced::{Entry, Kind, Traced};
use crate::cli::terminal::{Style, Terminal, counted};
use crate::printable;

/// The most characters of a column.
const WIDEST: usize = 32;

pub(super) fn show(traced: &Traced, terminal: &mut Terminal<'_>) -> io::Result<()> {
    let rows: Vec<[String; 6]> = traced.entries.iter().map(row).collect();
    let head = ["ended (UTC)", "took", "outcome", "event", "hook", "why"].map(str::to_owned);
    let width = |column: usize| {
        let cells = std::iter::once(&head).chain(&rows);
        let widths = cells.map(|row| row[column].chars().count());
        widths.max().unwrap_or_default()
    };
    let widths: [usize; 6] = std::array::from_fn(width);
    if !rows.is_empty() {
        let line = line(&head, widths);
        writeln!(terminal, "{}", terminal.styled(Style::Dim, line))?;
    }
    for (row, entry) in rows.iter().zip(&traced.entries) {
        let line = line(row, widths);
        let style = match entry.kind {
            Kind::Allow => None,
            Kind::Block => Some(Style::Bad),
            Kind::Ask | Kind::Failed | Kind::Dropped => Some(Style::Warning),
            Kind::Skipped => Some(Style::Dim),
        };
        match style {
            Some(style) => writeln!(terminal, "{}", terminal.styled(style, line))?,
            None => writeln!(terminal, "{line}")?,
        }
    }
    sum_up(traced, terminal)
}

fn sum_up(traced: &Traced, terminal: &mut Terminal<'_>) -> io::Result<()> {
    let mut words = vec![counted(traced.entries.len(), "line")];
    for kind in [
        Kind::Block,
        Kind::Ask,
        Kind::Failed,
        Kind::Skipped,
        Kind::Dropped,
    ] {
        match traced.count(kind) {
            0 => {}
            count => words.push(format!("{count} {}", kind.name())),
        }
    }
    let rest = [
        (traced.left_out, "left out before these"),
        (traced.lost, "lost by the host"),
        (traced.broken, "unreadable"),
    ];
    for (count, what) in rest.into_iter().filter(|(count, _)| *count > 0) {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        words.push(format!("{} {what}", counted(count, "line")));
    }
    if !traced.entries.is_empty() {
        writeln!(terminal)?;
    }
    writeln!(terminal, "{}", words.join(", "))
}

fn line(row: &[String; 6], widths: [usize; 6]) -> String {
    let [ended, took, kind, event, hook, why] = row;
    let [a, b, c, d, e, _] = widths;
    let line = format!("{ended:<a$}  {took:>b$}  {kind:<c$}  {event:<d$}  {hook:<e$}  {why}");
    line.trim_end().to_owned()
}

fn row(entry: &Entry) -> [String; 6] {
    let text = |key: &str| entry.text(key).unwrap_or_default();
    let took = match entry.kind {
        Kind::Skipped | Kind::Dropped => String::new(),
        _ => format!("{:.1} ms", entry.number("duration") * 1e3),
    };
    let first_line = |text: &str| printable(text.lines().next().unwrap_or_default());
    let why = ["why", "reason"]
        .into_iter()
        .filter_map(|key| entry.text(key));
    let mut why: Vec<_> = why.map(first_line).collect();
    // Only what takes long (a start) or should be rare (a replacement, a one-shot run).
    let resident = entry.text("resident").filter(|how| *how != "kept");
    why.extend(resident.map(|how| format!("resident {}", first_line(how).replace('_', "-"))));
    let is_background = entry.fields.get("background") == Some(&true.into());
    let background = if is_background { " &" } else { "" };
    let event = format!("{} {}", text("event"), text("tool"));
    [
        clock(entry.number("time")),
        took,
        entry.kind.name().to_owned(),
        narrow(&printable(event.trim_end())),
        narrow(&printable(&format!("{}{background}", text("hook")))),
        why.join(": "),
    ]
}

fn narrow(text: &str) -> String {
    match text.char_indices().nth(WIDEST) {
        Some(_) => text.chars().take(WIDEST - 1).chain(['…']).collect(),
        None => text.to_owned(),
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
