//! The words that `xargs`, `parallel`, `find -exec` and `fd -x` give to the command that they start.

use std::rc::Rc;

use super::expand::{ANY, Arg};
use super::found::{found, narrow, prints_otherwise};
use super::options::{Options, Role};
use super::run::{MOST_FEEDERS, Run, feeders};
use super::starts::program;

/// The mark that stands for each word, unless an option of `xargs` names another.
const MARK: &str = "{}";
/// The longest text that is read as words, in bytes.
const LONGEST_READ: usize = 16 << 10;
/// The sign of `parallel` behind which its words stand.
const HERE: &str = ":::";

/// Words that a command gets, and where it gets them.
pub(super) struct Given {
    words: Vec<Arg>,
    mark: String,
    /// True if they stand behind the command.
    is_behind: bool,
}

/// Returns the words that a program in a command gives to another one.
pub(super) fn given(run: &Run, runs: &[Run]) -> Option<Given> {
    run.programs()
        .find_map(|(place, program, own)| match program {
            "find" | "fd" | "fdfind" => Given::of_search(run, place),
            "xargs" => Some(Given::of_xargs(own, run, runs)),
            "parallel" => Some(Given::of_parallel(run, runs)),
            _ => None,
        })
}

impl Given {
    fn at_marks(words: Vec<Arg>) -> Self {
        Self {
            words,
            mark: MARK.to_owned(),
            is_behind: false,
        }
    }

    fn of_search(run: &Run, place: usize) -> Option<Self> {
        let mut given = Self::at_marks(found(&run.words, place)?);
        let starts = run.starts.places.iter().any(|start| *start > place);
        let is_find = program(&run.words, place) == Some("find");
        given.is_behind = !is_find && starts && !given.is_marked(&run.words);
        Some(given)
    }

    fn of_xargs(own: &[Arg], run: &Run, runs: &[Run]) -> Self {
        let options = Options::new("xargs", own);
        let mark = options.values_of(&["-I"]).pop().map(|(_, mark)| mark);
        let mut read = Read::new(run, mark.is_some());
        // Other words than those between blanks, and those of a file, are not known.
        let others = ["-d", "--delimiter", "-a", "--arg-file"];
        read.is_whole &= options.values_of(&others).is_empty();
        let given = Self::at_marks(read.words(runs));
        Self {
            is_behind: mark.is_none(),
            mark: mark.filter(|mark| !mark.is_empty()).unwrap_or(given.mark),
            words: given.words,
        }
    }

    fn of_parallel(run: &Run, runs: &[Run]) -> Self {
        let here = run.words.iter().position(|word| word.text() == HERE);
        let words = match here {
            Some(here) => run.words[here + 1..].to_vec(),
            None => Read::new(run, true).words(runs),
        };
        let mut given = Self::at_marks(words);
        given.is_behind = here.is_none() && !given.is_marked(&run.words);
        given
    }

    fn is_marked(&self, words: &[Arg]) -> bool {
        words.iter().any(|word| word.text().contains(&self.mark))
    }

    /// Returns the number of bytes that these words add to those of a command.
    pub(super) fn bytes(&self, words: &[Arg]) -> usize {
        let marked = words.iter().filter(|word| word.text().contains(&self.mark));
        let lengths: Vec<_> = marked.map(|word| word.text().len()).collect();
        let own: usize = self.words.iter().map(|word| word.text().len()).sum();
        own * (lengths.len() + 1) + lengths.iter().sum::<usize>() * self.words.len()
    }

    /// Puts the words in place of each mark, or behind the others.
    pub(super) fn put_into(self, words: &mut Vec<Arg>) {
        if self.words.is_empty() {
            return;
        }
        for word in words
            .iter_mut()
            .filter(|word| word.text().contains(&self.mark))
        {
            let text = word.text();
            let each = self.words.iter().map(Arg::text);
            word.values = if text.contains(' ') {
                // A text for a shell.
                vec![text.replacen(&self.mark, &Vec::from_iter(each).join(" "), 1)]
            } else {
                each.map(|each| text.replacen(&self.mark, each, 1))
                    .collect()
            };
            word.is_pattern = self.words.iter().any(|given| given.is_pattern);
        }
        if self.is_behind {
            words.extend(self.words);
        }
    }
}

