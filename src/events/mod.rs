//! The kinds of events, and an event with its data.
//!
//! Does no I/O, and does not know how an event reaches a hook: see `protocol`.

mod agent;
mod changes;
mod context;
mod depth;
mod event_type;
mod meant;
mod spec;
mod table;
mod vocabulary;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

pub(crate) use changes::InputChange;
pub use context::HostContext;
use depth::bounded;
pub(crate) use depth::{DEEPEST_DATA, is_deeper};
pub use event_type::{CustomEventType, EventType};
pub(crate) use event_type::{LIKE_AN_EVENT, built_in, nearest, unknown};
pub(crate) use meant::{meant_by, named_elsewhere};
pub use spec::EventSpec;
pub(crate) use table::{AGENT, AGENT_ID, AGENT_TYPE, OF_ANY_EVENT, known_data_keys, never_text};
pub(crate) use vocabulary::Vocabulary;

/// One event in the host, with the data that its hooks receive.
///
/// Created by a factory such as [`HookEvent::tool_pre_execute`], or by [`HookEvent::new`] and the `with_`
/// methods. Its JSON is `{"type", "timestamp", "data", "tool_name", "session_id"}`, the last two only if they
/// are set. A JSON text that is read needs only `type`.
///
/// ```
/// use forge_hooks::HookEvent;
/// use serde_json::json;
///
/// let event = HookEvent::tool_pre_execute("bash", json!({"command": "ls"}))
///     .with_session_id("sess_123");
/// assert_eq!(event.data()["tool_args"]["command"], "ls");
/// assert_eq!(event.to_env()["FORGE_TOOL_NAME"], "bash");
/// ```
///
/// `Debug` shows the keys of the data, never the values: they may hold secrets.
///
/// A hook can receive values of up to 128 levels of nested arrays and objects. A value that is deeper is `null` in the event,
/// whose hooks fail with [`EventTooLarge`](crate::FailureKind::EventTooLarge).
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HookEvent {
    /// The kind of the event.
    #[serde(rename = "type")]
    pub event_type: EventType,
    /// The time, in seconds since 1970-01-01 00:00 UTC, with a precision of a microsecond.
    #[serde(default = "now", deserialize_with = "timestamp_or_now")]
    pub timestamp: f64,
    /// No value is nested too deep.
    #[serde(default, deserialize_with = "data_or_none")]
    pub(crate) data: Map<String, Value>,
    /// The tool of the event, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The session of the event, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Values that are neither part of the JSON nor variables.
    #[serde(skip)]
    context: Option<Arc<HostContext>>,
    /// The keys of values that were nested too deep.
    #[serde(skip)]
    too_deep: BTreeSet<String>,
    /// True if its path may be a directory, although its tool is one for a file: the call is one of an unknown tool.
    #[serde(skip)]
    pub(crate) may_be_directory: bool,
}

/// An event's name, and whether hooks can block it. For a custom event, the host's vocabulary decides.
#[derive(Debug, Clone)]
pub(crate) struct EventKind {
    pub(crate) event_type: EventType,
    pub(crate) can_block: bool,
}

/// Returns the seconds since 1970, in microseconds.
pub(crate) fn now() -> f64 {
    // A clock before 1970 is wrong. 0 is the nearest time that can be shown.
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    // Microseconds since 1970 stay below 2^53 until the year 2255, so the conversion is exact.
    #[allow(clippy::cast_precision_loss)]
    let micros = since.as_micros() as f64;
    micros / 1e6
}

/// Reads a timestamp. `null`, which stands for a number that is not finite, counts as missing.
fn timestamp_or_now<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_else(now))
}

/// Reads the data. `null` counts as no data, since other programs write it for missing data. A value that is nested too deep is
/// an error.
fn data_or_none<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Map<String, Value>, D::Error> {
    let data: Map<String, Value> = Option::deserialize(deserializer)?.unwrap_or_default();
    for (key, value) in &data {
        if is_deeper(value, DEEPEST_DATA) {
            let why = format!("`{key}` is nested deeper than {DEEPEST_DATA} levels");
            return Err(serde::de::Error::custom(why));
        }
    }
    Ok(data)
}

