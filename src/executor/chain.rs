//! The hooks of one event: their order, and where the chain stops.
//!
//! Does not know on which thread it is.

use std::sync::Arc;
use std::time::Duration;

use log::error;

use super::firing::Firing;
use super::observer::DropReason;
use super::options::FireOptions;
use super::run::Engine;
use super::{background, parallel, report};
use crate::hook::Hook;
use crate::outcome::{FailureKind, HookResult};

/// Runs the hooks and hands each result over as it comes, in their order. Hooks in the background
/// are started in their turn, and have none. Once cancelled, every hook that has not run has a
/// result that says so.
pub(super) fn run(
    engine: &Arc<Engine>,
    mut firing: Firing<'_>,
    hooks: &[Arc<Hook>],
    options: FireOptions,
    answer: &mut dyn FnMut(HookResult),
) {
    firing.handles_ask = options.handles_ask;
    firing.skips_background = options.skips_background;
    if options.parallel && hooks.len() > 1 {
        let in_background = hooks.iter().filter(|hook| hook.background());
        in_background.for_each(|hook| start_in_background(engine, &firing, hook));
        let others = hooks.iter().filter(|hook| !hook.background());
        parallel::run(engine, firing, others.cloned().collect(), answer);
    } else {
        one_by_one(engine, &firing, hooks, options, answer);
    }
}

fn one_by_one(
    engine: &Arc<Engine>,
    firing: &Firing<'_>,
    hooks: &[Arc<Hook>],
    options: FireOptions,
    answer: &mut dyn FnMut(HookResult),
) {
    for hook in hooks {
        if hook.background() {
            start_in_background(engine, firing, hook);
            continue;
        }
        let result = run_unless_cancelled(engine, firing, hook);
        let stops = options.stop_on_failure && !result.should_continue();
        answer(result);
        if stops && !firing.is_cancelled() {
            break;
        }
    }
}

pub(super) fn run_unless_cancelled(
    engine: &Engine,
    firing: &Firing<'_>,
    hook: &Arc<Hook>,
) -> HookResult {
    if firing.is_cancelled() {
        engine.drop_run(&firing.run_of(hook), DropReason::Cancelled);
        return never_ran(hook, firing.queued);
    }
    engine.run(firing, hook)
}

fn start_in_background(engine: &Arc<Engine>, firing: &Firing<'_>, hook: &Arc<Hook>) {
    if firing.skips_background {
        return;
    }
    if firing.is_cancelled() {
        engine.drop_run(&firing.run_of(hook), DropReason::Cancelled);
    } else {
        background::start(engine, firing.event.to_shared(), hook);
    }
}

/// For a hook whose event was cancelled before its turn.
pub(super) fn never_ran(hook: &Arc<Hook>, queued: Duration) -> HookResult {
    let error = DropReason::Cancelled.to_string();
    let mut result = HookResult::not_run(Arc::clone(hook), FailureKind::Cancelled, error);
    result.queued = queued;
    result
}

/// For a hook at which the engine failed. The panic itself has been reported by its hook.
pub(super) fn panicked(engine: &Engine, hook: &Arc<Hook>) -> HookResult {
    report::tell(|| {
        error!(
            "the engine panicked at hook `{}`; please report this",
            engine.label(hook)
        );
    });
    HookResult::not_run(
        Arc::clone(hook),
        FailureKind::Panicked,
        "the hooks engine panicked",
    )
}
