//! `events`: the events that the host fires, for authors of hooks: data, variables, what can be
//! blocked.

use std::collections::BTreeSet;
use std::io::Write;

use serde_json::{Value, json};

use crate::cli::args::Events;
use crate::cli::context::Context;
use crate::cli::ended::Ended;
use crate::cli::error::Failure;
use crate::cli::names::name_of;
use crate::cli::terminal::{Style, Terminal};
use crate::{AppProfile, EventSpec, EventType, HookEvent, printable};

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
    if args.json {
        let events = vocabulary.events().iter();
        let events: Vec<_> = events.map(|event| variables.to_json(event)).collect();
        terminal.json(&json!({"events": events, "tools": vocabulary.tools()}))?;
        return Ok(Ended::Fine);
    }
    for event in vocabulary.events() {
        show(event, &variables, terminal)?;
    }
    let (session, always): (Vec<_>, Vec<_>) = variables
        .of_every_event()
        .into_iter()
        .partition(|name| name.ends_with("_SESSION_ID"));
    let (session, always) = (session.join(" "), always.join(" "));
    writeln!(
        terminal,
        "every event: {always}, and {session} if there is a session"
    )?;
    if !vocabulary.tools().is_empty() {
        let tools = printable(&vocabulary.tools().join(" "));
        writeln!(terminal, "tools: {tools}")?;
    }
    Ok(Ended::Fine)
}

fn show(
    event: &EventSpec,
    variables: &Variables,
    terminal: &mut Terminal<'_>,
) -> Result<(), Failure> {
    let name = terminal.styled(Style::Strong, name_of(event));
    let blocks = if event.can_block() {
        "can be blocked"
    } else {
        "cannot be blocked"
    };
    let about = printable(event.description_text());
    let about = if about.is_empty() {
        blocks.to_owned()
    } else {
        format!("{about}; {blocks}")
    };
    writeln!(terminal, "{name}: {about}")?;
    let mut rows = Vec::new();
    if let Some(variable) = variables.of_tool(event) {
        let about = match event.event_type() {
            EventType::Custom(_) => "the tool, if the event has one",
            _ => "the tool",
        };
        rows.push(("tool_name", about, variable));
    }
    for (key, about) in event.data_keys() {
        rows.push((key, about, variables.of_key(key).unwrap_or_default()));
    }
    for (key, about, variable) in rows {
        let (key, about) = (printable(key), printable(about));
        writeln!(terminal, "  {key:<16} {variable:<22} {about}")?;
    }
    writeln!(terminal)?;
    Ok(())
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

    fn to_json(&self, event: &EventSpec) -> Value {
        let data = event.data_keys().map(
            |(key, about)| json!({"key": key, "description": about, "variable": self.of_key(key)}),
        );
        let mut all = self.of_every_event();
        all.extend(event.data_keys().filter_map(|(key, _)| self.of_key(key)));
        all.extend(self.of_tool(event));
        json!({
            "name": name_of(event),
            "description": event.description_text(),
            "can_block": event.can_block(),
            "data": data.collect::<Vec<_>>(),
            "variables": all,
        })
    }
}
