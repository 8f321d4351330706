//! Figures that another program counts: user-space instructions (`valgrind --tool=callgrind`) and
//! system calls (`strace`).
//!
//! This program runs itself under these tools, with few and with many hooks: the difference is the cost
//! of the hooks only. Its environment is the same each time, since each process gets a copy of it.
//! Neither tool counts the started processes.

use std::process::{Command, Output};

use forge_hooks::Sandbox;

use crate::approved::{COMMAND, ENTRY_WITH_ANSWER, approved};
use crate::calls::{answering, fire_unmatched};
use crate::commands;
use crate::one_hook::{event, executor, hook, run_bare, run_hook, variables_of_a_hook};
use crate::table::{Effort, Figure, Measured};
use crate::unapproved::{self, Files};

/// The first argument of the program that is counted.
pub(crate) const CHILD: &str = "--child";

/// The number of environment variables of a typical host.
const HOST_VARIABLES: usize = 24;

const FEW: usize = 20;
const MANY: usize = 120;

/// The number of counts, of which the least is used: the number of wakeups depends on the
/// scheduler.
const COUNTS: usize = 3;

/// Runs in the counted process: this many runs in one mode. A mode that is a number is that of other hooks, among which events
/// without a hook are fired; `Files` have their own names.
pub(crate) fn run_child(mode: &str, runs: &str) {
    let runs = runs.parse().expect("a number");
    if let Ok(others) = mode.parse() {
        return fire_unmatched(others, runs * UNMATCHED_IN_A_RUN);
    }
    if let Some(files) = Files::with_argument(mode) {
        return unapproved::fire(files, runs);
    }
    if mode == COMMANDS {
        return commands::select(runs);
    }
    if mode == ANSWER || mode == APPROVED_ANSWER {
        return fire_answer(mode, runs * ANSWERS_IN_A_RUN);
    }
    let (executor, event) = (executor(hook("exit 0")), event());
    let variables = variables_of_a_hook(&event);
    let (approved, _directory) = match mode {
        APPROVED => approved(COMMAND, 50, 50 * 1024),
        _ => (executor.clone(), tempfile::tempdir().expect("a directory")),
    };
    let confined = crate::one_hook::executor(hook("exit 0").with_sandbox(Sandbox::new()));
    for _ in 0..runs {
        match mode {
            CONFINED => run_hook(&confined, &event),
            HOOK => run_hook(&executor, &event),
            APPROVED => run_hook(&approved, &event),
            _ => run_bare(&variables),
        }
    }
}

const HOOK: &str = "hook";
const BARE: &str = "bare";
const APPROVED: &str = "approved";
const CONFINED: &str = "confined";
const ANSWER: &str = "answer";
const APPROVED_ANSWER: &str = "approved-answer";
const COMMANDS: &str = "commands";

/// Fires events at a hook whose answer stands in its entry: the user's own, or approved beside 50 scripts.
fn fire_answer(mode: &str, events: usize) {
    let event = event();
    let (executor, _directory) = match mode {
        APPROVED_ANSWER => approved(ENTRY_WITH_ANSWER, 50, 50 * 1024),
        _ => (
            executor(answering()),
            tempfile::tempdir().expect("a directory"),
        ),
    };
    for _ in 0..events {
        run_hook(&executor, &event);
    }
}

const ANSWERS_IN_A_RUN: usize = 100;

/// The number of unmatched events in a run: so many that what a hash table happens to need for other hooks does not show.
const UNMATCHED_IN_A_RUN: usize = 100;

/// Counts the user-space instructions of a hook beyond those of `Command::output()` with the same
/// variables.
pub(crate) fn own_instructions(_: Effort) -> Measured {
    let hook = per_run(instructions, HOOK)?;
    let bare = per_run(instructions, BARE)?;
    Ok(Figure::exactly(hook - bare))
}

/// Counts once, since no other thread takes part.
pub(crate) fn instructions_of_an_answer(_: Effort) -> Measured {
    let answer = difference(|runs| instructions(ANSWER, runs))?;
    Ok(Figure::exactly(answer / ANSWERS_IN_A_RUN as f64))
}

/// Counts the instructions of an answer of a hook that was approved.
pub(crate) fn instructions_of_an_approved_answer(_: Effort) -> Measured {
    let answer = difference(|runs| instructions(APPROVED_ANSWER, runs))?;
    Ok(Figure::exactly(answer / ANSWERS_IN_A_RUN as f64))
}

/// Counts the instructions of an event with twelve guards of what its command runs, over ordinary commands.
pub(crate) fn instructions_of_commands(_: Effort) -> Measured {
    let event = difference(|runs| instructions(COMMANDS, runs))?;
    Ok(Figure::exactly(event))
}

