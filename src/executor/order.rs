//! The hooks that run on an event, and their order.
//!
//! Hooks that redact a tool's output come first, then the other hooks of hooks.json, then those of each other agent. Knows how
//! a hook's protocol wants to be run. Does not know the protocol itself.

use std::collections::HashMap;
use std::sync::Arc;

use crate::events::EventType;
use crate::hook::Hook;

/// Puts the hooks in order.
pub(super) fn sort(event_type: &EventType, hooks: &mut [Arc<Hook>]) {
    hooks.sort_by(|one, other| {
        let later = |hook: &Hook| !hook.redacts(event_type);
        (one.agent(), later(one)).cmp(&(other.agent(), later(other)))
    });
}

/// Returns the hooks without those that an identical one before them [replaces].
pub(super) fn dedupe(hooks: &[Arc<Hook>]) -> Vec<Arc<Hook>> {
    let mut first: HashMap<_, &Hook> = HashMap::new();
    let mut kept = Vec::new();
    for hook in hooks {
        if let Some(identity) = hook.identity() {
            let is_replaced = first
                .get(&identity)
                .is_some_and(|first| replaces(first, hook));
            if is_replaced {
                continue;
            }
            first.insert(identity, hook);
        }
        kept.push(Arc::clone(hook));
    }
    kept
}

/// Returns whether the hooks are identical, and the first one does all that the other one would do. It does not if its approval is
/// lost, since it then fails. Nor does it if only it is confined by the host, since it may fail where the other hook decides.
pub(super) fn replaces(first: &Hook, other: &Hook) -> bool {
    let is_identical = other.identity().is_some() && first.identity() == other.identity();
    let confined = first.host_sandbox();
    let may_do_less =
        || first.is_refused() || confined.is_some() && confined != other.host_sandbox();
    is_identical && !may_do_less()
}
