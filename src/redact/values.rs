//! Secrets whose values are known. Knows nothing of names and shapes.
//!
//! All values are searched in one pass over the text (Aho and Corasick, "Efficient string matching", 1975), so that a text
//! costs by its length, however many lines the values have.

use std::collections::HashMap;
use std::ops::Range;

/// A line of a longer secret is masked only if it has at least this many bytes: `}` or `EOF` reveals nothing.
const SHORTEST_LINE: usize = 8;

/// Values of settings that are common words in logs.
#[rustfmt::skip]
const WORDS: &str = "true false null none default auto always never enabled disabled production development staging test \
    testing local localhost trace debug info warn warning error utf-8 utf8";

/// Values to find in texts: each as a whole, escaped as in JSON, and line by line.
#[derive(Default)]
pub(super) struct Values {
    /// Empty if there is no value.
    states: Vec<State>,
    /// The state after a state and a byte. The first state is that of no byte.
    next: HashMap<(usize, u8), usize>,
}

/// The longest beginning of a part that the text ends with.
#[derive(Clone, Copy, Default)]
struct State {
    /// The state of the next shorter beginning of a part that this one ends with.
    shorter: usize,
    /// The length of the longest part that this beginning ends with; 0 if there is none.
    longest: usize,
}

impl Values {
    /// Parts above `longest` are left out: no text is longer.
    pub(super) fn new<'a>(secrets: impl IntoIterator<Item = &'a str>, longest: usize) -> Self {
        let secrets = secrets.into_iter().map(str::trim);
        let mut secrets = secrets.filter(|secret| is_secret(secret)).peekable();
        let mut values = Self::default();
        if secrets.peek().is_some() {
            values.states.push(State::default());
            secrets.for_each(|secret| values.add(secret, longest));
            values.link();
        }
        values
    }

    fn add(&mut self, secret: &str, longest: usize) {
        let escaped = serde_json::Value::from(secret).to_string();
        let lines = secret.lines().map(str::trim);
        let lines = lines.filter(|line| line.len() >= SHORTEST_LINE);
        let parts = lines.chain([secret, &escaped[1..escaped.len() - 1]]);
        for part in parts.filter(|part| part.len() <= longest) {
            let mut state = 0;
            for byte in part.bytes() {
                let new = self.states.len();
                state = *self.next.entry((state, byte)).or_insert(new);
                if state == new {
                    self.states.push(State::default());
                }
            }
            self.states[state].longest = part.len();
        }
    }

    /// Sets the shorter beginnings, from short to long.
    fn link(&mut self) {
        let mut longer: Vec<Vec<(u8, usize)>> = vec![Vec::new(); self.states.len()];
        for (&(state, byte), &next) in &self.next {
            longer[state].push((byte, next));
        }
        let mut level = std::mem::take(&mut longer[0]);
        while !level.is_empty() {
            let mut deeper = Vec::new();
            for (_, state) in level {
                let shorter = self.states[state].shorter;
                for (byte, next) in std::mem::take(&mut longer[state]) {
                    let shorter = self.after(shorter, byte);
                    self.states[next].shorter = shorter;
                    deeper.push((byte, next));
                }
                let longest = self.states[shorter].longest;
                let own = &mut self.states[state].longest;
                *own = longest.max(*own);
            }
            level = deeper;
        }
    }

    /// Returns the state after a byte. Takes one step on average, since each step back shortens the beginning.
    fn after(&self, mut state: usize, byte: u8) -> usize {
        loop {
            match self.next.get(&(state, byte)) {
                Some(next) => return *next,
                None if state == 0 => return 0,
                None => state = self.states[state].shorter,
            }
        }
    }

    /// Adds the places of the values. Values that overlap are one place.
    pub(super) fn find(&self, text: &str, places: &mut Vec<Range<usize>>) {
        if self.next.is_empty() {
            return;
        }
        let before = places.len();
        let mut state = 0;
        for (at, byte) in text.bytes().enumerate() {
            state = self.after(state, byte);
            let longest = self.states[state].longest;
            if longest == 0 {
                continue;
            }
            let end = at + 1;
            let mut start = end - longest;
            while places.len() > before
                && let Some(last) = places.pop_if(|last| start < last.end)
            {
                start = start.min(last.start);
            }
            places.push(start..end);
        }
    }
}

fn is_secret(value: &str) -> bool {
    let number = value.bytes().all(|byte| byte.is_ascii_digit());
    let shortest = if number { 6 } else { 4 };
    let mut words = WORDS.split(' ');
    value.len() >= shortest && !words.any(|word| word.eq_ignore_ascii_case(value))
}
