//! Counts how deep hooks are nested within this program: an observer of a hook fires an event, whose hooks
//! have observers that fire events, and so on.
//!
//! The depth is counted for each thread, and passed on to work that another thread runs.

use std::cell::Cell;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// The number of hooks that this thread is running, including those above them on other threads.
pub(crate) fn depth() -> usize {
    DEPTH.get()
}

/// Sets another depth for this thread until it is dropped.
pub(crate) struct Nesting {
    before: usize,
}

impl Nesting {
    /// Enters one more hook.
    pub(crate) fn enter() -> Self {
        Self::at(depth() + 1)
    }

    /// Continues work that was begun at this depth, possibly on another thread. A thread that runs the work out
    /// of its turn may itself be deeper.
    pub(crate) fn resume(begun: usize) -> Self {
        Self::at(begun.max(depth()))
    }

    /// The number of hooks above this one.
    pub(crate) fn above(&self) -> usize {
        self.before
    }

    fn at(depth: usize) -> Self {
        Self {
            before: DEPTH.replace(depth),
        }
    }
}

impl Drop for Nesting {
    fn drop(&mut self) {
        DEPTH.set(self.before);
    }
}
