//! The names of events: the sixteen built-in ones and those that a host defines.
//!
//! Knows names only, not what an event carries.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::table::{KNOWN, Known};
use crate::error::SetupError;

/// The longest name, in bytes, that is compared with others to find a typo.
const LONGEST_NAME: usize = 64;

/// Creates the enum of built-in events from their rows.
macro_rules! builtin {
    ($(#[$on_enum:meta])* $type:ident {
        $($(#[$on:meta])* $variant:ident,)+
    }) => {
        $(#[$on_enum])*
        pub enum $type {
            $($(#[$on])* $variant,)+
            /// An event that the host defined with [`EventType::custom`], or one of the events of agents; see
            /// [`can_block`](EventType::can_block).
            Custom(CustomEventType),
        }

        impl $type {
            /// The sixteen built-in events.
            pub const BUILTIN: [Self; 16] = [$(Self::$variant),+];

            /// Returns the row of the event in the table; None for a custom event of the host.
            pub(super) fn known(&self) -> Option<&'static Known> {
                /// The index of an event in the table.
                enum Row {
                    $($variant),+
                }
                match self {
                    $(Self::$variant => Some(&KNOWN[Row::$variant as usize]),)+
                    Self::Custom(custom) => of_agents().find(|event| event.name == custom.as_str()),
                }
            }
        }

        /// Returns the events of agents that this crate knows.
        pub(super) fn of_agents() -> impl Iterator<Item = &'static Known> {
            KNOWN.iter().skip($type::BUILTIN.len())
        }
    };
}

builtin! {
    /// The kind of an event: one of the sixteen built-in events, or one that the host defined.
    ///
    /// The text form is `category:action`, for example `tool:pre_execute`.
    ///
    /// ```
    /// use forge_hooks::EventType;
    ///
    /// let event: EventType = "tool:pre_execute".parse()?;
    /// assert_eq!(event, EventType::ToolPreExecute);
    /// assert_eq!((event.category(), event.action()), ("tool", "pre_execute"));
    /// assert!("tool:pre_exec".parse::<EventType>().is_err());
    /// # Ok::<(), forge_hooks::SetupError>(())
    /// ```
    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    EventType {
        /// `tool:pre_execute`: before a tool runs. Can be blocked.
        ToolPreExecute,
        /// `tool:post_execute`: after a tool has run.
        ToolPostExecute,
        /// `tool:error`: a tool failed.
        ToolError,
        /// `llm:pre_request`: before a request to a model. Can be blocked.
        LlmPreRequest,
        /// `llm:post_response`: after a model's response.
        LlmPostResponse,
        /// `llm:stream_start`: a response begins to stream.
        LlmStreamStart,
        /// `llm:stream_end`: a streamed response has ended.
        LlmStreamEnd,
        /// `session:start`: a session begins.
        SessionStart,
        /// `session:end`: a session ends.
        SessionEnd,
        /// `session:message`: a message is added to a session.
        SessionMessage,
        /// `permission:check`: a permission is checked. Can be blocked.
        PermissionCheck,
        /// `permission:prompt`: the user is asked for a permission. Can be blocked.
        PermissionPrompt,
        /// `permission:granted`: a permission was granted.
        PermissionGranted,
        /// `permission:denied`: a permission was denied.
        PermissionDenied,
        /// `user:prompt_submit`: the user submits input. Can be blocked.
        UserPromptSubmit,
        /// `user:interrupt`: the user interrupts, as with Ctrl-C.
        UserInterrupt,
    }
}

/// The checked name of an event that a host defined. [`EventType::custom`] creates it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CustomEventType(Arc<str>);

impl CustomEventType {
    /// Creates the type from a name that is known to be valid.
    pub(super) fn known(name: &'static str) -> Self {
        Self(name.into())
    }

    /// Returns the whole name, such as `game:level_loaded`.
    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl EventType {
    /// Creates an event of the host's own, such as `game:level_loaded`.
    ///
    /// # Errors
    /// When `name` is not `category:action` with both parts of `a-z`, `0-9` and `_`, or when it is
    /// the name of a built-in event.
    pub fn custom(name: impl AsRef<str>) -> Result<Self, SetupError> {
        let name = name.as_ref();
        let well_formed = |part: &str| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        };
        match name.split_once(':') {
            Some((category, action)) if well_formed(category) && well_formed(action) => {}
            _ => {
                return Err(SetupError::new(format_args!(
                    "invalid name `{name}` for a custom event: expected `category:action` of a-z, 0-9 and _"
                )));
            }
        }
        if Self::builtin(name).is_some() {
            return Err(built_in(name));
        }
        Ok(Self::Custom(CustomEventType(name.into())))
    }

    /// Returns the whole name, such as `tool:pre_execute`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Custom(custom) => custom.as_str(),
            // All events but custom ones are in the table.
            builtin => builtin.known().map_or("", |known| known.name),
        }
    }

    /// Returns the part before the colon, such as `tool`.
    #[must_use]
    pub fn category(&self) -> &str {
        self.parts().0
    }

    /// Returns the part after the colon, such as `pre_execute`.
    #[must_use]
    pub fn action(&self) -> &str {
        self.parts().1
    }

    /// Returns whether hooks can block the event. True for `tool:pre_execute`,
    /// `llm:pre_request`, `permission:check`, `permission:prompt`, `user:prompt_submit` and custom events,
    /// except `agent:subagent_start`, `context:post_compact`, `notification:show` and `llm:error`. The other events have
    /// happened already. Does not know which events a host has declared as
    /// [notify-only](crate::EventSpec::notify_only): see
    /// [`EventSpec::can_block`](crate::EventSpec::can_block).
    #[must_use]
    pub fn can_block(&self) -> bool {
        self.known().is_none_or(|known| known.can_block)
    }

    fn parts(&self) -> (&str, &str) {
        let name = self.as_str();
        // Every name contains a colon: the table above and `custom` ensure it.
        name.split_once(':').unwrap_or((name, ""))
    }

    /// Returns whether this crate knows the event. False for an event that only the host knows.
    pub(crate) fn is_known(&self) -> bool {
        self.known().is_some()
    }

    /// Returns whether this crate defines a key of this name in the data of this event.
    pub(crate) fn has_key(&self, name: &str) -> bool {
        let known = self.known();
        known.is_some_and(|known| known.data.iter().any(|(key, _)| *key == name))
    }

    /// Returns the event of this name, a built-in or a custom one.
    pub(crate) fn of_name(name: &str) -> Result<Self, SetupError> {
        Self::builtin(name).map_or_else(|| Self::custom(name), Ok)
    }

    fn builtin(name: &str) -> Option<Self> {
        Self::BUILTIN
            .into_iter()
            .find(|known| known.as_str() == name)
    }

    /// Returns the built-in event whose name is most similar to `name`, if one is similar enough to be a
    /// typo.
    pub(crate) fn nearest(name: &str) -> Option<Self> {
        let names = Self::BUILTIN.iter().map(Self::as_str);
        Self::builtin(nearest(name, names, LIKE_AN_EVENT)?)
    }
}

/// Returns the error of a name that no event has, with the event that is probably meant.
pub(crate) fn unknown(name: &str, nearest: Option<&EventType>) -> SetupError {
    let suggestion = nearest.map(|known| format!(", did you mean `{known}`?"));
    SetupError::new(format_args!(
        "unknown event `{name}`{}",
        suggestion.unwrap_or_default()
    ))
}

/// Returns the error of a built-in event where a custom one is expected.
pub(crate) fn built_in(name: &str) -> SetupError {
    SetupError::new(format_args!(
        "`{name}` is a built-in event, not a custom one"
    ))
}

/// The least similarity to a known name at which an event's or a tool's name counts as a typo of it.
pub(crate) const LIKE_AN_EVENT: f64 = 0.85;

/// Returns the name that is most similar to `text`, if its similarity is above `least`; 1 is equality. Capitals
/// make no difference.
pub(crate) fn nearest<'a>(
    text: &str,
    names: impl Iterator<Item = &'a str>,
    least: f64,
) -> Option<&'a str> {
    // The time of the search grows faster than the length of the name.
    if text.len() > LONGEST_NAME {
        return None;
    }
    // Without this, `Bash` would be nearer to `dash` than to `bash`.
    let text = text.to_lowercase();
    names
        .map(|name| (strsim::jaro_winkler(&name.to_lowercase(), &text), name))
        .filter(|(likeness, _)| *likeness > least)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

/// Reads the name of a built-in event. An unknown name is an error, never a custom event, so that a typo is
/// noticed.
impl FromStr for EventType {
    type Err = SetupError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::builtin(name).ok_or_else(|| unknown(name, Self::nearest(name).as_ref()))
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
            let suggestion = expected.map(|name| format!(", did you mean `{name}`?"));
            let message = format!("unknown event `{given}`{}", suggestion.unwrap_or_default());
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn custom_names_are_checked() {
        let custom = EventType::custom("game:level_2").unwrap();
        assert_eq!(custom.as_str(), "game:level_2");
        for bad in "|game|:|game:|:loaded|Game:loaded|game:a:b|g me:x|gäme:x".split('|') {
            let error = EventType::custom(bad).unwrap_err();
            let message = format!("invalid name `{bad}` for a custom event: ");
            assert!(error.to_string().starts_with(&message), "{error}");
        }
        let error = EventType::custom("tool:error").unwrap_err();
        let message = "`tool:error` is a built-in event, not a custom one";
        assert_eq!(error.to_string(), message);
    }
}
