//! The cells of kept processes: one for each entry in a directory. A cell is busy while an event has its process; another event then gets a
//! process of its own.
//!
//! Starts and ends no process. If a cell is removed while it is busy, its event returns no process to it.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::hook::Hook;
use crate::named::Stamps;
use crate::process::{Confinement, Resident, Spec};

/// The most cells, and so the most kept processes.
const MOST: usize = 16;

/// A process, and the files from which it was started.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) process: Resident,
    pub(super) files: Stamps,
    /// The time at which the process has answered its last event.
    pub(super) since: Instant,
}

/// The place for the process of one entry in one working directory, confined in one way.
#[derive(Debug)]
struct Cell {
    id: u64,
    hook: Hook,
    working_dir: PathBuf,
    confinement: Option<Confinement>,
    state: State,
}

#[derive(Debug)]
enum State {
    Busy,
    Idle(Kept),
    /// The process had to be ended.
    Empty,
}

impl Cell {
    /// Returns whether the cell is that of this hook and spec. Compares the whole hook: another hook with the same fingerprint
    /// can be constructed.
    fn is_of(&self, hook: &Hook, spec: &Spec<'_>) -> bool {
        self.hook.fingerprint() == hook.fingerprint()
            && self.hook == *hook
            && self.hook.base_dir() == hook.base_dir()
            && self.working_dir == spec.working_dir
            && self.confinement == spec.confinement
    }
}

/// All cells; None once no process is kept any more.
#[derive(Debug)]
pub(super) struct Cells(Mutex<Option<(u64, Vec<Cell>)>>);

impl Cells {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Some((0, Vec::new()))))
    }

    fn lock(&self) -> MutexGuard<'_, Option<(u64, Vec<Cell>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the cell of a hook for one event. None if it is busy, or if there is no place for another one.
    pub(super) fn take(&self, hook: &Hook, spec: &Spec<'_>) -> Option<Turn<'_>> {
        let mut all = self.lock();
        let (last_id, cells) = all.as_mut()?;
        let known = cells.iter_mut().find(|cell| cell.is_of(hook, spec));
        let (id, state) = match known {
            Some(cell) if matches!(cell.state, State::Busy) => return None,
            Some(cell) => (cell.id, std::mem::replace(&mut cell.state, State::Busy)),
            None => {
                if cells.len() >= MOST {
                    let empty = cells
                        .iter()
                        .position(|cell| matches!(cell.state, State::Empty));
                    cells.swap_remove(empty?);
                }
                *last_id += 1;
                cells.push(Cell {
                    id: *last_id,
                    hook: hook.clone(),
                    working_dir: spec.working_dir.to_owned(),
                    confinement: spec.confinement.clone(),
                    state: State::Busy,
                });
                (*last_id, State::Busy)
            }
        };
        Some(Turn {
            cells: self,
            id: Some(id),
            replaces: matches!(state, State::Empty),
            idle: match state {
                State::Idle(kept) => Some(kept),
                _ => None,
            },
        })
    }

    /// Removes the cells of idle processes for which `is_removed` is true, and returns the processes.
    pub(super) fn remove_idle(&self, is_removed: impl Fn(&Kept) -> bool) -> Vec<Resident> {
        self.remove(|cell| matches!(&cell.state, State::Idle(kept) if is_removed(kept)))
    }

    /// Makes all idle processes count as idle for this much longer.
    #[cfg(test)]
    pub(super) fn grow_old(&self, by: std::time::Duration) {
        for cell in self.lock().iter_mut().flat_map(|(_, cells)| cells) {
            if let State::Idle(kept) = &mut cell.state {
                kept.since = kept.since.checked_sub(by).unwrap();
            }
        }
    }

    /// Removes the cells of these hooks, given by their fingerprints, and returns their idle processes.
    pub(super) fn remove_of(&self, hooks: &[u64]) -> Vec<Resident> {
        self.remove(|cell| hooks.contains(&cell.hook.fingerprint()))
    }

    fn remove(&self, is_removed: impl Fn(&Cell) -> bool) -> Vec<Resident> {
        let mut all = self.lock();
        let cells = all.iter_mut().map(|(_, cells)| cells);
        processes_of(cells.flat_map(|cells| cells.extract_if(.., |cell| is_removed(cell))))
    }

    /// Removes all cells for good, and returns their idle processes.
    pub(super) fn close(&self) -> Vec<Resident> {
        let all = self.lock().take();
        processes_of(all.into_iter().flat_map(|(_, cells)| cells))
    }
}

fn processes_of(cells: impl Iterator<Item = Cell>) -> Vec<Resident> {
    let idle = cells.filter_map(|cell| match cell.state {
        State::Idle(kept) => Some(kept.process),
        State::Busy | State::Empty => None,
    });
    idle.collect()
}

/// A cell that one event has. Dropping this value gives the cell back without a process.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    cells: &'a Cells,
    /// The id of the cell until it is given back.
    id: Option<u64>,
    /// The process that was idle.
    pub(super) idle: Option<Kept>,
    /// True if the previous process had to be ended.
    pub(super) replaces: bool,
}

impl Turn<'_> {
    /// Gives the cell back with a process that answered just now. Returns the process if the cell was removed.
    pub(super) fn keep(mut self, kept: Kept) -> Option<Kept> {
        let since = Instant::now();
        self.give_back(Some(Kept { since, ..kept }))
    }

    /// Gives the cell back once, because another event may have it right after.
    fn give_back(&mut self, kept: Option<Kept>) -> Option<Kept> {
        let id = self.id.take()?;
        let mut all = self.cells.lock();
        let mut cells = all.iter_mut().flat_map(|(_, cells)| cells);
        let Some(cell) = cells.find(|cell| cell.id == id) else {
            return kept;
        };
        cell.state = kept.map_or(State::Empty, State::Idle);
        None
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.give_back(None);
    }
}
