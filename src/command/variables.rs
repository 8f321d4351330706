//! The values that a text gives to variables: assignments, loops, arguments of functions, the output of commands.
//!
//! A variable may have every value that the text gives to it, in any order.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::expand::{
    A_NAME, ANY, Alternatives, Arg, FILE_OF_COMMANDS, LONGEST_BRACES, has_pattern, words,
};
use super::syntax::{Assignment, Piece, Syntax, Word};

/// The most values of a word or a variable; one with more is unknown.
const MOST_VALUES: usize = 16;
/// The most bytes of values that are put together for a text.
const MOST_BYTES: usize = 1 << 20;

/// Returns what commands print, by their places among all commands, if it is known.
pub(super) type Printed<'a> = dyn Fn(Range<usize>) -> Option<String> + 'a;

/// The values that the texts give to variables.
pub(super) struct Variables {
    variables: HashMap<String, Variable>,
    functions: HashSet<String>,
    bytes_left: usize,
    /// The place of the current text's first command among all commands.
    base: usize,
}

#[derive(Default)]
struct Variable {
    values: Vec<String>,
    /// True if one of its values is a pattern of files.
    is_pattern: bool,
    /// The outputs that are in one of its values.
    printed: Vec<Output>,
    /// The commands whose output is in it.
    sources: Vec<Range<usize>>,
}

/// The output of commands, with the text before and after it.
struct Output {
    before: String,
    commands: Range<usize>,
    after: String,
}

impl Output {
    fn text(&self, printed: &Printed<'_>) -> String {
        let text = printed(self.commands.clone());
        let text = text.unwrap_or_else(|| ANY.to_string());
        format!("{}{text}{}", self.before, self.after)
    }
}

impl Variable {
    fn add_source(&mut self, source: Range<usize>) {
        if self.sources.len() < MOST_VALUES {
            self.sources.push(source);
        } else if let Some(last) = self.sources.last_mut() {
            *last = last.start.min(source.start)..last.end.max(source.end);
        }
    }

    fn has_too_many(&self) -> bool {
        self.values.len() + self.printed.len() > MOST_VALUES
    }
}

impl Variables {
    pub(super) fn new() -> Self {
        Self {
            variables: HashMap::new(),
            functions: HashSet::new(),
            bytes_left: MOST_BYTES,
            base: 0,
        }
    }

    /// Learns the values that a text gives to variables. `base` is the place of its first command.
    pub(super) fn learn(&mut self, syntax: &Syntax, base: usize) {
        self.base = base;
        let functions = syntax.functions.iter().map(|(name, _)| name.clone());
        self.functions.extend(functions);
        for command in &syntax.commands {
            for assignment in &command.assignments {
                self.assign(assignment);
                if !command.words.is_empty() {
                    // The command's own words do not have this value.
                    self.add(&assignment.name, ANY.to_string());
                }
            }
            let Some(program) = command.words.first().and_then(Word::bare) else {
                continue;
            };
            let words = &command.words[1..];
            match program {
                "for" | "select" if command.is_loop => self.learn_loop(words),
                "read" | "mapfile" | "readarray" | "getopts" => {
                    for word in words {
                        self.add(&word.text(), ANY.to_string());
                        self.add_sources(&word.text(), command.fed_by.iter().cloned());
                    }
                }
                "set" if words.iter().any(|word| word.bare() == Some("--")) => {
                    let is_end = |word: &Word| word.bare() == Some("--");
                    let end = words.iter().position(is_end);
                    self.learn_arguments(&words[end.map_or(0, |end| end + 1)..]);
                }
                "shift" => self.bind_arguments(&[ANY; 9].map(Arg::new)),
                "export" | "local" | "declare" | "readonly" | "typeset" => {
                    let assignments = words.iter().filter_map(Word::assignment);
                    assignments.for_each(|assignment| self.assign(&assignment));
                }
                name if self.functions.contains(name) => self.learn_arguments(words),
                _ => {}
            }
        }
    }

    /// Learns the arguments of a function or of `set`.
    fn learn_arguments(&mut self, words: &[Word]) {
        let args = words.iter().flat_map(|word| self.expand(word, &|_| None));
        let args: Vec<Arg> = args.collect();
        self.bind_arguments(&args);
    }

    /// Gives values to `$0`, `$1` and so on, and to `$@`.
    pub(super) fn bind(&mut self, name: &Arg, args: &[Arg]) {
        self.add("0", name.text().to_owned());
        self.bind_arguments(args);
    }

    fn bind_arguments(&mut self, args: &[Arg]) {
        for (index, arg) in args.iter().enumerate().take(9) {
            self.add_word(&(index + 1).to_string(), arg);
        }
        let texts: Vec<_> = args.iter().map(Arg::text).collect();
        for name in ["@", "*"] {
            self.add(name, texts.join(" "));
        }
    }

