//! Converts the end of a process to an exit code and a failure, and its output to text.
//!
//! Knows nothing of hooks.

use std::path::PathBuf;
use std::string::FromUtf8Error;
use std::time::Duration;

use crate::entry::{Failure, FailureKind, HookCommand};
use crate::outcome::Residency;
use crate::process::{self, Captured, End, Finished, Spec, StartErrorKind};

/// How a run ended.
pub(super) struct Ran {
    pub(super) finished: Finished,
    /// A failure that the end of the process does not show.
    pub(super) failure: Option<Failure>,
    /// How the event reached the process of a resident hook.
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

    /// A shell reports a script without its interpreter as a missing file.
    pub(super) fn explained(mut self, spec: &Spec<'_>, command: &HookCommand) -> Self {
        if let End::Exited(127) = self.finished.end
            && let Some(script) = spec.direct.first().map(|it| (*it).to_owned()).or_else(|| in_home(command))
            // Without `./`, because people read this path.
            && let script = spec.working_dir.join(script).components().collect::<PathBuf>()
            && let Some(why) = process::interpreter_problem(&script, spec.working_dir)
        {
            let message = format!("{why} (exit code 127)");
            self.failure = Some(Failure::new(FailureKind::NotFound, message));
        }
        self
    }
}

/// Returns the script that a command for the shell names behind `~/`.
fn in_home(command: &HookCommand) -> Option<String> {
    let HookCommand::Shell { text, .. } = command else {
        return None;
    };
    let rest = text.split_whitespace().next()?.strip_prefix("~/")?;
    let path = home::home_dir()?.join(rest);
    path.to_str().map(str::to_owned)
}

/// Returns the exit code, and the failure if there is one.
pub(super) fn exit_code_and_failure(end: &End, timeout: Duration) -> (i32, Option<Failure>) {
    use FailureKind as Kind;
    let (code, kind, error) = match end {
        End::Exited(0) => return (0, None),
        End::Exited(code) if NOT_FOUND_CODES.contains(code) => (
            *code,
            Kind::NotFound,
            format!("command not found (exit code {code})"),
        ),
        End::Exited(126) => (
            126,
            Kind::NotExecutable,
            "command is not executable (exit code 126)".to_owned(),
        ),
        End::Exited(code) => (*code, Kind::Exit, format!("exited with code {code}")),
        End::Signaled(signal) => (
            128 + signal,
            Kind::Signal,
            format!("ended by {}", named_signal(*signal)),
        ),
        End::TimedOut { stopped } => {
            let hint = if *stopped { STOPPED } else { "" };
            let error = format!("timed out after {:?}{hint}", timeout);
            (-1, Kind::TimedOut, error)
        }
        End::Cancelled => (-1, Kind::Cancelled, "cancelled while it ran".to_owned()),
        End::StatusLost => (
            -1,
            Kind::StatusLost,
            "exit status lost: the host reaps its children elsewhere, or ignores SIGCHLD"
                .to_owned(),
        ),
        End::NotStarted(start) => {
            let kind = match start.kind {
                StartErrorKind::NotFound => Kind::NotFound,
                StartErrorKind::NotExecutable => Kind::NotExecutable,
                StartErrorKind::NoWorkingDir => Kind::NoWorkingDir,
                StartErrorKind::NoSandbox => Kind::NoSandbox,
                StartErrorKind::Other => Kind::NotStarted,
            };
            (-1, kind, start.message.clone())
        }
    };
    (code, Some(Failure::new(kind, error)))
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

/// The most characters of standard error that a reason quotes.
const LONGEST_QUOTE: usize = 200;

/// Describes the end of a resident hook that has not answered, with the error that it wrote to standard error.
pub(super) fn without_answer(end: &End, stderr: &Captured) -> Failure {
    let mut words = "it ended without an answer".to_owned();
    match end {
        End::Exited(code) => words += &format!(" (exit code {code})"),
        End::Signaled(signal) => words += &format!(", by {}", named_signal(*signal)),
        _ => {}
    }
    let stderr = String::from_utf8_lossy(&stderr.bytes()).into_owned();
    if let Some(line) = error_line(&stderr) {
        let line: String = line.chars().take(LONGEST_QUOTE).collect();
        words += &format!(": {line}");
    }
    Failure::new(FailureKind::NoAnswer, words)
}

/// Returns the last line of the form `name: text`, else the last line: Python writes it after the traceback,
/// Node before its version.
fn error_line(stderr: &str) -> Option<&str> {
    let lines = || stderr.lines().map(str::trim).rev();
    let mut named = lines().filter(|line| line.contains(": "));
    named
        .next()
        .or_else(|| lines().find(|line| !line.is_empty()))
}

/// The usual cause: `ssh` or `sudo` asking for a password.
const STOPPED: &str =
    ", stopped by a signal: it tried to use the terminal, which a hook does not have";

/// The exit codes of a shell that does not find a command: POSIX, and `cmd`.
const NOT_FOUND_CODES: &[i32] = if cfg!(windows) { &[127, 9009] } else { &[127] };

/// Returns output as text, without byte order marks at its beginning, and also as bytes if the text does not represent
/// all of them.
pub(super) fn text(captured: Captured) -> (String, Option<Vec<u8>>) {
    let omitted = captured.omitted();
    if omitted > 0 {
        let (head, tail) = captured.into_parts();
        let note = format!("\n[... {omitted} bytes left out ...]\n");
        let shown = lossy(&[&head[..], note.as_bytes(), &tail].concat());
        return (shown, Some([head, tail].concat()));
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

#[cfg(test)]
mod tests {
    use super::error_line;

    #[test]
    fn the_error_among_other_lines_is_found() {
        for (stderr, expected) in [
            ("", None),
            ("\n \n", None),
            ("stop\n", Some("stop")),
            (
                "Traceback (most recent call last):\n  File \"g.py\", line 1\nKeyError: 'a'\n",
                Some("KeyError: 'a'"),
            ),
            (
                "x.js:1\nError: no\n    at x.js:1:7\n\nNode.js v20.1.0\n",
                Some("Error: no"),
            ),
        ] {
            assert_eq!(error_line(stderr), expected, "{stderr}");
        }
    }
}
