//! Reads the end of another tool's hook by that tool's rules, with notes for its author.
//!
//! What all tools have in common; each tool's own rules are in its file.

use super::conclusion::{Conclusion, HookEnd};
use super::tool::{Event, Tool};
use crate::hook::Decision;

/// A note on an answer among other text.
const PLAIN_TEXT: &str =
    "standard output is treated as plain text: an answer is one JSON object and nothing else";

/// What an answer that its tool does not understand does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Strictness {
    /// Nothing: the event cannot be blocked.
    CannotBlock,
    /// The answer is ignored, as the tool ignores it.
    Lenient,
    /// The hook fails, and blocks.
    Strict,
}

/// Reads how a hook ended.
pub(super) fn read(
    tool: &Tool,
    event: &Event,
    strictness: Strictness,
    ended: &HookEnd<'_>,
) -> Conclusion {
    let mut conclusion = (tool.read)(event, ended);
    conclusion.output.only_stops = conclusion.output.stops_turn && !tool.stop_denies;
    if strictness == Strictness::CannotBlock {
        return conclusion;
    }
    let blocks = conclusion.output.decision == Some(Decision::Block);
    let about_code = about_code(ended, blocks, conclusion.replaces_exit_code);
    conclusion.diagnostics.extend(about_code);
    let about_output = match blocks || conclusion.unusable.is_some() {
        true => None,
        false => conclusion.ignored.take().or_else(|| about_text(ended)),
    };
    if strictness == Strictness::Lenient {
        conclusion.diagnostics.extend(about_output);
        return conclusion;
    }
    // JSON without a decision does not replace an exit code.
    conclusion.replaces_exit_code &= ended.code == 0 || conclusion.output.decision.is_some();
    conclusion.unusable = conclusion.unusable.or(about_output);
    conclusion
}

/// A note on an exit code that does not mean what a guard's author may expect.
fn about_code(ended: &HookEnd<'_>, blocks: bool, replaces_exit_code: bool) -> Option<String> {
    let effect = if blocks { "blocks" } else { "does not block" };
    let found = match ended.code {
        126 => "the command cannot be executed",
        127 => "the command was not found",
        2 if is_missing_file(ended.stderr) => "the interpreter did not find the script",
        0 | 2 => return None,
        ..0 => "a signal ended it",
        code if !blocks && !replaces_exit_code => {
            return Some(format!(
                "exit code {code} does not block here: exit with 2 and the reason on standard error"
            ));
        }
        _ => return None,
    };
    Some(format!(
        "the hook {effect} here, but checked nothing: {found}"
    ))
}

/// As `python3` and `uv` say it, whose exit code is then 2.
fn is_missing_file(stderr: &str) -> bool {
    stderr.contains("can't open file") || stderr.contains("Failed to spawn")
}

/// A note on a decision among other text.
fn about_text(ended: &HookEnd<'_>) -> Option<String> {
    if ended.object().is_some() {
        return None;
    }
    let mut lines = ended.stdout.lines();
    let decides = |line: &str| line.trim_start().starts_with('{') && line.contains("ecision\"");
    let is_broken = ended.stdout.trim_start().starts_with('{');
    (is_broken || lines.any(decides)).then(|| PLAIN_TEXT.to_owned())
}
