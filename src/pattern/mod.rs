//! The events that a hook is for: a pattern that is parsed once, and then matched without allocating.
//!
//! Pure: knows the names of events, nothing of hooks.
//!
//! ```text
//! pattern     = alternative { "," alternative }
//! alternative = segment                             a glob over the whole name: `*`, `tool*`
//!             | segment ":" segment                 category:action, with any tool or none
//!             | segment ":" segment ":" segment     with a tool, whose name may contain colons
//! segment     = glob { "|" glob }
//! ```
//!
//! Within the brackets of a glob (`[a,b]`) separators have no special meaning. Names of events have no
//! capital letters, so that a capital letter in a category, an action or a whole name is an error.

mod alternative;
mod parse;

use std::borrow::Cow;
use std::fmt;

use crate::events::{EventType, HookEvent};
use crate::printable::shortened;

pub(crate) use alternative::{Alternative, Name, Part, PatternPart};

/// A parsed event pattern.
#[derive(Clone)]
pub(crate) struct EventPattern {
    source: Box<str>,
    alternatives: Box<[Alternative]>,
}

/// Error parsing an event pattern, with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid event pattern `{pattern}` at column {column}: {message}")]
pub(crate) struct PatternError {
    pattern: String,
    column: usize,
    message: Cow<'static, str>,
}

impl PatternError {
    /// Returns the pattern's source text.
    pub(crate) fn pattern(&self) -> &str {
        &self.pattern
    }
}

impl EventPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// If an alternative or a segment is empty, if a glob is malformed, if a category or an action has a capital letter,
    /// which no event has, or if the pattern is longer than 64 KiB. The error contains the position.
    pub(crate) fn new(pattern: impl Into<String>) -> Result<Self, PatternError> {
        let source = pattern.into();
        match parse::alternatives(&source) {
            Ok(alternatives) => Ok(Self {
                source: source.into(),
                alternatives: alternatives.into(),
            }),
            Err((at, message)) => Err(PatternError {
                pattern: shortened(&source).into_owned(),
                column: source[..at].chars().count() + 1,
                message,
            }),
        }
    }

    /// Returns the alternatives, in the pattern's order.
    pub(crate) fn alternatives(&self) -> &[Alternative] {
        &self.alternatives
    }

    /// Returns the pattern of this event type, with any tool or none.
    pub(crate) fn of_event(event_type: &EventType) -> Self {
        Self::new(event_type.as_str()).unwrap_or_else(|_| Self::any())
    }

    /// Returns a pattern that matches each event that one of the two matches.
    pub(crate) fn or(&self, other: &Self) -> Self {
        let both = format!("{}, {}", self.as_str(), other.as_str());
        Self::new(both).unwrap_or_else(|_| Self::any())
    }

    /// Returns the pattern `*`.
    pub(crate) fn any() -> Self {
        let any = Alternative { parts: [].into() };
        Self {
            source: "*".into(),
            alternatives: [any].into(),
        }
    }

    /// Returns the pattern with its categories and actions in lower case. None if part of the result is
    /// malformed or matches no built-in event.
    pub(crate) fn without_capitals(pattern: &str) -> Option<Self> {
        Self::new(parse::without_capitals(pattern)?).ok()
    }

    /// Returns the pattern's source text.
    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        &self.source
    }

    /// Returns whether the pattern matches this event. Allocates nothing.
    #[must_use]
    pub(crate) fn matches(&self, event: &HookEvent) -> bool {
        let tool = event.tool_name.as_deref();
        let mut alternatives = self.alternatives.iter();
        alternatives.any(|alternative| alternative.difference(&event.event_type, tool).is_none())
    }

    /// Returns the names of tools that would make the pattern match an event that has another tool, or none.
    #[cfg(feature = "cli")]
    pub(crate) fn other_tools(&self, event_type: &EventType) -> Vec<&str> {
        let of_event = self
            .alternatives
            .iter()
            .filter(|alternative| alternative.matches_type(event_type));
        let tools = of_event.filter_map(Alternative::tool);
        tools
            .flat_map(|part| part.names.iter().map(|name| &*name.text))
            .collect()
    }

    /// Returns whether the pattern matches events of this type, with some tool or without one.
    #[must_use]
    pub(crate) fn matches_type(&self, event_type: &EventType) -> bool {
        let mut alternatives = self.alternatives.iter();
        alternatives.any(|alternative| alternative.matches_type(event_type))
    }

    /// Returns whether this is the only built-in event that the pattern matches.
    pub(crate) fn matches_only(&self, event_type: &EventType) -> bool {
        let mut known = EventType::BUILTIN.iter();
        known.all(|known| self.matches_type(known) == (known == event_type))
    }

    /// Returns whether the pattern matches any built-in event.
    pub(crate) fn matches_known(&self) -> bool {
        let mut alternatives = self.alternatives.iter();
        alternatives.any(Alternative::matches_known)
    }
}

impl PartialEq for EventPattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for EventPattern {}

impl fmt::Display for EventPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.source)
    }
}

impl fmt::Debug for EventPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EventPattern").field(&self.source).finish()
    }
}
