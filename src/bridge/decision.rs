//! The combined decision of a call's hooks, independent of the form of any agent's answers.

use std::borrow::Cow;

use serde_json::Value;

use super::call::Arguments;
use crate::agents::Agent;
use crate::entry::Decision;
use crate::outcome::{FailureKind, HookResult, Outcome, for_model};
use crate::printable::printable_lines;

/// The reason to end the turn, if a hook gives none that the model may read.
const STOPS: &str = "a hook stops the turn";

/// Stands behind the reason of a hook whose program was not found: it may well be in the `PATH` of the agent.
const WHERE_PROGRAMS_ARE: &str = "(hooks find programs in the `PATH` that `forge-hooks install` has registered, not in the \
    agent's: if it has changed, a person runs `forge-hooks install` again)";

/// Where an event is fired, as far as the texts of a decision name it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scene {
    pub(super) agent: &'static Agent,
    /// True at the end of a turn, where a block makes the agent go on.
    pub(super) is_end: bool,
}

/// The combined decision of the hooks of all events of a call, and their texts. By default, no hook has answered.
#[derive(Debug, Default)]
pub(super) struct CallDecision {
    /// True if any event of the call had a hook.
    pub(super) has_hooks: bool,
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
    /// The reasons of hooks that block what has already happened, for the model.
    pub(super) objections: Vec<String>,
    /// Lines for the user.
    pub(super) messages: Vec<String>,
    /// The reason why the turn ends.
    pub(super) stop: Option<String>,
}

impl CallDecision {
    /// Adds the outcome of one event.
    pub(super) fn add(&mut self, scene: Scene, outcome: &Outcome) {
        match outcome.check() {
            Err(error) if error.result.decision() == Decision::Ask => {
                if outcome.asks().is_none() {
                    self.block_with(scene.unasked(&error.result, ", so it is blocked"));
                }
            }
            Err(error) if is_not_found(&error.result) => {
                self.block_with(format!("{error}\n{WHERE_PROGRAMS_ARE}"));
            }
            Err(error) => self.block_with(error.to_string()),
            Ok(()) => {}
        }
        if let Some(output) = outcome.updated_output() {
            self.replace_output(output);
        }
        for question in outcome.questions() {
            add(&mut self.asks, asked(question));
        }
        let telling = of_last_output(outcome);
        self.context.extend(telling.additional_context());
        self.context.extend(telling.feedback());
        self.object(scene, &telling);
        for message in outcome.system_messages() {
            add(&mut self.messages, printable_lines(message));
        }
        for line in scene.failures(outcome) {
            self.note(&line);
        }
        self.say_where_programs_are(outcome);
        if outcome.stops_turn() {
            let reason = telling.stop_reason().unwrap_or(STOPS);
            self.stop.get_or_insert_with(|| printable_lines(reason));
        }
        self.context.dedup();
        self.grants = Some(self.grants.unwrap_or(true) && outcome.grants());
    }

    /// Says once where programs are searched for, if one was not found.
    fn say_where_programs_are(&mut self, outcome: &Outcome) {
        let blocked = self.block.as_ref();
        let is_said = blocked.is_some_and(|reason| reason.contains(WHERE_PROGRAMS_ARE));
        if !is_said && outcome.results().iter().any(is_not_found) {
            add(&mut self.messages, WHERE_PROGRAMS_ARE.to_owned());
        }
    }

    /// Adds what hooks have against something that has already happened: for the model, and for the user if it is no failure, of
    /// which the user learns in any case.
    fn object(&mut self, scene: Scene, outcome: &Outcome) {
        if outcome.can_block() {
            return;
        }
        for result in outcome.results() {
            let is_decided = matches!(result.failure(), None | Some(FailureKind::Exit));
            // A hook that ends the turn says so elsewhere.
            let stops = result.output().is_some_and(|output| output.stops_turn);
            let objects = result.decision() != Decision::Allow && !stops;
            // A hook that did not redact an output may have written this output.
            if !is_decided || !objects || result.withheld_output().is_some() {
                continue;
            }
            let text = if result.decision() == Decision::Ask {
                scene.unasked(result, "")
            } else {
                let reason = for_model(result.reason().unwrap_or("no reason given"));
                let label = result.hook().shown_label();
                format!("hook `{label}` reports: {}", printable_lines(&reason))
            };
            if result.failure().is_none() {
                add(&mut self.messages, text.clone());
            }
            add(&mut self.objections, text);
        }
    }

