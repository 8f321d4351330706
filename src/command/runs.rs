//! Which commands of a text meet a pattern, and what is said about it.

use super::expand::{ANY, Arg};
use super::fit::{Fit, Role, fit, names_program, roles};
use super::glob::Match;
use super::pattern::{Pattern, Side};
use super::read::{Commands, Run, inputs, joined, one_line};
use super::starts::arguments;
use super::tables::{base_name, letters_with_value};

/// The most words of a program's arguments that are tried as programs.
const MOST_TRIED: usize = 8;

/// Whether a text does what a condition asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// This part of the pattern, and of the text.
    Yes {
        pattern: String,
        command: String,
    },
    No,
    /// The reason why it is not known.
    Unknown(String),
}

/// A path that a command names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Path {
    /// From the place where the text runs, or absolute, or below `~`. `..` is left in it.
    Known(String),
    Unknown {
        /// The word as it is written.
        written: String,
        /// What is known of its end, from a slash on.
        ending: String,
    },
}

/// A command that meets a pattern.
pub(crate) struct Met<'a> {
    commands: &'a Commands,
    run: &'a Run,
    /// The place of its program.
    program: usize,
    pattern: &'a str,
    unknown: Option<usize>,
    /// The first command that a reader may read.
    writer: Option<&'a Run>,
}

impl Commands {
    /// Returns whether a command meets a pattern.
    #[cfg(test)]
    pub(crate) fn runs(&self, pattern: &Pattern) -> Answer {
        let met = self.met(pattern);
        let certain = met.iter().find(|met| met.unknown.is_none());
        match certain.or(met.first()) {
            Some(met) => met.answer(),
            None => self.unread(),
        }
    }

    /// Returns the reason why a part of the text was not read, or no.
    pub(crate) fn unread(&self) -> Answer {
        match self.unread {
            Some(reason) => Answer::Unknown(format!("the command was not read: {reason}")),
            None => Answer::No,
        }
    }

    /// Returns each command that meets a pattern.
    pub(crate) fn met<'a>(&'a self, pattern: &'a Pattern) -> Vec<Met<'a>> {
        let Some(reader) = &pattern.reader else {
            let runs = self.runs.iter();
            let found = runs.filter_map(|run| Some((run, find(&pattern.command, run, true)?)));
            return found
                .map(|(run, found)| self.meets(pattern, run, found))
                .collect();
        };
        let carried = self.carried(&pattern.command);
        let fed = self
            .runs
            .iter()
            .filter(|run| carried.feeds(run, self.runs.len()));
        let found = fed.filter_map(|run| Some((run, find(reader, run, false)?)));
        let met = found.map(|(run, found)| Met {
            writer: carried.sources.first().map(|source| &self.runs[*source]),
            ..self.meets(pattern, run, found)
        });
        met.collect()
    }

    fn meets<'a>(&'a self, pattern: &'a Pattern, run: &'a Run, found: Found) -> Met<'a> {
        Met {
            commands: self,
            run,
            program: found.program,
            pattern: &pattern.text,
            unknown: found.fit.unknown,
            writer: None,
        }
    }

    /// Finds the commands that write what a command of this side has written.
    fn carried(&self, side: &Side) -> Carried {
        let mut carried = Carried {
            counts: vec![0],
            sources: Vec::new(),
        };
        let mut count = 0;
        for (index, run) in self.runs.iter().enumerate() {
            let is_certain = |found: Found| found.fit.unknown.is_none();
            let is_source = find(side, run, true).is_some_and(is_certain);
            if is_source {
                carried.sources.push(index);
            }
            count += usize::from(is_source || carried.feeds(run, index));
            carried.counts.push(count);
        }
        carried
    }
}

/// The commands that write what a command of a pattern has written.
struct Carried {
    /// How many of them are before each place in the list.
    counts: Vec<usize>,
    /// The places of the commands of the pattern.
    sources: Vec<usize>,
}

