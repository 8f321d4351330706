//! One hook's place for a process: one event at a time, and what is remembered of failures.
//!
//! Knows no process.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded};

use super::files::Files;
use crate::outcome::Residency;
use crate::process::{Cancel, End};

/// After so many failures within the time, the hook runs once for each event.
const MOST_FAILURES: usize = 3;
const WITHIN: Duration = Duration::from_secs(60);

/// For how long, the first time; twice as long each time after, up to the longest.
const SHORTEST_PENALTY: Duration = Duration::from_secs(60);
const LONGEST_PENALTY: Duration = Duration::from_secs(600);

/// How often a cancellation is looked for.
const CANCEL_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct Slot {
    /// By which the keeper knows its process.
    pub(super) key: u64,
    turns: Mutex<Turns>,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Turns {
    taken: bool,
    next: u64,
    /// In their order; each is called when its turn comes.
    waiting: VecDeque<(u64, Sender<()>)>,
}

#[derive(Debug)]
struct Memory {
    files: Option<Files>,
    /// The hook is not registered any more.
    retired: bool,
    /// The process before had to go.
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

    /// Waits for its turn, behind those that came before; else how the event ended.
    pub(super) fn wait(
        &self,
        deadline: Instant,
        cancel: Option<&Cancel>,
    ) -> Result<Place<'_>, End> {
        let (sender, called) = bounded(1);
        let ticket = {
            let mut turns = self.turns();
            if !turns.taken {
                turns.taken = true;
                return Ok(Place(self));
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
                return Ok(Place(self));
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
        // It may have been called at the last moment: then the turn is given up again.
        drop(called.try_recv().map(|()| Place(self)));
        Err(end)
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn started_from(&self, files: &Files) -> bool {
        self.memory().files.as_ref() == Some(files)
    }

    /// A process is started from these files.
    pub(super) fn start(&self, files: Files) -> Residency {
        let mut memory = self.memory();
        memory.files = Some(files);
        if std::mem::take(&mut memory.replaces) {
            Residency::Replaced
        } else {
            Residency::Started
        }
    }

    /// Its process is not to be kept again.
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

/// The turn of one event; given up when dropped.
#[derive(Debug)]
pub(super) struct Place<'a>(&'a Slot);

impl Place<'_> {
    pub(super) fn slot(&self) -> &Slot {
        self.0
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut turns = self.0.turns();
        while let Some((_, next)) = turns.waiting.pop_front() {
            // One that has just given up hears nothing of it.
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
        // The first is too long ago.
        slot.note_failure(at(61));
        assert!(!slot.is_degraded(at(61)));
        slot.note_failure(at(61));
        assert!(slot.is_degraded(at(61)) && slot.is_degraded(at(120)));
        assert!(!slot.is_degraded(at(121)));
        // Twice as long the next time, and no longer than ten minutes.
        let mut now = 121;
        for penalty in [120, 240, 480, 600, 600] {
            (0..3).for_each(|_| slot.note_failure(at(now)));
            assert!(slot.is_degraded(at(now + penalty - 1)), "{penalty}");
            assert!(!slot.is_degraded(at(now + penalty)), "{penalty}");
            now += penalty;
        }
        // After ten quiet minutes it begins anew.
        now += 601;
        (0..3).for_each(|_| slot.note_failure(at(now)));
        assert!(!slot.is_degraded(at(now + 60)));
    }

    #[test]
    fn a_turn_is_waited_for_and_given_up() {
        let slot = Slot::new(0);
        let soon = || Instant::now() + Duration::from_millis(30);
        let place = slot.wait(soon(), None);
        assert!(matches!(slot.wait(soon(), None), Err(End::TimedOut { .. })));
        let cancel = Cancel::default();
        cancel.request();
        let late = Instant::now() + Duration::from_secs(60);
        assert!(matches!(
            slot.wait(late, Some(&cancel)),
            Err(End::Cancelled)
        ));
        drop(place);
        assert!(slot.wait(soon(), None).is_ok());
    }
}
