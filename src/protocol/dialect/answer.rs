//! Reads the answer of another tool's hook by that tool's rules, with notes for its author.

use super::reading::{Ended, Reading};
use super::{claude, codex, gemini};
use crate::hook::Dialect;
use crate::outcome::Decision;

/// A note on an answer among other text.
pub(crate) const PLAIN_TEXT: &str =
    "standard output is treated as plain text: an answer is one JSON object and nothing else";

/// The consequence of an answer that its tool does not understand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Stakes {
    /// None: the event cannot be blocked.
    None,
    /// The answer is ignored, as the tool ignores it.
    Forgiven,
    /// The hook fails, and blocks.
    Strict,
}

/// Reads how a hook ended on what its tool calls `event`.
pub(crate) fn read_foreign_answer(
    dialect: Dialect,
    event: &str,
    stakes: Stakes,
    ended: &Ended<'_>,
) -> Reading {
    let mut reading = match dialect {
        Dialect::Claude => claude::read(event, ended),
        Dialect::Codex => codex::read(event, ended),
        Dialect::Gemini => gemini::read(event, ended),
        Dialect::Native => Reading::default(),
    };
    if stakes == Stakes::None {
        return reading;
    }
    let blocks = reading.output.decision == Some(Decision::Block);
    let about_code = about_code(ended, blocks, reading.counts);
    reading.diagnostics.extend(about_code);
    let about_output = match blocks || reading.unusable.is_some() {
        true => None,
        false => about_output(dialect, ended),
    };
    if stakes == Stakes::Forgiven {
        reading.diagnostics.extend(about_output);
        return reading;
    }
    // JSON that decides nothing does not make up for an exit code.
    reading.counts &= ended.code == 0 || reading.output.decision.is_some();
    reading.unusable = reading.unusable.or(about_output);
    reading
}

/// A note on an exit code that does not mean what a guard's author may expect.
fn about_code(ended: &Ended<'_>, blocks: bool, counts: bool) -> Option<String> {
    let effect = if blocks { "blocks" } else { "does not block" };
    let found = match ended.code {
        126 => "the command cannot be executed",
        127 => "the command was not found",
        2 if is_missing_file(ended.stderr) => "the interpreter did not find the script",
        0 | 2 => return None,
        ..0 => "a signal ended it",
        code if !blocks && !counts => {
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

/// A note on a decision that the tool does not read: among other text, or outside of its object.
fn about_output(dialect: Dialect, ended: &Ended<'_>) -> Option<String> {
    match ended.object() {
        Some(object) if dialect == Dialect::Claude && object.contains_key("permissionDecision") => {
            Some("`permissionDecision` is ignored outside of `hookSpecificOutput`".to_owned())
        }
        Some(_) => None,
        None => {
            let mut lines = ended.stdout.lines();
            let decides =
                |line: &str| line.trim_start().starts_with('{') && line.contains("ecision\"");
            let is_broken = ended.stdout.trim_start().starts_with('{');
            (is_broken || lines.any(decides)).then(|| PLAIN_TEXT.to_owned())
        }
    }
}
