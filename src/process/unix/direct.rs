//! A file that is executed by its path as it is written, where a shell would do nothing else; where
//! that fails, the shell does it once more and tells why.
//!
//! The path counts from the working directory, as it is executed after the change to it: so a script
//! finds in `$0` what it would find under a shell.

use std::io;
use std::path::Path;
use std::process::Command;

use rustix::io::Errno;

use super::program::find_program;
use super::{child, spawn};
use crate::process::Spec;
use crate::process::start::{StartError, explain};

/// Starts the path as it is written, where there is one and it can be executed; else the program.
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

/// None where `spec.program` must be started in its place: nothing has been executed then.
fn start_path<T>(
    spec: &Spec<'_>,
    start: &impl Fn(Command) -> io::Result<T>,
) -> Option<Result<T, StartError>> {
    let (path, args) = spec.direct.split_first()?;
    // A program that finds SIGCHLD ignored can lose the exit codes of what it starts. dash restores
    // the default.
    if !child::sigchld_can_be_handled() {
        return None;
    }
    let mut command = Command::new(path);
    command.args(args);
    match start(command) {
        Err(error) if is_for_the_shell(&error) && spec.working_dir.is_dir() => None,
        result => Some(result.map_err(|error| explain(error, Path::new(path), spec))),
    }
}

/// Errors of `execve` for which a shell has words and an exit code of its own, or which it gets over
/// (ENOEXEC: a script without `#!`). Not E2BIG, since the shell would be given the same, and not what
/// the system lacks to start any process.
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
