//! Converts an event to another agent's standard input of a hook, and back.
//!
//! A field that the event does not have comes from the host's context, or else from the agent's table.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::arguments::{came_from_agent, wrapped};
use super::protocol::AgentProtocol;
use crate::agents::{TOOL_NAME, value_of};
use crate::events::HookEvent;

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
