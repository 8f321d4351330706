//! A word of a pattern: `*` stands for any characters, `[*]` for the character.
//!
//! The other side may be unknown in parts. All states are followed at once, in linear time.

use super::expand::{ANY, ONE};

/// The most characters of a word: a state for each is a bit.
const LONGEST: usize = 100;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Char(char),
    Star,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Glob(Vec<Token>);

/// How sure a match is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    No,
    /// It depends on what is unknown.
    Perhaps,
    Yes,
}

impl Glob {
    /// Reads a word. Returns none if it is too long.
    pub(super) fn new(text: &str) -> Option<Self> {
        let text = text.replace("[*]", "\u{2}");
        let tokens = text.chars().map(|c| match c {
            '*' => Token::Star,
            '\u{2}' => Token::Char('*'),
            c => Token::Char(c),
        });
        let mut tokens: Vec<_> = tokens.collect();
        tokens.dedup_by(|a, b| *a == Token::Star && *b == Token::Star);
        (tokens.len() <= LONGEST).then_some(Self(tokens))
    }

    /// Compares with a value that may have `ANY` and `ONE`.
    pub(super) fn matches(&self, value: &str) -> Match {
        // A star takes what is unknown, whatever it is.
        if self.accepts(value, false) {
            Match::Yes
        } else if self.accepts(value, true) {
            Match::Perhaps
        } else {
            Match::No
        }
    }

    pub(super) fn is(&self, value: &str) -> bool {
        self.accepts(value, false)
    }

    fn accepts(&self, value: &str, is_generous: bool) -> bool {
        let mut states = self.closed(1);
        for c in value.chars() {
            states = match c {
                ANY if is_generous => self.closed(!0 << states.trailing_zeros()),
                ONE if is_generous => self.closed(self.stars(states) | states << 1),
                c => self.closed(self.step(states, c)),
            };
            if states == 0 {
                return false;
            }
        }
        states >> self.0.len() & 1 == 1
    }

    fn stars(&self, states: u128) -> u128 {
        self.step(states, ANY)
    }

    /// Returns the states after a character. State `i` is in front of token `i`.
    fn step(&self, states: u128, c: char) -> u128 {
        let mut next = 0;
        for (index, token) in self.0.iter().enumerate() {
            if states >> index & 1 == 0 {
                continue;
            }
            match token {
                Token::Star => next |= 1 << index,
                Token::Char(own) if *own == c => next |= 1 << (index + 1),
                Token::Char(_) => {}
            }
        }
        next
    }

    /// Adds the states behind stars.
    fn closed(&self, mut states: u128) -> u128 {
        for (index, token) in self.0.iter().enumerate() {
            if *token == Token::Star && states >> index & 1 == 1 {
                states |= 1 << (index + 1);
            }
        }
        states & (!0 >> (127 - self.0.len()))
    }
}
