//! Values that only the host knows, for hooks that were written for other agents.
//!
//! Knows no agent: `compat` knows which field means what to which agent.

use std::fmt;
use std::path::Path;

use serde_json::{Map, Value};

use super::depth::{DEEPEST_DATA, bounded};

/// Values that a hook written for another agent finds on its standard input besides the event: the path of the
/// transcript, the permission mode, the model, and any other field that the host sets.
///
/// Hooks of this crate's own protocol do not receive these values, neither as JSON nor as variables.
///
/// ```
/// use std::sync::Arc;
/// use forge_hooks::{HookEvent, HostContext};
///
/// let context = HostContext::new()
///     .with_transcript_path("/tmp/s1.jsonl")
///     .with_permission_mode("plan");
/// let event = HookEvent::user_prompt_submit("hello").with_context(Arc::new(context));
/// assert!(!event.to_json().contains("plan"));
/// ```
///
/// `Debug` shows the names of the fields, never their values.
#[derive(Clone, PartialEq, Default)]
pub struct HostContext {
    fields: Map<String, Value>,
}

impl HostContext {
    /// Creates a context without fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a field, by its name in the tool's input, such as `turn_id`. If a value is nested deeper than 128
    /// levels, hooks that receive it fail, as for a value of the event's data.
    #[must_use]
    pub fn with_field(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let too_deep = || (0..=DEEPEST_DATA).fold(Value::Null, |inner, _| vec![inner].into());
        let value = bounded(value.into()).unwrap_or_else(too_deep);
        self.fields.insert(name.into(), value);
        self
    }

    /// Sets the directory of the session (`cwd`), in which these hooks run. If it no longer exists, they fail and block.
    /// Default: the root of the hook's project, else the executor's directory.
    #[must_use]
    pub fn with_cwd(self, path: impl AsRef<Path>) -> Self {
        self.with_field("cwd", path.as_ref().to_string_lossy())
    }

    /// Sets the file that contains the conversation (`transcript_path`).
    #[must_use]
    pub fn with_transcript_path(self, path: impl AsRef<Path>) -> Self {
        self.with_field("transcript_path", path.as_ref().to_string_lossy())
    }

    /// Sets the permission mode (`permission_mode`), such as `plan`. Default: `default`.
    #[must_use]
    pub fn with_permission_mode(self, mode: impl Into<String>) -> Self {
        self.with_field("permission_mode", mode.into())
    }

    /// Returns the field of this name.
    #[must_use]
    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// Returns all fields.
    #[must_use]
    pub(crate) fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    pub(crate) fn from_fields(fields: Map<String, Value>) -> Self {
        Self { fields }
    }
}

impl fmt::Debug for HostContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.fields.keys()).finish()
    }
}
