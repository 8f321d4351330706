//! The handle of a submitted event, by which its host waits for the results.
//!
//! Knows neither hooks nor threads.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};

use super::delivery::Channel;
use super::error::SubmitError;
use super::token::CancelToken;
use crate::outcome::{HookResult, Outcome};

/// The handle of a submitted event. Dropping the handle does not cancel the event.
///
/// The hooks then run to their end, and their results are lost. With
/// [`cancel_on_drop`](HookHandle::cancel_on_drop), dropping the handle cancels the event.
///
/// A host polls the handle with [`try_wait`](HookHandle::try_wait), blocks in [`wait`](HookHandle::wait), or awaits it: it
/// is a `Future` that needs no runtime, whose output is the [`Outcome`]. Polled again, it returns what `wait` returns then.
///
/// ```
/// use std::sync::Arc;
/// use forge_hooks::{FireOptions, Hook, HookEvent, HookExecutor, HookRegistry};
///
/// let registry = Arc::new(HookRegistry::new());
/// registry.register(Hook::new("session:start", "echo hello")?);
/// let executor = HookExecutor::new(registry);
///
/// let mut handle = executor.submit(HookEvent::session_start("s1"), FireOptions::default())?;
/// let outcome = loop {
///     // ... a frame of a game ...
///     if let Some(outcome) = handle.try_wait() {
///         break outcome;
///     }
///     # std::thread::yield_now();
/// };
/// assert_eq!(outcome.results()[0].stdout().trim(), "hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "hooks may have blocked the operation: wait for the outcome"]
pub struct HookHandle {
    /// The outcome so far, without results.
    outcome: Outcome,
    results: Results,
    /// The outcome with the results that block or ask alone, once the whole one has been returned.
    returned: Option<Outcome>,
    cancels_on_drop: bool,
    /// The error that kept all hooks from seeing the event.
    refusal: Option<Arc<SubmitError>>,
}

/// The place of an event's results.
pub(super) enum Results {
    /// All results have arrived: no thread has anything left to do.
    Ended(Vec<HookResult>),
    /// The results stay in the channel until the last one has arrived.
    Sent {
        token: CancelToken,
        channel: Arc<Channel>,
        receiver: Receiver<HookResult>,
    },
}

impl HookHandle {
    pub(super) fn new(outcome: Outcome, results: Results) -> Self {
        Self {
            outcome,
            results,
            returned: None,
            cancels_on_drop: false,
            refusal: None,
        }
    }

    /// Creates the handle of an event that no hook matches.
    pub(super) fn ended(outcome: Outcome) -> Self {
        Self::new(outcome, Results::Ended(Vec::new()))
    }

    /// Creates the handle of an event that was not taken. The handle has ended, and blocks what can be blocked.
    pub(crate) fn refused(outcome: Outcome, error: SubmitError) -> Self {
        let results = vec![HookResult::not_taken(&error.to_string())];
        let mut handle = Self::new(outcome, Results::Ended(results));
        handle.refusal = Some(Arc::new(error));
        handle
    }

    /// Returns the reason why no hook has seen the event: the queue was full, and so on. None if hooks have received it, or there are no hooks.
    /// Only a handle of [`Hooks::submit`](crate::Hooks::submit) can have a refusal; its outcome blocks what can be blocked.
    #[must_use]
    pub fn refusal(&self) -> Option<&SubmitError> {
        self.refusal.as_deref()
    }

    /// [Cancels](HookHandle::cancel) the event if this handle is dropped before it has returned the
    /// outcome. [`into_receiver`](HookHandle::into_receiver) revokes this.
    pub fn cancel_on_drop(mut self) -> Self {
        self.cancels_on_drop = true;
        self
    }

    /// Waits for the hooks to end. This takes the time until their turn, and then at most the sum of their timeouts and of
    /// the time to kill them, twice if hooks run again behind a change.
    ///
    /// If [`try_wait`](HookHandle::try_wait) or [`wait_timeout`](HookHandle::wait_timeout) has already returned the outcome,
    /// the outcome of `wait` contains only the results that block or ask. An operation that is not allowed therefore stays
    /// so.
    pub fn wait(mut self) -> Outcome {
        self.outcome_or_again()
    }

    /// Returns the outcome, once, if the hooks have ended. Never blocks; a game can call it once a
    /// frame.
    #[must_use]
    pub fn try_wait(&mut self) -> Option<Outcome> {
        if !self.is_finished() {
            return None;
        }
        self.outcome(None)
    }

    /// Returns the outcome, once, if the hooks end within this time.
    #[must_use]
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<Outcome> {
        // A deadline that cannot be represented means no deadline: hooks have their own deadlines.
        let deadline = Instant::now().checked_add(timeout);
        self.outcome(deadline)
    }

