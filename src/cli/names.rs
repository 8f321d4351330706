//! The names of events on the command line.

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::{EventSpec, EventType};

/// Returns an event that the host fires, else a custom event. A name that is similar to that of an
/// event is a typo, unless `custom` is true; `custom` is None if the command has no such option.
pub(crate) fn event_type(
    name: &str,
    custom: Option<bool>,
    context: &Context<'_>,
) -> Result<EventType, Failure> {
    let vocabulary = context.hooks.vocabulary();
    if let Some(known) = vocabulary.event(name) {
        return Ok(known.event_type().clone());
    }
    let nearest = vocabulary.nearest_event(name).map(name_of);
    if let Some((event, tool)) = with_tool(name)
        && vocabulary.event(event).is_some()
    {
        let words = format!("`{name}` is a pattern, expected the event `{event}`");
        let fix = format!("name the tool with `--tool {tool}`, in a table of cases as `tool`");
        return Err(Failure::new(words).with_fix(fix));
    }
    if let Some(nearest) = nearest.filter(|_| custom != Some(true)) {
        let words = format!("unknown event `{name}`; did you mean `{nearest}`?");
        let failure = Failure::new(words);
        return Err(match custom {
            Some(_) => failure.with_fix("for a custom event, add `--custom`"),
            None => failure,
        });
    }
    EventType::custom(name).map_err(|error| {
        let fix = format!("`{}` lists the events", context.command("events"));
        Failure::new(error.to_string()).with_fix(fix)
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
