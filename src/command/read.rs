//! Reads a text for a shell into the commands that run, with the texts that they give to other shells.
//!
//! What one command prints is known for `echo`, `printf` and `cat`. `cd` is followed. Looks at no files.

use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use super::expand::{ANY, Arg, Variables};
use super::lexer::{self, Limits};
use super::starts::{ShellText, Starts, UNKNOWN_VALUE, operands, program, shell_texts, starts};
use super::syntax::{Input, Simple, Syntax, Word};
use super::tables::letters_with_value;

/// The most bytes, commands and words that are read, with those of texts within texts.
const MOST_BYTES: usize = 1 << 20;
const MOST: Limits = Limits {
    commands: 4000,
    words: 20_000,
};
/// The most texts within texts.
const DEEPEST: usize = 100;
/// The most commands whose output one command is known to read, and the most words of `xargs`.
const MOST_FEEDERS: usize = 64;
/// The longest part of a text that a message shows, in characters.
const LONGEST_PART: usize = 200;

/// Where a command runs: a path from the place where the text runs, empty for that place, or none if it is unknown.
pub(super) type Directory = Option<Rc<str>>;

/// The commands that a text runs.
#[derive(Debug)]
pub(crate) struct Commands {
    pub(super) runs: Vec<Run>,
    /// The reason why a part of the text was not read.
    pub(super) unread: Option<&'static str>,
}

/// A command that runs.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) words: Vec<Arg>,
    pub(super) starts: Starts,
    pub(super) writes: Vec<Arg>,
    /// Documents and here-strings.
    pub(super) inputs: Vec<Rc<str>>,
    /// The commands whose output it may read.
    pub(super) fed_by: Vec<Range<usize>>,
    /// What it prints, if that is known.
    pub(super) prints: Option<Rc<str>>,
    pub(super) directory: Directory,
    text: Rc<str>,
    span: Range<usize>,
}

impl Run {
    /// Returns the command as it is written, in one line.
    pub(super) fn part(&self) -> String {
        let text = self.text.get(self.span.clone()).unwrap_or("");
        one_line(text)
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
}

/// Returns the beginning of a text in one line, without characters that are not printable.
pub(super) fn one_line(text: &str) -> String {
    let beginning = text.trim().chars().take(LONGEST_PART);
    let line = crate::printable::printable(&beginning.collect::<String>());
    if line.chars().count() <= LONGEST_PART && text.trim().chars().nth(LONGEST_PART).is_none() {
        return line;
    }
    let kept: String = line.chars().take(LONGEST_PART - 1).collect();
    format!("{kept}…")
}

/// A text that is still to be read.
struct Nested {
    text: Rc<str>,
    depth: usize,
    directory: Directory,
    /// True if it may be no text for a shell. Then it is no doubt that it cannot be read.
    is_perhaps: bool,
}

struct Reader {
    commands: Commands,
    variables: Variables,
    texts: VecDeque<Nested>,
    bytes_left: usize,
    limits: Limits,
}

impl Commands {
    /// Reads a text.
    pub(crate) fn read(text: &str) -> Self {
        let mut reader = Reader {
            commands: Commands {
                runs: Vec::new(),
                unread: None,
            },
            variables: Variables::new(),
            texts: VecDeque::new(),
            bytes_left: MOST_BYTES,
            limits: MOST,
        };
        reader.texts.push_back(Nested {
            text: text.into(),
            depth: 0,
            directory: Some("".into()),
            is_perhaps: false,
        });
        while let Some(nested) = reader.texts.pop_front() {
            if let Some(reason) = reader.read(&nested) {
                reader.commands.unread.get_or_insert(reason);
            }
        }
        reader.commands
    }
}

impl Reader {
    /// Reads a text. Returns the reason why a part of it was not read.
    fn read(&mut self, nested: &Nested) -> Option<&'static str> {
        let Some(left) = self.bytes_left.checked_sub(nested.text.len()) else {
            return Some("it is longer than 1 MiB");
        };
        self.bytes_left = left;
        if nested.depth > DEEPEST {
            return Some("it is nested more than 100 levels deep");
        }
        let syntax = lexer::read(&nested.text, self.limits);
        self.limits.commands = self.limits.commands.saturating_sub(syntax.commands.len());
        self.limits.words = self.limits.words.saturating_sub(syntax.words);
        self.variables.learn(&syntax);
        let mut directories = vec![None; syntax.shells.len()];
        directories[0] = Some(nested.directory.clone());
        let base = self.commands.runs.len();
        for simple in &syntax.commands {
            let directory = current(&mut directories, &syntax.shells, simple.shell);
            let run = self.run(simple, &syntax, base, nested, directory);
            if let Some(directory) = changed_directory(&run) {
                directories[simple.shell] = Some(directory);
            }
            self.commands.runs.push(run);
        }
        // A document may belong to a group that ends later.
        for run in &self.commands.runs[base..] {
            add_texts(&mut self.texts, &self.commands.runs, run, nested.depth);
        }
        syntax.unread.filter(|_| !nested.is_perhaps)
    }

