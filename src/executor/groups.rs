//! The order of the hooks of one event: those that run one after the other first, then each group that runs at once;
//! and the changes that are lost in such a group.
//!
//! Knows how a hook's protocol wants to be run, not what the protocol is.

use std::collections::HashMap;
use std::sync::Arc;

use crate::hook::Hook;
use crate::outcome::{HookOutput, HookResult};
use crate::runner::Reporter;

/// Puts the hooks that run in order first, then each group together, by its name. Of identical hooks that run once only
/// the first is kept. A hook that is not approved never replaces another one, nor does one with a gate of the
/// host, which is not checked before the hook runs.
pub(super) fn sort_and_dedupe(hooks: &mut Vec<Arc<Hook>>) {
    if hooks.iter().all(|hook| hook.protocol().is_none()) {
        return;
    }
    hooks.sort_by(|one, other| one.group().cmp(&other.group()));
    let all = std::mem::take(hooks);
    let mut seen: HashMap<_, &Hook> = HashMap::new();
    for hook in &all {
        if let Some(identity) = hook.identity() {
            if seen.get(&identity).is_some_and(|first| first.is_approved()) {
                continue;
            }
            seen.insert(identity, hook);
        }
        hooks.push(Arc::clone(hook));
    }
}

/// Returns the number of hooks that run in order, which come first.
pub(super) fn count_in_order(hooks: &[Arc<Hook>]) -> usize {
    hooks.partition_point(|hook| hook.group().is_none())
}

/// Reports each change that is lost because a later hook of the same group replaces it.
pub(super) fn note_discarded(results: &mut [HookResult], reporter: &Reporter) {
    note(results, reporter, "updatedInput", |output| {
        output.replaces_input && output.updated_input.is_some()
    });
    note(results, reporter, "output", |output| {
        output.updated_output.is_some()
    });
}

fn note(
    results: &mut [HookResult],
    reporter: &Reporter,
    what: &str,
    changes: impl Fn(&HookOutput) -> bool,
) {
    let counts =
        |result: &&mut HookResult| result.answer_counts() && result.output().is_some_and(&changes);
    let mut changing: Vec<_> = results.iter_mut().filter(counts).collect();
    let Some(last) = changing.pop() else {
        return;
    };
    let winner = last.hook.label();
    for result in changing {
        let words =
            format!("its `{what}` is discarded: hook `{winner}` comes later and replaces it");
        reporter.diagnose_once(&result.hook, &words);
        result.diagnostics.push(words);
    }
}
