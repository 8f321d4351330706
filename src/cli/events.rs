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
use crate::{AppProfile, EventSpec, EventType, HookEvent, printable};

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
    let vocabulary = context.hooks.vocabulary();
    // The names that every host has.
    let profile = AppProfile::default().with_short_names(false);
    let variables = Variables {
        profile: profile.with_env_prefixes(["FORGE"]),
    };
    let events = vocabulary.events().iter();
    let report = Report {
        events: events.map(|event| Event::new(event, &variables)).collect(),
        tools: vocabulary.tools(),
    };
    if args.json {
        terminal.json(&report)?;
        return Ok(Ended::Fine);
    }
    for event in &report.events {
        event.show(terminal)?;
    }
    let all = variables.of_every_event().into_iter();
    let (session, always): (Vec<_>, Vec<_>) = all.partition(|name| name.ends_with("_SESSION_ID"));
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

impl<'a> Event<'a> {
    fn new(event: &'a EventSpec, names: &Variables) -> Self {
        let key = |(key, description)| {
            let variable = names.of_key(key);
            Key {
                key,
                description,
                variable,
            }
        };
        let data: Vec<_> = event.data_keys().map(key).collect();
        let tool = names.of_tool(event).map(|variable| Key {
            key: "tool_name",
            description: match event.event_type() {
                EventType::Custom(_) => "the tool, if the event has one",
                _ => "the tool",
            },
            variable: Some(variable),
        });
        let mut variables = names.of_every_event();
        variables.extend(
            data.iter()
                .chain(&tool)
                .filter_map(|key| key.variable.clone()),
        );
        Self {
            name: name_of(event),
            description: event.description_text(),
            can_block: event.can_block(),
            data,
            variables,
            tool,
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

/// The names of variables with the host's first prefix.
struct Variables {
    /// Has only this prefix.
    profile: AppProfile,
}

impl Variables {
    fn names_for(&self, event: &HookEvent) -> BTreeSet<String> {
        event.to_env_for(&self.profile).into_keys().collect()
    }

    fn of_every_event(&self) -> BTreeSet<String> {
        let mut names = self.names_for(&any_event());
        // Of each hook, not of the event.
        let prefixes = self.profile.env_prefixes().iter();
        names.extend(prefixes.map(|prefix| format!("{prefix}_WORKING_DIR")));
        names
    }

    /// Returns the variable of the tool; none for an event without a tool.
    fn of_tool(&self, event: &EventSpec) -> Option<String> {
        if !event.may_have_tool() {
            return None;
        }
        self.added_to_all(any_event().with_tool_name("x"))
    }

    /// Returns the variable of a key; none if its name is reserved for another variable.
    fn of_key(&self, key: &str) -> Option<String> {
        self.added_to_all(any_event().with_data(key, "x"))
    }

    fn added_to_all(&self, event: HookEvent) -> Option<String> {
        let found = self.names_for(&event);
        found.difference(&self.of_every_event()).next().cloned()
    }
}
