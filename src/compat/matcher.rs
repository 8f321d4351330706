//! The events that a handler is for: its group's matcher, by the rules of its agent.
//!
//! Knows no handler.

use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};

use crate::agents::{Agent, Event};
use crate::hook::no_expression;
use crate::printable::shortened;

/// The most bytes that a compiled expression may take.
const LARGEST: usize = 256 * 1024;

const TOO_LARGE: &str = "the matcher takes more than 256 KiB when compiled: repeat less, or match only ASCII letters, as \
                         in `(?-u:\\w)`";

/// Matches the subjects of one kind of events.
#[derive(Debug)]
pub(crate) struct Matcher {
    text: Box<str>,
    test: Test,
    /// True if a hook may be a guard. It then runs for every subject if the expression cannot be used, since the agent may
    /// have been able to test it.
    can_block: bool,
}

#[derive(Debug)]
enum Test {
    All,
    Names,
    /// The expression, compiled when it is first needed: it may never be, and compiling takes time.
    Expression {
        fault: OnceLock<Option<String>>,
        /// None if the expression takes too much memory.
        compiled: OnceLock<Option<Regex>>,
    },
}

impl Matcher {
    pub(crate) fn new(agent: &Agent, event: &Event, text: &str) -> Self {
        let test = if matches!(text.trim(), "" | "*") || event.subject.is_none() {
            Test::All
        } else if agent.is_list_of_names(text) {
            Test::Names
        } else {
            Test::Expression {
                fault: OnceLock::new(),
                compiled: OnceLock::new(),
            }
        };
        Self {
            text: text.into(),
            test,
            can_block: event.can_block(),
        }
    }

    /// Returns the text of the matcher; none if everything matches.
    pub(crate) fn text(&self) -> Option<&str> {
        match self.test {
            Test::All => None,
            _ => Some(&*self.text),
        }
    }

    /// Returns the exact names that it matches; none if it matches all, or is an expression.
    pub(crate) fn names(&self) -> Option<Vec<&str>> {
        match self.test {
            Test::All | Test::Expression { .. } => None,
            Test::Names => Some(self.text.split(['|', ',']).map(str::trim).collect()),
        }
    }

    /// Tests a subject. If the expression cannot be used, every subject counts as matched.
    pub(super) fn matches(&self, subject: &str) -> bool {
        let mut names = self.text.split(['|', ',']).map(str::trim);
        match &self.test {
            Test::All => true,
            Test::Names => names.any(|name| name == subject),
            Test::Expression { compiled, .. } => {
                let compile = || {
                    let mut builder = RegexBuilder::new(&self.text);
                    builder.size_limit(LARGEST).build().ok()
                };
                let regex = compiled.get_or_init(compile);
                regex.as_ref().is_none_or(|regex| regex.is_match(subject))
            }
        }
    }

    /// Returns the reason why the matcher makes its hooks unusable.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.refusal().filter(|_| !self.can_block)
    }

    /// Returns the reason why the matcher cannot be tested, so that its hooks run for every subject.
    pub(crate) fn untested(&self) -> Option<&str> {
        self.refusal().filter(|_| self.can_block)
    }

    /// Returns the reason why the expression cannot be used.
    fn refusal(&self) -> Option<&str> {
        let Test::Expression { fault, compiled } = &self.test else {
            return None;
        };
        let find = || {
            let error = regex_syntax::parse(&self.text).err()?;
            let text = shortened(&self.text);
            Some(format!("`{text}` {}", no_expression(&error)))
        };
        let is_refused = || compiled.get().is_some_and(Option::is_none);
        let fault = fault.get_or_init(find).as_deref();
        fault.or_else(|| is_refused().then_some(TOO_LARGE))
    }
}

#[cfg(test)]
mod tests {
    use super::super::CLAUDE;
    use super::*;

    #[test]
    fn the_reason_is_the_same_once_tested() {
        let event = CLAUDE.event_named("PreToolUse").unwrap();
        for (text, before, after) in [
            ("^a$", None, None),
            ("(a", Some("unclosed group"), Some("unclosed group")),
            (r"\w{2000}", None, Some("more than 256 KiB")),
        ] {
            let matcher = Matcher::new(CLAUDE, event, text);
            let is_reason = |expected: Option<&str>| match (matcher.untested(), expected) {
                (Some(reason), Some(expected)) => reason.contains(expected),
                (reason, expected) => reason.is_none() && expected.is_none(),
            };
            assert!(is_reason(before), "{text} {:?}", matcher.untested());
            assert_eq!(matcher.matches("Bash"), after.is_some(), "{text}");
            assert!(is_reason(after), "{text} {:?}", matcher.untested());
        }
    }
}
