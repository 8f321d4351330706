//! The commands of a text as lines, for rules that are tested against a whole line.

use super::expand::{ANY, Arg};
use super::read::Commands;
use super::tables::base_name;

impl Commands {
    /// Returns each command as it is written, and with its words as a program gets them: from each program on, with the
    /// program's directory and without. A line ends with `\0` if it goes on in a way that is not known.
    pub(crate) fn in_lines(&self) -> impl Iterator<Item = String> {
        self.runs.iter().flat_map(|run| {
            let of_places = run.starts.places.iter().flat_map(|place| {
                let line = line(&run.words[*place..]);
                let program = run.words[*place].text();
                let behind = line.strip_prefix(program);
                let without_directory = behind.map(|behind| base_name(program).to_owned() + behind);
                [Some(line), without_directory]
            });
            let written = (!run.words.is_empty()).then(|| run.whole().to_owned());
            of_places.chain([written]).flatten()
        })
    }
}

fn line(words: &[Arg]) -> String {
    let mut line = String::new();
    for word in words {
        let Some(known) = word.known().filter(|_| !word.is_many) else {
            line.push(ANY);
            break;
        };
        line.extend([known, " "]);
    }
    line
}
