//! Converts an event to another agent's standard input of a hook, and back.
//!
//! A field that the event does not have comes from the host's context, or else from the agent's table.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::agent::{Agent, TOOL_NAME, value_of};
use super::arguments::{came_from_agent, wrapped};
use super::protocol::AgentProtocol;
use crate::events::{EventType, HookEvent, HostContext};

impl AgentProtocol {
    /// Returns the hook's standard input: one line of JSON.
    ///
    /// # Errors
    /// If the tool's arguments cannot be mapped.
    pub(super) fn input(&self, event: &HookEvent, cwd: &Path) -> Result<Vec<u8>, String> {
        let (agent, kind, called) = (self.origin.agent, self.event, self.tool_name(event));
        let mut members: BTreeMap<&str, Cow<'_, Value>> = BTreeMap::new();
        let fields = agent.fields.iter().chain(kind.fields);
        members.extend(fields.map(|(key, unset)| (*key, Cow::Owned(unset.value()))));
        let mut set = |key, text: &str| members.insert(key, Cow::Owned(text.into()));
        set("cwd", &cwd.to_string_lossy());
        let context = event.context();
        let fields = context.iter().flat_map(|context| context.fields());
        members.extend(fields.map(|(key, value)| (key.as_str(), Cow::Borrowed(value))));
        // The data of an event that came from the agent is passed on unchanged.
        let came_from_agent = came_from_agent(event);
        for (key, value) in &event.data {
            let key = value_of(agent.renamed, key).unwrap_or(key);
            let value = match key {
                "tool_input" => self.arguments(event, value)?,
                "tool_response" if !came_from_agent => {
                    let wrapped = wrapped(agent, called, value);
                    wrapped.map_or(Cow::Borrowed(value), Cow::Owned)
                }
                _ => Cow::Borrowed(value),
            };
            members.insert(key, value);
        }
        let texts = [
            (TOOL_NAME, event.tool_name.as_ref().map(|_| called)),
            ("session_id", event.session_id.as_deref()),
            ("hook_event_name", Some(kind.name)),
        ];
        for (key, text) in texts {
            members.extend(text.map(|text| (key, Cow::Owned(text.into()))));
        }
        // This can fail only if a key is not a string.
        let mut line = serde_json::to_vec(&members).unwrap_or_default();
        line.push(b'\n');
        Ok(line)
    }
}

/// Error converting the input of another agent's hook to an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
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
    /// fields that have no place in the event become its [context](HookEvent::context).
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
    /// # Ok::<(), compat::EventError>(())
    /// ```
    ///
    /// # Errors
    /// If the input is not an object, has no `hook_event_name`, or has one that the agent does not know or hosts do not
    /// fire.
    pub fn event(&self, input: Value) -> Result<HookEvent, EventError> {
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
