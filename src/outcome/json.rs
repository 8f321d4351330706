//! Results in JSON, for other programs: the shapes of `schemas/fire.schema.json`.
//!
//! Knows the names of keys. Does not know how an answer is read.

use std::borrow::Cow;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{
    Failures, HookBlockedError, HookResult, Outcome, for_model, joined, texts, without_duplicates,
};
use crate::entry::Decision;
use crate::printable::printable;

#[derive(Serialize)]
struct Whole<'a> {
    allowed: bool,
    decision: Option<Decision>,
    reason: Option<Cow<'a, str>>,
    context: Option<String>,
    feedback: Option<String>,
    updated_output: Option<Value>,
    stop: bool,
    /// Lines for the user, made printable.
    messages: Vec<String>,
    results: &'a [HookResult],
}

impl<'a> Whole<'a> {
    fn of(outcome: &'a Outcome) -> Self {
        Self::after(None, outcome)
    }

    /// Creates the value of an outcome. The texts and the question of `first`, the outcome of the event before hooks changed
    /// it, count too: a hook may give them only once.
    fn after(first: Option<&'a Outcome>, outcome: &'a Outcome) -> Self {
        let both = || first.into_iter().chain([outcome]);
        let mut last_first = [outcome].into_iter().chain(first);
        let decides = last_first.find(|outcome| outcome.asks().is_some());
        let decides = decides.filter(|_| outcome.denied().is_none());
        let decides = decides.unwrap_or(outcome);
        Self {
            allowed: decides.allowed(),
            decision: decides.decision(),
            reason: decides.reason().map(Cow::Borrowed),
            context: joined(both(), |output| output.additional_context.as_deref()),
            feedback: joined(both(), |output| output.feedback.as_deref()),
            updated_output: outcome.updated_output(),
            stop: outcome.stops_turn(),
            messages: messages(both()),
            results: outcome.results(),
        }
    }

    /// Creates the value of a result whose outcome is not known.
    fn blocked_by(result: &'a HookResult) -> Self {
        Self {
            allowed: false,
            decision: Some(Decision::Block),
            reason: result.reason().map(for_model),
            context: None,
            feedback: None,
            updated_output: None,
            stop: false,
            messages: Vec::new(),
            results: std::slice::from_ref(result),
        }
    }
}

/// Returns the messages of hooks and the failures, without duplicates, in lines.
fn messages<'a>(outcomes: impl Iterator<Item = &'a Outcome> + Clone) -> Vec<String> {
    let of_hooks = texts(outcomes.clone(), |output| output.system_message.as_deref()).into_iter();
    let mut lines: Vec<_> = of_hooks.flat_map(str::lines).map(printable).collect();
    let failures = Failures::of(outcomes).to_string();
    let failures = without_duplicates(failures.lines());
    lines.extend(failures.into_iter().map(str::to_owned));
    lines
}

/// The outcome of an event before hooks have changed it.
#[cfg(feature = "cli")]
pub(crate) struct First {
    pub(crate) outcome: Outcome,
    /// The outcome of the changed event.
    pub(crate) again: Option<Outcome>,
}

/// Serializes as the outcome, which is allowed only if the changed event is: a program that reads no further must not
/// continue.
#[cfg(feature = "cli")]
impl Serialize for First {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut whole = Whole::of(&self.outcome);
        if let Some(again) = &self.again {
            whole.allowed &= again.allowed();
            whole.reason = whole.reason.or(again.reason().map(Cow::Borrowed));
        }
        whole.serialize(serializer)
    }
}

/// The outcome of a changed event, after that of the original one.
#[cfg(feature = "cli")]
pub(crate) struct Again {
    pub(crate) first: Outcome,
    pub(crate) last: Outcome,
}

/// Serializes as the last outcome, with the messages and the context of both, and a question of the first.
#[cfg(feature = "cli")]
impl Serialize for Again {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Whole::after(Some(&self.first), &self.last).serialize(serializer)
    }
}

/// Serializes as `forge-hooks fire --json` prints it, without the event, which an outcome does not
/// contain.
impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Whole::of(self).serialize(serializer)
    }
}

/// Serializes as the blocked outcome, or as an outcome of one result if the error was made from a
/// result.
impl Serialize for HookBlockedError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let whole = match self.outcome() {
            Some(outcome) => Whole::of(outcome),
            None => Whole::blocked_by(&self.result),
        };
        whole.serialize(serializer)
    }
}

/// Serializes as in `forge-hooks fire --json`, with the whole output of the hook, which may contain secrets.
impl Serialize for HookResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("HookResult", 17)?;
        fields.serialize_field("hook", &*self.hook)?;
        let place = self.hook.source().map(ToString::to_string);
        fields.serialize_field("where", &place)?;
        fields.serialize_field("exit_code", &self.exit_code)?;
        fields.serialize_field("stdout", &self.stdout)?;
        fields.serialize_field("stderr", &self.stderr)?;
        fields.serialize_field("duration", &self.duration.as_secs_f64())?;
        fields.serialize_field("timed_out", &self.timed_out)?;
        fields.serialize_field("error", &self.error)?;
        fields.serialize_field("failure", &self.failure)?;
        fields.serialize_field("residency", &self.residency())?;
        fields.serialize_field("success", &self.success())?;
        fields.serialize_field("should_continue", &self.should_continue())?;
        fields.serialize_field("decision", &self.decision())?;
        fields.serialize_field("would", &self.would())?;
        fields.serialize_field("output", &self.output())?;
        fields.serialize_field("diagnostics", self.diagnostics())?;
        let variables = self
            .env_file()
            .map(|file| String::from_utf8_lossy(file.bytes()));
        fields.serialize_field("env_file", &variables)?;
        fields.end()
    }
}
