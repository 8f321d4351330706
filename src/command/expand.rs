//! Words with their values: variables that the text sets, the output of `echo`, braces, patterns of files.
//!
//! A value is known, or known in part. It knows every value that the text gives to a variable, in any order.

use std::collections::HashMap;
use std::ops::Range;

use super::syntax::{Assignment, Piece, Syntax, Word};

/// Stands for any text in a value. Programs cannot get this character.
pub(super) const ANY: char = '\0';
/// Stands for any character in the name of a program.
pub(super) const ONE: char = '\u{1}';

/// The directory of the files that `<(..)` and `>(..)` are.
pub(super) const FILE_OF_COMMANDS: &str = "/dev/fd/";

/// The most values of a word or a variable; one with more is unknown.
const MOST_VALUES: usize = 16;
/// The longest word in which braces are read, and the most words of it.
const LONGEST_BRACES: usize = 1024;
const MOST_BRACES: usize = 32;
/// The most bytes of values that are put together for a text.
const MOST_BYTES: usize = 1 << 20;

/// A word of a command as the program gets it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arg {
    /// It is one of these.
    pub(super) values: Vec<String>,
    /// The programs that it may name, if they are others: for patterns and braces.
    pub(super) names: Vec<String>,
    /// True if it is unknown, and may be any number of words.
    pub(super) is_many: bool,
    /// The place in the text.
    pub(super) span: Range<usize>,
}

impl Arg {
    pub(super) fn new(value: impl Into<String>) -> Self {
        Self {
            values: vec![value.into()],
            names: Vec::new(),
            is_many: false,
            span: 0..0,
        }
    }

    /// The first value. It has `ANY` for what is unknown.
    pub(super) fn text(&self) -> &str {
        self.values.first().map_or("", |value| value)
    }

    pub(super) fn known(&self) -> Option<&str> {
        match &self.values[..] {
            [value] if self.names.is_empty() && !value.contains(ANY) => Some(value),
            _ => None,
        }
    }

    pub(super) fn is_option(&self) -> bool {
        self.text().len() > 1 && self.text().starts_with('-')
    }
}

/// Returns what commands print, by their places, if it is known.
pub(super) type Printed<'a> = dyn Fn(Range<usize>) -> Option<String> + 'a;

pub(super) struct Variables {
    values: HashMap<String, Vec<String>>,
    bytes_left: usize,
}

/// What a word may be, before it is split.
struct Alternatives {
    texts: Vec<String>,
    /// True if it is split at blanks.
    is_split: bool,
    /// True if an unknown value outside of quotes is in it.
    is_many: bool,
}

impl Variables {
    pub(super) fn new() -> Self {
        Self {
            values: HashMap::new(),
            bytes_left: MOST_BYTES,
        }
    }

    /// Learns the values that a text gives to variables.
    pub(super) fn learn(&mut self, syntax: &Syntax) {
        for command in &syntax.commands {
            for assignment in &command.assignments {
                self.assign(assignment);
            }
            let Some(program) = command.words.first().and_then(Word::bare) else {
                continue;
            };
            match program {
                "for" | "select" if command.is_loop => self.learn_loop(&command.words[1..]),
                "read" | "mapfile" | "readarray" | "getopts" => {
                    for word in &command.words[1..] {
                        self.add(word.text(), ANY.to_string());
                    }
                }
                "export" | "local" | "declare" | "readonly" | "typeset" => {
                    let assignments = command.words[1..].iter().filter_map(Word::assignment);
                    assignments.for_each(|assignment| self.assign(&assignment));
                }
                _ => {}
            }
        }
    }

    fn assign(&mut self, assignment: &Assignment) {
        let mut values = vec![String::new()];
        for (index, word) in assignment.words.iter().enumerate() {
            let blank = if index > 0 { " " } else { "" };
            let texts = self.alternatives(word, &|_| None).texts;
            self.append(&mut values, &texts, blank);
        }
        if assignment.adds && self.values.contains_key(&assignment.name) {
            let blank = if assignment.words.len() == 1 { "" } else { " " };
            let mut longer = self.taken_value(&assignment.name);
            self.append(&mut longer, &values, blank);
            values.extend(longer);
        }
        for value in values {
            self.add(assignment.name.clone(), value);
        }
    }

