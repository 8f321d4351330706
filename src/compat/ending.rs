//! Reads the end of another tool's hook, from its exit code and what it wrote, with notes for its author.
//!
//! Knows the rules that tools share; `answer` reads JSON.

use serde_json::{Map, Value};

use super::answer::{answer, decide};
use super::members::{from_json, nonblank};
use super::tool::{Effect, Event, Reading, Text, Tool};
use crate::hook::{Answer, Decision, End, HookOutput};

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

/// What stands in standard error where bytes are missing. No JSON has a line break in a string.
const LEFT_OUT: &str = " bytes left out ...]\n";

/// A note on an answer among other text.
const PLAIN_TEXT: &str =
    "standard output is treated as plain text: an answer is one JSON object and nothing else";

/// A note on a decision that is not read.
const MISPLACED: &str = "`permissionDecision` is ignored outside of `hookSpecificOutput`";

const NO_REASON: &str = "the hook exited with code 2 and gave no reason";

const NEEDS_REASON: &str = "exit code 2 blocks only with a reason on standard error";

const TOO_LONG: &str = "it is longer than what is kept of the output";

/// Reads how a hook ended. The answer's output is set, if only to nothing.
pub(super) fn read(tool: &Tool, event: &Event, strictness: Strictness, end: &End<'_>) -> Answer {
    let is_tolerant = tool.reading == Reading::Tolerant;
    let (text, is_cut) = match end.stdout.trim().is_empty() && is_tolerant {
        true => (end.stderr, end.stderr.contains(LEFT_OUT)),
        false => (end.stdout, end.gap.is_some()),
    };
    let text = text.trim();
    let is_lost = is_cut && (text.starts_with('{') || is_tolerant && text.starts_with('"'));
    let mut reader = Reader {
        tool,
        event,
        code: end.code.unwrap_or(-1),
        stderr: end.stderr,
        output: HookOutput::default(),
        answer: Answer::default(),
        about_output: None,
    };
    if !text.is_empty() && !is_lost {
        reader.read_written(text);
        reader.about_output = reader
            .about_output
            .or_else(|| about_text(end.stdout.trim()));
    }
    if reader.code == 2 && !is_tolerant {
        reader.read_exit_code_2();
    }
    if strictness != Strictness::CannotBlock {
        reader.add_notes(strictness);
    }
    if is_lost && !reader.answer.replaces_exit_code {
        reader.lose(strictness);
    }
    Answer {
        output: Some(reader.output),
        ..reader.answer
    }
}

struct Reader<'a> {
    tool: &'a Tool,
    event: &'a Event,
    /// Negative if a signal ended the hook.
    code: i32,
    stderr: &'a str,
    output: HookOutput,
    answer: Answer,
    /// What a guard's author may not expect of the output.
    about_output: Option<String>,
}

