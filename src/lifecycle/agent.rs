//! The agent in whose turn an event occurs.
//!
//! Knows no events.

/// An agent, as the events of its turns name it.
#[derive(Debug, Clone)]
pub(super) struct Agent {
    pub(super) agent_type: String,
    /// The agent's id. None if the host has not given one.
    pub(super) id: Option<String>,
}

impl Agent {
    /// Returns the session's own agent.
    pub(super) fn main() -> Self {
        Self {
            agent_type: "main".to_owned(),
            id: None,
        }
    }
}
