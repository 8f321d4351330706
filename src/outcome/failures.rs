//! The hooks that failed without blocking, as text for the host's user.
//!
//! Does not know why a hook failed: the result contains the reason.

use super::{HookResult, MODEL_TEXT_LIMIT, Outcome};
use crate::entry::FailureKind;
use crate::events::{EventKind, EventType};
use crate::printable::printable;

/// The most characters of a reason in a line.
const LONGEST_REASON: usize = 300;

/// Returns a line for each hook that failed and did not block, and for each other message about a hook.
pub(crate) fn failures_of<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Vec<String> {
    let mut lines = Vec::new();
    for outcome in outcomes {
        // If nothing was blocked, no failure blocks, regardless of its effect on the hooks after it.
        let is_blocked = outcome.denied().is_some();
        let results = outcome.results().iter();
        for result in results.filter(|result| !is_blocked || result.should_continue()) {
            add_failure(outcome, result, &mut lines);
        }
    }
    lines
}

fn add_failure(outcome: &Outcome, result: &HookResult, lines: &mut Vec<String>) {
    let (label, event) = (result.hook.shown_label(), outcome.event_type());
    for warning in result.warnings(outcome.can_block()) {
        let warning = printable(&first_line(warning));
        lines.push(format!("hook `{label}` on `{event}`: {warning}"));
    }
    // An observed hook decides by its exit code, and only the decision that it would make is of interest. A hook that the host
    // has ended has not failed.
    let has_failed = match result.failure {
        None | Some(FailureKind::Cancelled) => false,
        Some(FailureKind::Exit) => result.would().is_none(),
        Some(_) => true,
    };
    if has_failed {
        // The output of an observed hook is not shown.
        let reason = match result.would() {
            Some(_) => result.error.as_deref(),
            None => result.reason(),
        };
        let reason = printable(&first_line(reason.unwrap_or("no reason given")));
        lines.push(format!("hook `{label}` failed on `{event}`: {reason}"));
    }
}

/// Returns the lines of one result that no caller waited for, so that it blocked nothing.
pub(crate) fn unheard(event: &EventType, result: HookResult) -> Vec<String> {
    let kind = EventKind {
        event_type: event.clone(),
        can_block: false,
    };
    let outcome = Outcome::of_none(kind, MODEL_TEXT_LIMIT).with_results(vec![result]);
    outcome.failures()
}

fn first_line(text: &str) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    let mut start: String = line.chars().take(LONGEST_REASON).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}
