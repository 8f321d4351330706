//! A word of a pattern: `*` stands for any characters, `[*]` for the character.
//!
//! The other side may be unknown in parts. All states are followed at once, in linear time.

use super::expand::{ANY, ONE};

/// The most characters of a word: a state for each is a bit.
const LONGEST: usize = 100;

/// The character that stands for `[*]` while a word is read.
const LITERAL_STAR: char = '\u{2}';

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Glob {
    chars: Vec<char>,
    /// A bit for each of them that is a star. The character itself counts for none of these.
    stars: u128,
}

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
        let (mut chars, mut stars) = (Vec::new(), 0);
        for c in text.replace("[*]", &LITERAL_STAR.to_string()).chars() {
            let place = chars.len();
            let follows_star = place > 0 && stars >> (place - 1) & 1 == 1;
            if c == '*' && follows_star {
                continue;
            }
            if place == LONGEST {
                return None;
            }
            stars |= u128::from(c == '*') << place;
            chars.push(if c == LITERAL_STAR { '*' } else { c });
        }
        Some(Self { chars, stars })
    }

    /// Compares with a value that may have `ANY` and `ONE`.
    pub(super) fn matches(&self, value: &str) -> Match {
        // A star takes what is unknown, whatever it is.
        if self.accepts(value, false) {
            Match::Yes
        } else if value.contains([ANY, ONE]) && self.accepts(value, true) {
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
                ONE if is_generous => self.closed(states & self.stars | states << 1),
                c => self.closed(self.step(states, c)),
            };
            if states == 0 {
                return false;
            }
        }
        states >> self.chars.len() & 1 == 1
    }

    /// Returns the states after a character. State `i` is in front of character `i`.
    fn step(&self, states: u128, c: char) -> u128 {
        let mut next = states & self.stars;
        let mut left = states & !self.stars;
        while left != 0 {
            let index = left.trailing_zeros();
            left &= left - 1;
            if self.chars.get(index as usize) == Some(&c) {
                next |= 1 << (index + 1);
            }
        }
        next
    }

    /// Adds the states behind stars.
    fn closed(&self, states: u128) -> u128 {
        let behind_stars = (states & self.stars) << 1;
        (states | behind_stars) & (!0 >> (127 - self.chars.len()))
    }
}
