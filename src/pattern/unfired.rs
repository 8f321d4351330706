//! Finds what matches nothing in a pattern, and suggests what was probably meant.
//!
//! Knows the events and tools of a host as far as the host has declared them. Each finding is a guess: a host may fire
//! what it has not declared.

use glob::Pattern;

use super::EventPattern;
use super::alternative::{Alternative, Part};
use crate::events::{EventType, Vocabulary, meant_by};
use crate::printable::shortened;

/// A part of a pattern that matches nothing.
pub(crate) struct Unfired {
    pub(crate) message: String,
    pub(crate) suggestion: Option<String>,
    pub(crate) help: Option<&'static str>,
}

/// The most alternatives, and the most names of tools, that are looked at: a pattern may have very many.
const MOST_SEARCHED: usize = 16;

/// Tools that most hosts have, as the examples name them.
const USUAL_TOOLS: [&str; 6] = ["bash", "edit", "glob", "grep", "read", "write"];

const FORM: &str = "names of events have the form `category:action`; `|` separates tools, as in \
                    `tool:pre_execute:bash|write`";

impl Unfired {
    fn new(message: String, suggestion: Option<String>) -> Self {
        Self {
            message,
            suggestion: suggestion.map(|meant| shortened(&meant).into_owned()),
            help: None,
        }
    }
}

impl EventPattern {
    /// Returns the parts that match no event or no tool of a host.
    pub(crate) fn unfired(&self, vocabulary: &Vocabulary) -> Vec<Unfired> {
        let alternatives = self.alternatives.iter().take(MOST_SEARCHED);
        let found = alternatives.flat_map(|it| it.unfired(vocabulary));
        found.collect()
    }
}

impl Alternative {
    fn unfired(&self, vocabulary: &Vocabulary) -> Vec<Unfired> {
        let of_event = self.joined_pattern().or_else(|| self.no_event(vocabulary));
        match (of_event, self.tool()) {
            (Some(found), _) => vec![found],
            (None, Some(tool)) => {
                let names = tool.names.iter().take(MOST_SEARCHED);
                let found = names.filter_map(|name| self.unknown_tool(name, tool, vocabulary));
                found.collect()
            }
            (None, None) => Vec::new(),
        }
    }

    /// Finds a second pattern after a `|`, as in `tool:*:bash|tool:*:write`.
    fn joined_pattern(&self) -> Option<Unfired> {
        let mut seconds = self
            .text
            .match_indices('|')
            .map(|(at, _)| &self.text[at + 1..]);
        let second = seconds.find(|second| {
            let category = second
                .split(':')
                .next()
                .filter(|it| it.len() < second.len());
            EventType::BUILTIN
                .iter()
                .any(|event| Some(event.category()) == category)
        })?;
        let second = shortened(second);
        let message = format!("`|` separates names within one part, so `{second}` is no pattern");
        Some(Unfired {
            help: Some("separate patterns with a comma"),
            ..Unfired::new(message, None)
        })
    }

    /// Finds a name that no event has. Where the host has declared no events of its own, the name may be that of such
    /// an event, except if it is almost that of an event that is known.
    fn no_event(&self, vocabulary: &Vocabulary) -> Option<Unfired> {
        // Without globs it is looked up: a file may hold many patterns.
        let name = self.event_text();
        let events = match vocabulary.event(name) {
            Some(event) => std::slice::from_ref(event),
            None if name.contains(['*', '?', '[', '|']) => vocabulary.events(),
            None => &[],
        };
        let mut matched = events
            .iter()
            .filter(|spec| self.matches_type(spec.event_type()));
        let tool = self.tool();
        if matched.any(|spec| tool.is_none() || spec.may_have_tool()) {
            return None;
        }
        // Every event has a colon in its name.
        let is_word = !self.text.contains([':', '*', '?', '[']);
        let meant = match is_word {
            true => meant_by(name).or_else(|| self.meant(vocabulary)),
            false => self.meant(vocabulary),
        };
        let of_what = match vocabulary.declares_events() {
            true => "event of this program",
            false if is_word => "event",
            false if meant.is_some() => "built-in event",
            false => return None,
        };
        let message = format!("`{}` matches no {of_what}", shortened(&self.text));
        Some(Unfired {
            help: (is_word && meant.is_none()).then_some(FORM),
            ..Unfired::new(message, meant)
        })
    }

