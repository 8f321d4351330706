//! The number of times that hooks have blocked the end of an agent's turn in a row: they must not keep it running forever.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The most ends in a row that hooks may block.
pub(super) const MOST: u32 = 8;

/// The count of one agent.
#[derive(Debug, Clone, Default)]
pub(super) struct Stops {
    /// The number of tool calls of the whole session.
    tools: Arc<AtomicU64>,
    blocked: Arc<Mutex<Blocked>>,
}

#[derive(Debug, Default)]
struct Blocked {
    /// The number of tool calls before the last blocked end.
    tools: u64,
    times: u32,
}

impl Stops {
    /// Returns the count of another agent of the session.
    pub(super) fn of_other_agent(&self) -> Self {
        Self {
            tools: Arc::clone(&self.tools),
            blocked: Arc::default(),
        }
    }

    /// Records that a tool is called, so that the agent is working.
    pub(super) fn note_tool(&self) {
        self.tools.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one more end. Returns whether the end must not be blocked, and resets the count in that case.
    pub(super) fn are_too_many(&self, is_allowed: bool) -> bool {
        let tools = self.tools.load(Ordering::Relaxed);
        let mut blocked = self.blocked.lock().unwrap_or_else(PoisonError::into_inner);
        if is_allowed || blocked.tools != tools {
            blocked.times = 0;
        }
        blocked.tools = tools;
        blocked.times += u32::from(!is_allowed);
        let are_too_many = blocked.times > MOST;
        if are_too_many {
            blocked.times = 0;
        }
        are_too_many
    }
}
