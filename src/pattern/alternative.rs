//! An alternative of a pattern, and the reason why it does not match an event.

use crate::events::EventType;
use crate::globs::Glob;

/// An alternative: parts that must all match.
#[derive(Clone)]
pub(crate) struct Alternative {
    /// The parts: the whole name alone; or category and action, optionally followed by the tool.
    pub(crate) parts: Box<[Part]>,
}

/// A part of an alternative: names of which one must match.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) place: PatternPart,
    pub(crate) names: Box<[Name]>,
}

/// A name or a glob.
#[derive(Clone)]
pub(crate) struct Name {
    pub(crate) text: Box<str>,
    /// The compiled glob. None for a name, and for `*`, which needs no comparison.
    pub(super) glob: Option<Box<Glob>>,
}

/// A part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PatternPart {
    /// The whole name of the event, in a pattern of one part.
    Event,
    /// The text before the first colon.
    Category,
    /// The text between the first and the second colon.
    Action,
    /// The third part.
    Tool,
}

impl Alternative {
    /// Returns the first part that does not match, with the event's text for it. Allocates nothing.
    pub(super) fn difference<'a>(
        &self,
        event: &'a EventType,
        tool: Option<&'a str>,
    ) -> Option<(&Part, Option<&'a str>)> {
        let text_for = |part: &Part| match part.place {
            PatternPart::Event => Some(event.as_str()),
            PatternPart::Category => Some(event.category()),
            PatternPart::Action => Some(event.action()),
            PatternPart::Tool => tool,
        };
        let mut parts = self.parts.iter().map(|part| (part, text_for(part)));
        parts.find(|(part, text)| !text.is_some_and(|text| part.matches(text)))
    }

    /// Returns whether it matches events of this type, with some tool or without one.
    pub(crate) fn matches_type(&self, event: &EventType) -> bool {
        // The tool is the last part.
        let difference = self.difference(event, None);
        difference.is_none_or(|(part, _)| part.place == PatternPart::Tool)
    }

    pub(super) fn matches_known(&self) -> bool {
        let mut known = EventType::BUILTIN.iter();
        known.any(|known| self.matches_type(known))
    }

    /// Returns the tool's part. None: any tool, or none, matches.
    pub(crate) fn tool(&self) -> Option<&Part> {
        self.parts
            .last()
            .filter(|part| part.place == PatternPart::Tool)
    }

    /// Returns the text. It is not kept: a pattern may have very many alternatives.
    pub(crate) fn text(&self) -> String {
        let parts = self.parts.iter().map(Part::text);
        parts.collect::<Vec<_>>().join(":")
    }

    /// Returns the text without the tool.
    pub(crate) fn event_text(&self) -> String {
        let of_event = |part: &&Part| part.place != PatternPart::Tool;
        let parts = self.parts.iter().filter(of_event).map(Part::text);
        parts.collect::<Vec<_>>().join(":")
    }
}

impl Part {
    pub(crate) fn text(&self) -> String {
        let names = self.names.iter().map(|name| &*name.text);
        names.collect::<Vec<_>>().join("|")
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        self.names.iter().any(|name| name.matches(text))
    }
}

impl Name {
    pub(crate) fn matches(&self, text: &str) -> bool {
        match &self.glob {
            Some(glob) => glob.matches(text),
            None => *self.text == *text || *self.text == *"*",
        }
    }

    pub(crate) fn is_literal(&self) -> bool {
        self.glob.is_none() && *self.text != *"*"
    }
}
