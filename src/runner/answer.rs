//! Reads a hook's answer, and adds it to the hook's result.
//!
//! Knows when output is an answer, not the format of an answer.

use super::firing::Firing;
use super::report::Reporter;
use crate::hook::FailurePolicy;
use crate::logging::warn;
use crate::outcome::{FailureKind, HookResult};
use crate::protocol::{Answer, read_answer};

/// Returns the result with its answer, if the hook ended by itself and wrote one. `gap` is where bytes of standard
/// output were left out, if any were.
pub(super) fn add_answer(
    result: HookResult,
    gap: Option<usize>,
    firing: &Firing<'_>,
    reporter: &Reporter,
) -> HookResult {
    if !result.came_to_its_end() {
        return result;
    }
    // Whatever a hook writes that redacts the output of a tool is meant to replace it.
    let redacts = result.hook.on_failure() == FailurePolicy::Withhold;
    let is_strict = redacts && result.success();
    match read_answer(result.stdout_bytes(), gap, is_strict) {
        Ok(answer) => with_answer(result, answer, reporter),
        Err(why) => with_unusable_answer(result, &why, firing, reporter),
    }
}

fn with_answer(mut result: HookResult, answer: Answer, reporter: &Reporter) -> HookResult {
    for words in &answer.notes {
        reporter.diagnose_once(&result.hook, &format!("in its answer, {words}"));
    }
    if let Some(output) = answer.output {
        result = result.with_output(output);
    }
    result.diagnostics = answer.notes;
    result
}

/// An incomplete answer may be an incomplete `block`, so it counts as a failure. On an event that
/// cannot be blocked it is treated as plain text.
fn with_unusable_answer(
    mut result: HookResult,
    why: &str,
    firing: &Firing<'_>,
    reporter: &Reporter,
) -> HookResult {
    let error = format!("its answer is invalid: {why}");
    if result.hook.guards(firing.can_block) {
        result.failure = Some(FailureKind::InvalidAnswer);
        result.error = Some(error);
    } else {
        let hook = &result.hook;
        warn!(
            "the output of hook `{}` on {} is treated as plain text: {}",
            reporter.label(hook),
            firing.event.event_type,
            reporter.shown(hook, &error)
        );
        let words = format!("standard output is treated as plain text: {error}");
        result.diagnostics.push(words);
    }
    result
}
