//! The hooks of an event that keep those behind them from running.
//!
//! The dispatch asks it before each hook, and so does `explain`. Knows no standing and no result.

use std::sync::Arc;

use super::options::FireOptions;
use crate::hook::Hook;

/// The hooks of one event, one after the other.
#[derive(Debug)]
pub(super) struct Chain {
    stop_on_failure: bool,
    can_block: bool,
    /// The first hook that stops those behind it.
    stopped_by: Option<Arc<Hook>>,
    /// The first hook that blocks the event.
    blocked_by: Option<Arc<Hook>>,
}

impl Chain {
    pub(super) fn new(options: &FireOptions, can_block: bool) -> Self {
        Self {
            stop_on_failure: options.stop_on_failure,
            can_block,
            stopped_by: None,
            blocked_by: None,
        }
    }

    /// Returns the hook that keeps this one from running. A hook of another agent runs unless the event is blocked.
    pub(super) fn keeps_back(&self, hook: &Hook) -> Option<&Arc<Hook>> {
        if hook.agent().is_some() {
            self.blocked_by.as_ref()
        } else {
            self.stopped_by.as_ref()
        }
    }

    /// Returns whether a hook blocks the event.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked_by.is_some()
    }

    /// Notes that a hook has run, and whether it stops others, or blocks an event that can be blocked.
    pub(super) fn note(&mut self, hook: &Arc<Hook>, stops: bool, blocks: bool) {
        if stops && self.stop_on_failure {
            self.stopped_by.get_or_insert_with(|| Arc::clone(hook));
        }
        if blocks && self.can_block {
            self.blocked_by.get_or_insert_with(|| Arc::clone(hook));
        }
    }
}