    fn add_sources(&mut self, name: &str, sources: impl Iterator<Item = Range<usize>>) {
        let base = self.base;
        for source in sources {
            let variable = self.variables.entry(name.to_owned()).or_default();
            variable.add_source(base + source.start..base + source.end);
        }
    }

    /// Returns the commands whose output is in the variables of a word, by their places among all commands.
    pub(super) fn sources(&self, word: &Word) -> Vec<Range<usize>> {
        let names = word.pieces.iter().filter_map(|piece| match piece {
            Piece::Variable { name, .. } => self.variables.get(name),
            _ => None,
        });
        names
            .flat_map(|variable| variable.sources.iter().cloned())
            .collect()
    }

    fn assign(&mut self, assignment: &Assignment) {
        for word in &assignment.words {
            self.add_sources(&assignment.name, word.outputs());
            for source in self.sources(word) {
                let variable = self.variables.entry(assignment.name.clone()).or_default();
                variable.add_source(source);
            }
        }
        if let ([word], false) = (&assignment.words[..], assignment.adds)
            && let Some(output) = self.output(word)
        {
            let variable = self.variables.entry(assignment.name.clone()).or_default();
            if !variable.has_too_many() {
                variable.printed.push(output);
            }
            return;
        }
        let mut values = vec![String::new()];
        let mut is_pattern = false;
        for (index, word) in assignment.words.iter().enumerate() {
            let blank = if index > 0 { " " } else { "" };
            let all = self.alternatives(word, &|_| None);
            self.append(&mut values, &all.texts, blank);
            is_pattern |= all.is_pattern;
        }
        if assignment.adds && self.variables.contains_key(&assignment.name) {
            let blank = if assignment.words.len() == 1 { "" } else { " " };
            let mut longer = self.taken_value(&assignment.name, &|_| None);
            self.append(&mut longer, &values, blank);
            values.extend(longer);
        }
        self.add_word(
            &assignment.name,
            &Arg {
                values,
                is_pattern,
                ..Arg::default()
            },
        );
    }

    /// Returns the output that a word has, if the text before and after it has one value.
    fn output(&mut self, word: &Word) -> Option<Output> {
        let (before, commands, after) = word.one_output()?;
        let mut text_of = |word: &Word| match &mut self.alternatives(word, &|_| None).texts[..] {
            [text] => Some(std::mem::take(text)),
            _ => None,
        };
        let (before, after) = (text_of(&before)?, text_of(&after)?);
        let commands = self.base + commands.start..self.base + commands.end;
        Some(Output {
            before,
            commands,
            after,
        })
    }

    fn learn_loop(&mut self, words: &[Word]) {
        let Some((name, values)) = words.split_first() else {
            return;
        };
        let name = name.text();
        if values.len() < 2 {
            return self.add(&name, ANY.to_string());
        }
        for word in &values[1..] {
            for arg in self.expand(word, &|_| None) {
                self.add_word(&name, &arg);
            }
        }
    }

    /// Gives a variable the values of a word that was expanded.
    fn add_word(&mut self, name: &str, arg: &Arg) {
        for value in &arg.values {
            self.add(name, value.clone());
        }
        self.variables
            .entry(name.to_owned())
            .or_default()
            .is_pattern |= arg.is_pattern;
    }

    fn add(&mut self, name: &str, value: String) {
        let variable = self.variables.entry(name.to_owned()).or_default();
        if !variable.has_too_many() && !variable.values.contains(&value) {
            variable.values.push(value);
        }
    }

    /// Puts one of these texts behind each of those. If there are too many, they are unknown.
    fn append(&mut self, texts: &mut Vec<String>, ends: &[String], between: &str) {
        if let ([text], [end]) = (&mut texts[..], ends) {
            text.push_str(between);
            let is_unknown = text.ends_with(ANY) && end.starts_with(ANY);
            text.push_str(&end[usize::from(is_unknown)..]);
            return;
        }
        let bytes = |texts: &[String]| texts.iter().map(String::len).sum::<usize>();
        let needed = bytes(texts) * ends.len() + bytes(ends) * texts.len();
        if texts.len() * ends.len() > MOST_VALUES || needed > self.bytes_left {
            *texts = vec![ANY.to_string()];
            return;
        }
        self.bytes_left -= needed;
        let pairs = texts.iter().flat_map(|text| {
            let ends = ends.iter();
            ends.map(move |end| format!("{text}{between}{end}"))
        });
        *texts = pairs.collect();
    }

