//! Adds the answer of another tool's hook to the hook's result.
//!
//! Knows that the tool has rules for answers, not what they are.

use super::firing::Firing;
use super::report::Reporter;
use crate::hook::Foreign;
use crate::outcome::{FailureKind, HookOutput, HookResult};
use crate::protocol::{Ended, read_foreign_answer};

/// Returns the result as the tool would see it, if the hook ended by itself. `cut` says that
/// standard output was longer than the part that is kept.
pub(super) fn answered_as(
    foreign: &Foreign,
    mut result: HookResult,
    cut: bool,
    firing: &Firing<'_>,
    reporter: &Reporter,
) -> HookResult {
    if !result.started() || !result.came_to_its_end() {
        return result;
    }
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
    let mut reading = read_foreign_answer(foreign.dialect(), name, firing.can_block, &ended);
    if is_lost && !reading.counts {
        reading.unusable = Some("it is longer than the part of the output that is kept".to_owned());
    }
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
