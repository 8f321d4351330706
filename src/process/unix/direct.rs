//! A file that is executed by its path as it is written, where a shell would do nothing else; where
//! that fails, the shell does it once more and tells why.
//!
//! The path counts from the working directory, as it is executed after the change to it: so a script
//! finds in `$0` what it would find under a shell.

use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use rustix::io::Errno;

use super::{Finished, Spec, child, run_command};
use crate::process::start::{StartError, explain};

/// None where `spec.program` must run in its place: nothing has been executed then.
pub(in crate::process) fn run(
    spec: &Spec<'_>,
    started: Instant,
) -> Option<Result<Finished, StartError>> {
    let (path, args) = spec.direct.split_first()?;
    // A program that finds SIGCHLD ignored can lose the exit codes of what it starts. dash restores
    // the default.
    if !child::sigchld_can_be_handled() {
        return None;
    }
    let mut command = Command::new(path);
    command.args(args);
    match run_command(spec, command, started) {
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
