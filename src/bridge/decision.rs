//! The combined decision of a call's hooks, independent of the form of any agent's answers.

use serde_json::Value;

use super::call::Arguments;
use crate::outcome::Outcome;
use crate::printable::printable_lines;

/// The combined decision of the hooks of all events of a call, and their texts. By default, no hook has answered.
#[derive(Debug, Default)]
pub(super) struct CallDecision {
    /// The reason why the call is not allowed, after the label of the hook.
    pub(super) block: Option<String>,
    /// The questions to the user.
    pub(super) asks: Vec<String>,
    /// True if each event of the call is granted; none if there was no event.
    pub(super) grants: Option<bool>,
    /// The whole input, under the agent's names.
    pub(super) input: Option<Arguments>,
    pub(super) prompt: Option<String>,
    pub(super) output: Option<Value>,
    /// Texts for the model.
    pub(super) context: Vec<String>,
    /// Lines for the user.
    pub(super) messages: Vec<String>,
    /// The reason why the turn ends.
    pub(super) stop: Option<String>,
}

impl CallDecision {
    /// Adds the outcomes of one event: of the first pass, and of the second if hooks have changed it.
    pub(super) fn add(&mut self, first: &Outcome, again: Option<&Outcome>) {
        let last = again.unwrap_or(first);
        match last.check() {
            Err(error) if last.asks().is_none() => self.block_with(error.to_string()),
            _ => {}
        }
        for outcome in [Some(first), again].into_iter().flatten() {
            for question in outcome.questions() {
                let reason = question.reason().unwrap_or("it gives no reason");
                let label = question.hook.shown_label();
                add(
                    &mut self.asks,
                    format!("hook `{label}` asks: {}", printable_lines(reason)),
                );
            }
            self.context.extend(outcome.additional_context());
            for message in outcome.system_messages() {
                add(&mut self.messages, printable_lines(message));
            }
            self.note(&failures(outcome));
            if outcome.stops_turn() {
                let reason = outcome.stop_reason().unwrap_or("a hook stops the turn");
                self.stop.get_or_insert_with(|| printable_lines(reason));
            }
        }
        self.context.dedup();
        self.grants = Some(self.grants.unwrap_or(true) && last.grants());
        if let Some(output) = last.updated_output() {
            self.output = Some(output);
        }
    }

    /// Blocks the call, unless it is blocked already.
    pub(super) fn block_with(&mut self, reason: impl Into<String>) {
        self.block.get_or_insert_with(|| reason.into());
    }

    /// Adds notes to the reason of the block.
    pub(super) fn explain(&mut self, notes: &[String]) {
        if let Some(reason) = &mut self.block {
            notes
                .iter()
                .for_each(|note| *reason += &format!(" ({note})"));
        }
    }

    /// Replaces the output of a tool if it is unknown which part of it must not be seen.
    pub(super) fn withhold_output(&mut self, reason: &str) {
        self.output = Some(format!("[output withheld: {reason}]").into());
    }

    /// Adds lines for the user.
    pub(super) fn note(&mut self, lines: &str) {
        for line in lines.lines() {
            add(&mut self.messages, line.to_owned());
        }
    }
}

/// Returns the hooks that failed and did not block. The mistakes of hooks files are reported at the session's start.
fn failures(outcome: &Outcome) -> String {
    let results = outcome.results().iter();
    let ran = results.filter(|result| !result.hook.is_refused()).cloned();
    outcome
        .clone()
        .with_results(ran.collect())
        .failures()
        .to_string()
}

fn add(list: &mut Vec<String>, text: String) {
    if !list.contains(&text) {
        list.push(text);
    }
}
