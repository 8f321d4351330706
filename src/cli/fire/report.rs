//! What happened, for programs: `schemas/fire.schema.json` describes it.

use crate::{FailureKind, HookEvent, HookResult, Outcome, Residency, SkipReason};
use serde_json::{Value, json};

pub(super) fn of(event: &HookEvent, outcome: &Outcome) -> Value {
    let results: Vec<_> = outcome.results().iter().map(result).collect();
    json!({
        "event": event,
        "allowed": outcome.allowed(),
        "reason": outcome.reason(),
        "results": results,
    })
}

pub(super) fn result(result: &HookResult) -> Value {
    json!({
        "hook": result.hook.to_json(),
        "exit_code": result.exit_code,
        "stdout": result.stdout,
        "stderr": result.stderr,
        "duration": result.duration.as_secs_f64(),
        "timed_out": result.timed_out,
        "error": result.error,
        "failure": result.failure.map(FailureKind::as_str),
        "skipped": result.skipped.map(SkipReason::as_str),
        "residency": result.residency.map(Residency::as_str),
        "success": result.success(),
        "should_continue": result.should_continue(),
        "decision": result.decision().as_str(),
        "output": result.output(),
    })
}
