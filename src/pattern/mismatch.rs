//! Explains why a pattern or a condition does not match an event, so that users can find out why a hook does not run.

use std::fmt;

use super::EventPattern;
use super::alternative::{Alternative, PatternPart};
use crate::events::HookEvent;

/// The reason why one alternative of a pattern, or one condition of a hook, does not match an event.
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

impl EventPattern {
    /// Returns the reasons why this event does not match.
    ///
    /// There is one reason for each alternative: its first part that does not match. Empty if the event matches.
    ///
    /// ```
    /// use forge_hooks::pattern::{EventPattern, PatternPart};
    /// use forge_hooks::HookEvent;
    ///
    /// let pattern: EventPattern = "tool:pre_execute:bash, llm:*".parse()?;
    /// let event = HookEvent::tool_pre_execute("write", "file");
    /// let mismatches = pattern.mismatches(&event);
    /// let parts: Vec<_> = mismatches.iter().map(|mismatch| mismatch.part).collect();
    /// assert_eq!(parts, [PatternPart::Tool, PatternPart::Category]);
    /// # Ok::<(), forge_hooks::pattern::PatternError>(())
    /// ```
    #[must_use]
    pub fn mismatches(&self, event: &HookEvent) -> Vec<Mismatch> {
        if self.matches(event) {
            return Vec::new();
        }
        let tool = event.tool_name.as_deref();
        let differs = |alternative: &Alternative| {
            let (part, found) = alternative.difference(&event.event_type, tool)?;
            Some(Mismatch {
                alternative: alternative.text(),
                part: part.place,
                expected: part.text(),
                found: found.map(str::to_owned),
            })
        };
        self.alternatives.iter().filter_map(differs).collect()
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
            let mismatches = EventPattern::new(text).unwrap().mismatches(event);
            let messages: Vec<_> = mismatches.iter().map(ToString::to_string).collect();
            assert_eq!(messages, expected, "{text}");
            let alternatives = mismatches
                .iter()
                .all(|mismatch| text.contains(&mismatch.alternative));
            assert!(alternatives, "{mismatches:?}");
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
                .flat_map(|event| tools.map(|tool| (event, tool)))
            {
                let event = HookEvent::new(kind.clone());
                let event = tool.into_iter().fold(event, HookEvent::with_tool_name);
                let mismatches = pattern.mismatches(&event);
                let expected = if pattern.matches(&event) {
                    0
                } else {
                    pattern.alternatives.len()
                };
                assert_eq!(mismatches.len(), expected, "{text} {kind} {tool:?}");
            }
        }
    }
}
