//! Results in JSON, for other programs: the shapes of `schemas/fire.schema.json`.
//!
//! Knows the names of keys, not how an answer is read.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::{HookBlockedError, HookResult, Outcome};

#[derive(Serialize)]
struct Whole<'a> {
    allowed: bool,
    reason: Option<&'a str>,
    results: &'a [HookResult],
}

/// Serializes as `forge-hooks fire --json` prints it, without the event, which an outcome does not
/// contain.
impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let whole = Whole {
            allowed: self.allowed(),
            reason: self.reason(),
            results: self.results(),
        };
        whole.serialize(serializer)
    }
}

/// Serializes as the blocked outcome, or as an outcome of one result if the error was made from a
/// result.
impl Serialize for HookBlockedError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let alone = std::slice::from_ref(&*self.result);
        let whole = Whole {
            allowed: false,
            reason: self.result.reason(),
            results: self.outcome().map_or(alone, Outcome::results),
        };
        whole.serialize(serializer)
    }
}

/// Serializes as in `forge-hooks fire --json`, with everything that the hook wrote, which may
/// contain secrets.
impl Serialize for HookResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("HookResult", 14)?;
        fields.serialize_field("hook", &*self.hook)?;
        fields.serialize_field("exit_code", &self.exit_code)?;
        fields.serialize_field("stdout", &self.stdout)?;
        fields.serialize_field("stderr", &self.stderr)?;
        fields.serialize_field("duration", &self.duration.as_secs_f64())?;
        fields.serialize_field("timed_out", &self.timed_out)?;
        fields.serialize_field("error", &self.error)?;
        fields.serialize_field("failure", &self.failure)?;
        fields.serialize_field("skipped", &self.skipped)?;
        fields.serialize_field("residency", &self.residency)?;
        fields.serialize_field("success", &self.success())?;
        fields.serialize_field("should_continue", &self.should_continue())?;
        fields.serialize_field("decision", &self.decision())?;
        fields.serialize_field("output", &self.output())?;
        fields.end()
    }
}
