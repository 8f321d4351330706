//! Remarks on probable mistakes of a hook's author, beyond those that the engine reports: for people, and in JSON among the
//! `diagnostics`.
//!
//! Reads results, and decides nothing.

use crate::lint::last_test;
use crate::outcome::MODEL_TEXT_LIMIT;
use crate::{EventType, HookEvent, HookResult, Redactor};

/// The remarks on the hooks of an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Remarks {
    can_block: bool,
}

impl Remarks {
    pub(crate) fn new(can_block: bool) -> Self {
        Self { can_block }
    }

    /// Adds these remarks to the diagnostics of the results.
    pub(crate) fn add_to(self, event: &HookEvent, results: &mut [HookResult]) {
        for result in results {
            for remark in self.of(event, result) {
                result.add_diagnostic(remark);
            }
        }
    }

    /// Returns the remarks on a result.
    pub(crate) fn of(self, event: &HookEvent, result: &HookResult) -> Vec<String> {
        let mut all = Vec::from_iter(untested(result));
        all.extend(met(result));
        all.extend(reach(result));
        all.extend(cut_texts(result));
        all.extend(unintended(event, result).map(str::to_owned));
        all.extend(last_test_of(result));
        all.extend(self.explained(result).map(str::to_owned));
        all
    }

    /// Says how to block, if a hook probably intended to: it wrote text, and no answer.
    fn explained(self, result: &HookResult) -> Option<&'static str> {
        let hook = &result.hook();
        let may_block = self.can_block && !hook.background() && hook.protocol_name() == "native";
        let is_text = result.output().is_none() && result.diagnostics().is_empty();
        let is_quiet = result.stdout().trim().is_empty() && result.stderr().trim().is_empty();
        let is_intended = may_block && is_text && !is_quiet;
        (is_intended && result.started() && result.success())
            .then_some("it wrote text and let the operation continue; to block, exit with 1")
    }
}

/// Notes the texts of a hook that are too long for the model.
fn cut_texts(result: &HookResult) -> Vec<String> {
    let output = result.output().filter(|_| !result.hook().background());
    let texts = [
        (
            "reason",
            result.reason().filter(|_| !result.should_continue()),
        ),
        (
            "context",
            output.and_then(|output| output.additional_context.as_deref()),
        ),
        (
            "feedback",
            output.and_then(|output| output.feedback.as_deref()),
        ),
    ];
    let cut = texts.into_iter().filter_map(|(what, text)| {
        let length = text?.chars().count();
        (length > MODEL_TEXT_LIMIT).then(|| {
            format!("of the {length} characters of its {what}, the model gets at most {MODEL_TEXT_LIMIT}")
        })
    });
    cut.collect()
}

/// Explains the exit code of the last command of a shell command, if that code has probably blocked.
fn last_test_of(result: &HookResult) -> Option<String> {
    let is_quiet = result.stdout().is_empty() && result.stderr().is_empty();
    let found_nothing = is_quiet && result.exit_code() == 1 && !result.should_continue();
    let command = result.hook().command();
    let test = last_test(&command).filter(|_| found_nothing)?;
    Some(format!("hint: {}: {}", test.why(), test.help()))
}

/// Names a condition of a hook that could not be tested, so that the hook ran. The reason of a block names it too.
fn untested(result: &HookResult) -> Option<String> {
    let has_run = result.started() || result.hook().answers();
    if !has_run || !result.should_continue() {
        return None;
    }
    result.hook().untested_note().map(masked)
}

/// Names the part of a command that met a hook's condition. It is the reason of a guard that gives none.
fn met(result: &HookResult) -> Option<String> {
    let note = result.hook().met_note().map(masked)?;
    (result.reason() != Some(&note)).then_some(note)
}

/// Returns a note that repeats a part of an event, without secrets.
fn masked(note: &str) -> String {
    Redactor::default().text(note).into_owned()
}

/// Describes the access of a failed hook, if it ran in a sandbox.
fn reach(result: &HookResult) -> Option<String> {
    let has_failed = result.started() && result.failure().is_some();
    let reach = result.hook().reach().filter(|_| has_failed)?;
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
            result.hook().background() && output.is_some(),
            "its answer decides nothing: it runs in the background",
        ),
        (
            result.hook().resident() && result.timed_out(),
            "hint: a resident hook must flush its output after each answer",
        ),
    ];
    let probable = probable.into_iter().filter(|(applies, _)| *applies);
    probable.map(|(_, remark)| remark)
}
