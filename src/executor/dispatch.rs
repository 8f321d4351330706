//! The hooks of one event: their order, and where the chain stops.
//!
//! Does not know on which thread it is.

use std::sync::Arc;

use super::core::Core;
use super::options::FireOptions;
use super::{background, parallel};
use crate::hook::Hook;
use crate::outcome::HookResult;
use crate::runner::{DropReason, Firing};

/// Runs the hooks and hands each result over as it comes, in their order. Hooks in the background
/// are started in their turn, and have none. Once cancelled, every hook that has not run has a
/// result that says so.
pub(super) fn run(
    core: &Arc<Core>,
    mut firing: Firing<'_>,
    hooks: &[Arc<Hook>],
    options: FireOptions,
    answer: &mut dyn FnMut(HookResult),
) {
    firing.handles_ask = options.handles_ask;
    firing.skips_background = options.skips_background;
    if options.parallel && hooks.len() > 1 {
        let in_background = hooks.iter().filter(|hook| hook.background());
        in_background.for_each(|hook| start_in_background(core, &firing, hook));
        let others = hooks.iter().filter(|hook| !hook.background());
        parallel::run(core, firing, others.cloned().collect(), answer);
    } else {
        one_by_one(core, &firing, hooks, options, answer);
    }
}

fn one_by_one(
    core: &Arc<Core>,
    firing: &Firing<'_>,
    hooks: &[Arc<Hook>],
    options: FireOptions,
    answer: &mut dyn FnMut(HookResult),
) {
    for hook in hooks {
        if hook.background() {
            start_in_background(core, firing, hook);
            continue;
        }
        let result = core.runner.run_unless_cancelled(firing, hook);
        let stops = options.stop_on_failure && !result.should_continue();
        answer(result);
        if stops && !firing.is_cancelled() {
            break;
        }
    }
}

fn start_in_background(core: &Arc<Core>, firing: &Firing<'_>, hook: &Arc<Hook>) {
    if firing.skips_background {
        return;
    }
    if firing.is_cancelled() {
        core.runner
            .drop_run(&firing.run_of(hook), DropReason::Cancelled);
    } else {
        background::start(core, firing.event.to_shared(), hook);
    }
}
