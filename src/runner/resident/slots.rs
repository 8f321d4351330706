//! The slots of hooks: which event has its turn, the idle process, and the recent failures.
//!
//! Starts and ends no process.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
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

/// A process, and the files from which it was started.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) process: Resident,
    pub(super) files: Files,
    /// When it was started, or has answered its last event.
    pub(super) since: Instant,
}

impl Kept {
    pub(super) fn new(process: Resident, files: Files) -> Self {
        Self {
            process,
            files,
            since: Instant::now(),
        }
    }
}

/// One hook in one working directory.
#[derive(Debug)]
struct Slot {
    id: u64,
    hook: Hook,
    working_dir: PathBuf,
    /// The events in their order. The first one has its turn.
    events: VecDeque<u64>,
    idle: Option<Kept>,
    /// The event with the turn has a process, or is about to start one.
    is_busy: bool,
    /// What the next process is to the event that starts it.
    next: Residency,
    failures: Failures,
}

impl Slot {
    /// Compares the whole hook: another hook with the same fingerprint can be constructed.
    fn is_of(&self, hook: &Hook, spec: &Spec<'_>) -> bool {
        self.hook.fingerprint() == hook.fingerprint()
            && self.hook == *hook
            && self.hook.base_dir() == hook.base_dir()
            && self.working_dir == spec.working_dir
    }

    fn has_state(&self, now: Instant) -> bool {
        !self.events.is_empty() || self.idle.is_some() || self.failures.are_many(now)
    }
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

/// All slots. The slot of a hook that was removed is in the list no more, so its events find none.
#[derive(Debug, Default)]
pub(super) struct Slots {
    state: Mutex<State>,
    /// Signalled when another event may have its turn.
    turns: Condvar,
}

#[derive(Debug, Default)]
struct State {
    slots: Vec<Slot>,
    /// The last number of a slot or an event.
    last: u64,
    is_closed: bool,
}

impl State {
    fn slot(&mut self, id: u64) -> Option<&mut Slot> {
        self.slots.iter_mut().find(|slot| slot.id == id)
    }

    fn new_id(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Returns the place of a hook's slot.
    fn place(&mut self, hook: &Hook, spec: &Spec<'_>) -> usize {
        if let Some(known) = self.slots.iter().position(|slot| slot.is_of(hook, spec)) {
            return known;
        }
        if self.slots.len() >= MANY_SLOTS {
            let now = Instant::now();
            self.slots.retain(|slot| slot.has_state(now));
        }
        let slot = Slot {
            id: self.new_id(),
            hook: hook.clone(),
            working_dir: spec.working_dir.to_owned(),
            events: VecDeque::new(),
            idle: None,
            is_busy: false,
            next: Residency::Started,
            failures: Failures::default(),
        };
        self.slots.push(slot);
        self.slots.len() - 1
    }
}

impl Slots {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits behind earlier events for the same hook.
    ///
    /// # Errors
    /// How the wait ended, if it ended before the turn. None: the hook must run for this event alone.
    pub(super) fn wait(
        &self,
        hook: &Hook,
        spec: &Spec<'_>,
        deadline: Instant,
    ) -> Result<Turn<'_>, Option<End>> {
        let turn = self.enter(hook, spec).ok_or(None)?;
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let slot = state.slot(turn.slot).ok_or(None)?;
            if slot.failures.are_many(now) {
                return Err(None);
            }
            if slot.events.front() == Some(&turn.event) {
                break;
            }
            if spec.cancel.is_some_and(Cancel::is_requested) {
                return Err(Some(End::Cancelled));
            }
            if now >= deadline {
                return Err(Some(End::TimedOut { stopped: false }));
            }
            let longest = (deadline - now).min(CANCEL_INTERVAL);
            let woken = self.turns.wait_timeout(state, longest);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(state);
        Ok(turn)
    }

