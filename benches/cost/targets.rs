//! All figures with their targets; there are no others.
//!
//! A time or a ratio that misses its target is marked, and does not fail. A count has a limit for any machine, and a
//! number, the count at the last change of this file: the bench fails if the limit is exceeded by more than 5 %,
//! `--count` fails if the number is. Lower a number when `--count` says so.

use std::time::Duration;

#[cfg(feature = "cli")]
use crate::program;
use crate::table::{Row, count, counted_ratio, own_count, ratio, time};
use crate::unapproved::Files;
use crate::{approved, calls, commands, counted, process, resident};

const IDLING: Duration = Duration::from_millis(20);
const BACK_TO_BACK: Duration = Duration::ZERO;

/// Times are in nanoseconds, memory in MiB.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        ratio(
            "a hook `exit 0` / Command::output()",
            1.03,
            process::overhead,
        ),
        ratio(
            "the same in a host with 2 GiB resident",
            1.04,
            process::overhead_in_a_large_host,
        ),
        ratio(
            "200 hooks of 4 workers / of 4 threads",
            1.03,
            process::throughput,
        ),
        ratio(
            "`/bin/true --x` / the same through sh",
            0.60,
            process::direct_exec,
        ),
        ratio(
            "an approved hook / the user's, 50 files of 10 MiB covered",
            1.30,
            |effort| approved::ratio_of(effort, 50, 10 << 20),
        ),
        ratio(
            "the same with 100 named files of 1 MiB each",
            1.50,
            |effort| approved::ratio_of_named(effort, 100, 100 << 20),
        ),
        ratio(
            "the same with 50 named files of 10 KiB each",
            1.40,
            |effort| approved::ratio_of_named(effort, 50, 50 * 10 * 1024),
        ),
        ratio("the same with 1,000 files of 10 MiB", 2.6, |effort| {
            approved::ratio_of(effort, 1000, 10 << 20)
        }),
        ratio(
            "resident Python guard / one-shot, back to back, p50",
            0.002,
            |effort| resident::ratio(effort, 50, 300, BACK_TO_BACK),
        ),
        ratio(
            "resident Python guard / one-shot, back to back, p99 / p50",
            0.05,
            |effort| resident::ratio(effort, 99, 300, BACK_TO_BACK),
        ),
        ratio(
            "resident Python guard / one-shot, 20 ms of idling, p50",
            0.006,
            |effort| resident::ratio(effort, 50, 100, IDLING),
        ),
        ratio(
            "resident Python guard / one-shot, 20 ms of idling, p99 / p50",
            0.1,
            |effort| resident::ratio(effort, 99, 100, IDLING),
        ),
        count(
            "instructions of a hook less those of Command::output()",
            43_000.0,
            42_400.0,
            counted::own_instructions,
        ),
        count(
            "instructions of an answer without a process",
            17_500.0,
            16_700.0,
            counted::instructions_of_an_answer,
        ),
        count(
            "the same of an approved hook, 50 scripts beside it",
            18_300.0,
            17_500.0,
            counted::instructions_of_an_approved_answer,
        ),
        count("system calls of a hook", 31.2, 31.2, counted::system_calls),
        count(
            "system calls of an approved hook, 50 files covered",
            289.0,
            289.0,
            counted::system_calls_approved,
        ),
        time(
            "a hook in a sandbox minus the same without, p50",
            300e3,
            process::sandbox,
        ),
        count(
            "system calls of a hook in a sandbox",
            80.0,
            77.0,
            counted::system_calls_confined,
        ),
        ratio(
            "a lookup of 12 hooks among 100,000 / among 10",
            3.0,
            calls::lookups,
        ),
        time("an answer without a process", 2_000.0, calls::answer),
        time(
            "an event whose only hook an expression excludes",
            1_000.0,
            calls::excluded,
        ),
        time(
            "an event whose only hook a glob excludes",
            20_000.0,
            calls::excluded_by_glob,
        ),
        ratio(
            "2,000 expressions on a text of 1 MiB / one",
            1.5,
            calls::expressions,
        ),
        time(
            "twelve guards of what a command runs, p50",
            150e3,
            |effort| commands::twelve_guards(effort, 50),
        ),
        time(
            "twelve guards of what a command runs, p95",
            700e3,
            |effort| commands::twelve_guards(effort, 95),
        ),
        ratio(
            "twelve guards of what a command runs / one",
            7.0,
            commands::guards_beside_one,
        ),
        time("the guards of all packs, p50", 400e3, |effort| {
            commands::all_packs(effort, 50)
        }),
        count(
            "instructions of twelve guards of what a command runs",
            240_000.0,
            175_800.0,
            counted::instructions_of_commands,
        ),
        time("an unmatched event", 60.0, calls::unmatched),
        counted_ratio(
            "instructions of an unmatched event, 100,000 hooks / 10 hooks",
            1.2,
            1.0,
            counted::instructions_of_unmatched,
        ),
        own_count(
            "allocations of an unmatched event, 100,000 hooks",
            0.0,
            0.0,
            |_| calls::allocations_of_unmatched(100_000),
        ),
        counted_ratio(
            "instructions of an event, 1,980 unapproved handlers / none",
            1.10,
            1.05,
            |_| counted::instructions_beside_unapproved(Files::Handlers),
        ),
        counted_ratio(
            "instructions of an event, 1,000 unapproved conditions / none",
            1.05,
            1.0,
            |_| counted::instructions_beside_unapproved(Files::Conditions),
        ),
        time("submit, p50", 1_000.0, |effort| calls::submit(effort, 50)),
        time("submit, p99", 10_000.0, |effort| calls::submit(effort, 99)),
        own_count("allocations of submit", 13.4, 13.4, |_| {
            calls::allocations_of_submit()
        }),
        own_count(
            "MiB of 1,000 queued events with 10 KiB of arguments",
            16.0,
            13.4,
            |_| calls::memory_of_queued_events(),
        ),
        time("a look at a handle", 100.0, calls::look),
        time("Hooks::decides", 4e6, calls::decides),
        time("from cancelling to the end, p99", 50e6, calls::cancelling),
        #[cfg(feature = "cli")]
        ratio(
            "forge-hooks fire --json / the shell of its hook",
            3.0,
            program::fire,
        ),
        #[cfg(feature = "cli")]
        ratio(
            "an unmatched call of forge-hooks / an empty program",
            2.0,
            program::unmatched,
        ),
        #[cfg(feature = "cli")]
        ratio(
            "an unmatched call beside 50 conditions / without them",
            1.1,
            program::unmatched_with_conditions,
        ),
        #[cfg(feature = "cli")]
        count(
            "instructions of forge-hooks fire --json with one hook",
            2_900_000.0,
            2_870_000.0,
            program::instructions_of_fire,
        ),
        #[cfg(feature = "cli")]
        count(
            "instructions of an unmatched call of forge-hooks",
            3_400_000.0,
            3_120_000.0,
            program::instructions_of_unmatched,
        ),
        #[cfg(feature = "cli")]
        count(
            "instructions of an unmatched call beside 50 conditions",
            6_400_000.0,
            5_690_000.0,
            program::instructions_with_conditions,
        ),
        #[cfg(feature = "cli")]
        time(
            "a fire through `serve` minus `execute`, p50",
            200e3,
            program::serve,
        ),
    ]
}
