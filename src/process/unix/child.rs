//! The leader of a hook's process group, until it is reaped: takes its exit status, and ends it with its tree.
//!
//! A tree is the group and the descendants that have left it. [`Leader::signal_tree`] is the only function that ends a tree.
//!
//! On Linux, a pidfd reports the end of the process. Without a pidfd, the process must be checked from time to time. This
//! module handles no signal: a handler for SIGCHLD would be shared with the host (docs/gotchas.md).

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, WaitOptions, getpgid, kill_process,
    kill_process_group, waitid, waitpid,
};

use super::tree::{self, Outside};
use crate::process::temporary::Temporary;
use crate::process::{End, LINGER, Stop};

/// The pidfds of processes that could not be reaped in time: killed, but blocked in the kernel (for example by a dead
/// network drive). The next start of a process tries to reap them again. By its id alone no process is reaped later: other code
/// in the host may have reaped it, and the id may be that of another child.
static LEFTOVERS: Mutex<Vec<OwnedFd>> = Mutex::new(Vec::new());

/// The most descriptors that are kept for them. Further processes stay in the process table.
const MOST_LEFTOVERS: usize = 64;

/// A process that was started here, until it is reaped. If it is dropped before that, it is killed together with
/// its tree.
#[derive(Debug)]
pub(super) struct Leader {
    pid: Pid,
    /// True if the process was reaped: from then on its id is free.
    is_reaped: bool,
    /// True if other code in the host, or the system, has reaped the process: from then on its id may be another group's.
    is_lost: AtomicBool,
    /// The descendants that have left the group, as of the last search.
    outside: Outside,
    /// The pidfd, which is readable once the process has ended.
    pub(super) pidfd: Option<OwnedFd>,
}

/// A process that was just started.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) leader: Leader,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    /// The temporary directory of a confined process. It is removed together with this value.
    pub(super) temporary: Option<Temporary>,
}

