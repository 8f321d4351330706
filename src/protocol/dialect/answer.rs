//! Reads the answer of another tool's hook by that tool's rules, with notes for its author.

use super::reading::{Ended, Reading};
use super::{claude, codex, gemini};
use crate::hook::Dialect;
use crate::outcome::Decision;

/// Reads how a hook ended on the event that its tool calls `event`. `can_block` says whether the
/// event can block.
pub(crate) fn read_foreign_answer(
    dialect: Dialect,
    event: &str,
    can_block: bool,
    ended: &Ended<'_>,
) -> Reading {
    let mut reading = match dialect {
        Dialect::Claude => claude::read(event, ended),
        Dialect::Codex => codex::read(event, ended),
        Dialect::Gemini => gemini::read(event, ended),
        Dialect::Native => Reading::default(),
    };
    if can_block {
        let blocks = reading.output.decision == Some(Decision::Block);
        reading.diagnostics.extend(about_code(ended, blocks));
        if !blocks {
            reading.diagnostics.extend(about_output(dialect, ended));
        }
    }
    reading
}

/// A note on an exit code that does not mean what a guard's author may expect.
fn about_code(ended: &Ended<'_>, blocks: bool) -> Option<String> {
    let effect = if blocks { "blocks" } else { "does not block" };
    let found = match ended.code {
        126 => "the command cannot be executed",
        127 => "the command was not found",
        2 if is_missing_file(ended.stderr) => "the interpreter did not find the script",
        0 | 2 => return None,
        ..0 => "a signal ended it",
        code if !blocks && ended.object().is_none() => {
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

/// Recognizes the message of `python3`, whose exit code is then 2.
fn is_missing_file(stderr: &str) -> bool {
    stderr.contains("can't open file")
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
            let words = "standard output is treated as plain text: an answer is one JSON object and nothing else";
            lines.any(decides).then(|| words.to_owned())
        }
    }
}
