//! The slots of hooks: which event has its turn, the idle process, and the recent failures.
//!
//! Starts and ends no process.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::files::Files;
use crate::hook::Hook;
use crate::outcome::Residency;
use crate::process::{Cancel, End, Resident, Spec};

/// The most processes that are kept at once, including busy ones.
const MOST: usize = 16;

/// After this number of failures within a minute, the hook runs once for each event, for a minute.
const MOST_FAILURES: usize = 3;
const MINUTE: Duration = Duration::from_secs(60);

/// With this number of slots, those without any state are removed.
const MANY_SLOTS: usize = 256;

/// How often a waiting event checks for a cancellation.
const CANCEL_INTERVAL: Duration = Duration::from_millis(20);

/// A process between its events, and the files from which it was started.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) process: Resident,
    pub(super) files: Files,
    since: Instant,
}

impl Kept {
    pub(super) fn new(process: Resident, files: Files) -> Self {
        Self {
            process,
            files,
            since: Instant::now(),
        }
    }

    pub(super) fn is_idle_since(&self, time: Duration) -> bool {
        self.since.elapsed() >= time
    }
}

/// The state of one hook in one working directory.
#[derive(Debug)]
pub(super) struct Slot {
    key: u64,
    hook: Hook,
    working_dir: PathBuf,
    /// The events that wait, in their order.
    waiting: VecDeque<u64>,
    /// Signalled when another event may have its turn.
    turns: Arc<Condvar>,
    /// An event has its turn.
    is_taken: bool,
    /// The event with the turn has a process, or is about to start one.
    is_busy: bool,
    pub(super) idle: Option<Kept>,
    /// The hook is not registered any more.
    pub(super) is_retired: bool,
    /// The previous process had to be ended.
    replaces: bool,
    failures: Failures,
}

#[derive(Debug, Default)]
struct Failures(VecDeque<Instant>);

impl Failures {
    fn note(&mut self, now: Instant) {
        self.0.push_back(now);
        if self.0.len() > MOST_FAILURES {
            self.0.pop_front();
        }
    }

    fn are_many(&self, now: Instant) -> bool {
        let (Some(first), Some(last)) = (self.0.front(), self.0.back()) else {
            return false;
        };
        self.0.len() == MOST_FAILURES && *last - *first <= MINUTE && now < *last + MINUTE
    }
}

impl Slot {
    pub(super) fn fingerprint(&self) -> u64 {
        self.hook.fingerprint()
    }

    /// Compares the whole hook: another hook with the same fingerprint can be constructed.
    fn is_of(&self, hook: &Hook, spec: &Spec<'_>) -> bool {
        !self.is_retired
            && self.hook.fingerprint() == hook.fingerprint()
            && self.hook == *hook
            && self.hook.base_dir() == hook.base_dir()
            && self.working_dir == spec.working_dir
    }

    fn is_used(&self) -> bool {
        self.is_taken
            || !self.waiting.is_empty()
            || self.idle.is_some()
            || (!self.is_retired && self.failures.are_many(Instant::now()))
    }
}

#[derive(Debug, Default)]
pub(super) struct Slots(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    all: Vec<Slot>,
    next: u64,
    is_closed: bool,
}

impl State {
    /// Returns the slot of an event that waits or has its turn, so that the slot is not removed.
    fn slot(&mut self, key: u64) -> Option<&mut Slot> {
        self.all.iter_mut().find(|slot| slot.key == key)
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Returns the slot of a hook.
    fn slot_of(&mut self, hook: &Hook, spec: &Spec<'_>) -> &mut Slot {
        if let Some(at) = self.all.iter().position(|slot| slot.is_of(hook, spec)) {
            return &mut self.all[at];
        }
        let many = self.all.len() >= MANY_SLOTS;
        self.all
            .retain(|slot| slot.is_used() || !(many || slot.is_retired));
        let key = self.number();
        self.all.push(Slot {
            key,
            hook: hook.clone(),
            working_dir: spec.working_dir.clone(),
            waiting: VecDeque::new(),
            turns: Arc::default(),
            is_taken: false,
            is_busy: false,
            idle: None,
            is_retired: false,
            replaces: false,
            failures: Failures::default(),
        });
        let last = self.all.len() - 1;
        &mut self.all[last]
    }
}

impl Slots {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn close(&self) {
        self.lock().is_closed = true;
    }

