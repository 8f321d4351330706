//! Compares one side of a pattern with the words of a command, from a program on.
//!
//! Each part of a pattern goes once through the words.

use super::expand::{ANY, Arg};
use super::glob::{Glob, Match};
use super::options::{Options, Role};
use super::pattern::{Opt, Part, Side};
use super::starts::arguments;
use super::tables::base_name;

/// The longest path of a program, as systems have it.
const LONGEST_PROGRAM: usize = 4096;

/// A command that fits.
#[derive(Debug)]
pub(super) struct Fit {
    /// The word that is not known, by its place.
    pub(super) unknown: Option<usize>,
}

/// The words behind a program.
struct View<'a> {
    /// The place of the first one.
    first: usize,
    options: Options<'a>,
}

/// How well something fits, and the place of the word, counted from the first one behind the program.
#[derive(Clone, Copy)]
struct Place {
    fit: Match,
    at: usize,
}

const NOWHERE: Place = Place {
    fit: Match::No,
    at: 0,
};

impl Place {
    fn or(self, other: Self) -> Self {
        if other.fit > self.fit { other } else { self }
    }
}

/// Returns how well a word names a program of a pattern.
pub(super) fn names_program(side: &Side, word: &Arg) -> Match {
    let names = if word.names.is_empty() {
        &word.values
    } else {
        &word.names
    };
    let paths = names.iter().filter(|name| name.len() <= LONGEST_PROGRAM);
    let pairs = paths.flat_map(|name| {
        let name = base_name(name);
        side.programs.iter().map(move |glob| glob.matches(name))
    });
    pairs.max().unwrap_or(Match::No)
}

/// Compares a side with the command whose program is at a place.
pub(super) fn fit(side: &Side, words: &[Arg], program: usize) -> Option<Fit> {
    let named = names_program(side, &words[program]);
    if named == Match::No {
        return None;
    }
    let is_in_variable = named == Match::Perhaps && words[program].names.is_empty();
    if is_in_variable && side.parts.is_empty() {
        return None;
    }
    let mut unknown = (named == Match::Perhaps).then_some(program);
    if side.parts.is_empty() && side.without.is_empty() {
        return Some(Fit { unknown });
    }
    let view = View::new(words, program);
    if side.without.iter().any(|option| view.has_certainly(option)) {
        return None;
    }
    let places = view.places(&side.parts)?;
    let mut doubts: Vec<usize> = Vec::new();
    for Place { at, .. } in places.iter().filter(|place| place.fit == Match::Perhaps) {
        unknown.get_or_insert(view.first + at);
        // `git "$@"` has all words of a command. Any other unknown word is one of them.
        if !is_in_variable && view.options.words[*at].is_list {
            continue;
        }
        if doubts.contains(at) {
            return None;
        }
        doubts.push(*at);
    }
    // `$CC $FLAGS` could be any command, and `rm $FILES` have any options and words: they are none.
    let most = match side.parts.len() {
        _ if is_in_variable => 0,
        0 | 1 => 1,
        parts => parts - 1,
    };
    (doubts.len() <= most).then_some(Fit { unknown })
}

impl<'a> View<'a> {
    fn new(words: &'a [Arg], program: usize) -> Self {
        let name = words[program].known().map_or("", base_name);
        Self {
            first: program + 1,
            options: Options::new(name, arguments(words, program)),
        }
    }

    /// Returns the place of each part, or none if one has none.
    fn places(&self, parts: &[Part]) -> Option<Vec<Place>> {
        let mut next = 0;
        let mut places = Vec::with_capacity(parts.len());
        for part in parts {
            let place = match part {
                Part::Options(options) => self.find_options(options),
                Part::Subcommand(globs) => self.find_subcommand(globs),
                Part::Word(globs) => self.find_word(globs, next),
            };
            if place.fit == Match::No {
                return None;
            }
            if !matches!(part, Part::Options(_)) {
                next = place.at + 1;
            }
            places.push(place);
        }
        Some(places)
    }

    fn words(&self) -> impl Iterator<Item = (usize, &'a Arg, Role)> {
        self.options.each()
    }

    fn find_subcommand(&self, globs: &[Glob]) -> Place {
        let mut best = NOWHERE;
        for (at, word, role) in self.words() {
            let is_before = matches!(role, Role::Option | Role::Value | Role::End);
            // `cargo +nightly publish`
            if is_before || word.text().starts_with('+') {
                continue;
            }
            let fit = names(globs, word);
            best = best.or(Place { fit, at });
            if fit == Match::Yes || role == Role::Word && !word.is_many {
                break;
            }
        }
        best
    }