impl Reader<'_> {
    fn read_written(&mut self, text: &str) {
        let is_tolerant = self.tool.reading == Reading::Tolerant;
        let found = match from_json(text) {
            Some(Value::String(inner)) if is_tolerant => from_json(&inner),
            found => found,
        };
        match found {
            Some(Value::Object(_)) if self.is_strict() && self.code != 0 => {}
            Some(Value::Object(object)) => {
                self.answer = answer(self.tool, self.event, &object);
                self.output = self.answer.output.take().unwrap_or_default();
                let is_misplaced = object.contains_key("permissionDecision");
                self.about_output = is_misplaced.then(|| MISPLACED.to_owned());
            }
            Some(_) if is_tolerant => {}
            None if is_tolerant => self.read_message(text.to_owned()),
            _ if self.code == 0 => self.read_text(text),
            _ => {}
        }
    }

    fn is_strict(&self) -> bool {
        self.tool.reading == Reading::Strict
    }

    /// Reads plain text of a tool that expects JSON.
    fn read_text(&mut self, text: &str) {
        let is_broken = text.starts_with(['{', '[']) || self.event.text == Text::Invalid;
        if is_broken && self.is_strict() {
            self.answer.invalid = Some("it is not one JSON object".to_owned());
        } else if self.event.text == Text::Context {
            self.output.additional_context = Some(text.to_owned());
        }
    }

    /// Reads plain text of a tool that takes it for an answer.
    fn read_message(&mut self, text: String) {
        match self.code {
            0 => self.output.system_message = Some(text),
            ..2 => self.output.system_message = Some(format!("Warning: {text}")),
            2.. => {
                self.block(Some(text));
                self.answer.replaces_exit_code = self.event.effect != Effect::Nothing;
            }
        }
    }

    fn block(&mut self, reason: Option<String>) {
        let (reading, block) = (self.tool.reading, Decision::Block);
        decide(&mut self.output, reading, self.event, block, reason);
    }

    /// Blocks, or gives feedback, whatever was written.
    fn read_exit_code_2(&mut self) {
        let reason = nonblank(self.stderr);
        if reason.is_none() && self.is_strict() {
            return self.answer.notes.push(NEEDS_REASON.to_owned());
        }
        match self.event.effect {
            Effect::Nothing => return,
            Effect::Blocks => {
                if self.output.decision != Some(Decision::Block) {
                    self.block(reason.or_else(|| Some(NO_REASON.to_owned())));
                }
                self.output.updated_input = None;
            }
            Effect::FeedsBack if self.output.feedback.is_some() => {}
            Effect::FeedsBack => self.block(reason),
        }
        self.answer.replaces_exit_code = true;
        self.answer.notes.extend(self.answer.invalid.take());
    }

    fn add_notes(&mut self, strictness: Strictness) {
        let blocks = self.output.decision == Some(Decision::Block);
        let about_code = self.about_code(blocks);
        let answer = &mut self.answer;
        answer.notes.extend(about_code);
        let is_clear = blocks || answer.invalid.is_some();
        let about_output = self.about_output.take().filter(|_| !is_clear);
        if strictness == Strictness::Lenient {
            answer.notes.extend(about_output);
            return;
        }
        // JSON without a decision does not replace an exit code.
        answer.replaces_exit_code &= self.code == 0 || self.output.decision.is_some();
        answer.invalid = answer.invalid.take().or(about_output);
    }

    /// Returns a note on an exit code that does not mean what a guard's author may expect.
    fn about_code(&self, blocks: bool) -> Option<String> {
        let effect = if blocks { "blocks" } else { "does not block" };
        // As `python3` and `uv` say it, whose exit code is then 2.
        let is_missing_file = ["can't open file", "Failed to spawn"];
        let is_missing_file = is_missing_file.iter().any(|it| self.stderr.contains(it));
        let found = match self.code {
            126 => "the command cannot be executed",
            127 => "the command was not found",
            2 if is_missing_file => "the interpreter did not find the script",
            0 | 2 => return None,
            ..0 => "a signal ended it",
            code if !blocks && !self.answer.replaces_exit_code => {
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

    /// The tool would have read an answer that is not kept, so it blocks even if the tool ignores failures.
    fn lose(&mut self, strictness: Strictness) {
        let is_stop = matches!(self.event.ours, Some("agent:stop" | "agent:subagent_stop"));
        if strictness == Strictness::CannotBlock || is_stop {
            self.answer.invalid = Some(TOO_LONG.to_owned());
        } else {
            self.output.decision = Some(Decision::Block);
            let reason = format!("the hook's answer cannot be used: {TOO_LONG}");
            self.output.reason = Some(reason);
        }
    }
}

/// Returns a note on an answer among other text, on one line or over several.
fn about_text(text: &str) -> Option<String> {
    let keys = ["ecision\"", "\"continue\""];
    let mut lines = text.lines().map(str::trim_start);
    let has_answer =
        keys.iter().any(|key| text.contains(key)) && lines.any(|it| it.starts_with('{'));
    let is_meant = has_answer || text.starts_with('{');
    let is_read = from_json::<Map<String, Value>>(text).is_some();
    (is_meant && !is_read).then(|| PLAIN_TEXT.to_owned())
}
