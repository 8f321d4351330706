//! Finds parts of a pattern that match nothing that a host fires, and suggests the intended name.

use std::fmt;

use super::{Alternative, EventPattern, MOST_SEARCHED, Segment};
use crate::events::{EventSpec, EventType, Vocabulary};
use crate::printable::shortened;

/// A part of a pattern that matches nothing.
pub(crate) struct Unfired {
    pub(crate) message: String,
    pub(crate) suggestion: Option<String>,
    pub(crate) help: Option<&'static str>,
}

impl Unfired {
    fn new(message: String, suggestion: Option<String>) -> Self {
        Self {
            message,
            suggestion,
            help: None,
        }
    }
}

impl EventPattern {
    /// Returns the pattern that was probably meant, if this one matches no built-in event. None if no name is
    /// similar (for example, of a custom event).
    pub(crate) fn nearest_known(&self) -> Option<String> {
        let pieces = self.source.split(',').take(MOST_SEARCHED);
        let mut names = pieces.map(|text| {
            let mut parts = text.trim().splitn(3, ':');
            let event: Vec<&str> = parts.by_ref().take(2).collect();
            (event.join(":"), parts.next())
        });
        names.find_map(|(name, tool)| match (meant_by(&name)?, tool) {
            (meant, Some(tool)) if !meant.ends_with('*') && !name.contains(' ') => {
                Some(format!("{meant}:{tool}"))
            }
            (meant, _) => Some(meant),
        })
    }

    /// Returns the parts that match no event or no tool of a host, as far as the host has declared events of its
    /// own and tools.
    pub(crate) fn unfired(&self, vocabulary: &Vocabulary) -> Vec<Unfired> {
        let alternatives = self.alternatives().iter().take(MOST_SEARCHED);
        alternatives
            .flat_map(|alternative| alternative.unfired(vocabulary))
            .collect()
    }
}

/// Returns the pattern that was probably meant by a name that no built-in event has.
fn meant_by(name: &str) -> Option<String> {
    let mut known = EventType::BUILTIN.iter();
    if known.any(|event| event.category() == name) {
        return Some(format!("{name}:*"));
    }
    EventType::nearest(name).map(|event| event.to_string())
}

impl Alternative {
    fn unfired(&self, vocabulary: &Vocabulary) -> Vec<Unfired> {
        if let Some(name) = self.spaced_name() {
            let message = format!(
                "`{}` begins or ends with a space, which is part of the name",
                shortened(name)
            );
            let text = self.shown();
            let parts = text.split(':').map(|part| {
                let names: Vec<_> = part.split('|').map(str::trim).collect();
                names.join("|")
            });
            let meant = parts.collect::<Vec<_>>().join(":");
            return vec![Unfired::new(message, Some(meant))];
        }
        let misread = self.joined_pattern();
        if let Some(unfired) = misread.or_else(|| self.misplaced_tool(vocabulary)) {
            return vec![unfired];
        }
        if self.tool().is_none() && !vocabulary.declares_events() {
            return Vec::new();
        }
        let mut matched = self.matched(vocabulary).peekable();
        let is_matched = matched.peek().is_some();
        if !is_matched && vocabulary.declares_events() {
            return vec![self.no_event(vocabulary)];
        }
        let Some(tool) = self.tool() else {
            return Vec::new();
        };
        if is_matched && !matched.any(EventSpec::may_have_tool) {
            let message = format!(
                "`{}` names a tool, but its events have no tool",
                self.shown()
            );
            return vec![Unfired::new(message, Some(self.event_text()))];
        }
        unknown_tools(tool, vocabulary)
    }

    /// The events that it matches. Without globs it is looked up: a file may hold many patterns.
    fn matched<'a>(&'a self, vocabulary: &'a Vocabulary) -> impl Iterator<Item = &'a EventSpec> {
        let candidates = match self {
            Self::Whole(Segment::Literal(_))
            | Self::Parts {
                category: Segment::Literal(_),
                action: Segment::Literal(_),
                ..
            } => {
                let named = vocabulary.event(&self.event_text());
                named.map_or(&[][..], std::slice::from_ref)
            }
            _ => vocabulary.events(),
        };
        let is_matched = |spec: &&EventSpec| self.matches_type(spec.event_type());
        candidates.iter().filter(is_matched)
    }

