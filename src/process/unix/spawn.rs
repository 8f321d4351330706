//! Starts a process with its working directory, its environment and its pipes.

use std::ffi::OsStr;
use std::io::{self, PipeWriter};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::child;
use super::input::{self, Rest};
use crate::process::{Args, Spec};

/// Where a pipe cannot be created close-on-exec in one step, two threads that start processes at the same
/// time would pass each other's pipes on to them. There, this lock allows one start at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Builds the command: the program and its arguments.
pub(super) fn command(spec: &Spec<'_>, program: &OsStr) -> Command {
    let Args::List(args) = &spec.args;
    let mut command = Command::new(program);
    command.args(args);
    command
}

/// Starts a process that reads `spec.stdin` to its end. Returns what did not fit into the pipe.
pub(super) fn with_input<'a>(
    spec: &Spec<'a>,
    mut command: Command,
    deadline: Instant,
) -> io::Result<(Child, Option<Rest<'a>>)> {
    let _lock = lock_where_descriptors_leak();
    let mut rest = None;
    if let Some(bytes) = spec.stdin {
        let (reader, left) = input::filled(bytes)?;
        rest = left;
        command.stdin(reader);
    } else {
        command.stdin(Stdio::null());
    }
    Ok((start(spec, command, deadline)?, rest))
}

/// Starts a process whose input stays open.
pub(super) fn with_open_input(
    spec: &Spec<'_>,
    mut command: Command,
    deadline: Instant,
) -> io::Result<(Child, PipeWriter)> {
    let _lock = lock_where_descriptors_leak();
    let (reader, stdin) = input::pipe()?;
    command.stdin(reader);
    Ok((start(spec, command, deadline)?, stdin))
}

/// Starts the process. The command is dropped here, together with its copy of the standard input: the
/// process must be the only one that holds it.
fn start(spec: &Spec<'_>, mut command: Command, deadline: Instant) -> io::Result<Child> {
    child::reap_leftovers();
    command.current_dir(spec.working_dir).process_group(0);
    // A shell sets `PWD` by itself; another program would inherit the host's.
    let directory = ("PWD", spec.working_dir.as_os_str());
    spec.environment.apply_to(&mut command, directory);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    child::spawn_unless_busy(&mut command, deadline)
}

fn lock_where_descriptors_leak() -> Option<std::sync::MutexGuard<'static, ()>> {
    cfg!(target_vendor = "apple")
        .then(|| ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner))
}
