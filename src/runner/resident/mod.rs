//! Hooks with a kept process: the process for an event, the checks whether it can still be used, and the reasons to run a
//! hook without one.
//!
//! A process handles one event at a time: an event that finds it busy gets a process of its own. Nothing is tried twice: an event that
//! has reached a process is never sent to another one. Knows cells (`cells.rs`) and processes. Does not know how a line is sent.

mod cells;
mod files;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use self::cells::{Cells, Kept, Turn};
use self::files::stamps_of;
use super::ending::{Ran, without_answer};
use crate::entry::Failure;
use crate::hook::Hook;
use crate::outcome::{FailureKind, Residency};
use crate::process::{
    Broken, Captured, End, Exchange, Finished, Resident, Spec, StartError, start_resident,
};
use crate::protocol::check_answer;

/// The most bytes of an answer, and the most bytes of standard error that are kept.
const LONGEST_ANSWER: usize = 1024 * 1024;
const STDERR_KEPT: usize = 64 * 1024;

/// The end of a process that the runner has to end because of its output; the failure contains the reason.
const NO_EXIT: End = End::StatusLost;

/// A process is replaced after this number of events or this time, which limits what it can leak.
const MOST_EVENTS: u32 = 1000;
const OLDEST: Duration = Duration::from_secs(60 * 60);

/// A process is ended after this time without an event.
const LONGEST_IDLE: Duration = Duration::from_secs(60);

/// The kept processes of an executor's hooks. Dropping this value ends them, without waiting for their end.
#[derive(Debug)]
pub(crate) struct Residents {
    cells: Cells,
    /// Each thread that ends processes has a copy.
    ending: Arc<()>,
    /// The process id of the host. A forked copy of the host must use none of the processes.
    host: u32,
}

impl Residents {
    pub(crate) fn new() -> Self {
        Self {
            cells: Cells::new(),
            ending: Arc::default(),
            host: std::process::id(),
        }
    }

    /// Sends the event in `spec.stdin` to the hook's process. Returns none if the hook must run for this event alone.
    pub(super) fn exchange(&self, hook: &Hook, spec: &Spec<'_>, id: &str) -> Option<Ran> {
        let started = Instant::now();
        if self.is_forked() {
            return None;
        }
        let mut turn = self.cells.take(hook, spec)?;
        Some(match self.process(&mut turn, hook, spec, started)? {
            Ok((kept, how)) => Ran {
                residency: Some(how),
                ..self.send(turn, kept, spec, id, started)
            },
            Err(error) => Ran::new(Finished::without_process(End::NotStarted(error), started)),
        })
    }

    /// Returns the process for this event, and whether it was kept or started. None if no process of this hook can be kept.
    fn process(
        &self,
        turn: &mut Turn<'_>,
        hook: &Hook,
        spec: &Spec<'_>,
        started: Instant,
    ) -> Option<Result<(Kept, Residency), StartError>> {
        if let Some(kept) = turn.idle.take() {
            if !kept.process.has_ended() && kept.files.are_same() {
                return Some(Ok((kept, Residency::Kept)));
            }
            self.end(vec![kept.process]);
            turn.replaces = true;
        }
        // A file that changes while the process starts has another stamp at the next event.
        let files = stamps_of(hook, spec)?;
        let process = start_resident(spec, started + spec.timeout);
        let how = if turn.replaces {
            Residency::Replaced
        } else {
            Residency::Started
        };
        let since = Instant::now();
        let kept = process.map(|process| Kept {
            process,
            files,
            since,
        });
        Some(kept.map(|kept| (kept, how)))
    }

    fn send(
        &self,
        turn: Turn<'_>,
        mut kept: Kept,
        spec: &Spec<'_>,
        id: &str,
        started: Instant,
    ) -> Ran {
        let pid = kept.process.pid();
        let (answer, stderr) = kept.process.exchange(&Exchange {
            line: spec.stdin.unwrap_or_default(),
            deadline: started + spec.timeout,
            cancel: spec.cancel,
            answer_limit: LONGEST_ANSWER,
            stderr_limit: STDERR_KEPT,
        });
        let checked = answer
            .map_err(|broken| describe_broken(broken, &stderr))
            .and_then(|line| match check_answer(&line, id) {
                Ok(()) => Ok(line),
                Err(why) => Err((NO_EXIT, Some(invalid(why)))),
            });
        let mut stdout = Captured::with_limit(LONGEST_ANSWER);
        let (end, failure) = match checked {
            Ok(line) => {
                stdout.push(&line);
                self.hand_back(turn, kept);
                (End::Exited(0), None)
            }
            Err((end, failure)) => {
                kept.process.kill();
                (end, failure)
            }
        };
        Ran {
            failure,
            ..Ran::new(Finished {
                end,
                stdout,
                stderr,
                pid: Some(pid),
                duration: started.elapsed(),
                output_held_open: false,
            })
        }
    }