    fn find_word(&self, globs: &[Glob], from: usize) -> Place {
        let mut best = NOWHERE;
        for (at, word, role) in self.words().skip(from) {
            if matches!(role, Role::Option | Role::End) {
                continue;
            }
            best = best.or(Place {
                fit: names(globs, word),
                at,
            });
            if best.fit == Match::Yes {
                break;
            }
        }
        best
    }

    /// Finds one of the options.
    fn find_options(&self, options: &[Opt]) -> Place {
        let places = options.iter().map(|option| match option {
            Opt::Letters(letters) => self.find_letters(letters),
            option => self.find_option(|text| fit_of_option(option, text)),
        });
        places.fold(NOWHERE, Place::or)
    }

    /// Finds each of the letters.
    fn find_letters(&self, letters: &str) -> Place {
        let places = letters.chars().map(|letter| {
            self.find_option(|text| fit_of_letter(letter, text, self.options.valued.letters))
        });
        let least = |one: Place, other: Place| if other.fit < one.fit { other } else { one };
        places.reduce(least).unwrap_or(NOWHERE)
    }

    fn find_option(&self, fit: impl Fn(&str) -> Match) -> Place {
        let mut best = NOWHERE;
        for (at, word, role) in self.words() {
            if role == Role::End {
                break;
            }
            if role != Role::Value {
                let fit = doubted(word, fit_of_values(word, &fit));
                best = best.or(Place { fit, at });
            }
            if best.fit == Match::Yes {
                break;
            }
        }
        best
    }

    /// Returns whether an option that must not be there is: with its own name, and a value that does not deny it.
    fn has_certainly(&self, option: &Opt) -> bool {
        let is_denied = |text: &str| {
            let value = text.split_once('=').map(|(_, value)| value);
            matches!(value, Some("false" | "none" | "no" | "0"))
        };
        let is = |text: &str| match option {
            Opt::Letters(letters) => {
                let mut letters = letters.chars();
                letters.all(|letter| {
                    fit_of_letter(letter, text, self.options.valued.letters) == Match::Yes
                })
            }
            Opt::Long { glob, .. } => glob.is(name(text)),
            Opt::Single(_) => fit_of_option(option, text) == Match::Yes,
        };
        let options = self.words().filter(|(_, _, role)| *role == Role::Option);
        let mut known = options.filter_map(|(_, word, _)| word.known());
        known.any(|text| is(text) && !is_denied(text))
    }
}

fn fit_of_values(word: &Arg, fit: impl Fn(&str) -> Match) -> Match {
    let fits = word.values.iter().map(|value| fit(value));
    fits.max().unwrap_or(Match::No)
}

/// Only an unknown word outside of quotes may be what a pattern wants.
fn doubted(word: &Arg, fit: Match) -> Match {
    if fit == Match::Perhaps && !word.is_many {
        Match::No
    } else {
        fit
    }
}

/// Returns how well a word is one of these.
fn names(globs: &[Glob], word: &Arg) -> Match {
    let fit = fit_of_values(word, |value| {
        let fits = globs.iter().map(|glob| glob.matches(value));
        fits.max().unwrap_or(Match::No)
    });
    doubted(word, fit)
}

/// Returns an option without its value.
fn name(option: &str) -> &str {
    option.split('=').next().unwrap_or(option)
}

fn fit_of_option(option: &Opt, text: &str) -> Match {
    let own = name(text);
    if let Some((known, _)) = own.split_once(ANY) {
        let (Opt::Long { name, .. } | Opt::Single(name)) = option else {
            return Match::No;
        };
        return if name.starts_with(known) {
            Match::Perhaps
        } else {
            Match::No
        };
    }
    let is_same = match option {
        Opt::Long { name, glob } if name.contains('=') => glob.is(text),
        Opt::Long { name, glob } => glob.is(own) || is_abbreviation(own, name),
        // Some programs take two dashes, too.
        Opt::Single(name) => own == name || own.strip_prefix('-') == Some(name),
        Opt::Letters(_) => false,
    };
    if is_same { Match::Yes } else { Match::No }
}

fn is_abbreviation(text: &str, name: &str) -> bool {
    text.len() > 2 && text.starts_with("--") && name.starts_with(text)
}

/// Returns whether a letter is in a cluster. Those behind an option that takes a value are its value.
fn fit_of_letter(letter: char, text: &str, with_value: &str) -> Match {
    if text.starts_with(ANY) {
        return Match::Perhaps;
    }
    let Some(cluster) = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
        return Match::No;
    };
    let mut is_found = false;
    for c in cluster.chars() {
        is_found |= c == letter;
        if c == ANY && !is_found {
            return Match::Perhaps;
        }
        if with_value.contains(c) || c == ANY {
            break;
        }
        if !c.is_alphanumeric() {
            return Match::No;
        }
    }
    if is_found { Match::Yes } else { Match::No }
}
