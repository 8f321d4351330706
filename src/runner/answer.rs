//! What a hook has answered, and what that makes of its result.
//!
//! Knows when output is an answer, not how one is written.

use log::warn;

use super::firing::Firing;
use super::report::{Reporter, tell};
use crate::hook::FailurePolicy;
use crate::outcome::{FailureKind, HookResult};
use crate::printable::printable;
use crate::protocol::{Answer, from_first_visible, is_answer, read_answer};

/// The result with its answer, where the hook came to its own end and has written one. `cut` says
/// that standard output was longer than what is kept of it.
pub(super) fn answered(
    result: HookResult,
    cut: bool,
    firing: &Firing<'_>,
    reporter: &Reporter,
) -> HookResult {
    let output = result.stdout_bytes();
    let written = from_first_visible(output);
    // White space that was cut may have gone on with an answer. What has control characters, as
    // zeros from a device, is no text that would.
    let is_blank = without_bom(output).trim_ascii().is_empty();
    let wants_to_be_one = is_answer(written) || (cut && is_blank);
    if !result.came_to_its_end() {
        return result;
    }
    let redacts = result.hook.on_failure() == FailurePolicy::Withhold;
    if !wants_to_be_one {
        // Whatever it wrote was meant to take the place of the output.
        if redacts && result.success() && !is_blank {
            let why = "it is no JSON object";
            return with_unusable_answer(result, why, firing, reporter);
        }
        return result;
    }
    let answer = if cut {
        Err("it is longer than what is kept of the output".to_owned())
    } else {
        read_answer(written).map_err(|error| why_unusable(&error))
    };
    match answer {
        Ok(answer) => match answer.misspelt.first() {
            Some((key, meant)) if redacts => {
                let why = format!("`{}` means nothing; did it mean `{meant}`?", printable(key));
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
        diagnostics.push(format!("`{key}` means nothing; did you mean `{meant}`?"));
    }
    for words in &diagnostics {
        let label = || reporter.label(&result.hook);
        tell(|| warn!("the answer of hook `{}`: {words}", label()));
    }
    let mut result = result.with_output(answer.output);
    result.diagnostics = diagnostics;
    result
}

/// Half an answer may be half a `block`. An event that cannot be blocked treats it as plain text.
fn with_unusable_answer(
    mut result: HookResult,
    why: &str,
    firing: &Firing<'_>,
    reporter: &Reporter,
) -> HookResult {
    let error = format!("its answer cannot be used: {why}");
    let counts = firing.can_block || result.hook.on_failure() == FailurePolicy::Withhold;
    if counts {
        result.failure = Some(FailureKind::InvalidAnswer);
        result.error = Some(error);
    } else {
        let hook = &result.hook;
        tell(|| {
            warn!(
                "what hook `{}` writes on {} is treated as plain text: {}",
                reporter.label(hook),
                firing.event.event_type,
                reporter.shown(hook, &error)
            );
        });
    }
    result
}

/// The author of a hook that did not mean to answer learns why its output was read as an answer.
fn why_unusable(error: &serde_json::Error) -> String {
    if error.is_data() {
        return error.to_string();
    }
    format!("{error} (output that begins with `{{` must be one JSON object and nothing else)")
}

/// Without the byte order marks at the beginning.
pub(super) fn without_bom(mut bytes: &[u8]) -> &[u8] {
    while let Some(rest) = bytes.strip_prefix("\u{FEFF}".as_bytes()) {
        bytes = rest;
    }
    bytes
}