impl Carried {
    /// Returns whether one of them, before a place, feeds a command.
    fn feeds(&self, run: &Run, before: usize) -> bool {
        let mut ranges = run.fed_by.iter();
        ranges.any(|range| {
            let end = range.end.min(before);
            self.counts[end] > self.counts[range.start.min(end)]
        })
    }
}

struct Found {
    program: usize,
    fit: Fit,
}

/// Finds a command of a side in the words of a command. A certain one comes first.
fn find(side: &Side, run: &Run, with_tail: bool) -> Option<Found> {
    let mut best: Option<Found> = None;
    for program in &run.starts.places {
        if let Some(fit) = fit(side, &run.words, *program) {
            let is_certain = fit.unknown.is_none();
            if is_certain || best.is_none() {
                best = Some(Found {
                    program: *program,
                    fit,
                });
            }
            if is_certain {
                break;
            }
        }
    }
    // A name alone may be any argument.
    if best.is_some() || !with_tail || side.parts.is_empty() {
        return best;
    }
    let tail = run.starts.tail.clone();
    let is_named = |place: &usize| names_program(side, &run.words[*place]) == Match::Yes;
    for (tried, program) in tail.filter(is_named).enumerate() {
        if tried == MOST_TRIED {
            let fit = Fit {
                unknown: Some(program),
            };
            return Some(Found { program, fit });
        }
        if let Some(fit) = fit(side, &run.words, program) {
            return Some(Found { program, fit });
        }
    }
    None
}

impl Met<'_> {
    /// Returns what met what, or what is unknown.
    pub(crate) fn answer(&self) -> Answer {
        match self.unknown {
            None => Answer::Yes {
                pattern: self.pattern.to_owned(),
                command: match self.writer {
                    Some(writer) => self.run.part_from(writer),
                    None => self.run.part(),
                },
            },
            Some(place) => Answer::Unknown(self.doubt(place)),
        }
    }

    fn doubt(&self, place: usize) -> String {
        let word = &self.run.words[place];
        let written = self.run.written(word);
        let what = if place == self.program {
            "the program"
        } else {
            "an argument"
        };
        let holder = if word.known().is_some() {
            "is one of very many"
        } else if !word.names.is_empty() {
            "is a pattern"
        } else if written.contains("$(") || written.contains('`') {
            "is what a command prints"
        } else {
            "is in a variable"
        };
        one_line(&format!("{what} {holder}: {written}"))
    }

    /// Returns the words behind the program and the texts that the command reads. What is unknown is left out of them.
    pub(crate) fn texts(&self) -> impl Iterator<Item = String> {
        let words = self.words().iter().flat_map(|word| word.values.iter());
        let words = words.map(|value| value.replace(ANY, ""));
        let inputs = inputs(&self.commands.runs, self.run).map(|text| text.replace(ANY, ""));
        words.chain(inputs)
    }

    /// Returns the paths that the words behind the program may name.
    pub(crate) fn paths(&self) -> Vec<Path> {
        let letters =
            letters_with_value(self.run.words[self.program].known().map_or("", base_name));
        let words = self.words();
        let roles = roles(words, letters);
        let mut paths = Vec::new();
        for (word, role) in words.iter().zip(roles) {
            for value in &word.values {
                if !matches!(role, Role::Option | Role::End) {
                    paths.push(path(self.run, word, value));
                }
                if let Some((_, value)) = value.split_once('=') {
                    paths.push(path(self.run, word, value));
                }
            }
        }
        paths
    }

    fn words(&self) -> &[Arg] {
        arguments(&self.run.words, self.program)
    }
}

/// Returns a value of a word as a path, in the directory of its command.
pub(super) fn path(run: &Run, word: &Arg, value: &str) -> Path {
    let joined = joined(&run.directory, value);
    match joined.filter(|path| !path.contains(ANY)) {
        Some(path) => Path::Known(path),
        None => {
            let known = value.rsplit(ANY).next().unwrap_or("");
            Path::Unknown {
                written: one_line(run.written(word)),
                ending: known
                    .find('/')
                    .map_or("", |slash| &known[slash..])
                    .to_owned(),
            }
        }
    }
}
