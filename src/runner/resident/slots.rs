//! The slots of hooks. A slot knows the event that has its turn, and the idle process.
//!
//! Starts and ends no process. A slot that is no longer in the list keeps no process: its hook was removed.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::hook::Hook;
use crate::named::Stamps;
use crate::process::{Cancel, Confinement, End, Resident, Spec, Stop};

/// The most processes that are kept at once, including busy ones.
const MOST: usize = 16;

/// The number of slots from which on those without any state are removed.
const MANY_SLOTS: usize = 256;

/// The interval at which a waiting event checks for a cancellation.
const CANCEL_INTERVAL: Duration = Duration::from_millis(20);

/// A process, and the files from which it was started.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) process: Resident,
    pub(super) files: Stamps,
    /// The time at which the process was started, or has answered its last event.
    pub(super) since: Instant,
}

/// One hook in one working directory, confined in one way.
#[derive(Debug)]
pub(super) struct Slot {
    hook: Hook,
    working_dir: PathBuf,
    confinement: Option<Confinement>,
    state: Mutex<State>,
    /// Signalled when another event may have its turn.
    turns: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The events in their order. The first event has its turn.
    events: VecDeque<u64>,
    next: u64,
    /// True if the event with the turn has a process, or is about to start one.
    is_busy: bool,
    idle: Option<Kept>,
    /// True if the previous process had to be ended.
    replaces: bool,
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the slot is that of this hook and spec. Compares the whole hook: another hook with the same fingerprint
    /// can be constructed.
    fn is_of(&self, hook: &Hook, spec: &Spec<'_>) -> bool {
        self.hook.fingerprint() == hook.fingerprint()
            && self.hook == *hook
            && self.hook.base_dir() == hook.base_dir()
            && self.working_dir == spec.working_dir
            && self.confinement == spec.confinement
    }
}

/// All slots; None once no process is kept any more.
#[derive(Debug)]
pub(super) struct Slots(Mutex<Option<Vec<Arc<Slot>>>>);

impl Slots {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Some(Vec::new())))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<Arc<Slot>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the slot of a hook.
    pub(super) fn of(&self, hook: &Hook, spec: &Spec<'_>) -> Option<Arc<Slot>> {
        let mut all = self.lock();
        let all = all.as_mut()?;
        if let Some(known) = all.iter().find(|slot| slot.is_of(hook, spec)) {
            return Some(Arc::clone(known));
        }
        if all.len() >= MANY_SLOTS {
            all.retain(|slot| Arc::strong_count(slot) > 1 || slot.lock().idle.is_some());
        }
        let slot = Arc::new(Slot {
            hook: hook.clone(),
            working_dir: spec.working_dir.to_owned(),
            confinement: spec.confinement.clone(),
            state: Mutex::default(),
            turns: Condvar::new(),
        });
        all.push(Arc::clone(&slot));
        Some(slot)
    }

    /// Reserves a place for a process that will be started. Returns the processes that must be ended for that: if
    /// all places are taken, the one that has been idle for the longest time. None if there is no place.
    pub(super) fn take_place(&self, turn: &Turn) -> Option<Vec<Resident>> {
        let all = self.lock();
        let all = all.as_ref().filter(|all| turn.is_of_one(all))?;
        let others = all.iter().filter(|slot| !Arc::ptr_eq(slot, &turn.slot));
        let others = others.map(|slot| slot.lock());
        let mut kept: Vec<_> = others
            .filter(|state| state.is_busy || state.idle.is_some())
            .collect();
        let mut ends = Vec::new();
        if kept.len() >= MOST {
            let idle = kept.iter_mut().filter(|state| state.idle.is_some());
            let longest = idle.min_by_key(|state| state.idle.as_ref().map(|kept| kept.since))?;
            ends.extend(longest.idle.take().map(|kept| kept.process));
        }
        turn.slot.lock().is_busy = true;
        Some(ends)
    }

    /// Keeps a process until the next event, or returns it.
    pub(super) fn keep(&self, turn: &Turn, kept: Kept) -> Option<Kept> {
        let all = self.lock();
        if !all.as_ref().is_some_and(|all| turn.is_of_one(all)) {
            return Some(kept);
        }
        let since = Instant::now();
        turn.slot.lock().idle = Some(Kept { since, ..kept });
        None
    }

    /// Takes the idle processes for which `is_taken` is true.
    pub(super) fn take_idle(&self, is_taken: impl Fn(&Kept) -> bool) -> Vec<Resident> {
        idle_of(self.lock().iter().flatten(), is_taken)
    }

    /// Removes the slots of these hooks, given by their fingerprints, and returns their idle processes.
    pub(super) fn remove(&self, hooks: &[u64]) -> Vec<Resident> {
        let is_removed = |slot: &mut Arc<Slot>| hooks.contains(&slot.hook.fingerprint());
        let mut all = self.lock();
        let removed = all.as_mut().map(|all| all.extract_if(.., is_removed));
        let removed: Vec<_> = removed.into_iter().flatten().collect();
        idle_of(&removed, |_| true)
    }

    /// Removes all slots for good.
    pub(super) fn close(&self) -> Vec<Resident> {
        idle_of(self.lock().take().iter().flatten(), |_| true)
    }

    /// Makes all idle processes count as idle for this much longer.
    #[cfg(test)]
    pub(super) fn grow_old(&self, by: Duration) {
        for slot in self.lock().iter().flatten() {
            if let Some(kept) = &mut slot.lock().idle {
                kept.since = kept.since.checked_sub(by).unwrap();
            }
        }
    }
}

