//! Adds the answer of another tool's hook to the hook's result.
//!
//! Knows that the tool has rules for answers, not what they are.

use super::firing::Firing;
use super::report::Reporter;
use crate::hook::{FailurePolicy, Foreign};
use crate::outcome::{Decision, FailureKind, HookOutput, HookResult};
use crate::protocol::{Conclusion, HookEnd, Strictness, read_foreign_answer};

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
    let conclusion = conclusion_of(foreign, &result, cut, firing);
    if conclusion.replaces_exit_code {
        result.failure = None;
        result.error = None;
    }
    if conclusion.output != HookOutput::default() {
        result = result.with_output(conclusion.output);
    }
    if let Some(why) = conclusion.unusable {
        result.failure = Some(FailureKind::InvalidAnswer);
        result.error = Some(format!("its answer is invalid: {why}"));
    }
    for words in &conclusion.diagnostics {
        reporter.diagnose_once(&result.hook, words);
    }
    result.diagnostics = conclusion.diagnostics;
    result
}

fn conclusion_of(
    foreign: &Foreign,
    result: &HookResult,
    cut: bool,
    firing: &Firing<'_>,
) -> Conclusion {
    let is_lost = cut && result.stdout.trim_start().starts_with('{');
    let ended = HookEnd {
        code: if result.signal.is_some() {
            -1
        } else {
            result.exit_code
        },
        stdout: if is_lost { "" } else { &result.stdout },
        stderr: &result.stderr,
    };
    let name = foreign.event().name;
    let strictness = match result.hook.on_failure() {
        _ if !firing.can_block => Strictness::CannotBlock,
        FailurePolicy::Continue => Strictness::Lenient,
        FailurePolicy::Block | FailurePolicy::Withhold => Strictness::Strict,
    };
    let mut conclusion = read_foreign_answer(foreign.dialect(), name, strictness, &ended);
    if is_lost && !conclusion.replaces_exit_code {
        let words = "it is longer than what is kept of the output".to_owned();
        // The tool would have read it, so this failure blocks even if the tool ignores failures.
        if firing.can_block && !firing.event.event_type.is_agent_stop() {
            conclusion.output.decision = Some(Decision::Block);
            conclusion.output.reason = Some(format!("the hook's answer cannot be used: {words}"));
        } else {
            conclusion.unusable = Some(words);
        }
    }
    conclusion
}
