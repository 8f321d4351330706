//! Starts a process, and waits for its end in one of two ways.
//!
//! On Linux a pidfd reports the end. Without a pidfd, `wait-timeout` waits in short slices. It is only the
//! second choice: its first wait replaces the host's SIGCHLD handler permanently. With it, a host that
//! ignores SIGCHLD crashes, and in a host that replaces the handler every wait takes too long
//! (docs/gotchas.md).

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions};
use wait_timeout::ChildExt;

/// How often a process is checked if no descriptor reports its end.
const EXIT_INTERVAL: Duration = Duration::from_millis(5);

/// How the end of the process is detected.
#[derive(Debug)]
pub(super) enum ChildWait {
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    Pidfd(OwnedFd),
    Slices,
}

impl ChildWait {
    /// Chooses the way to wait. The process must not have been reaped.
    pub(super) fn new(pid: Pid) -> Self {
        #[cfg(all(target_os = "linux", not(forge_hooks_no_pidfd)))]
        if let Ok(fd) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
            return Self::Pidfd(fd);
        }
        let _ = pid;
        Self::Slices
    }

    pub(super) fn pidfd(&self) -> Option<BorrowedFd<'_>> {
        use std::os::fd::AsFd;
        match self {
            Self::Pidfd(fd) => Some(fd.as_fd()),
            Self::Slices => None,
        }
    }

    /// How often the process must be checked. None: a descriptor reports its end.
    pub(super) fn interval(&self) -> Option<Duration> {
        match self {
            Self::Pidfd(_) => None,
            Self::Slices => Some(EXIT_INTERVAL),
        }
    }

    /// Waits a short time for the end, if no descriptor reports it and there is nothing else to wait for.
    /// Returns whether the process has ended; `wait-timeout` may have reaped it then.
    pub(super) fn wait_slice(child: &mut Child, limit: Instant) -> bool {
        let left = limit
            .saturating_duration_since(Instant::now())
            .min(EXIT_INTERVAL * 2);
        if sigchld_can_be_handled()
            && let Ok(status) = child.wait_timeout(left)
        {
            return status.is_some();
        }
        // Without `wait-timeout`, for example if it cannot create its own descriptor.
        let pid = Pid::from_child(child);
        if has_ended(pid) {
            return true;
        }
        std::thread::sleep(left.min(EXIT_INTERVAL));
        has_ended(pid)
    }
}

/// Checks whether the process has ended, without reaping it. A process that other code in the host has
/// reaped counts as ended.
pub(super) fn has_ended(pid: Pid) -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(
        rustix::process::waitid(WaitId::Pid(pid), look),
        Ok(None) | Err(Errno::INTR)
    )
}

/// Whether `wait-timeout` can be called. If SIGCHLD is ignored, the system reaps children by itself:
/// `wait-timeout` then never returns, and crashes the host in its handler.
pub(super) fn sigchld_can_be_handled() -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: with a null pointer as the new action, this only queries the current one. The answer is
    // written to `action`, which is valid for writes; all zeros are a valid value of this plain struct.
    let action = unsafe {
        libc::sigaction(libc::SIGCHLD, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction != libc::SIG_IGN && action.sa_flags & libc::SA_NOCLDWAIT == 0
}

/// Starts the process. A program that was just written can be "busy" (ETXTBSY): the child of another
/// thread holds it open for writing between its fork and its exec. So the start is tried again.
pub(super) fn spawn_unless_busy(command: &mut Command, deadline: Instant) -> io::Result<Child> {
    let mut pause = Duration::from_millis(1);
    for _ in 0..5 {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                if Instant::now() + pause >= deadline {
                    return Err(error);
                }
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
            other => return other,
        }
    }
    command.spawn()
}

/// Where a pipe cannot be created close-on-exec in one step, two threads that start processes at the same
/// time would pass each other's pipes on to them. There, this lock allows one start at a time.
pub(super) fn lock_where_descriptors_leak() -> Option<std::sync::MutexGuard<'static, ()>> {
    static LOCK: Mutex<()> = Mutex::new(());
    cfg!(target_vendor = "apple").then(|| LOCK.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether no process has this process id any more.
pub(crate) fn process_is_gone(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_none_or(|pid| rustix::process::test_kill_process(pid) == Err(Errno::SRCH))
}
