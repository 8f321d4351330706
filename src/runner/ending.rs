//! Converts the end of a process to an exit code and a failure, and its output to text.
//!
//! Knows nothing of hooks.

use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;
use std::time::Duration;

use crate::entry::{Failure, FailureKind, HookCommand};
use crate::outcome::Residency;
use crate::printable::printable;
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
        End::Exited(126) => (126, Kind::NotExecutable, NOT_EXECUTABLE.to_owned()),
        End::Exited(code) => (*code, Kind::Exit, format!("exited with code {code}")),
        End::Signaled(signal) => (
            128 + signal,
            Kind::Signal,
            format!("ended by signal {signal}"),
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

/// The most characters of standard error that a reason quotes.
const LONGEST_QUOTE: usize = 200;

/// Describes the end of a resident hook that has not answered, with the error that it wrote to standard error.
pub(super) fn without_answer(end: &End, stderr: &Captured) -> Failure {
    let mut words = "it ended without an answer".to_owned();
    match end {
        End::Exited(code) => words += &format!(" (exit code {code})"),
        End::Signaled(signal) => words += &format!(" (signal {signal})"),
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

/// POSIX: the shell has found the command, but could not execute it.
const NOT_EXECUTABLE: &str = if cfg!(windows) {
    "command is not executable (exit code 126)"
} else {
    "command is not executable (exit code 126): is `chmod +x` missing, or the interpreter?"
};

/// The most characters of a command that a reason quotes.
const LONGEST_COMMAND: usize = 100;

/// Says which command a shell has not found, and where: what the shell wrote names it, else it is the whole command.
pub(super) fn not_found(command: &str, stderr: &str, directory: &Path, code: i32) -> String {
    let command = missing_command(stderr).unwrap_or(command).trim();
    let mut shown: String = command.chars().take(LONGEST_COMMAND).collect();
    if shown.len() < command.len() {
        shown.push('…');
    }
    let shown = printable(&shown);
    let directory = directory.display().to_string();
    let directory = printable(&directory);
    format!("command `{shown}` not found, started in `{directory}` (exit code {code})")
}

/// The name in the last line that a shell or `env` writes if it does not find a command, such as `sh: 1: jq: not found`.
fn missing_command(stderr: &str) -> Option<&str> {
    const ENDS: [&str; 3] = [
        ": command not found",
        ": not found",
        ": No such file or directory",
    ];
    let name = stderr.lines().rev().map(str::trim).find_map(|line| {
        let of_zsh = line.split_once("command not found: ");
        of_zsh.map(|(_, name)| name).or_else(|| {
            let rest = ENDS.iter().find_map(|end| line.strip_suffix(end))?;
            Some(rest.rsplit_once(": ").map_or(rest, |(_, name)| name))
        })
    });
    name.map(|name| name.trim_matches(['\'', '‘', '’', '"']))
        .filter(|name| !name.is_empty())
}

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
    use super::{error_line, missing_command};

    #[test]
    fn the_missing_command_is_named() {
        for (stderr, expected) in [
            ("", None),
            ("nothing of the kind\n", None),
            ("sh: 1: ./nope.sh: not found\n", Some("./nope.sh")),
            ("sh: line 1: jq: command not found\n", Some("jq")),
            (
                "./guard.sh: line 3: jq: command not found\nlog\n",
                Some("jq"),
            ),
            ("zsh:1: command not found: jq\n", Some("jq")),
            (
                "env: ‘python9’: No such file or directory\n",
                Some("python9"),
            ),
            ("sh: ./x: No such file or directory\n", Some("./x")),
            (": not found", None),
        ] {
            assert_eq!(missing_command(stderr), expected, "{stderr}");
        }
    }

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
