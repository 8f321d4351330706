//! Measures the cost of a hook beyond its process, and of an event beyond its hooks.
//!
//! Prints a table of figures with their targets (`targets.rs`), and fails if a count exceeds its limit by more than
//! 5 %. The two things of a comparison run in turns, so that other load on the machine affects both.
//!
//! ```text
//! cargo bench --bench cost               # the table
//! cargo bench --bench cost -- submit     # its rows that have this in their question
//! cargo bench --bench cost -- --count    # what is counted and not timed, against its number in the repository
//!                                        # (of rows with the words of the question, if there are any)
//! ```
//!
//! With `--test` each row is measured briefly, without a comparison with its target.
//! docs/performance.md has the table of one machine.

mod approved;
mod calls;
mod commands;
mod counted;
mod ending;
mod memory;
mod one_hook;
mod process;
#[cfg(feature = "cli")]
mod program;
mod resident;
mod table;
mod targets;
mod unapproved;

use std::process::ExitCode;

use ending::Ending;
use table::Row;

fn main() -> ExitCode {
    #[cfg(feature = "cli")]
    if std::env::args_os().nth(1).as_deref() == Some(program::EMPTY.as_ref()) {
        program::do_nothing();
        return ExitCode::SUCCESS;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    if let [counted::CHILD, mode, runs] =
        arguments.iter().map(String::as_str).collect::<Vec<_>>()[..]
    {
        counted::run_child(mode, runs);
        return ExitCode::SUCCESS;
    }
    let rows = targets::rows();
    // `cargo bench` passes `--bench`; a test of the bench does not.
    if has("--test") || !has("--bench") {
        rows.iter().for_each(Row::try_once);
        return ExitCode::SUCCESS;
    }
    let texts: Vec<_> = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let asked = rows.iter().filter(|row| row.is_asked(&texts));
    let mut ending = Ending::default();
    // All rows are printed, so that one run shows each number that must be changed.
    if has("--count") {
        table::print_counts(asked, &mut ending);
    } else {
        table::print_head();
        asked.for_each(|row| row.print(&mut ending));
    }
    ending.exit_code()
}
