//! What happened: the kind of an event, and the event itself with what it carries.
//!
//! Does no I/O, and does not know how an event reaches a hook: see `protocol`.

mod agent;
mod context;
mod depth;
mod event_type;
mod spec;
mod vocabulary;

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

pub use context::HostContext;
pub(crate) use depth::{DEEPEST_DATA, bounded_copy, drop_values};
pub use event_type::{CustomEventType, EventType, EventTypeError};
pub use spec::EventSpec;
pub use vocabulary::Vocabulary;

/// One thing that happened in the host, with what hooks are told about it.
///
/// Made with a factory such as [`HookEvent::tool_pre_execute`], or with [`HookEvent::new`] and the
/// `with_` methods. As JSON it is `{"type", "timestamp", "data", "tool_name", "session_id"}`, the
/// last two only where they are set; to read one, `type` is enough.
///
/// ```
/// use forge_hooks::HookEvent;
/// use serde_json::json;
///
/// let event = HookEvent::tool_pre_execute("bash", json!({"command": "ls"}))
///     .with_session_id("sess_123");
/// assert_eq!(event.data["tool_args"]["command"], "ls");
/// assert_eq!(event.to_env()["FORGE_TOOL_NAME"], "bash");
/// ```
///
/// `Debug` shows the names of the data, never their values: they may hold secrets.
///
/// Hooks are given values of up to 128 levels of arrays and objects within each other. Where one is
/// deeper, the event's hooks fail as [`EventTooLarge`](crate::FailureKind::EventTooLarge). To drop,
/// clone, compare or serialize such an event recurses once a level, as with a
/// [`serde_json::Value`]; the executor does none of these with one that it was given.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HookEvent {
    /// What happened.
    #[serde(rename = "type")]
    pub event_type: EventType,
    /// When, in seconds since 1970-01-01 00:00 UTC, to the microsecond.
    #[serde(default = "now", deserialize_with = "timestamp_or_now")]
    pub timestamp: f64,
    /// What hooks are told besides; each key is an environment variable of theirs.
    #[serde(default, deserialize_with = "data_or_none")]
    pub data: Map<String, Value>,
    /// The tool concerned, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The session concerned, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Neither in the JSON nor among the variables.
    #[serde(skip)]
    context: Option<Arc<HostContext>>,
}

/// An event's name, and whether hooks may block it: for a custom one, the host's vocabulary says it.
#[derive(Debug, Clone)]
pub(crate) struct EventKind {
    pub(crate) event_type: EventType,
    pub(crate) can_block: bool,
}

fn now() -> f64 {
    // A clock before 1970 is a broken clock; 0 is the nearest time that can be told.
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    // Microseconds since 1970 stay below 2^53 until the year 2255, so the conversion is exact.
    #[allow(clippy::cast_precision_loss)]
    let micros = since.as_micros() as f64;
    micros / 1e6
}

/// `null` is what a timestamp that is no number becomes when it is written.
fn timestamp_or_now<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_else(now))
}

/// Other programs write `null` for what is not there.
fn data_or_none<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Map<String, Value>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl HookEvent {
    /// An event of this type, now, without data.
    #[must_use]
    pub fn new(event_type: EventType) -> Self {
        Self {
            event_type,
            timestamp: now(),
            data: Map::new(),
            tool_name: None,
            session_id: None,
            context: None,
        }
    }

    /// Adds a value to the data, in the place of one of the same key.
    #[must_use]
    pub fn with_data(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.data.insert(key.into(), value.into());
        self
    }

    /// Sets the tool concerned.
    #[must_use]
    pub fn with_tool_name(mut self, name: impl Into<String>) -> Self {
        self.tool_name = Some(name.into());
        self
    }

    /// Sets the session concerned.
    #[must_use]
    pub fn with_session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// The event as one line of JSON: what a hook reads on its standard input. What is nested deeper
    /// than 128 levels is `null`.
    #[must_use]
    pub fn to_json(&self) -> String {
        // The only way for this to fail is a map key that is no string, and `data` has none.
        match self.too_deep_key() {
            None => serde_json::to_string(self).unwrap_or_default(),
            Some(_) => serde_json::to_string(&self.cut_to_limit()).unwrap_or_default(),
        }
    }

    /// Before a tool runs.
    #[must_use]
    pub fn tool_pre_execute(tool: impl Into<String>, args: impl Into<Value>) -> Self {
        Self::of_tool(EventType::ToolPreExecute, tool).with_data("tool_args", args)
    }

    /// After a tool has run, with its result.
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

    /// A tool failed, with the message of its error.
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

    /// Before a request to a model, with the number of messages it holds.
    #[must_use]
    pub fn llm_pre_request(model: impl Into<String>, message_count: u64) -> Self {
        Self::of_model(EventType::LlmPreRequest, model).with_data("message_count", message_count)
    }

    /// After a model's response, with the tokens it took.
    #[must_use]
    pub fn llm_post_response(model: impl Into<String>, tokens: u64) -> Self {
        Self::of_model(EventType::LlmPostResponse, model).with_data("llm_tokens", tokens)
    }

    /// A response begins to stream.
    #[must_use]
    pub fn llm_stream_start(model: impl Into<String>) -> Self {
        Self::of_model(EventType::LlmStreamStart, model)
    }

    /// A streamed response has ended, with the tokens it took.
    #[must_use]
    pub fn llm_stream_end(model: impl Into<String>, tokens: u64) -> Self {
        Self::of_model(EventType::LlmStreamEnd, model).with_data("llm_tokens", tokens)
    }

    /// A session begins.
    #[must_use]
    pub fn session_start(id: impl Into<String>) -> Self {
        Self::new(EventType::SessionStart).with_session_id(id)
    }

    /// A session ends.
    #[must_use]
    pub fn session_end(id: impl Into<String>) -> Self {
        Self::new(EventType::SessionEnd).with_session_id(id)
    }

    /// A message is added to a session.
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

    /// A permission is checked: the tool that wants it, its level, and the rule that matched.
    #[must_use]
    pub fn permission_check(
        tool: impl Into<String>,
        level: impl Into<String>,
        rule: Option<&str>,
    ) -> Self {
        Self::of_permission(EventType::PermissionCheck, tool, level, rule)
    }

    /// The user is asked for a permission.
    #[must_use]
    pub fn permission_prompt(
        tool: impl Into<String>,
        level: impl Into<String>,
        rule: Option<&str>,
    ) -> Self {
        Self::of_permission(EventType::PermissionPrompt, tool, level, rule)
    }

    /// A permission was granted.
    #[must_use]
    pub fn permission_granted(
        tool: impl Into<String>,
        level: impl Into<String>,
        rule: Option<&str>,
    ) -> Self {
        Self::of_permission(EventType::PermissionGranted, tool, level, rule)
    }

    /// A permission was denied.
    #[must_use]
    pub fn permission_denied(
        tool: impl Into<String>,
        level: impl Into<String>,
        rule: Option<&str>,
    ) -> Self {
        Self::of_permission(EventType::PermissionDenied, tool, level, rule)
    }

    /// The user submits input.
    #[must_use]
    pub fn user_prompt_submit(content: impl Into<String>) -> Self {
        Self::new(EventType::UserPromptSubmit).with_data("content", content.into())
    }

    /// The user interrupts, as with Ctrl-C.
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
