//! Finds what matches nothing in a pattern, and suggests what was probably meant.
//!
//! Knows the events and tools of a host as far as the host has declared them. Each finding is a guess: a host may fire
//! what it has not declared.

use super::EventPattern;
use super::alternative::{Alternative, Part};
use crate::events::{EventSpec, EventType, Vocabulary, meant_by};
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

const FORM: &str = "names of events have the form `category:action`, as in `tool:pre_execute`";

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
        let whole = braces(&self.source).or_else(|| tools_after_comma(alternatives.clone()));
        match whole {
            Some(whole) => vec![whole],
            None => alternatives.flat_map(|it| it.unfired(vocabulary)).collect(),
        }
    }
}

/// Finds a list in braces, as in `tool:pre_execute:{bash,write}`.
fn braces(pattern: &str) -> Option<Unfired> {
    let (before, rest) = pattern.split_once('{')?;
    let (names, after) = rest.split_once('}')?;
    let names: Vec<_> = names.split([',', '|']).map(str::trim).collect();
    let meant = format!("{before}{}{after}", names.join("|"));
    let message = "braces have no meaning in a pattern".to_owned();
    Some(Unfired::new(message, Some(meant)))
}

/// Finds tools that a comma separates, as in `tool:pre_execute:bash,write`.
fn tools_after_comma<'a>(
    alternatives: impl Iterator<Item = &'a Alternative> + Clone,
) -> Option<Unfired> {
    let mut pairs = alternatives.clone().zip(alternatives.skip(1));
    let (before, word) = pairs.find(|(before, it)| {
        before.tool().is_some() && it.is_word() && meant_by(&it.text).is_none()
    })?;
    let word = shortened(&word.text);
    let message = format!("`{word}` matches no event, since a comma separates whole patterns");
    let meant = format!("{}|{word}", shortened(&before.text));
    Some(Unfired::new(message, Some(meant)))
}

impl Alternative {
    fn unfired(&self, vocabulary: &Vocabulary) -> Vec<Unfired> {
        let of_event = self
            .spaced_name()
            .or_else(|| self.joined_pattern())
            .or_else(|| self.no_event(vocabulary));
        match (of_event, self.tool()) {
            (None, Some(_)) if self.has_no_tool(vocabulary) => {
                let text = shortened(&self.text);
                let message = format!("`{text}` names a tool, but its events have no tool");
                vec![Unfired::new(message, Some(self.event_text().to_owned()))]
            }
            (None, Some(tool)) => self.unknown_tools(tool, vocabulary),
            (found, _) => found.into_iter().collect(),
        }
    }

    /// Whether it can match no event: every event has a colon in its name.
    fn is_word(&self) -> bool {
        !self.text.contains([':', '*', '?', '['])
    }

    fn spaced_name(&self) -> Option<Unfired> {
        let mut names = self.parts.iter().flat_map(|part| &part.names);
        let name = names.find(|name| name.text.trim() != &*name.text)?;
        let name = shortened(&name.text);
        let message = format!("`{name}` begins or ends with a space, which is part of the name");
        let trimmed = |part: &Part| {
            let names: Vec<_> = part.names.iter().map(|name| name.text.trim()).collect();
            names.join("|")
        };
        let parts: Vec<_> = self.parts.iter().map(trimmed).collect();
        Some(Unfired::new(message, Some(parts.join(":"))))
    }

    /// Finds a second pattern after a `|`, as in `tool:*:bash|tool:*:write`.
    fn joined_pattern(&self) -> Option<Unfired> {
        let mut rests = self
            .text
            .match_indices('|')
            .map(|(at, _)| &self.text[at + 1..]);
        let second = rests.find(|rest| {
            let category = rest.split_once(':').map(|(category, _)| category);
            let mut known = EventType::BUILTIN.iter();
            known.any(|event| Some(event.category()) == category)
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
        if self.matched(vocabulary).next().is_some() {
            return None;
        }
        let meant = self.meant(vocabulary);
        let of_what = match vocabulary.declares_events() {
            true => "event of this program",
            false if self.is_word() => "event",
            false if meant.is_some() => "built-in event",
            false => return None,
        };
        let message = format!("`{}` matches no {of_what}", shortened(&self.text));
        Some(Unfired {
            help: (self.is_word() && meant.is_none()).then_some(FORM),
            ..Unfired::new(message, meant)
        })
    }

    fn meant(&self, vocabulary: &Vocabulary) -> Option<String> {
        let name = self.event_text();
        if self.is_word()
            && let Some(meant) = meant_by(name)
        {
            return Some(meant);
        }
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
        let nearest = vocabulary.nearest_event(name)?.event_type();
        Some(match self.tool() {
            // A sentence, such as `tool:error or tool:post_execute`, has no tool.
            Some(tool) if !name.contains(' ') => format!("{nearest}:{}", tool.text),
            _ => nearest.to_string(),
        })
    }

    /// Whether it matches events, all without a tool.
    fn has_no_tool(&self, vocabulary: &Vocabulary) -> bool {
        let mut matched = self.matched(vocabulary).peekable();
        matched.peek().is_some() && !matched.any(EventSpec::may_have_tool)
    }

    /// The events that it matches. Without globs it is looked up: a file may hold many patterns.
    fn matched<'a>(&'a self, vocabulary: &'a Vocabulary) -> impl Iterator<Item = &'a EventSpec> {
        let name = self.event_text();
        let candidates = match vocabulary.event(name) {
            Some(event) => std::slice::from_ref(event),
            None if name.contains(['*', '?', '[', '|']) => vocabulary.events(),
            None => &[],
        };
        let is_matched = |spec: &&EventSpec| self.matches_type(spec.event_type());
        candidates.iter().filter(is_matched)
    }

    /// Finds tools that the host has not declared; if it has declared none, a usual tool in another case.
    fn unknown_tools(&self, tool: &Part, vocabulary: &Vocabulary) -> Vec<Unfired> {
        let has_tools = !vocabulary.tools().is_empty();
        let mut found = Vec::new();
        for name in tool.names.iter().take(MOST_SEARCHED) {
            let text = &*name.text;
            let is_literal = name.glob.is_none() && text != "*";
            let is_known = match is_literal {
                true => vocabulary.has_tool(text),
                false => vocabulary.may_have_tool_like(|tool| name.matches(tool)),
            };
            if has_tools && !is_known {
                let message = format!("`{}` is not a tool of this program", shortened(text));
                let nearest = vocabulary.nearest_tool(text).map(str::to_owned);
                found.push(Unfired::new(message, nearest));
            }
            let mut usual = USUAL_TOOLS
                .iter()
                .filter(|usual| usual.eq_ignore_ascii_case(text));
            // A pattern that names both is right.
            if let Some(usual) = usual.next()
                && !has_tools
                && self.text.starts_with("tool:")
                && !tool.matches(usual)
            {
                let message = format!("tool names are case-sensitive: `{text}` is not `{usual}`");
                found.push(Unfired::new(message, Some((*usual).to_owned())));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

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
                "`session:start:x` names a tool, but its events have no tool: session:start",
                "` x` begins or ends with a space, which is part of the name: tool:*:x",
            ]
        );
        let tools = vocabulary(&[], &["bash"]);
        assert!(found("game:saved, game:saved:bash", &tools).is_empty());
        assert_eq!(found("game:saved:Bash", &tools).len(), 1);
        let events = vocabulary(&["game:saved"], &[]);
        assert_eq!(
            found("tool:*:Bash", &events),
            ["tool names are case-sensitive: `Bash` is not `bash`: bash"]
        );
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
