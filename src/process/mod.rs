//! Runs one command until it ends or its deadline passes.
//!
//! Knows processes, pipes and time. Does not know what a hook is. docs/gotchas.md describes the problems of child processes,
//! and how this module handles them.
//!
//! The thread that calls [`run`] owns the child. Only this thread signals the child, and only before it
//! has reaped it, so that a signal never reaches another process that has got the same process id.

mod cancel;
mod capture;
mod confinement;
mod environment;
mod start;
#[cfg(unix)]
mod temporary;
#[cfg(unix)]
#[allow(unsafe_code)]
mod unix;
#[cfg(windows)]
#[allow(unsafe_code)]
mod windows;

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) use cancel::Cancel;
pub(crate) use capture::Captured;
pub(crate) use confinement::{Confinement, Place, Reach, Refused};
pub(crate) use environment::{Environment, Inherited, last_value, program_directories};
pub(crate) use start::{StartError, StartErrorKind, directory_problem};
#[cfg(all(test, unix))]
pub(crate) use unix::process_is_gone;
#[cfg(unix)]
pub(crate) use unix::{
    Broken, Exchange, Resident, check_place, program_of, sandbox_support, start_resident,
};
#[cfg(all(unix, feature = "cli"))]
pub(crate) use unix::{lineage, name_of};
#[cfg(windows)]
pub(crate) use windows::{check_place, command_interpreter, sandbox_support};

/// A process by its id and its start time: after its end, another one may have the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lived {
    pub(crate) id: i32,
    pub(crate) start: u64,
}

/// The processes above this one are not known.
#[cfg(all(windows, feature = "cli"))]
pub(crate) fn lineage() -> Option<Vec<Lived>> {
    None
}

#[cfg(all(windows, feature = "cli"))]
pub(crate) fn name_of(_process: Lived) -> Option<String> {
    None
}

/// The time that [`run`] waits for the rest of the output of a process that has ended, if another process still holds the
/// output open. Also the time that it waits for a killed process to be gone.
const LINGER: Duration = Duration::from_millis(250);

/// The largest environment variable that a process can be given, as `NAME=value`, in bytes.
/// Linux: 32 pages, including a NUL (`MAX_ARG_STRLEN`, execve(2)). Windows: 32,767 UTF-16 units,
/// including a NUL (`SetEnvironmentVariable`); the same text in UTF-8 has at least as many bytes.
#[cfg(not(windows))]
pub(crate) const LARGEST_VARIABLE: usize = 131_071;
#[cfg(windows)]
pub(crate) const LARGEST_VARIABLE: usize = 32_766;

/// A command to run, with its input and its limits.
#[derive(Debug)]
pub(crate) struct Spec<'a> {
    pub(crate) program: OsString,
    pub(crate) args: Args,
    /// A path and its arguments, executed instead of `program`, as written and without a search. If the path
    /// cannot be executed, `program` runs. May be empty; not used on Windows.
    #[cfg_attr(windows, allow(dead_code))]
    pub(crate) direct: Vec<&'a str>,
    pub(crate) environment: Environment<'a>,
    pub(crate) working_dir: &'a Path,
    /// The standard input of the process. None: it is at its end from the start.
    pub(crate) stdin: Option<&'a [u8]>,
    /// The limit for the whole run, from before the start to the last byte of output.
    pub(crate) timeout: Duration,
    /// The time between the request to end and the kill. Windows has no such request.
    #[cfg_attr(windows, allow(dead_code))]
    pub(crate) kill_grace: Duration,
    /// The number of bytes that are kept of standard output, and of standard error.
    pub(crate) output_limit: usize,
    pub(crate) cancel: Option<&'a Cancel>,
    /// The access of the process. None: the same access as that of this process.
    pub(crate) confinement: Option<Confinement>,
}

/// The arguments of the program.
#[derive(Debug, Clone)]
pub(crate) enum Args {
    List(Vec<OsString>),
    /// A command line that is passed on unchanged: `cmd` does not parse its command line as other programs do.
    #[cfg(windows)]
    Verbatim(OsString),
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) end: End,
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
    pub(crate) pid: Option<u32>,
    pub(crate) duration: Duration,
    /// The process had ended, but another process still held its output open.
    pub(crate) output_held_open: bool,
}

/// The way in which the process ended.
#[derive(Debug)]
pub(crate) enum End {
    Exited(i32),
    #[cfg_attr(windows, allow(dead_code))]
    Signaled(i32),
    TimedOut(Stop),
    Cancelled,
    /// The process ended, but its exit status was lost: other code in the host has taken it.
    StatusLost,
    NotStarted(StartError),
}

/// The reason why a process was stopped at its deadline, and therefore could not end.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(windows, allow(dead_code))]
pub(crate) enum Stop {
    None,
    /// By the system: it used the terminal in the background.
    AtTerminal,
    /// By another signal.
    By(i32),
    /// By a signal that is not known.
    Unknown,
}

/// Runs a command to its end. Returns within `timeout` + `kill_grace` + 250 ms, regardless of the command's behavior.
pub(crate) fn run(spec: &Spec<'_>) -> Finished {
    let started = Instant::now();
    if spec.cancel.is_some_and(Cancel::is_requested) {
        return Finished::without_process(End::Cancelled, started);
    }
    #[cfg(unix)]
    let finished = unix::run(spec, started);
    #[cfg(windows)]
    let finished = windows::run(spec, started);
    finished.unwrap_or_else(|error| Finished::without_process(End::NotStarted(error), started))
}

impl Finished {
    pub(crate) fn without_process(end: End, started: Instant) -> Self {
        Self {
            end,
            stdout: Captured::default(),
            stderr: Captured::default(),
            pid: None,
            duration: started.elapsed(),
            output_held_open: false,
        }
    }
}
