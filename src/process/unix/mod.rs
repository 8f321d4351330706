//! The runner on Unix: one loop over the pipes and the end of the process, with one deadline.
//!
//! The states of a run and their transitions:
//!
//! ```text
//! Running ── it ended, output still open ──> Lingering ── output ended, or 250 ms ──> over
//!    │  └─── it ended, output too ──────────────────────────────────────────────────> over
//!    └── deadline or cancelled: TERM, CONT ──> Ending
//!          grace over, or the whole tree gone: KILL ──> Killed ── output ended ──> over
//!                                                          └── 250 ms ──────────> over
//! ```
//!
//! The process is reaped last, so that until then no other group can get its process group id.

#[cfg(target_os = "openbsd")]
compile_error!(
    "forge-hooks does not support OpenBSD: its runner needs `waitid`, which `rustix` does not have there"
);

mod child;
#[cfg(all(target_os = "linux", not(forge_hooks_no_pidfd)))]
mod descendants;
#[cfg(not(all(target_os = "linux", not(forge_hooks_no_pidfd))))]
#[path = "no_descendants.rs"]
mod descendants;
mod direct;
mod group;
mod input;
mod keeper;
#[cfg(target_os = "linux")]
mod proc;
mod program;
mod reap;
mod resident;
mod spawn;
#[cfg(test)]
mod tests;

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Signal};

use self::child::ChildWait;
use self::descendants::Descendants;
use self::input::Input;
use self::reap::Leader;
use super::{Captured, End, Finished, LINGER, Spec, StartError};

pub(crate) use self::child::process_is_gone;
pub(crate) use self::keeper::Keeper;
pub(crate) use self::program::program_of;
pub(crate) use self::resident::{Broken, Exchange, Resident};

/// How often a run checks for a cancellation if no pipe wakes it.
const CANCEL_INTERVAL: Duration = Duration::from_millis(20);

pub(super) fn run(spec: &Spec<'_>, started: Instant) -> Result<Finished, StartError> {
    direct::start(spec, |command| run_command(spec, command, started))
}

fn run_command(spec: &Spec<'_>, command: Command, started: Instant) -> io::Result<Finished> {
    let deadline = started + spec.timeout;
    let (child, stdin) = spawn::with_input(spec, command, deadline)?;
    Ok(Running::new(spec, child, stdin, deadline).run_to_the_end(started))
}

/// Starts a kept process. It does not get `spec.stdin`.
pub(crate) fn start_resident(spec: &Spec<'_>, deadline: Instant) -> Result<Resident, StartError> {
    direct::start(spec, |command| Resident::start(spec, command, deadline))
}

/// Why the runner ended the process early.
#[derive(Clone, Copy)]
enum Cut {
    TimedOut { stopped: bool },
    Cancelled,
}

#[derive(Clone, Copy)]
enum Phase {
    Running,
    Lingering { until: Instant },
    Ending { why: Cut, kill_at: Instant },
    Killed { why: Cut, until: Instant },
}

struct Running<'a> {
    spec: &'a Spec<'a>,
    leader: Leader,
    pid: Pid,
    wait: ChildWait,
    stdin: Option<Input<'a>>,
    stdout: Pipe,
    stderr: Pipe,
    deadline: Instant,
    phase: Phase,
    /// Searched for when the process is asked to end.
    descendants: Descendants,
    /// The process has ended; it is not reaped yet.
    ended: bool,
}

/// One of the process's outputs. Without a descriptor it is at its end.
struct Pipe {
    from: Option<OwnedFd>,
    captured: Captured,
}

/// One thing that a turn of the loop waits for.
#[derive(Clone, Copy)]
enum Source {
    Stdin,
    Stdout,
    Stderr,
    Exit,
    Cancel,
}

impl<'a> Running<'a> {
    fn new(
        spec: &'a Spec<'a>,
        mut child: Child,
        stdin: Option<Input<'a>>,
        deadline: Instant,
    ) -> Self {
        let pipe = |from: Option<OwnedFd>| Pipe {
            from,
            captured: Captured::with_limit(spec.output_limit),
        };
        let pid = Pid::from_child(&child);
        Self {
            spec,
            pid,
            wait: ChildWait::new(pid),
            stdin,
            stdout: pipe(child.stdout.take().map(Into::into)),
            stderr: pipe(child.stderr.take().map(Into::into)),
            leader: Leader::new(child),
            deadline,
            phase: Phase::Running,
            descendants: Descendants::default(),
            ended: false,
        }
    }

