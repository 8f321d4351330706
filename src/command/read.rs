//! Reads a text for a shell into the commands that run, with the texts that they give to other shells.
//!
//! What one command prints is known for `echo`, `printf` and `cat`. `cd` is followed. Looks at no files.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use super::expand::{A_NAME, ANY, Arg};
use super::lexer::{self, Limits};
use super::listed::given;
use super::options::{Options, behind_options};
use super::run::{Directory, MOST_FEEDERS, Run, inputs, joined};
use super::starts::{Starts, program, starts};
use super::syntax::{Input, Simple, Syntax, Word};
use super::tables::{prints_a_name, valued};
use super::texts::{ShellText, UNKNOWN_VALUE, runs_script, shell_texts};
use super::variables::Variables;

/// The most bytes, commands and words that are read, with those of texts within texts.
const MOST_BYTES: usize = 1 << 20;
pub(super) const MOST: Limits = Limits {
    commands: 4000,
    words: 20_000,
};
/// The most texts within texts.
const DEEPEST: usize = 100;
/// The most directories of `pushd` that are known.
const MOST_PUSHED: usize = 16;
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
        self.runs
            .iter()
            .any(|run| run.programs().any(|(_, program, _)| program == name))
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
        let mut sources = Vec::new();
        for word in &simple.words {
            run.words.extend(self.variables.expand(word, &printed));
            sources.extend(self.variables.sources(word));
        }
        // The arguments of a script are no text for its shell.
        if !runs_script(&run.words) {
            run.fed_by.extend(sources);
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
        self.add_given(&mut run);
        run.prints = prints(&run, &self.commands.runs);
        run
    }

    /// Adds the words that `xargs` and its kin give to the command.
    fn add_given(&mut self, run: &mut Run) {
        if self.commands.unread.is_some() {
            return;
        }
        let Some(given) = given(run, &self.commands.runs) else {
            return;
        };
        match self.bytes_left.checked_sub(given.bytes(&run.words)) {
            Some(left) => {
                self.bytes_left = left;
                given.put_into(&mut run.words);
            }
            None => {
                self.commands.unread = Some("what `find` and `xargs` give in it is above 1 MiB");
            }
        }
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
        "printf" => {
            let text = line(arguments).replace("\\n", "\n");
            Some(text.replace("\\0", "\n").replace("\\t", "\t").into())
        }
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
