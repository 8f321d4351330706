//! The blocking calls that are running: so that a shutdown can wait for them, and cancel them at its deadline.
//!
//! Knows nothing of events.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::process::Cancel;

#[derive(Default)]
pub(super) struct Calls {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    running: usize,
    /// A shutdown has waited for the end. Before, each call would make a system call to wake a thread that is not there.
    is_awaited: bool,
    /// Cancels all calls that run. Each cut begins a new one: calls after a shutdown work as before.
    cancel: Arc<Cancel>,
}

/// One call; it ends when this is dropped.
pub(super) struct Call<'a> {
    calls: &'a Calls,
    pub(super) cancel: Arc<Cancel>,
}

impl Calls {
    pub(super) fn begin(&self) -> Call<'_> {
        let mut state = self.lock();
        state.running += 1;
        Call {
            calls: self,
            cancel: Arc::clone(&state.cancel),
        }
    }

    /// Waits until no call runs; false if that takes longer.
    pub(super) fn wait_for_the_end(&self, patience: Duration) -> bool {
        let is_running = |state: &mut State| state.running > 0;
        let mut state = self.lock();
        state.is_awaited = true;
        let waited = self.ended.wait_timeout_while(state, patience, is_running);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.running == 0
    }

    pub(super) fn cut(&self) {
        std::mem::take(&mut self.lock().cancel).request();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let mut state = self.calls.lock();
        state.running -= 1;
        if state.running == 0 && state.is_awaited {
            self.calls.ended.notify_all();
        }
    }
}
