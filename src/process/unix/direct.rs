//! Executes a file by its path, as written, if a shell would do nothing else. If that fails, the shell
//! runs the command and reports the error.
//!
//! The path is relative to the working directory, and is executed after the change to it. So a script has
//! the same `$0` as under a shell.

use std::io;
use std::path::Path;
use std::process::Command;

use rustix::io::Errno;

use super::program::find_program;
use super::{child, spawn};
use crate::process::Spec;
use crate::process::start::{StartError, explain};

/// Executes the path as written, if there is one and it can be executed; otherwise starts the program.
pub(super) fn start<T>(
    spec: &Spec<'_>,
    start: impl Fn(Command) -> io::Result<T>,
) -> Result<T, StartError> {
    if let Some(result) = start_path(spec, &start) {
        return result;
    }
    let program = find_program(spec)?;
    let started = start(spawn::command(spec, &program));
    started.map_err(|error| explain(error, Path::new(&program), spec))
}

/// Executes the path. Returns None if `spec.program` must be started instead; nothing has been executed then.
fn start_path<T>(
    spec: &Spec<'_>,
    start: &impl Fn(Command) -> io::Result<T>,
) -> Option<Result<T, StartError>> {
    let (path, args) = spec.direct.split_first()?;
    // A shell is needed: dash restores the default action of SIGCHLD.
    if child::sigchld_is_ignored() {
        return None;
    }
    let mut command = Command::new(path);
    command.args(args);
    match start(command) {
        Err(error) if is_for_the_shell(&error) && spec.working_dir.is_dir() => None,
        result => Some(result.map_err(|error| explain(error, Path::new(path), spec))),
    }
}

/// Returns whether this is an error of `execve` that a shell reports with its own message and exit code, or that it handles
/// (ENOEXEC: a script without `#!`). E2BIG is not, because the shell would get the same environment. A lack of the resources
/// that any start needs (memory, processes, descriptors) is not one either.
fn is_for_the_shell(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(
            Errno::NOENT
                | Errno::ACCESS
                | Errno::NOEXEC
                | Errno::NOTDIR
                | Errno::ISDIR
                | Errno::LOOP
                | Errno::NAMETOOLONG
                | Errno::PERM
                | Errno::TXTBSY
        )
    )
}
