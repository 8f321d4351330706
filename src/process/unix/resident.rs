//! A process that is kept for many events: it answers each line on its standard input with one line.
//!
//! Knows lines, not their content. The states of the process:
//!
//! ```text
//! cold ── started for an event ──> busy ── answered ──> idle ── next event ──> busy
//!                                   │                     │
//!                                   │                     └── idle too long, too old, reloaded
//!                                   │                           └── input closed, 250 ms, TERM, 250 ms, KILL ──> gone
//!                                   └── anything else: KILL ──────────────────────────────────────────────────> gone
//! ```
//!
//! The process belongs to the thread that has the value, or to its cell, so that it never has two owners.

use std::io::{self, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::process::Signal;

use super::child::Leader;
use super::poll::Waiter;
use super::{ASK_TO_END, input, spawn};
use crate::process::temporary::Temporary;
use crate::process::{Cancel, Captured, End, LINGER, Spec, Stop};

/// The time that a process gets to end after its input was closed, and again after it got SIGTERM.
const PATIENCE: Duration = Duration::from_millis(250);

/// A kept process.
#[derive(Debug)]
pub(crate) struct Resident {
    leader: Leader,
    /// The temporary directory, which is removed together with the process.
    #[allow(dead_code)]
    temporary: Option<Temporary>,
    /// The input. None once the process must end.
    stdin: Option<PipeWriter>,
    stdout: OwnedFd,
    /// Standard error. None once it is at its end.
    stderr: Option<OwnedFd>,
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
    /// The number of bytes of standard error that are kept.
    pub(crate) stderr_limit: usize,
}

/// Error getting an answer. The process must not be used again.
#[derive(Debug)]
pub(crate) enum Broken {
    TimedOut(Stop),
    Cancelled,
    Ended(End),
    /// The process still runs, but cannot answer any more.
    OutputClosed,
    TooLong,
    /// The process ended or closed its output within a line.
    HalfAnswer,
    /// The process answered before it had read the whole event.
    EventNotRead,
    /// The process wrote more than one line.
    MoreOutput,
    /// The process wrote something before it got an event.
    OutputBefore,
}

/// The state of one exchange.
struct Talk<'a> {
    event: &'a Exchange<'a>,
    /// The part of the event that is still to be sent.
    left: &'a [u8],
    answer: Vec<u8>,
    stderr: Captured,
    /// The time at which the process's output ended. The process cannot answer any more, and gets a moment to end.
    output_ended: Option<Instant>,
    waiter: Waiter,
}

