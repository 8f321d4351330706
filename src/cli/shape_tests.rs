//! The shapes of the values that the library serializes itself, for the schemas: events, results, problems.
//!
//! The tests of the program compare these shapes with what it prints.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The event, as a hook receives it on its standard input.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Event {
    #[serde(rename = "type")]
    #[schemars(regex(pattern = r"^[a-z0-9_]+:[a-z0-9_]+$"))]
    kind: String,
    /// Seconds since 1970.
    timestamp: f64,
    data: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
}

/// The event, as a host gives it.
#[derive(JsonSchema)]
#[allow(dead_code)]
pub(crate) struct GivenEvent {
    /// The name, as in `tool:pre_execute`.
    #[serde(rename = "type")]
    kind: String,
    /// Seconds since 1970. Default: now.
    timestamp: Option<f64>,
    data: Option<Map<String, Value>>,
    tool_name: Option<String>,
    session_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Outcome {
    /// True if the operation may continue.
    allowed: bool,
    /// The joint decision of the hooks; null if none has decided.
    decision: Option<Decision>,
    /// The reason if `allowed` is false, and the question if the decision is `ask`.
    reason: Option<String>,
    /// Text for the model.
    context: Option<String>,
    /// After a tool, feedback for the model.
    feedback: Option<String>,
    /// After a tool: the output for the model in place of the tool's, masked by a hook or withheld; else null.
    updated_output: Option<Value>,
    /// True if a hook ends the turn.
    stop: bool,
    /// Lines for the user: messages of hooks, and hooks that failed without blocking.
    messages: Vec<String>,
    /// The results of the hooks that ran, in order.
    results: Vec<Result>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(dead_code)]
pub(crate) enum Decision {
    Allow,
    Ask,
    Block,
}

/// The result of a hook.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Result {
    /// The hook as an entry of hooks.json, see hooks.schema.json.
    hook: Map<String, Value>,
    /// The file that contains the hook, and the line; null for a hook of the host.
    #[serde(rename = "where")]
    place: Option<String>,
    /// The exit code; 128 + n if signal n ended the hook; -1 if there is none.
    exit_code: i32,
    stdout: String,
    stderr: String,
    /// Seconds.
    #[schemars(range(min = 0))]
    duration: f64,
    timed_out: bool,
    /// The failure as text.
    error: Option<String>,
    /// The failure as a name, such as `exit` or `timed_out`; newer versions may add names.
    failure: Option<String>,
    /// The way in which a resident hook received the event, such as `kept` or `started`.
    residency: Option<String>,
    /// True if the hook ran to its end without a failure.
    success: bool,
    /// True if the host may continue.
    should_continue: bool,
    decision: Decision,
    /// The decision that would count if the hook were enforced; null if it is.
    would: Option<Decision>,
    /// The hook's answer; null if it gave none.
    output: Option<Output>,
    /// Notes for the hook's author: why its output is no answer, which keys are not applied, how much of a text the model
    /// does not get; hints, what its sandbox lets it reach, conditions that were not tested.
    diagnostics: Vec<String>,
    /// Variables that the hook has set for later commands of the session, as lines such as `export KEY=value`; null if it
    /// has set none.
    env_file: Option<String>,
}

/// The state of a hook: whether it runs on its events.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Enabled,
    /// Its entry has `"enabled": false`, or a variable disables all hooks.
    Disabled,
    /// The administrator's or the user's file lists its name.
    DisabledByName,
    NotApproved,
    /// It fails, and blocks, whatever its `on_failure`.
    ApprovalLost,
    /// It fails: its entry is invalid, its sandbox is not possible, or it would run itself.
    Unusable,
}

/// The answer of a hook, as the hook could write it: only the keys that are set. See docs/protocol.md.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[serde(deny_unknown_fields)]
pub(crate) struct Output {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Decision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#continue: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    only_stops: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces_input: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_output: Option<Value>,
}

/// A problem of a hooks file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Problem {
    severity: Severity,
    file: String,
    /// The index in the list `hooks`, counted from 0.
    index: Option<usize>,
    /// The path of the key, such as `hooks[2].timeout`.
    key: Option<String>,
    /// The line, counted from 1.
    line: Option<usize>,
    /// The column, in characters, counted from 1.
    column: Option<usize>,
    /// The line of the first character after the problem.
    end_line: Option<usize>,
    /// The column of the first character after the problem.
    end_column: Option<usize>,
    /// The offset of the problem in the file, in bytes.
    offset: Option<usize>,
    /// The offset of the first character after the problem, in bytes.
    end_offset: Option<usize>,
    message: String,
    expected: Option<String>,
    found: Option<String>,
    /// The name that was probably meant.
    suggestion: Option<String>,
    /// The step that fixes the problem.
    help: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(dead_code)]
enum Severity {
    Error,
    Warning,
}

/// The output of `forge-hooks check --json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "check")]
pub(crate) struct Check {
    /// The files that were read.
    files: Vec<String>,
    /// The number of usable hooks.
    loaded: usize,
    /// The number of hooks that can run now; 0 for files that are only checked.
    in_use: usize,
    /// The names of the hooks that the user's file disables.
    disabled: Vec<String>,
    /// The hooks of the project that are not approved.
    unapproved: Vec<String>,
    problems: Vec<Problem>,
}

/// A hook, and the files that an approval of it covers.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Covered {
    /// The hook as an entry of hooks.json.
    definition: Map<String, Value>,
    /// The SHA-256 of the entry.
    digest: String,
    label: String,
    /// The hook's file, relative to the project.
    source: String,
    /// Each file with the SHA-256 of its content; null for a path that is not covered.
    files: Vec<(String, Option<String>)>,
    /// The version of the rules by which these files were found: a number that changes with them.
    rules: u32,
}
