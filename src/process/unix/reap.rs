//! Takes the exit status of a process, also if other code in the host has taken it, or the process does not end.

use std::os::fd::BorrowedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::group;
use crate::process::End;

/// Processes that could not be reaped in time: killed, but blocked in the kernel (for example by a dead
/// network drive). The next start of a process tries to reap them again.
static LEFTOVERS: Mutex<Vec<Child>> = Mutex::new(Vec::new());

pub(super) fn reap_leftovers() {
    let mut leftovers = LEFTOVERS.lock().unwrap_or_else(PoisonError::into_inner);
    leftovers.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
}

/// The process that a run has started, until it is reaped. If the run panics before that, the process is
/// killed together with its group.
#[derive(Debug)]
pub(super) struct Leader(Option<Child>);

impl Leader {
    pub(super) fn new(child: Child) -> Self {
        Self(Some(child))
    }

    /// Returns the value that replaces a leader which has been reaped.
    pub(super) fn gone() -> Self {
        Self(None)
    }

    pub(super) fn is_gone(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn child(&mut self) -> Option<&mut Child> {
        self.0.as_mut()
    }

    /// Takes the exit status; the process id is free after that. The status of an ended process can be
    /// delayed, for example when the host is traced: the tracer gets it first.
    pub(super) fn reap(mut self, pidfd: Option<BorrowedFd<'_>>, patience: Duration) -> End {
        let Some(mut child) = self.0.take() else {
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
                Err(_) => {
                    return pidfd
                        .and_then(status_in_kernel)
                        .map_or(End::StatusLost, end_of);
                }
            }
        }
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if let Some(child) = self.0.take() {
            group::signal(Pid::from_child(&child), Signal::KILL);
            leave_over(child);
        }
    }
}

fn leave_over(child: Child) {
    LEFTOVERS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(child);
}

fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, Some(signal)) => End::Signaled(signal),
        (None, None) => End::StatusLost,
    }
}

/// Asks the kernel for the exit status of a process that has been reaped. Linux 6.15 and newer keep it for
/// the holder of a pidfd (`PIDFD_GET_INFO`, `include/uapi/linux/pidfd.h`).
#[cfg(target_os = "linux")]
fn status_in_kernel(pidfd: BorrowedFd<'_>) -> Option<ExitStatus> {
    use std::os::fd::AsRawFd;

    /// The first version of `struct pidfd_info`.
    #[repr(C)]
    #[derive(Default)]
    struct Info {
        mask: u64,
        cgroup: u64,
        ids: [u32; 11],
        exit_code: i32,
    }
    const SIZE: libc::c_ulong = 64;
    const _: () = assert!(size_of::<Info>() as libc::c_ulong == SIZE);
    /// `_IOWR(0xFF, 11, struct pidfd_info)` on architectures with the direction in the two highest bits.
    const PIDFD_GET_INFO: libc::c_ulong = 3 << 30 | SIZE << 16 | 0xFF << 8 | 11;
    const PIDFD_INFO_EXIT: u64 = 1 << 3;
    if cfg!(any(
        target_arch = "mips",
        target_arch = "mips64",
        target_arch = "powerpc64"
    )) {
        return None;
    }
    // A wait can see the end of the process slightly before the kernel has stored its status.
    for _ in 0..100 {
        let mut info = Info {
            mask: PIDFD_INFO_EXIT,
            ..Info::default()
        };
        // SAFETY: the descriptor is open, and `info` is as large as the request says.
        let answer = unsafe { libc::ioctl(pidfd.as_raw_fd(), PIDFD_GET_INFO as _, &raw mut info) };
        if answer != 0 {
            return None;
        }
        if info.mask & PIDFD_INFO_EXIT != 0 {
            return Some(ExitStatus::from_raw(info.exit_code));
        }
        std::thread::yield_now();
    }
    None
}

#[cfg(not(target_os = "linux"))]
fn status_in_kernel(_pidfd: BorrowedFd<'_>) -> Option<ExitStatus> {
    None
}