fn idle_of<'a>(
    slots: impl IntoIterator<Item = &'a Arc<Slot>>,
    is_taken: impl Fn(&Kept) -> bool,
) -> Vec<Resident> {
    slots
        .into_iter()
        .filter_map(|slot| slot.lock().idle.take_if(|kept| is_taken(kept)))
        .map(|kept| kept.process)
        .collect()
}

/// The place of one event among those of its hook. Dropping this value gives up the place.
#[derive(Debug)]
pub(super) struct Turn {
    slot: Arc<Slot>,
    number: u64,
}

impl Turn {
    /// Waits for earlier events of the same hook. The error is the end of an event whose turn does not come.
    pub(super) fn wait(slot: Arc<Slot>, spec: &Spec<'_>, deadline: Instant) -> Result<Self, End> {
        let turn = Self::new(slot);
        let mut state = turn.slot.lock();
        loop {
            if state.events.front() == Some(&turn.number) {
                break;
            }
            if spec.cancel.is_some_and(Cancel::is_requested) {
                return Err(End::Cancelled);
            }
            let now = Instant::now();
            if now >= deadline {
                return Err(End::TimedOut(Stop::None));
            }
            let longest = (deadline - now).min(CANCEL_INTERVAL);
            let woken = turn.slot.turns.wait_timeout(state, longest);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(state);
        Ok(turn)
    }

    fn new(slot: Arc<Slot>) -> Self {
        let mut state = slot.lock();
        state.next += 1;
        let number = state.next;
        state.events.push_back(number);
        drop(state);
        Self { slot, number }
    }

    fn is_of_one(&self, slots: &[Arc<Slot>]) -> bool {
        slots.iter().any(|slot| Arc::ptr_eq(slot, &self.slot))
    }

    /// Takes the hook's process, together with its place.
    pub(super) fn take_idle(&self) -> Option<Kept> {
        let mut state = self.slot.lock();
        state.is_busy = state.idle.is_some();
        state.idle.take()
    }

    /// Takes the mark that the previous process had to be ended: the process that is started now replaces it.
    pub(super) fn replaces(&self) -> bool {
        std::mem::take(&mut self.slot.lock().replaces)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.slot.lock();
        if state.events.front() == Some(&self.number) {
            state.replaces |= state.is_busy && state.idle.is_none();
            state.is_busy = false;
        }
        state.events.retain(|number| *number != self.number);
        drop(state);
        self.slot.turns.notify_all();
    }
}
