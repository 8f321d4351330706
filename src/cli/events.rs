//! The events that the host fires: `events`, which shows them, and their names on the command line.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use serde_json::json;

use crate::agents::{self, Agent};
use crate::cli::args::Events;
use crate::cli::{CommandError, Context, Done, Exit, Style, Terminal};
use crate::events::Vocabulary;
use crate::{AppProfile, EventSpec, EventType, HookEvent, printable};

/// The variable of each hook, not of the event.
const WORKING_DIR: &str = "FORGE_WORKING_DIR";

/// The output of `forge-hooks events --json`.
#[derive(Serialize)]
pub(crate) struct EventsOutput<'a> {
    events: Vec<Event<'a>>,
    /// The host's tools; empty if it declares none.
    tools: &'a [String],
}

#[derive(Serialize)]
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
struct Key<'a> {
    key: &'a str,
    description: &'a str,
    /// Its variable; null if the name is reserved for another one.
    variable: Option<String>,
}

pub(crate) fn run(args: &Events, context: &Context<'_>, terminal: &mut Terminal<'_>) -> Done {
    terminal.show(args.json, &EventsOutput::of(context.hooks.vocabulary()))?;
    Ok(Exit::FINE)
}

fn any_event() -> HookEvent {
    HookEvent::new(EventType::SessionStart).with_session_id("s")
}

/// Returns the variables of an event, with the names that every host has.
fn variables(event: HookEvent) -> BTreeSet<String> {
    let profile = AppProfile::default().with_short_names(false);
    let variables = event.to_env_for(&profile.with_env_prefixes(["FORGE"]));
    variables.into_keys().collect()
}

impl<'a> EventsOutput<'a> {
    pub(crate) fn of(vocabulary: &'a Vocabulary) -> Self {
        let events = vocabulary.events().iter();
        Self {
            events: events.map(Event::new).collect(),
            tools: vocabulary.tools(),
        }
    }
}

impl fmt::Display for EventsOutput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for event in &self.events {
            writeln!(f, "{event}")?;
        }
        let (session, mut always): (Vec<_>, Vec<_>) = variables(any_event())
            .into_iter()
            .partition(|name| name.ends_with("_SESSION_ID"));
        always.push(WORKING_DIR.to_owned());
        let (session, always) = (session.join(" "), always.join(" "));
        writeln!(
            f,
            "every event: {always}, and {session} if there is a session"
        )?;
        match self.tools {
            [] => Ok(()),
            tools => writeln!(f, "tools: {}", printable(&tools.join(" "))),
        }
    }
}

impl<'a> Event<'a> {
    fn new(event: &'a EventSpec) -> Self {
        let common = variables(any_event());
        let mut all = common.clone();
        all.insert(WORKING_DIR.to_owned());
        let mut key = |key, description, example| {
            let mut variables = &variables(example) - &common;
            all.extend(variables.iter().cloned());
            Key {
                key,
                description,
                variable: variables.pop_first(),
            }
        };
        let about_tool = match event.event_type() {
            EventType::Custom(_) => "the tool, if the event has one",
            _ => "the tool",
        };
        let with_tool = any_event().with_tool_name("tool");
        let tool = event.may_have_tool();
        let tool = tool.then(|| key("tool_name", about_tool, with_tool));
        let keys = event.data_keys();
        let data = keys.map(|(name, about)| key(name, about, any_event().with_data(name, 1)));
        Self {
            name: name_of(event),
            description: event.description(),
            can_block: event.can_block(),
            data: data.collect(),
            tool,
            variables: all,
        }
    }
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cannot = if self.can_block { "can" } else { "cannot" };
        let about = match self.description {
            "" => String::new(),
            about => printable(about) + "; ",
        };
        let name = Style::STRONG.of(self.name);
        writeln!(f, "{name}: {about}{cannot} be blocked")?;
        for key in self.tool.iter().chain(&self.data) {
            let variable = key.variable.as_deref().unwrap_or_default();
            let (key, about) = (printable(key.key), printable(key.description));
            writeln!(f, "  {key:<16} {variable:<22} {about}")?;
        }
        Ok(())
    }
}

/// Returns an event that the host fires, else a custom event. A name that is similar to that of an
/// event is treated as a typo, unless `custom` is set, the option of some commands.
pub(crate) fn event_type(
    name: &str,
    custom: Option<bool>,
    context: &Context<'_>,
) -> Result<EventType, CommandError> {
    let vocabulary = context.hooks.vocabulary();
    if let Some(event) = vocabulary.event(name) {
        return Ok(event.event_type().clone());
    }
    let list = list_of_events(context);
    if name.contains(['*', '?', '[', '|', ',']) || name.matches(':').count() > 1 {
        let fix = match with_tool(name).filter(|(event, _)| vocabulary.event(event).is_some()) {
            Some((event, tool)) => format!("name the event `{event}` and the tool `{tool}`"),
            None => list,
        };
        let message = format!("`{name}` is a pattern, expected one event");
        return Err(CommandError::new(message).with_fix(fix));
    }
    let nearest = vocabulary.nearest_event(name).map(name_of);
    let of_other = of_other_agent(name).map(|(_, event)| event);
    let intended = of_other.as_ref().map(EventType::as_str).or(nearest);
    if let Some(intended) = intended.filter(|_| custom != Some(true)) {
        let fix = if custom.is_some() && of_other.is_none() {
            "for a custom event, add `--custom`".to_owned()
        } else {
            list
        };
        let message = format!("unknown event `{name}`; did you mean `{intended}`?");
        return Err(CommandError::new(message).with_fix(fix));
    }
    EventType::custom(name).map_err(|_| {
        let form = "a custom event is `category:action` of a-z, 0-9 and _";
        CommandError::new(format!("unknown event `{name}`; {form}")).with_fix(list)
    })
}

pub(crate) fn list_of_events(context: &Context<'_>) -> String {
    format!("`{}` lists the events", context.command("events"))
}

/// Returns the event that has this name in another agent, and that agent.
pub(crate) fn of_other_agent(name: &str) -> Option<(&'static Agent, EventType)> {
    let input = json!({"hook_event_name": name});
    agents::BRIDGED.into_iter().find_map(|agent| {
        let event = agent.event(input.clone()).ok()?;
        Some((agent, event.event_type))
    })
}

/// Splits a pattern such as `tool:pre_execute:bash` into the event and the tool.
fn with_tool(pattern: &str) -> Option<(&str, &str)> {
    let (second, _) = pattern.match_indices(':').nth(1)?;
    Some((&pattern[..second], &pattern[second + 1..]))
}

pub(crate) fn name_of(event: &EventSpec) -> &str {
    event.event_type().as_str()
}
