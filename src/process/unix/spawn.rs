//! Starts a process with its working directory, its environment and its pipes.

use std::ffi::OsStr;
use std::io::{self, PipeReader, PipeWriter};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::child::{self, Leader, Started};
use super::confined;
use super::input::{self, Rest};
use crate::process::temporary::Temporary;
use crate::process::{Args, Spec};

/// Allows one start at a time on systems that cannot create a pipe close-on-exec in one step. There, two threads that start
/// processes at the same time would pass each other's pipes on to them.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Builds the command: the program and its arguments.
pub(super) fn command(spec: &Spec<'_>, program: &OsStr) -> Command {
    let Args::List(args) = &spec.args;
    let mut command = Command::new(program);
    command.args(args);
    command
}

/// Starts a process that reads `spec.stdin` to its end. Returns it with the input that did not fit into the pipe.
pub(super) fn with_input<'a>(
    spec: &Spec<'a>,
    command: Command,
    deadline: Instant,
) -> io::Result<(Started, Option<Rest<'a>>)> {
    let _lock = lock_where_descriptors_leak();
    let (mut stdin, mut rest) = (None, None);
    if let Some(bytes) = spec.stdin {
        let (reader, left) = input::filled(bytes)?;
        rest = left;
        stdin = Some(reader);
    }
    Ok((start(spec, command, stdin, deadline)?, rest))
}

/// Starts a process whose input stays open.
pub(super) fn with_open_input(
    spec: &Spec<'_>,
    command: Command,
    deadline: Instant,
) -> io::Result<(Started, PipeWriter)> {
    let _lock = lock_where_descriptors_leak();
    let (reader, stdin) = input::pipe()?;
    Ok((start(spec, command, Some(reader), deadline)?, stdin))
}

/// Starts the process. The reading end of its input is dropped here: the process must be the only one that holds it.
fn start(
    spec: &Spec<'_>,
    mut command: Command,
    stdin: Option<PipeReader>,
    deadline: Instant,
) -> io::Result<Started> {
    child::reap_leftovers();
    // A shell sets `PWD` by itself; another program would inherit the host's.
    let directory = ("PWD", spec.working_dir.as_os_str());
    if let Some(confinement) = &spec.confinement {
        let temporary = Temporary::new()?;
        let mut environment = spec.environment.entries(directory);
        environment.insert("TMPDIR".into(), temporary.path().into());
        let start = confined::Start::new(&command, &environment, spec.working_dir)?;
        let start = start.within(confinement, &temporary)?;
        let mut started = unless_busy(deadline, || start.spawn(stdin.as_ref()))?;
        started.temporary = Some(temporary);
        return Ok(started);
    }
    command.current_dir(spec.working_dir).process_group(0);
    spec.environment.apply_to(&mut command, directory);
    command.stdin(stdin.map_or_else(Stdio::null, Stdio::from));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = unless_busy(deadline, || command.spawn())?;
    let leader = Leader::new(Pid::from_child(&child));
    match (child.stdout.take(), child.stderr.take()) {
        (Some(stdout), Some(stderr)) => Ok(Started {
            leader,
            stdout: stdout.into(),
            stderr: stderr.into(),
            temporary: None,
        }),
        _ => Err(io::Error::other("no pipes")),
    }
}

/// Starts a process. A program that was just written can be "busy" (ETXTBSY): the child of another thread holds it open
/// for writing between its fork and its exec. So the start is tried again.
fn unless_busy<T>(deadline: Instant, mut start: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut pause = Duration::from_millis(1);
    loop {
        match start() {
            Err(error)
                if error.kind() == io::ErrorKind::ExecutableFileBusy
                    && pause <= Duration::from_millis(128)
                    && Instant::now() + pause < deadline =>
            {
                std::thread::sleep(pause);
                pause *= 2;
            }
            other => return other,
        }
    }
}

fn lock_where_descriptors_leak() -> Option<std::sync::MutexGuard<'static, ()>> {
    cfg!(target_vendor = "apple")
        .then(|| ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner))
}
