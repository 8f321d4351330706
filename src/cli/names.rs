//! The names of events on the command line.

use serde_json::json;

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::compat::{self, Tool};
use crate::{EventSpec, EventType};

/// What needs the event.
#[derive(Clone, Copy)]
pub(crate) enum Asker {
    /// `fire`, and whether its event may be custom with a name that is similar to another one.
    Fire {
        custom: bool,
    },
    List,
    /// A case of a table.
    Case,
}

/// Returns an event that the host fires, else a custom event. A name that is similar to that of an
/// event is a typo, unless it is declared as custom.
pub(crate) fn event_type(
    name: &str,
    asker: Asker,
    context: &Context<'_>,
) -> Result<EventType, Failure> {
    let vocabulary = context.hooks.vocabulary();
    if let Some(known) = vocabulary.event(name) {
        return Ok(known.event_type().clone());
    }
    if let Some((event, tool)) = with_tool(name)
        && vocabulary.event(event).is_some()
    {
        let words = format!("`{name}` is a pattern, expected the event `{event}`");
        return Err(Failure::new(words).with_fix(match asker {
            Asker::Case => format!(r#"write `"event": "{event}", "tool": "{tool}"`"#),
            _ => format!("name the tool with `--tool {tool}`"),
        }));
    }
    if name.contains(['*', '?', '[', '|', ',']) {
        let words =
            format!("`{name}` is a pattern, expected one event, such as `tool:pre_execute`");
        return Err(Failure::new(words).with_fix(list_of_events(context)));
    }
    let is_custom = matches!(asker, Asker::Fire { custom: true });
    let nearest = vocabulary.nearest_event(name).map(name_of);
    let of_other = of_other_tool(name).map(|(_, event)| event);
    let meant = of_other.as_ref().map(EventType::as_str).or(nearest);
    if let Some(meant) = meant.filter(|_| !is_custom) {
        let words = format!("unknown event `{name}`; did you mean `{meant}`?");
        return Err(Failure::new(words).with_fix(match asker {
            Asker::Fire { .. } if of_other.is_none() => {
                "for a custom event, add `--custom`".to_owned()
            }
            _ => list_of_events(context),
        }));
    }
    EventType::custom(name).map_err(|_| {
        let words = format!(
            "unknown event `{name}`; a custom event is `category:action` of a-z, 0-9 and _"
        );
        Failure::new(words).with_fix(list_of_events(context))
    })
}

pub(crate) fn list_of_events(context: &Context<'_>) -> String {
    format!("`{}` lists the events", context.command("events"))
}

/// Returns the event that another tool calls so, and that tool.
pub(crate) fn of_other_tool(name: &str) -> Option<(&'static Tool, EventType)> {
    let input = json!({"hook_event_name": name});
    compat::TOOLS.into_iter().find_map(|tool| {
        let event = tool.event(input.clone()).ok()?;
        Some((tool, event.event_type))
    })
}

/// The event and the tool of a pattern such as `tool:pre_execute:bash`.
fn with_tool(pattern: &str) -> Option<(&str, &str)> {
    let (second, _) = pattern.match_indices(':').nth(1)?;
    Some((&pattern[..second], &pattern[second + 1..]))
}

pub(crate) fn name_of(event: &EventSpec) -> &str {
    event.event_type().as_str()
}
