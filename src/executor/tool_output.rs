//! Changes that hooks make to a tool's output: hooks that redact it come first, and each later hook
//! receives the output as they left it.
//!
//! Knows the fields of an event, not how a hook is run.

use std::sync::Arc;

use serde_json::Value;

use crate::events::{EventType, HookEvent};
use crate::hook::{FailurePolicy, Hook};
use crate::outcome::HookResult;
use crate::runner::Firing;

/// Whether the model must not see an output before this hook has processed it.
pub(super) fn redacts(hook: &Hook) -> bool {
    hook.on_failure() == FailurePolicy::Withhold
}

/// Moves the hooks that redact the output to the front, and keeps the order otherwise.
pub(super) fn move_redacting_first(event: &HookEvent, hooks: &mut [Arc<Hook>]) {
    if event.event_type == EventType::ToolPostExecute && hooks.iter().any(|hook| redacts(hook)) {
        hooks.sort_by_key(|hook| !redacts(hook));
    }
}

/// Returns the number of hooks at the front that redact the output of this event.
pub(super) fn count_redacting(event: &HookEvent, hooks: &[Arc<Hook>]) -> usize {
    if event.event_type != EventType::ToolPostExecute {
        return 0;
    }
    hooks.iter().take_while(|hook| redacts(hook)).count()
}

/// Returns the output after this hook, if the hook changed it.
pub(super) fn output_after(result: &HookResult, event: &HookEvent) -> Option<Value> {
    if event.event_type != EventType::ToolPostExecute {
        return None;
    }
    let replaced = || result.replaced_output().cloned();
    result.withheld_output().or_else(replaced)
}

/// Returns the event with this output, for the hooks that follow.
pub(super) fn with_output(firing: Firing<'_>, output: Value) -> Firing<'_> {
    let mut event = firing.event.bounded_copy();
    event.data.insert("tool_result".to_owned(), output);
    firing.with_event(Arc::new(event).into())
}
