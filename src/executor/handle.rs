//! The handle of a submitted event.
//!
//! When a thread of a pool polls or waits for an event that is still queued, the event runs at
//! once, out of its turn: the threads that would run it may be waiting for this thread.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::delivery::JobEnd;
use crate::events::EventKind;
use crate::outcome::{HookResult, Outcome};
use crate::pool::{Pool, Ticket, on_pool_thread};

/// The handle of a submitted event. Dropping the handle does not cancel the event.
///
/// The hooks then run to their end, and their results are lost. With
/// [`cancel_on_drop`](HookHandle::cancel_on_drop), dropping the handle cancels the event.
///
/// A host polls it with [`try_wait`](HookHandle::try_wait), blocks in [`wait`](HookHandle::wait), or awaits it:
/// it is a `Future` that needs no runtime, whose output is the [`Outcome`]. As a future, it panics if it is
/// polled again after it has returned the outcome.
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
/// assert_eq!(outcome.results()[0].stdout.trim(), "hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "hooks may have blocked the operation: wait for the outcome"]
pub struct HookHandle {
    kind: EventKind,
    /// None for an event without hooks.
    job: Option<Submitted>,
    state: State,
    cancels_on_drop: bool,
}

enum State {
    Running,
    /// The outcome has been returned; these are its results that do not continue.
    Given(Vec<HookResult>),
}

/// The host's side of a job.
#[derive(Clone)]
pub(super) struct Submitted {
    pub(super) end: JobEnd,
    pub(super) pool: Pool,
    pub(super) ticket: Ticket,
}

impl HookHandle {
    pub(super) fn new(kind: EventKind, job: Option<Submitted>) -> Self {
        Self {
            kind,
            job,
            state: State::Running,
            cancels_on_drop: false,
        }
    }

    /// [Cancels](HookHandle::cancel) the event if this handle is dropped before it has returned the
    /// outcome. [`into_receiver`](HookHandle::into_receiver) revokes this.
    pub fn cancel_on_drop(mut self) -> Self {
        self.cancels_on_drop = true;
        self
    }

    /// Waits for the hooks to end. This takes the time that they wait for their turn, and then at
    /// most the sum of their timeouts and of the time to kill them.
    ///
    /// After [`try_wait`](HookHandle::try_wait) or [`wait_timeout`](HookHandle::wait_timeout) has returned the
    /// outcome, the outcome of `wait` contains only the results that block, so that a blocked operation stays
    /// blocked.
    ///
    /// On a thread of a pool (in an [`Observer`](crate::Observer) or a callback) hooks that have not
    /// started yet run on this thread at once, out of their turn.
    pub fn wait(mut self) -> Outcome {
        if let Some(job) = &self.job {
            job.wait();
        }
        let outcome = self.outcome();
        outcome.unwrap_or_else(|| {
            let results = match &mut self.state {
                State::Given(blocking) => std::mem::take(blocking),
                State::Running => Vec::new(),
            };
            Outcome::of(self.kind.clone(), results)
        })
    }

    /// Returns the outcome, once, if the hooks have ended. Never blocks; a game can call it once a
    /// frame.
    #[must_use]
    pub fn try_wait(&mut self) -> Option<Outcome> {
        if self.is_finished() {
            return self.outcome();
        }
        if let Some(job) = &self.job {
            // The next call tries again.
            job.ensure_started();
        }
        None
    }

    /// Returns the outcome, once, if the hooks end within this time.
    #[must_use]
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<Outcome> {
        match &self.job {
            Some(job) if !job.wait_timeout(timeout) => None,
            _ => self.outcome(),
        }
    }

