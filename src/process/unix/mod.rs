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
#[cfg_attr(
    not(all(
        target_os = "linux",
        any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            target_arch = "riscv64"
        ),
        target_pointer_width = "64",
        target_endian = "little"
    )),
    path = "confined_elsewhere.rs"
)]
mod confined;
mod direct;
mod input;
mod poll;
mod program;
mod resident;
mod spawn;
#[cfg(test)]
mod tests;
#[cfg_attr(not(target_os = "linux"), path = "tree_elsewhere.rs")]
mod tree;

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::process::Signal;

use self::child::{Leader, Started};
use self::input::Rest;
use self::poll::Waiter;
use super::temporary::Temporary;
use super::{Cancel, Captured, End, Finished, LINGER, Spec, StartError, Stop};

#[cfg(test)]
pub(crate) use self::child::process_is_gone;
pub(crate) use self::confined::{check_place, support as sandbox_support};
pub(crate) use self::program::program_of;
pub(crate) use self::resident::{Broken, Exchange, Resident};
#[cfg(feature = "cli")]
pub(crate) use self::tree::{lineage, name_of};

pub(super) fn run(spec: &Spec<'_>, started: Instant) -> Result<Finished, StartError> {
    direct::start(spec, |command| {
        let deadline = started + spec.timeout;
        let (process, stdin) = spawn::with_input(spec, command, deadline)?;
        Ok(Running::new(spec, process, stdin, deadline).run_to_the_end(started))
    })
}

/// Starts a kept process, which does not get `spec.stdin`.
pub(crate) fn start_resident(spec: &Spec<'_>, deadline: Instant) -> Result<Resident, StartError> {
    direct::start(spec, |command| Resident::start(spec, command, deadline))
}

/// The signals that ask a process to end. A stopped process handles SIGTERM only after it is continued.
const ASK_TO_END: [Signal; 2] = [Signal::TERM, Signal::CONT];

/// The reason for which the runner ends the process early.
#[derive(Clone, Copy)]
enum Cut {
    TimedOut(Stop),
    Cancelled,
}

#[derive(Clone, Copy)]
enum Phase {
    Running,
    Lingering,
    Ending(Cut),
    Killed(Cut),
}

struct Running<'a> {
    spec: &'a Spec<'a>,
    leader: Leader,
    stdin: Option<Rest<'a>>,
    stdout: Pipe,
    stderr: Pipe,
    phase: Phase,
    /// The latest end of the current phase.
    until: Instant,
    /// True if the process has ended. It is not reaped yet.
    ended: bool,
    waiter: Waiter,
    /// The temporary directory, which is removed at the end of the run.
    #[allow(dead_code)]
    temporary: Option<Temporary>,
}

/// One of the process's outputs. The descriptor is None once the output is at its end.
struct Pipe {
    from: Option<OwnedFd>,
    captured: Captured,
}