    /// Waits for the event's turn, behind earlier events for the same hook. If it ends before its turn, returns how.
    /// None: the hook must run for this event alone.
    pub(super) fn wait(
        &self,
        hook: &Hook,
        spec: &Spec<'_>,
        deadline: Instant,
    ) -> Option<Result<Turn<'_>, End>> {
        let mut state = self.lock();
        let ticket = state.number();
        let slot = state.slot_of(hook, spec);
        let (key, turns) = (slot.key, Arc::clone(&slot.turns));
        slot.waiting.push_back(ticket);
        let end = loop {
            let now = Instant::now();
            let is_closed = state.is_closed;
            let slot = state.slot(key)?;
            if is_closed || slot.failures.are_many(now) {
                break None;
            }
            if !slot.is_taken && slot.waiting.front() == Some(&ticket) {
                slot.waiting.pop_front();
                slot.is_taken = true;
                return Some(Ok(Turn { slots: self, key }));
            }
            if spec.cancel.is_some_and(Cancel::is_requested) {
                break Some(Err(End::Cancelled));
            }
            if now >= deadline {
                break Some(Err(End::TimedOut { stopped: false }));
            }
            let longest = (deadline - now).min(CANCEL_INTERVAL);
            let woken = turns.wait_timeout(state, longest);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        };
        if let Some(slot) = state.slot(key) {
            slot.waiting.retain(|waiting| *waiting != ticket);
        }
        turns.notify_all();
        end
    }

    /// Lets all idle processes be idle for this much longer.
    #[cfg(test)]
    pub(super) fn grow_old(&self, by: Duration) {
        for slot in &mut self.lock().all {
            if let Some(kept) = &mut slot.idle {
                kept.since = kept.since.checked_sub(by).unwrap();
            }
        }
    }

    /// Takes the idle processes of these slots.
    pub(super) fn take_idle_where(
        &self,
        mut is_meant: impl FnMut(&mut Slot) -> bool,
    ) -> Vec<Resident> {
        let mut state = self.lock();
        let meant = state.all.iter_mut().filter_map(|slot| {
            let is_meant = is_meant(slot);
            slot.idle.take_if(|_| is_meant)
        });
        meant.map(|kept| kept.process).collect()
    }
}

/// The turn of one event. Dropping it gives the turn up.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    slots: &'a Slots,
    key: u64,
}

impl Turn<'_> {
    fn with<T: Default>(&self, what: impl FnOnce(&mut Slot) -> T) -> T {
        self.slots
            .lock()
            .slot(self.key)
            .map(what)
            .unwrap_or_default()
    }

    /// Takes the hook's process, together with its place.
    pub(super) fn take_idle(&self) -> Option<Kept> {
        self.with(|slot| {
            slot.is_busy = slot.idle.is_some();
            slot.idle.take()
        })
    }

    /// Reserves a place for a process that will be started. Returns the processes that must be ended for that: if
    /// all places are taken, the one that has been idle for the longest time. None: there is no place.
    pub(super) fn take_place(&self) -> Option<Vec<Resident>> {
        let mut state = self.slots.lock();
        if state.is_closed {
            return None;
        }
        let others = state.all.iter_mut().filter(|slot| slot.key != self.key);
        let mut kept: Vec<_> = others
            .filter(|slot| slot.is_busy || slot.idle.is_some())
            .collect();
        let mut ends = Vec::new();
        if kept.len() >= MOST {
            let idle = kept.iter_mut().filter(|slot| slot.idle.is_some());
            let longest = idle.min_by_key(|slot| slot.idle.as_ref().map(|kept| kept.since))?;
            ends.extend(longest.idle.take().map(|kept| kept.process));
        }
        state.slot(self.key)?.is_busy = true;
        Some(ends)
    }

    pub(super) fn how_it_starts(&self) -> Residency {
        match self.with(|slot| std::mem::take(&mut slot.replaces)) {
            true => Residency::Replaced,
            false => Residency::Started,
        }
    }

    pub(super) fn note_replacement(&self) {
        self.with(|slot| slot.replaces = true);
    }

    pub(super) fn note_failure(&self) {
        self.with(|slot| slot.failures.note(Instant::now()));
    }

    /// Keeps a process until the next event, or returns it.
    pub(super) fn keep(&self, kept: Kept) -> Option<Kept> {
        let mut state = self.slots.lock();
        let is_closed = state.is_closed;
        match state.slot(self.key) {
            Some(slot) if !slot.is_retired && !is_closed => {
                let since = Instant::now();
                slot.idle = Some(Kept { since, ..kept });
                None
            }
            _ => Some(kept),
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.with(|slot| {
            (slot.is_taken, slot.is_busy) = (false, false);
            slot.turns.notify_all();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_within_a_minute_are_many() {
        let mut failures = Failures::default();
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        failures.note(at(0));
        failures.note(at(1));
        assert!(!failures.are_many(at(1)));
        // The first failure is too long ago.
        failures.note(at(61));
        assert!(!failures.are_many(at(61)));
        failures.note(at(61));
        assert!(failures.are_many(at(61)) && failures.are_many(at(120)));
        assert!(!failures.are_many(at(121)));
        // The minute is not longer after the next three.
        failures.note(at(122));
        assert!(!failures.are_many(at(122)));
        failures.note(at(122));
        failures.note(at(122));
        assert!(failures.are_many(at(181)) && !failures.are_many(at(182)));
    }
}