/// The words that a command reads.
struct Read<'a> {
    run: &'a Run,
    words: Vec<Arg>,
    is_by_line: bool,
    /// False if it also reads what is not known.
    is_whole: bool,
}

impl<'a> Read<'a> {
    fn new(run: &'a Run, is_by_line: bool) -> Self {
        Self {
            run,
            words: Vec::new(),
            is_by_line,
            is_whole: run.reads.is_empty() && !(run.inputs.is_empty() && run.fed_by.is_empty()),
        }
    }

    /// Returns the words, and one that is not known for all others.
    fn words(mut self, runs: &'a [Run]) -> Vec<Arg> {
        for text in &self.run.inputs {
            self.add_text(text);
        }
        // Each with whether most of what it prints is left out.
        let mut waiting: Vec<_> = self.feeders(runs, self.run, false);
        for _ in 0..MOST_FEEDERS {
            let Some((feeder, is_narrow)) = waiting.pop() else {
                break;
            };
            if !self.add_printed(feeder, is_narrow) {
                let is_narrow = is_narrow || selects(feeder);
                waiting.extend(self.feeders(runs, feeder, is_narrow));
            }
        }
        self.is_whole &= waiting.is_empty() && self.words.len() <= MOST_FEEDERS;
        self.words.truncate(MOST_FEEDERS);
        if !self.is_whole {
            self.words.push(Arg {
                span: self.run.span.clone(),
                ..Arg::new(ANY)
            });
        }
        self.words
    }

    fn feeders(&mut self, runs: &'a [Run], run: &'a Run, is_narrow: bool) -> Vec<(&'a Run, bool)> {
        let count: usize = run.fed_by.iter().map(|range| range.len()).sum();
        self.is_whole &= count <= MOST_FEEDERS;
        feeders(runs, &run.fed_by)
            .map(|feeder| (feeder, is_narrow))
            .collect()
    }

    fn add_text(&mut self, text: &Rc<str>) {
        if text.len() > LONGEST_READ || text.contains(ANY) {
            self.is_whole = false;
            return;
        }
        // `xargs` removes quotes.
        let text = text.replace(['\'', '"', '\\'], "");
        let words: Vec<_> = if self.is_by_line {
            text.lines().map(Arg::new).collect()
        } else {
            text.split_whitespace().map(Arg::new).collect()
        };
        self.words.extend(words);
    }

    /// Adds what a command prints. Returns false if it passes on a part of what it reads.
    fn add_printed(&mut self, feeder: &Run, is_narrow: bool) -> bool {
        if let Some(text) = &feeder.prints {
            self.add_text(text);
            return true;
        }
        let program = program(&feeder.words, 0);
        if program.is_some_and(|program| reads_input(program, &feeder.words[1..])) {
            let reads_something = !(feeder.inputs.is_empty() && feeder.fed_by.is_empty());
            self.is_whole &= feeder.reads.is_empty() && reads_something;
            for text in &feeder.inputs {
                self.add_text(text);
            }
            return false;
        }
        match found(&feeder.words, 0) {
            Some(mut found) if !prints_otherwise(&feeder.words) => {
                if is_narrow {
                    narrow(&mut found);
                }
                self.words.extend(found);
            }
            _ => {
                self.is_whole &=
                    feeder.words.is_empty() || matches!(program, Some("cd" | "mkdir" | "true"))
            }
        }
        true
    }
}

/// Returns whether a program prints lines of its input: a filter whose words name no files.
fn reads_input(program: &str, words: &[Arg]) -> bool {
    let options = Options::new(program, words);
    match program {
        // The pattern is an operand.
        "grep" | "egrep" | "fgrep" | "rg" => options.operands().len() < 2,
        "sort" | "uniq" | "head" | "tail" | "tac" | "shuf" => {
            !options.each().any(|(_, _, role)| role == Role::Word)
        }
        _ => false,
    }
}

/// Returns whether a filter leaves out most lines: `grep` without `-v`.
fn selects(run: &Run) -> bool {
    let is_grep = matches!(
        program(&run.words, 0),
        Some("grep" | "egrep" | "fgrep" | "rg")
    );
    let is_inverted = |word: &Arg| {
        let text = word.text();
        text == "--invert-match"
            || text.starts_with('-') && !text.starts_with("--") && text.contains('v')
    };
    is_grep && !run.words.iter().any(is_inverted)
}