    fn segments(&self) -> impl Iterator<Item = &Segment> {
        let segments = match self {
            Self::Whole(name) => [Some(name), None, None],
            Self::Parts {
                category,
                action,
                tool,
            } => [Some(category), Some(action), tool.as_ref()],
        };
        segments.into_iter().flatten()
    }

    fn spaced_name(&self) -> Option<&str> {
        let mut names = self.segments().flat_map(Segment::names).map(Segment::text);
        names.find(|name| name.trim() != *name)
    }

    /// Finds a second pattern after a `|`, as in `tool:*:bash|tool:*:write`.
    fn joined_pattern(&self) -> Option<Unfired> {
        let text = match self.tool() {
            Some(tool) => format!("{}:{tool}", self.event_text()),
            None => self.event_text(),
        };
        let mut rests = text.match_indices('|').map(|(at, _)| &text[at + 1..]);
        let begins_pattern = |rest: &&str| {
            let category = rest.split_once(':').map(|(category, _)| category);
            let mut known = EventType::BUILTIN.iter();
            known.any(|event| category == Some(event.category()))
        };
        let second = shortened(rests.find(begins_pattern)?);
        let message = format!("`|` separates names within one part, so `{second}` is no pattern");
        let mut unfired = Unfired::new(message, None);
        unfired.help = Some("separate patterns with a comma");
        Some(unfired)
    }

    /// Finds the name of a tool in place of the action, as in `tool:bash`.
    fn misplaced_tool(&self, vocabulary: &Vocabulary) -> Option<Unfired> {
        let Self::Parts {
            category,
            action: Segment::Literal(action),
            tool: None,
        } = self
        else {
            return None;
        };
        let is_tool = category.text() == "tool" && vocabulary.has_tool(action);
        if !is_tool || vocabulary.event(&self.event_text()).is_some() {
            return None;
        }
        let message = format!("`{}` matches no event of this program", self.shown());
        let mut unfired = Unfired::new(message, Some(format!("tool:pre_execute:{action}")));
        unfired.help = Some("a tool is the third part of a pattern");
        Some(unfired)
    }

    fn no_event(&self, vocabulary: &Vocabulary) -> Unfired {
        let message = format!("`{}` matches no event of this program", self.shown());
        let text = self.event_text();
        let mut events = vocabulary.events().iter();
        if events.any(|spec| spec.event_type().category() == text) {
            return Unfired::new(message, Some(format!("{text}:*")));
        }
        let nearest = vocabulary.nearest_event(&text);
        let suggestion = nearest.map(|spec| match self.tool() {
            Some(tool) => format!("{}:{tool}", spec.event_type()),
            None => spec.event_type().to_string(),
        });
        Unfired::new(message, suggestion)
    }

    /// The text without the tool.
    fn event_text(&self) -> String {
        match self {
            Self::Whole(name) => name.to_string(),
            Self::Parts {
                category, action, ..
            } => format!("{category}:{action}"),
        }
    }

    fn shown(&self) -> String {
        match self.tool() {
            Some(tool) => shortened(&format!("{}:{tool}", self.event_text())).into_owned(),
            None => shortened(&self.event_text()).into_owned(),
        }
    }
}

fn unknown_tools(tool: &Segment, vocabulary: &Vocabulary) -> Vec<Unfired> {
    if vocabulary.tools().is_empty() {
        return Vec::new();
    }
    let names = tool.names().iter().take(MOST_SEARCHED);
    let unknown = names.filter(|name| match name {
        Segment::Literal(name) => !vocabulary.has_tool(name),
        _ => !vocabulary.may_have_tool_like(|tool| name.matches(tool)),
    });
    unknown
        .map(|name| {
            let text = name.text();
            let message = format!("`{}` is not a tool of this program", shortened(text));
            Unfired::new(message, vocabulary.nearest_tool(text).map(str::to_owned))
        })
        .collect()
}

impl Segment {
    fn names(&self) -> &[Self] {
        match self {
            Self::OneOf(names) => names,
            one => std::slice::from_ref(one),
        }
    }

