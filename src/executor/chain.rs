//! The hooks of one event, one after the other: their order, and where the chain stops.
//!
//! Does not know on which thread it is.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use log::error;

use super::FireOptions;
use super::run::{Engine, EventInput};
use crate::events::HookEvent;
use crate::hook::Hook;
use crate::outcome::{FailureKind, HookResult};
use crate::process::Cancel;

/// Runs the hooks and hands each result over as it comes. Once cancelled, every hook that has not
/// run has a result that says so.
pub(super) fn run(
    engine: &Engine,
    event: &HookEvent,
    hooks: &[Arc<Hook>],
    options: FireOptions,
    cancel: Option<&Cancel>,
    answer: &mut dyn FnMut(HookResult),
) {
    let is_cancelled = || cancel.is_some_and(Cancel::is_requested);
    let input = EventInput::new(event, &engine.naming);
    for hook in hooks {
        if is_cancelled() {
            answer(never_ran(hook));
            continue;
        }
        let run = AssertUnwindSafe(|| engine.run(hook, event, &input, cancel));
        let result = catch_unwind(run).unwrap_or_else(|_| panicked(hook));
        let stops = options.stop_on_failure && !result.should_continue();
        answer(result);
        if stops && !is_cancelled() {
            break;
        }
    }
}

/// For a hook whose event was cancelled before its turn.
pub(super) fn never_ran(hook: &Arc<Hook>) -> HookResult {
    HookResult::not_run(
        Arc::clone(hook),
        FailureKind::Cancelled,
        "cancelled before its turn",
    )
}

/// For a hook at which the engine failed. The panic itself has been reported by its hook.
pub(super) fn panicked(hook: &Arc<Hook>) -> HookResult {
    error!(
        "the engine panicked at hook `{}`; please report this",
        hook.label()
    );
    HookResult::not_run(
        Arc::clone(hook),
        FailureKind::Panicked,
        "the hooks engine panicked",
    )
}
