//! Reads a text for a shell into the commands that run, with the texts that they give to other shells.
//!
//! What one command prints is known for `echo`, `printf` and `cat`. `cd` is followed. Looks at no files.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use super::expand::{A_NAME, ANY, Arg};
use super::lexer::{self, Limits};
use super::options::{Options, behind_options};
use super::starts::{Starts, arguments, program, starts};
use super::syntax::{Input, Simple, Syntax, Word};
use super::tables::{directory_options, prints_a_name, selects_lines, starts_elsewhere, valued};
use super::texts::{ShellText, UNKNOWN_VALUE, shell_texts};
use super::variables::Variables;

/// The most bytes, commands and words that are read, with those of texts within texts.
const MOST_BYTES: usize = 1 << 20;
pub(super) const MOST: Limits = Limits {
    commands: 4000,
    words: 20_000,
};
/// The most texts within texts.
const DEEPEST: usize = 100;
/// The most commands whose output one command is known to read, also through filters, and the most words of `xargs`.
const MOST_FEEDERS: usize = 64;
/// The mark that stands for what `find` finds, and mostly for what `xargs` reads.
const MARK: &str = "{}";
/// The most directories of `pushd` that are known.
const MOST_PUSHED: usize = 16;
/// The longest part of a text that a message shows, in characters.
const LONGEST_PART: usize = 200;

/// Where a command runs: a path from the place where the text runs, empty for that place, or none if it is unknown.
pub(super) type Directory = Option<Rc<str>>;

/// The commands that a text runs.
#[derive(Debug)]
pub(crate) struct Commands {
    pub(super) runs: Vec<Run>,
    pub(super) texts: Vec<Text>,
    /// The reason why a part of the text was not read.
    pub(super) unread: Option<&'static str>,
}

/// A text that was read.
#[derive(Debug)]
pub(super) struct Text {
    /// Its commands, by their places in the list.
    pub(super) runs: Range<usize>,
    /// The command that gives the text to a shell.
    pub(super) parent: Option<usize>,
}

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
    is_elsewhere: bool,
    text: Rc<str>,
    span: Range<usize>,
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

/// A text that is still to be read.
struct Nested {
    text: Rc<str>,
    depth: usize,
    parent: Option<usize>,
    directory: Directory,
    /// True if it may be no text for a shell. Then it is no doubt that it cannot be read.
    is_perhaps: bool,
    is_elsewhere: bool,
    /// The texts that the giving command reads. The commands of this text read them too, unless they have an input of their own.
    inputs: Vec<Rc<str>>,
}

struct Reader {
    commands: Commands,
    variables: Variables,
    /// The functions, each with the commands of its bodies.
    functions: HashMap<String, Vec<Range<usize>>>,
    texts: VecDeque<Nested>,
    bytes_left: usize,
    limits: Limits,
}

impl Commands {
    /// Returns the texts that were read and have commands.
    pub(super) fn sources(&self) -> impl Iterator<Item = &str> {
        let first = |text: &Text| self.runs[text.runs.clone()].first();
        self.texts.iter().filter_map(first).map(|run| &*run.text)
    }

    /// Returns whether a command runs this program.
    pub(super) fn has_program(&self, name: &str) -> bool {
        self.runs.iter().any(|run| run.runs(name))
    }