impl Leader {
    /// Takes over a process that this process has just started, and that nothing else here reaps.
    pub(super) fn new(pid: Pid) -> Self {
        Self {
            pid,
            is_reaped: false,
            is_lost: AtomicBool::new(false),
            outside: Outside::default(),
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
        if self.is_reaped || self.is_lost.load(Ordering::Relaxed) {
            return true;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match self.wait(options) {
            Ok(status) => status.is_some(),
            Err(Errno::INTR) => false,
            Err(_) => {
                self.is_lost.store(true, Ordering::Relaxed);
                true
            }
        }
    }

    /// Asks for a change of the process's state: by its pidfd, which is never another process's, where the kernel can (Linux
    /// 5.4).
    fn wait(&self, options: WaitIdOptions) -> rustix::io::Result<Option<WaitIdStatus>> {
        #[cfg(target_os = "linux")]
        if let Some(pidfd) = self.pidfd() {
            match waitid(WaitId::PidFd(pidfd), options) {
                Err(Errno::INVAL) => {}
                answer => return answer,
            }
        }
        waitid(WaitId::Pid(self.pid), options)
    }

    /// Returns whether the process's id may be that of another process.
    fn is_free(&self) -> bool {
        let _ = self.has_ended();
        self.is_reaped || self.is_lost.load(Ordering::Relaxed)
    }

    /// Searches for descendants that have left the group. Once the process has ended, only those below known ones can
    /// be found: other processes have adopted its children.
    pub(super) fn find_outside(&mut self) {
        let has_orphans_only = self.has_ended() && self.outside.is_gone();
        if !has_orphans_only && !self.is_free() {
            self.outside.find(self.pid);
        }
    }

    /// Sends the signals, in this order, to each process of the tree. The group gets them first: a shell whose child
    /// has ended would run its next command.
    pub(super) fn signal_tree(&mut self, signals: &[Signal]) {
        self.find_outside();
        for signal in signals {
            self.signal_group(*signal);
        }
        self.outside.signal(signals);
    }

    /// Sends a signal to the whole group, and to the process if it has joined another group. Sends nothing once the process
    /// was reaped: another process may then have its id. An error means that the group is gone, or that all its processes
    /// now belong to another user; nothing can be done in either case.
    fn signal_group(&self, signal: Signal) {
        if self.is_free() {
            return;
        }
        let _ = kill_process_group(self.pid, signal);
        if getpgid(Some(self.pid)).is_ok_and(|group| group != self.pid) {
            let _ = kill_process(self.pid, signal);
        }
    }

    /// Returns whether certainly nothing of the tree is left. Only the process itself may not be reaped yet.
    pub(super) fn tree_is_gone(&self) -> bool {
        // The group comes last: all of `/proc` must be read to check it.
        self.has_ended() && self.outside.is_gone() && tree::group_is_gone(self.pid)
    }

    /// Returns why the process does not go on: a signal has stopped it, or another process of its group. The system stops a
    /// whole group that uses the terminal.
    pub(super) fn stop(&self) -> Stop {
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match self.wait(options).ok().flatten() {
            Some(status) => match stopping_signal(&status) {
                Some(libc::SIGTTIN | libc::SIGTTOU) => Stop::AtTerminal,
                Some(signal) => Stop::By(signal),
                None => Stop::Unknown,
            },
            None if tree::group_is_stopped(self.pid) => Stop::Unknown,
            None => Stop::None,
        }
    }

    /// Takes the exit status, if the process has ended: by its pidfd where the kernel can.
    fn take_status(&self) -> rustix::io::Result<Option<End>> {
        #[cfg(target_os = "linux")]
        if let Some(pidfd) = self.pidfd() {
            match reap_by(pidfd) {
                Err(Errno::INVAL) => {}
                answer => {
                    let end = |status: WaitIdStatus| {
                        end_of(status.exit_status(), status.terminating_signal())
                    };
                    return answer.map(|status| status.map(end));
                }
            }
        }
        let waited = waitpid(Some(self.pid), WaitOptions::NOHANG)?;
        Ok(waited.map(|(_, status)| end_of(status.exit_status(), status.terminating_signal())))
    }

    /// Takes the exit status; the process id is free after that. The status of an ended process can be
    /// delayed, for example when the host is traced: the tracer gets it first.
    pub(super) fn reap(&mut self, patience: Duration) -> End {
        let is_reaped = std::mem::replace(&mut self.is_reaped, true);
        // The id may by now be that of another process of the host.
        if is_reaped || self.is_lost.load(Ordering::Relaxed) {
            return End::StatusLost;
        }
        let until = Instant::now() + patience;
        loop {
            match self.take_status() {
                Ok(Some(end)) => return end,
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
                Err(Errno::INTR) => {}
                // The process was killed, and is still blocked in the kernel.
                Ok(None) => {
                    leave_over(self.pidfd.take());
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
        if !self.is_reaped {
            self.signal_tree(&[Signal::KILL]);
            let _ = self.reap(LINGER);
        }
    }
}

/// Opens a pidfd. Returns None if the system has none, or refuses it.
fn open_pidfd(pid: Pid) -> Option<OwnedFd> {
    #[cfg(all(target_os = "linux", not(forge_hooks_no_pidfd)))]
    return rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok();
    #[cfg(not(all(target_os = "linux", not(forge_hooks_no_pidfd))))]
    {
        let _ = pid;
        None
    }
}

fn leave_over(pidfd: Option<OwnedFd>) {
    let mut leftovers = LEFTOVERS.lock().unwrap_or_else(PoisonError::into_inner);
    if leftovers.len() < MOST_LEFTOVERS {
        leftovers.extend(pidfd);
    }
}

pub(super) fn reap_leftovers() {
    let mut leftovers = LEFTOVERS.lock().unwrap_or_else(PoisonError::into_inner);
    leftovers.retain(|pidfd| matches!(reap_by(pidfd.as_fd()), Ok(None) | Err(Errno::INTR)));
}

/// Reaps the process of a pidfd if it has ended.
#[cfg(target_os = "linux")]
fn reap_by(pidfd: BorrowedFd<'_>) -> rustix::io::Result<Option<WaitIdStatus>> {
    waitid(
        WaitId::PidFd(pidfd),
        WaitIdOptions::EXITED | WaitIdOptions::NOHANG,
    )
}

/// No other system has pidfds.
#[cfg(not(target_os = "linux"))]
fn reap_by(_pidfd: BorrowedFd<'_>) -> rustix::io::Result<Option<WaitIdStatus>> {
    Err(Errno::INVAL)
}

/// Returns the end that a status means.
fn end_of(exit_code: Option<i32>, signal: Option<i32>) -> End {
    match (exit_code, signal) {
        (Some(code), _) => End::Exited(code),
        (None, Some(signal)) => End::Signaled(signal),
        (None, None) => End::StatusLost,
    }
}

/// Returns the signal that has stopped a process. `rustix` does not know it on NetBSD.
#[cfg(not(target_os = "netbsd"))]
fn stopping_signal(status: &WaitIdStatus) -> Option<i32> {
    status.stopping_signal()
}

#[cfg(target_os = "netbsd")]
fn stopping_signal(_status: &WaitIdStatus) -> Option<i32> {
    None
}

/// Returns whether the host ignores SIGCHLD. A program that inherits this can lose the exit codes of its own children.
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

/// Returns whether no process has this process id any more.
#[cfg(test)]
pub(crate) fn process_is_gone(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_none_or(|pid| rustix::process::test_kill_process(pid) == Err(Errno::SRCH))
}
