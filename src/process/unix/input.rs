//! The standard input of a process: a pipe whose writing end does not block.
//!
//! The bytes that fit into the pipe (64 KiB on Linux) are written before the process starts. Nearly every event fits, so
//! that usually nothing is left to write while the process runs.

use std::io::{self, PipeReader, PipeWriter};

use rustix::io::Errno;
use rustix::pipe::PIPE_BUF;

/// The bytes that are still to be written to a process, and the pipe for them.
pub(super) type Rest<'a> = (PipeWriter, &'a [u8]);

/// Returns the reading end for the process, and the writing end. Only the writing end does not block: the process
/// expects to wait for its input.
pub(super) fn pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    rustix::io::ioctl_fionbio(&writer, true)?;
    Ok((reader, writer))
}

/// Returns the reading end of a pipe with this input, and the rest that did not fit, with the writing end.
pub(super) fn filled(bytes: &[u8]) -> io::Result<(PipeReader, Option<Rest<'_>>)> {
    // `PIPE_BUF` bytes fit into every empty pipe, so the write does not wait.
    let (reader, writer) = if bytes.len() <= PIPE_BUF {
        io::pipe()?
    } else {
        pipe()?
    };
    let left = write_unread(&writer, bytes);
    Ok((reader, (!left.is_empty()).then_some((writer, left))))
}

/// Writes the bytes that fit, and returns the rest. Must be called only while the reading end is open here.
fn write_unread<'a>(to: &PipeWriter, bytes: &'a [u8]) -> &'a [u8] {
    match rustix::io::write(to, bytes) {
        Ok(count) => &bytes[count..],
        Err(Errno::INTR | Errno::AGAIN) => bytes,
        // A closed pipe is normal: a hook does not have to read its input. Other errors cannot be reported to the hook.
        Err(_) => &[],
    }
}

/// Writes the bytes that fit, and returns the rest: nothing if the process has closed its end.
///
/// Suppresses the SIGPIPE that a write to a broken pipe raises: it would end a host that does not ignore
/// it, such as one whose `main` is not Rust's. The host's handlers stay unchanged: SIGPIPE is blocked in
/// this thread during the write, and removed if this write has raised it.
pub(super) fn write_some<'a>(to: &PipeWriter, bytes: &'a [u8]) -> &'a [u8] {
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
        let left = write_unread(to, bytes);
        if !was_pending && is_pending() {
            let mut signal = 0;
            libc::sigwait(pipe_only.as_ptr(), &raw mut signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), null_mut());
        left
    }
}
