//! Errors of submitting an event.

use std::io;
use std::sync::Arc;

use crate::events::HookEvent;
use crate::pool::Refusal;
use crate::runner::DropReason;

/// The reason why an event that an observer fires is refused.
pub(super) const FROM_OBSERVER: &str =
    "an observer of hooks cannot fire an event: send it to another thread, which fires it";

/// Error submitting an event. It returns the event: see [`SubmitError::into_event`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// The queue of waiting events is full.
    #[error("queue is full, {} was not taken", .0.event_type)]
    Busy(Arc<HookEvent>),
    /// The pool has no thread, and the system cannot start one.
    #[error("cannot start a thread, {} was not taken", .0.event_type)]
    NoThread(Arc<HookEvent>, #[source] io::Error),
    /// An event with the same key waits or runs; see
    /// [`skip_while_running`](crate::FireOptions::skip_while_running).
    #[error("an event with the same key waits or runs, {} was skipped", .0.event_type)]
    Skipped(Arc<HookEvent>),
    /// An [`Observer`](crate::Observer) submitted it.
    #[error("{FROM_OBSERVER}, {} was not taken", .0.event_type)]
    FromObserver(Arc<HookEvent>),
    /// The executor has been [shut down](crate::HookExecutor::shutdown).
    #[error("executor has been shut down, {} was not taken", .0.event_type)]
    ShutDown(Arc<HookEvent>),
}

impl SubmitError {
    pub(super) fn new(event: Arc<HookEvent>, refusal: Refusal) -> Self {
        match refusal {
            Refusal::Busy => Self::Busy(event),
            Refusal::NoThread(error) => Self::NoThread(event, error),
            Refusal::ShutDown => Self::ShutDown(event),
        }
    }

    /// Returns the event that was not taken.
    #[must_use]
    pub fn event(&self) -> &Arc<HookEvent> {
        match self {
            Self::Busy(event)
            | Self::NoThread(event, _)
            | Self::Skipped(event)
            | Self::FromObserver(event)
            | Self::ShutDown(event) => event,
        }
    }

    /// Returns the event that was not taken, so that the host can submit it again.
    #[must_use]
    pub fn into_event(self) -> Arc<HookEvent> {
        Arc::clone(self.event())
    }
}

/// Converts a refusal to the reason that observers receive.
pub(super) fn reason_of(refusal: &Refusal) -> DropReason {
    match refusal {
        Refusal::Busy => DropReason::Busy,
        Refusal::NoThread(_) => DropReason::NoThread,
        Refusal::ShutDown => DropReason::ShutDown,
    }
}
