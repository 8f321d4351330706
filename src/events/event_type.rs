//! The names of events: the sixteen built-in ones and those that a host defines.
//!
//! Knows names only, not what an event carries.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::meant::{LIKE_AN_EVENT, nearest};
use super::table::{CustomEventType, EventType, STOP, SUBAGENT_STOP};

/// Error reading the name of an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventTypeError {
    /// No built-in event has this name.
    #[error("unknown event `{name}`{}", nearest.as_ref().map(|known| format!(", did you mean `{known}`?")).unwrap_or_default())]
    Unknown {
        /// The name that was given.
        name: String,
        /// The built-in event with the most similar name, if one is similar enough.
        nearest: Option<EventType>,
    },
    /// The name of a custom event is not `category:action` of lower-case letters, digits and `_`.
    #[error(
        "invalid name `{name}` for a custom event: expected `category:action` of a-z, 0-9 and _"
    )]
    Malformed {
        /// The name that was given.
        name: String,
    },
    /// The name of a custom event is that of a built-in one.
    #[error("`{name}` is a built-in event, not a custom one")]
    BuiltIn {
        /// The name that was given.
        name: String,
    },
}

impl EventType {
    /// Creates an event of the host's own, such as `game:level_loaded`.
    ///
    /// # Errors
    /// When `name` is not `category:action` with both parts of `a-z`, `0-9` and `_`, or when it is
    /// the name of a built-in event.
    pub fn custom(name: impl AsRef<str>) -> Result<Self, EventTypeError> {
        let name = name.as_ref();
        let is_part = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
        let is_word = |part: &str| !part.is_empty() && part.bytes().all(is_part);
        let parts = name.split_once(':');
        if !parts.is_some_and(|(category, action)| is_word(category) && is_word(action)) {
            let name = name.to_owned();
            return Err(EventTypeError::Malformed { name });
        }
        match Self::builtin(name) {
            Some(_) => Err(EventTypeError::BuiltIn {
                name: name.to_owned(),
            }),
            None => Ok(Self::Custom(CustomEventType::known(name))),
        }
    }

    /// The whole name, such as `tool:pre_execute`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Custom(custom) => custom.as_str(),
            // Each of the others is in the table.
            builtin => builtin.known().map_or("", |known| known.name),
        }
    }

    /// The part before the colon, such as `tool`.
    #[must_use]
    pub fn category(&self) -> &str {
        self.parts().0
    }

    /// The part after the colon, such as `pre_execute`.
    #[must_use]
    pub fn action(&self) -> &str {
        self.parts().1
    }

    /// Returns whether hooks can stop what the host is about to do. True for `tool:pre_execute`,
    /// `llm:pre_request`, `permission:check`, `permission:prompt`, `user:prompt_submit` and custom events,
    /// except `agent:subagent_start`, `context:post_compact`, `notification:show` and `llm:error`. The other events have
    /// happened already. Does not know which events a host has declared as
    /// [notify-only](crate::EventSpec::notify_only): see
    /// [`Vocabulary::can_block`](crate::events::Vocabulary::can_block).
    #[must_use]
    pub fn can_block(&self) -> bool {
        self.known().is_none_or(|known| known.can_block)
    }

    fn parts(&self) -> (&str, &str) {
        let name = self.as_str();
        // Every name contains a colon: the table above and `custom` ensure it.
        name.split_once(':').unwrap_or((name, ""))
    }

    /// Returns the event of this name, a built-in or a custom one.
    pub(crate) fn of_name(name: &str) -> Result<Self, EventTypeError> {
        Self::builtin(name).map_or_else(|| Self::custom(name), Ok)
    }

    fn builtin(name: &str) -> Option<Self> {
        Self::BUILTIN
            .into_iter()
            .find(|known| known.as_str() == name)
    }

    /// Returns whether the event means that an agent is about to stop. A hook that blocks it makes the agent
    /// continue; a hook that stops the turn does not block it.
    #[must_use]
    pub fn is_agent_stop(&self) -> bool {
        matches!(self.as_str(), STOP | SUBAGENT_STOP)
    }
}

/// Reads the name of a built-in event. An unknown name is an error, never a custom event, so that a typo is
/// noticed.
impl FromStr for EventType {
    type Err = EventTypeError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::builtin(name).ok_or_else(|| {
            let names = Self::BUILTIN.iter().map(Self::as_str);
            let nearest = nearest(name, names, LIKE_AN_EVENT);
            EventTypeError::Unknown {
                name: name.to_owned(),
                nearest: nearest.and_then(Self::builtin),
            }
        })
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl AsRef<str> for EventType {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Serialize for EventType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Reads the name of a built-in event, else the valid name of a custom event.
impl<'de> Deserialize<'de> for EventType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::of_name(&name).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_suggests_the_nearest() {
        let cases = [
            ("tool:pre_exec", Some("tool:pre_execute")),
            ("tool:pre-execute", Some("tool:pre_execute")),
            ("sesion:start", Some("session:start")),
            ("game:level_loaded", None),
            ("", None),
        ];
        for (given, expected) in cases {
            let error = given.parse::<EventType>().unwrap_err();
            let EventTypeError::Unknown { nearest, .. } = &error else {
                panic!("{error:?}")
            };
            assert_eq!(nearest.as_ref().map(EventType::as_str), expected, "{given}");
        }
        let error = "tool:pre_exec".parse::<EventType>().unwrap_err();
        let message = "unknown event `tool:pre_exec`, did you mean `tool:pre_execute`?";
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn custom_names_are_checked() {
        let custom = EventType::custom("game:level_2").unwrap();
        assert_eq!(custom.as_str(), "game:level_2");
        for bad in "|game|:|game:|:loaded|Game:loaded|game:a:b|g me:x|gäme:x".split('|') {
            let error = EventType::custom(bad).unwrap_err();
            let is_malformed = matches!(error, EventTypeError::Malformed { .. });
            assert!(is_malformed, "{bad}");
        }
        let error = EventType::custom("tool:error").unwrap_err();
        assert!(matches!(error, EventTypeError::BuiltIn { .. }));
    }
}
