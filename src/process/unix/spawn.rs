//! Starts a process with its working directory, its environment and its pipes.

use std::ffi::OsStr;
use std::io::{self, PipeWriter};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::child;
use super::input::Input;
use super::reap;
use crate::process::{Args, Spec};

/// Builds the command: the program and its arguments.
pub(super) fn command(spec: &Spec<'_>, program: &OsStr) -> Command {
    let Args::List(args) = &spec.args;
    let mut command = Command::new(program);
    command.args(args);
    command
}

/// Starts a process that reads `spec.stdin` to its end.
pub(super) fn with_input<'a>(
    spec: &Spec<'a>,
    mut command: Command,
    deadline: Instant,
) -> io::Result<(Child, Option<Input<'a>>)> {
    let _lock = child::lock_where_descriptors_leak();
    let stdin = match spec.stdin {
        None => {
            command.stdin(Stdio::null());
            None
        }
        Some(bytes) => {
            let (reader, input) = Input::open(bytes)?;
            command.stdin(reader);
            input
        }
    };
    Ok((start(spec, command, deadline)?, stdin))
}

/// Starts a process whose input stays open; writes to it do not block.
pub(super) fn with_open_input(
    spec: &Spec<'_>,
    mut command: Command,
    deadline: Instant,
) -> io::Result<(Child, PipeWriter)> {
    let _lock = child::lock_where_descriptors_leak();
    let (reader, stdin) = io::pipe()?;
    rustix::io::ioctl_fionbio(&stdin, true)?;
    command.stdin(reader);
    Ok((start(spec, command, deadline)?, stdin))
}

/// Starts the process. The command is dropped here, together with its copy of the standard input: the
/// process must be the only one that holds it.
fn start(spec: &Spec<'_>, mut command: Command, deadline: Instant) -> io::Result<Child> {
    reap::reap_leftovers();
    command.current_dir(&spec.working_dir).process_group(0);
    // A shell sets `PWD` by itself; another program would inherit the host's.
    let directory = ("PWD", spec.working_dir.as_os_str());
    spec.environment.apply_to(&mut command, directory);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    child::spawn_unless_busy(&mut command, deadline)
}
