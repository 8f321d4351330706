//! `trace`: shows a trace of hooks that a host wrote, with one JSON object per line.

mod page;
mod table;
mod traced;

use std::io::{self, BufReader, Write};
use std::path::Path;

use crate::cli::args::Trace;
use crate::cli::error::{Ended, Failure};
use crate::cli::files;
use crate::cli::terminal::Terminal;
use crate::printable;
use traced::{Traced, read_from};

pub(crate) fn run(args: &Trace, terminal: &mut Terminal<'_>) -> Result<Ended, Failure> {
    let (traced, mode) = read(&args.file, terminal)
        .map_err(|error| files::cannot_read(&args.file.to_string_lossy(), error))?;
    if traced.entries.is_empty() && traced.broken > 0 {
        let words = format!("`{}` is not a trace", args.file.display());
        return Err(
            Failure::new(words).with_fix("name a trace: a file with one JSON object per line")
        );
    }
    match &args.html {
        Some(file) if file == Path::new("-") => {
            terminal.write_all(page::render(&traced).as_bytes())?
        }
        Some(file) => {
            // The page has the content of the trace, so the same users may read it.
            files::replace(file, &page::render(&traced), Some(mode)).map_err(|error| {
                Failure::new(format!("cannot write `{}`: {error}", file.display()))
            })?;
            let shown = printable(&file.to_string_lossy());
            writeln!(terminal, "wrote {shown}")?;
        }
        None => table::show(&traced, terminal)?,
    }
    Ok(Ended::Fine)
}

/// Reads the trace, and returns the mode of its file.
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
