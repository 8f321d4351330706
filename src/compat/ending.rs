//! Reads the end of another agent's hook, from its exit code and its output, with notes for its author.
//!
//! Knows the rules that agents share, and reads the agents' tables. Knows no particular agent.

use std::cell::OnceCell;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::members::{Members, beginning, nonblank};
use crate::agents::{Agent, Effect, Event, Specific, Words};
use crate::entry::{Decision, FailurePolicy, HookOutput, Reading};
use crate::events::HookEvent;
use crate::json;
use crate::protocol::{Call, Exit, check_echo, word_for};

/// The effect of an answer that its agent does not understand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Strictness {
    /// There is no effect: the event cannot be blocked.
    CannotBlock,
    /// The answer is ignored, as the agent ignores it.
    Lenient,
    /// The hook fails, and blocks.
    Strict,
}

impl Strictness {
    pub(super) fn of(call: &Call<'_>) -> Self {
        match call.hook.options.on_failure {
            _ if !call.can_block => Self::CannotBlock,
            FailurePolicy::Continue => Self::Lenient,
            FailurePolicy::Block | FailurePolicy::Withhold => Self::Strict,
        }
    }
}

/// Returns whether an interpreter writes this about a missing script: `python3` and `uv` with exit code 2, as Perl, and
/// Node, Bun, Deno and PHP with 1. A hook may write the same about a module that its own tests miss.
fn misses_its_script(code: i32, stderr: &str) -> bool {
    let has = |text: &str| stderr.contains(text);
    match code {
        2 => [
            "can't open file",
            "Failed to spawn",
            "Can't open perl script",
        ]
        .into_iter()
        .any(has),
        1 => {
            let of_node = has("Cannot find module") && has("requireStack: []");
            let text = stderr.trim_start();
            let others = ["error: Module not found", "Could not open input file"];
            of_node || others.iter().any(|message| text.starts_with(message))
        }
        _ => false,
    }
}

/// A note on an answer among other text.
const PLAIN_TEXT: &str =
    "standard output is treated as plain text: an answer is one JSON object and nothing else";

/// A note on a decision that is not read.
const MISPLACED: &str = "`permissionDecision` is ignored outside of `hookSpecificOutput`";

const TOO_LONG: &str = "it is longer than what is kept of the output";

const BEYOND_LIMITS: &str =
    "it is nested deeper than 128 levels, or has a number that cannot be represented";

/// The reason of a hook that gives none where exit code 2 is explained.
const NO_REASON: &str = "the hook exited with code 2, and wrote no reason to standard error";

/// The text in place of an output, if the hook that blocks it gives no reason.
const BLOCKED: &str = "a hook has blocked this output, and gave no reason";

/// Keys that ask for effects that hosts do not apply.
const NOT_APPLIED: Words = &[
    "action",
    "async",
    "asyncTimeout",
    "classifierContext",
    "content",
    "initialUserMessage",
    "reloadSkills",
    "retry",
    "sessionTitle",
    "suppressOriginalPrompt",
    "terminalSequence",
    "updatedPermissions",
    "watchPaths",
    "worktreePath",
];

/// Reads the end of a hook. The answer's output is always set, even if it is empty.
pub(super) fn read(
    agent: &Agent,
    event: &Event,
    fired: &HookEvent,
    strictness: Strictness,
    end: &Exit<'_>,
) -> Reading {
    let text = end.stdout.trim();
    let is_lost = end.gap.is_some() && text.starts_with('{');
    let mut reader = Reader {
        agent,
        event,
        fired,
        code: end.code.unwrap_or(-1),
        stderr: end.stderr,
        output: HookOutput::default(),
        answer: Reading::default(),
        about_output: None,
        unusable: is_lost.then(|| TOO_LONG.to_owned()),
    };
    if !text.is_empty() && !is_lost {
        reader.read_output(text);
        reader.about_output = reader.about_output.or_else(|| about_text(text));
    }
    if reader.code == 2 {
        reader.read_exit_code_2();
    }
    if strictness != Strictness::CannotBlock {
        reader.add_notes(strictness);
    }
    if let Some(why) = reader
        .unusable
        .take()
        .filter(|_| !reader.answer.replaces_exit_code)
    {
        reader.lose(strictness, why);
    }
    reader.finished(end)
}

struct Reader<'a> {
    agent: &'a Agent,
    event: &'a Event,
    /// The host's event.
    fired: &'a HookEvent,
    /// The exit code. Negative if a signal ended the hook.
    code: i32,
    stderr: &'a str,
    output: HookOutput,
    answer: Reading,
    /// A fact about the output that a guard's author may not expect.
    about_output: Option<String>,
    /// The reason why an answer that the agent would have read cannot be used here.
    unusable: Option<String>,
}

