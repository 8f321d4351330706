//! Where commands begin in the words of a command: `timeout 9 sudo ls` has two.

use std::ops::Range;

use super::expand::Arg;
use super::options::{behind_options, takes_value};
use super::syntax::assignment;
use super::tables::{Runs, base_name, has_data, is_known, marks, runs, runs_first_word, valued};

/// The most commands in the words of one.
const MOST_STARTS: usize = 100;

/// Where commands begin in words.
#[derive(Debug, Default)]
pub(super) struct Starts {
    /// The places of programs.
    pub(super) places: Vec<usize>,
    /// The words that a program may run or not: `yarn workspace a npm publish`.
    pub(super) tail: Range<usize>,
    /// True if there are more.
    pub(super) is_cut: bool,
}

pub(super) fn starts(words: &[Arg]) -> Starts {
    let mut places = Vec::new();
    let mut next = Some(0);
    while let Some(at) = next.filter(|at| *at < words.len() && places.len() <= MOST_STARTS) {
        places.push(at);
        let program = program(words, at).unwrap_or_default();
        next = match runs(program) {
            Some(Runs::Behind(before)) => command_after(program, words, at, before),
            Some(Runs::Anywhere) => add_candidates(&mut places, words, at),
            None => None,
        };
    }
    let Some(last) = places.last().copied() else {
        return Starts::default();
    };
    let program = program(words, last);
    let marks = marks(program.unwrap_or(""));
    add_marked(&mut places, words, last, marks);
    if program.is_some_and(runs_first_word) {
        let behind = behind_options(&words[last + 1..], &valued(program.unwrap_or("")));
        places.extend((!behind.is_empty()).then(|| words.len() - behind.len()));
    }
    let is_cut = places.len() > MOST_STARTS;
    places.truncate(MOST_STARTS);
    let is_data = program.is_some_and(has_data);
    let tail = if is_data { 0..0 } else { last + 1..words.len() };
    Starts {
        places,
        tail,
        is_cut,
    }
}

/// Returns the name of the program at a place, if it is known.
pub(super) fn program(words: &[Arg], at: usize) -> Option<&str> {
    words.get(at).and_then(Arg::known).map(base_name)
}

/// Returns the words behind a program. Those of `find -exec` end at `;` or at `+`.
pub(super) fn arguments(words: &[Arg], program: usize) -> &[Arg] {
    let words = &words[program + 1..];
    let is_end = |place: &usize| match words[*place].text() {
        ";" => true,
        "+" => *place > 0 && words[place - 1].span != words[*place].span,
        _ => false,
    };
    let end = (0..words.len()).find(is_end).unwrap_or(words.len());
    &words[..end]
}

/// Returns the place of the command that a program runs behind its options and so many words.
fn command_after(program: &str, words: &[Arg], at: usize, mut before: usize) -> Option<usize> {
    let valued = valued(program);
    let mut place = at + 1;
    while let Some(word) = words.get(place) {
        let text = word.text();
        if text == "--" {
            return Some(place + 1 + before);
        }
        // `command -v sudo` prints a path.
        if program == "command" && matches!(text, "-v" | "-V") {
            return None;
        }
        // `env - sudo ls` has an empty environment.
        if word.is_option() || text == "-" {
            place += 1 + usize::from(takes_value(text, &valued));
        } else if program != "exec" && assignment(text).is_some() {
            place += 1;
        } else if program == "env" && word.known().is_none() && place + 1 < words.len() {
            // `env $(cat vars) ls`: it may be a setting.
            place += 1;
        } else if before > 0 {
            before -= 1;
            place += 1;
        } else {
            break;
        }
    }
    Some(place)
}

/// Adds each word behind a program that may be the command, and returns the place of the one that is.
fn add_candidates(places: &mut Vec<usize>, words: &[Arg], at: usize) -> Option<usize> {
    let mut is_behind_option = false;
    for (place, word) in words.iter().enumerate().skip(at + 1) {
        let is_option = word.is_option();
        if !is_option && assignment(word.text()).is_none() {
            if !is_behind_option && program(words, place).is_some_and(is_known) {
                return Some(place);
            }
            if places.len() > MOST_STARTS {
                break;
            }
            places.push(place);
        }
        is_behind_option = is_option && word.text() != "--" && !word.text().contains('=');
    }
    None
}

/// Adds the commands behind `exec`, `run`, `--`, `-exec`. Behind options and a first word, as in `docker exec -it db psql`,
/// each word may be the program.
fn add_marked(places: &mut Vec<usize>, words: &[Arg], last: usize, marks: &[&str]) {
    let is_mark = |word: &Arg| word.known().is_some_and(|text| marks.contains(&text));
    let behind = words.iter().enumerate().skip(last + 1);
    for (index, word) in behind {
        if !is_mark(word) || places.len() > MOST_STARTS {
            continue;
        }
        let is_foreach = word.text() == "foreach";
        let options = words[index + 1..]
            .iter()
            .take_while(|word| is_foreach && word.is_option());
        places.push(index + 1 + options.count());
        if !is_foreach && !word.text().starts_with('-') {
            add_operands(places, words, index + 1);
        }
    }
    places.retain(|place| *place < words.len());
}

fn add_operands(places: &mut Vec<usize>, words: &[Arg], first: usize) {
    let mut is_behind_option = false;
    let mut operands = 0;
    for (index, word) in words.iter().enumerate().skip(first) {
        if word.is_option() {
            is_behind_option = true;
            continue;
        }
        if index > first {
            places.push(index);
        }
        operands += usize::from(!is_behind_option);
        if operands == 2 || places.len() > MOST_STARTS {
            break;
        }
        is_behind_option = false;
    }
}
