//! The arguments of a tool that a hook reads, and the treatment of those that it sets.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::mapping::MappedTool;
use super::protocol::AgentProtocol;
use crate::agents::Agent;
use crate::entry::{Decision, HookOutput};
use crate::events::HookEvent;
use crate::json::{self, kind};

impl AgentProtocol {
    /// Returns the host's mapping of the event's tool. An event that came from the agent has the agent's names.
    fn mapped_tool(&self, event: &HookEvent) -> Option<&MappedTool> {
        let name = event.tool_name.as_deref()?;
        let tool = self.origin.mapped_tool(name)?;
        (!came_from_agent(event)).then_some(tool)
    }

    /// Returns the arguments of a call, as the hook reads them: as an object if the host has a text, and under the agent's
    /// names.
    pub(super) fn arguments<'a>(
        &self,
        event: &HookEvent,
        value: &'a Value,
    ) -> Result<Cow<'a, Value>, String> {
        if came_from_agent(event) {
            return Ok(Cow::Borrowed(value));
        }
        let object = object_of(self.tool_name(event), value);
        let value = object.map_or(Cow::Borrowed(value), Cow::Owned);
        match (self.mapped_tool(event), value.as_object()) {
            (Some(tool), Some(call)) if !tool.arguments.is_empty() => {
                Ok(Cow::Owned(Value::Object(tool.there(call)?)))
            }
            _ => Ok(value),
        }
    }

    /// Returns the event with the arguments as the hook has read them, to which its answer is compared.
    pub(super) fn as_read<'a>(&self, event: &'a HookEvent) -> Cow<'a, HookEvent> {
        let read = event.data.get("tool_args");
        match read.map(|value| self.arguments(event, value)) {
            Some(Ok(Cow::Owned(value))) if self.mapped_tool(event).is_some() => {
                Cow::Owned(event.clone().with_data("tool_args", value))
            }
            _ => Cow::Borrowed(event),
        }
    }

    /// Converts the arguments that a hook has changed to their names in the host. If that cannot be done, the hook blocks.
    pub(super) fn map_back(&self, event: &HookEvent, output: &mut HookOutput) {
        let changed = output.updated_input.as_ref();
        let (Some(tool), Some(changed)) = (self.mapped_tool(event), changed) else {
            return;
        };
        let called = event.data.get("tool_args");
        let called = called.map(|value| object_of(&tool.theirs, value).unwrap_or(value.clone()));
        let none = Map::new();
        let call = called.as_ref().and_then(Value::as_object).unwrap_or(&none);
        match tool.back(call, changed) {
            Ok(changed) => output.updated_input = Some(changed),
            Err(why) => {
                output.updated_input = None;
                output.decision = Some(Decision::Block);
                output.reason = Some(format!("the hook's answer cannot be used: {why}"));
            }
        }
    }

    /// Converts an output in the agent's form, by which a hook replaces a text of the host, to a text.
    pub(super) fn output_back(&self, event: &HookEvent, output: &mut HookOutput) {
        let agent = self.origin.agent;
        let Some(ours) = event
            .data
            .get("tool_result")
            .filter(|result| result.is_string())
        else {
            return;
        };
        let is_wrapped = wrapped(agent, self.tool_name(event), ours).is_some();
        let changed = output.updated_output.as_ref();
        let text = changed.and_then(|changed| changed.get("stdout")?.as_str());
        if let Some(text) = text.filter(|_| is_wrapped && !came_from_agent(event)) {
            output.updated_output = Some(text.into());
        }
    }

    /// Returns a note on an argument that a guard cannot see: the agent's hooks recognize the tool by it, but this call does
    /// not have it as text.
    pub(super) fn unseen_argument(&self, event: &HookEvent) -> Option<String> {
        let ours = event.tool_name.as_deref()?;
        let has_input = self
            .event
            .fields
            .iter()
            .any(|(key, _)| *key == "tool_input");
        if !has_input || came_from_agent(event) {
            return None;
        }
        let (agent, theirs) = (self.origin.agent, self.tool_name(event));
        let value = event.data.get("tool_args").unwrap_or(&Value::Null);
        let read = self.arguments(event, value).ok()?;
        let mut names = agent.tool(theirs)?.needs.iter();
        let is_text = |name: &&&str| read.get(name).is_some_and(Value::is_string);
        let name = names.find(|name| !is_text(name))?;
        let title = agent.title();
        let reads = format!("hooks of {title} read the argument `{name}` of `{theirs}`");
        Some(match read.get(name) {
            None => format!(
                "{reads}, which the tool `{ours}` does not have: the host maps its arguments with `OtherAgents::with_tool`"
            ),
            Some(value) => format!(
                "{reads} as text, and in this call of the tool `{ours}` it is {}: the host passes it as text",
                kind(value)
            ),
        })
    }
}

/// Returns whether an event came from the agent: its data is passed on unchanged.
pub(super) fn came_from_agent(event: &HookEvent) -> bool {
    let context = event.context();
    context.is_some_and(|context| context.field("hook_event_name").is_some())
}

/// Returns a text that a shell has returned in the form that the agent's hooks expect; none if it needs no conversion.
pub(super) fn wrapped(agent: &Agent, tool: &str, value: &Value) -> Option<Value> {
    let text = value
        .as_str()
        .filter(|_| agent.emulated.wraps_output && tool == "Bash")?;
    Some(json!({"stdout": text, "stderr": "", "interrupted": false, "isImage": false}))
}

/// Returns the arguments of a tool as the object that these hooks expect, if the host has a text.
fn object_of(tool: &str, value: &Value) -> Option<Value> {
    let text = value.as_str()?;
    match json::read(text) {
        Ok(object) => Some(Value::Object(object)),
        Err(_) if tool == "Bash" => Some(json!({"command": text})),
        Err(_) => None,
    }
}