/// Counts once, since no other thread takes part.
pub(crate) fn instructions_of_unmatched(_: Effort) -> Measured {
    let many = difference(|runs| instructions("100000", runs))?;
    let few = difference(|runs| instructions("10", runs))?;
    Ok(Figure::exactly(many / few))
}

/// Divides the instructions of an event in a project with these unapproved files by those of the same event in a project
/// without files. The cost of a load differs by more than some events, so the least of several counts is used.
pub(crate) fn instructions_beside_unapproved(files: Files) -> Measured {
    let of_event = |files: Files| per_run(instructions, files.argument());
    Ok(Figure::exactly(
        of_event(files)? / of_event(Files::Nothing)?,
    ))
}

pub(crate) fn system_calls(_: Effort) -> Measured {
    per_run(system_calls_of, HOOK).map(Figure::exactly)
}

pub(crate) fn system_calls_approved(_: Effort) -> Measured {
    per_run(system_calls_of, APPROVED).map(Figure::exactly)
}

pub(crate) fn system_calls_confined(_: Effort) -> Measured {
    Sandbox::support().map_err(|error| error.to_string())?;
    per_run(system_calls_of, CONFINED).map(Figure::exactly)
}

fn per_run(count: fn(&str, usize) -> Result<u64, String>, mode: &str) -> Result<f64, String> {
    let least = |runs: usize| -> Result<u64, String> {
        let mut least = count(mode, runs)?;
        for _ in 1..COUNTS {
            least = least.min(count(mode, runs)?);
        }
        Ok(least)
    };
    difference(least)
}

fn difference(count: impl Fn(usize) -> Result<u64, String>) -> Result<f64, String> {
    let (few, many) = (count(FEW)?, count(MANY)?);
    Ok((many as f64 - few as f64) / (MANY - FEW) as f64)
}

/// The setting without fast bins. With them, glibc sometimes joins all free memory, which depends on where it lies and costs
/// more than a hook.
const NO_FAST_BINS: &str = "glibc.malloc.mxfast=0";

/// Runs this program under another program.
fn run_under(tool: &str, options: &[&str], mode: &str, runs: usize) -> Result<Output, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let names = (0..HOST_VARIABLES).map(|number| format!("HOST_VARIABLE_{number}"));
    let output = Command::new(tool)
        .args(options)
        .arg(program)
        .args([CHILD, mode, &runs.to_string()])
        .env_clear()
        .envs(names.map(|name| (name, "/a/value/of/usual/length")))
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("GLIBC_TUNABLES", NO_FAST_BINS)
        .current_dir("/")
        .output();
    let output = output.map_err(|error| format!("{tool}: {error}"))?;
    let (status, stderr) = (output.status, String::from_utf8_lossy(&output.stderr));
    if status.success() {
        Ok(output)
    } else {
        Err(format!("{tool} failed ({status}): {}", stderr.trim()))
    }
}

const CALLGRIND: [&str; 2] = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];

/// Counts the instructions of a command, made from the first arguments of valgrind.
#[cfg(feature = "cli")]
pub(crate) fn instructions_of(command: impl FnOnce(&[&str]) -> Command) -> Result<f64, String> {
    let output = command(&CALLGRIND)
        .env("GLIBC_TUNABLES", NO_FAST_BINS)
        .output();
    let output = output.map_err(|error| format!("valgrind: {error}"))?;
    counted_by_callgrind(&output).map(|count| count as f64)
}

fn instructions(mode: &str, runs: usize) -> Result<u64, String> {
    counted_by_callgrind(&run_under("valgrind", &CALLGRIND, mode, runs)?)
}

fn counted_by_callgrind(output: &Output) -> Result<u64, String> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let mut counts = stderr
        .lines()
        .filter_map(|line| line.split_once("Collected : "));
    counts
        .next()
        .and_then(|(_, count)| count.trim().parse().ok())
        .ok_or_else(|| format!("callgrind printed no count: {stderr}"))
}

/// Counts the system calls: strace prints a line for each, and other lines for signals and the end.
fn system_calls_of(mode: &str, runs: usize) -> Result<u64, String> {
    let file = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    let path = file
        .path()
        .to_str()
        .ok_or("the temporary directory is not UTF-8")?;
    run_under("strace", &["-o", path], mode, runs)?;
    let calls = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let is_call = |line: &&str| line.starts_with(|first: char| first.is_ascii_alphabetic());
    Ok(calls.lines().filter(is_call).count() as u64)
}
