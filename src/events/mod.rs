//! The kinds of events, and an event with what it carries.
//!
//! Does no I/O, and does not know how an event reaches a hook: see `protocol`.

mod context;
mod depth;
mod event_type;
mod factories;
mod meant;
mod table;
mod vocabulary;

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

pub use context::HostContext;
pub(crate) use depth::{DEEPEST_DATA, bounded_copy};
pub use event_type::EventTypeError;
pub(crate) use meant::{LIKE_AN_EVENT, meant_by, nearest};
pub(crate) use table::data_keys;
pub use table::{CustomEventType, EventType};
pub use vocabulary::{EventSpec, Vocabulary};

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
/// assert_eq!(event.data["tool_args"]["command"], "ls");
/// assert_eq!(event.to_env()["FORGE_TOOL_NAME"], "bash");
/// ```
///
/// `Debug` shows the keys of the data, never the values: they may hold secrets.
///
/// A hook can receive values of up to 128 levels of nested arrays and objects. If a value is deeper, the
/// event's hooks fail with [`EventTooLarge`](crate::FailureKind::EventTooLarge). Dropping, cloning and comparing
/// such an event recurse once for each level, as with a [`serde_json::Value`]; no thread of the engine does so.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct HookEvent {
    /// The kind of the event.
    #[serde(rename = "type")]
    pub event_type: EventType,
    /// The time, in seconds since 1970-01-01 00:00 UTC, with a precision of a microsecond.
    #[serde(default = "now", deserialize_with = "timestamp_or_now")]
    pub timestamp: f64,
    /// The data that hooks receive, as JSON and in environment variables. Some keys have no variable: see [the
    /// environment](crate::docs::protocol#the-environment).
    #[serde(default, deserialize_with = "data_or_none")]
    pub data: Map<String, Value>,
    /// The tool of the event, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The session of the event, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Not part of the JSON, and no variable.
    #[serde(skip)]
    context: Option<Arc<HostContext>>,
}

/// An event's name, and whether hooks can block it. For a custom event, the host's vocabulary decides.
#[derive(Debug, Clone)]
pub(crate) struct EventKind {
    pub(crate) event_type: EventType,
    pub(crate) can_block: bool,
}

/// Returns the seconds since 1970, in microseconds.
pub(crate) fn now() -> f64 {
    // A clock before 1970 is wrong; 0 is the nearest time that can be shown.
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    // Microseconds since 1970 stay below 2^53 until the year 2255, so the conversion is exact.
    #[allow(clippy::cast_precision_loss)]
    let micros = since.as_micros() as f64;
    micros / 1e6
}

/// A timestamp that is not a number is written as `null`.
fn timestamp_or_now<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_else(now))
}

/// Other programs write `null` for missing data.
fn data_or_none<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Map<String, Value>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl HookEvent {
    /// Creates an event of this kind, with the current time and without data.
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

    /// Adds a value to the data. Replaces the value of the same key.
    pub fn with_data(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.data.insert(key.into(), value.into());
        self
    }

    /// Sets the tool of the event.
    pub fn with_tool_name(mut self, name: impl Into<String>) -> Self {
        self.tool_name = Some(name.into());
        self
    }

    /// Sets the session of the event.
    pub fn with_session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Sets the host's values for hooks of other tools; see [`HostContext`].
    pub fn with_context(mut self, context: Arc<HostContext>) -> Self {
        self.context = Some(context);
        self
    }

    /// The host's values for hooks of other tools, if they are set.
    #[must_use]
    pub fn context(&self) -> Option<&Arc<HostContext>> {
        self.context.as_ref()
    }

    /// Returns the event as one line of JSON, as a hook reads it from its standard input. A value of the data that is
    /// nested deeper than 128 levels becomes `null`.
    #[must_use]
    pub fn to_json(&self) -> String {
        // This can only fail for a map key that is not a string, and `data` has none.
        serde_json::to_string(&*self.within_limit()).unwrap_or_default()
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
