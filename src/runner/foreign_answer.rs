//! Adds the answer of another tool's hook to the hook's result.
//!
//! Knows that the tool has rules for answers, not what they are.

use super::firing::Firing;
use super::report::Reporter;
use crate::hook::{FailurePolicy, Foreign};
use crate::outcome::{Decision, FailureKind, HookOutput, HookResult};
use crate::protocol::{Ended, Reading, Stakes, read_foreign_answer};

/// Returns the result as the tool would see it, if the hook ended by itself. `cut` says that
/// standard output was longer than the part that is kept.
pub(super) fn add_foreign_answer(
    foreign: &Foreign,
    mut result: HookResult,
    cut: bool,
    firing: &Firing<'_>,
    reporter: &Reporter,
) -> HookResult {
    if !result.started() || !result.came_to_its_end() {
        return result;
    }
    let reading = reading_of(foreign, &result, cut, firing);
    if reading.counts {
        result.failure = None;
        result.error = None;
    }
    if reading.output != HookOutput::default() {
        result = result.with_output(reading.output);
    }
    if let Some(why) = reading.unusable {
        result.failure = Some(FailureKind::InvalidAnswer);
        result.error = Some(format!("its answer is invalid: {why}"));
    }
    for words in &reading.diagnostics {
        reporter.diagnose_once(&result.hook, words);
    }
    result.diagnostics = reading.diagnostics;
    result
}

fn reading_of(foreign: &Foreign, result: &HookResult, cut: bool, firing: &Firing<'_>) -> Reading {
    let is_lost = cut && result.stdout.trim_start().starts_with('{');
    let ended = Ended {
        code: if result.signal.is_some() {
            -1
        } else {
            result.exit_code
        },
        stdout: if is_lost { "" } else { &result.stdout },
        stderr: &result.stderr,
    };
    let name = foreign.event().name;
    let stakes = match result.hook.on_failure() {
        _ if !firing.can_block => Stakes::None,
        FailurePolicy::Continue => Stakes::Forgiven,
        FailurePolicy::Block | FailurePolicy::Withhold => Stakes::Strict,
    };
    let mut reading = read_foreign_answer(foreign.dialect(), name, stakes, &ended);
    if is_lost && !reading.counts {
        let words = "it is longer than what is kept of the output".to_owned();
        // The tool would have read the whole answer, so this failure blocks under every policy.
        if firing.can_block && !firing.event.event_type.is_agent_stop() {
            reading.output.decision = Some(Decision::Block);
            reading.output.reason = Some(format!("the hook's answer cannot be used: {words}"));
        } else {
            reading.unusable = Some(words);
        }
    }
    reading
}
