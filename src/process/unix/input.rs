//! What a process reads on its standard input.
//!
//! As much as the pipe holds (64 KiB on Linux) is put there before the process starts: nearly every
//! event fits, and then nothing is left to do while it runs.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;

/// The writing end, and what is still to be written.
pub(super) struct Input<'a> {
    to: PipeWriter,
    left: &'a [u8],
}

impl<'a> Input<'a> {
    /// The reading end for the process, and the writing end unless all has been written.
    pub(super) fn open(bytes: &'a [u8]) -> io::Result<(PipeReader, Option<Self>)> {
        let (reader, to) = io::pipe()?;
        // A flag of the writing end alone: the process reads from an end that blocks.
        rustix::io::ioctl_fionbio(&to, true)?;
        let mut input = Self { to, left: bytes };
        // This end of the pipe cannot be broken yet: its other end is here.
        let all = input.left.is_empty() || input.write();
        Ok((reader, (!all).then_some(input)))
    }

    /// Writes what fits. Whether there is nothing left to do: all is written, or nobody reads.
    pub(super) fn write_some(&mut self) -> bool {
        without_sigpipe(|| self.write())
    }

    fn write(&mut self) -> bool {
        match rustix::io::write(&self.to, self.left) {
            Ok(written) => self.left = &self.left[written..],
            Err(Errno::INTR | Errno::AGAIN) => {}
            // Normal: a hook need not read. Whatever else it is, the hook cannot be told.
            Err(_) => self.left = &[],
        }
        self.left.is_empty()
    }
}

/// Writes what fits; an input that the process has closed is an error.
pub(super) fn write_unless_broken(to: &PipeWriter, bytes: &[u8]) -> Result<usize, Errno> {
    without_sigpipe(|| rustix::io::write(to, bytes))
}

impl AsFd for Input<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.to.as_fd()
    }
}

/// Keeps the signal that a write to a broken pipe raises from a host that does not ignore it, as
/// one whose `main` is not Rust's does not. Nothing else of the host's is touched: the signal is
/// blocked for this thread and this moment, and taken away if it was this write that raised it.
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
