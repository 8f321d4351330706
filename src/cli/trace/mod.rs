//! `trace`: shows a trace of hooks that a host wrote, as a table or in the Trace Event Format; and the mistakes of the host.

mod check;
mod chrome;
mod lines;
mod recorded;
mod table;
mod traced;

use std::io::{self, BufRead, BufReader};
use std::path::Path;

use crate::cli::args::Trace;
use crate::cli::files;
use crate::cli::{CommandError, Done, Exit, Style, Terminal, counted};
use check::Forgotten;
use lines::Lines;
pub(crate) use recorded::{Record, Recorded};

pub(crate) fn run(args: &Trace, terminal: &mut Terminal<'_>) -> Done {
    if args.check {
        return check(&args.file, terminal);
    }
    let traced = lines(&args.file, terminal, |input| traced::read_from(input))?;
    if args.chrome {
        terminal.json(&chrome::of(&traced))?;
    } else {
        write!(terminal, "{}", table::of(&traced))?;
    }
    Ok(Exit::FINE)
}

/// Reads the lines of a trace.
///
/// # Errors
/// If it cannot be read, or has no line of a trace.
fn lines<T: Default>(
    file: &Path,
    terminal: &mut Terminal<'_>,
    read: impl FnOnce(Box<dyn BufRead + '_>) -> io::Result<Lines<T>>,
) -> Result<Lines<T>, CommandError> {
    let cannot = |error| files::cannot_read(&file.to_string_lossy(), error);
    let lines = opened(file, terminal).and_then(read).map_err(cannot)?;
    if lines.kept.is_empty() && lines.broken > 0 {
        let message = format!("`{}` is not a trace", file.display());
        let fix = "name a trace: a file with one JSON object per line";
        return Err(CommandError::new(message).with_fix(fix));
    }
    Ok(lines)
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
    let record = lines(file, terminal, |input| recorded::read_from(input))?;
    if record.len() == 0 {
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
    let missing = record.missing().join(", ");
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
