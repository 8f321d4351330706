//! A trace as a table for a terminal.

use std::io::{self, Write};

use super::traced::{Entry, Kind, Traced};
use crate::cli::terminal::{Style, Terminal, counted};
use crate::printable;

/// The most characters of a column.
const WIDEST: usize = 32;

const HEAD: [&str; 6] = ["ended (UTC)", "took", "outcome", "event", "hook", "why"];

pub(super) fn show(traced: &Traced, terminal: &mut Terminal<'_>) -> io::Result<()> {
    let head = HEAD.map(str::to_owned);
    let rows: Vec<_> = traced.entries.iter().map(row).collect();
    let widths: [usize; 6] = std::array::from_fn(|column| {
        let cells = rows.iter().chain([&head]);
        let widths = cells.map(|row| row[column].chars().count());
        widths.max().unwrap_or_default()
    });
    if !rows.is_empty() {
        let line = terminal.styled(Style::DIM, line(&head, widths));
        writeln!(terminal, "{line}")?;
    }
    for (row, entry) in rows.iter().zip(&traced.entries) {
        let style = match entry.kind {
            Kind::Allow => Style::PLAIN,
            Kind::Block => Style::BAD,
            Kind::Ask | Kind::Failed | Kind::Dropped => Style::WARNING,
            Kind::Skipped => Style::DIM,
        };
        let line = terminal.styled(style, line(row, widths));
        writeln!(terminal, "{line}")?;
    }
    if !rows.is_empty() {
        writeln!(terminal)?;
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
        let of_it = traced.entries.iter().filter(|it| it.kind == kind);
        match of_it.count() {
            0 => {}
            count => words.push(format!("{count} {}", kind.name())),
        }
    }
    for (count, what) in [
        (traced.left_out, "left out before these"),
        (traced.lost, "lost by the host"),
        (traced.broken, "unreadable"),
    ] {
        if count > 0 {
            words.push(format!("{} {what}", counted(count, "line")));
        }
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
    let first_line = |keys: &[&str]| {
        let text = entry.text(keys)?;
        Some(printable(text.lines().next().unwrap_or_default()))
    };
    let took = match entry.kind {
        Kind::Skipped | Kind::Dropped => String::new(),
        _ => format!("{:.1} ms", entry.number("duration") * 1e3),
    };
    // Only what takes long (a start) or should be rare (a replacement, a one-shot run).
    let resident = first_line(&["resident"]).filter(|how| how != "kept");
    let resident = resident.map(|how| format!("resident {}", how.replace('_', "-")));
    let why = [
        first_line(&["failure", "skipped", "dropped"]),
        first_line(&["reason"]),
        resident,
    ];
    let why: Vec<_> = why.into_iter().flatten().collect();
    let is_background = entry.fields.get("background") == Some(&true.into());
    let background = if is_background { " &" } else { "" };
    let text = |keys: &[&str]| entry.text(keys).unwrap_or_default();
    let event = format!("{} {}", text(&["event"]), text(&["tool"]));
    let hook = format!("{}{background}", text(&["hook", "pattern"]));
    [
        clock(entry.number("time")),
        took,
        entry.kind.name().to_owned(),
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