    fn value(&self, name: &str, printed: &Printed<'_>) -> Vec<String> {
        match self.variables.get(name) {
            Some(variable) if !variable.has_too_many() => {
                let outputs = variable.printed.iter().map(|output| output.text(printed));
                variable.values.iter().cloned().chain(outputs).collect()
            }
            Some(_) => vec![ANY.to_string()],
            None => vec![match name {
                "HOME" => "~".to_owned(),
                "PWD" | "GITHUB_WORKSPACE" | "CI_PROJECT_DIR" => ".".to_owned(),
                "TMPDIR" | "RUNNER_TEMP" => "/tmp".to_owned(),
                "IFS" => " ".to_owned(),
                "USER" | "LOGNAME" | "UID" | "HOSTNAME" | "RANDOM" | "$" => A_NAME.to_owned(),
                _ => ANY.to_string(),
            }],
        }
    }

    /// Returns the values of a variable, and takes their bytes from those that are left.
    fn taken_value(&mut self, name: &str, printed: &Printed<'_>) -> Vec<String> {
        let values = self.value(name, printed);
        let bytes: usize = values.iter().map(String::len).sum();
        match self.bytes_left.checked_sub(bytes) {
            Some(left) => {
                self.bytes_left = left;
                values
            }
            None => vec![ANY.to_string()],
        }
    }

    fn alternatives(&mut self, word: &Word, printed: &Printed<'_>) -> Alternatives {
        let mut all = Alternatives {
            texts: vec![String::new()],
            is_split: false,
            is_many: false,
            is_list: false,
            is_pattern: has_pattern(word),
        };
        for piece in &word.pieces {
            if let Piece::Variable { name, .. } = piece {
                let variable = self.variables.get(name);
                all.is_pattern |= variable.is_some_and(|variable| variable.is_pattern);
            }
            let (values, splits) = self.values_of(piece, printed);
            if splits {
                let is_whole =
                    |value: &String| !value.is_empty() && !value.contains(char::is_whitespace);
                all.is_split |= !values.iter().all(is_whole);
                let is_unknown = values.iter().any(|value| value.contains(ANY));
                all.is_many |= is_unknown;
                all.is_list |= is_unknown && matches!(piece, Piece::Variable { is_list: true, .. });
            }
            self.append(&mut all.texts, &values, "");
        }
        all
    }

    /// Returns the values of a piece, and whether they are split at blanks.
    fn values_of(&mut self, piece: &Piece, printed: &Printed<'_>) -> (Vec<String>, bool) {
        match piece {
            Piece::Text { text, .. } => (vec![text.clone()], false),
            Piece::Variable {
                name,
                is_quoted,
                is_plain,
                is_list,
                default,
            } => {
                let values = match default {
                    Some(word) => self.value_or_default(name, word, printed),
                    None if *is_plain => self.taken_value(name, printed),
                    None => vec![ANY.to_string()],
                };
                (values, !is_quoted || *is_list)
            }
            Piece::Output { is_file: true, .. } => (vec![format!("{FILE_OF_COMMANDS}63")], false),
            Piece::Output {
                commands,
                is_quoted,
                ..
            } => {
                let commands = self.base + commands.start..self.base + commands.end;
                let known = printed(commands).filter(|text| text.len() < LONGEST_BRACES);
                let value = known.unwrap_or_else(|| ANY.to_string());
                (vec![value], !is_quoted)
            }
        }
    }

    /// Returns the values that the texts give to a variable, and its default. An empty default says that any value may be
    /// there. What is substituted in it is unknown, so that there is no depth.
    fn value_or_default(&mut self, name: &str, word: &Word, printed: &Printed<'_>) -> Vec<String> {
        let texts = word.pieces.iter().map(|piece| match piece {
            Piece::Text { text, .. } => text.clone(),
            Piece::Variable { name, .. } => {
                let values = self.value(name, printed);
                values.into_iter().next().unwrap_or_default()
            }
            Piece::Output { .. } => ANY.to_string(),
        });
        let text: String = texts.collect();
        let is_set = self.variables.contains_key(name);
        let mut values = if is_set || text.is_empty() {
            self.taken_value(name, printed)
        } else {
            Vec::new()
        };
        values.push(if text.len() <= LONGEST_BRACES {
            text
        } else {
            ANY.to_string()
        });
        values
    }

    /// Returns the text of a word that is not split, such as a document.
    pub(super) fn text(&mut self, word: &Word, printed: &Printed<'_>) -> String {
        let texts = self.alternatives(word, printed).texts;
        texts.join("\n")
    }

    /// Returns the words that a word becomes.
    pub(super) fn expand(&mut self, word: &Word, printed: &Printed<'_>) -> Vec<Arg> {
        let all = self.alternatives(word, printed);
        words(word, all, &mut self.bytes_left)
    }
}
