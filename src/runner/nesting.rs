//! How deep hooks are nested within this program: run for an event that an observer of another hook
//! has fired, and so on.
//!
//! Counted by thread, and carried along with what another thread runs.

use std::cell::Cell;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// The number of hooks that this thread is running, and those above them on other threads.
pub(crate) fn depth() -> usize {
    DEPTH.get()
}

/// This thread runs something at another depth, until this is dropped.
pub(crate) struct Nesting {
    before: usize,
}

impl Nesting {
    /// Begins one hook more.
    pub(crate) fn enter() -> Self {
        Self::at(depth() + 1)
    }

    /// Continues what was begun at this depth, maybe on another thread. A thread that runs it out of
    /// its turn may be deeper itself.
    pub(crate) fn resume(begun: usize) -> Self {
        Self::at(begun.max(depth()))
    }

    /// The hooks above.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_restored_and_carried_along() {
        let first = Nesting::enter();
        assert_eq!((first.above(), depth()), (0, 1));
        let resumed = Nesting::resume(5);
        let second = Nesting::enter();
        assert_eq!((second.above(), depth()), (5, 6));
        let shallower = Nesting::resume(2);
        assert_eq!(depth(), 6);
        drop((shallower, second));
        assert_eq!(depth(), 5);
        drop((resumed, first));
        assert_eq!(depth(), 0);
    }
}
