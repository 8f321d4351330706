//! The combined decision of an event's hooks, in the form that a trace contains and `replay` compares.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::outcome::{Decision, HookResult, Outcome};
use crate::redact::Redactor;

/// The combined decision of an event's hooks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Decided {
    /// The decision for a host that gets no answer from its user.
    pub(crate) decision: Decision,
    /// True if a hook says that the operation is allowed, so that the host need not ask its user.
    #[serde(default)]
    pub(crate) grants: bool,
    #[serde(default)]
    pub(crate) stops_turn: bool,
    pub(crate) updated_input: Option<Map<String, Value>>,
    /// True if `updated_input` is the whole input.
    #[serde(default)]
    pub(crate) replaces_input: bool,
}

impl Decided {
    pub(crate) fn of(outcome: &Outcome) -> Self {
        let blocked = outcome.blocked();
        Self {
            decision: blocked.map_or(Decision::Allow, HookResult::decision),
            grants: outcome.grants(),
            stops_turn: outcome.stops_turn(),
            updated_input: outcome.updated_input().cloned(),
            replaces_input: outcome.removes_input(),
        }
    }

    /// Masks secrets in the changed input, among them these values.
    pub(crate) fn masked(mut self, redactor: &Redactor, secrets: &[&str]) -> Self {
        if let Some(update) = &mut self.updated_input {
            let update = std::mem::take(update);
            self.updated_input = match redactor.value_with(&Value::Object(update), secrets) {
                Value::Object(masked) => Some(masked),
                _ => None,
            };
        }
        self
    }
}
