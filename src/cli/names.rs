//! The names of events as people type them.

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::{EventSpec, EventType};

/// An event that the host fires, else a custom one. A name that is nearly that of an event is a typo,
/// unless it is said to be `custom`; none where a command has no option to say so.
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
    if let Some(nearest) = nearest.filter(|_| custom != Some(true)) {
        let words = format!("unknown event `{name}`; did you mean `{nearest}`?");
        let failure = Failure::new(words);
        return Err(match custom {
            Some(_) => failure.with_fix("for a custom event, say `--custom`"),
            None => failure,
        });
    }
    EventType::custom(name).map_err(|error| {
        let known: Vec<_> = vocabulary.events().iter().map(name_of).collect();
        Failure::new(error.to_string()).with_fix(format!("the events are {}", known.join(", ")))
    })
}

pub(crate) fn name_of(event: &EventSpec) -> &str {
    event.event_type().as_str()
}
