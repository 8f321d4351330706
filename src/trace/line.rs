//! One line of a trace: the note that a hook's thread takes, and its JSON.
//!
//! Taking a note is cheap: it copies only the part of the hook's output that it may need, and shares the hook.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::events::{EventType, now};
use crate::hook::Hook;
use crate::outcome::{Decision, FailureKind, HookResult};
use crate::printable::printable_json;
use crate::redact::Redactor;
use crate::runner::HookRun;

/// The most bytes of a text in a line.
pub(super) const LONGEST_TEXT: usize = 4 * 1024;
pub(super) const LONGEST_REASON: usize = 1024;

/// The most bytes of a text that are searched for secrets before it is cut to its final length, so that no secret is
/// cut in two and partly shown.
const LONGEST_SEARCHED: usize = 8 * 1024;

/// A record of the run of a hook.
pub(super) struct Note {
    /// The seconds since 1970.
    time: f64,
    event: EventType,
    tool: Option<String>,
    session: Option<String>,
    hook: Arc<Hook>,
    queued: Duration,
    /// The fields that describe the end of the hook.
    ended: Vec<Field>,
    reason: Option<String>,
    /// True if the hook blocked, failed, asked or did not run.
    pub(super) matters: bool,
}

/// A field of a line. A `null` is left out.
type Field = (&'static str, Value);

impl Note {
    pub(super) fn of_result(run: &HookRun, result: &HookResult) -> Self {
        let goes_on = !result.stops_others(run.can_block);
        let is_cut = result.truncated() || result.output_held_open();
        let ended = vec![
            ("duration", seconds(result.duration()).into()),
            ("pid", result.pid().into()),
            ("exit_code", result.exit_code().into()),
            ("signal", result.signal().into()),
            ("failure", result.failure().map(FailureKind::as_str).into()),
            ("decision", result.decision().as_str().into()),
            ("would", result.would().map(Decision::as_str).into()),
            ("can_block", run.can_block.into()),
            ("should_continue", goes_on.into()),
            ("resident", result.residency().into()),
            ("cut", is_cut.then_some(true).into()),
        ];
        Self {
            matters: !result.success(),
            ..Self::new(run, ended, result.reason())
        }
    }

    pub(super) fn of_drop(run: &HookRun, reason: &str) -> Self {
        Self::new(run, vec![("dropped", reason.into())], None)
    }

    fn new(run: &HookRun, ended: Vec<Field>, reason: Option<&str>) -> Self {
        let text = |text: Option<&str>| text.map(|text| within(text, LONGEST_SEARCHED).to_owned());
        Self {
            time: now(),
            event: run.event.event_type.clone(),
            tool: text(run.event.tool_name.as_deref()),
            session: text(run.event.session_id.as_deref()),
            hook: Arc::clone(&run.hook),
            queued: run.queued,
            ended,
            reason: text(reason),
            matters: true,
        }
    }

    /// Returns the line with its line break.
    pub(super) fn into_line(self, host_pid: u32, redactor: &Redactor) -> String {
        let hook = &*self.hook;
        let cut_to = |text: &str, longest| text_of_hook(text, longest, hook, redactor);
        let text = |text: &str| Value::from(cut_to(text, LONGEST_TEXT));
        let source = hook.source().map(ToString::to_string);
        let reason = self.reason.as_deref();
        // The fields are in the order in which people look for them.
        let mut fields = vec![
            ("time", self.time.into()),
            ("event", text(self.event.as_str())),
            ("tool", self.tool.as_deref().map(text).into()),
            ("session", self.session.as_deref().map(text).into()),
            ("hook", text(hook.label())),
            ("pattern", text(hook.event_pattern())),
            ("command", text(&hook.command())),
            ("source", source.as_deref().map(text).into()),
            ("background", hook.background().then_some(true).into()),
            ("may", hook.may_in_words().into()),
            ("sandbox", hook.reach().as_deref().map(text).into()),
            ("host_pid", host_pid.into()),
            ("queued", seconds(self.queued).into()),
        ];
        fields.extend(self.ended);
        let reason = reason.map(|reason| cut_to(reason, LONGEST_REASON));
        fields.push(("reason", reason.into()));
        json_line(&fields)
    }
}

/// Returns a text for the file, cut and with the secrets of its hook masked. Every text of a hook goes through this function.
pub(super) fn text_of_hook(text: &str, longest: usize, hook: &Hook, redactor: &Redactor) -> String {
    let searched = without_half_a_value(within(text, LONGEST_SEARCHED), hook);
    let is_less = searched.len() < text.len();
    let kept = cut(hook.masked(redactor, searched).into_owned(), longest);
    if is_less && !kept.ends_with(CUT) {
        kept + CUT
    } else {
        kept
    }
}

/// Returns the line that replaces lost lines.
pub(super) fn gap(lost: u64, host_pid: u32) -> String {
    json_line(&[
        ("time", now().into()),
        ("host_pid", host_pid.into()),
        ("lost", lost.into()),
    ])
}

pub(super) fn json_line(fields: &[Field]) -> String {
    let fields: Vec<String> = fields
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    let json = format!("{{{}}}", fields.join(","));
    printable_json(&json) + "\n"
}

pub(super) fn within(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

/// Removes a value of the hook's `env` that may be cut at the end of the text. The redactor finds only whole
/// values, and not even the beginning of a value may be shown.
fn without_half_a_value<'a>(text: &'a str, hook: &Hook) -> &'a str {
    // A character has at most four bytes, so a shorter text was not cut.
    if text.len() + 4 <= LONGEST_SEARCHED {
        return text;
    }
    let begun = |value: &String| {
        let value = value.trim().as_bytes();
        let longest = value.len().min(text.len());
        let is_end = |length: &usize| text.as_bytes().ends_with(&value[..*length]);
        (1..=longest).rev().find(is_end).unwrap_or_default()
    };
    let half = hook.env().values().map(begun).max().unwrap_or_default();
    &text[..text.len() - half]
}

const CUT: &str = "…";

fn cut(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    within(&text, most - CUT.len()).to_owned() + CUT
}

/// Returns the duration in seconds, rounded to microseconds.
fn seconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e6
}
