//! `events`: the events that the host fires, for authors of hooks: data, variables, what can be
//! blocked.

use std::collections::BTreeSet;
use std::io::Write;

use serde::Serialize;

use crate::cli::args::Events;
use crate::cli::context::Context;
use crate::cli::error::{Ended, Failure};
use crate::cli::names::name_of;
use crate::cli::terminal::{Style, Terminal};
use crate::events::Vocabulary;
use crate::{AppProfile, EventSpec, EventType, HookEvent, printable};

/// The variable of each hook, not of the event.
const WORKING_DIR: &str = "FORGE_WORKING_DIR";

/// What `forge-hooks events --json` prints.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "events"))]
pub(crate) struct Report<'a> {
    events: Vec<Event<'a>>,
    /// The host's tools; empty if it declares none.
    tools: &'a [String],
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Event<'a> {
    name: &'a str,
    description: &'a str,
    can_block: bool,
    data: Vec<Key<'a>>,
    /// All variables of the event.
    variables: BTreeSet<String>,
    #[serde(skip)]
    tool: Option<Key<'a>>,
}

/// A key of an event's data.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Key<'a> {
    key: &'a str,
    description: &'a str,
    /// Its variable; null if the name is reserved for another one.
    variable: Option<String>,
}

pub(crate) fn run(
    args: &Events,
    context: &Context<'_>,
    terminal: &mut Terminal<'_>,
) -> Result<Ended, Failure> {
    let report = Report::of(context.hooks.vocabulary());
    if args.json {
        terminal.json(&report)?;
        return Ok(Ended::Fine);
    }
    for event in &report.events {
        event.show(terminal)?;
    }
    let common = any_event().to_env_for(&every_host()).into_keys();
    let (session, mut always): (Vec<_>, Vec<_>) =
        common.partition(|name| name.ends_with("_SESSION_ID"));
    always.push(WORKING_DIR.to_owned());
    let (session, always) = (session.join(" "), always.join(" "));
    writeln!(
        terminal,
        "every event: {always}, and {session} if there is a session"
    )?;
    if !report.tools.is_empty() {
        writeln!(terminal, "tools: {}", printable(&report.tools.join(" ")))?;
    }
    Ok(Ended::Fine)
}

/// Returns the names that every host has.
fn every_host() -> AppProfile {
    let profile = AppProfile::default().with_short_names(false);
    profile.with_env_prefixes(["FORGE"])
}

impl<'a> Report<'a> {
    pub(crate) fn of(vocabulary: &'a Vocabulary) -> Self {
        let profile = every_host();
        let events = vocabulary.events().iter();
        Self {
            events: events.map(|event| Event::new(event, &profile)).collect(),
            tools: vocabulary.tools(),
        }
    }
}

impl<'a> Event<'a> {
    fn new(event: &'a EventSpec, profile: &AppProfile) -> Self {
        // Each key has its own number as its value, so that its variable is found.
        let mut example = any_event();
        if event.may_have_tool() {
            example = example.with_tool_name("tool");
        }
        for (number, (key, _)) in event.data_keys().enumerate() {
            example = example.with_data(key, number);
        }
        let variables = example.to_env_for(profile);
        let common = any_event().to_env_for(profile);
        let key = |key: &'a str, description: &'a str, value: &str| {
            let mut own = variables
                .iter()
                .filter(|(name, _)| !common.contains_key(*name));
            let variable = own.find(|(_, found)| *found == value);
            Key {
                key,
                description,
                variable: variable.map(|(name, _)| name.clone()),
            }
        };
        let keys = event.data_keys().enumerate();
        let data = keys.map(|(number, (name, about))| key(name, about, &number.to_string()));
        let data = data.collect();
        let about_tool = match event.event_type() {
            EventType::Custom(_) => "the tool, if the event has one",
            _ => "the tool",
        };
        Self {
            name: name_of(event),
            description: event.description_text(),
            can_block: event.can_block(),
            data,
            tool: event
                .may_have_tool()
                .then(|| key("tool_name", about_tool, "tool")),
            variables: variables
                .into_keys()
                .chain([WORKING_DIR.to_owned()])
                .collect(),
        }
    }

    fn show(&self, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
        let name = terminal.styled(Style::Strong, self.name);
        let blocks = if self.can_block {
            "can be blocked"
        } else {
            "cannot be blocked"
        };
        match printable(self.description) {
            about if about.is_empty() => writeln!(terminal, "{name}: {blocks}")?,
            about => writeln!(terminal, "{name}: {about}; {blocks}")?,
        }
        for key in self.tool.iter().chain(&self.data) {
            let variable = key.variable.as_deref().unwrap_or_default();
            let (key, about) = (printable(key.key), printable(key.description));
            writeln!(terminal, "  {key:<16} {variable:<22} {about}")?;
        }
        writeln!(terminal)?;
        Ok(())
    }
}

fn any_event() -> HookEvent {
    HookEvent::new(EventType::SessionStart).with_session_id("s")
}