    fn learn_loop(&mut self, words: &[Word]) {
        let Some((name, values)) = words.split_first() else {
            return;
        };
        let name = name.text();
        if values.len() < 2 {
            return self.add(name, ANY.to_string());
        }
        for word in &values[1..] {
            for value in self
                .expand(word, &|_| None)
                .into_iter()
                .flat_map(|arg| arg.values)
            {
                self.add(name.clone(), value);
            }
        }
    }

    fn add(&mut self, name: String, value: String) {
        let values = self.values.entry(name).or_default();
        if !values.contains(&value) && values.len() <= MOST_VALUES {
            values.push(value);
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

    fn value(&self, name: &str) -> Vec<String> {
        match self.values.get(name) {
            Some(values) if values.len() <= MOST_VALUES => values.clone(),
            Some(_) => vec![ANY.to_string()],
            None => vec![match name {
                "HOME" => "~".to_owned(),
                "PWD" => ".".to_owned(),
                _ => ANY.to_string(),
            }],
        }
    }

    /// Returns the values of a variable, and takes their bytes from those that are left.
    fn taken_value(&mut self, name: &str) -> Vec<String> {
        let values = self.value(name);
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
        };
        for piece in &word.pieces {
            let (values, splits) = self.values_of(piece, printed);
            if splits {
                let is_whole =
                    |value: &String| !value.is_empty() && !value.contains(char::is_whitespace);
                all.is_split |= !values.iter().all(is_whole);
                all.is_many |= values.iter().any(|value| value.contains(ANY));
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
                let mut values = if *is_plain || default.is_some() {
                    self.taken_value(name)
                } else {
                    vec![ANY.to_string()]
                };
                if let Some(word) = default {
                    values.extend(self.default(word));
                }
                (values, !is_quoted || *is_list)
            }
            Piece::Output { is_file: true, .. } => (vec![format!("{FILE_OF_COMMANDS}63")], false),
            Piece::Output {
                commands,
                is_quoted,
                ..
            } => {
                let known = printed(commands.clone()).filter(|text| text.len() < LONGEST_BRACES);
                let value = known.unwrap_or_else(|| ANY.to_string());
                (vec![value], !is_quoted)
            }
        }
    }

    /// Returns the text of a default. What is substituted in it is unknown, so that there is no depth.
    fn default(&self, word: &Word) -> Option<String> {
        let texts = word.pieces.iter().map(|piece| match piece {
            Piece::Text { text, .. } => text.clone(),
            Piece::Variable { name, .. } => self.value(name).into_iter().next().unwrap_or_default(),
            Piece::Output { .. } => ANY.to_string(),
        });
        let text: String = texts.collect();
        (text.len() <= LONGEST_BRACES).then_some(text)
    }

    /// Returns the text of a word that is not split, such as a document.
    pub(super) fn text(&mut self, word: &Word, printed: &Printed<'_>) -> String {
        let texts = self.alternatives(word, printed).texts;
        texts.join("\n")
    }

    /// Returns the words that a word becomes.
    pub(super) fn expand(&mut self, word: &Word, printed: &Printed<'_>) -> Vec<Arg> {
        let all = self.alternatives(word, printed);
        let span = word.start..word.end;
        let is_quoted = |piece: &Piece| match piece {
            Piece::Text { text, is_quoted } => *is_quoted && !text.is_empty(),
            _ => false,
        };
        if all.is_split && !word.pieces.iter().any(is_quoted) {
            return split(&all, &span);
        }
        let arg = Arg {
            names: names(word, &all.texts),
            values: all.texts,
            is_many: all.is_many,
            span,
        };
        match arg.known() {
            Some(text) if has_braces(word) => self.braces(text, &arg),
            _ => vec![arg],
        }
    }

    fn braces(&mut self, text: &str, arg: &Arg) -> Vec<Arg> {
        let words = if text.len() > LONGEST_BRACES || self.bytes_left < MOST_BRACES * text.len() {
            vec![ANY.to_string()]
        } else {
            self.bytes_left -= text.len();
            expand_braces(text)
        };
        let mut args: Vec<Arg> = Vec::with_capacity(words.len());
        for word in &words {
            args.push(Arg {
                values: vec![word.clone()],
                names: Vec::new(),
                is_many: word.contains(ANY),
                span: arg.span.clone(),
            });
        }
        // Which of them is the program depends on the shell.
        if words.len() > 1 {
            args[0].names = words;
        }
        args
    }
}

/// Splits alternatives at blanks. The first word is one of their first words, and so on.
fn split(all: &Alternatives, span: &Range<usize>) -> Vec<Arg> {
    let mut args: Vec<Arg> = Vec::new();
    for text in &all.texts {
        for (index, word) in text.split_whitespace().enumerate() {
            match args.get_mut(index) {
                Some(arg) => arg.values.push(word.to_owned()),
                None => args.push(Arg {
                    values: vec![word.to_owned()],
                    names: Vec::new(),
                    is_many: false,
                    span: span.clone(),
                }),
            }
        }
    }
    for arg in &mut args {
        arg.is_many = arg.values.iter().any(|value| value.contains(ANY));
    }
    args
}

fn has_braces(word: &Word) -> bool {
    let has = |piece: &Piece| match piece {
        Piece::Text {
            text,
            is_quoted: false,
        } => text.contains('{') && (text.contains(',') || text.contains("..")),
        _ => false,
    };
    word.pieces.iter().any(has)
}

/// Returns the words of `a{b,c}`. A range, and too many words, are unknown.
fn expand_braces(text: &str) -> Vec<String> {
    let mut words = vec![text.to_owned()];
    for _ in 0..4 {
        let mut next = Vec::new();
        for word in &words {
            next.extend(expand_brace(word));
        }
        if next.len() > MOST_BRACES {
            return vec![ANY.to_string()];
        }
        if next == words {
            break;
        }
        words = next;
    }
    words
}

/// Expands the first innermost pair of braces with a comma or a range.
fn expand_brace(text: &str) -> Vec<String> {
    let whole = vec![text.to_owned()];
    let Some(end) = text.find('}') else {
        return whole;
    };
    let Some(start) = text[..end].rfind('{') else {
        return whole;
    };
    let (head, inner, tail) = (&text[..start], &text[start + 1..end], &text[end + 1..]);
    if inner.contains("..") {
        return vec![format!("{head}{ANY}{tail}")];
    }
    if !inner.contains(',') {
        return whole;
    }
    let parts = inner.split(',').take(MOST_BRACES + 1);
    parts.map(|part| format!("{head}{part}{tail}")).collect()
}

/// Returns the names of programs that a pattern of files may be.
fn names(word: &Word, texts: &[String]) -> Vec<String> {
    let is_pattern = |piece: &Piece| match piece {
        Piece::Text {
            text,
            is_quoted: false,
        } => text.contains(['*', '?', '[']),
        _ => false,
    };
    let has_pattern = word.pieces.iter().any(is_pattern);
    if texts.len() != 1 || !has_pattern || word.bare().is_some_and(|text| text.starts_with('[')) {
        return Vec::new();
    }
    let mut name = String::new();
    for piece in &word.pieces {
        match piece {
            Piece::Text {
                text,
                is_quoted: false,
            } => push_pattern(&mut name, text),
            Piece::Text { text, .. } => name += text,
            _ => name.push(ANY),
        }
    }
    vec![name]
}

fn push_pattern(name: &mut String, text: &str) {
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '*' => name.push(ANY),
            '?' => name.push(ONE),
            '[' => {
                let length = rest.as_str().find(']');
                if let Some(length) = length {
                    rest = rest.as_str()[length + 1..].chars();
                    name.push(ONE);
                } else {
                    // No class follows.
                    name.push('[');
                    name.push_str(rest.as_str());
                    return;
                }
            }
            c => name.push(c),
        }
    }
}
