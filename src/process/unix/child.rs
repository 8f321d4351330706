//! The process and its group: starting, waiting in two ways, signalling, reaping.
//!
//! On Linux a pidfd tells of the end. Where there is none, `wait-timeout` does, in short slices; it
//! is not the first choice because it installs a handler for SIGCHLD, with which a host that
//! ignores that signal crashes and one that replaces the handler waits too long (docs/gotchas.md).

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use wait_timeout::ChildExt;

use super::End;

/// How often a group that was asked to end is looked at.
pub(super) const GROUP_INTERVAL: Duration = Duration::from_millis(10);

/// How often a process is looked at of whose end nothing tells.
const EXIT_INTERVAL: Duration = Duration::from_millis(5);

/// How the end of the process is learnt.
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
        if sigchld_can_be_handled() {
            // An error is a process that somebody else has reaped.
            return !matches!(child.wait_timeout(left), Ok(None));
        }
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
fn sigchld_can_be_handled() -> bool {
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

/// Sends a signal to all of the group. An error is a group that is gone, or one all of whose
/// processes belong to another user by now: nothing is to be done about either.
pub(super) fn signal_group(leader: Pid, signal: Signal) {
    let _ = rustix::process::kill_process_group(leader, signal);
}

/// Whether nothing of the group lives any more. Its leader, which has ended and is not reaped,
/// does not count.
#[cfg(target_os = "linux")]
pub(super) fn group_is_gone(leader: Pid) -> bool {
    let group = leader.as_raw_nonzero().get().to_string();
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return false;
    };
    !processes.flatten().any(|process| {
        let number = process.file_name();
        number
            .as_encoded_bytes()
            .first()
            .is_some_and(u8::is_ascii_digit)
            && std::fs::read_to_string(process.path().join("stat"))
                .is_ok_and(|stat| lives_in_group(&stat, &group))
    })
}

/// Elsewhere nothing tells quickly, so the grace is waited for.
#[cfg(not(target_os = "linux"))]
pub(super) fn group_is_gone(_leader: Pid) -> bool {
    false
}

/// Reads `/proc/PID/stat` (proc_pid_stat(5)): behind the name in parentheses, which may hold
/// anything, stand the state, the parent and the group.
#[cfg(target_os = "linux")]
fn lives_in_group(stat: &str, group: &str) -> bool {
    let Some((_, fields)) = stat.rsplit_once(')') else {
        return false;
    };
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next();
    !matches!(state, Some("Z" | "X")) && fields.nth(1) == Some(group)
}

/// Processes that could not be reaped in time: killed, but held in the kernel (a dead network
/// drive). They are tried again whenever another process is started.
static LEFTOVERS: Mutex<Vec<Child>> = Mutex::new(Vec::new());

pub(super) fn reap_leftovers() {
    let mut leftovers = LEFTOVERS.lock().unwrap_or_else(PoisonError::into_inner);
    leftovers.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
}

/// Takes the exit status, which ends the life of the process's number.
pub(super) fn reap(mut child: Child) -> End {
    match child.try_wait() {
        Ok(Some(status)) => end_of(status),
        // Killed, and still held in the kernel.
        Ok(None) => {
            LEFTOVERS
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(child);
            End::StatusLost
        }
        Err(_) => End::StatusLost,
    }
}

fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, Some(signal)) => End::Signaled(signal),
        (None, None) => End::StatusLost,
    }
}

/// Whether no process has this number any more.
pub(crate) fn process_is_gone(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_none_or(|pid| rustix::process::test_kill_process(pid) == Err(Errno::SRCH))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_by_its_group_whatever_its_name() {
        for (stat, expected) in [
            ("7 (sh) S 1 7 7 0 -1", true),
            ("7 (a) Z 1 9 (b) R 1 7 7 0", true),
            ("7 (sh) Z 1 7 7 0 -1", false),
            ("8 (sh) S 7 8 7 0 -1", false),
            ("", false),
        ] {
            assert_eq!(lives_in_group(stat, "7"), expected, "{stat}");
        }
    }
}
