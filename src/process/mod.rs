//! One command, from its start to its end or its deadline, whichever comes first.
//!
//! Knows processes, pipes and time; does not know what a hook is. What goes wrong with child
//! processes, and what is done about it here, is told in docs/gotchas.md.
//!
//! [`run`] is called by the thread that then owns the child: it alone signals it, and only before
//! it has reaped it, so that no signal ever reaches another process of the same number.

mod cancel;
mod capture;
mod environment;
mod start;
#[cfg(unix)]
#[allow(unsafe_code)]
mod unix;
#[cfg(windows)]
#[allow(unsafe_code)]
mod windows;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub(crate) use cancel::Cancel;
pub(crate) use capture::Captured;
pub(crate) use environment::{Environment, Inherited};
pub(crate) use start::{StartError, StartErrorKind};
#[cfg(unix)]
pub(crate) use unix::{
    Broken, Exchange, Keeper, Resident, process_is_gone, program_of, start_resident,
};
#[cfg(windows)]
pub(crate) use windows::{command_interpreter, process_is_gone};

/// How long the output of a process that has ended is waited for, where another process still
/// holds it open; and how long a killed process may take to be gone.
const LINGER: Duration = Duration::from_millis(250);

/// The largest environment variable that can be handed to a process, as `NAME=value`, in bytes.
/// Linux: 32 pages, with a NUL (`MAX_ARG_STRLEN`, execve(2)). Windows: 32,767 UTF-16 units with a
/// NUL (`SetEnvironmentVariable`); bytes of UTF-8 are never fewer.
#[cfg(not(windows))]
pub(crate) const LARGEST_VARIABLE: usize = 131_071;
#[cfg(windows)]
pub(crate) const LARGEST_VARIABLE: usize = 32_766;

/// What to run.
#[derive(Debug)]
pub(crate) struct Spec<'a> {
    pub(crate) program: OsString,
    pub(crate) args: Args,
    /// A path and arguments that are tried in place of `program`, without a search and as they are
    /// written; where the path cannot be executed, `program` runs. May be empty; not used on Windows.
    #[cfg_attr(windows, allow(dead_code))]
    pub(crate) direct: Vec<&'a str>,
    pub(crate) environment: Environment<'a>,
    pub(crate) working_dir: PathBuf,
    /// What the process reads; None for an input that has ended from the start.
    pub(crate) stdin: Option<&'a [u8]>,
    /// For the whole run, from before the start to the last byte of output.
    pub(crate) timeout: Duration,
    /// Between the request to end and the end by force; there is no such request on Windows.
    #[cfg_attr(windows, allow(dead_code))]
    pub(crate) kill_grace: Duration,
    /// Bytes of standard output, and of standard error, that are kept.
    pub(crate) output_limit: usize,
    pub(crate) cancel: Option<&'a Cancel>,
}

/// The arguments behind the program.
#[derive(Debug, Clone)]
pub(crate) enum Args {
    List(Vec<OsString>),
    /// Handed over as it is: `cmd` does not parse its command line as other programs do.
    #[cfg(windows)]
    Verbatim(OsString),
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) end: End,
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
    pub(crate) pid: Option<u32>,
    pub(crate) duration: Duration,
    /// The process had ended, and another one still held its output open.
    pub(crate) output_held_open: bool,
}

/// How it ended.
#[derive(Debug)]
pub(crate) enum End {
    Exited(i32),
    #[cfg_attr(windows, allow(dead_code))]
    Signaled(i32),
    /// Whether it was stopped, and so could not have ended.
    TimedOut {
        stopped: bool,
    },
    Cancelled,
    /// It ended, and somebody else has its exit status.
    StatusLost,
    NotStarted(StartError),
}

/// Runs a command to its end. Returns within `timeout` + `kill_grace` + 250 ms, whatever the
/// command does.
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
