//! The hooks of one event: their order, and where the chain stops.
//!
//! Does not know on which thread it is.

use std::sync::Arc;

use log::warn;

use super::core::Core;
use super::options::FireOptions;
use super::tool_output::{left_by, redacting_first, with_output};
use super::{background, parallel};
use crate::events::EventType;
use crate::hook::Hook;
use crate::outcome::HookResult;
use crate::runner::{DropReason, Firing};

/// Runs the hooks and hands each result over as it comes, in their order. Hooks in the background
/// are started in their turn, and have none. Once cancelled, every hook that has not run has a
/// result that says so.
pub(super) fn run(
    core: &Arc<Core>,
    mut firing: Firing<'_>,
    mut hooks: Vec<Arc<Hook>>,
    options: FireOptions,
    answer: &mut dyn FnMut(HookResult),
) {
    firing.handles_ask = options.handles_ask;
    firing.skips_background = options.skips_background;
    let redacting = redacting_first(&firing.event, &mut hooks);
    if !options.parallel || hooks.len() == 1 {
        one_by_one(core, firing, &hooks, options.stop_on_failure, answer);
        return;
    }
    let others = hooks.split_off(redacting);
    let firing = one_by_one(core, firing, &hooks, false, answer);
    let (in_background, others): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|hook| hook.background());
    for hook in &in_background {
        start_in_background(core, &firing, hook);
    }
    let mut replacing = 0;
    let mut counted = |result: HookResult| {
        replacing += usize::from(result.replaced_output().is_some());
        answer(result);
    };
    let is_of_tool = firing.event.event_type == EventType::ToolPostExecute;
    parallel::run(core, firing, others, &mut counted);
    if is_of_tool && replacing > 1 {
        warn!(
            "{replacing} hooks that ran at once would replace the output of a tool: the last one does"
        );
    }
}

/// The event as the last hook left it.
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
        let output = left_by(&result, &firing.event);
        answer(result);
        if stops && !firing.is_cancelled() {
            break;
        }
        if let Some(output) = output {
            firing = with_output(firing, output, &core.runner.naming);
        }
    }
    firing
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