impl Reader<'_> {
    fn read_output(&mut self, text: &str) {
        match json::read(text).ok() {
            Some(Value::Object(object)) => {
                let widens = |name: &str, value: &Value| self.widens(name, value);
                match check_echo(self.fired, &object, widens) {
                    Ok(()) => self.read_object(&object),
                    Err(why) => self.unusable = Some(why),
                }
            }
            None if is_beyond_limits(text) => self.unusable = Some(BEYOND_LIMITS.to_owned()),
            _ if self.code == 0 && self.event.text_is_context => {
                self.output.additional_context = Some(text.to_owned());
            }
            _ => {}
        }
    }

    /// Returns whether a member of an answer does more than stop something.
    fn widens(&self, name: &str, value: &Value) -> bool {
        let keys = &self.event.specific;
        let is_changed = keys.input == Some(name) || keys.output.contains(&name);
        is_changed || word_for(name, value, self.fired).is_some()
    }

    fn read_object(&mut self, object: &Map<String, Value>) {
        let fault = OnceCell::new();
        let members = Members {
            map: object,
            fault: &fault,
        };
        self.read_answer(members);
        let is_misplaced = object.contains_key("permissionDecision");
        self.about_output = is_misplaced.then(|| MISPLACED.to_owned());
        self.answer.notes = members.not_applied(NOT_APPLIED);
        self.answer.invalid = fault.into_inner();
        self.answer.replaces_exit_code = self.answer.invalid.is_none();
        if self.answer.invalid.is_some() {
            self.output = HookOutput::default();
        }
    }

    /// Blocks, or gives feedback, independent of the output.
    fn read_exit_code_2(&mut self) {
        let reason = nonblank(self.stderr);
        match self.event.effect {
            Effect::Nothing => return,
            Effect::Blocks => {
                if self.output.decision != Some(Decision::Block) {
                    self.decide(Decision::Block, reason.or(Some(NO_REASON.to_owned())));
                }
                self.output.updated_input = None;
                self.output.replaces_input = false;
            }
            Effect::FeedsBack if self.output.feedback.is_some() => {}
            Effect::FeedsBack => {
                if reason.is_none() {
                    self.answer.notes.push(NO_REASON.to_owned());
                }
                self.decide(Decision::Block, reason);
            }
        }
        self.answer.replaces_exit_code = true;
        self.answer.notes.extend(self.answer.invalid.take());
    }

    fn add_notes(&mut self, strictness: Strictness) {
        let blocks = self.output.decision == Some(Decision::Block);
        // In this case, a failure blocks too.
        let about_code = self.about_code(blocks || strictness == Strictness::Strict);
        let answer = &mut self.answer;
        answer.warnings.extend(about_code);
        let is_clear = blocks || answer.invalid.is_some();
        let about_output = self.about_output.take().filter(|_| !is_clear);
        if strictness == Strictness::Lenient {
            answer.warnings.extend(about_output);
            return;
        }
        // JSON without a decision does not replace an exit code.
        answer.replaces_exit_code &= self.code == 0 || self.output.decision.is_some();
        answer.invalid = answer.invalid.take().or(about_output);
    }

    /// Returns a note on an exit code whose effect a guard's author may not expect.
    fn about_code(&self, blocks: bool) -> Option<String> {
        let effect = if blocks { "blocks" } else { "does not block" };
        let cause = match self.code {
            126 => "a command cannot be executed",
            127 => "a command was not found",
            code if misses_its_script(code, self.stderr) => {
                "the interpreter did not find the script"
            }
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
            "the hook {effect} here, but checked nothing: {cause}"
        ))
    }

    /// The agent would have read an answer that cannot be used here, so it blocks even if the agent ignores failures.
    fn lose(&mut self, strictness: Strictness, why: String) {
        let is_stop = matches!(
            self.event.ours(),
            Some("agent:stop" | "agent:subagent_stop")
        );
        if strictness == Strictness::CannotBlock || is_stop {
            self.answer.invalid = Some(why);
        } else {
            self.output.decision = Some(Decision::Block);
            let reason = format!("the hook's answer cannot be used: {why}");
            self.output.reason = Some(reason);
        }
    }
}

/// The end of the reading.
impl Reader<'_> {
    fn finished(mut self, end: &Exit<'_>) -> Reading {
        let blocks = self.output.strictest() == Decision::Block;
        // An answer that blocks counts with every exit code. If an answer is invalid, the exit code adds nothing.
        self.answer.replaces_exit_code |= blocks || self.answer.invalid.is_some();
        Reading {
            output: Some(self.output),
            hides_stdout: end.stdout.trim_start().starts_with('{'),
            ..self.answer
        }
    }
}

/// Returns whether a text is an object that other programs can read, although it was not read here.
fn is_beyond_limits(text: &str) -> bool {
    let skipped = json::read::<IgnoredAny>(text);
    text.starts_with('{') && skipped.is_ok()
}

