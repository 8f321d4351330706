//! The process: starting it, and waiting for its end in two ways.
//!
//! On Linux a pidfd tells of the end. Where there is none, `wait-timeout` does, in short slices. It
//! is not the first choice: its first wait replaces the host's handler for SIGCHLD, for good. With
//! it, a host that ignores that signal crashes, and one that replaces the handler waits too long
//! (docs/gotchas.md).

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions};
use wait_timeout::ChildExt;

/// How often a process is looked at of whose end nothing tells.
const EXIT_INTERVAL: Duration = Duration::from_millis(5);

/// How the end of the process is learnt.
#[derive(Debug)]
pub(super) enum ChildWait {
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    Pidfd(OwnedFd),
    Slices,
}

impl ChildWait {
    /// The process must not have been reaped.
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

    /// How often the process must be looked at; None where a descriptor tells.
    pub(super) fn interval(&self) -> Option<Duration> {
        match self {
            Self::Pidfd(_) => None,
            Self::Slices => Some(EXIT_INTERVAL),
        }
    }

    /// Waits a short while for the end, where no descriptor tells and there is nothing else to wait
    /// for. Whether the process has ended; it may have been reaped, then.
    pub(super) fn wait_slice(child: &mut Child, limit: Instant) -> bool {
        let left = limit
            .saturating_duration_since(Instant::now())
            .min(EXIT_INTERVAL * 2);
        if sigchld_can_be_handled()
            && let Ok(status) = child.wait_timeout(left)
        {
            return status.is_some();
        }
        // Without it, as where it has no descriptor for itself.
        let pid = Pid::from_child(child);
        if has_ended(pid) {
            return true;
        }
        std::thread::sleep(left.min(EXIT_INTERVAL));
        has_ended(pid)
    }
}

/// Looks whether the process has ended, and leaves it to be reaped. A process that somebody else
/// has reaped has ended, too.
pub(super) fn has_ended(pid: Pid) -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(
        rustix::process::waitid(WaitId::Pid(pid), look),
        Ok(None) | Err(Errno::INTR)
    )
}

/// Whether `wait-timeout` can be called: it never returns from a wait for a child that the system
/// reaps by itself, and crashes the host in its handler.
pub(super) fn sigchld_can_be_handled() -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: a null pointer for the new action makes this a question; the answer is written to
    // `action`, which is valid for it and, being plain numbers, valid when zeroed too.
    let action = unsafe {
        libc::sigaction(libc::SIGCHLD, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction != libc::SIG_IGN && action.sa_flags & libc::SA_NOCLDWAIT == 0
}

/// Starts the process. A program that was written a moment ago can be "busy" while another thread's
/// child still holds it open for writing, between its fork and its exec: that passes.
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

/// Where a pipe cannot be made close-on-exec from the start, two threads that start processes at
/// once would hand each other's pipes to them; there, one at a time.
pub(super) fn lock_where_descriptors_leak() -> Option<std::sync::MutexGuard<'static, ()>> {
    static LOCK: Mutex<()> = Mutex::new(());
    cfg!(target_vendor = "apple").then(|| LOCK.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether no process has this number any more.
pub(crate) fn process_is_gone(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_none_or(|pid| rustix::process::test_kill_process(pid) == Err(Errno::SRCH))
}
