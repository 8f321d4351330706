//! The verdict of an event's hooks for a host: the changed call, which is fired again, and the
//! decision.

use serde_json::{Map, Value};

use crate::cli::sources::title;
use crate::{Decision, EventType, HookEvent, HookResult, Outcome};

/// The decision for a host that applies changes and cannot ask its user.
pub(crate) struct Verdict {
    pub(crate) decision: Decision,
    pub(crate) reason: Option<String>,
    pub(crate) updated_input: Option<Map<String, Value>>,
    /// The hook that made the decision.
    pub(crate) hook: Option<String>,
}

impl Verdict {
    /// Combines the outcomes. `again` is the outcome of the changed call.
    pub(crate) fn new(first: &Outcome, again: Option<&Outcome>) -> Self {
        let last = again.unwrap_or(first);
        let blocked = last.blocked();
        Self {
            decision: blocked.map_or(Decision::Allow, HookResult::decision),
            reason: last.reason().map(str::to_owned),
            updated_input: first.updated_input(),
            hook: blocked.map(|result| title(&result.hook).to_owned()),
        }
    }
}

/// Returns the event of the changed call or prompt, if hooks have changed it.
pub(crate) fn changed_by(event: &HookEvent, outcome: &Outcome) -> Option<HookEvent> {
    match event.event_type {
        EventType::ToolPreExecute => {
            let args = event.data.get("tool_args")?.as_object()?;
            let changed = outcome.changed_input(args)?;
            Some(event.clone().with_data("tool_args", changed))
        }
        EventType::UserPromptSubmit => {
            let content = outcome.updated_input()?.remove("content")?;
            let is_new = content.is_string() && event.data.get("content") != Some(&content);
            is_new.then(|| event.clone().with_data("content", content))
        }
        _ => None,
    }
}