    fn meant(&self, vocabulary: &Vocabulary) -> Option<String> {
        let name = self.event_text();
        // The name of a tool in place of the action, as in `tool:bash`.
        if let Some(("tool", action)) = self.text.split_once(':')
            && vocabulary.has_tool(action)
        {
            return Some(format!("tool:pre_execute:{action}"));
        }
        let mut events = vocabulary.events().iter();
        if events.any(|spec| spec.event_type().category() == name) {
            return Some(format!("{name}:*"));
        }
        let nearest = vocabulary.nearest_event(name)?;
        let event = nearest.event_type();
        Some(match self.tool() {
            // A sentence, such as `tool:error or tool:post_execute`, has no tool.
            Some(tool) if nearest.may_have_tool() && !name.contains(' ') => {
                format!("{event}:{}", tool.text)
            }
            _ => event.to_string(),
        })
    }

    /// Finds a tool that the host has not declared. If it has declared none, finds a usual tool in another case, and blanks
    /// around a name, except where the pattern has both names.
    fn unknown_tool(
        &self,
        name: &Pattern,
        tool: &Part,
        vocabulary: &Vocabulary,
    ) -> Option<Unfired> {
        let text = name.as_str();
        if vocabulary.tools().is_empty() {
            let mut usual = USUAL_TOOLS
                .iter()
                .filter(|_| self.text.starts_with("tool:"));
            let usual = usual.find(|usual| usual.eq_ignore_ascii_case(text.trim()));
            let meant = usual.map_or(text.trim(), |usual| usual);
            let message = format!("tool names are compared exactly: `{text}` is not `{meant}`");
            let is_right = meant == text || tool.matches(meant);
            return (!is_right).then(|| Unfired::new(message, Some(meant.to_owned())));
        }
        let is_known = match text.contains(['*', '?', '[']) {
            true => vocabulary.may_have_tool_like(name),
            false => vocabulary.has_tool(text),
        };
        let message = format!("`{}` is not a tool of this program", shortened(text));
        let nearest = vocabulary.nearest_tool(text).map(str::to_owned);
        (!is_known).then(|| Unfired::new(message, nearest))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::events::EventSpec;

    fn vocabulary(events: &[&str], tools: &[&str]) -> Vocabulary {
        let mut vocabulary = Vocabulary::default();
        for name in events {
            vocabulary.add_event(EventSpec::custom(name).unwrap());
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
                "tool",
                Some("`tool` matches no event of this program: tool:*"),
            ),
            (
                "tool:pre_execute:bash|tool:*:x",
                Some("`|` separates names within one part, so `tool:*:x` is no pattern"),
            ),
            (
                "tool:pre_execute|tool:error",
                Some("`|` separates names within one part, so `tool:error` is no pattern"),
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
            "tool:*:Bash|bash",
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
                "`session:start:x` matches no built-in event: session:start",
                "tool names are compared exactly: ` x` is not `x`: x",
            ]
        );
        let tools = vocabulary(&[], &["bash"]);
        assert!(found("game:saved, game:saved:bash", &tools).is_empty());
        assert_eq!(found("game:saved:Bash", &tools).len(), 1);
        let events = vocabulary(&["game:saved"], &[]);
        assert_eq!(
            found("tool:*:Bash", &events),
            ["tool names are compared exactly: `Bash` is not `bash`: bash"]
        );
    }

    #[test]
    fn a_glob_is_compared_with_the_names() {
        let named = vocabulary(&[], &["bash", "write"]);
        assert!(found("tool:*:w*", &named).is_empty());
        assert_eq!(found("tool:*:x*", &named).len(), 1);
        // Of two globs, only the beginnings are compared.
        let servers = vocabulary(&[], &["mcp:*"]);
        for (tool, count) in [
            ("x*", 1),
            ("mcp__*", 1),
            ("mcp:a*b", 0),
            ("m*", 0),
            ("*", 0),
            ("*x", 0),
        ] {
            let pattern = format!("tool:*:{tool}");
            assert_eq!(found(&pattern, &servers).len(), count, "{tool}");
        }
    }
}
