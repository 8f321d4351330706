//! `trace`: what a host wrote of its hooks, one JSON object a line, for a person to look at.

mod page;
mod table;
mod traced;

use std::io::{self, BufReader, Write};
use std::path::Path;

use crate::cli::args::Trace;
use crate::cli::ended::Ended;
use crate::cli::error::Failure;
use crate::cli::files;
use crate::cli::terminal::Terminal;
use crate::printable;
use traced::{Traced, read_from};

pub(crate) fn run(args: &Trace, terminal: &mut Terminal<'_>) -> Result<Ended, Failure> {
    let (traced, mode) = read(&args.file, terminal).map_err(|error| {
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
fn read(file: &Path, terminal: &mut Terminal<'_>) -> io::Result<(Traced, u32)> {
    if file == Path::new("-") {
        return Ok((
            read_from(BufReader::new(&mut *terminal.input))?,
            files::PRIVATE,
        ));
    }
    let file = files::open(file)?;
    let mode = files::mode_of(&file)?;
    Ok((read_from(BufReader::new(file))?, mode))
}
