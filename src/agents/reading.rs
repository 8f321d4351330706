//! Reads the input of a hook of an agent as an event.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::agent::Agent;
use super::event::TOOL_NAME;
use super::names::value_of;
use crate::error::SetupError;
use crate::events::{EventType, HookEvent, HostContext};

/// Error converting the input of another agent's hook to an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EventError {
    /// The input is not an object with a string `hook_event_name`.
    #[error("{0}")]
    Malformed(String),
    /// The agent has no event of this name.
    #[error("`hook_event_name`: `{name}` is not an event of `{agent}`")]
    Unknown {
        /// The name of the agent.
        agent: &'static str,
        /// The name in the input.
        name: String,
    },
    /// The agent has this event, but hosts of this crate do not fire it.
    #[error("`hook_event_name`: hosts do not fire `{name}`, so its hooks do not run")]
    NotFired {
        /// The name of the event.
        name: String,
    },
}

impl Agent {
    /// Converts the standard input of a hook of this agent to an event. The agent's hooks receive every field again;
    /// fields that have no place in the event become its [context](HostContext).
    ///
    /// ```
    /// use forge_hooks::compat;
    /// use serde_json::json;
    ///
    /// let event = compat::CLAUDE.event(json!({
    ///     "hook_event_name": "PreToolUse",
    ///     "session_id": "s1",
    ///     "tool_name": "Bash",
    ///     "tool_input": {"command": "ls"},
    /// }))?;
    /// assert_eq!(event.event_type.as_str(), "tool:pre_execute");
    /// assert_eq!(event.data()["tool_args"]["command"], "ls");
    /// # Ok::<(), forge_hooks::SetupError>(())
    /// ```
    ///
    /// # Errors
    /// If the input is not an object, has no `hook_event_name`, or has one that the agent does not know or hosts do not
    /// fire.
    pub fn event(&self, input: Value) -> Result<HookEvent, SetupError> {
        self.read_event(input).map_err(SetupError::new)
    }

    /// Converts the standard input of a hook of this agent to an event, as [`event`](Self::event).
    pub(crate) fn read_event(&self, input: Value) -> Result<HookEvent, EventError> {
        let malformed = |message: &str| EventError::Malformed(message.to_owned());
        let Value::Object(fields) = input else {
            return Err(malformed("expected an object with `hook_event_name`"));
        };
        let name = fields.get("hook_event_name").and_then(Value::as_str);
        let name = name.ok_or_else(|| malformed("expected a string `hook_event_name`"))?;
        let (agent, name) = (self.name, name.to_owned());
        let Some(kind) = self.event_named(&name) else {
            return Err(EventError::Unknown { agent, name });
        };
        let Some(Ok(event_type)) = kind.ours().map(EventType::of_name) else {
            return Err(EventError::NotFired { name });
        };
        let mut event = HookEvent::new(event_type);
        let mut rest = Map::new();
        for (key, value) in fields {
            match (key.as_str(), value) {
                (TOOL_NAME, Value::String(tool)) => event.tool_name = Some(tool),
                ("session_id", Value::String(id)) => event.session_id = Some(id),
                (known, value) if value_of(kind.fields, known).is_some() => {
                    let mut renamed = self.renamed.iter();
                    let ours = renamed.find(|(_, theirs)| *theirs == known);
                    let ours = ours.map_or(known, |(ours, _)| ours);
                    event.data.insert(ours.to_owned(), value);
                }
                (_, value) => {
                    rest.insert(key, value);
                }
            }
        }
        Ok(event.with_context(Arc::new(HostContext::from_fields(rest))))
    }
}
