//! Finds parts of a pattern that match nothing, and suggests the intended ones.
//!
//! Knows the events and tools of a host as far as the host has declared them. Each warning is a guess: a host may fire
//! an event that it has not declared.

use crate::agents::BRIDGED;
use crate::events::{EventSpec, EventType, Vocabulary, meant_by};
use crate::pattern::{Alternative, EventPattern, Name, Part, PatternPart};
use crate::printable::shortened;
use crate::problem::Problem;

/// The most alternatives, and the most names of tools, that are checked: a pattern may have very many.
const MOST_SEARCHED: usize = 16;

/// Returns a warning for each part of a pattern that matches no event or no tool of a host.
pub(crate) fn unfired(pattern: &EventPattern, vocabulary: &Vocabulary) -> Vec<Problem> {
    let alternatives = pattern.alternatives();
    let alternatives = &alternatives[..alternatives.len().min(MOST_SEARCHED)];
    let of_each = alternatives
        .iter()
        .flat_map(|alternative| alternative.unfired(vocabulary));
    let mut problems: Vec<_> = of_each.collect();
    // A host that has not declared its tools may have one of any name.
    if vocabulary.is_of_agents() {
        problems.extend(foreign_tool(alternatives));
    }
    problems
}

fn warning(message: String, suggestion: Option<String>) -> Problem {
    Problem::warning("event", message).with_suggestion_of(suggestion)
}

/// Finds a tool as an agent calls it, or in another case. A pattern with both names is intended.
fn foreign_tool(alternatives: &[Alternative]) -> Option<Problem> {
    let of_tools = alternatives
        .iter()
        .filter(|alternative| alternative.event_text().starts_with("tool:"));
    let parts = of_tools.filter_map(Alternative::tool);
    let names: Vec<&str> = parts
        .flat_map(Part::searched)
        .map(|name| &*name.text)
        .collect();
    let tools = || BRIDGED.iter().flat_map(|agent| agent.tools);
    let is_ours = |name: &str| tools().any(|tool| tool.ours.contains(&name));
    // A host may have a tool of any other name, such as `powershell`.
    let is_of_agent = |c: char| c.is_ascii_uppercase() || c == '_';
    let foreign = names
        .iter()
        .filter(|name| name.contains(is_of_agent) && !is_ours(name));
    let mut pairs = foreign.filter_map(|name| {
        let tool = tools().find(|tool| tool.theirs.eq_ignore_ascii_case(name))?;
        Some((name, *tool.ours.first()?))
    });
    let (name, ours) = pairs.find(|(_, ours)| !names.contains(ours))?;
    let message = format!("no tool is called `{name}` here: that is an agent's name of `{ours}`");
    Some(warning(message, Some(ours.to_owned())))
}

impl Alternative {
    fn unfired(&self, vocabulary: &Vocabulary) -> Vec<Problem> {
        let of_event = self
            .spaced_name()
            .or_else(|| self.joined_pattern())
            .or_else(|| self.no_event(vocabulary))
            .or_else(|| self.no_tool(vocabulary));
        match (of_event, self.tool()) {
            (Some(problem), _) => vec![problem],
            (None, Some(tool)) => unknown_tools(tool, vocabulary),
            (None, None) => Vec::new(),
        }
    }

    /// Returns whether it can match no event: every event has a colon in its name.
    fn is_word(&self) -> bool {
        !self.text().contains([':', '*', '?', '['])
    }

    fn spaced_name(&self) -> Option<Problem> {
        let mut names = self.parts.iter().flat_map(|part| &part.names);
        let name = names.find(|name| name.text.trim() != &*name.text)?;
        let name = shortened(&name.text);
        let message = format!("`{name}` begins or ends with a space, which is part of the name");
        Some(warning(message, None))
    }

