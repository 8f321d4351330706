//! Turns a hook's command into a program with arguments.
//!
//! Knows the command lines of shells. Values of an event are never pasted into a command: they are passed in its
//! environment, so that none can be executed as code.

use std::ffi::OsString;
use std::path::Path;
use std::sync::LazyLock;

use crate::hook::{Dialect, Foreign, Hook, HookCommand, Shell};
use crate::process::Args;
use crate::protocol::Naming;

/// Returns the program to start, as a name or a path, and its arguments. An error is a message for the user.
pub(crate) fn command_line(hook: &Hook, naming: &Naming) -> Result<(OsString, Args), String> {
    match hook.command() {
        HookCommand::Program(words) => Ok(program(words.iter().map(OsString::from))),
        HookCommand::Shell { text, shell } => match shell {
            None if cfg!(windows) => cmd(text, naming),
            Some(Shell::Cmd) => cmd(text, naming),
            None => Ok(posix("/bin/sh", "-c", text)),
            Some(Shell::Sh) if cfg!(unix) => Ok(posix("/bin/sh", "-c", text)),
            Some(shell @ (Shell::Pwsh | Shell::PowerShell)) => {
                let options = ["-NoProfile", "-NonInteractive", "-Command", text];
                Ok((
                    shell.as_str().into(),
                    Args::List(options.map(Into::into).into()),
                ))
            }
            Some(shell) => Ok(posix(shell.as_str(), "-c", text)),
        },
    }
}

/// The same for a hook of another tool, with the shell that this tool takes where none is named. In the
/// arguments of a program, `${CLAUDE_PROJECT_DIR}` and similar names are replaced.
pub(crate) fn foreign_command_line(
    foreign: &Foreign,
    hook: &Hook,
    naming: &Naming,
    project: &Path,
) -> Result<(OsString, Args), String> {
    match hook.command() {
        HookCommand::Program(words) => {
            let expanded = |word: &String| foreign.expanded(word, project).into_owned().into();
            Ok(program(words.iter().map(expanded)))
        }
        HookCommand::Shell { text, shell: None } if cfg!(unix) => match foreign.dialect() {
            Dialect::Codex => {
                let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty());
                let shell = shell.unwrap_or_else(|| "/bin/sh".into());
                Ok(posix(shell, "-lc", text))
            }
            _ if *HAS_BASH => Ok(posix("bash", "-c", text)),
            _ => command_line(hook, naming),
        },
        HookCommand::Shell { .. } => command_line(hook, naming),
    }
}

/// Real hooks use `[[` and arrays, at which another shell ends with exit code 2, and so blocks.
static HAS_BASH: LazyLock<bool> = LazyLock::new(|| {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join("bash").is_file())
});

fn program(mut words: impl Iterator<Item = OsString>) -> (OsString, Args) {
    let program = words.next().unwrap_or_default();
    (program, Args::List(words.collect()))
}

fn posix(shell: impl Into<OsString>, option: &str, text: &str) -> (OsString, Args) {
    // A text that begins like an option would be parsed as one.
    let text = if text.starts_with(['-', '+']) {
        format!(" {text}")
    } else {
        text.to_owned()
    };
    (shell.into(), Args::List(vec![option.into(), text.into()]))
}

fn cmd(text: &str, naming: &Naming) -> Result<(OsString, Args), String> {
    check_for_cmd(text, naming)?;
    shell_cmd(text)
}

#[cfg(unix)]
fn shell_cmd(_text: &str) -> Result<(OsString, Args), String> {
    Err("shell `cmd` is only available on Windows".to_owned())
}

/// `/D`: no commands from the registry. `/V:ON`: `!NAME!` is a variable. `/S /C "..."`: only the outermost
/// quotes of the command line are removed.
#[cfg(windows)]
fn shell_cmd(text: &str) -> Result<(OsString, Args), String> {
    let program = crate::process::command_interpreter();
    Ok((
        program.into(),
        Args::Verbatim(format!("/D /V:ON /S /C \"{text}\"").into()),
    ))
}

/// Refuses a command that `cmd` would cut, and one in which it would execute the value of a variable as code.
fn check_for_cmd(text: &str, naming: &Naming) -> Result<(), String> {
    if text.contains(['\n', '\r']) {
        return Err(
            "a command for `cmd` must be one line: `cmd` stops at the first line break".to_owned(),
        );
    }
    if let Some(name) = naming.event_variable_in(text) {
        return Err(format!(
            "`cmd` would execute the value of `%{name}%` as code: write `!{name}!` instead"
        ));
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn commands_become_command_lines() {
        let naming = Naming::new(Default::default(), None);
        let hook = Hook::new("*", "-x y").unwrap();
        for (hook, expected) in [
            (hook.clone(), r#"("/bin/sh", List(["-c", " -x y"]))"#),
            (
                hook.clone().with_shell(Shell::Bash),
                r#"("bash", List(["-c", " -x y"]))"#,
            ),
            (
                hook.with_shell(Shell::Pwsh),
                r#"("pwsh", List(["-NoProfile", "-NonInteractive", "-Command", "-x y"]))"#,
            ),
            (
                Hook::program("*", ["a b", "-c"]).unwrap(),
                r#"("a b", List(["-c"]))"#,
            ),
        ] {
            let line = command_line(&hook, &naming).unwrap();
            assert_eq!(format!("{line:?}"), expected);
        }
        let cmd = Hook::new("*", "dir").unwrap().with_shell(Shell::Cmd);
        assert!(command_line(&cmd, &naming).is_err());
    }
}
