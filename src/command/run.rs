//! A command that runs: its words, where it runs, and what it reads.

use std::ops::Range;
use std::rc::Rc;

use super::expand::{ANY, Arg};
use super::options::Options;
use super::starts::{Starts, program};
use super::tables::{directory_options, starts_elsewhere};

/// The most commands whose output one command is known to read.
pub(super) const MOST_FEEDERS: usize = 64;
/// The longest part of a text that a message shows, in characters.
const LONGEST_PART: usize = 200;

/// Where a command runs: a path from the place where the text runs, empty for that place, or none if it is unknown.
pub(super) type Directory = Option<Rc<str>>;

/// A command that runs.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) words: Vec<Arg>,
    pub(super) starts: Starts,
    pub(super) writes: Vec<Arg>,
    /// The files that it reads by `<`.
    pub(super) reads: Vec<Arg>,
    /// Documents and here-strings.
    pub(super) inputs: Vec<Rc<str>>,
    /// The commands whose output it may read.
    pub(super) fed_by: Vec<Range<usize>>,
    /// The text that it prints, if that is known.
    pub(super) prints: Option<Rc<str>>,
    /// The directory of the shell, and that of the program: `env -C DIR`.
    pub(super) shell_directory: Directory,
    pub(super) directory: Directory,
    /// True if its text is run on another machine or in a container.
    pub(super) is_elsewhere: bool,
    pub(super) text: Rc<str>,
    pub(super) span: Range<usize>,
}

impl Run {
    /// Returns the command as it is written.
    pub(super) fn whole(&self) -> &str {
        self.text.get(self.span.clone()).unwrap_or("")
    }

    /// Returns whether the program at a place runs on another machine or in a container.
    pub(super) fn is_elsewhere(&self, place: usize) -> bool {
        let before = self.starts.places.iter().filter(|start| **start < place);
        let mut programs = before.filter_map(|start| program(&self.words, *start));
        self.is_elsewhere || programs.any(starts_elsewhere)
    }

    /// Returns the command as it is written, in one line.
    pub(super) fn part(&self) -> String {
        one_line(self.whole())
    }

    /// Returns the text from another command on, if both are in one text.
    pub(super) fn part_from(&self, first: &Run) -> String {
        if !Rc::ptr_eq(&self.text, &first.text) {
            return self.part();
        }
        let start = self.span.start.min(first.span.start);
        let text = self.text.get(start..self.span.end).unwrap_or("");
        one_line(text)
    }

    /// Returns a word as it is written.
    pub(super) fn written(&self, word: &Arg) -> &str {
        self.text.get(word.span.clone()).unwrap_or("")
    }

    /// Returns each program with its place, and the words between it and the program that it runs.
    pub(super) fn programs(&self) -> impl Iterator<Item = (usize, &str, &[Arg])> {
        let places = &self.starts.places;
        places.iter().enumerate().filter_map(|(index, place)| {
            let end = places.get(index + 1).copied();
            let words = self.words.get(place + 1..end.unwrap_or(self.words.len()))?;
            Some((*place, program(&self.words, *place)?, words))
        })
    }

    /// Returns the directory of the program, which an option may name.
    pub(super) fn changed_directory(&self) -> Directory {
        let mut directory = self.directory.clone();
        for (_, program, words) in self.programs() {
            let options = directory_options(program);
            if options.is_empty() {
                continue;
            }
            for (_, value) in Options::new(program, words).values_of(options) {
                directory = joined(&directory, &value).map(Into::into);
            }
        }
        directory
    }
}

/// Returns the commands that feed one.
pub(super) fn feeders<'a>(
    runs: &'a [Run],
    fed_by: &'a [Range<usize>],
) -> impl Iterator<Item = &'a Run> {
    let ranges = fed_by
        .iter()
        .filter_map(|range| runs.get(range.start..range.end.min(runs.len())));
    ranges.flatten().take(MOST_FEEDERS)
}

/// Returns the known texts that a command reads.
pub(super) fn inputs<'a>(runs: &'a [Run], run: &'a Run) -> impl Iterator<Item = Rc<str>> + 'a {
    let printed = feeders(runs, &run.fed_by).flat_map(|feeder| {
        // `cat <<A <<B` prints one of them.
        let passes_on =
            feeder.prints.is_none() && matches!(program(&feeder.words, 0), Some("cat" | "tee"));
        let passed = feeder.inputs.iter().filter(move |_| passes_on);
        feeder.prints.iter().chain(passed).cloned()
    });
    run.inputs.iter().cloned().chain(printed)
}

/// Returns the beginning of a text in one line, without characters that are not printable.
pub(crate) fn one_line(text: &str) -> String {
    let beginning = text.trim().chars().take(LONGEST_PART);
    let line = crate::printable::printable(&beginning.collect::<String>());
    if line.chars().count() <= LONGEST_PART && text.trim().chars().nth(LONGEST_PART).is_none() {
        return line;
    }
    let kept: String = line.chars().take(LONGEST_PART - 1).collect();
    format!("{kept}…")
}

/// Returns a path from the place where the text runs, or none if it is unknown.
pub(super) fn joined(directory: &Directory, path: &str) -> Option<String> {
    if path.starts_with(ANY) {
        return None;
    }
    if let Some(rest) = path.strip_prefix('~') {
        // `~name` is the home of another user.
        return (rest.is_empty() || rest.starts_with('/')).then(|| path.to_owned());
    }
    if path.starts_with('/') {
        return Some(path.to_owned());
    }
    match &**directory.as_ref()? {
        "" => Some(path.to_owned()),
        directory => Some(format!("{}/{path}", directory.trim_end_matches('/'))),
    }
}

/// Returns a path without `.`, `//`, and `..` behind a name.
pub(super) fn cleaned(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').skip(usize::from(path.starts_with('/'))) {
        match (part, parts.last()) {
            ("" | ".", _) => {}
            ("..", Some(last)) if !matches!(*last, ".." | "~") => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}
