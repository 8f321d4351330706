//! Reads a hook's answer, and adds it to the hook's result.
//!
//! Knows when output is an answer, not the format of an answer.

use super::firing::Firing;
use super::report::Reporter;
use crate::hook::FailurePolicy;
use crate::logging::warn;
use crate::outcome::{FailureKind, HookResult};
use crate::printable::printable;
use crate::protocol::{
    Answer, PLAIN_TEXT, from_first_visible, hides_answer, is_answer, read_answer,
};

/// Returns the result with its answer, if the hook ended by itself and wrote one. `cut` says that
/// standard output was longer than the part that is kept.
pub(super) fn add_answer(
    mut result: HookResult,
    cut: bool,
    firing: &Firing<'_>,
    reporter: &Reporter,
) -> HookResult {
    let output = result.stdout_bytes();
    let written = from_first_visible(output);
    // Truncated output that starts with only white space may contain an answer. Control characters,
    // such as zeros from a device, are not white space.
    let is_blank = without_bom(output).trim_ascii().is_empty();
    let wants_to_be_one = is_answer(written) || (cut && is_blank);
    if !result.came_to_its_end() {
        return result;
    }
    let redacts = result.hook.on_failure() == FailurePolicy::Withhold;
    if !wants_to_be_one {
        // Whatever such a hook writes is meant to replace the output.
        if redacts && result.success() && !is_blank {
            let why = "it is not a JSON object";
            return with_unusable_answer(result, why, firing, reporter);
        }
        if result.success() && hides_answer(written) {
            reporter.diagnose_once(&result.hook, PLAIN_TEXT);
            result.diagnostics.push(PLAIN_TEXT.to_owned());
        }
        return result;
    }
    let answer = if cut {
        Err("it is longer than the part of the output that is kept".to_owned())
    } else {
        read_answer(written)
    };
    match answer {
        Ok(answer) => match answer.misspelt.first() {
            Some((key, meant)) if redacts => {
                let why = format!(
                    "`{}` is not a known key; did you mean `{meant}`?",
                    printable(key)
                );
                with_unusable_answer(result, &why, firing, reporter)
            }
            _ => with_answer(result, answer, reporter),
        },
        Err(why) => with_unusable_answer(result, &why, firing, reporter),
    }
}

fn with_answer(result: HookResult, answer: Answer, reporter: &Reporter) -> HookResult {
    let mut diagnostics = Vec::new();
    for (key, meant) in &answer.misspelt {
        let key = printable(key);
        let words = format!("`{key}` is not a known key; did you mean `{meant}`?");
        reporter.diagnose_once(&result.hook, &format!("in its answer, {words}"));
        diagnostics.push(words);
    }
    let mut result = result.with_output(answer.output);
    result.diagnostics = diagnostics;
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

/// Removes byte order marks at the beginning.
pub(super) fn without_bom(mut bytes: &[u8]) -> &[u8] {
    while let Some(rest) = bytes.strip_prefix("\u{FEFF}".as_bytes()) {
        bytes = rest;
    }
    bytes
}