/// A source of events that a turn of the loop waits for.
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
        started: Started,
        stdin: Option<Rest<'a>>,
        deadline: Instant,
    ) -> Self {
        let pipe = |from: OwnedFd| Pipe {
            from: Some(from),
            captured: Captured::with_limit(spec.output_limit),
        };
        Self {
            spec,
            stdin,
            stdout: pipe(started.stdout),
            stderr: pipe(started.stderr),
            leader: started.leader,
            phase: Phase::Running,
            until: deadline,
            ended: false,
            waiter: Waiter::new(),
            temporary: started.temporary,
        }
    }

    fn run_to_the_end(mut self, started: Instant) -> Finished {
        while !self.is_over() {
            if Instant::now() < self.until {
                self.turn();
            } else if !self.limit_reached() {
                break;
            }
        }
        self.finish(started)
    }

    fn output_ended(&self) -> bool {
        self.stdout.from.is_none() && self.stderr.from.is_none()
    }

    fn is_over(&mut self) -> bool {
        // Processes that the hook has left behind get the grace period too. Once all are gone, only their
        // output is left to read.
        if let Phase::Ending(why) = self.phase {
            if !self.ended || !self.leader.tree_is_gone() {
                return false;
            }
            self.force(why);
        }
        self.ended && self.output_ended()
    }

    /// Enters the next phase. Returns false if this was the last one.
    fn limit_reached(&mut self) -> bool {
        match self.phase {
            // A last check: the process may have ended since the previous turn.
            Phase::Running if self.leader.has_ended() => self.note_end(),
            Phase::Running => {
                let stop = self.leader.stop();
                self.begin_to_end(Cut::TimedOut(stop));
            }
            Phase::Ending(why) => self.force(why),
            Phase::Lingering | Phase::Killed(_) => return false,
        }
        true
    }

    fn enter(&mut self, phase: Phase, longest: Duration) {
        self.phase = phase;
        self.until = Instant::now() + longest;
    }

    /// Ends the grace period. If no process is left, this is harmless: the unreaped leader keeps the group's id.
    fn force(&mut self, why: Cut) {
        self.leader.signal_tree(&[Signal::KILL]);
        self.enter(Phase::Killed(why), LINGER);
    }

    fn begin_to_end(&mut self, why: Cut) {
        self.leader.signal_tree(&ASK_TO_END);
        self.enter(Phase::Ending(why), self.spec.kill_grace);
    }

    /// Waits until a source is ready or the limit is reached, and handles it.
    fn turn(&mut self) {
        let ready = self.wait();
        let mut ended = self.leader.pidfd().is_none() && self.leader.has_ended();
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
        let cancelled = self.spec.cancel.is_some_and(Cancel::is_requested);
        if cancelled && !self.ended && matches!(self.phase, Phase::Running) {
            self.begin_to_end(Cut::Cancelled);
        }
    }

    /// Records that the process has ended. Its output may still be in the pipes, and others may still write.
    fn note_end(&mut self) {
        self.ended = true;
        self.stdin = None;
        if matches!(self.phase, Phase::Running) && !self.output_ended() {
            self.enter(Phase::Lingering, LINGER);
        }
    }

    fn write_stdin(&mut self) {
        if let Some((to, left)) = &mut self.stdin {
            *left = input::write_some(to, left);
            if left.is_empty() {
                self.stdin = None;
            }
        }
    }

    /// Waits for the sources. The end of the process comes last, so that its output is read first.
    fn wait(&mut self) -> Vec<Source> {
        let is_running = matches!(self.phase, Phase::Running);
        let cancel = self.spec.cancel.filter(|_| is_running);
        let wake = cancel.and_then(Cancel::wake);
        let stdin = self.stdin.as_ref().map(|(to, _)| to.as_fd());
        let exit = self.leader.pidfd().filter(|_| !self.ended);
        let sources = [
            (Source::Stdin, stdin, PollFlags::OUT),
            (Source::Stdout, self.stdout.fd(), PollFlags::IN),
            (Source::Stderr, self.stderr.fd(), PollFlags::IN),
            (Source::Cancel, wake, PollFlags::IN),
            (Source::Exit, exit, PollFlags::IN),
        ];
        // No descriptor reports that the group is gone.
        let looks = (!self.ended && exit.is_none())
            || (cancel.is_some() && wake.is_none())
            || matches!(self.phase, Phase::Ending(_));
        let left = self.until.saturating_duration_since(Instant::now());
        self.waiter.wait(sources, left, looks)
    }

    fn finish(mut self, started: Instant) -> Finished {
        let pid = self.leader.pid().as_raw_nonzero().get().unsigned_abs();
        let output_held_open = self.ended && !self.output_ended();
        let patience = if self.ended { LINGER } else { Duration::ZERO };
        let status = self.leader.reap(patience);
        let end = match self.phase {
            Phase::Running | Phase::Lingering => status,
            Phase::Ending(Cut::TimedOut(stop)) | Phase::Killed(Cut::TimedOut(stop)) => {
                End::TimedOut(stop)
            }
            Phase::Ending(Cut::Cancelled) | Phase::Killed(Cut::Cancelled) => End::Cancelled,
        };
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
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.from.as_ref().map(AsFd::as_fd)
    }

    /// Reads the available data. Must only be called after `poll` has reported data: the descriptor is blocking. No other
    /// thread reads from it.
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
