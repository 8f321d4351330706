//! The blocking calls that are running: so that a shutdown can wait for them, and cancel them at its deadline.
//!
//! Knows nothing of events.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
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
    /// Those of the calls that can also be cancelled alone.
    own: Vec<Weak<Cancel>>,
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

    /// Begins a call with a flag of its own.
    pub(super) fn begin_own(&self) -> Call<'_> {
        let cancel = Arc::default();
        let mut state = self.lock();
        state.running += 1;
        state.own.retain(|earlier| earlier.strong_count() > 0);
        state.own.push(Arc::downgrade(&cancel));
        Call {
            calls: self,
            cancel,
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

    /// Cancels all calls that run.
    pub(super) fn cut(&self) {
        let mut state = self.lock();
        let (shared, own) = (
            std::mem::take(&mut state.cancel),
            std::mem::take(&mut state.own),
        );
        drop(state);
        shared.request();
        for cancel in own.iter().filter_map(Weak::upgrade) {
            cancel.request();
        }
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
