//! Hooks with a kept process: which event has its turn, whether the process can still be used, and when the
//! hook runs without one.
//!
//! A process handles one event at a time; an event waits for it no longer than the hook's timeout. Nothing is
//! tried twice: an event that has reached a process is never sent to another one.

mod files;
mod slot;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use self::files::Files;
use self::slot::{Slot, Turn};
use super::ending::{Ran, without_answer};
use crate::hook::{Failure, GateVerdict, Hook};
use crate::outcome::{FailureKind, Residency};
use crate::process::{
    Broken, Captured, End, Exchange, Finished, Keeper, Resident, Spec, StartError, start_resident,
};
use crate::protocol::check_answer;

/// The most bytes of an answer, and the most bytes of standard error that are kept.
const LONGEST_ANSWER: usize = 1024 * 1024;
const STDERR_KEPT: usize = 64 * 1024;

/// The end of a process that the runner has to end because of its output; the failure contains the reason.
const NO_EXIT: End = End::Exited(-1);

/// A process is replaced after this number of events or this time, which limits what it can leak.
const MOST_EVENTS: u32 = 1000;
const OLDEST: Duration = Duration::from_secs(60 * 60);

/// With this number of slots, those without any state are removed.
const MANY_SLOTS: usize = 256;

/// The kept processes of an executor's hooks.
#[derive(Debug)]
pub(crate) struct Residents {
    keeper: Keeper,
    slots: Mutex<Slots>,
    /// The process id of the host. In a forked copy of the host, hooks run without a kept process.
    host: u32,
}

#[derive(Debug, Default)]
struct Slots {
    next: u64,
    known: Vec<Known>,
}

/// The slot of a hook. It is found by the whole hook: another hook with the same fingerprint can be constructed.
#[derive(Debug)]
struct Known {
    hook: Hook,
    working_dir: PathBuf,
    slot: Arc<Slot>,
}

impl Known {
    fn is_of(&self, hook: &Hook, working_dir: &Path) -> bool {
        self.hook.fingerprint() == hook.fingerprint()
            && self.hook == *hook
            && self.hook.base_dir() == hook.base_dir()
            && self.working_dir == working_dir
    }
}

impl Residents {
    pub(crate) fn new() -> Self {
        Self {
            keeper: Keeper::default(),
            slots: Mutex::default(),
            host: std::process::id(),
        }
    }

    /// Sends the event in `spec.stdin` to the hook's process. None: the hook must run for this event alone.
    pub(super) fn exchange(&self, hook: &Hook, spec: &Spec<'_>, id: &str) -> Option<Ran> {
        let started = Instant::now();
        if self.host != std::process::id() {
            return None;
        }
        let slot = self.slot_of(hook, spec);
        if slot.is_degraded(started) {
            return None;
        }
        let deadline = started + spec.timeout;
        let turn = match slot.wait(deadline, spec.cancel) {
            Ok(turn) => turn,
            Err(end) => return Some(never_sent(end, started)),
        };
        // Things may have changed while the event waited: the approval may be lost, or the event before it may
        // have been the third failure.
        if let Some(why) = lost_approval(hook) {
            self.end_of(&[hook.fingerprint()]);
            return Some(Ran {
                failure: Some(Failure::new(FailureKind::ApprovalLost, why)),
                ..never_sent(NO_EXIT, started)
            });
        }
        if slot.is_degraded(Instant::now()) {
            return None;
        }
        let files = Files::of(hook, spec)?;
        let (process, how) = match self.process(&turn, files, spec, deadline)? {
            Ok(process) => process,
            Err(error) => {
                slot.note_failure(Instant::now());
                return Some(never_sent(End::NotStarted(error), started));
            }
        };
        Some(Ran {
            residency: Some(how),
            ..self.send(&turn, process, spec, id, started)
        })
    }

    /// Returns the process for this event, and how it came to be. None if no more processes can be kept.
    fn process(
        &self,
        turn: &Turn<'_>,
        files: Files,
        spec: &Spec<'_>,
        deadline: Instant,
    ) -> Option<Result<(Resident, Residency), StartError>> {
        let slot = turn.slot();
        if let Some(process) = self.keeper.take(slot.key) {
            if process.is_usable() && slot.started_from(&files) {
                return Some(Ok((process, Residency::Kept)));
            }
            slot.note_replacement();
            self.keeper.end(process);
        }
        if !self.keeper.take_place() {
            return None;
        }
        let how = slot.start(files);
        let started = start_resident(spec, deadline);
        if started.is_err() {
            self.keeper.give_up_place();
        }
        Some(started.map(|process| (process, how)))
    }

