//! Which commands of a text meet a pattern, and what is said about it.

use super::expand::{ANY, Arg};
use super::fit::{Fit, fit, names_program};
use super::found::found;
use super::glob::Match;
use super::options::{Options, Role};
use super::pattern::{Pattern, Side};
use super::read::Commands;
use super::run::{Directory, Run, cleaned, inputs, joined, one_line};
use super::starts::arguments;
use super::tables::base_name;

/// How often what is carried is passed on through texts within texts.
const MOST_PASSES: usize = 4;
/// The most words of a program's arguments that are tried as programs.
const MOST_TRIED: usize = 8;

/// Stands in a text for a part that is not known: `truncate $T`.
const SOME_NAME: &str = "x";

/// The answer to a condition on a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// The pattern that is met, and the part of the text that meets it.
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
    /// The files that a pattern means in a directory. `**` stands for any names: a part that is not known.
    Below { directory: String, pattern: String },
    /// The word as it is written, and the known end of the path, from a slash on.
    Unknown { written: String, ending: String },
}

/// The path in one line, for people.
impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&match self {
            Self::Known(path) => one_line(path),
            Self::Below { directory, pattern } => one_line(&format!("{directory}{pattern}")),
            Self::Unknown { written, .. } => written.clone(),
        })
    }
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
        let Some(source) = carried.source else {
            return Vec::new();
        };
        let fed = self
            .runs
            .iter()
            .zip(self.fed(&carried))
            .filter(|(_, is_fed)| *is_fed);
        let found = fed.filter_map(|(run, _)| Some((run, find(reader, run, false)?)));
        let met = found.map(|(run, found)| Met {
            writer: Some(&self.runs[source]),
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

    /// Finds the commands that pass on what a command of this side has written.
    fn carried(&self, side: &Side) -> Carried {
        let is_certain = |found: Found| found.fit.unknown.is_none();
        let is_source = |run| find(side, run, true).is_some_and(is_certain);
        let mut carried = Carried {
            carries: self.runs.iter().map(is_source).collect(),
            last: Vec::new(),
            source: None,
        };
        carried.source = carried.carries.iter().position(|carries| *carries);
        carried.find_last();
        if carried.source.is_none() {
            return carried;
        }
        for _ in 0..MOST_PASSES {
            if !self.pass_on(&mut carried) {
                break;
            }
        }
        carried
    }

    /// Goes once through all commands. Returns whether more of them carry something than before.
    fn pass_on(&self, carried: &mut Carried) -> bool {
        let mut has_more = false;
        for text in self.texts.iter().rev() {
            let mut is_any = false;
            for index in text.runs.clone() {
                let carries = carried.carries[index] || carried.feeds(&self.runs[index]);
                has_more |= carries != carried.carries[index];
                is_any |= carries;
                carried.set(index, carries);
            }
            if let Some(parent) = text.parent.filter(|_| is_any) {
                has_more |= !carried.carries[parent];
                carried.carries[parent] = true;
            }
        }
        carried.find_last();
        has_more
    }

    /// Returns for each command whether it may read what is carried: itself, or with the command that gives its text to a shell.
    fn fed(&self, carried: &Carried) -> Vec<bool> {
        let mut is_fed = vec![false; self.runs.len()];
        for text in &self.texts {
            let is_text_fed = text.parent.is_some_and(|parent| is_fed[parent]);
            for index in text.runs.clone() {
                is_fed[index] = is_text_fed || carried.feeds(&self.runs[index]);
            }
        }
        is_fed
    }
}

/// The commands that pass on what a command of a pattern has written.
struct Carried {
    carries: Vec<bool>,
    /// The place behind the last of them before each place in the list, 0 without one.
    last: Vec<usize>,
    /// The first command of the pattern.
    source: Option<usize>,
}

impl Carried {
    fn find_last(&mut self) {
        self.last = vec![0; self.carries.len() + 1];
        for index in 0..self.carries.len() {
            self.set(index, self.carries[index]);
        }
    }

    fn set(&mut self, index: usize, carries: bool) {
        self.carries[index] = carries;
        self.last[index + 1] = if carries { index + 1 } else { self.last[index] };
    }

    /// Returns whether one of them feeds a command.
    fn feeds(&self, run: &Run) -> bool {
        let end = self.carries.len();
        let mut ranges = run.fed_by.iter();
        ranges.any(|range| self.last[range.end.min(end)] > range.start)
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
        } else if place != self.program && !written.contains('"') {
            "is in a variable without quotes, and may be an option"
        } else {
            "is in a variable"
        };
        one_line(&format!("{what} {holder}: {written}"))
    }

    /// Returns whether the program runs on another machine or in a container, whose paths are not those of this one.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.run.is_elsewhere(self.program)
    }

    /// Returns the words behind the program, those of the files that the command reads as its input, each also as a path behind
    /// the directory of a `cd`, and the texts that it reads. An unknown part is left out, and may be a name.
    pub(crate) fn texts(&self) -> impl Iterator<Item = String> {
        let in_program = self.words().iter().map(|word| (word, &self.run.directory));
        let in_shell = self
            .run
            .reads
            .iter()
            .map(|word| (word, &self.run.shell_directory));
        let words = in_program.chain(in_shell).flat_map(|(word, directory)| {
            word.values.iter().flat_map(move |value| {
                let path = joined(directory, value).map(|path| cleaned(&path));
                let path = path.filter(|path| path != value);
                std::iter::once(value.clone()).chain(path)
            })
        });
        let inputs = inputs(&self.commands.runs, self.run).map(|text| text.to_string());
        words.chain(inputs).flat_map(|text| {
            let named = text.contains(ANY).then(|| text.replace(ANY, SOME_NAME));
            std::iter::once(text.replace(ANY, "")).chain(named)
        })
    }

    /// Returns the paths that the words behind the program may name, and those of its input. The word that may be what a pattern
    /// wants is none. Those of `find` are what it finds.
    pub(crate) fn paths(&self) -> Vec<Path> {
        let mut paths = match found(&self.run.words, self.program) {
            Some(found) => self.paths_of(found.iter().map(|word| (word, word.text()))),
            None => self.named_paths(),
        };
        // An input that is not known, and a device, are no files that the command names.
        let is_named = |path: &Path| match path {
            Path::Known(path) => !path.starts_with("/dev/"),
            Path::Below { .. } => true,
            Path::Unknown { .. } => false,
        };
        for word in &self.run.reads {
            let values = word.values.iter();
            let files = values.map(|value| path(self.run, &self.run.shell_directory, word, value));
            paths.extend(files.filter(is_named));
        }
        paths
    }

    fn named_paths(&self) -> Vec<Path> {
        let program = self.run.words[self.program].known().map_or("", base_name);
        let options = Options::new(program, self.words());
        let mut named = Vec::new();
        for (place, word, role) in options.each() {
            if self.unknown == Some(self.program + 1 + place) && !word.is_list {
                continue;
            }
            for value in &word.values {
                if !matches!(role, Role::Option | Role::End) {
                    named.push((word, value.as_str()));
                }
                named.extend(value.split_once('=').map(|(_, value)| (word, value)));
            }
        }
        self.paths_of(named.into_iter())
    }

    fn paths_of<'w>(&self, words: impl Iterator<Item = (&'w Arg, &'w str)>) -> Vec<Path> {
        let paths = words.map(|(word, value)| path(self.run, &self.run.directory, word, value));
        paths.collect()
    }

    fn words(&self) -> &[Arg] {
        arguments(&self.run.words, self.program)
    }
}

/// Returns a value of a word as a path in a directory.
pub(super) fn path(run: &Run, directory: &Directory, word: &Arg, value: &str) -> Path {
    let is_mark = |c: char| c == ANY || word.is_pattern && matches!(c, '*' | '?' | '[');
    let joined = joined(directory, value);
    let Some(path) = joined.filter(|path| !path.starts_with(ANY)) else {
        let ending = value.rsplit(ANY).next().unwrap_or("");
        let ending = ending.find('/').map_or("", |slash| &ending[slash..]);
        return Path::Unknown {
            written: one_line(run.written(word)),
            // `"$X/."` is the same as `"$X"`.
            ending: ending.trim_end_matches(['/', '.']).to_owned(),
        };
    };
    let Some(mark) = path.find(is_mark) else {
        return Path::Known(path);
    };
    // The text before the mark is a directory up to its last slash.
    let (directory, pattern) = match path[..mark].rfind('/') {
        Some(slash) => (&path[..=slash], &path[slash + 1..]),
        None => ("./", &*path),
    };
    Path::Below {
        directory: directory.to_owned(),
        // An unknown part is taken for a name.
        pattern: pattern.replace(ANY, "*"),
    }
}
