//! Errors of submitting an event.

use std::sync::Arc;
use std::{fmt, io};

use crate::events::HookEvent;
use crate::pool::Refusal;
use crate::runner::DropReason;

/// Error submitting an event. It returns the event: see [`SubmitError::into_event`].
#[derive(Debug)]
#[non_exhaustive]
pub enum SubmitError {
    /// The queue of waiting events is full.
    Busy(Arc<HookEvent>),
    /// The pool has no thread, and the system cannot start one.
    NoThread(Arc<HookEvent>, io::Error),
    /// The executor has been [shut down](crate::HookExecutor::shutdown).
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

    /// The event that was not taken.
    #[must_use]
    pub fn event(&self) -> &Arc<HookEvent> {
        match self {
            Self::Busy(event) | Self::NoThread(event, _) | Self::ShutDown(event) => event,
        }
    }

    /// The event that was not taken.
    #[must_use]
    pub fn into_event(self) -> Arc<HookEvent> {
        match self {
            Self::Busy(event) | Self::NoThread(event, _) | Self::ShutDown(event) => event,
        }
    }
}

impl fmt::Display for SubmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self {
            Self::Busy(_) => "queue is full",
            Self::NoThread(..) => "cannot start a thread",
            Self::ShutDown(_) => "executor has been shut down",
        };
        write!(f, "{why}, {} was not taken", self.event().event_type)
    }
}

impl std::error::Error for SubmitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoThread(_, error) => Some(error),
            Self::Busy(_) | Self::ShutDown(_) => None,
        }
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
