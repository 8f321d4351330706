//! One hook's place for a process: one event at a time, and what is remembered of failures.
//!
//! Knows no process.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

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
    /// Holds one token, which is with the event whose turn it is.
    free: (Sender<()>, Receiver<()>),
    memory: Mutex<Memory>,
}

#[derive(Debug)]
struct Memory {
    files: Option<Files>,
    /// The process before had to go.
    replaces: bool,
    failures: VecDeque<Instant>,
    degraded_until: Option<Instant>,
    penalty: Duration,
}

impl Slot {
    pub(super) fn new(key: u64) -> Self {
        let (sender, receiver) = bounded(1);
        // There is room for it.
        let _ = sender.try_send(());
        Self {
            key,
            free: (sender, receiver),
            memory: Mutex::new(Memory {
                files: None,
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

    /// Waits for its turn; else how the event ended.
    pub(super) fn wait(
        &self,
        deadline: Instant,
        cancel: Option<&Cancel>,
    ) -> Result<Place<'_>, End> {
        loop {
            let now = Instant::now();
            let next = deadline.min(now + CANCEL_INTERVAL);
            match self.free.1.recv_deadline(next) {
                Ok(()) => return Ok(Place(self)),
                // The sender lives as long as the slot.
                Err(RecvTimeoutError::Disconnected) => return Err(End::Cancelled),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if cancel.is_some_and(Cancel::is_requested) {
                return Err(End::Cancelled);
            }
            if Instant::now() >= deadline {
                return Err(End::TimedOut { stopped: false });
            }
        }
    }

    pub(super) fn started_from(&self, files: &Option<Files>) -> bool {
        self.memory().files == *files
    }

    /// A process is started from these files.
    pub(super) fn start(&self, files: Option<Files>) -> Residency {
        let mut memory = self.memory();
        memory.files = files;
        if std::mem::take(&mut memory.replaces) {
            Residency::Replaced
        } else {
            Residency::Started
        }
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
        let _ = self.0.free.0.try_send(());
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
