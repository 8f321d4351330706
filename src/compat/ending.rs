//! Reads the end of another tool's hook, from its exit code and what it wrote, with notes for its author.
//!
//! Knows the rules that tools share; `answer` reads JSON.

use serde_json::{Map, Value};

use super::answer::{answer, decide};
use super::members::{Members, from_json, nonblank};
use super::tool::{Effect, Event, Reading, Text, Tool};
use crate::hook::{Answer, Decision, HookOutput};

/// How a hook ended, and what it wrote.
#[derive(Debug, Clone, Copy)]
pub(super) struct HookEnd<'a> {
    /// Its exit code; negative if a signal ended it.
    pub(super) code: i32,
    pub(super) stdout: &'a str,
    pub(super) stderr: &'a str,
}

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

/// A note on an answer among other text.
const PLAIN_TEXT: &str =
    "standard output is treated as plain text: an answer is one JSON object and nothing else";

/// A note on a decision that is not read.
const MISPLACED: &str = "`permissionDecision` is ignored outside of `hookSpecificOutput`";

const NO_REASON: &str = "the hook exited with code 2 and gave no reason";

const NEEDS_REASON: &str = "exit code 2 blocks only with a reason on standard error";

/// Reads how a hook ended. The answer's output is set, if only to nothing.
pub(super) fn read(
    tool: &Tool,
    event: &Event,
    strictness: Strictness,
    ended: &HookEnd<'_>,
) -> Answer {
    let mut conclusion = Conclusion {
        tool,
        event,
        ended,
        output: HookOutput::default(),
        answer: Answer::default(),
        is_misplaced: false,
    };
    conclusion.read_output();
    if ended.code == 2 && tool.answers.reading != Reading::Tolerant {
        conclusion.read_exit_code_2();
    }
    if strictness != Strictness::CannotBlock {
        conclusion.add_notes(strictness);
    }
    Answer {
        output: Some(conclusion.output),
        ..conclusion.answer
    }
}

struct Conclusion<'a> {
    tool: &'a Tool,
    event: &'a Event,
    ended: &'a HookEnd<'a>,
    output: HookOutput,
    answer: Answer,
    /// Whether the answer has a decision that the tool does not read.
    is_misplaced: bool,
}

impl Conclusion<'_> {
    fn read_output(&mut self) {
        let reading = self.tool.answers.reading;
        let is_tolerant = reading == Reading::Tolerant;
        let text = match nonblank(self.ended.stdout) {
            None if is_tolerant => nonblank(self.ended.stderr),
            text => text,
        };
        let Some(text) = text else {
            return;
        };
        let found = match from_json(&text) {
            Some(Value::String(inner)) if is_tolerant => from_json(&inner),
            found => found,
        };
        match found {
            Some(Value::Object(_)) if reading == Reading::Strict && self.ended.code != 0 => {}
            Some(Value::Object(object)) => self.read_object(&object),
            Some(_) if is_tolerant => {}
            None if is_tolerant => self.read_message(text),
            _ if self.ended.code == 0 => self.read_text(text),
            _ => {}
        }
    }

    fn read_object(&mut self, object: &Map<String, Value>) {
        match answer(self.tool, self.event, object) {
            Ok(output) => {
                self.output = output;
                self.answer.replaces_exit_code = true;
            }
            Err(why) => self.answer.invalid = Some(why),
        }
        self.is_misplaced = object.contains_key("permissionDecision");
        let members = Members::new(object, true);
        self.answer.notes = members.not_applied(self.tool.answers.not_applied);
    }

    /// Reads plain text of a tool that expects JSON.
    fn read_text(&mut self, text: String) {
        let is_broken = text.starts_with(['{', '[']) || self.event.text == Text::Invalid;
        if is_broken && self.tool.answers.reading == Reading::Strict {
            self.answer.invalid = Some("it is not one JSON object".to_owned());
        } else if self.event.text == Text::Context {
            self.output.additional_context = Some(text);
        }
    }

    /// Reads plain text of a tool that takes it for an answer.
    fn read_message(&mut self, text: String) {
        match self.ended.code {
            0 => self.output.system_message = Some(text),
            ..2 => self.output.system_message = Some(format!("Warning: {text}")),
            2.. => {
                self.block(Some(text));
                self.answer.replaces_exit_code = self.event.effect != Effect::Nothing;
            }
        }
    }

    fn block(&mut self, reason: Option<String>) {
        let reading = self.tool.answers.reading;
        decide(
            &mut self.output,
            reading,
            self.event,
            Decision::Block,
            reason,
        );
    }

    /// Blocks, or gives feedback, whatever was written.
    fn read_exit_code_2(&mut self) {
        let reason = nonblank(self.ended.stderr);
        let is_silent = reason.is_none();
        if is_silent && self.tool.answers.reading == Reading::Strict {
            self.answer.notes.push(NEEDS_REASON.to_owned());
            return;
        }
        match self.event.effect {
            Effect::Nothing => return,
            Effect::Blocks if self.output.decision == Some(Decision::Block) => {}
            Effect::FeedsBack if self.output.feedback.is_some() => {}
            Effect::Blocks => self.block(reason.or_else(|| Some(NO_REASON.to_owned()))),
            Effect::FeedsBack => self.block(reason),
        }
        if self.event.effect == Effect::Blocks {
            self.output.updated_input = None;
        }
        self.answer.replaces_exit_code = true;
        self.answer.notes.extend(self.answer.invalid.take());
    }

    fn add_notes(&mut self, strictness: Strictness) {
        let answer = &mut self.answer;
        let blocks = self.output.decision == Some(Decision::Block);
        let about_code = about_code(self.ended, blocks, answer.replaces_exit_code);
        answer.notes.extend(about_code);
        let about_output = match self.is_misplaced {
            _ if blocks || answer.invalid.is_some() => None,
            true => Some(MISPLACED.to_owned()),
            false => about_text(self.ended.stdout),
        };
        if strictness == Strictness::Lenient {
            answer.notes.extend(about_output);
            return;
        }
        // JSON without a decision does not replace an exit code.
        answer.replaces_exit_code &= self.ended.code == 0 || self.output.decision.is_some();
        answer.invalid = answer.invalid.take().or(about_output);
    }
}

/// Returns a note on an exit code that does not mean what a guard's author may expect.
fn about_code(ended: &HookEnd<'_>, blocks: bool, replaces_exit_code: bool) -> Option<String> {
    let effect = if blocks { "blocks" } else { "does not block" };
    // As `python3` and `uv` say it, whose exit code is then 2.
    let is_missing_file = ["can't open file", "Failed to spawn"];
    let is_missing_file = is_missing_file.iter().any(|it| ended.stderr.contains(it));
    let found = match ended.code {
        126 => "the command cannot be executed",
        127 => "the command was not found",
        2 if is_missing_file => "the interpreter did not find the script",
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

/// Returns a note on an answer among other text, on one line or over several.
fn about_text(stdout: &str) -> Option<String> {
    let text = stdout.trim();
    let mut rest = text;
    while !rest.trim_start_matches([' ', '\t']).starts_with('{') {
        rest = rest.split_once('\n')?.1;
    }
    let keys = ["ecision\"", "\"continue\""];
    let is_meant = text.starts_with('{') || keys.iter().any(|key| rest.contains(key));
    let object = from_json::<Map<String, Value>>(text);
    (object.is_none() && is_meant).then(|| PLAIN_TEXT.to_owned())
}
