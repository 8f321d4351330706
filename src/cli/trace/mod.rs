//! `trace`: shows a trace of hooks that a host wrote: as a table, or as a page, which is one file that loads nothing
//! else, and runs no code from the trace.

mod table;
mod traced;

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use crate::cli::args::Trace;
use crate::cli::files;
use crate::cli::{Done, Exit, Failure, Terminal};
use crate::printable::printable_json;
use traced::{Traced, read_from};

pub(crate) fn run(args: &Trace, terminal: &mut Terminal<'_>) -> Done {
    let cannot = |error| files::cannot_read(&args.file.to_string_lossy(), error);
    let (traced, file) = read(&args.file, terminal).map_err(cannot)?;
    if traced.entries.is_empty() && traced.broken > 0 {
        let words = format!("`{}` is not a trace", args.file.display());
        let fix = "name a trace: a file with one JSON object per line";
        return Err(Failure::new(words).with_fix(fix));
    }
    let Some(out) = &args.html else {
        write!(terminal, "{}", table::of(&traced))?;
        return Ok(Exit::FINE);
    };
    let text = page(&traced);
    if out == Path::new("-") {
        terminal.write_all(text.as_bytes())?;
        return Ok(Exit::FINE);
    }
    let real = |path: &Path| path.canonicalize().ok();
    if real(out).is_some_and(|out| real(&args.file) == Some(out)) {
        let words = format!("`--html {}` is the trace itself", out.display());
        return Err(Failure::new(words).with_fix("name another file for the page"));
    }
    // The page has the content of the trace, so the same users may read it.
    files::replace_like(out, &text, file.as_ref())
        .map_err(|error| Failure::new(format!("cannot write `{}`: {error}", out.display())))?;
    terminal.end(Exit::FINE, format_args!("wrote {}", files::named(out)))
}

/// Reads the trace, and returns its file.
fn read(file: &Path, terminal: &mut Terminal<'_>) -> io::Result<(Traced, Option<File>)> {
    if file == Path::new("-") {
        return Ok((read_from(BufReader::new(&mut terminal.input))?, None));
    }
    let file = files::open(file)?;
    Ok((read_from(BufReader::new(&file))?, Some(file)))
}

/// The page, with a placeholder for the trace.
const PAGE: &str = include_str!("page.html");
const PLACE: &str = "{\"entries\":[]}";

fn page(traced: &Traced) -> String {
    // Numbers and strings can always be written as JSON.
    let json = serde_json::to_string(traced).unwrap_or_else(|_| PLACE.to_owned());
    // It cannot end its HTML element or begin another: such characters occur only in its strings.
    let json = printable_json(&json)
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026");
    PAGE.replacen(PLACE, &json, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_nothing() {
        assert_eq!(PAGE.matches(PLACE).count(), 1);
        for form in "http: https: src= @import url( innerHTML eval(".split(' ') {
            assert!(!PAGE.contains(form), "{form}");
        }
        assert!(PAGE.contains("default-src 'none'"));
    }
}
