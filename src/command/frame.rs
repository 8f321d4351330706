//! The texts that are open while a text is read: substitutions, arithmetic, arrays, documents.

use std::collections::VecDeque;

use super::grammar::{Grammar, Pending};
use super::syntax::{Assignment, Word};

/// The end of a text, and how its characters are read.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Until {
    Text,
    Parenthesis,
    Backtick,
    /// `${NAME:-word}`: only substitutions count.
    Brace {
        has_default: bool,
    },
    /// `$((..))`, with the place behind its first parenthesis, and the number of open ones. `((..))` is a command.
    Arithmetic {
        start: usize,
        open: usize,
        is_command: bool,
    },
    /// `x=(a b)`
    Array,
    /// A document, up to the limit: only substitutions count.
    Document {
        id: usize,
    },
}

pub(super) struct Frame {
    pub(super) until: Until,
    pub(super) word: Option<Word>,
    pub(super) in_quotes: bool,
    /// True if its value stands in quotes.
    pub(super) is_quoted: bool,
    /// True for `<(..)` and `>(..)`.
    pub(super) is_file: bool,
    pub(super) grammar: Grammar,
    /// The array that it is.
    pub(super) array: Option<Assignment>,
}

/// What is read after a document.
pub(super) struct Behind {
    pub(super) at: usize,
    pub(super) limit: usize,
    pub(super) pending: VecDeque<Pending>,
}

impl Frame {
    pub(super) fn new(until: Until, grammar: Grammar) -> Self {
        Self {
            until,
            word: None,
            in_quotes: false,
            is_quoted: false,
            is_file: false,
            grammar,
            array: None,
        }
    }
}