/// Returns a note on an answer among other text, on one line or over several.
fn about_text(text: &str) -> Option<String> {
    let mut rest = text;
    while !rest.trim_start_matches([' ', '\t']).starts_with('{') {
        rest = rest.split_once('\n')?.1;
    }
    let keys = ["ecision\"", "\"continue\""];
    let is_meant = text.starts_with('{') || keys.iter().any(|key| rest.contains(key));
    let is_read = json::read::<Map<String, Value>>(text).is_ok();
    (is_meant && !is_read).then(|| PLAIN_TEXT.to_owned())
}

/// The keys of an answer.
impl Reader<'_> {
    fn read_answer(&mut self, members: Members<'_>) {
        members.flag("suppressOutput");
        let reason = members.nonblank("reason");
        self.output.system_message = members.nonblank("systemMessage");
        self.output.stops_turn = members.flag("continue") == Some(false);
        self.output.stop_reason = members.nonblank("stopReason");
        let decision = members.choice("decision", &["approve", "block"]);
        if let Some(word) = decision.filter(|_| self.event.specific.within.is_none()) {
            self.decide(meaning(word), reason.clone());
        }
        if let Some(specific) = members.object("hookSpecificOutput") {
            self.check_event_name(specific);
            self.output.additional_context = specific.nonblank("additionalContext");
            self.read_specific(&self.event.specific, specific, reason);
        }
        // The agent would have asked its user all the same. A permission is what such a hook is asked for.
        let is_request = self.event.specific.within.is_some() && self.code == 0;
        let is_refused = !self.agent.emulated.takes_yes && !is_request;
        if is_refused && self.output.decision == Some(Decision::Allow) {
            self.output.decision = None;
        }
    }

    /// Adds a decision with its meaning on this event. After a tool, it is too late to block.
    fn decide(&mut self, decision: Decision, reason: Option<String>) {
        let is_question = self.event.is_of_tool() && self.event.effect == Effect::Blocks;
        match (decision, self.event.effect) {
            (Decision::Block, Effect::Blocks) => {
                self.output.decision = Some(decision);
                self.output.reason = reason;
            }
            (Decision::Block, Effect::FeedsBack) => {
                if self.agent.emulated.block_replaces_output {
                    let shown = reason.as_deref().unwrap_or(BLOCKED);
                    self.output.updated_output = Some(shown.into());
                }
                self.output.feedback = reason;
            }
            (Decision::Block, Effect::Nothing) => {}
            _ if is_question => {
                self.output.decision = Some(decision);
                self.output.reason = reason.filter(|_| decision == Decision::Ask);
            }
            _ => {}
        }
    }

    fn check_event_name(&self, specific: Members<'_>) {
        let expected = self.event.name;
        specific.blame(match specific.text("hookEventName") {
            None => format!("`hookSpecificOutput` lacks `\"hookEventName\": \"{expected}\"`"),
            Some(name) if name != expected && self.agent.emulated.checks_event_name => {
                let name = beginning(name);
                format!("`hookEventName`: expected `{expected}`, found `{name}`")
            }
            Some(_) => return,
        });
    }

    /// Reads `hookSpecificOutput`, which has these keys.
    fn read_specific(&mut self, keys: &Specific, specific: Members<'_>, reason: Option<String>) {
        let output = &mut self.output;
        let within = keys.within;
        let Some(members) = within.map_or(Some(specific), |key| specific.object(key)) else {
            return;
        };
        if let Some((key, choices)) = keys.decision {
            let decision = members.choice(key, choices);
            match (decision.map(meaning), within) {
                // If `decision` differs, the stricter one counts.
                (Some(inner), _)
                    if output
                        .decision
                        .is_none_or(|outer| outer.stricter(inner) == inner) =>
                {
                    output.decision = Some(inner);
                    let own = keys.reason.and_then(|key| members.nonblank(key));
                    // The message of a request is that of its denial.
                    let is_told = within.is_none() || inner == Decision::Block;
                    output.reason = own.or(reason).filter(|_| is_told);
                    let interrupts = members.flag("interrupt") == Some(true);
                    output.stops_turn |= interrupts && inner == Decision::Block;
                }
                (None, Some(within)) => members.blame(format!("`{within}` lacks `{key}`")),
                _ => {}
            }
        }
        if let Some(input) = keys.input.and_then(|key| members.object(key)) {
            output.updated_input = Some(input.map.clone());
            output.replaces_input = true;
        }
        if let Some(value) = keys.output.iter().find_map(|key| members.get(key)) {
            output.updated_output = Some(value.clone());
        }
    }
}

fn meaning(word: &str) -> Decision {
    match word {
        "allow" | "approve" => Decision::Allow,
        // With `defer`, the call would wait for another program, which no host of this crate supports.
        "ask" | "defer" => Decision::Ask,
        _ => Decision::Block,
    }
}