    fn send(
        &self,
        turn: &Turn<'_>,
        mut process: Resident,
        spec: &Spec<'_>,
        id: &str,
        started: Instant,
    ) -> Ran {
        let pid = process.pid();
        let (answer, stderr) = process.exchange(&Exchange {
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
        let slot = turn.slot();
        let (end, failure, stdout) = match checked {
            Ok(line) => {
                self.hand_back(slot, process);
                (End::Exited(0), None, line)
            }
            Err((end, failure)) => {
                if !matches!(end, End::Cancelled) {
                    slot.note_failure(Instant::now());
                }
                slot.note_replacement();
                self.keeper.cut(process);
                (end, failure, Vec::new())
            }
        };
        let mut captured = Captured::with_limit(LONGEST_ANSWER);
        captured.push(&stdout);
        Ran {
            failure,
            ..Ran::new(Finished {
                end,
                stdout: captured,
                stderr,
                pid: Some(pid),
                duration: started.elapsed(),
                output_held_open: false,
            })
        }
    }

    fn hand_back(&self, slot: &Slot, process: Resident) {
        let is_good = process.events() < MOST_EVENTS && process.age() < OLDEST;
        if is_good && !slot.is_retired() {
            self.keeper.keep(slot.key, process);
        } else {
            slot.note_replacement();
            self.keeper.end(process);
        }
    }

    fn slot_of(&self, hook: &Hook, spec: &Spec<'_>) -> Arc<Slot> {
        let mut slots = self.lock();
        let mut known = slots.known.iter();
        if let Some(known) = known.find(|known| known.is_of(hook, &spec.working_dir)) {
            return Arc::clone(&known.slot);
        }
        if slots.known.len() >= MANY_SLOTS {
            let now = Instant::now();
            slots.known.retain(|Known { slot, .. }| {
                Arc::strong_count(slot) > 1 || self.keeper.has(slot.key) || slot.is_degraded(now)
            });
        }
        slots.next += 1;
        let slot = Arc::new(Slot::new(slots.next));
        slots.known.push(Known {
            hook: hook.clone(),
            working_dir: spec.working_dir.clone(),
            slot: Arc::clone(&slot),
        });
        slot
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the processes of these hooks, given by their fingerprints. A busy process ends after its answer.
    pub(crate) fn end_of(&self, hooks: &[u64]) {
        let mut slots = self.lock();
        let is_meant = |known: &mut Known| hooks.contains(&known.hook.fingerprint());
        let gone: Vec<_> = slots.known.extract_if(.., is_meant).collect();
        drop(slots);
        let keys: Vec<_> = gone.iter().map(|known| known.slot.key).collect();
        gone.iter().for_each(|known| known.slot.retire());
        if !keys.is_empty() {
            self.keeper.end_where(|key| keys.contains(&key));
        }
    }

    /// Ends all idle processes. From now on hooks run for one event each.
    pub(crate) fn close(&self) {
        self.keeper.close();
    }

    /// Waits until no process is left, for at most `longest`.
    pub(crate) fn wait_until_ended(&self, longest: Duration) {
        self.keeper.wait_until_empty(longest);
    }
}

/// How a run ended that has not reached a process.
fn never_sent(end: End, started: Instant) -> Ran {
    Ran::new(Finished::without_process(end, started))
}

/// Why the hook must not run any more.
fn lost_approval(hook: &Hook) -> Option<String> {
    match hook.gate()?.check(hook) {
        GateVerdict::Run => None,
        GateVerdict::NotApproved(why) | GateVerdict::ApprovalLost(why) => Some(why),
    }
}

fn invalid(why: impl Into<String>) -> Failure {
    Failure::new(FailureKind::InvalidAnswer, why)
}

/// Returns how the exchange ended, and the failure if the end alone does not show it.
fn describe_broken(broken: Broken, stderr: &Captured) -> (End, Option<Failure>) {
    let runs_on = |why: &str| (NO_EXIT, Some(invalid(why)));
    match broken {
        Broken::TimedOut { stopped } => (End::TimedOut { stopped }, None),
        Broken::Cancelled => (End::Cancelled, None),
        // The command was not found or could not be executed: reported as in a run for one event.
        Broken::Ended(end @ End::Exited(126 | 127)) => (end, None),
        Broken::Ended(end) => {
            let why = without_answer(&end, stderr);
            (end, Some(invalid(why)))
        }
        Broken::OutputClosed => runs_on("it closed its standard output without an answer"),
        Broken::TooLong => runs_on("its answer is longer than 1 MiB"),
        Broken::EventNotRead => runs_on("it answered before it had read the whole event"),
        Broken::MoreOutput => runs_on("it wrote more than one line for one event"),
        Broken::OutputBefore => runs_on("it wrote output before it got an event"),
    }
}
