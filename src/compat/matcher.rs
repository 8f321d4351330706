//! Which events a handler is for: its group's matcher, as its tool reads it.
//!
//! Knows no handler.

use std::sync::{Arc, Mutex, PoisonError};

use super::tool::{Event, Tool};
use crate::hook::{Allowance, Condition, Lazy};

/// How much the compiled expressions of a file may take together.
pub(super) type SharedAllowance = Arc<Mutex<Allowance>>;

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

    /// Whether it was compiled and is no regular expression; another fault is a limit.
    fn is_invalid(&self) -> bool {
        let is_syntax = |words: &str| words.contains("is not a regular expression");
        self.lazy.is_compiled() && self.fault().is_some_and(is_syntax)
    }

    /// Compiles the expression if it is not compiled yet, and returns why it cannot be used.
    pub(super) fn fault(&self) -> Option<&str> {
        let allowance = || {
            self.allowance
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        self.lazy.fault(allowance)
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
        /// Whether an invalid expression is one exact name.
        may_be_name: bool,
    },
    /// It cannot be tested: a guard must not be skipped.
    Untested(Box<str>),
}

/// Whether an expression has parts that `regex` does not know: look-around, and references to groups.
pub(super) fn is_unknown(expression: &str) -> bool {
    let marks = ["(?=", "(?!", "(?<=", "(?<!", r"\1", r"\k<"];
    marks.iter().any(|mark| expression.contains(mark))
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
        if names.is_empty() && event.can_block() && is_unknown(text) {
            return Self::Untested(text.into());
        }
        if names.is_empty() {
            return Self::Regex {
                text: text.into(),
                expression: Expression::new(text.to_owned(), allowance),
                may_be_name: tool.list_of_names.is_none(),
            };
        }
        let text = text.into();
        Self::Names { text, names }
    }

    /// The matcher as it was written; none if everything matches.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::Names { text, .. } | Self::Regex { text, .. } | Self::Untested(text) => {
                Some(text)
            }
        }
    }

    pub(super) fn matches(&self, subject: &str) -> bool {
        match self {
            Self::All | Self::Untested(_) => true,
            Self::Names { names, .. } => names.iter().any(|name| **name == *subject),
            Self::Regex {
                text,
                expression,
                may_be_name: true,
            } if expression.is_invalid() => **text == *subject,
            Self::Regex { expression, .. } => expression.matches(subject),
        }
    }

    /// Returns why the matcher cannot be used.
    pub(super) fn fault(&self) -> Option<&str> {
        match self {
            Self::Regex {
                expression,
                may_be_name,
                ..
            } => expression
                .fault()
                .filter(|_| !*may_be_name || !expression.is_invalid()),
            _ => None,
        }
    }
}
