//! A process that is started for an answer. It and all its children end in time.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// The interval at which `end` checks whether the process has ended.
const TICK: Duration = Duration::from_millis(10);

/// A process, in a group of its own on Unix. Dropping it kills the group.
pub(crate) struct BoundedChild {
    pub(crate) child: Child,
    is_reaped: bool,
}

impl BoundedChild {
    /// # Errors
    /// If the program cannot be started.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        Ok(Self {
            child: command.spawn()?,
            is_reaped: false,
        })
    }

    /// Waits at most this long for the process, and then kills the rest of the group. Returns the status if the process ended by itself.
    pub(crate) fn end(mut self, longest: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + longest;
        while !self.has_ended() {
            if Instant::now() >= deadline {
                return None;
            }
            thread::sleep(TICK);
        }
        self.kill()
    }

    /// Returns whether the process has ended. It stays unreaped, so that no other group gets its number.
    #[cfg(unix)]
    fn has_ended(&mut self) -> bool {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let ended = waitid(WaitId::Pid(Pid::from_child(&self.child)), options);
        !matches!(ended, Ok(None))
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    fn kill(&mut self) -> Option<ExitStatus> {
        #[cfg(unix)]
        let _ = rustix::process::kill_process_group(
            rustix::process::Pid::from_child(&self.child),
            rustix::process::Signal::KILL,
        );
        let _ = self.child.kill();
        self.is_reaped = true;
        self.child.wait().ok()
    }
}

impl Drop for BoundedChild {
    fn drop(&mut self) {
        if !self.is_reaped {
            self.kill();
        }
    }
}
