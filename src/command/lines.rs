//! The commands of a text as lines, for rules that are tested against a whole line.

use super::expand::{ANY, Arg};
use super::read::Commands;
use super::tables::base_name;

/// A command in one line.
#[derive(Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// True if it goes on in a way that is not known.
    pub(crate) is_cut: bool,
}

impl Commands {
    /// Returns each command as it is written, and with its words as a program gets them: from each program on, with the
    /// program's directory and without.
    pub(crate) fn in_lines(&self) -> impl Iterator<Item = Line> {
        self.runs.iter().flat_map(|run| {
            let first = run.words.first();
            let written = first.map(|_| Line {
                text: run.whole().to_owned(),
                is_cut: false,
            });
            let of_place = |place: &usize| {
                let words = &run.words[*place..];
                let program = words[0].text();
                let name = base_name(program);
                let without_directory = (name != program).then(|| line(name, words));
                [Some(line(program, words)), without_directory]
            };
            let places = run.starts.places.iter();
            written
                .into_iter()
                .chain(places.flat_map(of_place).flatten())
        })
    }
}

fn line(program: &str, words: &[Arg]) -> Line {
    let mut text = String::new();
    for (index, word) in words.iter().enumerate() {
        let known = match &word.values[..] {
            _ if !word.names.is_empty() => "",
            [_] if index == 0 => program,
            [value] => value,
            _ => "",
        };
        let known = known.split(ANY).next().unwrap_or("");
        text.extend([if index > 0 { " " } else { "" }, known]);
        if word.is_many || word.known().is_none() {
            return Line { text, is_cut: true };
        }
    }
    Line {
        text,
        is_cut: false,
    }
}
