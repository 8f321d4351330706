//! The decision of hooks, in the words of the agent that asked.
//!
//! A block is exit code 2 with its reason as plain text. JSON carries decisions that exit codes cannot express. If hooks have
//! decided nothing, the answer is empty. The keys are those by which `compat` reads the answers of this agent's own hooks.

use serde_json::{Map, Value, json};

use super::decision::CallDecision;
use super::text_output;
use crate::agents::{Answers, BlockedBy, Effect, Event, Messages, Outputs, Questions};
use crate::json;

/// The key of a message for the user.
const MESSAGE: &str = "systemMessage";

/// The answer to an agent: the output of its hook, and the exit code.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: u8,
}

impl Answer {
    /// Blocks. A word precedes a reason that is blank or may be JSON, which the agent would read as an answer.
    pub(super) fn block(reason: &str) -> Self {
        // No JSON begins with a letter and has several words.
        let is_plain = reason.starts_with(|c: char| c.is_ascii_alphabetic());
        let word = if is_plain && reason.trim().contains(' ') {
            ""
        } else {
            "blocked: "
        };
        Self {
            stderr: format!("{word}{reason}\n"),
            code: 2,
            ..Self::default()
        }
    }

    /// Repeats the nonce of an event in an answer that is no block: without it, a plugin lets no call pass.
    pub(super) fn with_nonce(mut self, input: &str) -> Self {
        let event: Value = json::read(input).unwrap_or_default();
        if self.code == 0
            && let Some(nonce) = event.get("nonce")
        {
            let mut answer: Map<String, Value> = json::read(&self.stdout).unwrap_or_default();
            set(&mut answer, "nonce", nonce.clone());
            self.stdout = format!("{}\n", Value::Object(answer));
        }
        self
    }

    /// Adds lines for the user to a block by its exit code.
    fn with_messages(mut self, messages: &[String]) -> Self {
        if !messages.is_empty() {
            let json = json!({MESSAGE: messages.join("\n")});
            self.stdout = format!("{json}\n");
        }
        self
    }
}

impl Answers {
    /// Returns the answer. `output` is the tool's output in its own form.
    pub(super) fn answer(
        &self,
        event: &Event,
        output: &Value,
        mut decision: CallDecision,
    ) -> Answer {
        self.block_unsupported(event, &mut decision);
        match decision.block.take() {
            Some(reason) if event.effect == Effect::Blocks => {
                // The model reads the reason alone.
                let mut texts = vec![reason];
                texts.append(&mut decision.context);
                if !self.shows_message_beside_block(event) {
                    texts.append(&mut decision.messages);
                }
                let reason = texts.join("\n");
                if !self.blocks_by_json(event, &decision) {
                    return Answer::block(&reason).with_messages(&decision.messages);
                }
                // Copilot CLI ignores a block without a reason.
                let is_blank = reason.trim().is_empty();
                decision.block = Some(if is_blank {
                    "blocked".to_owned()
                } else {
                    reason
                });
                decision.input = None;
            }
            Some(reason) => decision.note(&format!("`{}` cannot be blocked: {reason}", event.name)),
            None => {}
        }
        let mut members = Members {
            answers: self,
            event,
            decision: &decision,
            top: Map::new(),
            specific: Map::new(),
        };
        members.decide();
        members.change_input();
        members.change_output(output);
        members.end_turn();
        members.add_messages();
        let mut answer = members.finished();
        let lines = self.lines(event, &decision);
        if !lines.is_empty() {
            answer.code = 2;
            answer.stderr = format!("{lines}\n");
            if self.blocks_in_json() && answer.stdout.is_empty() {
                answer.stdout = "{}\n".to_owned();
            }
        }
        answer
    }

    fn blocks_by_json(&self, event: &Event, decision: &CallDecision) -> bool {
        match self.blocks {
            BlockedBy::Code => event.specific.within.is_some(),
            BlockedBy::CodeOrJson => decision.stop.is_some() || !decision.messages.is_empty(),
            BlockedBy::Json => true,
        }
    }