    /// Reads a text.
    pub(crate) fn read(text: &str) -> Self {
        let mut reader = Reader {
            commands: Commands {
                runs: Vec::new(),
                texts: Vec::new(),
                unread: None,
            },
            variables: Variables::new(),
            functions: HashMap::new(),
            texts: VecDeque::new(),
            bytes_left: MOST_BYTES,
            limits: MOST,
        };
        reader.texts.push_back(Nested {
            text: text.into(),
            depth: 0,
            parent: None,
            directory: Some("".into()),
            is_perhaps: false,
            is_elsewhere: false,
            inputs: Vec::new(),
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
        let base = self.commands.runs.len();
        self.variables.learn(&syntax, base);
        for (name, body) in &syntax.functions {
            let bodies = self.functions.entry(name.clone()).or_default();
            if bodies.len() < MOST_FEEDERS {
                bodies.push(base + body.start..base + body.end);
            }
        }
        let mut places = vec![None; syntax.shells.len()];
        places[0] = Some(Place::new(nested.directory.clone()));
        for simple in &syntax.commands {
            let place = current(&mut places, &syntax.shells, simple.shell);
            let run = self.run(simple, &syntax, base, nested, place.directory.clone());
            places[simple.shell] = Some(place.after(&run));
            self.commands.runs.push(run);
        }
        let end = self.commands.runs.len();
        self.commands.texts.push(Text {
            runs: base..end,
            parent: nested.parent,
        });
        // A document may belong to a group that ends later.
        for index in base..end {
            self.add_texts(index, nested.depth);
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
            reads: Vec::new(),
            inputs: Vec::new(),
            fed_by: Vec::new(),
            prints: None,
            shell_directory: directory.clone(),
            directory,
            is_elsewhere: nested.is_elsewhere,
            text: Rc::clone(&nested.text),
            span: simple.start..simple.end,
        };
        let runs = &self.commands.runs;
        let printed = |range: Range<usize>| output(runs, range);
        for word in &simple.words {
            run.words.extend(self.variables.expand(word, &printed));
            run.fed_by.extend(self.variables.sources(word));
        }
        if let Some(bodies) = simple
            .words
            .first()
            .and_then(|word| self.functions.get(word.bare()?))
        {
            run.fed_by.extend_from_slice(bodies);
        }
        for word in &simple.writes {
            run.writes.extend(self.variables.expand(word, &printed));
        }
        let mut fed_by = simple.fed_by.clone();
        for input in &simple.inputs {
            let word = match input {
                Input::Text(word) => word,
                Input::Document(id) => &syntax.documents[*id],
                Input::File(word) => {
                    run.reads.extend(self.variables.expand(word, &printed));
                    continue;
                }
            };
            fed_by.extend(Word::outputs(word));
            run.fed_by.extend(self.variables.sources(word));
            let text = self.variables.text(word, &printed);
            run.inputs.push(text.into());
        }
        if simple.inputs.is_empty() && fed_by.is_empty() {
            run.inputs.extend_from_slice(&nested.inputs);
        }
        let shifted = fed_by
            .into_iter()
            .map(|range| base + range.start..base + range.end);
        run.fed_by.extend(shifted);
        if simple.is_loop {
            run.words.clear();
        }
        run.starts = starts(&run.words);
        if run.starts.is_cut {
            let unread = &mut self.commands.unread;
            unread.get_or_insert("a command in it runs more than 100 others");
        }
        run.directory = run.changed_directory();
        self.add_listed(&mut run);
        run.prints = prints(&run, &self.commands.runs);
        run
    }

    /// Adds the words that `xargs` and `find -exec` give to the command: in place of a mark, or behind it.
    fn add_listed(&mut self, run: &mut Run) {
        if self.commands.unread.is_some() {
            return;
        }
        let (listed, mark) = if program(&run.words, 0) == Some("find") {
            (found_by_find(&run.words), Some(MARK.to_owned()))
        } else if run.runs("xargs") {
            (self.read_by_xargs(run), run.mark_of_xargs())
        } else {
            return;
        };
        let is_behind = mark.is_none();
        let mark = mark.as_deref().unwrap_or(MARK);
        let marked = run.words.iter_mut();
        let marked: Vec<_> = marked.filter(|word| word.text().contains(mark)).collect();
        let around: usize = marked.iter().map(|word| word.text().len()).sum();
        let bytes: usize = listed.iter().map(|word| word.text().len()).sum();
        if !self.take_given(bytes * (marked.len() + 1) + around * listed.len()) {
            return;
        }
        for word in marked {
            let text = word.text();
            let put_in = |each: &Arg| text.replacen(mark, each.text(), 1);
            word.values = listed.iter().map(put_in).collect();
            word.is_pattern = listed[0].is_pattern;
        }
        if is_behind {
            run.words.extend(listed);
        }
    }

    /// Takes bytes from those that are left, or says why the rest is not read.
    fn take_given(&mut self, bytes: usize) -> bool {
        let left = self.bytes_left.checked_sub(bytes);
        if left.is_none() {
            let unread = &mut self.commands.unread;
            unread.get_or_insert("what `find` and `xargs` give in it is above 1 MiB");
        }
        self.bytes_left = left.unwrap_or(self.bytes_left);
        left.is_some()
    }

    /// Returns the words that `xargs` reads: what is printed, and what `find` finds, also through filters. Else one that is not
    /// known.
    fn read_by_xargs(&mut self, run: &Run) -> Vec<Arg> {
        let mut listed = Vec::new();
        for text in Vec::from_iter(inputs(&self.commands.runs, run)) {
            if self.take_given(text.len()) {
                listed.extend(text.split_whitespace().map(Arg::new));
            }
        }
        let runs = &self.commands.runs;
        let mut feeders = Vec::from_iter(feeders(runs, &run.fed_by));
        for _ in 0..MOST_FEEDERS {
            let Some(feeder) = feeders.pop() else {
                break;
            };
            match program(&feeder.words, 0) {
                Some("find") => listed.extend(found_by_find(&feeder.words)),
                Some(program) if selects_lines(program) => {
                    feeders.extend(self::feeders(runs, &feeder.fed_by));
                }
                _ => {}
            }
        }
        listed.truncate(MOST_FEEDERS);
        if listed.is_empty() {
            listed.push(Arg {
                span: run.span.clone(),
                ..Arg::new(ANY)
            });
        }
        listed
    }

    /// Adds the texts that a command gives to a shell.
    fn add_texts(&mut self, index: usize, depth: usize) {
        let runs = &self.commands.runs;
        let run = &runs[index];
        for place in &run.starts.places {
            let given = shell_texts(&run.words, *place);
            if let [name, arguments @ ..] = given.arguments {
                self.variables.bind(name, arguments);
            }
            for text in given.texts {
                let (texts, is_perhaps, is_input) = match text {
                    ShellText::Text(text) => (vec![text.into()], false, false),
                    ShellText::Perhaps(text) => (vec![text.into()], true, false),
                    ShellText::Input => (inputs(runs, run).collect(), false, true),
                };
                // A text that is the input itself leaves nothing to read.
                let read = inputs(runs, run).filter(|_| !is_input);
                let read: Vec<_> = read.take(MOST_FEEDERS).collect();
                self.texts.extend(texts.into_iter().map(|text| Nested {
                    // A value that is not known may end its quotes.
                    is_perhaps: is_perhaps || text.contains(UNKNOWN_VALUE),
                    text,
                    depth: depth + 1,
                    parent: Some(index),
                    directory: run.directory.clone(),
                    is_elsewhere: run.is_elsewhere(place + 1),
                    inputs: read.clone(),
                }));
            }
        }
    }
}

impl Run {
    /// Returns each program, with the words between it and the program that it runs.
    fn programs(&self) -> impl Iterator<Item = (&str, &[Arg])> {
        let places = &self.starts.places;
        places.iter().enumerate().filter_map(|(index, place)| {
            let end = places.get(index + 1).copied();
            let words = self.words.get(place + 1..end.unwrap_or(self.words.len()))?;
            Some((program(&self.words, *place)?, words))
        })
    }

    /// Returns the directory of the program, which an option may name.
    fn changed_directory(&self) -> Directory {
        let mut directory = self.directory.clone();
        for (program, words) in self.programs() {
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

    /// Returns the mark that `xargs` replaces, if an option names it.
    fn mark_of_xargs(&self) -> Option<String> {
        let (program, words) = self.programs().find(|(program, _)| *program == "xargs")?;
        let options = Options::new(program, words);
        let (_, mark) = options.values_of(&["-I"]).pop()?;
        Some(mark).filter(|mark| !mark.is_empty())
    }

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
    let printed = feeders(runs, &run.fed_by).flat_map(|feeder| {
        // `cat <<A <<B` prints one of them.
        let passes_on =
            feeder.prints.is_none() && matches!(program(&feeder.words, 0), Some("cat" | "tee"));
        let passed = feeder.inputs.iter().filter(move |_| passes_on);
        feeder.prints.iter().chain(passed).cloned()
    });
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
        "git" if is_of_the_project(arguments) => Some(".".into()),
        "mktemp" => Some(match Options::new("mktemp", arguments).operands()[..] {
            [] => format!("/tmp/{ANY}").into(),
            [template, ..] => template.text().into(),
        }),
        program if prints_a_name(program, arguments) => Some(A_NAME.into()),
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

/// Returns whether git prints the directory of the project.
fn is_of_the_project(words: &[Arg]) -> bool {
    let words: Vec<_> = words.iter().map(Arg::text).collect();
    words == ["rev-parse", "--show-toplevel"]
}

fn line(words: &[Arg]) -> String {
    let words: Vec<_> = words.iter().map(Arg::text).collect();
    words.join(" ")
}

/// The pattern that stands for the names that `find` finds if it looks for none.
const ANY_NAME: &str = "*";

/// Returns the names for which an alternative of `find` looks. A test that is negated narrows nothing that counts here.
fn names_of_find(words: &[Arg]) -> Vec<&str> {
    let is_negation =
        |word: Option<&Arg>| word.is_some_and(|word| matches!(word.text(), "!" | "-not"));
    let is_name = |word: &Arg| matches!(word.text(), "-name" | "-iname");
    let places = words.iter().enumerate().filter(|(_, word)| is_name(word));
    let places = places
        .filter(|(place, _)| !is_negation(place.checked_sub(1).and_then(|place| words.get(place))));
    let names: Vec<_> = places
        .filter_map(|(place, _)| words.get(place + 1).map(Arg::text))
        .collect();
    if names.is_empty() {
        vec![ANY_NAME]
    } else {
        names
    }
}

/// Returns the patterns of the files that `find` finds: those below its directories, with one of its names.
pub(super) fn found_by_find(words: &[Arg]) -> Vec<Arg> {
    let words = arguments(words, 0);
    let is_root = |word: &&Arg| !word.is_option() && !matches!(word.text(), "(" | "!");
    let mut roots: Vec<_> = words.iter().take_while(is_root).map(Arg::text).collect();
    if roots.is_empty() {
        roots.push(".");
    }
    let alternatives = words.split(|word| matches!(word.text(), "-o" | "-or" | ","));
    let mut names: Vec<_> = alternatives.flat_map(names_of_find).collect();
    if names.contains(&ANY_NAME) {
        names = vec![ANY_NAME];
    }
    let pairs = roots
        .iter()
        .flat_map(|root| names.iter().map(move |name| (root, name)));
    let found = pairs.take(MOST_FEEDERS).map(|(root, name)| Arg {
        is_pattern: true,
        ..Arg::new(format!("{}/**/{name}", root.trim_end_matches('/')))
    });
    found.collect()
}

/// The directory of a shell, and those to which it may go back.
#[derive(Clone)]
struct Place {
    directory: Directory,
    previous: Directory,
    pushed: Vec<Directory>,
}

impl Place {
    fn new(directory: Directory) -> Self {
        Self {
            directory,
            previous: None,
            pushed: Vec::new(),
        }
    }

    /// Returns the place after a command: `cd`, `pushd` and `popd` change it.
    fn after(mut self, run: &Run) -> Self {
        let Some(place) = run.starts.places.last().copied() else {
            return self;
        };
        let Some(program @ ("cd" | "pushd" | "popd")) = program(&run.words, place) else {
            return self;
        };
        let target = behind_options(&run.words[place + 1..], &valued(program)).first();
        let next = match (program, target.map(Arg::text)) {
            ("popd", _) => self.pushed.pop().flatten(),
            ("pushd", None) => None,
            (_, None) => Some("~".into()),
            (_, Some("-")) => self.previous.take(),
            (_, Some(target)) => joined(&self.directory, target).map(Into::into),
        };
        self.previous = std::mem::replace(&mut self.directory, next);
        if program == "pushd" {
            self.pushed.push(self.previous.clone());
            let forgotten = self.pushed.len().saturating_sub(MOST_PUSHED);
            self.pushed.drain(..forgotten);
        }
        self
    }
}

/// Returns the place of a subshell, which begins in that of the one around it.
fn current(places: &mut [Option<Place>], shells: &[usize], shell: usize) -> Place {
    let mut path = Vec::new();
    let mut known = shell;
    while places[known].is_none() {
        path.push(known);
        known = shells[known];
    }
    let place = places[known].clone().unwrap_or_else(|| Place::new(None));
    for shell in path {
        places[shell] = Some(place.clone());
    }
    place
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
