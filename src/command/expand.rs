//! The words that a program gets: values that are known or known in part, braces, patterns of files. Knows no variables.

use std::ops::Range;

use super::syntax::{Piece, Word};

/// Stands for a word that is not known, but is no option and no path.
pub(super) const A_NAME: &str = "\u{2}";
/// Stands for any text in a value. Programs cannot get this character.
pub(super) const ANY: char = '\0';
/// Stands for any character in the name of a program.
pub(super) const ONE: char = '\u{1}';

/// The directory of the files that `<(..)` and `>(..)` are.
pub(super) const FILE_OF_COMMANDS: &str = "/dev/fd/";

/// The longest word in which braces are read, and the most words of it.
pub(super) const LONGEST_BRACES: usize = 1024;
const MOST_BRACES: usize = 32;
/// The most words of a value that is split at blanks.
const MOST_SPLIT: usize = 1000;

/// A word of a command as the program gets it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Arg {
    /// It is one of these.
    pub(super) values: Vec<String>,
    /// The programs that it may name, if they are others: for patterns and braces.
    pub(super) names: Vec<String>,
    /// True if its values are patterns of files.
    pub(super) is_pattern: bool,
    /// True if it is unknown, and may be any number of words.
    pub(super) is_many: bool,
    /// True if it is an unknown list: `"$@"`.
    pub(super) is_list: bool,
    /// The place in the text.
    pub(super) span: Range<usize>,
}

impl Arg {
    pub(super) fn new(value: impl Into<String>) -> Self {
        Self {
            values: vec![value.into()],
            ..Self::default()
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

/// The values that a word has before it is split.
pub(super) struct Alternatives {
    pub(super) texts: Vec<String>,
    /// True if it is split at blanks.
    pub(super) is_split: bool,
    /// True if an unknown value outside of quotes is in it.
    pub(super) is_many: bool,
    /// True if an unknown list is in it.
    pub(super) is_list: bool,
    /// True if it is a pattern of files, or has a variable that is one.
    pub(super) is_pattern: bool,
}

/// Returns the words that a word becomes.
pub(super) fn words(word: &Word, all: Alternatives, bytes_left: &mut usize) -> Vec<Arg> {
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
        is_pattern: all.is_pattern,
        values: all.texts,
        is_many: all.is_many,
        is_list: all.is_list,
        span,
    };
    match arg.known() {
        Some(text) if has_braces(word) => braces(text, &arg, bytes_left),
        _ => vec![arg],
    }
}

fn braces(text: &str, arg: &Arg, bytes_left: &mut usize) -> Vec<Arg> {
    let words = if text.len() > LONGEST_BRACES || *bytes_left < MOST_BRACES * text.len() {
        vec![ANY.to_string()]
    } else {
        *bytes_left -= text.len();
        expand_braces(text)
    };
    let mut args: Vec<Arg> = Vec::with_capacity(words.len());
    for word in &words {
        args.push(Arg {
            values: vec![word.clone()],
            is_pattern: arg.is_pattern,
            is_many: word.contains(ANY),
            span: arg.span.clone(),
            ..Arg::default()
        });
    }
    // The shell decides which of them is the program.
    if words.len() > 1 {
        args[0].names = words;
    }
    args
}

/// Splits alternatives at blanks. The first word is one of their first words, and so on. Very many are an unknown list.
fn split(all: &Alternatives, span: &Range<usize>) -> Vec<Arg> {
    let mut args: Vec<Arg> = Vec::new();
    for text in &all.texts {
        for (index, word) in text.split_whitespace().enumerate() {
            if index == MOST_SPLIT {
                return vec![Arg {
                    is_many: true,
                    is_list: true,
                    span: span.clone(),
                    ..Arg::new(ANY)
                }];
            }
            match args.get_mut(index) {
                Some(arg) => arg.values.push(word.to_owned()),
                None => args.push(Arg {
                    values: vec![word.to_owned()],
                    is_pattern: all.is_pattern,
                    span: span.clone(),
                    ..Arg::default()
                }),
            }
        }
    }
    for arg in &mut args {
        arg.is_many = arg.values.iter().any(|value| value.contains(ANY));
        arg.is_list = arg.is_many && all.is_list;
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

/// Returns whether a word is a pattern of files.
pub(super) fn has_pattern(word: &Word) -> bool {
    let is_pattern = |piece: &Piece| match piece {
        Piece::Text {
            text,
            is_quoted: false,
        } => text.contains(['*', '?', '[']),
        _ => false,
    };
    word.pieces.iter().any(is_pattern)
}

/// Returns the names of programs that a pattern of files may be.
fn names(word: &Word, texts: &[String]) -> Vec<String> {
    let is_test = word.bare().is_some_and(|text| text.starts_with('['));
    if texts.len() != 1 || !has_pattern(word) || is_test {
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
