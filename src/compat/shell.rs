//! The shell for a command of another agent whose handler names none, or `bash`.
//!
//! Knows the places of bash. Does not know the purpose of a command.

use std::ffi::OsString;
#[cfg(windows)]
use std::path::Path;
use std::path::PathBuf;

use crate::agents::UsualShell;
use crate::process::{Args, program_directories};
use crate::protocol::posix;

/// Returns the command line; none if a command is run like the host's own. On Windows the shell of those is `cmd`.
///
/// # Errors
/// If the text is one that only bash understands, and there is no bash.
pub(super) fn usual(shell: UsualShell, text: &str) -> Result<Option<(OsString, Args)>, String> {
    usual_here(shell, text)
}

/// Returns the user's own shell if it runs no commands, as that of a service.
pub(super) fn refusing(shell: UsualShell) -> Option<PathBuf> {
    let path = absolute_path_in("SHELL").filter(|_| shell == UsualShell::Login && cfg!(unix))?;
    let name = path.file_name()?;
    ["false", "nologin", "true"]
        .iter()
        .any(|refusing| name == *refusing)
        .then_some(path)
}

/// Returns the path of a program in one of the host's variables. A relative path counts as none: it could lead to a program
/// of the project.
fn absolute_path_in(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(variable)?);
    path.is_absolute().then_some(path)
}

#[cfg(unix)]
fn usual_here(shell: UsualShell, text: &str) -> Result<Option<(OsString, Args)>, String> {
    use std::sync::LazyLock;

    /// True if bash is installed. Real hooks use `[[` and arrays, at which another shell ends with exit code 2, and so
    /// blocks.
    static HAS_BASH: LazyLock<bool> = LazyLock::new(|| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        program_directories(&path).any(|directory| directory.join("bash").is_file())
    });
    let (shell, option) = match shell {
        UsualShell::Login => (
            absolute_path_in("SHELL").map(PathBuf::into_os_string),
            "-lc",
        ),
        UsualShell::Bash => (HAS_BASH.then(|| "bash".into()), "-c"),
    };
    let shell = shell.unwrap_or_else(|| "/bin/sh".into());
    Ok(Some(posix(shell, option, text)))
}

#[cfg(windows)]
fn usual_here(shell: UsualShell, text: &str) -> Result<Option<(OsString, Args)>, String> {
    if shell != UsualShell::Bash {
        return Ok(None);
    }
    match bash_of_git() {
        Some(bash) => Ok(Some(posix(bash, "-c", text))),
        // `cmd` does not replace `$NAME` and `${NAME}`.
        None if text.contains('$') => Err(
            "the command needs bash, which was not found: install Git for \
            Windows, or set `CLAUDE_CODE_GIT_BASH_PATH` to its `bash.exe`"
                .to_owned(),
        ),
        None => Ok(None),
    }
}

/// Returns the bash of Git for Windows. The bash in the system's directory is that of a virtual machine (WSL), which knows
/// the files by other paths.
#[cfg(windows)]
fn bash_of_git() -> Option<OsString> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let system = variable("SystemRoot").map(PathBuf::from);
    let is_of_system = |directory: &Path| {
        system
            .as_ref()
            .is_some_and(|system| is_in(directory, system))
    };
    let path = variable("PATH").unwrap_or_default();
    let on_path = program_directories(&path)
        .filter(|directory| !is_of_system(directory))
        .map(|directory| directory.join("bash.exe"));
    let installed =
        variable("ProgramFiles").map(|directory| Path::new(&directory).join(r"Git\bin\bash.exe"));
    let chosen = absolute_path_in("CLAUDE_CODE_GIT_BASH_PATH");
    let mut places = chosen.into_iter().chain(on_path).chain(installed);
    places
        .find(|file| file.is_file())
        .map(PathBuf::into_os_string)
}

/// Returns whether a path is within a directory, in any letter case: a `PATH` often contains the system's directory in
/// another case.
#[cfg(windows)]
fn is_in(path: &Path, directory: &Path) -> bool {
    let small = |path: &Path| PathBuf::from(path.to_string_lossy().to_lowercase());
    small(path).starts_with(small(directory))
}

#[cfg(all(test, windows))]
mod tests {
    use super::*;

    #[test]
    fn letter_case_does_not_hide_the_system() {
        let system = Path::new(r"C:\WINDOWS");
        assert!(is_in(Path::new(r"c:\Windows\system32"), system));
        assert!(!is_in(Path::new(r"C:\WindowsX"), system));
    }
}
