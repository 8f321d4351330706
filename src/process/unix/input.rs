//! The standard input of a process.
//!
//! As much as the pipe holds (64 KiB on Linux) is written before the process starts. Nearly every event
//! fits, so that usually nothing is left to write while the process runs.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;

/// The writing end of the pipe, and the bytes that are still to be written.
pub(super) struct Input<'a> {
    to: PipeWriter,
    left: &'a [u8],
}

impl<'a> Input<'a> {
    /// Returns the reading end for the process, and the writing end unless everything has been written.
    pub(super) fn open(bytes: &'a [u8]) -> io::Result<(PipeReader, Option<Self>)> {
        let (reader, to) = io::pipe()?;
        // Only the writing end gets this flag: the process reads from an end that blocks.
        rustix::io::ioctl_fionbio(&to, true)?;
        let mut input = Self { to, left: bytes };
        // The pipe cannot be broken yet: its reading end is still open here.
        let all = input.left.is_empty() || input.write();
        Ok((reader, (!all).then_some(input)))
    }

    /// Writes what fits. Returns whether it is finished: all is written, or the process has closed its end.
    pub(super) fn write_some(&mut self) -> bool {
        without_sigpipe(|| self.write())
    }

    fn write(&mut self) -> bool {
        match rustix::io::write(&self.to, self.left) {
            Ok(written) => self.left = &self.left[written..],
            Err(Errno::INTR | Errno::AGAIN) => {}
            // Normal: a hook does not have to read its input. Other errors cannot be reported to the hook.
            Err(_) => self.left = &[],
        }
        self.left.is_empty()
    }
}

/// Writes what fits. Returns an error if the process has closed its input.
pub(super) fn write_unless_broken(to: &PipeWriter, bytes: &[u8]) -> Result<usize, Errno> {
    without_sigpipe(|| rustix::io::write(to, bytes))
}

impl AsFd for Input<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.to.as_fd()
    }
}

/// Suppresses the SIGPIPE that a write to a broken pipe raises: it would end a host that does not ignore
/// it, such as one whose `main` is not Rust's. The host's handlers stay unchanged: SIGPIPE is blocked in
/// this thread during the write, and removed if this write has raised it.
fn without_sigpipe<T>(write: impl FnOnce() -> T) -> T {
    use std::mem::MaybeUninit;
    use std::ptr::null_mut;

    // SAFETY: the sets are initialised by `sigemptyset`, `sigpending` and `pthread_sigmask`, which
    // cannot fail with these arguments, before they are read; `sigwait` is called only while
    // SIGPIPE is blocked and pending, so that it returns at once.
    unsafe {
        let mut pipe_only = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(pipe_only.as_mut_ptr());
        libc::sigaddset(pipe_only.as_mut_ptr(), libc::SIGPIPE);
        let is_pending = || {
            let mut pending = MaybeUninit::<libc::sigset_t>::uninit();
            libc::sigemptyset(pending.as_mut_ptr());
            libc::sigpending(pending.as_mut_ptr());
            libc::sigismember(pending.as_ptr(), libc::SIGPIPE) == 1
        };
        let was_pending = is_pending();
        let mut before = MaybeUninit::<libc::sigset_t>::uninit();
        libc::pthread_sigmask(libc::SIG_BLOCK, pipe_only.as_ptr(), before.as_mut_ptr());
        let result = write();
        if !was_pending && is_pending() {
            let mut signal = 0;
            libc::sigwait(pipe_only.as_ptr(), &raw mut signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), null_mut());
        result
    }
}