    fn run_to_the_end(mut self, started: Instant) -> Finished {
        while !self.is_over() {
            let limit = self.limit();
            if Instant::now() >= limit {
                if !self.limit_reached() {
                    break;
                }
            } else if self.only_the_end_is_awaited() {
                let child = self.leader.child();
                self.ended = child.is_none_or(|child| ChildWait::wait_slice(child, limit));
                self.heed_cancel();
            } else {
                self.turn(limit);
            }
        }
        self.finish(started)
    }

    /// Whether only the end of the process is left to wait for, and no descriptor reports it.
    fn only_the_end_is_awaited(&self) -> bool {
        self.phase_is_running()
            && self.wait.pidfd().is_none()
            && self.output_ended()
            && self.stdin.is_none()
    }

    fn phase_is_running(&self) -> bool {
        matches!(self.phase, Phase::Running)
    }

    fn output_ended(&self) -> bool {
        self.stdout.from.is_none() && self.stderr.from.is_none()
    }

    fn is_over(&mut self) -> bool {
        match self.phase {
            Phase::Running | Phase::Lingering { .. } | Phase::Killed { .. } => {
                self.ended && self.output_ended()
            }
            // Processes that the hook has left behind get the grace period too. Once all are gone, only their
            // output is left to read.
            Phase::Ending { .. } => {
                if !self.ended || !self.tree_is_gone() {
                    return false;
                }
                self.force();
                self.output_ended()
            }
        }
    }

    /// Checks the descendants first: to check the group, all of `/proc` must be read.
    fn tree_is_gone(&mut self) -> bool {
        self.descendants.are_gone() && group::is_gone(self.pid)
    }

    /// The latest end of the current phase.
    fn limit(&self) -> Instant {
        match self.phase {
            Phase::Running => self.deadline,
            Phase::Ending { kill_at, .. } => kill_at,
            Phase::Lingering { until } | Phase::Killed { until, .. } => until,
        }
    }

    /// Enters the next phase. Returns false if this was the last one.
    fn limit_reached(&mut self) -> bool {
        match self.phase {
            Phase::Running => {
                // A last check: the process may have ended since the previous turn.
                if child::has_ended(self.pid) {
                    self.note_end();
                } else {
                    let stopped = group::is_stopped(self.pid);
                    self.begin_to_end(Cut::TimedOut { stopped });
                }
                true
            }
            Phase::Lingering { .. } | Phase::Killed { .. } => false,
            Phase::Ending { .. } => {
                // The process may have started others during the grace period.
                self.descendants.find(self.pid);
                self.force();
                true
            }
        }
    }

    /// Ends the grace period. Harmless if no process is left: the unreaped leader keeps the group's id.
    fn force(&mut self) {
        if let Phase::Ending { why, .. } = self.phase {
            group::signal(self.pid, Signal::KILL);
            self.descendants.signal(&[Signal::KILL]);
            let until = Instant::now() + LINGER;
            self.phase = Phase::Killed { why, until };
        }
    }

    /// Signals the group first: a shell whose child has ended would run its next command.
    fn begin_to_end(&mut self, why: Cut) {
        self.descendants.find(self.pid);
        group::signal(self.pid, Signal::TERM);
        // A stopped process handles TERM only after it is continued.
        group::signal(self.pid, Signal::CONT);
        self.descendants.signal(&[Signal::TERM, Signal::CONT]);
        self.phase = Phase::Ending {
            why,
            kill_at: Instant::now() + self.spec.kill_grace,
        };
    }

    fn heed_cancel(&mut self) {
        let cancelled = self.spec.cancel.is_some_and(super::Cancel::is_requested);
        if cancelled && !self.ended && self.phase_is_running() {
            self.begin_to_end(Cut::Cancelled);
        }
    }

    /// Waits until a source is ready or the limit is reached, and handles it.
    fn turn(&mut self, limit: Instant) {
        let ready = self.poll(limit);
        let mut ended = self.wait.pidfd().is_none() && child::has_ended(self.pid);
        for source in ready {
            match source {
                Source::Stdin => self.write_stdin(),
                Source::Stdout => self.stdout.read(),
                Source::Stderr => self.stderr.read(),
                Source::Exit => ended = true,
                Source::Cancel => {}
            }
        }
        if ended {
            self.note_end();
        }
        self.heed_cancel();
    }

