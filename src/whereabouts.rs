//! The place of a thread: in the host's code, in a pool, or in code that a run or a drop of a hook calls, such as an
//! observer.
//!
//! Code that a run or a drop calls fires no event: its hooks would be reported too, without end. And a thread waits for an
//! event only in the host's own code: elsewhere, it may be the thread that would run the event's hooks.

use std::cell::Cell;

use crate::sync::thread_local;

/// The place of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    Host,
    /// The thread belongs to a pool of any executor.
    Pool,
    /// The thread runs a hook.
    Run,
    /// The thread reports a hook that will not run. Another drop within that report is not reported.
    Drop,
}

/// A place that a thread has entered, until the value is dropped.
pub(crate) struct Entered {
    pub(crate) before: Where,
}

thread_local! {
    static HERE: Cell<Where> = const { Cell::new(Where::Host) };
}

impl Where {
    pub(crate) fn now() -> Self {
        HERE.with(Cell::get)
    }

    pub(crate) fn enter(self) -> Entered {
        let before = HERE.with(|here| here.replace(self));
        Entered { before }
    }

    /// Returns whether an event may be fired here.
    pub(crate) fn may_fire() -> bool {
        matches!(Self::now(), Self::Host | Self::Pool)
    }

    /// Returns whether this thread may wait for an event.
    pub(crate) fn may_wait() -> bool {
        Self::now() == Self::Host
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        HERE.with(|here| here.set(self.before));
    }
}
