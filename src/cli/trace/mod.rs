//! `trace`: shows a trace of hooks that a host wrote, as a table or in the Trace Event Format; and the mistakes of the host.

mod check;
mod chrome;
mod recorded;
mod table;
mod traced;

use std::io::{self, BufRead, BufReader};
use std::path::Path;

use crate::cli::args::Trace;
use crate::cli::files;
use crate::cli::{CommandError, Done, Exit, Style, Terminal, counted};
use check::Forgotten;
pub(crate) use recorded::{Record, Recorded};
use traced::{Traced, read_from};

pub(crate) fn run(args: &Trace, terminal: &mut Terminal<'_>) -> Done {
    if args.check {
        return check(&args.file, terminal);
    }
    let cannot = |error| files::cannot_read(&args.file.to_string_lossy(), error);
    let traced = read(&args.file, terminal).map_err(cannot)?;
    if traced.entries.is_empty() && traced.broken > 0 {
        let message = format!("`{}` is not a trace", args.file.display());
        let fix = "name a trace: a file with one JSON object per line";
        return Err(CommandError::new(message).with_fix(fix));
    }
    if args.chrome {
        terminal.json(&chrome::of(&traced))?;
    } else {
        write!(terminal, "{}", table::of(&traced))?;
    }
    Ok(Exit::FINE)
}

fn read(file: &Path, terminal: &mut Terminal<'_>) -> io::Result<Traced> {
    read_from(opened(file, terminal)?)
}

/// Opens a trace; `-` is standard input.
fn opened<'t>(file: &Path, terminal: &'t mut Terminal<'_>) -> io::Result<Box<dyn BufRead + 't>> {
    if file == Path::new("-") {
        return Ok(Box::new(BufReader::new(&mut terminal.input)));
    }
    Ok(Box::new(BufReader::new(files::open(file)?)))
}

/// Reads the events of a trace.
///
/// # Errors
/// If it cannot be read, or has no events.
pub(crate) fn read_events(
    file: &Path,
    terminal: &mut Terminal<'_>,
) -> Result<Record, CommandError> {
    let cannot = |error| files::cannot_read(&file.to_string_lossy(), error);
    let record = opened(file, terminal).and_then(recorded::read_from);
    let record = record.map_err(cannot)?;
    if record.is_empty() && record.broken > 0 {
        let message = format!("`{}` is not a trace", file.display());
        let fix = "name a trace: a file with one JSON object per line";
        return Err(CommandError::new(message).with_fix(fix));
    }
    if record.is_empty() {
        let message = format!("found no events in `{}`", file.display());
        let fix = "record them: with `--trace-events FILE` of `fire`, `serve` and `install`, or as a host with `Trace::events`";
        return Err(CommandError::new(message).with_fix(fix));
    }
    Ok(record)
}

fn check(file: &Path, terminal: &mut Terminal<'_>) -> Done {
    let record = read_events(file, terminal)?;
    let forgotten = check::forgotten(&record);
    for Forgotten { line, what, fix } in &forgotten {
        writeln!(terminal, "line {line}: {}", Style::BAD.of(what))?;
        writeln!(terminal, "    fix: {fix}")?;
    }
    let missing = missing(&record);
    if !missing.is_empty() && !forgotten.is_empty() {
        writeln!(
            terminal,
            "{missing}: what was recorded there may be what is missing"
        )?;
    }
    let result = match forgotten.len() {
        0 => Style::GOOD.paint("nothing was forgotten"),
        forgotten => Style::BAD.paint(format!("{forgotten} forgotten")),
    };
    let line = format!("{}: {result}", counted(record.len(), "event"));
    terminal.end(Exit::fine_if(forgotten.is_empty()), line)
}

/// Counts the lines of a record that are missing.
pub(crate) fn missing(record: &Record) -> String {
    let counts = [
        (record.left_out, "left out before these"),
        (record.lost, "lost by the host"),
        (record.broken, "unreadable"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<_> = counts
        .map(|(count, what)| format!("{} {what}", counted(count, "line")))
        .collect();
    parts.join(", ")
}