    fn run(
        &mut self,
        simple: &Simple,
        syntax: &Syntax,
        base: usize,
        nested: &Nested,
        directory: Directory,
    ) -> Run {
        let mut run = Run {
            words: Vec::new(),
            starts: Starts::default(),
            writes: Vec::new(),
            inputs: Vec::new(),
            fed_by: Vec::new(),
            prints: None,
            directory,
            text: Rc::clone(&nested.text),
            span: simple.start..simple.end,
        };
        let runs = &self.commands.runs;
        let printed = |range: Range<usize>| output(runs, base + range.start..base + range.end);
        for word in &simple.words {
            run.words.extend(self.variables.expand(word, &printed));
        }
        for word in &simple.writes {
            run.writes.extend(self.variables.expand(word, &printed));
        }
        let mut fed_by = simple.fed_by.clone();
        for input in &simple.inputs {
            let word = match input {
                Input::Text(word) => word,
                Input::Document(id) => &syntax.documents[*id],
                Input::File(_) => continue,
            };
            fed_by.extend(Word::outputs(word));
            let text = self.variables.text(word, &printed);
            run.inputs.push(text.into());
        }
        let shifted = fed_by
            .into_iter()
            .map(|range| base + range.start..base + range.end);
        run.fed_by = shifted.collect();
        if simple.is_loop {
            run.words.clear();
        }
        run.starts = starts(&run.words);
        self.add_listed(&mut run);
        run.prints = prints(&run, runs);
        run
    }

    /// Adds the words that `xargs` and `find -exec` give to the command.
    fn add_listed(&self, run: &mut Run) {
        let mut listed = Vec::new();
        match program(&run.words, 0) {
            Some("find") => listed = found_below(&run.words),
            _ if !run.runs("xargs") => return,
            _ => {
                for feeder in feeders(&self.commands.runs, &run.fed_by) {
                    if program(&feeder.words, 0) == Some("find") {
                        listed.extend(found_below(&feeder.words));
                    } else if let Some(text) = &feeder.prints {
                        listed.extend(text.split_whitespace().map(str::to_owned));
                    }
                }
            }
        }
        listed.truncate(MOST_FEEDERS);
        if listed.is_empty() {
            return;
        }
        for word in &mut run.words {
            if word.text() == "{}" {
                word.values.clone_from(&listed);
            }
        }
        if program(&run.words, 0) != Some("find") {
            run.words.extend(listed.into_iter().map(Arg::new));
        }
    }
}

/// Adds the texts that a command gives to a shell.
fn add_texts(queue: &mut VecDeque<Nested>, runs: &[Run], run: &Run, depth: usize) {
    for place in &run.starts.places {
        for text in shell_texts(&run.words, *place) {
            let (texts, is_perhaps) = match text {
                ShellText::Text(text) => (vec![text.into()], false),
                ShellText::Perhaps(text) => (vec![text.into()], true),
                ShellText::Input => (inputs(runs, run).collect(), false),
            };
            for text in texts {
                queue.push_back(Nested {
                    // A value that is not known may end its quotes.
                    is_perhaps: is_perhaps || text.contains(UNKNOWN_VALUE),
                    text,
                    depth: depth + 1,
                    directory: run.directory.clone(),
                });
            }
        }
    }
}

