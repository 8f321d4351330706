//! The hooks of one event: one by one or all at once, and where the chain stops.
//!
//! Does not know which thread it runs on.

use std::cell::Cell;
use std::sync::Arc;

use super::core::Core;
use super::groups::{count_in_order, note_discarded};
use super::options::FireOptions;
use super::parallel::SharedFiring;
use super::tool_output::{count_redacting, output_after, with_output};
use super::{background, parallel};
use crate::events::EventType;
use crate::hook::Hook;
use crate::logging::warn;
use crate::outcome::HookResult;
use crate::runner::{DropReason, Firing};

/// Runs the hooks in order, and passes on each result as it arrives. Background hooks are started
/// in their turn and have no result. After a cancellation, every hook that has not run gets a
/// result that says so. The hooks are in the order of `HookExecutor::hooks_for`.
pub(super) fn run(
    core: &Arc<Core>,
    mut firing: Firing<'_>,
    mut hooks: Vec<Arc<Hook>>,
    options: FireOptions,
    answer: &mut dyn FnMut(HookResult),
) {
    firing.handles_ask = options.handles_ask;
    if options.skips_background {
        hooks.retain(|hook| !hook.background());
    }
    let others = hooks.split_off(count_in_order(&hooks));
    let can_block = firing.can_block;
    let blocked = Cell::new(false);
    let mut noted = |result: HookResult| {
        if can_block && !result.should_continue() {
            blocked.set(true);
        }
        answer(result);
    };
    let shared = if options.parallel && hooks.len() > 1 {
        let at_once = hooks.split_off(count_redacting(&firing.event, &hooks));
        let firing = one_by_one(core, firing, &hooks, false, &mut noted);
        let shared = SharedFiring::new(firing);
        run_own_at_once(core, &shared, at_once, &mut noted);
        shared
    } else {
        let stops = options.stop_on_failure;
        let firing = one_by_one(core, firing, &hooks, stops, &mut noted);
        if others.is_empty() {
            return;
        }
        SharedFiring::new(firing)
    };
    for group in others.chunk_by(|one, other| one.group() == other.group()) {
        // Cancelled hooks get results that say so.
        if blocked.get() && !shared.firing.is_cancelled() {
            return;
        }
        for result in results_of(core, &shared, group) {
            noted(result);
        }
    }
}

fn run_own_at_once(
    core: &Arc<Core>,
    shared: &SharedFiring,
    hooks: Vec<Arc<Hook>>,
    answer: &mut dyn FnMut(HookResult),
) {
    let mut replacing = 0;
    run_at_once(core, shared, hooks, &mut |result| {
        replacing += usize::from(result.replaced_output().is_some());
        answer(result);
    });
    if shared.firing.event.event_type == EventType::ToolPostExecute && replacing > 1 {
        warn!(
            "{replacing} hooks that ran in parallel replace the output of a tool: only the last one counts"
        );
    }
}

fn run_at_once(
    core: &Arc<Core>,
    shared: &SharedFiring,
    hooks: Vec<Arc<Hook>>,
    answer: &mut dyn FnMut(HookResult),
) {
    let (in_background, others): (Vec<_>, Vec<_>) =
        hooks.into_iter().partition(|hook| hook.background());
    for hook in &in_background {
        start_in_background(core, &shared.firing, hook);
    }
    parallel::run(core, shared.clone(), others, answer);
}

/// Runs the hooks of one group, all at once.
fn results_of(core: &Arc<Core>, shared: &SharedFiring, hooks: &[Arc<Hook>]) -> Vec<HookResult> {
    let mut results = Vec::with_capacity(hooks.len());
    run_at_once(core, shared, hooks.to_vec(), &mut |result| {
        results.push(result)
    });
    note_discarded(&mut results, &core.runner.reporter);
    results
}

/// Runs hooks one by one, and returns the event with the last hook's changes.
fn one_by_one<'a>(
    core: &Arc<Core>,
    mut firing: Firing<'a>,
    hooks: &[Arc<Hook>],
    stop_on_failure: bool,
    answer: &mut dyn FnMut(HookResult),
) -> Firing<'a> {
    for hook in hooks {
        if hook.background() {
            start_in_background(core, &firing, hook);
            continue;
        }
        let result = core.runner.run_unless_cancelled(&firing, hook);
        let stops = stop_on_failure && !result.should_continue();
        let output = output_after(&result, &firing.event);
        answer(result);
        // Groups run even after a stop, so they need this output too.
        if let Some(output) = output {
            firing = with_output(firing, output);
        }
        if stops && !firing.is_cancelled() {
            break;
        }
    }
    firing
}

fn start_in_background(core: &Arc<Core>, firing: &Firing<'_>, hook: &Arc<Hook>) {
    if firing.is_cancelled() {
        core.runner
            .drop_run(&firing.run_of(hook), DropReason::Cancelled);
    } else {
        background::start(core, firing.event.to_shared(), hook);
    }
}