    /// Finds a second pattern after a `|`, as in `tool:*:bash|tool:*:write`.
    fn joined_pattern(&self) -> Option<Problem> {
        let text = self.text();
        let is_pattern = |rest: &&str| {
            let category = rest.split(':').next();
            let mut known = EventType::BUILTIN.iter();
            rest.contains(':') && known.any(|event| Some(event.category()) == category)
        };
        let second = text.split('|').skip(1).find(is_pattern)?;
        let second = shortened(second);
        let message = format!("`|` separates names within one part, so `{second}` is no pattern");
        Some(warning(message, None).with_help("write a comma between two patterns"))
    }

    /// Finds a name that no event has. Where the host has declared no events of its own, the name may be that of such
    /// an event, except if it is almost that of an event that is known.
    fn no_event(&self, vocabulary: &Vocabulary) -> Option<Problem> {
        if self.matched(vocabulary).next().is_some() {
            return None;
        }
        let suggestion = self.suggestion(vocabulary);
        let kind = if vocabulary.declares_events() {
            "event of this program"
        } else if self.is_word() {
            "event"
        } else if suggestion.is_some() {
            "built-in event"
        } else {
            return None;
        };
        let message = format!("`{}` matches no {kind}", shortened(&self.text()));
        Some(warning(message, suggestion))
    }

    fn suggestion(&self, vocabulary: &Vocabulary) -> Option<String> {
        let name = &*self.event_text();
        if let Some(action) = name.strip_prefix("tool:")
            && self.tool().is_none()
            && vocabulary.has_tool(action)
        {
            return Some(format!("tool:pre_execute:{action}"));
        }
        let mut events = vocabulary.events().iter();
        if self.is_word()
            && let Some(event) = meant_by(name)
        {
            return Some(event);
        }
        if events.any(|spec| spec.event_type().category() == name) {
            return Some(format!("{name}:*"));
        }
        let nearest = vocabulary.nearest_event(name)?.event_type();
        Some(match self.tool() {
            // A sentence, such as `tool:error or tool:post_execute`, has no tool.
            Some(tool) if !name.contains(' ') => format!("{nearest}:{}", tool.text()),
            _ => nearest.to_string(),
        })
    }

    /// Finds a tool after an event that has none.
    fn no_tool(&self, vocabulary: &Vocabulary) -> Option<Problem> {
        let mut matched = self.matched(vocabulary).peekable();
        matched.peek()?;
        if self.tool().is_none() || matched.any(EventSpec::may_have_tool) {
            return None;
        }
        let message = format!(
            "`{}` names a tool, but its events have no tool",
            shortened(&self.text())
        );
        Some(warning(message, Some(self.event_text())))
    }

    /// Returns the events that the pattern matches. A pattern without globs is looked up, since a file may have many patterns.
    fn matched<'a>(&'a self, vocabulary: &'a Vocabulary) -> impl Iterator<Item = &'a EventSpec> {
        let of_event = |part: &&Part| part.place != PatternPart::Tool;
        let mut names = self.parts.iter().filter(of_event);
        let is_one = names.all(|part| part.names.len() == 1 && part.names[0].is_literal());
        let candidates = match vocabulary.event(&self.event_text()) {
            Some(event) if is_one => std::slice::from_ref(event),
            None if is_one => &[],
            _ => vocabulary.events(),
        };
        let is_matched = |spec: &&EventSpec| self.matches_type(spec.event_type());
        candidates.iter().filter(is_matched)
    }
}

impl Part {
    fn searched(&self) -> impl Iterator<Item = &Name> {
        self.names.iter().take(MOST_SEARCHED)
    }
}

