//! What a hook has answered, and what that makes of its result.
//!
//! Knows when output is an answer, not how one is written.

use log::warn;

use crate::events::EventType;
use crate::outcome::{FailureKind, HookResult};
use crate::protocol::{Answer, is_answer, read_answer};

/// The result with its answer, where the hook came to its own end and has written one. `cut` says
/// that standard output was longer than what is kept of it.
pub(super) fn taken(result: HookResult, cut: bool, event_type: &EventType) -> HookResult {
    let written = without_bom(result.stdout_bytes());
    if !result.came_to_its_end() || !is_answer(written) {
        return result;
    }
    let answer = if cut {
        Err("it is longer than what is kept of the output".to_owned())
    } else {
        read_answer(written).map_err(|error| error.to_string())
    };
    match answer {
        Ok(answer) => accepted(result, answer),
        Err(why) => unusable(result, &why, event_type),
    }
}

pub(super) fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(bytes)
}

fn accepted(result: HookResult, answer: Answer) -> HookResult {
    for (key, meant) in &answer.misspelt {
        let label = result.hook.label();
        warn!("hook `{label}` answers with `{key}`, which means nothing: is `{meant}` meant?");
    }
    result.with_output(answer.output)
}

/// Half an answer may be half a `block`. What has happened already nobody can block any more, and
/// there it is text.
fn unusable(mut result: HookResult, why: &str, event_type: &EventType) -> HookResult {
    let error = format!("its answer cannot be used: {why}");
    if event_type.can_block() {
        result.failure = Some(FailureKind::InvalidAnswer);
        result.error = Some(error);
    } else {
        let label = result.hook.label();
        warn!("what hook `{label}` writes on {event_type} is taken for text: {error}");
    }
    result
}
