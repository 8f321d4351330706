//! `trace`: shows a trace of hooks that a host wrote: as a table, or in the Trace Event Format.

mod chrome;
mod table;
mod traced;

use std::io::{self, BufReader};
use std::path::Path;

use crate::cli::args::Trace;
use crate::cli::files;
use crate::cli::{Done, Exit, Failure, Terminal};
use traced::{Traced, read_from};

pub(crate) fn run(args: &Trace, terminal: &mut Terminal<'_>) -> Done {
    let cannot = |error| files::cannot_read(&args.file.to_string_lossy(), error);
    let traced = read(&args.file, terminal).map_err(cannot)?;
    if traced.entries.is_empty() && traced.broken > 0 {
        let words = format!("`{}` is not a trace", args.file.display());
        let fix = "name a trace: a file with one JSON object per line";
        return Err(Failure::new(words).with_fix(fix));
    }
    if args.chrome {
        terminal.json(&chrome::of(&traced))?;
    } else {
        write!(terminal, "{}", table::of(&traced))?;
    }
    Ok(Exit::FINE)
}

fn read(file: &Path, terminal: &mut Terminal<'_>) -> io::Result<Traced> {
    if file == Path::new("-") {
        return read_from(BufReader::new(&mut terminal.input));
    }
    read_from(BufReader::new(files::open(file)?))
}