    /// Whether the hooks have ended. Then the other methods do not wait.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        let job = self.job.as_ref();
        job.is_none_or(|job| job.end.progress.is_finished())
    }

    /// Cancels the event, without waiting. The running hook is asked to end, with everything it has started,
    /// and killed after the [grace period](crate::HookExecutorBuilder::kill_grace); the hooks after it do not
    /// run. The running hook and each hook after it get a result that fails as
    /// [`Cancelled`](crate::FailureKind::Cancelled); [`HookResult::started`] says whether it had started. Hooks
    /// that had ended keep their results. An event that can be blocked is blocked. Background hooks that were
    /// started continue.
    ///
    /// Has no effect once the hooks have ended.
    pub fn cancel(&self) {
        if let Some(job) = &self.job {
            job.cancel();
        }
    }

    /// Returns a token that can cancel the event from any thread, also after this handle has been
    /// moved.
    #[must_use]
    pub fn cancel_token(&self) -> CancelToken {
        CancelToken(self.job.clone())
    }

    /// Returns the results as they arrive, in the order of registration. The channel disconnects after the last one.
    /// A host can wait for it together with other channels in
    /// [`crossbeam_channel::select!`](https://docs.rs/crossbeam-channel/latest/crossbeam_channel/macro.select.html).
    /// Results that were already returned are not sent again.
    ///
    /// A host that fires an event that can be blocked must check each
    /// [`should_continue`](HookResult::should_continue). Dropping the receiver lets the hooks
    /// finish.
    #[must_use = "hooks may have blocked the operation"]
    pub fn into_receiver(mut self) -> Receiver<HookResult> {
        match self.job.take() {
            Some(job) => {
                job.start();
                job.end.progress.redirect()
            }
            // The sender was dropped, so the channel is disconnected.
            None => crossbeam_channel::bounded(0).1,
        }
    }

    /// Returns the outcome of hooks that have ended, once.
    fn outcome(&mut self) -> Option<Outcome> {
        if matches!(self.state, State::Given(_)) {
            return None;
        }
        let job = self.job.as_ref();
        let results = job.map(|job| job.end.progress.take()).unwrap_or_default();
        let blocking = results.iter().filter(|result| !result.should_continue());
        self.state = State::Given(blocking.cloned().collect());
        Some(Outcome::of(self.kind.clone(), results))
    }
}

impl Future for HookHandle {
    type Output = Outcome;

    // Polling a future after its end is a bug of the host; no outcome is left to return.
    #[allow(clippy::panic)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        if let Some(job) = &self.job
            && job.end.progress.wakes_at_end(context.waker())
        {
            job.start();
            // If it ran on this thread just now, it has ended and has woken this task.
            return Poll::Pending;
        }
        match self.outcome() {
            Some(outcome) => Poll::Ready(outcome),
            None => panic!("the outcome of this `HookHandle` has already been returned"),
        }
    }
}

impl Drop for HookHandle {
    fn drop(&mut self) {
        let Some(job) = self.job.take() else { return };
        job.end.progress.discard();
        if self.cancels_on_drop {
            job.cancel();
        }
    }
}

impl Submitted {
    fn wait(&self) {
        if on_pool_thread() {
            self.pool.run_here(self.ticket);
        }
        let _ = self.end.done.recv();
    }

    /// Starts the event for a host that does not poll again: on a thread of a pool, moves it to
    /// another thread or runs it here.
    fn start(&self) {
        if !self.ensure_started() {
            self.pool.run_here(self.ticket);
        }
    }

    /// On a thread of a pool, starts the event on another thread if it has not started; false if no
    /// thread is free.
    fn ensure_started(&self) -> bool {
        !on_pool_thread() || self.end.progress.is_finished() || self.pool.run_aside(self.ticket)
    }

    /// Waits at most this time; true if it has ended.
    fn wait_timeout(&self, timeout: Duration) -> bool {
        // A deadline that cannot be represented means no deadline: hooks have their own deadlines.
        let deadline = Instant::now().checked_add(timeout);
        while !self.ensure_started() {
            let next_try = Instant::now() + Duration::from_millis(5);
            let until = deadline.map_or(next_try, |deadline| deadline.min(next_try));
            if self.ends_before(Some(until)) {
                return true;
            }
            if Some(until) == deadline {
                return false;
            }
        }
        self.ends_before(deadline)
    }

    fn ends_before(&self, deadline: Option<Instant>) -> bool {
        self.end.progress.is_finished()
            || match deadline {
                Some(deadline) => {
                    self.end.done.recv_deadline(deadline) == Err(RecvTimeoutError::Disconnected)
                }
                None => self.end.done.recv().is_err(),
            }
    }

    fn cancel(&self) {
        self.end.cancel.request();
        self.pool.withdraw(self.ticket);
    }
}

/// Cancels a submitted event, from any thread; see [`HookHandle::cancel`]. Dropping it has no
/// effect.
#[derive(Clone)]
pub struct CancelToken(pub(super) Option<Submitted>);

impl CancelToken {
    /// The same as [`HookHandle::cancel`].
    pub fn cancel(&self) {
        if let Some(job) = &self.0 {
            job.cancel();
        }
    }

    /// Whether the hooks have ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        let job = self.0.as_ref();
        job.is_none_or(|job| job.end.progress.is_finished())
    }
}

impl fmt::Debug for HookHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookHandle")
            .field("event_type", &self.kind.event_type)
            .field("is_finished", &self.is_finished())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken")
            .field("is_finished", &self.is_finished())
            .finish_non_exhaustive()
    }
}
