//! Explains the exit codes 126 and 127, by which a shell, `env` or `timeout` reports that it could not start a command: the
//! command, and the reason.
//!
//! Reads the text that the shell wrote to standard error, and checks the file that it names. Without such a line, the
//! command may have been started, and have ended with this code itself.

use std::path::{Path, PathBuf};

use crate::printable::printable;
use crate::process::{format_problem, interpreter_problem, permission_problem};

/// The most characters of a command that a reason quotes.
const LONGEST_COMMAND: usize = 100;

/// The exit code of `cmd` if it does not find a command. No command ends with it by itself.
const NOT_FOUND_BY_CMD: i32 = 9009;

/// The reason why a command could not be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    NotFound,
    NoPermission,
    NoFormat,
    /// Another cause, described for the user.
    Other(&'static str),
}

/// The texts that a shell writes after the name of a command, and their causes. The system's messages are the same on all
/// Unix systems.
const CAUSES: [(&str, Cause); 15] = [
    ("command not found", Cause::NotFound),
    ("not found", Cause::NotFound),
    ("No such file or directory", Cause::NotFound),
    ("required file not found", Cause::NotFound),
    ("Permission denied", Cause::NoPermission),
    // For a directory, dash reports a missing permission. Only bash writes this text.
    ("Is a directory", Cause::NoPermission),
    ("Exec format error", Cause::NoFormat),
    (
        "Argument list too long",
        Cause::Other("its arguments and its environment are larger than the system allows"),
    ),
    (
        "Text file busy",
        Cause::Other("another process has it open for writing"),
    ),
    (
        "Not a directory",
        Cause::Other("a part of its path is not a directory"),
    ),
    (
        "Too many levels of symbolic links",
        Cause::Other("its path has too many links, or they are circular"),
    ),
    (
        "File name too long",
        Cause::Other("its name is longer than the system allows"),
    ),
    (
        "Operation not permitted",
        Cause::Other("the system does not permit it"),
    ),
    (
        "Cannot allocate memory",
        Cause::Other("the system has no memory for it"),
    ),
    (
        "Too many open files in system",
        Cause::Other("the system has too many open files"),
    ),
];

/// Describes the command that could not be started, with the place and the reason. `command` is the hook's, which is named
/// if the shell has named none.
pub(super) fn not_started(command: &str, stderr: &str, directory: &Path, code: i32) -> String {
    let started_in = printable(&directory.display().to_string());
    let not_found = |name: &str| {
        let name = shortened(name);
        format!("command `{name}` not found, started in `{started_in}`")
    };
    let Some((name, cause)) = last_complaint(stderr) else {
        if code == NOT_FOUND_BY_CMD {
            return format!("{} (exit code {code})", not_found(command.trim()));
        }
        let what = if code == 126 {
            "cannot execute"
        } else {
            "has not found"
        };
        return format!(
            "exited with code {code}, as a shell does that {what} a command: `{}`, started in `{started_in}`",
            shortened(command.trim())
        );
    };
    let why = of_file(name, cause, directory).unwrap_or_else(|| match cause {
        Cause::NotFound if name.ends_with(r"\r") || name.ends_with('\r') => format!(
            "{}; the first line of its script ends with a carriage return: save the file with Unix line ends",
            not_found(name)
        ),
        Cause::NotFound => not_found(name),
        Cause::NoPermission => refused(name, "permission denied"),
        Cause::NoFormat => refused(name, "it is not in an executable format"),
        Cause::Other(why) => refused(name, why),
    });
    format!("{why} (exit code {code})")
}

fn refused(name: &str, why: &str) -> String {
    format!("command `{}` cannot be executed: {why}", shortened(name))
}

fn shortened(command: &str) -> String {
    let mut start: String = command.chars().take(LONGEST_COMMAND).collect();
    if start.len() < command.len() {
        start.push('…');
    }
    printable(&start)
}

/// Describes the problem with the file that a shell could not execute, if the command is a path.
fn of_file(name: &str, cause: Cause, directory: &Path) -> Option<String> {
    if !name.contains('/') {
        return None;
    }
    // The path has no `./`, because people read it.
    let file: PathBuf = directory.join(name).components().collect();
    let problem = match cause {
        Cause::NotFound => interpreter_problem(&file, directory),
        Cause::NoPermission => permission_problem(&file, directory),
        Cause::NoFormat => file.is_file().then(|| format_problem(&file)),
        Cause::Other(_) => None,
    };
    problem.map(|problem| printable(&problem))
}