    /// Blocks the call, unless it is blocked already.
    pub(super) fn block_with(&mut self, reason: impl Into<String>) {
        self.block.get_or_insert_with(|| reason.into());
    }

    /// Replaces the output of a tool if it is unknown which part of it must not be seen.
    pub(super) fn withhold_output(&mut self, reason: &str) {
        self.replace_output(format!("[output withheld: {reason}]").into());
    }

    /// Replaces the output of a tool. What hooks have said before may repeat parts of the old one.
    fn replace_output(&mut self, output: Value) {
        self.objections.clear();
        self.context.clear();
        if let Some(reason) = &mut self.stop {
            STOPS.clone_into(reason);
        }
        self.output = Some(output);
    }

    /// Adds lines for the user.
    pub(super) fn note(&mut self, lines: &str) {
        for line in lines.lines() {
            add(&mut self.messages, line.to_owned());
        }
    }
}

impl Scene {
    /// Returns the hooks that failed and did not block. The mistakes of hooks files are reported at the session's start, and at
    /// the end of a turn, where they would block otherwise.
    fn failures(self, outcome: &Outcome) -> Vec<String> {
        let results = outcome.results().iter();
        let reported = results.filter(|result| self.is_end || !result.hook().is_refused());
        outcome
            .clone()
            .with_results(reported.cloned().collect())
            .failures()
    }

    /// Returns the reason of a hook whose question is not asked, with what follows from that.
    fn unasked(self, question: &HookResult, consequence: &str) -> String {
        let agent = self.agent.title();
        format!("{} ({agent} cannot ask here{consequence})", asked(question))
    }
}

/// Returns the outcome with the results of those hooks that have seen a tool's output as the model gets it: from the last one on
/// that has replaced or withheld it.
fn of_last_output(outcome: &Outcome) -> Cow<'_, Outcome> {
    if outcome.updated_output().is_none() {
        return Cow::Borrowed(outcome);
    }
    let changes = |result: &HookResult| {
        result.replaced_output().is_some() || result.withheld_output().is_some()
    };
    let results = outcome.results();
    let last = results.iter().rposition(changes).unwrap_or_default();
    Cow::Owned(outcome.clone().with_results(results[last..].to_vec()))
}

/// Returns the line for the user if hooks could not decide, and nothing is blocked.
pub(super) fn unchecked(why: &str) -> String {
    format!("forge-hooks could not run the hooks of this event: {why}")
}

fn is_not_found(result: &HookResult) -> bool {
    result.failure() == Some(FailureKind::NotFound)
}

fn asked(question: &HookResult) -> String {
    let reason = for_model(question.reason().unwrap_or("it gives no reason"));
    let label = question.hook().shown_label();
    format!("hook `{label}` asks: {}", printable_lines(&reason))
}

fn add(list: &mut Vec<String>, text: String) {
    if !list.contains(&text) {
        list.push(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_reads_nothing_of_an_output_that_was_replaced() {
        let text = || "the key is SECRET".to_owned();
        let mut decision = CallDecision {
            output: Some(text().into()),
            context: vec![text()],
            objections: vec![text()],
            stop: Some(text()),
            ..CallDecision::default()
        };
        decision.withhold_output("its hook has failed");
        assert!(!format!("{decision:?}").contains("SECRET"), "{decision:?}");
        assert_eq!(decision.stop.as_deref(), Some(STOPS), "the turn ends");
    }
}
