//! A kept process: for each of many events it reads one line, and answers with one line.
//!
//! Knows lines, not what they contain. Its states:
//!
//! ```text
//! cold ── started for an event ──> busy ── answered ──> idle ── next event ──> busy
//!                                   │                     │
//!                                   └── anything else     └── idle too long, too old, too many, reloaded
//!                                        └─────────────┬──────────┘
//!                                                      v
//!          ending: input closed, 250 ms, TERM, 250 ms, KILL ──> gone
//! ```
//!
//! A busy process belongs to the thread that fired the event, an idle or ending process to the keeper
//! (`keeper.rs`). Moving the value hands the process over, so that it never has two owners.

use std::io::{self, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use super::child::{self, ChildWait};
use super::group;
use super::input::write_unless_broken;
use super::reap::Leader;
use super::spawn;
use crate::process::{Cancel, Captured, End, LINGER, Spec};

/// How often a process is checked for changes that no descriptor reports.
const INTERVAL: Duration = Duration::from_millis(20);

/// A kept process.
#[derive(Debug)]
pub(crate) struct Resident {
    leader: Leader,
    pid: Pid,
    wait: Arc<ChildWait>,
    /// None once the process is to end.
    stdin: Option<PipeWriter>,
    stdout: OwnedFd,
    /// Shared with the keeper, which waits on it while the process is idle.
    stderr: Arc<OwnedFd>,
    stderr_ended: bool,
    /// The process id of the host that started it. A forked copy of the host must never use the pipes.
    host: u32,
    started: Instant,
    events: u32,
}

/// One event for the process.
pub(crate) struct Exchange<'a> {
    /// The event, including its line feed.
    pub(crate) line: &'a [u8],
    pub(crate) deadline: Instant,
    pub(crate) cancel: Option<&'a Cancel>,
    /// The most bytes that an answer may have.
    pub(crate) answer_limit: usize,
    /// How many bytes of standard error are kept.
    pub(crate) stderr_limit: usize,
}

/// Why there is no answer. The process must not be used again.
#[derive(Debug)]
pub(crate) enum Broken {
    TimedOut {
        stopped: bool,
    },
    Cancelled,
    Ended(End),
    /// It still runs, but cannot answer any more.
    OutputClosed,
    TooLong,
    /// It answered before it had read the whole event.
    EventNotRead,
    /// It wrote more than one line.
    MoreOutput,
    /// It wrote something before it got an event.
    OutputBefore,
}