    /// Returns the lines for standard error, which stand beside JSON with exit code 2.
    fn lines(&self, event: &Event, decision: &CallDecision) -> String {
        let is_code_too = match self.blocks {
            BlockedBy::Code => false,
            BlockedBy::CodeOrJson => true,
            BlockedBy::Json => event.is_before_tool(),
        };
        match &decision.block {
            // The agent may not find the JSON among the output of the user's shell.
            Some(reason) if is_code_too => reason.clone(),
            _ if self.messages == Messages::Error && !event.is_read_by_model() => {
                decision.messages.join("\n")
            }
            _ => String::new(),
        }
    }

    /// Blocks if the agent cannot apply a decision of hooks.
    fn block_unsupported(&self, event: &Event, decision: &mut CallDecision) {
        if let Some(prompt) = decision.prompt.take() {
            decision.block_with(format!(
                "a hook has changed the prompt, which is not possible here: send this one instead:\n{prompt}"
            ));
        }
        let can_change = !event.is_before_tool() || event.specific.input.is_some();
        if !(self.applies_input && can_change)
            && let Some(input) = decision.input.take()
        {
            let input = Value::Object(input);
            decision.block_with(format!(
                "a hook has changed the input, which is not possible here: call the tool with this input instead: {input}"
            ));
        }
        if self.cannot_end_turn.contains(&event.name)
            && let Some(reason) = decision.stop.take()
        {
            match event.effect {
                Effect::Blocks => decision.block_with(format!("a hook ends the turn: {reason}")),
                _ => decision.note(&format!(
                    "a hook wanted to end the turn, which is not possible here: {reason}"
                )),
            }
        }
    }
}

/// The members of an answer, at the top and for its event.
struct Members<'a> {
    answers: &'a Answers,
    event: &'a Event,
    decision: &'a CallDecision,
    top: Map<String, Value>,
    specific: Map<String, Value>,
}

