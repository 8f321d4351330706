//! The hooks of one event, one by one or in parallel: the point at which the chain stops, and the changes of earlier hooks
//! that each hook sees.
//!
//! Does not know the thread on which it runs.

use std::cell::Cell;
use std::sync::Arc;

use serde_json::Value;

use super::core::{Core, Job, Submitted};
use super::options::FireOptions;
use super::parallel::ParallelRun;
use super::plan::{Plan, Stage};
use super::token::CancelToken;
use crate::entry::HookOutput;
use crate::events::{EventType, HookEvent};
use crate::hook::Hook;
use crate::logging::warn;
use crate::outcome::HookResult;
use crate::pool::Priority;
use crate::runner::{DropReason, Firing, Reporter};

/// Runs the hooks in order, and passes on each result as it arrives. Background hooks are started in their turn and have no
/// result. After a cancellation, every hook that has not run gets a result that says so. The hooks are in the order of
/// `HookExecutor::hooks_for`.
pub(super) fn run(
    core: &Arc<Core>,
    mut firing: Firing<'_>,
    hooks: Vec<Arc<Hook>>,
    options: &FireOptions,
    send: &mut dyn FnMut(HookResult),
) {
    firing.handles = options.handles_of(&firing.event, firing.can_block);
    let Plan { in_turn, at_once } = Plan::new(&firing.event, hooks, options);
    let blocked = Cell::new(false);
    let can_block = firing.can_block;
    let mut noted = |result: HookResult| {
        blocked.set(blocked.get() || can_block && result.stops_the_chain());
        send(result);
    };
    let firing = one_by_one(core, firing, &in_turn, &mut noted);
    if at_once.is_empty() {
        return;
    }
    let parallel = ParallelRun::new(core, firing);
    for stage in at_once {
        // Cancelled hooks get results that say so.
        if !stage.is_reached(blocked.get()) && !parallel.firing.is_cancelled() {
            return;
        }
        if stage.is_group() {
            let mut results = Vec::with_capacity(stage.hooks.len());
            run_at_once(&parallel, &stage.hooks, &mut |result| results.push(result));
            note_discarded(&mut results, &core.runner.reporter);
            results.into_iter().for_each(&mut noted);
        } else {
            run_own(&parallel, &stage.hooks, &mut noted);
        }
    }
}

/// Runs hooks one by one, and returns the event with the last hook's changes.
fn one_by_one<'a>(
    core: &Arc<Core>,
    mut firing: Firing<'a>,
    stage: &Stage,
    send: &mut dyn FnMut(HookResult),
) -> Firing<'a> {
    for hook in &stage.hooks {
        if hook.background() {
            start(core, &firing, hook);
            continue;
        }
        let result = core.runner.run_unless_cancelled(&firing, hook);
        let ends = stage.ends_after(result.stops_others(firing.can_block));
        let output = output_after(&result);
        send(result);
        // Groups run even after a stop, so they need this output too.
        if let Some(output) = output
            && firing.event.event_type == EventType::ToolPostExecute
        {
            let mut event = HookEvent::clone(&firing.event);
            event.data.insert("tool_result".to_owned(), output);
            firing = firing.with_event(Arc::new(event));
        }
        if ends && !firing.is_cancelled() {
            break;
        }
    }
    firing
}

/// Returns the output of the tool after this hook, if the hook changed it.
fn output_after(result: &HookResult) -> Option<Value> {
    let replaced = || result.replaced_output().cloned();
    result.withheld_output().or_else(replaced)
}

/// Runs hooks of `FireOptions::parallel`.
fn run_own(parallel: &ParallelRun, hooks: &[Arc<Hook>], send: &mut dyn FnMut(HookResult)) {
    let mut replacing = 0;
    run_at_once(parallel, hooks, &mut |result| {
        replacing += usize::from(result.replaced_output().is_some());
        send(result);
    });
    if parallel.firing.event.event_type == EventType::ToolPostExecute && replacing > 1 {
        warn!(
            "{replacing} hooks that ran in parallel replace the output of a tool: only the last one counts"
        );
    }
}

fn run_at_once(parallel: &ParallelRun, hooks: &[Arc<Hook>], send: &mut dyn FnMut(HookResult)) {
    for hook in hooks.iter().filter(|hook| hook.background()) {
        start(&parallel.core, &parallel.firing, hook);
    }
    let others = hooks.iter().filter(|hook| !hook.background());
    parallel.run(others.cloned().collect(), send);
}

/// Starts a background hook. Its result has no effect, since it cannot block.
fn start(core: &Arc<Core>, firing: &Firing<'_>, hook: &Arc<Hook>) {
    if firing.is_cancelled() {
        let run = firing.run_of(hook);
        return core.runner.drop_run(&run, DropReason::Cancelled);
    }
    let token = CancelToken::below([Some(core.in_background.clone()), None], None);
    let event = firing.event.to_shared();
    let job = Submitted::now(core, event, firing.tag, token.clone());
    let priority = Priority {
        guard: false,
        ordering_key: None,
    };
    let job = Job::Background(Box::new(job), Arc::clone(hook));
    // The job reports a hook that is not accepted.
    if let Ok(waiting) = job.submit(core, priority) {
        token.waits_in(waiting);
    }
}

/// Reports each change that is lost because a later hook of the same group replaces it.
fn note_discarded(results: &mut [HookResult], reporter: &Reporter) {
    let replaces_input =
        |output: &HookOutput| output.replaces_input && output.updated_input.is_some();
    note(results, reporter, "updatedInput", replaces_input);
    let replaces_output = |output: &HookOutput| output.updated_output.is_some();
    note(results, reporter, "output", replaces_output);
}

fn note(
    results: &mut [HookResult],
    reporter: &Reporter,
    what: &str,
    changes: fn(&HookOutput) -> bool,
) {
    let changes = |result: &&mut HookResult| result.counted_output().is_some_and(changes);
    let mut changing: Vec<_> = results.iter_mut().filter(changes).collect();
    let Some(last) = changing.pop() else {
        return;
    };
    let winner = last.hook.label();
    for result in changing {
        let message =
            format!("its `{what}` is discarded: hook `{winner}` comes later and replaces it");
        reporter.diagnose_once(&result.hook, &message);
        result.add_diagnostic(message);
    }
}
