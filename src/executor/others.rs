//! Hooks of other tools among those of an event: their order, and which of their changes is lost.
//!
//! Does not know what such a hook receives, or how its answer is read.

use std::collections::HashMap;
use std::sync::Arc;

use crate::hook::{Dialect, Hook};
use crate::outcome::{HookOutput, HookResult};
use crate::runner::Reporter;

/// Puts this crate's own hooks first, then the hooks of each other tool together. Of identical handlers
/// only the first is kept, as in Claude Code and Gemini CLI. A handler that is not approved never replaces
/// another one, nor does one with a gate of the host, which is not checked before the hook runs.
pub(super) fn sort_and_dedupe(hooks: &mut Vec<Arc<Hook>>) {
    if hooks.iter().all(|hook| hook.dialect() == Dialect::Native) {
        return;
    }
    hooks.sort_by_key(|hook| hook.dialect() as u8);
    let all = std::mem::take(hooks);
    let mut seen: HashMap<_, &Hook> = HashMap::new();
    for hook in &all {
        if let Some(foreign) = hook.foreign()
            && foreign.dialect() != Dialect::Codex
        {
            let handler = (foreign.dialect(), &foreign.plugin_root, hook.command());
            if seen.get(&handler).is_some_and(|first| first.is_approved()) {
                continue;
            }
            seen.insert(handler, hook);
        }
        hooks.push(Arc::clone(hook));
    }
}

/// Returns the number of this crate's own hooks, which come first.
pub(super) fn count_own(hooks: &[Arc<Hook>]) -> usize {
    hooks.partition_point(|hook| hook.dialect() == Dialect::Native)
}

/// Reports each change that is lost because a later hook of the same tool replaces it.
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