impl Members<'_> {
    fn decide(&mut self) {
        let decision = self.decision;
        let is_request = self.event.specific.within.is_some();
        match &decision.block {
            Some(reason) if self.event.specific.decision.is_some() => {
                self.decide_as("deny", Some(reason));
            }
            Some(reason) => {
                let word = match self.answers.blocks {
                    BlockedBy::Json => "block",
                    _ => "deny",
                };
                set(&mut self.top, "decision", word);
                set(&mut self.top, "reason", reason.as_str());
            }
            None if decision.asks.is_empty() => {
                // Each agent accepts a yes to its own question.
                let is_taken = is_request || self.answers.takes_yes;
                if is_taken && decision.grants == Some(true) {
                    self.decide_as("allow", None);
                }
            }
            // The agent is about to ask.
            None if is_request => {}
            None if self.answers.questions == Questions::Message => {
                set(&mut self.top, "decision", "ask");
            }
            None => self.decide_as("ask", Some(&decision.asks.join("\n"))),
        }
    }

    /// Sets a decision where the event has one.
    fn decide_as(&mut self, decision: &str, reason: Option<&str>) {
        let row = &self.event.specific;
        let Some((key, _)) = row.decision.filter(|(_, known)| known.contains(&decision)) else {
            return;
        };
        let mut members = Map::new();
        set(&mut members, key, decision);
        if let (Some(key), Some(reason)) = (row.reason, reason) {
            set(&mut members, key, reason);
        }
        match row.within {
            Some(within) => set(&mut self.specific, within, members),
            None => self.specific.extend(members),
        }
    }

    fn change_input(&mut self) {
        if let (Some(key), Some(input)) = (self.event.specific.input, &self.decision.input) {
            set(&mut self.specific, key, input.clone());
        }
    }

    /// Gives the model another output, and a context. An agent may ignore an output in another form than the tool's own.
    fn change_output(&mut self, old: &Value) {
        let mut context = self.decision.context.clone();
        // Nothing is blocked after a tool, and the output stays.
        if self.event.effect == Effect::FeedsBack {
            context.extend_from_slice(&self.decision.objections);
        }
        let context = context.join("\n");
        let Some(new) = &self.decision.output else {
            return self.add_context(context);
        };
        let text = match new {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        match self.answers.outputs {
            Outputs::Reason(decision) => self.replace_by_reason(decision, [text, context]),
            Outputs::StopReason => {
                let text = replacement([text, context]);
                set(&mut self.top, "continue", false);
                set(&mut self.top, "stopReason", text);
            }
            Outputs::Context => self.add_context(format!(
                "a hook has replaced the output above, which is not possible here, by: {text}\n{context}"
            )),
            Outputs::Text(key) => {
                self.add_context(context);
                let shaped = Map::from_iter([(key.to_owned(), text.into())]);
                self.set_output(Some(shaped.into()), "");
            }
            Outputs::OwnForm => {
                self.add_context(context);
                let shaped = match text_output::with_text(old, &text) {
                    // A hook that got another form gives it back. `null` would keep the old output.
                    None if !new.is_string() && !new.is_null() => Some(new.clone()),
                    None => text_output::in_place_of_blocks(old, &text),
                    shaped => shaped,
                };
                self.set_output(shaped, &text);
            }
        }
    }

    /// Gives the model a reason in place of the output. Beside a decision, a context may be lost.
    fn replace_by_reason(&mut self, decision: &str, texts: [String; 2]) {
        set(&mut self.top, "decision", decision);
        set(&mut self.top, "reason", replacement(texts));
    }

    /// Gives the model an output in the form that the agent takes, or says why that is not possible.
    fn set_output(&mut self, shaped: Option<Value>, text: &str) {
        match (self.event.specific.output.first(), shaped) {
            (Some(key), Some(shaped)) => set(&mut self.specific, key, shaped),
            _ => {
                let reason = format!(
                    "a hook would have replaced this output, which is not possible for this tool, by: {text}"
                );
                set(&mut self.top, "decision", "block");
                set(&mut self.top, "reason", reason);
            }
        }
    }

    fn add_context(&mut self, context: String) {
        if self.answers.context.contains(&self.event.name) && !context.is_empty() {
            set(&mut self.specific, "additionalContext", context);
        }
    }

    fn end_turn(&mut self) {
        // At a stop event, the turn ends anyway.
        if let Some(reason) = self
            .decision
            .stop
            .as_ref()
            .filter(|_| !self.event.is_stop())
        {
            set(&mut self.top, "continue", false);
            set(&mut self.top, "stopReason", reason.as_str());
        }
    }

    /// Adds the lines for the user.
    fn add_messages(&mut self) {
        let mut messages = self.decision.messages.clone();
        if self
            .top
            .get("decision")
            .is_some_and(|decision| decision == "ask")
        {
            messages.extend(self.decision.asks.iter().cloned());
        }
        if self.answers.messages == Messages::Json && !messages.is_empty() {
            set(&mut self.top, MESSAGE, messages.join("\n"));
        }
    }

    fn finished(mut self) -> Answer {
        if self.answers.messages == Messages::Text {
            return self.text();
        }
        if self.answers.blocks == BlockedBy::Json {
            // With exit code 2, such an agent reads these keys at the top only.
            self.top.extend(std::mem::take(&mut self.specific));
        }
        if !self.specific.is_empty() {
            set(&mut self.specific, "hookEventName", self.event.name);
            set(&mut self.top, "hookSpecificOutput", self.specific);
        }
        let stdout = if self.top.is_empty() {
            String::new()
        } else {
            format!("{}\n", Value::Object(self.top))
        };
        Answer {
            stdout,
            ..Answer::default()
        }
    }
}

impl Members<'_> {
    /// Returns the answer to an agent that reads no JSON.
    fn text(self) -> Answer {
        let mut texts = self.decision.messages.clone();
        texts.extend_from_slice(&self.decision.context);
        let is_read = self.answers.context.contains(&self.event.name) && !texts.is_empty();
        let stdout = if is_read {
            // Text that is JSON could be an answer.
            format!("forge-hooks: {}\n", texts.join("\n"))
        } else {
            String::new()
        };
        Answer {
            stdout,
            ..Answer::default()
        }
    }
}

/// Returns the text that stands in the place of an output.
fn replacement(texts: [String; 2]) -> String {
    let texts = texts.into_iter().filter(|text| !text.is_empty());
    let text = texts.collect::<Vec<_>>().join("\n");
    // Without a text, the agent keeps the old output.
    if text.trim().is_empty() {
        return "a hook has removed this output".to_owned();
    }
    text
}

fn set(members: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    members.insert(key.to_owned(), value.into());
}
