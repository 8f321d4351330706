//! Explains why a pattern or a condition does not match an event, so that users can find out why their hook
//! does not run.
//!
//! Parses the pattern's text again, because the parsed pattern keeps no text for each part.

use std::fmt;

use super::{Alternative, EventPattern, Piece, Segment, split};
use crate::events::HookEvent;

/// Why one alternative of a pattern, or one condition of a hook, does not match an event.
///
/// See [`EventPattern::mismatches`] and [`Hook::mismatches`](crate::Hook::mismatches).
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
    /// The pattern's text for this part. For a condition, the [`Condition`](crate::Condition) as text.
    pub expected: String,
    /// The event's text for this part.
    /// For a value only its beginning, with secrets masked. None if the event has no tool or no such value.
    pub found: Option<String>,
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

impl EventPattern {
    /// Returns why this event does not match.
    ///
    /// For each alternative, the first part that does not match. Empty if the event matches.
    ///
    /// ```
    /// use forge_hooks::{EventPattern, HookEvent, PatternPart};
    ///
    /// let pattern: EventPattern = "tool:pre_execute:bash, llm:*".parse()?;
    /// let event = HookEvent::tool_pre_execute("write", "file");
    /// let parts: Vec<_> = pattern.mismatches(&event).iter().map(|it| it.part).collect();
    /// assert_eq!(parts, [PatternPart::Tool, PatternPart::Category]);
    /// # Ok::<(), forge_hooks::PatternError>(())
    /// ```
    #[must_use]
    pub fn mismatches(&self, event: &HookEvent) -> Vec<Mismatch> {
        if self.matches(event) {
            return Vec::new();
        }
        let pieces = split(Piece::whole(&self.source), ',');
        let alternatives = self.alternatives.iter().zip(pieces);
        alternatives
            .filter_map(|(alternative, piece)| alternative.mismatch(piece.trim(), event))
            .collect()
    }
}

impl Alternative {
    fn mismatch(&self, piece: Piece<'_>, event: &HookEvent) -> Option<Mismatch> {
        let name = &event.event_type;
        let texts = split(piece, ':');
        let text = |index: usize| texts.get(index).map_or("", |piece| piece.text);
        let mismatch = |part, expected: &str, found: Option<&str>| Mismatch {
            alternative: piece.text.to_owned(),
            part,
            expected: expected.to_owned(),
            found: found.map(str::to_owned),
        };
        let differs = |segment: &Segment, found: Option<&str>| {
            !found.is_some_and(|found| segment.matches(found))
        };
        match self {
            Self::Whole(segment) => differs(segment, Some(name.as_str()))
                .then(|| mismatch(PatternPart::Event, piece.text, Some(name.as_str()))),
            Self::Parts {
                category,
                action,
                tool,
            } => {
                let tool_text = texts
                    .get(2)
                    .map_or("", |third| piece.from(third.start).text);
                let found = event.tool_name.as_deref();
                if differs(category, Some(name.category())) {
                    Some(mismatch(
                        PatternPart::Category,
                        text(0),
                        Some(name.category()),
                    ))
                } else if differs(action, Some(name.action())) {
                    Some(mismatch(PatternPart::Action, text(1), Some(name.action())))
                } else {
                    let tool = tool.as_ref().filter(|tool| differs(tool, found));
                    tool.map(|_| mismatch(PatternPart::Tool, tool_text, found))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventType;

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
                    pattern.alternatives().len()
                };
                assert_eq!(found.len(), expected, "{text} {kind} {tool:?}");
            }
        }
    }
}
