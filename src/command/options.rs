//! The options in the words of a program, their values, and the words that are no options.

use super::expand::Arg;
use super::tables::{Valued, valued};

/// The role of a word behind a program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Role {
    Option,
    /// The value of an option that is known to take one.
    Value,
    /// A word behind another option: perhaps its value.
    Behind,
    /// `--`
    End,
    Word,
}

/// The words of a program with their roles.
pub(super) struct Options<'a> {
    pub(super) words: &'a [Arg],
    pub(super) roles: Vec<Role>,
    /// The options that take a value.
    pub(super) valued: Valued,
}

impl<'a> Options<'a> {
    /// Reads the words behind a program.
    pub(super) fn new(program: &str, words: &'a [Arg]) -> Self {
        let valued = valued(program);
        let mut roles = Vec::with_capacity(words.len());
        let mut next = Role::Word;
        let mut is_ended = false;
        for word in words {
            let role = match word.text() {
                _ if is_ended => Role::Word,
                _ if next == Role::Value => Role::Value,
                "--" => Role::End,
                _ if word.is_option() => Role::Option,
                _ => next,
            };
            is_ended |= role == Role::End;
            next = match role {
                Role::Option if takes_value(word.text(), &valued) => Role::Value,
                Role::Option if !word.text().contains('=') => Role::Behind,
                _ => Role::Word,
            };
            roles.push(role);
        }
        Self {
            words,
            roles,
            valued,
        }
    }

    /// Returns the words with their places and roles.
    pub(super) fn each(&self) -> impl Iterator<Item = (usize, &'a Arg, Role)> {
        let words = self.words.iter().zip(&self.roles).enumerate();
        words.map(|(place, (word, role))| (place, word, *role))
    }

    /// Returns the words that are neither options nor known values of options.
    pub(super) fn operands(&self) -> Vec<&'a Arg> {
        let operands = self
            .each()
            .filter(|(_, _, role)| matches!(role, Role::Word | Role::Behind));
        operands.map(|(_, word, _)| word).collect()
    }

    /// Returns the values of an option, each with its word: `-o x`, `-ox`, `--output x`, `--output=x`.
    pub(super) fn values_of(&self, names: &[&str]) -> Vec<(&'a Arg, String)> {
        let mut values = Vec::new();
        for (place, word, role) in self.each() {
            if role != Role::Option {
                continue;
            }
            for name in names {
                match attached(word.text(), name, self.valued.letters) {
                    Some("") => {
                        let next = self.words.get(place + 1);
                        values.extend(next.map(|next| (next, next.text().to_owned())));
                    }
                    Some(value) => values.push((word, value.to_owned())),
                    None => {}
                }
            }
        }
        values
    }
}

/// Returns whether the word behind an option is its value.
pub(super) fn takes_value(option: &str, valued: &Valued) -> bool {
    if option.starts_with("--") || valued.long.contains(&option) {
        return valued.long.contains(&option);
    }
    let mut chars = option.chars().skip(1);
    // The first letter with a value takes the rest of the word, if there is any.
    let has_value = chars.any(|c| valued.letters.contains(c));
    has_value && chars.next().is_none()
}

/// Returns the words behind the options that stand first. `+o` is an option of a shell.
pub(super) fn behind_options<'a>(words: &'a [Arg], valued: &Valued) -> &'a [Arg] {
    let mut place = 0;
    while let Some(word) = words.get(place) {
        let text = word.text();
        if text == "--" {
            place += 1;
            break;
        }
        if !word.is_option() && !text.starts_with('+') {
            break;
        }
        place += 1 + usize::from(takes_value(text, valued));
    }
    &words[place.min(words.len())..]
}

/// Returns the value behind the name of an option in the same word, empty if it is the next word.
fn attached<'a>(text: &'a str, name: &str, letters: &str) -> Option<&'a str> {
    if name.len() > 2 {
        let rest = text.strip_prefix(name)?;
        return if rest.is_empty() {
            Some(rest)
        } else {
            rest.strip_prefix('=')
        };
    }
    let cluster = text.strip_prefix('-')?;
    let end = cluster.find(|c| letters.contains(c) || c == '-')?;
    cluster[end..].strip_prefix(&name[1..])
}
