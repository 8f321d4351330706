//! Measures the cost of a hook beyond its process, and of an event beyond its hooks.
//!
//! Prints a table of figures with their targets (`targets.rs`), and fails if one is missed by more
//! than 5 %. The two things of a comparison run in turns, so that other load on the machine affects
//! both.
//!
//! ```text
//! cargo bench --bench cost               # the table
//! cargo bench --bench cost -- submit     # its rows that have this in their question
//! cargo bench --bench cost -- --count    # what is counted and not timed, against its number in the repository
//! ```
//!
//! With `--test` each row is measured briefly, without a comparison with its target.
//! docs/performance.md has the table of one machine.

mod approved;
mod calls;
mod counted;
mod memory;
mod one_hook;
mod process;
#[cfg(feature = "cli")]
mod program;
mod resident;
mod table;
mod targets;

use std::process::ExitCode;

use table::Row;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    if let [counted::CHILD, way, runs] =
        arguments.iter().map(String::as_str).collect::<Vec<_>>()[..]
    {
        counted::run_child(way, runs);
        return ExitCode::SUCCESS;
    }
    let rows = targets::rows();
    let is_kept = if has("--count") {
        // All rows are printed, so that one run shows each number that must be changed.
        let counts = rows.iter().filter_map(Row::count_is_kept);
        counts.fold(true, |all, is_kept| all & is_kept)
    } else if has("--test") || !has("--bench") {
        // `cargo bench` passes `--bench`; a test of the bench does not.
        rows.iter().for_each(Row::try_once);
        true
    } else {
        table::print_head();
        let words = arguments.iter().filter(|word| !word.starts_with('-'));
        let words: Vec<_> = words.collect();
        let asked = rows.iter().filter(|row| row.is_asked(&words));
        asked.fold(true, |all, row| all & row.is_kept())
    };
    match is_kept {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
