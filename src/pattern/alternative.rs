//! An alternative of a pattern, and why it does not match an event, so that users can find out why their hook does not
//! run.

use std::fmt;

use glob::Pattern;

use crate::events::{EventType, HookEvent};

/// An alternative: parts that must all match.
#[derive(Clone)]
pub(super) struct Alternative {
    pub(super) text: Box<str>,
    /// The whole name alone; or category and action, and then perhaps the tool.
    pub(super) parts: Box<[Part]>,
}

/// A part of an alternative: names of which one must match.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) place: PatternPart,
    pub(super) text: Box<str>,
    pub(super) names: Box<[Pattern]>,
}

/// A part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PatternPart {
    /// The whole name of the event, in a pattern of one part.
    Event,
    /// The text before the first colon.
    Category,
    /// The text between the first and the second colon.
    Action,
    /// The third part.
    Tool,
    /// A condition of the hook, which is not part of the pattern.
    Condition,
}

impl fmt::Display for PatternPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Event => "event",
            Self::Category => "category",
            Self::Action => "action",
            Self::Tool => "tool",
            Self::Condition => "condition",
        })
    }
}

/// Why one alternative of a pattern, or one condition of a hook, does not match an event.
///
/// See [`EventPattern::mismatches`](super::EventPattern::mismatches) and [`Hook::mismatches`](crate::Hook::mismatches).
///
/// `Display` is a fragment such as `its tool is \`bash\`, and the event's is \`write\``.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// The alternative, such as `tool:pre_execute:bash`.
    /// For a condition, its JSON Pointer, such as `/tool_args/command`.
    pub alternative: String,
    /// The first part that does not match.
    pub part: PatternPart,
    /// The pattern's text for this part. For a condition, the [`Condition`](crate::hook::Condition) as text.
    pub expected: String,
    /// The event's text for this part.
    /// For a value only its beginning, with secrets masked. None if the event has no tool or no such value.
    pub found: Option<String>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = self.part;
        let expected = &self.expected;
        match &self.found {
            Some(found) if part == PatternPart::Condition => {
                write!(f, "its value is `{found}`, and the condition `{expected}`")
            }
            None if part == PatternPart::Condition => write!(f, "it has no value"),
            Some(found) if part == PatternPart::Event => write!(f, "the event is `{found}`"),
            Some(found) => write!(
                f,
                "its {part} is `{expected}`, and the event's is `{found}`"
            ),
            None => write!(f, "its {part} is `{expected}`, and the event has none"),
        }
    }
}

impl Alternative {
    /// The first part that does not match, with the event's text for it. Allocates nothing.
    pub(super) fn difference<'a>(
        &self,
        event: &'a EventType,
        tool: Option<&'a str>,
    ) -> Option<(&Part, Option<&'a str>)> {
        let found = |part: &Part| match part.place {
            PatternPart::Event => Some(event.as_str()),
            PatternPart::Category => Some(event.category()),
            PatternPart::Action => Some(event.action()),
            PatternPart::Tool | PatternPart::Condition => tool,
        };
        let mut parts = self.parts.iter().map(|part| (part, found(part)));
        parts.find(|(part, found)| !found.is_some_and(|text| part.matches(text)))
    }

    pub(super) fn mismatch(&self, event: &HookEvent) -> Option<Mismatch> {
        let (part, found) = self.difference(&event.event_type, event.tool_name.as_deref())?;
        Some(Mismatch {
            alternative: self.text.to_string(),
            part: part.place,
            expected: part.text.to_string(),
            found: found.map(str::to_owned),
        })
    }

    /// Whether it matches events of this type, with some tool or without one.
    pub(super) fn matches_type(&self, event: &EventType) -> bool {
        // The tool is the last part.
        let difference = self.difference(event, None);
        difference.is_none_or(|(part, _)| part.place == PatternPart::Tool)
    }

    /// The tool's part. None: any tool, or none, matches.
    pub(super) fn tool(&self) -> Option<&Part> {
        let last = self.parts.last();
        last.filter(|part| part.place == PatternPart::Tool)
    }

    /// The text without the tool.
    pub(super) fn event_text(&self) -> &str {
        let tool = self.tool().map_or(0, |tool| tool.text.len() + 1);
        &self.text[..self.text.len() - tool]
    }
}

impl Part {
    pub(super) fn matches(&self, text: &str) -> bool {
        self.names.iter().any(|name| name.matches(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::EventPattern;

    #[test]
    fn each_alternative_reports_one_mismatch() {
        let bash = HookEvent::new(EventType::ToolPreExecute).with_tool_name("bash");
        let no_tool = HookEvent::new(EventType::ToolPreExecute);
        let cases: [(&str, &HookEvent, &[&str]); 7] = [
            ("tool:*, llm:*", &bash, &[]),
            (
                "llm:pre_execute:bash",
                &bash,
                &["its category is `llm`, and the event's is `tool`"],
            ),
            (
                "tool:post*",
                &bash,
                &["its action is `post*`, and the event's is `pre_execute`"],
            ),
            (
                "tool:[!p]*:bash , tool:*:a|[b,c]:d",
                &bash,
                &[
                    "its action is `[!p]*`, and the event's is `pre_execute`",
                    "its tool is `a|[b,c]:d`, and the event's is `bash`",
                ],
            ),
            (
                "tool:*:*",
                &no_tool,
                &["its tool is `*`, and the event has none"],
            ),
            ("session*", &bash, &["the event is `tool:pre_execute`"]),
            (
                "session*|user*",
                &bash,
                &["the event is `tool:pre_execute`"],
            ),
        ];
        for (text, event, expected) in cases {
            let found = EventPattern::new(text).unwrap().mismatches(event);
            let words: Vec<_> = found.iter().map(ToString::to_string).collect();
            assert_eq!(words, expected, "{text}");
            let alternatives = found.iter().all(|it| text.contains(&it.alternative));
            assert!(alternatives, "{found:?}");
        }
    }

    #[test]
    fn a_mismatch_means_no_match() {
        let tools = [None, Some("bash"), Some("a:b")];
        for text in [
            "*",
            "tool:*",
            "tool:*:a:*",
            "t*, llm:pre*",
            "session|user*",
            "*:*:bash",
        ] {
            let pattern = EventPattern::new(text).unwrap();
            for (kind, tool) in EventType::BUILTIN
                .iter()
                .flat_map(|it| tools.map(|tool| (it, tool)))
            {
                let event = HookEvent::new(kind.clone());
                let event = tool.into_iter().fold(event, HookEvent::with_tool_name);
                let found = pattern.mismatches(&event);
                let expected = if pattern.matches(&event) {
                    0
                } else {
                    pattern.alternatives.len()
                };
                assert_eq!(found.len(), expected, "{text} {kind} {tool:?}");
            }
        }
    }
}
