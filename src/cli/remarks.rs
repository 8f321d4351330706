//! What the author of a hook probably did not intend, beyond what the engine knows: for people, and in JSON among the
//! `diagnostics`.
//!
//! Reads results, and decides nothing.

use crate::config::last_test;
use crate::outcome::MODEL_TEXT_LIMIT;
use crate::{EventType, HookEvent, HookResult, Outcome};

/// The remarks on the hooks of one event, and of the event as they have changed it.
#[derive(Debug, Clone)]
pub(crate) struct Remarks {
    can_block: bool,
    context: ForModel,
    feedback: ForModel,
    /// Whether it was said what a text without a decision means.
    has_explained: bool,
}

/// The texts for the model so far: it gets one text of all hooks.
#[derive(Debug, Clone, Default)]
struct ForModel {
    texts: Vec<String>,
    characters: usize,
}

impl Remarks {
    pub(crate) fn new(can_block: bool) -> Self {
        Self {
            can_block,
            context: ForModel::default(),
            feedback: ForModel::default(),
            has_explained: false,
        }
    }

    /// Returns the outcome with these remarks among the diagnostics of its results.
    pub(crate) fn added_to(&mut self, event: &HookEvent, outcome: &Outcome) -> Outcome {
        outcome
            .clone()
            .with_diagnostics(|result| self.of(event, result))
    }

    /// Returns the remarks on the next result.
    pub(crate) fn of(&mut self, event: &HookEvent, result: &HookResult) -> Vec<String> {
        let mut all = untested(event, result);
        all.extend(reach(result));
        all.extend(cut_reason(result));
        all.extend(self.cut_texts(result));
        all.extend(unintended(event, result).map(str::to_owned));
        all.extend(self.last_test(result));
        all.extend(self.explained(result).map(str::to_owned));
        all
    }

    /// Says which texts the model does not get whole.
    fn cut_texts(&mut self, result: &HookResult) -> Vec<String> {
        // A text with a limit of its own tool does not count.
        let output = result.output().filter(|output| !output.has_own_limit);
        let Some(output) = output.filter(|_| !result.hook.background()) else {
            return Vec::new();
        };
        let context = output.additional_context.as_deref();
        let feedback = output.feedback.as_deref();
        let cut = [
            context.and_then(|text| self.context.cut("context", text)),
            feedback.and_then(|text| self.feedback.cut("feedback", text)),
        ];
        cut.into_iter().flatten().collect()
    }

    /// Says what the exit code of the last command of a shell command means, if that has probably blocked.
    fn last_test(&self, result: &HookResult) -> Option<String> {
        let is_quiet = result.stdout.is_empty() && result.stderr.is_empty();
        let found_nothing = is_quiet && result.exit_code == 1 && !result.should_continue();
        let command = result.hook.command().to_string();
        let test = last_test(&command).filter(|_| found_nothing)?;
        Some(format!("hint: {}: {}", test.why(), test.help()))
    }

    /// Says once how to block, of a hook that may have meant to: it wrote text, and no answer.
    fn explained(&mut self, result: &HookResult) -> Option<&'static str> {
        let hook = &result.hook;
        let may_block = self.can_block && !hook.background() && hook.protocol_name() == "native";
        let is_text = result.output().is_none() && result.diagnostics().is_empty();
        let is_quiet = result.stdout.trim().is_empty() && result.stderr.trim().is_empty();
        if !may_block || !is_text || is_quiet || !result.started() || !result.success() {
            return None;
        }
        let words = "it wrote text and let the operation continue; to block, exit with 1";
        (!std::mem::replace(&mut self.has_explained, true)).then_some(words)
    }
}

impl ForModel {
    /// Adds a text, and says how much of it the model gets, if that is not all.
    fn cut(&mut self, what: &str, text: &str) -> Option<String> {
        if self.texts.iter().any(|known| known == text) {
            return None;
        }
        // A line break is between two texts.
        let before = self.characters + usize::from(!self.texts.is_empty());
        let length = text.chars().count();
        self.characters = before + length;
        self.texts.push(text.to_owned());
        let kept = MODEL_TEXT_LIMIT.saturating_sub(before);
        (kept < length).then(|| cut_words(what, length, kept))
    }
}

fn cut_words(what: &str, length: usize, kept: usize) -> String {
    format!(
        "of the {length} characters of its {what}, the model gets {kept}: the limit is {MODEL_TEXT_LIMIT}"
    )
}

/// Says that the model does not get the whole reason.
fn cut_reason(result: &HookResult) -> Option<String> {
    let reason = result.reason().filter(|_| !result.should_continue())?;
    let length = reason.chars().count();
    (length > MODEL_TEXT_LIMIT).then(|| cut_words("reason", length, MODEL_TEXT_LIMIT))
}

/// Names the conditions that could not be tested, of a hook that has run therefore.
fn untested(event: &HookEvent, result: &HookResult) -> Vec<String> {
    if !result.started() {
        return Vec::new();
    }
    let why = "the event has no text there, or a very long one";
    let untested = result.hook.untested_conditions(event).into_iter();
    let words =
        untested.map(|pointer| format!("the condition of `{pointer}` was not tested: {why}"));
    words.collect()
}

/// Says what a hook that failed can reach, if it is in a sandbox.
fn reach(result: &HookResult) -> Option<String> {
    let has_failed = result.started() && !result.success();
    let reach = result.hook.reach().filter(|_| has_failed)?;
    Some(format!("its sandbox: {reach}"))
}

fn unintended<'a>(event: &HookEvent, result: &HookResult) -> impl Iterator<Item = &'a str> {
    let output = result.output();
    let replaces = output.is_some_and(|output| output.updated_output.is_some());
    let probable = [
        (
            result.output_held_open(),
            "a process that it started still holds its output open",
        ),
        (
            replaces && event.event_type != EventType::ToolPostExecute,
            "`updatedOutput` has an effect only on `tool:post_execute`",
        ),
        (
            result.hook.background() && output.is_some(),
            "its answer decides nothing: it runs in the background",
        ),
        (
            result.hook.resident() && result.timed_out,
            "hint: a resident hook must flush its output after each answer",
        ),
    ];
    let probable = probable.into_iter().filter(|(is_it, _)| *is_it);
    probable.map(|(_, words)| words)
}
