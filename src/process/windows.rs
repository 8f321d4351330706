//! The runner on Windows: `wait-timeout` for the end of the process, a thread for each pipe, and a job
//! object for the process tree.
//!
//! Anonymous pipes cannot be waited for together with a process, so each has its thread. A process is assigned to its job
//! right after its start. A process that it starts before that is not in the job (docs/gotchas.md).

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use wait_timeout::ChildExt;
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, TerminateJobObject,
};
use windows_sys::Win32::System::SystemInformation::GetSystemDirectoryW;
use windows_sys::Win32::System::Threading::CREATE_NO_WINDOW;

use super::start::{StartError, explain};
use super::{Args, Cancel, Captured, End, Finished, LINGER, Place, Refused, Spec, Stop};

/// The interval at which the wait checks for a cancellation.
const CANCEL_INTERVAL: Duration = Duration::from_millis(20);

/// Returns the error that no process can be confined.
pub(crate) fn sandbox_support() -> Result<(), Refused> {
    Err(Refused::on_this_system())
}

pub(crate) fn check_place(_place: &Place) -> Result<(), Refused> {
    sandbox_support()
}

pub(super) fn run(spec: &Spec<'_>, started: Instant) -> Result<Finished, StartError> {
    if spec.confinement.is_some() {
        let error = io::Error::other(Refused::on_this_system());
        return Err(explain(error, Path::new(&spec.program), spec));
    }
    let program = program_of(spec);
    run_program(spec, &program, started).map_err(|error| explain(error, &program, spec))
}

/// Returns the program. A path is relative to the working directory, as on Unix. `Command` would begin at the host's.
fn program_of(spec: &Spec<'_>) -> PathBuf {
    let name = Path::new(&spec.program);
    match name.components().count() {
        0 | 1 => name.to_owned(),
        // The path has no `./`, because people read it.
        _ => spec.working_dir.join(name).components().collect(),
    }
}

fn run_program(spec: &Spec<'_>, program: &Path, started: Instant) -> io::Result<Finished> {
    let job = Job::new()?;
    let mut child = spawn(spec, program)?;
    job.take_in(&child);
    let finished = attend(&mut child, &job, spec, started);
    if finished.is_err() {
        // A pipe has no thread, and the process must not run on unattended.
        job.terminate(&mut child);
    }
    finished
}

fn attend(child: &mut Child, job: &Job, spec: &Spec<'_>, started: Instant) -> io::Result<Finished> {
    let pid = child.id();
    if let (Some(mut stdin), Some(bytes)) = (child.stdin.take(), spec.stdin) {
        let bytes = bytes.to_vec();
        // The thread ends when all is written or the process has closed its end. A hook does not have to read its input.
        spawn_thread(move || drop(stdin.write_all(&bytes)))?;
    }
    let stdout = Output::collect(child.stdout.take(), spec.output_limit)?;
    let stderr = Output::collect(child.stderr.take(), spec.output_limit)?;
    let end = wait(child, spec, started + spec.timeout, job);
    let until = Instant::now() + LINGER;
    let ended = [stdout.wait_until(until), stderr.wait_until(until)];
    Ok(Finished {
        end,
        stdout: stdout.take(),
        stderr: stderr.take(),
        pid: Some(pid),
        duration: started.elapsed(),
        output_held_open: ended.contains(&false),
    })
}

fn spawn(spec: &Spec<'_>, program: &Path) -> io::Result<Child> {
    let mut command = Command::new(program);
    match &spec.args {
        Args::List(args) => command.args(args),
        Args::Verbatim(line) => command.raw_arg(line),
    };
    command
        .current_dir(spec.working_dir)
        .creation_flags(CREATE_NO_WINDOW);
    // `cmd` would look for a program in the project before it looks on the PATH.
    let no_project = ("NoDefaultCurrentDirectoryInExePath", OsStr::new("1"));
    spec.environment.apply_to(&mut command, no_project);
    command.stdin(if spec.stdin.is_some() {
        Stdio::piped()
    } else {
        Stdio::null()
    });
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// Waits for the end in slices, so that a cancellation is seen. On Windows a process without a window cannot be
/// asked to end, so the grace period is not used.
fn wait(child: &mut Child, spec: &Spec<'_>, deadline: Instant, job: &Job) -> End {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let slice = if spec.cancel.is_some() {
            left.min(CANCEL_INTERVAL)
        } else {
            left
        };
        match child.wait_timeout(slice) {
            Ok(Some(status)) => return status.code().map_or(End::StatusLost, End::Exited),
            Ok(None) if spec.cancel.is_some_and(Cancel::is_requested) => {
                job.terminate(child);
                return End::Cancelled;
            }
            Ok(None) if left.is_zero() => {
                job.terminate(child);
                return End::TimedOut(Stop::None);
            }
            Ok(None) => {}
            Err(_) => {
                job.terminate(child);
                return End::StatusLost;
            }
        }
    }
}

