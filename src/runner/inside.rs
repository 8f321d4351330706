//! Whether this thread runs a hook, and so the host's code that a run calls, such as an observer.
//!
//! That code fires no event: its hooks would be reported too, without end. Nor does it wait for one: the thread that
//! would run its hooks may be this one.

use std::cell::Cell;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn inside_a_run() -> bool {
    INSIDE.get()
}

/// This thread runs or drops a hook until this is dropped.
pub(super) struct Inside {
    before: bool,
}

impl Inside {
    pub(super) fn enter() -> Self {
        Self {
            before: INSIDE.replace(true),
        }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(self.before);
    }
}
