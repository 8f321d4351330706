//! A token: what cancels calls and submitted events from any thread.
//!
//! Knows neither hooks nor threads.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::process::Cancel;

/// Cancels calls and submitted events, from any thread. Clones cancel the same ones. Dropping it has no effect.
///
/// A host creates one, and gives it to each call that it cancels: to [`FireOptions`](crate::FireOptions::cancelled_by), to
/// a [`Lifecycle`](crate::Lifecycle::cancelled_by) or to a [`Request`](crate::lifecycle::Request::cancelled_by).
/// [`HookHandle::cancel_token`](crate::HookHandle::cancel_token) returns one for its event.
///
/// ```
/// use forge_hooks::{CancelToken, FireOptions, Hook, HookEvent, HookExecutor};
///
/// let executor = HookExecutor::builder().build();
/// executor.registry().register(Hook::new("tool:*", "exit 0")?);
/// let token = CancelToken::new();
/// token.cancel(); // any thread may do so, before the call or while it runs
/// let event = HookEvent::tool_pre_execute("bash", "ls");
/// let outcome = executor.execute(&event, FireOptions::new().cancelled_by(&token));
/// assert_eq!(outcome.reason(), Some("cancelled before its turn"));
/// # Ok::<(), forge_hooks::HookError>(())
/// ```
#[derive(Clone, Default)]
pub struct CancelToken(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    is_cancelled: bool,
    under_way: Vec<Arc<dyn Cancellable>>,
}

/// What a token cancels.
pub(super) trait Cancellable: Send + Sync {
    fn cancel(&self);

    fn has_ended(&self) -> bool;
}

/// A blocking call, until it has ended.
impl Cancellable for Weak<Cancel> {
    fn cancel(&self) {
        if let Some(cancel) = self.upgrade() {
            cancel.request();
        }
    }

    fn has_ended(&self) -> bool {
        self.strong_count() == 0
    }
}

impl CancelToken {
    /// Creates a token that cancels nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels what it was given to, as [`HookHandle::cancel`](crate::HookHandle::cancel) does, without waiting. It stays
    /// cancelled: what it is given to later is cancelled at once. An event without hooks has nothing to cancel, and is
    /// allowed; an action of a [`Lifecycle`](crate::Lifecycle) is not begun.
    pub fn cancel(&self) {
        let mut state = self.lock();
        state.is_cancelled = true;
        let under_way = state.under_way.clone();
        drop(state);
        // The latest come first: they wait for the others, and would start in their place.
        for one in under_way.iter().rev() {
            one.cancel();
        }
    }

    /// Whether it has been cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.lock().is_cancelled
    }

    /// Whether the hooks of all that it was given to have ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.lock().under_way.iter().all(|one| one.has_ended())
    }

    pub(super) fn add(&self, one: impl Cancellable + 'static) {
        let one: Arc<dyn Cancellable> = Arc::new(one);
        let mut state = self.lock();
        state.under_way.retain(|earlier| !earlier.has_ended());
        state.under_way.push(Arc::clone(&one));
        let is_cancelled = state.is_cancelled;
        drop(state);
        if is_cancelled {
            one.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Two tokens are equal if they are clones of one.
impl PartialEq for CancelToken {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for CancelToken {}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken")
            .field("is_cancelled", &self.is_cancelled())
            .field("is_finished", &self.is_finished())
            .finish()
    }
}
