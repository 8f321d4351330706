//! Which events a handler is for: its group's matcher, as its tool reads it.
//!
//! Knows no handler.

use std::sync::Arc;

use super::tool::{Event, Tool};
use crate::hook::{Allowance, Condition, Lazy};

/// How much the compiled expressions of a file may take together.
pub(super) type SharedAllowance = Arc<Allowance>;

/// A regular expression that is compiled when it is first needed: it may never be, and compiling takes time.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    lazy: Lazy,
    allowance: SharedAllowance,
}

impl Expression {
    pub(super) fn new(text: String, allowance: &SharedAllowance) -> Self {
        Self {
            lazy: Lazy::new(Condition::Regex(text)),
            allowance: Arc::clone(allowance),
        }
    }

    /// Tests a text. One that is too long counts as matched, and so does every text before the expression is compiled, or
    /// if it cannot be used.
    pub(super) fn matches(&self, text: &str) -> bool {
        !self.lazy.is_compiled() || self.lazy.test(text).unwrap_or(true)
    }

    /// Compiles the expression if it is not compiled yet, and returns why it cannot be used.
    pub(super) fn fault(&self) -> Option<&str> {
        self.lazy.fault(&self.allowance)
    }
}

/// Matches the subjects of one kind of events.
#[derive(Debug, Clone)]
pub(super) enum Matcher {
    All,
    Names {
        text: Box<str>,
        names: Vec<Box<str>>,
    },
    Regex {
        text: Box<str>,
        expression: Expression,
        /// Whether a hook may be a guard: then it runs for every subject if the expression cannot be used. The tool may
        /// have been able to test it.
        can_block: bool,
    },
}

impl Matcher {
    pub(super) fn new(tool: &Tool, event: &Event, text: &str, allowance: &SharedAllowance) -> Self {
        let is_all = matches!(text.trim(), "" | "*");
        if is_all || event.subject.is_none() {
            return Self::All;
        }
        let is_name = tool.list_of_names.is_none() && !event.is_of_tool();
        let names: Vec<&str> = match is_name {
            true => vec![text],
            false if tool.is_list_of_names(text) => text.split(['|', ',']).collect(),
            false => Vec::new(),
        };
        let names: Vec<Box<str>> = names.into_iter().map(|name| name.trim().into()).collect();
        if names.is_empty() {
            return Self::Regex {
                text: text.into(),
                expression: Expression::new(text.to_owned(), allowance),
                can_block: event.can_block(),
            };
        }
        let text = text.into();
        Self::Names { text, names }
    }

    /// The matcher as it was written; none if everything matches.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::Names { text, .. } | Self::Regex { text, .. } => Some(text),
        }
    }

    pub(super) fn matches(&self, subject: &str) -> bool {
        match self {
            Self::All => true,
            Self::Names { names, .. } => names.iter().any(|name| **name == *subject),
            Self::Regex { expression, .. } => expression.matches(subject),
        }
    }

    /// Returns why the matcher makes its hooks unusable.
    pub(super) fn fault(&self) -> Option<&str> {
        self.expression_if(false)?.fault()
    }

    /// Returns why the matcher cannot be tested, so that its hooks run for every subject.
    pub(super) fn untested(&self) -> Option<&str> {
        self.expression_if(true)?.fault()
    }

    fn expression_if(&self, blocks: bool) -> Option<&Expression> {
        match self {
            Self::Regex {
                expression,
                can_block,
                ..
            } => Some(expression).filter(|_| *can_block == blocks),
            _ => None,
        }
    }
}
