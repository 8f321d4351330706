//! The file in which a host of `serve` declares its events and tools: in the form of `events --json`, with the names of the tools
//! in other agents.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::message::Object;
use crate::agents::AGENTS;
use crate::cli::CommandError;
use crate::cli::files;
use crate::compat::OtherAgents;
use crate::{EventSpec, EventType, HooksBuilder};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    events: Vec<Object<Event>>,
    #[serde(default)]
    tools: Vec<String>,
    /// The tools of other agents, by the name of the agent and the host's name of the tool.
    #[serde(default)]
    agents: BTreeMap<String, BTreeMap<String, Object<Mapped>>>,
}

/// A tool as an agent knows it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mapped {
    tool: String,
    /// The agent's names of the host's arguments.
    #[serde(default)]
    arguments: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    name: EventType,
    #[serde(default)]
    description: String,
    can_block: bool,
    #[serde(default)]
    data: Vec<Object<Key>>,
    #[serde(default, rename = "variables")]
    _variables: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    key: String,
    #[serde(default)]
    description: String,
    #[serde(default, rename = "variable")]
    _variable: IgnoredAny,
}

/// Declares the events and tools of the file. `others` are the agents whose hooks also run.
pub(crate) fn declare(
    file: &Path,
    builder: HooksBuilder,
    mut others: OtherAgents,
) -> Result<HooksBuilder, CommandError> {
    let failed = |why: String| {
        let message = format!("cannot read `--vocabulary {}`: {why}", file.display());
        CommandError::new(message).with_fix("write it in the form of `events --json`")
    };
    let Object(vocabulary): Object<File> = files::json_of(file).map_err(failed)?;
    for (name, tools) in vocabulary.agents {
        let agent = AGENTS.into_iter().find(|agent| agent.name() == name);
        let unknown = || {
            let names = AGENTS.map(|agent| format!("`{}`", agent.name()));
            let names = names.join(", ");
            failed(format!(
                "in `agents`: expected one of {names}, found `{name}`"
            ))
        };
        let agent = agent.ok_or_else(unknown)?;
        for (ours, Object(mapped)) in tools {
            others = others.with_tool(agent, ours, mapped.tool, mapped.arguments);
        }
    }
    let events = vocabulary.events.into_iter().map(|event| event.0.spec());
    let builder = events.fold(builder, HooksBuilder::event);
    Ok(builder.tools(vocabulary.tools).other_agents(others))
}

impl Event {
    fn spec(self) -> EventSpec {
        let spec = EventSpec::new(self.name).with_description(self.description);
        let data = self.data.into_iter();
        let spec = data.fold(spec, |spec, Object(data)| {
            spec.with_data(data.key, data.description)
        });
        if self.can_block {
            spec
        } else {
            spec.notify_only()
        }
    }
}