    /// Returns whether the hooks have ended. Once they have, the other methods do not wait.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        match &self.results {
            Results::Ended(_) => true,
            Results::Sent { channel, .. } => channel.is_closed(),
        }
    }

    /// Cancels the event, without waiting. The running hook is asked to end, with everything it has started,
    /// and killed after the [grace period](crate::HookExecutorBuilder::kill_grace); the hooks after it do not
    /// run. The running hook and each hook after it get a result that fails as
    /// [`Cancelled`](crate::FailureKind::Cancelled); [`HookResult::started`] says whether it had started. Hooks
    /// that had ended keep their results, unless they would run again behind a change. An event that can be blocked is blocked. Its background hooks
    /// do not start; those that run continue.
    ///
    /// Has no effect once the hooks have ended.
    pub fn cancel(&self) {
        if let Results::Sent { token, .. } = &self.results
            && !self.is_finished()
        {
            token.cancel();
        }
    }

    /// Returns a token that can cancel this event from any thread, also after this handle has been moved.
    #[must_use]
    pub fn cancel_token(&self) -> CancelToken {
        match &self.results {
            Results::Ended(_) => CancelToken::new(),
            Results::Sent { token, .. } => token.clone(),
        }
    }

    /// Returns the results as they arrive, in the order of [`hooks_for`](crate::HookExecutor::hooks_for). The channel disconnects after the last one. If hooks
    /// [may change](crate::FireOptions::applies_updates) the event, all results arrive at its end. If they have changed it, one more
    /// result blocks: a receiver gives out no change.
    /// A host can wait for it together with other channels in
    /// [`crossbeam_channel::select!`](https://docs.rs/crossbeam-channel/latest/crossbeam_channel/macro.select.html).
    /// If the outcome was already returned, only the results that block or ask are sent again, as [`wait`](HookHandle::wait) does.
    ///
    /// A host that fires an event that can be blocked must check each
    /// [`should_continue`](HookResult::should_continue). Dropping the receiver lets the hooks
    /// finish.
    #[must_use = "hooks may have blocked the operation"]
    pub fn into_receiver(mut self) -> Receiver<HookResult> {
        self.cancels_on_drop = false;
        let results = std::mem::replace(&mut self.results, Results::Ended(Vec::new()));
        match (self.returned.take(), results) {
            (Some(returned), _) if returned.changed_event().is_some() => {
                let mut results = returned.into_results();
                results.push(HookResult::unseen_change());
                sent(results)
            }
            (Some(returned), _) => sent(returned.into_results()),
            (None, Results::Ended(results)) => sent(results),
            (
                None,
                Results::Sent {
                    channel, receiver, ..
                },
            ) => {
                // A task that has polled the handle is no longer needed.
                channel.wakes_at_end(Waker::noop());
                if channel.refuse_change() {
                    let mut results: Vec<_> = receiver.try_iter().collect();
                    results.push(HookResult::unseen_change());
                    return sent(results);
                }
                receiver
            }
        }
    }

    /// Waits for the last result, and takes all results. Returns none if the deadline comes first.
    fn receive(&mut self, deadline: Option<Instant>) -> Option<Vec<HookResult>> {
        match &mut self.results {
            Results::Ended(results) => Some(std::mem::take(results)),
            Results::Sent {
                channel, receiver, ..
            } => {
                let has_ended = channel.wait_for_the_end(deadline);
                has_ended.then(|| receiver.try_iter().collect())
            }
        }
    }

    /// Returns the outcome after the last result, once.
    fn outcome(&mut self, deadline: Option<Instant>) -> Option<Outcome> {
        let results = self.receive(deadline)?;
        if self.returned.is_some() {
            return None;
        }
        let change = match &self.results {
            Results::Sent { channel, .. } => channel.take_change(),
            Results::Ended(_) => None,
        };
        let mut again = Vec::from_iter(&results);
        again.retain(|result| !result.should_continue());
        let again = again.into_iter().cloned().collect();
        let with = |results| {
            self.outcome
                .clone()
                .with_results(results)
                .with_change(change.clone())
        };
        self.returned = Some(with(again));
        Some(with(results))
    }

    /// Waits for the outcome. If it was already returned, returns it with only the results that block or ask.
    fn outcome_or_again(&mut self) -> Outcome {
        let outcome = self.outcome(None).or_else(|| self.returned.clone());
        outcome.unwrap_or_else(|| self.outcome.clone())
    }
}

/// Returns a receiver of these results alone.
fn sent(results: Vec<HookResult>) -> Receiver<HookResult> {
    let (sender, receiver) = bounded(results.len());
    for result in results {
        // Sending cannot fail: the channel has space for each result.
        let _ = sender.send(result);
    }
    receiver
}

impl Future for HookHandle {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        if let Results::Sent { channel, .. } = &self.results
            && channel.wakes_at_end(context.waker())
        {
            return Poll::Pending;
        }
        Poll::Ready(self.outcome_or_again())
    }
}

impl Drop for HookHandle {
    fn drop(&mut self) {
        if let Results::Sent {
            channel, receiver, ..
        } = &self.results
        {
            // Without this, the results and the task would be kept until the event ends.
            channel.wakes_at_end(Waker::noop());
            if self.returned.is_none() {
                channel.leave(self.outcome.event_type(), receiver);
            }
        }
        if self.cancels_on_drop {
            self.cancel();
        }
    }
}

// No state is seen half changed: a channel is locked for one assignment.
impl UnwindSafe for HookHandle {}
impl RefUnwindSafe for HookHandle {}

impl fmt::Debug for HookHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookHandle")
            .field("event_type", self.outcome.event_type())
            .field("is_finished", &self.is_finished())
            .finish_non_exhaustive()
    }
}