impl Run {
    fn runs(&self, name: &str) -> bool {
        let mut places = self.starts.places.iter();
        places.any(|place| program(&self.words, *place) == Some(name))
    }
}

/// Returns the commands that feed one.
fn feeders<'a>(runs: &'a [Run], fed_by: &'a [Range<usize>]) -> impl Iterator<Item = &'a Run> {
    let ranges = fed_by
        .iter()
        .filter_map(|range| runs.get(range.start..range.end.min(runs.len())));
    ranges.flatten().take(MOST_FEEDERS)
}

/// Returns the known texts that a command reads.
pub(super) fn inputs<'a>(runs: &'a [Run], run: &'a Run) -> impl Iterator<Item = Rc<str>> + 'a {
    let printed = feeders(runs, &run.fed_by).filter_map(|feeder| feeder.prints.clone());
    run.inputs.iter().cloned().chain(printed)
}

/// Returns what a substitution yields, if it is known.
fn output(runs: &[Run], range: Range<usize>) -> Option<String> {
    let [run] = runs.get(range)? else {
        return None;
    };
    run.prints
        .as_ref()
        .map(|text| text.trim_end_matches('\n').to_owned())
}

/// Returns what a command prints, if it is known. A command without words stands for the input of a group.
fn prints(run: &Run, runs: &[Run]) -> Option<Rc<str>> {
    let Some(command) = run.words.first() else {
        return run.inputs.first().cloned();
    };
    let arguments = &run.words[1..];
    match command.known()? {
        "pwd" => Some(".".into()),
        "echo" => {
            let is_option = |word: &&Arg| matches!(word.text(), "-n" | "-e" | "-ne" | "-en");
            let skipped = arguments.iter().take_while(is_option).count();
            Some(line(&arguments[skipped..]).into())
        }
        "printf" => Some(line(arguments).replace("\\n", "\n").into()),
        "cat" | "tee" if arguments.is_empty() || program(&run.words, 0) == Some("tee") => {
            let mut texts = inputs(runs, run);
            texts.next().filter(|_| texts.next().is_none())
        }
        _ => None,
    }
}

fn line(words: &[Arg]) -> String {
    let words: Vec<_> = words.iter().map(Arg::text).collect();
    words.join(" ")
}

/// Returns what `find` finds: files below its directories.
fn found_below(words: &[Arg]) -> Vec<String> {
    let is_root = |word: &&Arg| !word.is_option() && !matches!(word.text(), "(" | "!");
    let roots = words.iter().skip(1).take_while(is_root);
    roots
        .map(|word| format!("{}/{{}}", word.text().trim_end_matches('/')))
        .collect()
}

/// Returns the directory of a subshell, which begins in that of the one around it.
fn current(directories: &mut [Option<Directory>], shells: &[usize], shell: usize) -> Directory {
    let mut path = Vec::new();
    let mut known = shell;
    while directories[known].is_none() {
        path.push(known);
        known = shells[known];
    }
    let directory = directories[known].clone().unwrap_or_default();
    for shell in path {
        directories[shell] = Some(directory.clone());
    }
    directory
}

/// Returns the new directory after `cd`.
fn changed_directory(run: &Run) -> Option<Directory> {
    let place = *run.starts.places.last()?;
    let program = program(&run.words, place)?;
    match program {
        "cd" | "pushd" => {}
        "popd" => return Some(None),
        _ => return None,
    }
    let target = operands(&run.words[place + 1..], letters_with_value(program)).first();
    Some(match target.map(Arg::text) {
        None => Some("~".into()),
        Some("-") => None,
        Some(target) => joined(&run.directory, target).map(Into::into),
    })
}

/// Returns a path from the place where the text runs, or none if it is unknown.
pub(super) fn joined(directory: &Directory, path: &str) -> Option<String> {
    if path.starts_with(ANY) {
        return None;
    }
    if path.starts_with(['/', '~']) {
        return Some(path.to_owned());
    }
    match &**directory.as_ref()? {
        "" => Some(path.to_owned()),
        directory => Some(format!("{}/{path}", directory.trim_end_matches('/'))),
    }
}
