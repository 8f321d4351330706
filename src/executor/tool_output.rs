//! What hooks make of a tool's output: those that redact it come first, and each hook after them finds it
//! as they left it.
//!
//! Knows what an event holds, not how a hook is run.

use std::sync::Arc;

use serde_json::Value;

use crate::events::{EventType, HookEvent};
use crate::hook::{FailurePolicy, Hook};
use crate::outcome::HookResult;
use crate::protocol::Naming;
use crate::runner::Firing;

/// Whether the model must not get an output that this hook has not seen.
pub(super) fn redacts(hook: &Hook) -> bool {
    hook.on_failure() == FailurePolicy::Withhold
}

/// Puts those that redact the output in front, and keeps the order otherwise. Returns how many they are.
pub(super) fn redacting_first(event: &HookEvent, hooks: &mut [Arc<Hook>]) -> usize {
    if event.event_type != EventType::ToolPostExecute {
        return 0;
    }
    let count = hooks.iter().filter(|hook| redacts(hook)).count();
    if count > 0 {
        hooks.sort_by_key(|hook| !redacts(hook));
    }
    count
}

/// The output as the hook of this result leaves it, where that is another one.
pub(super) fn left_by(result: &HookResult, event: &HookEvent) -> Option<Value> {
    if event.event_type != EventType::ToolPostExecute {
        return None;
    }
    let replaced = || result.replaced_output().cloned();
    result.withheld_output().or_else(replaced)
}

/// The same event for the hooks that follow, with this output.
pub(super) fn with_output<'a>(firing: Firing<'a>, output: Value, naming: &Naming) -> Firing<'a> {
    let mut event = firing.event.bounded_copy();
    event.data.insert("tool_result".to_owned(), output);
    firing.with_event(Arc::new(event).into(), naming)
}