    fn hand_back(&self, turn: Turn<'_>, kept: Kept) {
        let is_old = kept.process.events() >= MOST_EVENTS || kept.process.age() >= OLDEST;
        let unwanted = if is_old { Some(kept) } else { turn.keep(kept) };
        self.end(unwanted.into_iter().map(|kept| kept.process).collect());
    }

    /// Ends the processes that have been idle for too long, and reaps those that have ended by themselves.
    pub(super) fn end_idle(&self) {
        self.end(
            self.cells.remove_idle(|kept| {
                kept.since.elapsed() >= LONGEST_IDLE || kept.process.has_ended()
            }),
        );
    }

    /// Ends the processes of these hooks, given by their fingerprints. A busy process ends after its answer.
    pub(crate) fn end_of(&self, hooks: &[u64]) {
        self.end(self.cells.remove_of(hooks));
    }

    /// Ends all idle processes. From now on hooks run for one event each.
    pub(crate) fn close(&self) {
        self.end(self.cells.close());
    }

    /// Ends processes on a thread of their own, since that takes up to half a second.
    fn end(&self, processes: Vec<Resident>) {
        if processes.is_empty() {
            return;
        }
        if self.is_forked() {
            // The processes belong to the original host: dropping them would kill them.
            std::mem::forget(processes);
            return;
        }
        let ending = Arc::clone(&self.ending);
        let thread = thread::Builder::new().name("forge-hooks-end".into());
        // If no thread can be started, the processes are dropped, and so killed.
        let _ = thread.spawn(move || {
            Resident::end_all(processes);
            drop(ending);
        });
    }

    /// Waits until no process is left, except those with an event, for at most `longest`.
    pub(crate) fn wait_until_ended(&self, longest: Duration) {
        let until = Instant::now() + longest;
        while Arc::strong_count(&self.ending) > 1 && Instant::now() < until {
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn is_forked(&self) -> bool {
        self.host != std::process::id()
    }
}

impl Drop for Residents {
    fn drop(&mut self) {
        self.close();
    }
}

fn invalid(why: impl Into<String>) -> Failure {
    Failure::new(FailureKind::InvalidAnswer, why)
}

/// Returns the end of the exchange, and the failure if the end alone does not show it.
fn describe_broken(broken: Broken, stderr: &Captured) -> (End, Option<Failure>) {
    let why = match broken {
        Broken::TimedOut(stop) => return (End::TimedOut(stop), None),
        Broken::Cancelled => return (End::Cancelled, None),
        // A command that was not found or could not be executed is reported as in a run for one event.
        Broken::Ended(end @ End::Exited(126 | 127)) => return (end, None),
        Broken::Ended(end) => {
            let failure = without_answer(&end, stderr);
            return (end, Some(failure));
        }
        Broken::OutputClosed => {
            let why = "it closed its standard output without an answer";
            return (NO_EXIT, Some(Failure::new(FailureKind::NoAnswer, why)));
        }
        Broken::HalfAnswer => "its answer has no line break at its end",
        Broken::TooLong => "its answer is longer than 1 MiB",
        Broken::EventNotRead => "it answered before it had read the whole event",
        Broken::MoreOutput => "it wrote more than one line for one event",
        Broken::OutputBefore => "it wrote output before it got an event",
    };
    (NO_EXIT, Some(invalid(why)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Args, Environment, Inherited, process_is_gone};

    /// `cat` answers with the event, and so with its id.
    fn fire(residents: &Residents, hook: &Hook) -> Option<Ran> {
        let spec = Spec {
            program: "/bin/cat".into(),
            args: Args::List(Vec::new()),
            direct: Vec::new(),
            environment: Environment::new(Inherited::AllBut(&[]), Vec::new()),
            working_dir: "/".as_ref(),
            stdin: Some(b"{\"id\":\"a\"}\n"),
            timeout: Duration::from_secs(20),
            kill_grace: Duration::ZERO,
            output_limit: 0,
            cancel: None,
            confinement: None,
        };
        residents.exchange(hook, &spec, "a")
    }

    #[test]
    fn a_process_that_was_idle_for_a_minute_is_ended() {
        let residents = Residents::new();
        let hook = Hook::program("*", ["/bin/cat"]).unwrap();
        let first = fire(&residents, &hook).unwrap();
        assert_eq!(first.residency, Some(Residency::Started));
        residents.cells.grow_old(LONGEST_IDLE / 2);
        residents.end_idle();
        let second = fire(&residents, &hook).unwrap();
        assert_eq!(second.residency, Some(Residency::Kept));
        residents.cells.grow_old(LONGEST_IDLE);
        residents.end_idle();
        let third = fire(&residents, &hook).unwrap();
        assert_eq!(third.residency, Some(Residency::Started));
        let pid = |ran: &Ran| ran.finished.pid.unwrap();
        assert!(pid(&first) == pid(&second) && pid(&second) != pid(&third));
        residents.close();
        residents.wait_until_ended(Duration::from_secs(60));
        assert!([first, third].iter().all(|ran| process_is_gone(pid(ran))));
        assert!(fire(&residents, &hook).is_none(), "no more are kept");
    }
}