fn spawn_thread(body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new()
        .name("forge-hooks-pipe".into())
        .spawn(body)
        .map(drop)
}

/// The output from one pipe, collected by a thread that ends with the pipe.
struct Output {
    captured: Arc<Mutex<Captured>>,
    ended: Receiver<()>,
    limit: usize,
}

impl Output {
    fn collect(pipe: Option<impl Read + Send + 'static>, limit: usize) -> io::Result<Self> {
        let captured = Arc::new(Mutex::new(Captured::with_limit(limit)));
        let (end, ended) = bounded(1);
        let collected = Arc::clone(&captured);
        if let Some(pipe) = pipe {
            spawn_thread(move || read_all(pipe, &collected, end))?;
        }
        Ok(Self {
            captured,
            ended,
            limit,
        })
    }

    fn wait_until(&self, until: Instant) -> bool {
        // The sending end is dropped at the end of the pipe: that is the signal.
        self.ended.recv_deadline(until) == Err(crossbeam_channel::RecvTimeoutError::Disconnected)
    }

    fn take(&self) -> Captured {
        let mut captured = self.captured.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *captured, Captured::with_limit(self.limit))
    }
}

fn read_all(mut pipe: impl Read, captured: &Mutex<Captured>, end: Sender<()>) {
    let mut buffer = vec![0; 32 * 1024];
    loop {
        match pipe.read(&mut buffer) {
            Ok(length) if length > 0 => {
                captured
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(&buffer[..length]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => break,
        }
    }
    drop(end);
}

/// A job object: its processes, and the processes that they start, can be ended together.
struct Job(OwnedHandle);

impl Job {
    fn new() -> io::Result<Self> {
        // SAFETY: both pointers may be null: default security, no name. The handle has no other owner.
        unsafe {
            let handle = CreateJobObjectW(std::ptr::null(), std::ptr::null());
            if handle.is_null() {
                return Err(io::Error::last_os_error());
            }
            Ok(Self(OwnedHandle::from_raw_handle(handle.cast())))
        }
    }

    /// Assigns the child to the job. Has no effect on a process that has already ended.
    fn take_in(&self, child: &Child) {
        // SAFETY: both handles are open for as long as they are borrowed.
        unsafe {
            AssignProcessToJobObject(self.0.as_raw_handle().cast(), child.as_raw_handle().cast());
        }
    }

    /// Ends the tree. Ends the child by its own handle too: it may not be in the job.
    fn terminate(&self, child: &mut Child) {
        // SAFETY: the handle is open for as long as it is borrowed.
        unsafe {
            TerminateJobObject(self.0.as_raw_handle().cast(), 1);
        }
        // An error means that the process has ended.
        let _ = child.kill();
        let _ = child.wait_timeout(LINGER);
    }
}

/// Returns the path of `cmd` in the system directory: neither a variable nor the working directory can change it.
pub(crate) fn command_interpreter() -> PathBuf {
    let mut directory = [0_u16; 260];
    let size = u32::try_from(directory.len()).unwrap_or(0);
    // SAFETY: the buffer is valid for the length that is given.
    let length = unsafe { GetSystemDirectoryW(directory.as_mut_ptr(), size) };
    // If the path did not fit, this would be the length that it needs. No Windows has such a path.
    let directory = &directory[..directory.len().min(length as usize)];
    PathBuf::from(OsString::from_wide(directory)).join("cmd.exe")
}
