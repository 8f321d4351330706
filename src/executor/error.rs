//! Errors of submitting an event.

use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use crate::events::HookEvent;
use crate::pool::Refusal;
use crate::runner::DropReason;

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
    pub(super) fn event(&self) -> &Arc<HookEvent> {
        match self {
            Self::Busy(event) | Self::NoThread(event, _) | Self::ShutDown(event) => event,
        }
    }

    /// Returns the event that was not taken, so that the host can submit it again.
    #[must_use]
    pub fn into_event(self) -> Arc<HookEvent> {
        Arc::clone(self.event())
    }
}

// The cause may hold any error, of which a host only reads the text.
impl UnwindSafe for SubmitError {}
impl RefUnwindSafe for SubmitError {}

/// Converts a refusal to the reason that observations have.
pub(super) fn reason_of(refusal: &Refusal) -> DropReason {
    match refusal {
        Refusal::Busy => DropReason::Busy,
        Refusal::NoThread(_) => DropReason::NoThread,
        Refusal::ShutDown => DropReason::ShutDown,
    }
}