impl Resident {
    /// Starts the process, which does not get `spec.stdin`.
    pub(super) fn start(spec: &Spec<'_>, command: Command, deadline: Instant) -> io::Result<Self> {
        let (process, stdin) = spawn::with_open_input(spec, command, deadline)?;
        for fd in [&process.stdout, &process.stderr] {
            rustix::io::ioctl_fionbio(fd, true)?;
        }
        Ok(Self {
            leader: process.leader,
            temporary: process.temporary,
            stdin: Some(stdin),
            stdout: process.stdout,
            stderr: Some(process.stderr),
            started: Instant::now(),
            events: 0,
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.leader.pid().as_raw_nonzero().get().unsigned_abs()
    }

    pub(crate) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns the number of events that the process has answered.
    pub(crate) fn events(&self) -> u32 {
        self.events
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.leader.has_ended()
    }

    /// Sends an event and returns the answer, at the deadline at the latest. After an error the process must
    /// be killed.
    pub(crate) fn exchange(&mut self, event: &Exchange<'_>) -> (Result<Vec<u8>, Broken>, Captured) {
        if self.events > 0 {
            // Text that was written since the last answer belongs to no event.
            self.read_stderr(&mut Captured::default());
        }
        let mut talk = Talk {
            event,
            left: event.line,
            answer: Vec::new(),
            stderr: Captured::with_limit(event.stderr_limit),
            output_ended: None,
            waiter: Waiter::new(),
        };
        let answer = if self.has_written() {
            Err(Broken::OutputBefore)
        } else {
            self.answer_to(&mut talk)
        };
        self.read_stderr(&mut talk.stderr);
        self.events += u32::from(answer.is_ok());
        (answer, talk.stderr)
    }

    fn answer_to(&mut self, talk: &mut Talk<'_>) -> Result<Vec<u8>, Broken> {
        loop {
            // After this check, all output that the process wrote before its end is read.
            let ended = self.has_ended();
            self.write(talk);
            self.read_stderr(&mut talk.stderr);
            if let Some(answer) = self.read_answer(talk)? {
                return Ok(answer);
            }
            if ended && talk.answer.is_empty() {
                return Err(Broken::Ended(self.take_end(Duration::ZERO)));
            }
            if ended {
                return Err(Broken::HalfAnswer);
            }
            self.check_limits(talk)?;
            self.wait(talk);
        }
    }

    fn check_limits(&self, talk: &Talk<'_>) -> Result<(), Broken> {
        let since = talk.output_ended.map(|since| since.elapsed());
        if since.is_some_and(|since| since >= LINGER) {
            return Err(if talk.answer.is_empty() {
                Broken::OutputClosed
            } else {
                Broken::HalfAnswer
            });
        }
        if talk.event.cancel.is_some_and(Cancel::is_requested) {
            return Err(Broken::Cancelled);
        }
        if Instant::now() >= talk.event.deadline {
            return Err(Broken::TimedOut(self.leader.stop()));
        }
        Ok(())
    }

    /// Returns whether the process has written anything without having received an event.
    fn has_written(&self) -> bool {
        matches!(rustix::io::read(&self.stdout, &mut [0; 1]), Ok(1..))
    }

    /// Sends the bytes that fit. A process that has closed its input may still answer, and may end.
    fn write(&self, talk: &mut Talk<'_>) {
        if let Some(stdin) = self.stdin.as_ref().filter(|_| !talk.left.is_empty()) {
            talk.left = input::write_some(stdin, talk.left);
        }
    }

    /// Returns the answer once its line is complete.
    fn read_answer(&self, talk: &mut Talk<'_>) -> Result<Option<Vec<u8>>, Broken> {
        let mut buffer = [0; 16 * 1024];
        loop {
            let read = match rustix::io::read(&self.stdout, &mut buffer) {
                Ok(0) => {
                    talk.output_ended.get_or_insert_with(Instant::now);
                    return Ok(None);
                }
                Ok(count) => &buffer[..count],
                Err(Errno::INTR) => continue,
                Err(_) => return Ok(None),
            };
            if talk.answer.len() + read.len() > talk.event.answer_limit {
                return Err(Broken::TooLong);
            }
            let Some(end) = read.iter().position(|byte| *byte == b'\n') else {
                talk.answer.extend_from_slice(read);
                continue;
            };
            talk.answer.extend_from_slice(&read[..end]);
            if !talk.left.is_empty() {
                return Err(Broken::EventNotRead);
            }
            if end + 1 < read.len() || self.has_written() {
                return Err(Broken::MoreOutput);
            }
            return Ok(Some(std::mem::take(&mut talk.answer)));
        }
    }

    fn read_stderr(&mut self, captured: &mut Captured) {
        let mut buffer = [0; 16 * 1024];
        // A hook may write without end, so the loop must do other work in between.
        for _ in 0..8 {
            let Some(stderr) = &self.stderr else { return };
            match rustix::io::read(stderr, &mut buffer) {
                Ok(count) if count > 0 => captured.push(&buffer[..count]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Ok(_) | Err(_) => self.stderr = None,
            }
        }
    }

    fn wait(&self, talk: &mut Talk<'_>) {
        let wake = talk.event.cancel.and_then(Cancel::wake);
        let stdin = self.stdin.as_ref().filter(|_| !talk.left.is_empty());
        let is_open = talk.output_ended.is_none();
        let sources = [
            ((), stdin.map(AsFd::as_fd), PollFlags::OUT),
            ((), is_open.then(|| self.stdout.as_fd()), PollFlags::IN),
            ((), self.stderr.as_ref().map(AsFd::as_fd), PollFlags::IN),
            ((), self.leader.pidfd(), PollFlags::IN),
            ((), wake, PollFlags::IN),
        ];
        let looks = self.leader.pidfd().is_none()
            || (talk.event.cancel.is_some() && wake.is_none())
            || !is_open;
        let left = talk.event.deadline;
        let left = left.saturating_duration_since(Instant::now());
        talk.waiter.wait(sources, left, looks);
    }

    /// Kills the rest of the process's tree and takes its exit status.
    fn take_end(&mut self, patience: Duration) -> End {
        self.leader.signal_tree(&[Signal::KILL]);
        self.leader.reap(patience)
    }

    /// Ends a process that may still be working on an event.
    pub(crate) fn kill(mut self) {
        let _ = self.take_end(LINGER);
    }

    /// Ends idle processes, all at once: each sees the end of its input, and gets time to end by itself.
    pub(crate) fn end_all(mut processes: Vec<Self>) {
        for process in &mut processes {
            process.leader.find_outside();
            process.stdin = None;
        }
        wait_for_all(&processes, Leader::has_ended);
        // Processes that have ended by themselves may have left others, which are killed.
        let mut asked: Vec<_> = processes
            .extract_if(.., |process| !process.has_ended())
            .collect();
        processes.into_iter().for_each(Self::kill);
        for process in &mut asked {
            process.leader.signal_tree(&ASK_TO_END);
        }
        wait_for_all(&asked, Leader::tree_is_gone);
        asked.into_iter().for_each(Self::kill);
    }
}

/// Waits until `is_so` is true for all processes, at most for [`PATIENCE`].
fn wait_for_all(processes: &[Resident], is_so: impl Fn(&Leader) -> bool) {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until && !processes.iter().all(|process| is_so(&process.leader)) {
        std::thread::sleep(Duration::from_millis(2));
    }
}