impl HookEvent {
    /// Creates an event of this kind, with the current time and without data.
    #[must_use]
    pub fn new(event_type: EventType) -> Self {
        Self {
            event_type,
            timestamp: now(),
            data: Map::new(),
            tool_name: None,
            session_id: None,
            context: None,
            too_deep: BTreeSet::new(),
            may_be_directory: false,
        }
    }

    /// Returns the data that hooks receive, as JSON and in environment variables. Some keys have no variable: see [the
    /// environment](crate::docs::protocol#the-environment).
    #[must_use]
    pub fn data(&self) -> &Map<String, Value> {
        &self.data
    }

    /// Adds a value to the data. Replaces the value of the same key. If the value is nested deeper than 128 levels, the hooks of
    /// the event fail.
    #[must_use]
    pub fn with_data(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let key = key.into();
        let value = bounded(value.into());
        if value.is_none() {
            self.too_deep.insert(key.clone());
        } else {
            self.too_deep.remove(&key);
        }
        self.data.insert(key, value.unwrap_or_default());
        self
    }

    /// Adds a copy of a value, as [`with_data`](Self::with_data) does.
    pub(crate) fn with_copy(mut self, key: &str, value: &Value) -> Self {
        if is_deeper(value, DEEPEST_DATA) {
            self.too_deep.insert(key.to_owned());
            return self;
        }
        self.with_data(key, value.clone())
    }

    /// Returns the keys of values that were nested too deep.
    pub(crate) fn too_deep(&self) -> impl Iterator<Item = &str> {
        self.too_deep.iter().map(String::as_str)
    }

    /// Sets the tool of the event.
    #[must_use]
    pub fn with_tool_name(mut self, name: impl Into<String>) -> Self {
        self.tool_name = Some(name.into());
        self
    }

