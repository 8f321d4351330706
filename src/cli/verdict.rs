//! The verdict of an event's hooks for a host: the changed call, which is fired again, and the
//! decision.

use serde_json::{Map, Value};

use crate::cli::sources::title;
use crate::{Decision, EventType, HookEvent, Outcome};

/// The decision for a host that applies changes and cannot ask its user.
pub(crate) struct Verdict {
    /// `allow`, `block` or `ask`.
    pub(crate) decision: &'static str,
    pub(crate) reason: Option<String>,
    pub(crate) updated_input: Option<Map<String, Value>>,
    /// The hook that made the decision.
    pub(crate) hook: Option<String>,
}

impl Verdict {
    /// Combines the outcomes. `again` is the outcome of the changed call.
    pub(crate) fn of(first: &Outcome, again: Option<&Outcome>) -> Self {
        let last = again.unwrap_or(first);
        let blocked = last.blocked();
        Self {
            decision: match blocked.map(|result| result.decision()) {
                None => "allow",
                Some(Decision::Ask) => "ask",
                Some(_) => "block",
            },
            reason: last.reason().map(str::to_owned),
            updated_input: first.updated_input(),
            hook: blocked.map(|result| title(&result.hook).to_owned()),
        }
    }
}

/// Returns the event of the changed call, if hooks have changed the call.
pub(crate) fn changed_by(event: &HookEvent, outcome: &Outcome) -> Option<HookEvent> {
    if event.event_type != EventType::ToolPreExecute {
        return None;
    }
    let args = event.data.get("tool_args")?.as_object()?;
    let changed = outcome.changed_input(args)?;
    Some(event.clone().with_data("tool_args", changed))
}