    /// Records that the process has ended. Its output may still be in the pipes, and others may still write.
    fn note_end(&mut self) {
        self.ended = true;
        self.stdin = None;
        if self.phase_is_running() && !self.output_ended() {
            self.phase = Phase::Lingering {
                until: Instant::now() + LINGER,
            };
        }
    }

    fn write_stdin(&mut self) {
        if self.stdin.as_mut().is_some_and(Input::write_some) {
            self.stdin = None;
        }
    }

    fn poll(&self, limit: Instant) -> Vec<Source> {
        let sources = self.sources();
        let left = limit.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left.min(self.longest_turn())).ok();
        let mut fds = Vec::with_capacity(sources.len());
        for (source, fd) in &sources {
            let flags = match source {
                Source::Stdin => PollFlags::OUT,
                _ => PollFlags::IN,
            };
            fds.push(PollFd::from_borrowed_fd(*fd, flags));
        }
        // An error is EINTR or ENOMEM: the next turn tries again, and the limit still applies.
        if rustix::event::poll(&mut fds, timeout.as_ref()).is_err() {
            return Vec::new();
        }
        let ready = sources
            .iter()
            .zip(&fds)
            .filter(|(_, fd)| !fd.revents().is_empty());
        ready.map(|((source, _), _)| *source).collect()
    }

    /// The sources to wait for. The end of the process comes last, so that its output is read first.
    fn sources(&self) -> Vec<(Source, BorrowedFd<'_>)> {
        let stdin = self.stdin.as_ref().map(AsFd::as_fd);
        let stdout = self.stdout.from.as_ref().map(AsFd::as_fd);
        let stderr = self.stderr.from.as_ref().map(AsFd::as_fd);
        let cancel = self.spec.cancel.filter(|_| self.phase_is_running());
        let pidfd = self.wait.pidfd().filter(|_| !self.ended);
        let all = [
            (Source::Stdin, stdin),
            (Source::Stdout, stdout),
            (Source::Stderr, stderr),
            (Source::Cancel, cancel.and_then(super::Cancel::wake)),
            (Source::Exit, pidfd),
        ];
        let present = |(source, fd): (Source, Option<_>)| Some((source, fd?));
        all.into_iter().filter_map(present).collect()
    }

    /// The longest time a turn may take if something must be checked that no descriptor reports.
    fn longest_turn(&self) -> Duration {
        let unheard = match self.phase {
            Phase::Running => {
                let cancel = self.spec.cancel.filter(|cancel| cancel.wake().is_none());
                cancel.map(|_| CANCEL_INTERVAL)
            }
            // Whether the group is gone can only be polled.
            Phase::Ending { .. } => Some(group::LOOK_INTERVAL),
            Phase::Lingering { .. } | Phase::Killed { .. } => None,
        };
        let exit = if self.ended {
            None
        } else {
            self.wait.interval()
        };
        [unheard, exit]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(Duration::MAX)
    }

    fn finish(mut self, started: Instant) -> Finished {
        let pid = self.pid.as_raw_nonzero().get().unsigned_abs();
        let output_held_open = self.ended && !self.output_ended();
        let patience = if self.ended { LINGER } else { Duration::ZERO };
        let status = self.leader.reap(self.wait.pidfd(), patience);
        let end = match self.phase {
            Phase::Running | Phase::Lingering { .. } => status,
            Phase::Ending { why, .. } | Phase::Killed { why, .. } => match why {
                Cut::TimedOut { stopped } => End::TimedOut { stopped },
                Cut::Cancelled => End::Cancelled,
            },
        };
        self.stdin = None;
        Finished {
            end,
            stdout: self.stdout.captured,
            stderr: self.stderr.captured,
            pid: Some(pid),
            duration: started.elapsed(),
            output_held_open,
        }
    }
}

impl Pipe {
    /// Reads what is available. Must only be called after `poll` has reported data: the descriptor is
    /// blocking. No other thread reads from it.
    fn read(&mut self) {
        let Some(from) = &self.from else { return };
        let mut buffer = [MaybeUninit::<u8>::uninit(); 32 * 1024];
        match rustix::io::read(from, &mut buffer) {
            Ok(([], _)) => self.from = None,
            Ok((bytes, _)) => self.captured.push(bytes),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => self.from = None,
        }
    }
}
