//! Results in JSON, for other programs, as docs/program.md describes them.
//!
//! Knows the names of keys. Does not know how an answer is read.

use std::borrow::Cow;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{HookBlockedError, HookResult, Outcome, for_model, without_duplicates};
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
        Self {
            allowed: outcome.allowed(),
            decision: outcome.decision(),
            reason: outcome.reason().map(Cow::Borrowed),
            context: outcome.additional_context(),
            feedback: outcome.feedback(),
            updated_output: outcome.updated_output(),
            stop: outcome.stops_turn(),
            messages: messages(outcome),
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

/// Returns the messages of hooks for the user, and the hooks that failed, in lines.
fn messages(outcome: &Outcome) -> Vec<String> {
    let of_hooks = outcome.system_messages().into_iter();
    let mut lines: Vec<_> = of_hooks.flat_map(str::lines).map(printable).collect();
    let failures = outcome.failures();
    let failures = without_duplicates(failures.iter().map(String::as_str));
    lines.extend(failures.into_iter().map(str::to_owned));
    lines
}

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
        fields.serialize_field("timed_out", &self.timed_out())?;
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
            .map(|(_, content)| String::from_utf8_lossy(content));
        fields.serialize_field("env_file", &variables)?;
        fields.end()
    }
}
