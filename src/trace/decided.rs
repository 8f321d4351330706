//! What hooks have decided about an event, in the form in which a trace has it and `replay` compares it.

use serde_json::{Map, Value};

use crate::outcome::{Decision, HookResult, Outcome};

/// What hooks have decided about an event together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Decided {
    /// For a host that does not get an answer of its user.
    pub(crate) decision: Decision,
    pub(crate) stops_turn: bool,
    pub(crate) updated_input: Option<Map<String, Value>>,
}

impl Decided {
    pub(crate) fn of(outcome: &Outcome) -> Self {
        let blocked = outcome.blocked();
        Self {
            decision: blocked.map_or(Decision::Allow, HookResult::decision),
            stops_turn: outcome.stops_turn(),
            updated_input: outcome.updated_input(),
        }
    }
}
