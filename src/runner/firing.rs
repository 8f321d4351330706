//! One event while its hooks run: the data that all of them receive.
//!
//! Knows nothing of threads.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::observation::HookRun;
use crate::events::HookEvent;
use crate::hook::Hook;
use crate::outcome::Handles;
use crate::process::Cancel;
use crate::protocol::Once;

/// One event while its hooks run.
pub(crate) struct Firing {
    /// The event as hooks have left it.
    pub(crate) event: Arc<HookEvent>,
    /// The event as the host has fired it.
    pub(crate) fired: Arc<HookEvent>,
    /// True if hooks may block the event.
    pub(crate) can_block: bool,
    /// True if hooks may change the input of the event.
    pub(crate) applies_input: bool,
    /// True if the hooks run again, on the final input.
    pub(crate) is_second_run: bool,
    pub(super) once: Once,
    pub(crate) cancel: Arc<Cancel>,
    /// The end of the time that the host gives the event.
    pub(crate) until: Option<Instant>,
    /// The time that the event has waited for a thread.
    pub(crate) queued: Duration,
    /// The host's way of handling answers.
    pub(crate) handles: Handles,
}

impl Firing {
    /// Prepares an event that is fired at once.
    pub(crate) fn new(event: Arc<HookEvent>, can_block: bool, cancel: Arc<Cancel>) -> Self {
        Self {
            fired: Arc::clone(&event),
            event,
            can_block,
            applies_input: false,
            is_second_run: false,
            once: Once::default(),
            cancel,
            until: None,
            queued: Duration::ZERO,
            handles: Handles::default(),
        }
    }

    /// Replaces the event for the remaining hooks.
    pub(crate) fn set_event(&mut self, event: Arc<HookEvent>) {
        self.event = event;
        self.once = Once::default();
    }

    /// Returns the time that is left for the event.
    pub(super) fn left(&self) -> Duration {
        let left = |until: Instant| until.saturating_duration_since(Instant::now());
        self.until.map_or(Duration::MAX, left)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_requested()
    }

    pub(super) fn run_of(&self, hook: &Arc<Hook>) -> HookRun {
        HookRun {
            event: Arc::clone(&self.event),
            fired: Arc::clone(&self.fired),
            hook: Arc::clone(hook),
            can_block: self.can_block,
            queued: self.queued,
            is_second_run: self.is_second_run,
        }
    }
}
