//! `trace`: shows a trace of hooks that a host wrote, with one JSON object per line.

mod page;
mod table;
mod traced;

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;

use crate::cli::args::Trace;
use crate::cli::error::{Ended, Failure};
use crate::cli::files;
use crate::cli::terminal::Terminal;
use crate::printable;
use traced::{Traced, read_from};

pub(crate) fn run(args: &Trace, terminal: &mut Terminal<'_>) -> Result<Ended, Failure> {
    let cannot = |error| files::cannot_read(&args.file.to_string_lossy(), error);
    let (traced, file) = read(&args.file, terminal).map_err(cannot)?;
    if traced.entries.is_empty() && traced.broken > 0 {
        let words = format!("`{}` is not a trace", args.file.display());
        let fix = "name a trace: a file with one JSON object per line";
        return Err(Failure::new(words).with_fix(fix));
    }
    let Some(out) = &args.html else {
        table::show(&traced, terminal)?;
        return Ok(Ended::Fine);
    };
    let page = page::render(&traced);
    if out == Path::new("-") {
        terminal.write_all(page.as_bytes())?;
        return Ok(Ended::Fine);
    }
    let real = |path: &Path| path.canonicalize().ok();
    if real(out).is_some_and(|out| real(&args.file) == Some(out)) {
        let words = format!("`--html {}` is the trace itself", out.display());
        return Err(Failure::new(words).with_fix("name another file for the page"));
    }
    // The page has the content of the trace, so the same users may read it.
    files::replace_like(out, &page, file.as_ref())
        .map_err(|error| Failure::new(format!("cannot write `{}`: {error}", out.display())))?;
    writeln!(terminal, "wrote {}", printable(&out.to_string_lossy()))?;
    Ok(Ended::Fine)
}

/// Reads the trace, and returns its file.
fn read(file: &Path, terminal: &mut Terminal<'_>) -> io::Result<(Traced, Option<File>)> {
    if file == Path::new("-") {
        return Ok((read_from(BufReader::new(&mut *terminal.input))?, None));
    }
    let file = files::open(file)?;
    Ok((read_from(BufReader::new(&file))?, Some(file)))
}
