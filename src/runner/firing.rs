//! One event while its hooks run: the data that all of them receive.
//!
//! Knows nothing of threads.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use super::observer::HookRun;
use crate::entry::Failure;
use crate::events::HookEvent;
use crate::hook::Hook;
use crate::outcome::Handles;
use crate::process::Cancel;
use crate::protocol::{Once, too_deep};

/// An event, either borrowed from a caller that waits or shared.
pub(crate) enum Fired<'a> {
    Lent(&'a HookEvent),
    Shared(Arc<HookEvent>),
}

impl Deref for Fired<'_> {
    type Target = HookEvent;

    fn deref(&self) -> &HookEvent {
        match self {
            Self::Lent(event) => event,
            Self::Shared(event) => event,
        }
    }
}

impl Fired<'_> {
    /// Returns a shared event, for a background hook.
    pub(crate) fn to_shared(&self) -> Arc<HookEvent> {
        match self {
            Self::Lent(event) => Arc::new(HookEvent::clone(event)),
            Self::Shared(event) => Arc::clone(event),
        }
    }
}

/// The cancellation of an event.
pub(crate) trait Cancellation: Send + Sync {
    /// Returns the flag that a run waits for.
    fn flag(&self) -> &Cancel;

    /// Returns whether the flag is requested, or is about to be.
    fn is_cancelled(&self) -> bool;
}

pub(crate) struct Firing<'a> {
    pub(crate) event: Fired<'a>,
    /// The event as the host has fired it, if a hook has replaced it since.
    original: Option<Fired<'a>>,
    /// True if hooks may block the event.
    pub(crate) can_block: bool,
    /// The failure of all hooks, if the event's data is nested too deep.
    pub(crate) too_deep: Option<Failure>,
    pub(super) once: Once,
    pub(crate) cancel: Arc<dyn Cancellation>,
    /// The host's own number of the event.
    pub(crate) tag: Option<u64>,
    /// The time that the event has waited for a thread.
    pub(crate) queued: Duration,
    /// The host's way of handling answers.
    pub(crate) handles: Handles,
}

impl<'a> Firing<'a> {
    /// Prepares an event that is fired at once.
    pub(crate) fn new(
        event: Fired<'a>,
        can_block: bool,
        tag: Option<u64>,
        cancel: Arc<dyn Cancellation>,
    ) -> Self {
        Self {
            too_deep: too_deep(&event),
            event,
            original: None,
            can_block,
            once: Once::default(),
            cancel,
            tag,
            queued: Duration::ZERO,
            handles: Handles::default(),
        }
    }

    /// Replaces the event for the remaining hooks.
    pub(crate) fn with_event(self, event: Arc<HookEvent>) -> Self {
        Self {
            original: self.original.or(Some(self.event)),
            event: Fired::Shared(event),
            once: Once::default(),
            ..self
        }
    }

    /// Converts the event into one that several threads can use.
    pub(crate) fn into_shared(self) -> Firing<'static> {
        Firing {
            event: Fired::Shared(self.event.to_shared()),
            original: self
                .original
                .map(|original| Fired::Shared(original.to_shared())),
            can_block: self.can_block,
            too_deep: self.too_deep,
            once: self.once,
            cancel: self.cancel,
            tag: self.tag,
            queued: self.queued,
            handles: self.handles,
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    pub(crate) fn run_of<'b>(&'b self, hook: &'b Arc<Hook>) -> HookRun<'b> {
        HookRun {
            event: &self.event,
            fired: self.original.as_ref().unwrap_or(&self.event),
            hook,
            can_block: self.can_block,
            queued: self.queued,
            tag: self.tag,
        }
    }
}
