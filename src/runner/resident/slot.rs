//! The state of one hook: which event uses its process, and its recent failures.
//!
//! Knows nothing of processes.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded};

use super::files::Files;
use crate::outcome::Residency;
use crate::process::{Cancel, End};

/// After this number of failures within this time, the hook runs once for each event.
const MOST_FAILURES: usize = 3;
const WITHIN: Duration = Duration::from_secs(60);

/// How long it then runs so. The time doubles after each repetition, up to the longest.
const SHORTEST_PENALTY: Duration = Duration::from_secs(60);
const LONGEST_PENALTY: Duration = Duration::from_secs(600);

/// How often a waiting event checks for a cancellation.
const CANCEL_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct Slot {
    /// The key by which the keeper finds the hook's process.
    pub(super) key: u64,
    turns: Mutex<Turns>,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Turns {
    taken: bool,
    next: u64,
    /// The waiting events in their order. Each gets a message when its turn comes.
    waiting: VecDeque<(u64, Sender<()>)>,
}

#[derive(Debug)]
struct Memory {
    files: Option<Files>,
    /// The hook is not registered any more.
    retired: bool,
    /// The previous process had to be ended.
    replaces: bool,
    failures: VecDeque<Instant>,
    degraded_until: Option<Instant>,
    penalty: Duration,
}

impl Slot {
    pub(super) fn new(key: u64) -> Self {
        Self {
            key,
            turns: Mutex::default(),
            memory: Mutex::new(Memory {
                files: None,
                retired: false,
                replaces: false,
                failures: VecDeque::new(),
                degraded_until: None,
                penalty: SHORTEST_PENALTY,
            }),
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for its turn behind earlier events. If it ends before its turn, returns how.
    pub(super) fn wait(&self, deadline: Instant, cancel: Option<&Cancel>) -> Result<Turn<'_>, End> {
        let (sender, called) = bounded(1);
        let ticket = {
            let mut turns = self.turns();
            if !turns.taken {
                turns.taken = true;
                return Ok(Turn(self));
            }
            turns.next += 1;
            let ticket = turns.next;
            turns.waiting.push_back((ticket, sender));
            ticket
        };
        let end = loop {
            let interval = Instant::now() + CANCEL_INTERVAL;
            let next = cancel.map_or(deadline, |_| deadline.min(interval));
            if called.recv_deadline(next).is_ok() {
                return Ok(Turn(self));
            }
            if cancel.is_some_and(Cancel::is_requested) {
                break End::Cancelled;
            }
            if Instant::now() >= deadline {
                break End::TimedOut { stopped: false };
            }
        };
        let mut turns = self.turns();
        turns.waiting.retain(|(waiting, _)| *waiting != ticket);
        drop(turns);
        // The turn may have come at the last moment: then it is given up again.
        drop(called.try_recv().map(|()| Turn(self)));
        Err(end)
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn started_from(&self, files: &Files) -> bool {
        self.memory().files.as_ref() == Some(files)
    }

    /// Records that a process is started from these files.
    pub(super) fn start(&self, files: Files) -> Residency {
        let mut memory = self.memory();
        memory.files = Some(files);
        if std::mem::take(&mut memory.replaces) {
            Residency::Replaced
        } else {
            Residency::Started
        }
    }

    /// Records that its process must not be kept again.
    pub(super) fn retire(&self) {
        self.memory().retired = true;
    }

    pub(super) fn is_retired(&self) -> bool {
        self.memory().retired
    }

    pub(super) fn note_replacement(&self) {
        self.memory().replaces = true;
    }

    pub(super) fn note_failure(&self, now: Instant) {
        let mut memory = self.memory();
        memory.failures.push_back(now);
        while memory.failures.len() > MOST_FAILURES {
            memory.failures.pop_front();
        }
        let first = memory.failures.front().copied();
        let many = memory.failures.len() == MOST_FAILURES;
        if many && first.is_some_and(|first| now.duration_since(first) <= WITHIN) {
            let quiet = memory
                .degraded_until
                .is_none_or(|until| now.saturating_duration_since(until) > LONGEST_PENALTY);
            if quiet {
                memory.penalty = SHORTEST_PENALTY;
            }
            memory.degraded_until = Some(now + memory.penalty);
            memory.penalty = (memory.penalty * 2).min(LONGEST_PENALTY);
            memory.failures.clear();
        }
    }

    pub(super) fn is_degraded(&self, now: Instant) -> bool {
        self.memory()
            .degraded_until
            .is_some_and(|until| now < until)
    }
}

/// The turn of one event. Dropping it gives the turn up.
#[derive(Debug)]
pub(super) struct Turn<'a>(&'a Slot);

impl Turn<'_> {
    pub(super) fn slot(&self) -> &Slot {
        self.0
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut turns = self.0.turns();
        while let Some((_, next)) = turns.waiting.pop_front() {
            // An event that has just stopped waiting does not receive this; the next one gets the turn.
            if next.try_send(()).is_ok() {
                return;
            }
        }
        turns.taken = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_within_a_minute_degrade() {
        let slot = Slot::new(0);
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        slot.note_failure(at(0));
        slot.note_failure(at(1));
        assert!(!slot.is_degraded(at(1)));
        // The first failure is too long ago.
        slot.note_failure(at(61));
        assert!(!slot.is_degraded(at(61)));
        slot.note_failure(at(61));
        assert!(slot.is_degraded(at(61)) && slot.is_degraded(at(120)));
        assert!(!slot.is_degraded(at(121)));
        // The next time is twice as long, but at most ten minutes.
        let mut now = 121;
        for penalty in [120, 240, 480, 600, 600] {
            (0..3).for_each(|_| slot.note_failure(at(now)));
            assert!(slot.is_degraded(at(now + penalty - 1)), "{penalty}");
            assert!(!slot.is_degraded(at(now + penalty)), "{penalty}");
            now += penalty;
        }
        // After ten minutes without failures it starts with the shortest time again.
        now += 601;
        (0..3).for_each(|_| slot.note_failure(at(now)));
        assert!(!slot.is_degraded(at(now + 60)));
    }

    #[test]
    fn turns_are_waited_for_and_given_up() {
        let slot = Slot::new(0);
        let soon = || Instant::now() + Duration::from_millis(30);
        let turn = slot.wait(soon(), None);
        assert!(matches!(slot.wait(soon(), None), Err(End::TimedOut { .. })));
        let cancel = Cancel::default();
        cancel.request();
        let late = Instant::now() + Duration::from_secs(60);
        assert!(matches!(
            slot.wait(late, Some(&cancel)),
            Err(End::Cancelled)
        ));
        drop(turn);
        assert!(slot.wait(soon(), None).is_ok());
    }
}