impl Resident {
    /// Starts the process. It does not get `spec.stdin`.
    pub(super) fn start(spec: &Spec<'_>, command: Command, deadline: Instant) -> io::Result<Self> {
        let (mut child, stdin) = spawn::with_open_input(spec, command, deadline)?;
        let pid = Pid::from_child(&child);
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let leader = Leader::new(child);
        let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
            return Err(io::Error::other("no pipes"));
        };
        let (stdout, stderr) = (OwnedFd::from(stdout), OwnedFd::from(stderr));
        for fd in [&stdout, &stderr] {
            rustix::io::ioctl_fionbio(fd, true)?;
        }
        Ok(Self {
            leader,
            pid,
            wait: Arc::new(ChildWait::new(pid)),
            stdin: Some(stdin),
            stdout,
            stderr: Arc::new(stderr),
            stderr_ended: false,
            host: std::process::id(),
            started: Instant::now(),
            events: 0,
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    pub(crate) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// The number of events that it has answered.
    pub(crate) fn events(&self) -> u32 {
        self.events
    }

    /// Whether this host has started it, and it has not ended.
    pub(crate) fn is_usable(&self) -> bool {
        self.host == std::process::id() && !child::has_ended(self.pid)
    }

    pub(super) fn has_ended(&self) -> bool {
        child::has_ended(self.pid)
    }

    /// Whether its exit status has been taken: another process may have its id by now.
    pub(super) fn is_reaped(&self) -> bool {
        self.leader.is_gone()
    }

    /// The descriptors that the keeper waits for while the process is idle or ending.
    pub(super) fn watched(&self) -> Watched {
        Watched {
            stderr: (!self.stderr_ended).then(|| Arc::clone(&self.stderr)),
            wait: Arc::clone(&self.wait),
        }
    }

    /// Reads and discards what it writes to standard error while it is idle. Returns the number of bytes.
    pub(super) fn discard_stderr(&mut self) -> usize {
        let mut nothing = Captured::default();
        self.read_stderr(&mut nothing);
        usize::try_from(nothing.omitted()).unwrap_or(usize::MAX)
    }

    /// Sends an event and returns the answer, at the deadline at the latest. After an error the process must
    /// be ended.
    pub(crate) fn exchange(&mut self, event: &Exchange<'_>) -> (Result<Vec<u8>, Broken>, Captured) {
        let mut running = Running {
            left: event.line,
            answer: Vec::new(),
            stderr: Captured::with_limit(event.stderr_limit),
            output_ended: None,
            ended: false,
        };
        let answer = self.answer_to(event, &mut running);
        self.read_stderr(&mut running.stderr);
        if answer.is_ok() {
            self.events = self.events.saturating_add(1);
        }
        (answer, running.stderr)
    }

    fn answer_to(
        &mut self,
        event: &Exchange<'_>,
        running: &mut Running<'_>,
    ) -> Result<Vec<u8>, Broken> {
        if self.has_written() {
            return Err(Broken::OutputBefore);
        }
        self.write(running);
        loop {
            if let Some(answer) = self.read_answer(event, running)? {
                return Ok(answer);
            }
            // All that it wrote before its end has been read.
            if running.ended {
                return Err(Broken::Ended(self.end()));
            }
            if running
                .output_ended
                .is_some_and(|since| since.elapsed() >= LINGER)
            {
                return Err(Broken::OutputClosed);
            }
            if event.cancel.is_some_and(Cancel::is_requested) {
                return Err(Broken::Cancelled);
            }
            if Instant::now() >= event.deadline {
                let stopped = group::is_stopped(self.pid);
                return Err(Broken::TimedOut { stopped });
            }
            self.wait_for_something(event, running);
            self.write(running);
            self.read_stderr(&mut running.stderr);
            running.ended = child::has_ended(self.pid);
        }
    }

    /// Whether it has written anything without having got an event.
    fn has_written(&self) -> bool {
        matches!(rustix::io::read(&self.stdout, &mut [0; 1]), Ok(1..))
    }

    fn write(&mut self, running: &mut Running<'_>) {
        if running.left.is_empty() {
            return;
        }
        let Some(stdin) = &self.stdin else { return };
        match write_unless_broken(stdin, running.left) {
            Ok(written) => running.left = &running.left[written..],
            Err(Errno::INTR | Errno::AGAIN) => {}
            // It has closed its input. It may still answer, and may end.
            Err(_) => running.left = &[],
        }
    }

    /// Returns the answer once its line is complete.
    fn read_answer(
        &mut self,
        event: &Exchange<'_>,
        running: &mut Running<'_>,
    ) -> Result<Option<Vec<u8>>, Broken> {
        let mut buffer = [0; 16 * 1024];
        loop {
            let count = match rustix::io::read(&self.stdout, &mut buffer) {
                Ok(0) => {
                    running.output_ended.get_or_insert_with(Instant::now);
                    return Ok(None);
                }
                Ok(count) => count,
                Err(Errno::INTR) => continue,
                Err(_) => return Ok(None),
            };
            let read = &buffer[..count];
            if running.answer.len() + count > event.answer_limit {
                return Err(Broken::TooLong);
            }
            let Some(end) = read.iter().position(|byte| *byte == b'\n') else {
                running.answer.extend_from_slice(read);
                continue;
            };
            running.answer.extend_from_slice(&read[..end]);
            if !running.left.is_empty() {
                return Err(Broken::EventNotRead);
            }
            if end + 1 < count || self.has_written() {
                return Err(Broken::MoreOutput);
            }
            return Ok(Some(std::mem::take(&mut running.answer)));
        }
    }

    fn read_stderr(&mut self, captured: &mut Captured) {
        let mut buffer = [0; 16 * 1024];
        // A hook may write without end: the loop must do other work in between.
        for _ in 0..8 {
            if self.stderr_ended {
                return;
            }
            match rustix::io::read(&*self.stderr, &mut buffer) {
                Ok(0) => self.stderr_ended = true,
                Ok(count) => captured.push(&buffer[..count]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.stderr_ended = true,
            }
        }
    }

    fn wait_for_something(&self, event: &Exchange<'_>, running: &Running<'_>) {
        let wake = event.cancel.and_then(Cancel::wake);
        let stdin = self.stdin.as_ref().filter(|_| !running.left.is_empty());
        let sources = [
            running
                .output_ended
                .is_none()
                .then(|| (self.stdout.as_fd(), PollFlags::IN)),
            stdin.map(|fd| (fd.as_fd(), PollFlags::OUT)),
            (!self.stderr_ended).then(|| (self.stderr.as_fd(), PollFlags::IN)),
            self.wait.pidfd().map(|fd| (fd, PollFlags::IN)),
            wake.map(|fd| (fd, PollFlags::IN)),
        ];
        let tells_all = self.wait.pidfd().is_some()
            && (event.cancel.is_none() || wake.is_some())
            && running.output_ended.is_none();
        let left = event.deadline.saturating_duration_since(Instant::now());
        let longest = if tells_all { left } else { left.min(INTERVAL) };
        wait(sources.into_iter().flatten(), Some(longest));
    }

    /// Closes its input, so that the process ends by itself.
    pub(super) fn close_input(&mut self) {
        self.stdin = None;
    }

    pub(super) fn signal(&self, signal: Signal) {
        group::signal(self.pid, signal);
    }

    /// Takes its exit status, and kills the rest of its group.
    fn end(&mut self) -> End {
        group::signal(self.pid, Signal::KILL);
        let leader = std::mem::replace(&mut self.leader, Leader::gone());
        leader.reap(self.wait.pidfd(), Duration::ZERO)
    }

    /// Reaps the process after it [has ended](Self::has_ended).
    pub(super) fn reap(mut self) {
        let _ = self.end();
    }
}

/// The state of one exchange.
struct Running<'a> {
    left: &'a [u8],
    answer: Vec<u8>,
    stderr: Captured,
    /// When its output ended. It cannot answer any more, and gets a moment to end.
    output_ended: Option<Instant>,
    ended: bool,
}

/// The descriptors of a process on which the keeper waits.
pub(super) struct Watched {
    stderr: Option<Arc<OwnedFd>>,
    wait: Arc<ChildWait>,
}

impl Watched {
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let stderr = self.stderr.as_ref().map(|fd| fd.as_fd());
        stderr.into_iter().chain(self.wait.pidfd())
    }

    /// How often it must be checked. None: a descriptor reports its end.
    pub(super) fn interval(&self) -> Option<Duration> {
        self.wait.pidfd().is_none().then_some(INTERVAL)
    }
}

/// Waits until a source is ready or the time is over.
pub(super) fn wait<'a>(
    sources: impl Iterator<Item = (BorrowedFd<'a>, PollFlags)>,
    longest: Option<Duration>,
) {
    let mut fds: Vec<_> = sources
        .map(|(fd, flags)| PollFd::from_borrowed_fd(fd, flags))
        .collect();
    let timeout = longest.and_then(|longest| Timespec::try_from(longest).ok());
    // An error is EINTR or ENOMEM: the caller checks again.
    let _ = rustix::event::poll(&mut fds, timeout.as_ref());
}
