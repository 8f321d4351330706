//! The names of events as people type them.

use crate::cli::error::Failure;
use crate::{EventType, EventTypeError};

/// A built-in event, else one of a program's own. A name that is nearly a built-in one is a slip of
/// the pen, unless it is said to be `custom`; none where a command has no option to say so.
pub(crate) fn event_type(name: &str, custom: Option<bool>) -> Result<EventType, Failure> {
    match name.parse::<EventType>() {
        Ok(known) => Ok(known),
        Err(EventTypeError::Unknown {
            nearest: Some(nearest),
            ..
        }) if custom != Some(true) => {
            let words = format!("unknown event `{name}`; did you mean `{nearest}`?");
            let failure = Failure::new(words);
            Err(match custom {
                Some(_) => failure.with_fix("for an event of a program's own, say `--custom`"),
                None => failure,
            })
        }
        Err(_) => EventType::custom(name).map_err(|error| {
            let known: Vec<_> = EventType::BUILTIN.iter().map(EventType::as_str).collect();
            Failure::new(error.to_string())
                .with_fix(format!("the built-in events are {}", known.join(", ")))
        }),
    }
}
