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
mod resident;
mod table;
mod targets;

use std::process::ExitCode;
use std::time::Duration;

use table::{Effort, Row, Unit};
use targets::{Bound, counted as numbers};

const RATIO: Row = Row {
    question: "",
    unit: Unit::Ratio,
    target: targets::OVERHEAD,
    counted: None,
    measure: process::overhead,
};

const NANOSECONDS: Row = Row {
    unit: Unit::Nanoseconds,
    ..RATIO
};

const ROWS: [Row; 24] = [
    Row {
        question: "a hook `exit 0` / Command::output()",
        target: targets::OVERHEAD,
        measure: process::overhead,
        ..RATIO
    },
    Row {
        question: "the same in a host with 2 GiB resident",
        target: targets::LARGE_HOST,
        measure: process::overhead_in_a_large_host,
        ..RATIO
    },
    Row {
        question: "hooks per second of 4 workers / of 4 threads",
        target: targets::THROUGHPUT,
        measure: process::throughput,
        ..RATIO
    },
    Row {
        question: "`/bin/true --x` / the same through sh",
        target: targets::DIRECT_EXEC,
        measure: process::direct_exec,
        ..RATIO
    },
    Row {
        question: "an approved hook / the user's, 50 files of 10 MiB covered",
        target: targets::APPROVED,
        measure: |effort| approved::ratio_of(effort, 50, 10 << 20),
        ..RATIO
    },
    Row {
        question: "the same with 1,000 files of 10 MiB",
        target: targets::APPROVED_1000,
        measure: |effort| approved::ratio_of(effort, 1000, 10 << 20),
        ..RATIO
    },
    Row {
        question: "resident Python guard / one-shot, back to back, p50",
        target: targets::RESIDENT,
        measure: |effort| resident::ratio(effort, 50, 300, Duration::ZERO),
        ..RATIO
    },
    Row {
        question: "resident Python guard / one-shot, back to back, p99 / p50",
        target: targets::RESIDENT_P99,
        measure: |effort| resident::ratio(effort, 99, 300, Duration::ZERO),
        ..RATIO
    },
    Row {
        question: "resident Python guard / one-shot, 20 ms of idling, p50",
        target: targets::RESIDENT_IDLE,
        measure: |effort| resident::ratio(effort, 50, 100, Duration::from_millis(20)),
        ..RATIO
    },
    Row {
        question: "resident Python guard / one-shot, 20 ms of idling, p99 / p50",
        target: targets::RESIDENT_IDLE_P99,
        measure: |effort| resident::ratio(effort, 99, 100, Duration::from_millis(20)),
        ..RATIO
    },
    Row {
        question: "instructions of a hook less those of Command::output()",
        unit: Unit::Count,
        target: targets::OWN_INSTRUCTIONS,
        counted: Some(numbers::OWN_INSTRUCTIONS),
        measure: counted::own_instructions,
    },
    Row {
        question: "system calls of a hook",
        unit: Unit::Count,
        target: Bound::AtMost(numbers::SYSTEM_CALLS),
        counted: Some(numbers::SYSTEM_CALLS),
        measure: counted::system_calls,
    },
    Row {
        question: "system calls of an approved hook, 50 files covered",
        unit: Unit::Count,
        target: Bound::AtMost(numbers::SYSTEM_CALLS_APPROVED),
        counted: Some(numbers::SYSTEM_CALLS_APPROVED),
        measure: counted::system_calls_approved,
    },
    Row {
        question: "a lookup of 12 hooks among 100,000 / among 10",
        target: targets::LOOKUPS,
        measure: calls::lookups,
        ..RATIO
    },
    Row {
        question: "an event whose only hook a condition excludes",
        target: targets::EXCLUDED,
        measure: calls::excluded,
        ..NANOSECONDS
    },
    Row {
        question: "an unmatched event, 10 hooks",
        target: targets::UNMATCHED,
        measure: |effort| calls::unmatched(effort, 10),
        ..NANOSECONDS
    },
    Row {
        question: "an unmatched event, 100,000 hooks",
        target: targets::UNMATCHED,
        measure: |effort| calls::unmatched(effort, 100_000),
        ..NANOSECONDS
    },
    Row {
        question: "allocations of an unmatched event, 100,000 hooks",
        unit: Unit::Count,
        target: targets::NO_ALLOCATION,
        counted: Some(numbers::ALLOCATIONS_UNMATCHED),
        measure: |_| calls::allocations_of_unmatched(100_000),
    },
    Row {
        question: "submit, p50",
        target: targets::SUBMIT_P50,
        measure: |effort| calls::submit(effort, 50),
        ..NANOSECONDS
    },
    Row {
        question: "submit, p99",
        target: targets::SUBMIT_P99,
        measure: |effort| calls::submit(effort, 99),
        ..NANOSECONDS
    },
    Row {
        question: "allocations of submit",
        unit: Unit::Count,
        target: Bound::AtMost(numbers::ALLOCATIONS_SUBMIT),
        counted: Some(numbers::ALLOCATIONS_SUBMIT),
        measure: |_| calls::allocations_of_submit(),
    },
    Row {
        question: "1,000 queued events with 10 KiB of arguments",
        unit: Unit::Mebibytes,
        target: targets::MEBIBYTES_OF_1000_EVENTS,
        counted: Some(numbers::MEBIBYTES_OF_1000_EVENTS),
        measure: |_| calls::memory_of_queued_events(),
    },
    Row {
        question: "a look at a handle",
        target: targets::LOOK,
        measure: calls::look,
        ..NANOSECONDS
    },
    Row {
        question: "from cancelling to the end, p99",
        target: targets::CANCEL_P99,
        measure: calls::cancelling,
        ..NANOSECONDS
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    if let [counted::CHILD, way, runs] =
        arguments.iter().map(String::as_str).collect::<Vec<_>>()[..]
    {
        counted::run_child(way, runs);
        return ExitCode::SUCCESS;
    }
    let is_kept = if has("--count") {
        // All rows are printed, so that one run shows each number that must be changed.
        let counts = ROWS.iter().filter_map(Row::count_is_kept);
        counts.fold(true, |all, is_kept| all & is_kept)
    } else if has("--test") || !has("--bench") {
        // `cargo bench` passes `--bench`; a test of the bench does not.
        try_once();
        true
    } else {
        table::print_head();
        let asked = ROWS.iter().filter(|row| is_asked(row, &arguments));
        asked.fold(true, |all, row| all & row.is_kept())
    };
    if is_kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Measures each row briefly, except counted rows, which always take long; `--count` measures
/// those.
fn try_once() {
    for row in ROWS.iter().filter(|row| row.counted.is_none()) {
        if let Err(reason) = (row.measure)(Effort::Once) {
            println!("{}: not measured: {reason}", row.question);
        }
    }
}

/// Whether the row's question contains all arguments.
fn is_asked(row: &Row, arguments: &[String]) -> bool {
    let mut words = arguments.iter().filter(|word| !word.starts_with('-'));
    words.all(|word| row.question.contains(word.as_str()))
}
