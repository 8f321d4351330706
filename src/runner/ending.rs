//! The end of a process, as it concerns a hook, and its output as text.
//!
//! Knows nothing of answers.

use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;
use std::sync::Arc;
use std::time::Duration;

use super::shell_error::not_started;
use crate::entry::{Failure, FailureKind, HookCommand};
use crate::hook::Hook;
use crate::outcome::{End, HookResult, Residency, Trail, error_line, exit_failure};
use crate::process::{self, Captured, Finished, Spec, StartErrorKind, Stop};

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

    /// Adds the reason why the interpreter of a script was not found, which a shell reports as a missing file.
    pub(super) fn explained(mut self, spec: &Spec<'_>, command: &HookCommand) -> Self {
        let script = || match spec.direct.first() {
            Some(path) => Some((*path).to_owned()),
            None => in_home(command),
        };
        if let process::End::Exited(127) = self.finished.end
            && let Some(script) = script()
            // The path has no `./`, because people read it.
            && let script = spec.working_dir.join(script).components().collect::<PathBuf>()
            && let Some(why) = process::interpreter_problem(&script, spec.working_dir)
        {
            let message = format!("{why} (exit code 127)");
            self.failure = Some(Failure::new(FailureKind::NotFound, message));
        }
        self
    }
}

/// Returns the script that a command for the shell names after `~/`.
fn in_home(command: &HookCommand) -> Option<String> {
    let HookCommand::Shell { text, .. } = command else {
        return None;
    };
    let rest = text.split_whitespace().next()?.strip_prefix("~/")?;
    let path = home::home_dir()?.join(rest);
    path.to_str().map(str::to_owned)
}

/// Returns the end of the hook, and the failure if there is one. `not_started` returns the reason why a shell could not
/// start a command.
fn end_and_failure(
    end: &process::End,
    timeout: Duration,
    not_started: impl Fn(i32) -> String,
) -> (End, Option<Failure>) {
    use FailureKind as Kind;
    let (end, kind, error) = match end {
        process::End::Exited(code) if NOT_FOUND_CODES.contains(code) => {
            (End::Exited(*code), Kind::NotFound, not_started(*code))
        }
        process::End::Exited(126) => (End::Exited(126), Kind::NotExecutable, not_started(126)),
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

/// Returns the result of a hook whose process ended in this way, in this directory, before its answer is read.
pub(super) fn result_of(
    hook: &Arc<Hook>,
    ran: Ran,
    timeout: Duration,
    directory: &Path,
) -> HookResult {
    let finished = ran.finished;
    let truncated = finished.stdout.omitted() > 0 || finished.stderr.omitted() > 0;
    let (stdout, raw_stdout) = text(finished.stdout);
    let (stderr, raw_stderr) = text(finished.stderr);
    let command = hook.command();
    let (end, failure) = end_and_failure(&finished.end, timeout, |code| {
        not_started(&command.to_string(), &stderr, directory, code)
    });
    let mut failure = ran.failure.or(failure);
    if let Some(failure) = &mut failure
        && let process::End::Signaled(SIGSYS) | process::End::Exited(SIGSYS_IN_SHELL) = finished.end
        && hook.sandboxes().next().is_some()
    {
        failure.message += ENDED_BY_FILTER;
    }
    let mut result = HookResult::of(Arc::clone(hook), end, failure);
    (result.stdout, result.stderr, result.duration) = (stdout, stderr, finished.duration);
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

/// The exit codes of a shell that does not find a command: POSIX, and `cmd`.
const NOT_FOUND_CODES: &[i32] = if cfg!(windows) { &[127, 9009] } else { &[127] };

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
