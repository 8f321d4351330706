//! The hooks that failed without blocking, as text for the host's user.
//!
//! Does not know why a hook failed: the result contains the reason.

use std::fmt;

use super::{HookResult, MODEL_TEXT_LIMIT, Outcome};
use crate::entry::FailureKind;
use crate::events::{EventKind, EventType};
use crate::printable::printable;

/// The hooks that failed and did not block. Also hooks that were probably intended to block and did not (for example, they
/// wrote an object such as `{"block": true}`, which is not an answer), hooks whose answer had an effect that they
/// [may](crate::Hook::with_may) not have, and the user's own hooks whose script has changed since the load. See
/// [`Outcome::failures`].
///
/// `Display` writes a line for each reason, made [printable](crate::printable()): the hook's label and the first line of its
/// reason, in both of which secrets are masked as in a trace. If there are no failures, it writes nothing, so a host can
/// print it after each event: `eprint!("{}", outcome.failures())`.
#[derive(Debug, Clone)]
pub struct Failures<'a> {
    failed: Vec<Failed<'a>>,
}

#[derive(Debug, Clone)]
struct Failed<'a> {
    event: &'a EventType,
    result: &'a HookResult,
    warnings: &'a [String],
}

/// The most characters of a reason in a line.
const LONGEST_REASON: usize = 300;

impl<'a> Failures<'a> {
    pub(crate) fn of(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Self {
        let mut failed = Vec::new();
        for outcome in outcomes {
            // If nothing was blocked, no failure blocks, regardless of its effect on the hooks after it.
            let is_blocked = outcome.denied().is_some();
            for result in outcome.results() {
                let warnings = result.warnings(outcome.can_block());
                // An observed hook decides by its exit code, and only the decision that it would make is of interest.
                let is_observed =
                    result.would().is_some() && result.failure == Some(FailureKind::Exit);
                // A hook that the host has ended has not failed.
                let has_own_failure = result
                    .failure
                    .is_some_and(|failure| failure != FailureKind::Cancelled);
                let has_failed = has_own_failure && !is_observed;
                let is_reported = has_failed || !warnings.is_empty();
                if is_reported && (!is_blocked || result.should_continue()) {
                    failed.push(Failed {
                        event: outcome.event_type(),
                        result,
                        warnings,
                    });
                }
            }
        }
        Self { failed }
    }

    /// Returns the lines of one result that no caller waited for, so that it blocked nothing.
    pub(crate) fn unheard(event: &EventType, result: HookResult) -> String {
        let kind = EventKind {
            event_type: event.clone(),
            can_block: false,
        };
        let outcome = Outcome::of_none(kind, MODEL_TEXT_LIMIT).with_results(vec![result]);
        outcome.failures().to_string()
    }

    /// Returns whether no hook has failed in one of these ways.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.failed.is_empty()
    }

    /// Returns the results of these hooks, in order.
    pub fn iter(&self) -> impl Iterator<Item = &'a HookResult> {
        self.failed.iter().map(|failed| failed.result)
    }
}

impl fmt::Display for Failures<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Failed {
            event,
            result,
            warnings,
        } in &self.failed
        {
            let label = result.hook.shown_label();
            for warning in *warnings {
                let warning = printable(&first_line(warning));
                writeln!(f, "hook `{label}` on `{event}`: {warning}")?;
            }
            if result.failure.is_some() {
                // The output of an observed hook is not shown.
                let reason = match result.would() {
                    Some(_) => result.error.as_deref(),
                    None => result.reason(),
                };
                let reason = first_line(reason.unwrap_or("no reason given"));
                let reason = printable(&reason);
                writeln!(f, "hook `{label}` failed on `{event}`: {reason}")?;
            }
        }
        Ok(())
    }
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