    /// Sets the session of the event.
    #[must_use]
    pub fn with_session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Returns the event as one line of JSON, as a hook reads it from its standard input.
    #[must_use]
    pub fn to_json(&self) -> String {
        // This can only fail for a map key that is not a string, and `data` has none.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Creates `tool:pre_execute`: a tool is about to run.
    #[must_use]
    pub fn tool_pre_execute(tool: impl Into<String>, args: impl Into<Value>) -> Self {
        Self::of_tool(EventType::ToolPreExecute, tool).with_data("tool_args", args)
    }

    /// Creates `tool:post_execute`: a tool has run, with its result.
    #[must_use]
    pub fn tool_post_execute(
        tool: impl Into<String>,
        args: impl Into<Value>,
        result: impl Into<Value>,
    ) -> Self {
        Self::of_tool(EventType::ToolPostExecute, tool)
            .with_data("tool_args", args)
            .with_data("tool_result", result)
    }

    /// Creates `tool:error`: a tool failed, with the message of its error.
    #[must_use]
    pub fn tool_error(
        tool: impl Into<String>,
        args: impl Into<Value>,
        error: impl Into<String>,
    ) -> Self {
        Self::of_tool(EventType::ToolError, tool)
            .with_data("tool_args", args)
            .with_data("error", error.into())
    }

    /// Creates `llm:pre_request`: a request to a model follows, with the number of its messages.
    #[must_use]
    pub fn llm_pre_request(model: impl Into<String>, message_count: u64) -> Self {
        Self::of_model(EventType::LlmPreRequest, model).with_data("message_count", message_count)
    }

    /// Creates `llm:post_response`: a model has answered, with the number of tokens.
    #[must_use]
    pub fn llm_post_response(model: impl Into<String>, tokens: u64) -> Self {
        Self::of_model(EventType::LlmPostResponse, model).with_data("llm_tokens", tokens)
    }

    /// Creates `llm:stream_start`: a response begins to stream.
    #[must_use]
    pub fn llm_stream_start(model: impl Into<String>) -> Self {
        Self::of_model(EventType::LlmStreamStart, model)
    }

    /// Creates `llm:stream_end`: a streamed response has ended, with the number of tokens.
    #[must_use]
    pub fn llm_stream_end(model: impl Into<String>, tokens: u64) -> Self {
        Self::of_model(EventType::LlmStreamEnd, model).with_data("llm_tokens", tokens)
    }

    /// Creates `session:start`: a session begins.
    #[must_use]
    pub fn session_start(id: impl Into<String>) -> Self {
        Self::new(EventType::SessionStart).with_session_id(id)
    }

    /// Creates `session:end`: a session ends.
    #[must_use]
    pub fn session_end(id: impl Into<String>) -> Self {
        Self::new(EventType::SessionEnd).with_session_id(id)
    }

    /// Creates `session:message`: a message is added to a session.
    #[must_use]
    pub fn session_message(
        id: impl Into<String>,
        role: impl Into<String>,
        content: impl Into<String>,
    ) -> Self {
        Self::new(EventType::SessionMessage)
            .with_session_id(id)
            .with_data("role", role.into())
            .with_data("content", content.into())
    }

    /// Creates `permission:check`: a permission is checked, with the tool that needs it, its level, and the
    /// rule that matched.
    #[must_use]
    pub fn permission_check(
        tool: impl Into<String>,
        level: impl Into<String>,
        rule: Option<&str>,
    ) -> Self {
        Self::of_permission(EventType::PermissionCheck, tool, level, rule)
    }

    /// Creates `permission:prompt`: the user is asked for a permission.
    #[must_use]
    pub fn permission_prompt(
        tool: impl Into<String>,
        level: impl Into<String>,
        rule: Option<&str>,
    ) -> Self {
        Self::of_permission(EventType::PermissionPrompt, tool, level, rule)
    }

    /// Creates `permission:granted`: a permission was granted.
    #[must_use]
    pub fn permission_granted(
        tool: impl Into<String>,
        level: impl Into<String>,
        rule: Option<&str>,
    ) -> Self {
        Self::of_permission(EventType::PermissionGranted, tool, level, rule)
    }

    /// Creates `permission:denied`: a permission was denied.
    #[must_use]
    pub fn permission_denied(
        tool: impl Into<String>,
        level: impl Into<String>,
        rule: Option<&str>,
    ) -> Self {
        Self::of_permission(EventType::PermissionDenied, tool, level, rule)
    }

    /// Creates `user:prompt_submit`: the user submits input.
    #[must_use]
    pub fn user_prompt_submit(content: impl Into<String>) -> Self {
        Self::new(EventType::UserPromptSubmit).with_data("content", content.into())
    }

    /// Creates `user:interrupt`: the user interrupts, as with Ctrl-C.
    #[must_use]
    pub fn user_interrupt() -> Self {
        Self::new(EventType::UserInterrupt)
    }

    fn of_tool(event_type: EventType, tool: impl Into<String>) -> Self {
        Self::new(event_type).with_tool_name(tool)
    }

    fn of_model(event_type: EventType, model: impl Into<String>) -> Self {
        Self::new(event_type).with_data("llm_model", model.into())
    }

    fn of_permission(
        event_type: EventType,
        tool: impl Into<String>,
        level: impl Into<String>,
        rule: Option<&str>,
    ) -> Self {
        let event = Self::of_tool(event_type, tool).with_data("perm_level", level.into());
        match rule {
            Some(rule) => event.with_data("perm_rule", rule),
            None => event,
        }
    }
}

impl fmt::Debug for HookEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookEvent")
            .field("event_type", &self.event_type)
            .field("timestamp", &self.timestamp)
            .field("data", &self.data.keys().collect::<Vec<_>>())
            .field("tool_name", &self.tool_name)
            .field("session_id", &self.session_id)
            .finish()
    }
}
