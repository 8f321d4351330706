//! Starts a process and takes its exit status: the leader of a hook's process group, until it is reaped.
//!
//! On Linux a pidfd reports its end. Without a pidfd, the process must be looked at from time to time. Nothing
//! here handles a signal: a handler for SIGCHLD would be shared with the host (docs/gotchas.md).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use crate::process::End;

/// Processes that could not be reaped in time: killed, but blocked in the kernel (for example by a dead
/// network drive). The next start of a process tries to reap them again.
static LEFTOVERS: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// A process that was started here, until it is reaped. If it is dropped before that, it is killed together with
/// its group.
#[derive(Debug)]
pub(super) struct Leader {
    child: Option<Child>,
    pid: Pid,
    /// Other code in the host has reaped it, or the system has: from then on its id may be another group's.
    is_lost: AtomicBool,
    /// Readable when the process has ended.
    pub(super) pidfd: Option<OwnedFd>,
}

impl Leader {
    pub(super) fn new(child: Child) -> Self {
        let pid = Pid::from_child(&child);
        Self {
            child: Some(child),
            pid,
            is_lost: AtomicBool::new(false),
            pidfd: open_pidfd(pid),
        }
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    pub(super) fn pidfd(&self) -> Option<BorrowedFd<'_>> {
        self.pidfd.as_ref().map(AsFd::as_fd)
    }

    /// Checks whether the process has ended, without reaping it. A process that other code in the host has
    /// reaped counts as ended.
    pub(super) fn has_ended(&self) -> bool {
        if self.child.is_none() || self.is_lost.load(Ordering::Relaxed) {
            return true;
        }
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match rustix::process::waitid(WaitId::Pid(self.pid), look) {
            Ok(found) => found.is_some(),
            Err(Errno::INTR) => false,
            Err(_) => {
                self.is_lost.store(true, Ordering::Relaxed);
                true
            }
        }
    }

    /// Sends a signal to the whole group, unless the process was reaped: then another group may have its id. An
    /// error means that the group is gone, or that all its processes now belong to another user; nothing
    /// can be done in either case.
    pub(super) fn signal(&self, signal: Signal) {
        let _ = self.has_ended();
        if self.child.is_some() && !self.is_lost.load(Ordering::Relaxed) {
            let _ = rustix::process::kill_process_group(self.pid, signal);
        }
    }

    /// Takes the exit status; the process id is free after that. The status of an ended process can be
    /// delayed, for example when the host is traced: the tracer gets it first.
    pub(super) fn reap(&mut self, patience: Duration) -> End {
        let Some(mut child) = self.child.take() else {
            return End::StatusLost;
        };
        let until = Instant::now() + patience;
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return end_of(status),
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
                // Killed, and still blocked in the kernel.
                Ok(None) => {
                    leave_over(child);
                    return End::StatusLost;
                }
                // Other code in the host has reaped it.
                Err(_) => return End::StatusLost,
            }
        }
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        if let Some(child) = self.child.take() {
            leave_over(child);
        }
    }
}

/// None if the system has none, or refuses it.
fn open_pidfd(pid: Pid) -> Option<OwnedFd> {
    #[cfg(all(target_os = "linux", not(forge_hooks_no_pidfd)))]
    return rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok();
    #[cfg(not(all(target_os = "linux", not(forge_hooks_no_pidfd))))]
    {
        let _ = pid;
        None
    }
}

fn leave_over(child: Child) {
    let mut leftovers = LEFTOVERS.lock().unwrap_or_else(PoisonError::into_inner);
    leftovers.push(child);
}

pub(super) fn reap_leftovers() {
    let mut leftovers = LEFTOVERS.lock().unwrap_or_else(PoisonError::into_inner);
    leftovers.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
}

fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, Some(signal)) => End::Signaled(signal),
        (None, None) => End::StatusLost,
    }
}

/// Whether the host ignores SIGCHLD. A program that inherits this can lose the exit codes of its own children.
pub(super) fn sigchld_is_ignored() -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: with a null pointer as the new action, this only queries the current one. The answer is
    // written to `action`, which is valid for writes; all zeros are a valid value of this plain struct.
    let action = unsafe {
        libc::sigaction(libc::SIGCHLD, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN || action.sa_flags & libc::SA_NOCLDWAIT != 0
}

/// Starts the process. A program that was just written can be "busy" (ETXTBSY): the child of another
/// thread holds it open for writing between its fork and its exec. So the start is tried again.
pub(super) fn spawn_unless_busy(command: &mut Command, deadline: Instant) -> io::Result<Child> {
    let mut pause = Duration::from_millis(1);
    loop {
        match command.spawn() {
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

/// Whether no process has this process id any more.
pub(crate) fn process_is_gone(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_none_or(|pid| rustix::process::test_kill_process(pid) == Err(Errno::SRCH))
}