    fn enter(&self, hook: &Hook, spec: &Spec<'_>) -> Option<Turn<'_>> {
        let mut state = self.lock();
        if state.is_closed {
            return None;
        }
        let event = state.new_id();
        let place = state.place(hook, spec);
        let slot = &mut state.slots[place];
        slot.events.push_back(event);
        Some(Turn {
            slots: self,
            slot: slot.id,
            event,
        })
    }

    /// Takes the idle processes that are meant.
    pub(super) fn take_idle(&self, is_meant: impl Fn(&Kept) -> bool) -> Vec<Resident> {
        let mut state = self.lock();
        let slots = state.slots.iter_mut();
        let kept = slots.filter_map(|slot| slot.idle.take_if(|kept| is_meant(kept)));
        kept.map(|kept| kept.process).collect()
    }

    /// Removes the slots of these hooks, given by their fingerprints, and returns their idle processes.
    pub(super) fn remove(&self, hooks: &[u64]) -> Vec<Resident> {
        let is_meant = |slot: &mut Slot| hooks.contains(&slot.hook.fingerprint());
        let mut state = self.lock();
        let removed = state.slots.extract_if(.., is_meant);
        removed
            .filter_map(|slot| Some(slot.idle?.process))
            .collect()
    }

    /// Removes all slots for good.
    pub(super) fn close(&self) -> Vec<Resident> {
        let mut state = self.lock();
        state.is_closed = true;
        let removed = state.slots.drain(..);
        removed
            .filter_map(|slot| Some(slot.idle?.process))
            .collect()
    }

    /// Lets all idle processes be idle for this much longer.
    #[cfg(test)]
    pub(super) fn grow_old(&self, by: Duration) {
        for kept in self
            .lock()
            .slots
            .iter_mut()
            .filter_map(|slot| slot.idle.as_mut())
        {
            kept.since = kept.since.checked_sub(by).unwrap();
        }
    }
}

/// The place of one event among those of its hook. Dropping it gives it up.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    slots: &'a Slots,
    slot: u64,
    event: u64,
}

impl Turn<'_> {
    /// Takes the hook's process. One that is started before this is given back replaces it.
    pub(super) fn take(&self) -> Option<Kept> {
        let mut state = self.slots.lock();
        let slot = state.slot(self.slot)?;
        let kept = slot.idle.take()?;
        (slot.is_busy, slot.next) = (true, Residency::Replaced);
        Some(kept)
    }

    /// Reserves a place for a process that will be started. Returns what it is to the event, and the process that must
    /// be ended for it: if all places are taken, the one that has been idle for the longest time. None: there is no
    /// place.
    pub(super) fn reserve(&self) -> Option<(Residency, Option<Resident>)> {
        let mut state = self.slots.lock();
        state.slot(self.slot)?;
        let others = state.slots.iter_mut().filter(|slot| slot.id != self.slot);
        let mut kept: Vec<_> = others
            .filter(|it| it.is_busy || it.idle.is_some())
            .collect();
        let mut ended = None;
        if kept.len() >= MOST {
            let idle = kept.iter_mut().filter(|slot| slot.idle.is_some());
            let longest = idle.min_by_key(|slot| slot.idle.as_ref().map(|kept| kept.since))?;
            ended = longest.idle.take().map(|kept| kept.process);
        }
        let slot = state.slot(self.slot)?;
        slot.is_busy = true;
        let how = std::mem::replace(&mut slot.next, Residency::Replaced);
        Some((how, ended))
    }

    /// Keeps a process until the next event, or returns it.
    pub(super) fn keep(&self, kept: Kept) -> Option<Kept> {
        let mut state = self.slots.lock();
        let Some(slot) = state.slot(self.slot) else {
            return Some(kept);
        };
        slot.next = Residency::Started;
        let since = Instant::now();
        slot.idle = Some(Kept { since, ..kept });
        None
    }

    pub(super) fn note_failure(&self) {
        if let Some(slot) = self.slots.lock().slot(self.slot) {
            slot.failures.note(Instant::now());
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slots.lock().slot(self.slot) {
            if slot.events.front() == Some(&self.event) {
                slot.is_busy = false;
            }
            slot.events.retain(|event| *event != self.event);
        }
        self.slots.turns.notify_all();
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
