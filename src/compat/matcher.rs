//! The events that a handler is for: its group's matcher, by the rules of its agent.
//!
//! Knows no handler.

use std::sync::Arc;

use super::agent::{Agent, Event};
use crate::hook::{Allowance, Budget, Condition, Lazy};

/// The limit for the compiled expressions of an owner's files together.
pub(crate) type SharedAllowance = Arc<Allowance>;

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
    Name,
    Names,
    /// The expression, compiled when it is first needed: it may never be, and compiling takes time.
    Expression(Lazy, SharedAllowance),
}

impl Matcher {
    pub(crate) fn new(
        agent: &Agent,
        event: &Event,
        text: &str,
        allowance: &SharedAllowance,
    ) -> Self {
        let test = if matches!(text.trim(), "" | "*") || event.subject.is_none() {
            Test::All
        } else if agent.list_of_names.is_none() && !event.is_of_tool() {
            Test::Name
        } else if agent.is_list_of_names(text) {
            Test::Names
        } else {
            let lazy = Lazy::new(Condition::Regex(text.to_owned()));
            Test::Expression(lazy, Arc::clone(allowance))
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
            Test::All | Test::Expression(..) => None,
            Test::Name => Some(vec![self.text.trim()]),
            Test::Names => Some(self.text.split(['|', ',']).map(str::trim).collect()),
        }
    }

    /// Tests a subject. A subject that is too long counts as matched. If the expression is not compiled yet, or cannot be
    /// used, every subject counts as matched.
    pub(super) fn matches(&self, subject: &str) -> bool {
        let mut names = self.text.split(['|', ',']).map(str::trim);
        match &self.test {
            Test::All => true,
            Test::Name => self.text.trim() == subject,
            Test::Names => names.any(|name| name == subject),
            Test::Expression(lazy, _) => {
                !lazy.is_compiled() || lazy.test(&[subject], &Budget::default()).unwrap_or(true)
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

    /// Compiles the expression if it is not compiled yet, and returns the reason why it cannot be used.
    fn refusal(&self) -> Option<&str> {
        let Test::Expression(lazy, allowance) = &self.test else {
            return None;
        };
        lazy.fault(allowance)
    }
}
