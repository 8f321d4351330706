//! The end of a process, as it concerns a hook, and its output as text.
//!
//! Knows nothing of answers.

use std::string::FromUtf8Error;
use std::sync::Arc;
use std::time::Duration;

use crate::entry::{Failure, FailureKind};
use crate::hook::Hook;
use crate::outcome::{End, HookResult, Residency, Trail, error_line, exit_failure};
use crate::process::{self, Captured, Finished, StartErrorKind, Stop};

/// The end of a run.
pub(super) struct Ran {
    pub(super) finished: Finished,
    /// A failure that the end of the process does not show.
    pub(super) failure: Option<Failure>,
    /// The way in which the event reached the process of a resident hook.
    pub(super) residency: Option<Residency>,
}

impl Ran {
    pub(super) fn new(finished: Finished) -> Self {
        Self {
            finished,
            failure: None,
            residency: None,
        }
    }
}

/// Returns the end of the hook, and the failure if there is one.
fn end_and_failure(end: &process::End, timeout: Duration) -> (End, Option<Failure>) {
    use FailureKind as Kind;
    let (end, kind, error) = match end {
        process::End::Exited(code) => return (End::Exited(*code), exit_failure(*code)),
        process::End::Signaled(signal) => {
            let error = format!("ended by {}", named_signal(*signal));
            (End::Signaled(*signal), Kind::Signal, error)
        }
        process::End::TimedOut(stop) => {
            let error = format!("timed out after {timeout:?}{}", stopped(*stop));
            (End::Otherwise, Kind::TimedOut, error)
        }
        process::End::Cancelled => {
            let error = "cancelled while it ran".to_owned();
            (End::Otherwise, Kind::Cancelled, error)
        }
        process::End::StatusLost => {
            let error =
                "exit status lost: the host reaps its children elsewhere, or ignores SIGCHLD";
            (End::Otherwise, Kind::StatusLost, error.to_owned())
        }
        process::End::NotStarted(start) => {
            let kind = match start.kind {
                StartErrorKind::NotFound => Kind::NotFound,
                StartErrorKind::NotExecutable => Kind::NotExecutable,
                StartErrorKind::NoWorkingDir => Kind::NoWorkingDir,
                StartErrorKind::NoSandbox => Kind::NoSandbox,
                StartErrorKind::Other => Kind::NotStarted,
            };
            (End::Otherwise, kind, start.message.clone())
        }
    };
    (end, Some(Failure::new(kind, error)))
}

/// Returns the result of a hook whose process ended in this way, before its answer is read.
pub(super) fn result_of(hook: &Arc<Hook>, ran: Ran, timeout: Duration) -> HookResult {
    let finished = ran.finished;
    let truncated = finished.stdout.omitted() > 0 || finished.stderr.omitted() > 0;
    let (stdout, raw_stdout) = text(finished.stdout);
    let (stderr, raw_stderr) = text(finished.stderr);
    let (end, failure) = end_and_failure(&finished.end, timeout);
    let mut failure = ran.failure.or(failure);
    if let Some(failure) = &mut failure
        && let process::End::Signaled(SIGSYS) | process::End::Exited(SIGSYS_IN_SHELL) = finished.end
        && hook.sandboxes().next().is_some()
    {
        failure.message += ENDED_BY_FILTER;
    }
    let result = HookResult::of(Arc::clone(hook), end, failure);
    let mut result = result.with_outputs(stdout, stderr, finished.duration);
    result.trail = Trail {
        pid: finished.pid,
        residency: ran.residency,
        truncated,
        output_held_open: finished.output_held_open,
        raw_stdout,
        raw_stderr,
        ..Trail::default()
    };
    result
}

/// Signals whose numbers are the same on all Unix systems.
const SIGNALS: [(i32, &str); 12] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
];

/// Further signals, on Linux.
const SIGNALS_OF_LINUX: &[(i32, &str)] = if cfg!(all(
    target_os = "linux",
    not(any(
        target_arch = "mips",
        target_arch = "mips64",
        target_arch = "sparc64"
    ))
)) {
    &[
        (7, "SIGBUS"),
        (19, "SIGSTOP"),
        (20, "SIGTSTP"),
        (24, "SIGXCPU"),
        (25, "SIGXFSZ"),
        (31, "SIGSYS"),
    ]
} else {
    &[]
};

fn named_signal(number: i32) -> String {
    let mut known = SIGNALS.iter().chain(SIGNALS_OF_LINUX);
    match known.find(|(known, _)| *known == number) {
        Some((_, name)) => format!("signal {number} ({name})"),
        None => format!("signal {number}"),
    }
}

/// Describes the end of a resident hook that has not answered, with the error that it wrote to standard error.
pub(super) fn without_answer(end: &process::End, stderr: &Captured) -> Failure {
    let mut message = "it ended without an answer".to_owned();
    match end {
        process::End::Exited(code) => message += &format!(" (exit code {code})"),
        process::End::Signaled(signal) => message += &format!(", by {}", named_signal(*signal)),
        _ => {}
    }
    let stderr = String::from_utf8_lossy(&stderr.bytes()).into_owned();
    if let Some(line) = error_line(&stderr) {
        message += &format!(": {line}");
    }
    Failure::new(FailureKind::NoAnswer, message)
}

/// Says what stopped a process until its deadline. Most used the terminal: `ssh` or `sudo` asks for a password.
fn stopped(stop: Stop) -> String {
    let at_terminal =
        ", stopped by a signal: it tried to use the terminal, which a hook does not have";
    match stop {
        Stop::None => String::new(),
        Stop::AtTerminal => at_terminal.to_owned(),
        Stop::By(signal) => format!(", stopped by {}", named_signal(signal)),
        Stop::Unknown => ", and one of its processes was stopped by a signal".to_owned(),
    }
}

/// The signal that a sandbox's filter of system calls sends, and the exit code of a shell whose program it has ended.
const SIGSYS: i32 = 31;
const SIGSYS_IN_SHELL: i32 = 128 + SIGSYS;
const ENDED_BY_FILTER: &str = ": in a sandbox, a program that makes system calls of another architecture, as one for 32 bits does, is ended";

/// Returns output as text, without byte order marks at its beginning, and also as bytes if the text does not represent
/// all of them.
fn text(captured: Captured) -> (String, Option<Vec<u8>>) {
    let omitted = captured.omitted();
    if omitted > 0 {
        let (head, tail) = captured.into_parts();
        let note = format!("\n[... {omitted} bytes left out ...]\n");
        let text = lossy(&[&head[..], note.as_bytes(), &tail].concat());
        return (text, Some([head, tail].concat()));
    }
    match String::from_utf8(captured.into_bytes()) {
        Ok(text) if !text.starts_with('\u{FEFF}') => (text, None),
        other => {
            let bytes = other.map_or_else(FromUtf8Error::into_bytes, String::into_bytes);
            (lossy(&bytes), Some(bytes))
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.trim_start_matches('\u{FEFF}').to_owned()
}