    /// The text of one name; empty for a list of names.
    fn text(&self) -> &str {
        match self {
            Self::Any => "*",
            Self::Literal(text) => text,
            Self::Glob(glob) => glob.as_str(),
            Self::OneOf(_) => "",
        }
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.names().iter().enumerate() {
            if index > 0 {
                f.write_str("|")?;
            }
            f.write_str(name.text())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn vocabulary(events: &[&str], tools: &[&str]) -> Vocabulary {
        let mut vocabulary = Vocabulary::default();
        for name in events {
            vocabulary.add_event(EventSpec::new(EventType::custom(name).unwrap()));
        }
        for tool in tools {
            vocabulary.add_tool((*tool).to_owned());
        }
        vocabulary
    }

    fn found(pattern: &str, vocabulary: &Vocabulary) -> Vec<String> {
        let found = EventPattern::new(pattern).unwrap().unfired(vocabulary);
        let shown = found.into_iter().map(|it| match it.suggestion {
            Some(meant) => format!("{}: {meant}", it.message),
            None => it.message,
        });
        shown.collect()
    }

    #[test]
    fn what_a_host_does_not_fire_is_found() {
        let declared = vocabulary(&["level:loaded", "session:started"], &["bash", "mcp:*"]);
        for (pattern, expected) in [
            ("level:loaded", None),
            ("level:*, tool*, *", None),
            ("session:started, session:start", None),
            ("tool:pre_execute:bash|mcp:x, tool:*:b*", None),
            ("level:loaded:bash", None),
            (
                "levle:loaded",
                Some("`levle:loaded` matches no event of this program: level:loaded"),
            ),
            (
                "tool:pre_exec:bash",
                Some(
                    "`tool:pre_exec:bash` matches no event of this program: tool:pre_execute:bash",
                ),
            ),
            ("before", Some("`before` matches no event of this program")),
            (
                "tool",
                Some("`tool` matches no event of this program: tool:*"),
            ),
            (
                "tool:pre_execute:Bash",
                Some("`Bash` is not a tool of this program: bash"),
            ),
            (
                "tool:bash",
                Some("`tool:bash` matches no event of this program: tool:pre_execute:bash"),
            ),
            (
                "session:start:bash",
                Some(
                    "`session:start:bash` names a tool, but its events have no tool: session:start",
                ),
            ),
            (
                "tool:pre_execute:bash|tool:*:x",
                Some("`|` separates names within one part, so `tool:*:x` is no pattern"),
            ),
            (
                "tool:pre_execute|tool:error",
                Some("`|` separates names within one part, so `tool:error` is no pattern"),
            ),
            (
                "tool:pre_execute:bash | mcp:x",
                Some(
                    "`bash ` begins or ends with a space, which is part of the name: tool:pre_execute:bash|mcp:x",
                ),
            ),
        ] {
            let expected: Vec<_> = expected.into_iter().collect();
            assert_eq!(found(pattern, &declared), expected, "{pattern}");
        }
    }

    #[test]
    fn many_events_are_not_compared_one_by_one() {
        let names: Vec<_> = (0..50_000).map(|number| format!("a:b{number}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let start = Instant::now();
        let many = vocabulary(&names, &[]);
        for name in &names[40_000..] {
            assert!(found(name, &many).is_empty());
        }
        assert!(start.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn what_is_not_declared_is_not_compared() {
        for pattern in [
            "levle:loaded",
            "tool:bash",
            "tool:*:Bash",
            "game:saved:x, *:*:x",
        ] {
            assert!(
                found(pattern, &vocabulary(&[], &[])).is_empty(),
                "{pattern}"
            );
        }
        assert_eq!(
            found("session:start:x, tool:*: x", &vocabulary(&[], &[])),
            [
                "`session:start:x` names a tool, but its events have no tool: session:start",
                "` x` begins or ends with a space, which is part of the name: tool:*:x",
            ]
        );
        let tools = vocabulary(&[], &["bash"]);
        assert!(found("game:saved, game:saved:bash", &tools).is_empty());
        assert_eq!(found("game:saved:Bash", &tools).len(), 1);
        let events = vocabulary(&["game:saved"], &[]);
        assert!(found("tool:*:Bash", &events).is_empty());
    }

    #[test]
    fn a_glob_is_compared_with_the_names() {
        let named = vocabulary(&[], &["bash", "write"]);
        assert!(found("tool:*:w*", &named).is_empty());
        assert_eq!(found("tool:*:x*", &named).len(), 1);
        // Whether two globs have a name in common is not known.
        assert!(found("tool:*:x*", &vocabulary(&[], &["mcp:*"])).is_empty());
    }
}