/// Returns the command and the cause from the last line that reports one, as in `sh: 1: jq: not found`.
fn last_complaint(stderr: &str) -> Option<(&str, Cause)> {
    /// The most lines that are compared. A hook may print a million after it.
    const MOST_LINES: usize = 20;
    let lines = stderr.lines().rev().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty()).take(MOST_LINES);
    lines.find_map(|line| {
        CAUSES
            .iter()
            .find_map(|(text, cause)| Some((named_before(line, text)?, *cause)))
            .or_else(|| named_by_zsh(line))
            .filter(|(name, _)| !name.is_empty())
    })
}

/// Returns the name before the cause. bash writes more in between, `env` and `timeout` put quotes around it.
fn named_before<'a>(line: &'a str, cause: &str) -> Option<&'a str> {
    let mut rest = line.strip_suffix(cause)?.strip_suffix(": ")?;
    for more in [": cannot execute", ": cannot execute binary file"] {
        rest = rest.strip_suffix(more).unwrap_or(rest);
    }
    if let Some(script) = rest.strip_suffix(": bad interpreter") {
        rest = script
            .rsplit_once(": ")
            .map_or(script, |(script, _)| script);
    }
    let name = rest.rsplit_once(": ").map_or(rest, |(_, name)| name);
    let quotes = [('\'', '\''), ('‘', '’'), ('"', '"')];
    let Some((open, close)) = quotes.iter().find(|(_, close)| name.ends_with(*close)) else {
        return Some(name);
    };
    let (before, quoted) = name.strip_suffix(*close)?.split_once(*open)?;
    // `ls` writes `cannot access 'x'`. That is not a command.
    matches!(before, "" | "failed to run command ").then_some(quoted)
}

/// Returns the command and the cause from a line of zsh, which writes the cause first, without a capital: `zsh:1: permission
/// denied: ./x`.
fn named_by_zsh(line: &str) -> Option<(&str, Cause)> {
    let line = line.split_once(": ")?.1;
    CAUSES.iter().find_map(|(text, cause)| {
        let name = line.strip_prefix(&*text.to_lowercase())?;
        Some((name.strip_prefix(": ")?, *cause))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_is_read_in_linear_time() {
        crate::growth::assert_reads_in_linear_time("standard error", |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let directory = Path::new("/");
            let _ = not_started("x", &text, directory, 127);
        });
    }

    #[test]
    fn the_command_and_the_cause_are_read() {
        use Cause::{NoFormat, NoPermission, NotFound, Other};
        let too_long = Other("its arguments and its environment are larger than the system allows");
        for (stderr, expected) in [
            ("", None),
            ("nothing of the kind\n", None),
            (": not found", None),
            ("not found", None),
            (
                "sh: 1: ./nope.sh: not found\n",
                Some(("./nope.sh", NotFound)),
            ),
            (
                "sh: line 1: jq: command not found\n",
                Some(("jq", NotFound)),
            ),
            (
                "./guard.sh: line 3: jq: command not found\nlog\n",
                Some(("jq", NotFound)),
            ),
            ("zsh:1: command not found: jq\n", Some(("jq", NotFound))),
            (
                "env: ‘python9’: No such file or directory\n",
                Some(("python9", NotFound)),
            ),
            (
                "sh: ./x: No such file or directory\n",
                Some(("./x", NotFound)),
            ),
            (
                "bash: line 1: ./x: cannot execute: required file not found",
                Some(("./x", NotFound)),
            ),
            (
                "timeout: failed to run command \"it's\": Permission denied",
                Some(("it's", NoPermission)),
            ),
            ("ls: cannot access 'x': No such file or directory", None),
            (
                "timeout: failed to run command ‘./x y’: Permission denied",
                Some(("./x y", NoPermission)),
            ),
            (
                "bash: ./x: /no/sh: bad interpreter: Permission denied",
                Some(("./x", NoPermission)),
            ),
            ("zsh:1: permission denied: ./x", Some(("./x", NoPermission))),
            (
                "bash: line 1: ./x: cannot execute binary file: Exec format error",
                Some(("./x", NoFormat)),
            ),
            (
                "/bin/sh: 1: cat: Argument list too long\n",
                Some(("cat", too_long)),
            ),
        ] {
            assert_eq!(last_complaint(stderr), expected, "{stderr}");
        }
    }
}
