//! Turns a hook's command into a program with arguments.
//!
//! Knows the command lines of shells. Values of an event are never pasted into a command: they are passed in its
//! environment, so that none can be executed as code.

use std::ffi::OsString;

use crate::entry::{Failure, FailureKind, HookCommand, Shell};
use crate::process::Args;

/// Returns the program to start, as a name or a path, and its arguments. `is_of_event` returns whether
/// a variable, named in capitals, can have a value of the event.
pub(crate) fn command_line(
    command: &HookCommand,
    is_of_event: impl Fn(&str) -> bool,
) -> Result<(OsString, Args), Failure> {
    let line = match command {
        HookCommand::Program(args) => Ok(program(args.iter().map(OsString::from))),
        HookCommand::Shell { text, shell } => match shell {
            None if cfg!(windows) => cmd(text, is_of_event),
            Some(Shell::Cmd) => cmd(text, is_of_event),
            None => Ok(posix("/bin/sh", "-c", text)),
            Some(Shell::Sh) if cfg!(unix) => Ok(posix("/bin/sh", "-c", text)),
            Some(shell @ (Shell::Pwsh | Shell::PowerShell)) => {
                let args = ["-NoProfile", "-NonInteractive", "-Command", text];
                Ok(program(
                    [shell.as_str()].into_iter().chain(args).map(OsString::from),
                ))
            }
            Some(shell) => Ok(posix(shell.as_str(), "-c", text)),
        },
        HookCommand::Answer(_) => Err("an answer starts no process".to_owned()),
    };
    line.map_err(|message| Failure::new(FailureKind::NotStarted, message))
}

/// Returns the program, which is the first argument, and the others.
pub(crate) fn program(mut args: impl Iterator<Item = OsString>) -> (OsString, Args) {
    let program = args.next().unwrap_or_default();
    (program, Args::List(args.collect()))
}

pub(crate) fn posix(shell: impl Into<OsString>, option: &str, text: &str) -> (OsString, Args) {
    // A text that begins like an option would be parsed as one.
    let text = if text.starts_with(['-', '+']) {
        format!(" {text}")
    } else {
        text.to_owned()
    };
    (shell.into(), Args::List(vec![option.into(), text.into()]))
}

/// Refuses a command that `cmd` would cut, and one in which it would execute the value of a variable as code.
fn cmd(text: &str, is_of_event: impl Fn(&str) -> bool) -> Result<(OsString, Args), String> {
    if text.contains(['\n', '\r']) {
        return Err(
            "a command for `cmd` must be one line: `cmd` stops at the first line break".to_owned(),
        );
    }
    if let Some(name) = variables_in(text).find(|name| is_of_event(name)) {
        return Err(format!(
            "`cmd` would execute the value of `%{name}%` as code: write `!{name}!` instead"
        ));
    }
    shell_cmd(text)
}

#[cfg(unix)]
fn shell_cmd(_text: &str) -> Result<(OsString, Args), String> {
    Err("shell `cmd` is only available on Windows".to_owned())
}

/// Returns the command line of `cmd`. `/D`: no commands from the registry. `/V:ON`: `!NAME!` is a variable. `/S /C "..."`: only
/// the outermost quotes of the command line are removed.
#[cfg(windows)]
fn shell_cmd(text: &str) -> Result<(OsString, Args), String> {
    let program = crate::process::command_interpreter();
    let line = format!("/D /V:ON /S /C \"{text}\"");
    Ok((program.into(), Args::Verbatim(line.into())))
}

/// Returns the names after a `%` in a command for `cmd`, in capitals, since `cmd` ignores case.
fn variables_in(text: &str) -> impl Iterator<Item = String> {
    let ends_name = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let after_marks = text.split('%').skip(1);
    let names = after_marks.filter_map(move |rest| rest.split(ends_name).next());
    names.map(str::to_ascii_uppercase)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(text: &str, shell: Option<Shell>) -> HookCommand {
        let text = text.to_owned();
        HookCommand::Shell { text, shell }
    }

    #[test]
    fn commands_become_command_lines() {
        for (command, expected) in [
            (shell("-x y", None), r#"("/bin/sh", List(["-c", " -x y"]))"#),
            (
                shell("-x y", Some(Shell::Bash)),
                r#"("bash", List(["-c", " -x y"]))"#,
            ),
            (
                shell("-x y", Some(Shell::Pwsh)),
                r#"("pwsh", List(["-NoProfile", "-NonInteractive", "-Command", "-x y"]))"#,
            ),
            (
                HookCommand::Program(vec!["a b".into(), "-c".into()]),
                r#"("a b", List(["-c"]))"#,
            ),
        ] {
            let line = command_line(&command, |_| false).unwrap();
            assert_eq!(format!("{line:?}"), expected);
        }
        let cmd = shell("dir", Some(Shell::Cmd));
        assert!(command_line(&cmd, |_| false).is_err());
    }
}
