//! One line of a trace: the note that a hook's thread takes, and its JSON.
//!
//! Taking a note is cheap: it copies only the part of the hook's output that it may need, and shares the hook.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::events::{EventType, now};
use crate::hook::Hook;
use crate::outcome::{Decision, FailureKind, HookResult, Residency, SkipReason};
use crate::printable::printable_json;
use crate::runner::{DropReason, HookRun};

/// The most bytes of a text in a line.
const LONGEST_TEXT: usize = 4 * 1024;
const LONGEST_REASON: usize = 1024;

/// How much of a text is searched for secrets before it is cut to its final length, so that no secret is cut
/// in two and partly shown.
const LONGEST_SOUGHT: usize = 8 * 1024;

/// A record of what happened to a hook.
pub(super) struct Note {
    /// In seconds since 1970.
    time: f64,
    event: EventType,
    tool: Option<String>,
    session: Option<String>,
    hook: Arc<Hook>,
    queued: Duration,
    what: What,
}

#[derive(Serialize)]
#[serde(untagged)]
enum What {
    Ran(Ran),
    Dropped { dropped: &'static str },
}

#[derive(Serialize)]
struct Ran {
    duration: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    exit_code: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<&'static str>,
    decision: &'static str,
    can_block: bool,
    should_continue: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resident: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
}

/// The fields in the order in which people look for them.
#[derive(Serialize)]
struct Line<'a> {
    time: f64,
    event: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    hook: String,
    pattern: String,
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    background: bool,
    host_pid: u32,
    queued: f64,
    #[serde(flatten)]
    what: &'a What,
}

#[derive(Serialize)]
struct Gap {
    time: f64,
    host_pid: u32,
    lost: u64,
}

impl Note {
    pub(super) fn of_result(run: &HookRun<'_>, result: &HookResult) -> Self {
        let reason = result.reason();
        let reason = reason.or_else(|| result.skipped.and(result.error.as_deref()));
        let ran = Ran {
            duration: seconds(result.duration),
            pid: result.pid,
            exit_code: result.exit_code,
            signal: result.signal,
            failure: result.failure.map(FailureKind::as_str),
            skipped: result.skipped.map(SkipReason::as_str),
            // A background hook cannot decide.
            decision: match result.hook.background() {
                true => Decision::Allow.as_str(),
                false => result.decision().as_str(),
            },
            can_block: run.can_block,
            should_continue: result.should_continue(),
            reason: reason.map(|reason| within(reason, LONGEST_SOUGHT).to_owned()),
            resident: result.residency.map(Residency::as_str),
            cut: result.truncated || result.output_held_open,
        };
        Self::new(run, What::Ran(ran))
    }

    pub(super) fn of_drop(run: &HookRun<'_>, reason: DropReason) -> Self {
        let dropped = reason.as_str();
        Self::new(run, What::Dropped { dropped })
    }

    fn new(run: &HookRun<'_>, what: What) -> Self {
        let text = |text: &Option<String>| {
            let text = text.as_deref();
            text.map(|text| within(text, LONGEST_SOUGHT).to_owned())
        };
        Self {
            time: now(),
            event: run.event.event_type.clone(),
            tool: text(&run.event.tool_name),
            session: text(&run.event.session_id),
            hook: Arc::clone(run.hook),
            queued: run.queued,
            what,
        }
    }

    /// Returns the line with its line break. `shown` masks every text.
    pub(super) fn into_line(self, host_pid: u32, shown: impl Fn(&Hook, &str) -> String) -> String {
        let Self { hook, mut what, .. } = self;
        let text = |text: &str, longest| {
            let sought = without_half_a_value(within(text, LONGEST_SOUGHT), &hook);
            let is_less = sought.len() < text.len();
            let shown = cut(shown(&hook, sought), longest);
            if is_less && !shown.ends_with(CUT) {
                shown + CUT
            } else {
                shown
            }
        };
        if let What::Ran(ran) = &mut what {
            ran.reason = ran
                .reason
                .take()
                .map(|reason| text(&reason, LONGEST_REASON));
        }
        let text = |words: &str| text(words, LONGEST_TEXT);
        json_line(&Line {
            time: self.time,
            event: text(self.event.as_str()),
            tool: self.tool.as_deref().map(text),
            session: self.session.as_deref().map(text),
            hook: text(hook.label()),
            pattern: text(hook.event_pattern()),
            command: text(&hook.command().to_string()),
            source: hook.source().map(|source| text(&source.to_string())),
            background: hook.background(),
            host_pid,
            queued: seconds(self.queued),
            what: &what,
        })
    }
}

/// Returns the line that replaces lost lines.
pub(super) fn gap(lost: u64, host_pid: u32) -> String {
    json_line(&Gap {
        time: now(),
        host_pid,
        lost,
    })
}

fn json_line(content: &impl Serialize) -> String {
    // All of these values can be serialized; otherwise the line would be lost.
    let json = serde_json::to_string(content).unwrap_or_default();
    printable_json(&json) + "\n"
}

fn within(text: &str, most: usize) -> &str {
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
    if text.len() + 4 <= LONGEST_SOUGHT {
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

/// The duration in seconds, rounded to microseconds.
fn seconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e6
}
