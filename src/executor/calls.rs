//! The blocking calls that are running: a shutdown waits for them.
//!
//! A handler of Ctrl-C therefore leaves no hook behind, whichever method fired the event. Knows nothing of events.

use std::time::Duration;

use crate::sync::{Condvar, Mutex};

#[derive(Default)]
pub(super) struct Calls {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    running: usize,
    /// True if a shutdown has begun to wait. Before that, waking a thread would cost each call a system call without an
    /// effect.
    is_awaited: bool,
}

/// One running call. It ends when this value is dropped.
pub(super) struct BlockingCall<'a>(&'a Calls);

impl Calls {
    pub(super) fn begin(&self) -> BlockingCall<'_> {
        self.state.lock().running += 1;
        BlockingCall(self)
    }

    /// Waits until no call runs, at most for `patience`. Returns whether no call runs.
    pub(super) fn wait_for_the_end(&self, patience: Duration) -> bool {
        let mut state = self.state.lock();
        state.is_awaited = true;
        let is_running = |state: &mut State| state.running > 0;
        let state = self.ended.wait_timeout_while(state, patience, is_running);
        state.running == 0
    }
}

impl Drop for BlockingCall<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.running -= 1;
        if state.running == 0 && state.is_awaited {
            self.0.ended.notify_all();
        }
    }
}
