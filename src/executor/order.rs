//! The hooks that run on an event, and their order.
//!
//! Hooks that redact a tool's output come first, then the other hooks that run one after the other, then each group of hooks
//! that run in parallel. Knows how a hook's protocol wants to be run. Does not know the protocol itself.

use std::collections::HashMap;
use std::sync::Arc;

use crate::events::HookEvent;
use crate::hook::Hook;

/// Puts the hooks in order. If identical hooks run once, only the first is kept, if it [may replace](replaces) the others.
pub(super) fn sort_and_dedupe(event: &HookEvent, hooks: &mut Vec<Arc<Hook>>) {
    hooks.sort_by(|one, other| {
        let later = |hook: &Hook| !hook.redacts(&event.event_type);
        (one.group(), later(one)).cmp(&(other.group(), later(other)))
    });
    if hooks.iter().all(|hook| hook.protocol().is_none()) {
        return;
    }
    let all = std::mem::take(hooks);
    let mut seen: HashMap<_, &Hook> = HashMap::new();
    for hook in &all {
        if let Some(identity) = hook.identity() {
            if seen
                .get(&identity)
                .is_some_and(|first| replaces(first, hook))
            {
                continue;
            }
            seen.insert(identity, hook);
        }
        hooks.push(Arc::clone(hook));
    }
}

/// Returns whether a hook does all that an identical one would do. It does not if its approval is lost, since it then fails.
/// Nor does it if only it is confined by the host, since it may fail where the other hook decides.
fn replaces(first: &Hook, other: &Hook) -> bool {
    let confined = first.host_sandbox();
    !first.is_refused() && (confined.is_none() || confined == other.host_sandbox())
}
