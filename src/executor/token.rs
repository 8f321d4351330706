//! A token, which cancels calls and submitted events from any thread.
//!
//! A token is a flag and the runs that depend on it. A run is one event or call while it waits or runs; it depends on at most three
//! tokens (the executor's, the host's, and its handle's), and takes itself off them when it ends. A run first becomes known to its
//! tokens and then checks them, so that no cancellation is lost in between. Knows neither hooks nor threads.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};

use super::delivery::Channel;
use crate::pool::Waiting;
use crate::process::Cancel;
use crate::sync::{AtomicBool, Mutex, Ordering};

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
pub struct CancelToken(Arc<Shared>);

#[derive(Default)]
struct Shared {
    flag: Arc<AtomicBool>,
    /// True if the host may set the flag itself.
    is_of_host: bool,
    /// The runs that depend on the token, by their numbers.
    runs: Mutex<BTreeMap<u64, Weak<Run>>>,
}

/// One event or call, while it waits or runs.
pub(super) struct Run {
    number: u64,
    cancel: Arc<Cancel>,
    tokens: Vec<CancelToken>,
    /// The handle's token, which is cancelled together with the event.
    own: Option<CancelToken>,
    /// The channel of a submitted event, which has ended when the channel is closed.
    channel: Option<Arc<Channel>>,
    /// The queue in which a submitted event waits for a thread.
    waits_in: Mutex<Option<Waiting>>,
}

impl CancelToken {
    /// Creates a token that cancels nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a token that is also cancelled by a flag of the host's own, such as one that a signal handler sets. A running hook is
    /// ended at most 20 ms after the flag is set; an event that waits for a thread ends in its turn.
    #[must_use]
    pub fn from_flag(flag: Arc<AtomicBool>) -> Self {
        Self(Arc::new(Shared {
            flag,
            is_of_host: true,
            runs: Mutex::default(),
        }))
    }

    /// Cancels the calls and events that have this token, as [`HookHandle::cancel`](crate::HookHandle::cancel) does, without
    /// waiting. The token stays cancelled: a call or event that gets it later is cancelled at once. An event without hooks
    /// has nothing to cancel, and is allowed; an action of a [`Lifecycle`](crate::Lifecycle) is not begun.
    pub fn cancel(&self) {
        // A loop instead of recursion: a host may give each event the token of the one before.
        let mut waiting = vec![self.clone()];
        while let Some(token) = waiting.pop() {
            if token.0.flag.swap(true, Ordering::SeqCst) && !token.0.is_of_host {
                continue;
            }
            // The latest ones are cancelled first: they wait for the others.
            for run in token.runs().into_iter().rev() {
                if run.request() {
                    waiting.extend(run.own.clone());
                }
            }
        }
    }

    /// Returns whether the token has been cancelled. The token of a submitted event is also cancelled if its event is
    /// cancelled in another way, at the latest when the event ends.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.flag.load(Ordering::SeqCst)
    }

    /// Returns whether the hooks of all calls and events that the token was given to have ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.runs().iter().all(|run| run.has_ended())
    }

    fn runs(&self) -> Vec<Arc<Run>> {
        let runs = self.0.runs.lock();
        runs.values().filter_map(Weak::upgrade).collect()
    }
}

impl Run {
    /// Creates a run that these tokens cancel.
    pub(super) fn new(tokens: impl IntoIterator<Item = CancelToken>) -> Arc<Self> {
        Self::with(tokens.into_iter().collect(), None, None)
    }

    /// Creates the run of a submitted event, with the token of its handle.
    pub(super) fn of_event(
        mut tokens: Vec<CancelToken>,
        own: CancelToken,
        channel: Arc<Channel>,
    ) -> Arc<Self> {
        tokens.push(own.clone());
        Self::with(tokens, Some(own), Some(channel))
    }

    fn with(
        tokens: Vec<CancelToken>,
        own: Option<CancelToken>,
        channel: Option<Arc<Channel>>,
    ) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let flags = tokens.iter().map(|token| Arc::clone(&token.0.flag));
        let is_of_host = tokens.iter().any(|token| token.0.is_of_host);
        let run = Arc::new(Self {
            number: NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed),
            cancel: Arc::new(Cancel::watching(flags.collect(), is_of_host)),
            tokens,
            own,
            channel,
            waits_in: Mutex::default(),
        });
        for token in &run.tokens {
            let mut runs = token.0.runs.lock();
            runs.insert(run.number, Arc::downgrade(&run));
        }
        // A token may have been cancelled before it knew this run.
        run.tell_own();
        run
    }

    /// Cancels the handle's token if the run has been cancelled in another way: before it was registered, by a flag of the host, or
    /// by its queue.
    pub(super) fn tell_own(&self) {
        if self.cancel.is_requested()
            && let Some(own) = &self.own
        {
            own.cancel();
        }
    }

    /// Returns the cancellation that the hooks of the event check.
    pub(super) fn cancel(&self) -> Arc<Cancel> {
        Arc::clone(&self.cancel)
    }

    /// Records the queue in which an event waits.
    pub(super) fn waits_in(&self, queue: Waiting) {
        *self.waits_in.lock() = Some(queue);
        // The run may have been cancelled before its queue was known.
        if self.cancel.is_requested() {
            self.withdraw();
        }
    }

    /// Cancels the run. Returns whether it was not cancelled before.
    fn request(&self) -> bool {
        let is_first = self.cancel.request();
        self.withdraw();
        is_first
    }

    fn withdraw(&self) {
        let waiting = self.waits_in.lock().take();
        if let Some(waiting) = waiting {
            waiting.withdraw();
        }
    }

    /// A call ends when its run is dropped.
    fn has_ended(&self) -> bool {
        let channel = self.channel.as_ref();
        channel.is_some_and(|channel| channel.is_closed())
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        for token in &self.tokens {
            let gone = token.0.runs.lock().remove(&self.number);
            drop(gone);
        }
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

#[cfg(all(test, not(forge_hooks_shuttle)))]
mod tests {
    use super::*;
    use crate::growth::assert_linear;

    /// Each run depends on the executor's token and on the one before it.
    #[test]
    fn each_token_of_a_chain_is_cancelled_once() {
        let cancel = |length: &usize| {
            let first = CancelToken::new();
            let (mut last, mut runs) = (first.clone(), Vec::new());
            for _ in 0..*length {
                let own = CancelToken::new();
                let tokens = vec![first.clone(), last];
                let (sender, _) =
                    super::super::delivery::ResultSender::new(0, false, Arc::default());
                runs.push(Run::of_event(tokens, own.clone(), sender.channel));
                last = own;
            }
            first.cancel();
            assert!(last.is_cancelled());
            assert!(runs.iter().all(|run| run.cancel().is_requested()));
        };
        assert_linear("tokens", 1_000, |length| length, cancel);
    }

    #[test]
    fn a_token_keeps_no_run_that_has_ended() {
        let token = CancelToken::new();
        for _ in 0..10 {
            let run = Run::new([token.clone()]);
            assert!(!token.is_finished());
            drop(run);
            assert!(token.is_finished() && token.0.runs.lock().is_empty());
        }
    }
}
