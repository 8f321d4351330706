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
    if let Some(nearest) = nearest.filter(|_| custom != Some(true)) {
        let words = format!("unknown event `{name}`; did you mean `{nearest}`?");
        let failure = Failure::new(words);
        return Err(match custom {
            Some(_) => failure.with_fix("for a custom event, add `--custom`"),
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