fn unknown_tools(tool: &Part, vocabulary: &Vocabulary) -> Vec<Problem> {
    if vocabulary.tools().is_empty() {
        return Vec::new();
    }
    let unknown = tool.searched().filter(|name| {
        if name.is_literal() {
            !vocabulary.has_tool(&name.text)
        } else {
            !vocabulary.may_have_tool_like(&name.text, |tool| name.matches(tool))
        }
    });
    unknown
        .map(|name| {
            let message = format!("`{}` is not a tool of this program", shortened(&name.text));
            let nearest = vocabulary.nearest_tool(&name.text);
            warning(message, nearest.map(str::to_owned))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::assert_linear;

    fn vocabulary(events: &[&str], tools: &[&str]) -> Vocabulary {
        let mut vocabulary = Vocabulary::default();
        for name in events {
            vocabulary.add_event(EventSpec::named(name));
        }
        for tool in tools {
            vocabulary.add_tool((*tool).to_owned());
        }
        vocabulary
    }

    fn messages(pattern: &str, vocabulary: &Vocabulary) -> Vec<String> {
        let problems = unfired(&EventPattern::new(pattern).unwrap(), vocabulary);
        let messages = problems
            .into_iter()
            .map(|problem| match problem.suggestion {
                Some(suggestion) => format!("{}: {suggestion}", problem.message),
                None => problem.message,
            });
        messages.collect()
    }

    #[test]
    fn what_a_host_does_not_fire_is_found() {
        let events = ["level:loaded", "session:started", "tool:listed"];
        let declared = vocabulary(&events, &["bash", "listed", "mcp:*"]);
        for (pattern, expected) in [
            ("tool:listed", None),
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
            assert_eq!(messages(pattern, &declared), expected, "{pattern}");
        }
    }

    #[test]
    fn many_events_are_not_compared_one_by_one() {
        let names = |count: usize| (0..count).map(|number| format!("a:b{number}")).collect();
        assert_linear("events", 20_000, names, |names: &Vec<String>| {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            let many = vocabulary(&names, &[]);
            for name in &names[names.len() / 5 * 4..] {
                assert!(messages(name, &many).is_empty());
            }
        });
    }

    #[test]
    fn what_is_not_declared_is_not_compared() {
        for pattern in [
            "levle:loaded",
            "tool:bash",
            "tool:*:Bash, tool:*:bash",
            "game:saved:x, *:*:x",
        ] {
            assert!(
                messages(pattern, &vocabulary(&[], &[])).is_empty(),
                "{pattern}"
            );
        }
        assert_eq!(
            messages("session:start:x, tool:*: x", &vocabulary(&[], &[])),
            [
                "`session:start:x` names a tool, but its events have no tool: session:start",
                "` x` begins or ends with a space, which is part of the name",
            ]
        );
    }

    #[test]
    fn what_is_declared_is_compared() {
        let tools = vocabulary(&[], &["bash"]);
        assert!(messages("game:saved, game:saved:bash", &tools).is_empty());
        assert_eq!(messages("game:saved:Bash", &tools).len(), 1);
        let events = vocabulary(&["game:saved"], &[]);
        assert!(messages("tool:*:Bash", &events).is_empty());
    }

    #[test]
    fn a_tool_of_an_agent_is_found() {
        let mut agents = vocabulary(&[], &[]);
        agents.set_of_agents();
        for (tool, ours) in [
            ("Bash", "bash"),
            ("WebFetch", "web_fetch"),
            ("Task", "task"),
            ("run_shell_command", "bash"),
        ] {
            let expected = format!(
                "no tool is called `{tool}` here: that is an agent's name of `{ours}`: {ours}"
            );
            assert_eq!(messages(&format!("tool:*:{tool}"), &agents), [expected]);
        }
        for pattern in ["tool:*:Bash|bash", "tool:*:mcp__x, tool:*:grep"] {
            assert!(messages(pattern, &agents).is_empty(), "{pattern}");
        }
    }

    #[test]
    fn a_glob_is_compared_with_the_names() {
        let named = vocabulary(&[], &["bash", "write"]);
        assert!(messages("tool:*:w*", &named).is_empty());
        assert_eq!(messages("tool:*:x*", &named).len(), 1);
        // The lint compares only the beginnings of two globs.
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
            assert_eq!(messages(&pattern, &servers).len(), count, "{tool}");
        }
    }
}
