//! The words of a text as they are written, with those of the texts that it gives to other shells: for a reader who looks for the
//! names of files in them, whatever the commands do.
//!
//! A part of a word is known if it is text, or a variable with a known value. Looks at no files.

use std::collections::{HashMap, HashSet};

use super::lexer;
use super::read::{Commands, MOST};
use super::run::one_line;
use super::syntax::{Input, Piece, Simple, Syntax, Word, is_of_name};

/// A function that returns the value of a variable that is set before the text runs.
pub(crate) type Value<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Stands in a word for a part that is not known.
pub(crate) const UNKNOWN: char = '\0';

/// Options of bash that give patterns and paths another meaning.
const OPTIONS: [&str; 3] = ["cdspell", "extglob", "nocaseglob"];

/// The words of a text.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// The words of each command, without the files that it only writes.
    pub(crate) commands: Vec<Vec<String>>,
    /// The first part that is known only when the text runs, as it is written.
    pub(crate) unknown: Option<String>,
}

struct Writer<'a> {
    /// True if the text has no `${_}`. In a text that it gives to a shell, this then stands for a value that was told before.
    has_no_last: bool,
    value: &'a Value<'a>,
    /// How often the text has a name that may be that of a variable, but for uses.
    mentioned: HashMap<&'a str, usize>,
    /// The values that the text gives to variables; none if it gives several, or one that is no fixed text.
    set: HashMap<String, Option<String>>,
    written: Written,
}

impl Written {
    /// Reads a text.
    pub(crate) fn read(text: &str, value: &Value<'_>) -> Self {
        let commands = Commands::read(text);
        let mut seen = HashSet::from([text]);
        let mut texts = vec![text];
        texts.extend(commands.sources().filter(|source| seen.insert(source)));
        let syntaxes: Vec<(&str, Syntax)> = texts
            .iter()
            .map(|text| (*text, lexer::read(text, MOST)))
            .collect();
        let mut writer = Writer {
            has_no_last: !text.contains("$_") && !text.contains("${_"),
            value,
            mentioned: mentioned(text),
            set: HashMap::new(),
            written: Self::default(),
        };
        for (_, syntax) in &syntaxes {
            writer.learn(syntax);
        }
        for (source, syntax) in &syntaxes {
            writer.add(source, syntax);
        }
        // It runs a text that it puts together.
        if commands.has_program("eval") {
            writer.doubt("eval");
        }
        if commands.unread.is_some() {
            writer.doubt(text);
        }
        writer.written
    }
}

impl Writer<'_> {
    fn doubt(&mut self, part: &str) {
        let unknown = &mut self.written.unknown;
        unknown.get_or_insert_with(|| one_line(part));
    }

    /// Learns the values of variables that are set once, to a fixed text.
    fn learn(&mut self, syntax: &Syntax) {
        for simple in &syntax.commands {
            let program = simple.words.first().and_then(Word::bare);
            // `declare -u NAME=value` changes the value.
            let is_export = matches!(program, Some("export" | "readonly"));
            let exported = simple.words.iter().filter_map(Word::assignment);
            let exported = exported.map(|assignment| (assignment, is_export));
            let own = simple.assignments.iter().cloned();
            for (assignment, is_plain) in own.map(|assignment| (assignment, true)).chain(exported) {
                let fixed = match &assignment.words[..] {
                    [word] if !assignment.adds && is_plain => fixed(word),
                    _ => None,
                };
                if assignment.name == "IFS" && fixed.as_deref() != Some("") {
                    self.doubt("IFS=");
                }
                let is_once = self.mentions(&assignment.name) == 1;
                let value = fixed.filter(|_| is_once);
                self.set.insert(assignment.name, value);
            }
        }
    }

    /// Returns how often the text has the name of a variable, but for its uses.
    fn mentions(&self, name: &str) -> usize {
        self.mentioned.get(name).copied().unwrap_or_default()
    }

    fn add(&mut self, source: &str, syntax: &Syntax) {
        // Shells differ in the meaning of `$'..'`.
        if let Some(at) = syntax.escape {
            let rest = source.get(at.saturating_sub(1)..).unwrap_or("");
            self.doubt(rest.split_whitespace().next().unwrap_or(rest));
        }
        for simple in &syntax.commands {
            let words = self.words_of(source, simple, syntax);
            self.written.commands.push(words);
        }
    }

    fn words_of(&mut self, source: &str, simple: &Simple, syntax: &Syntax) -> Vec<String> {
        let mut words = Vec::new();
        for assignment in &simple.assignments {
            for word in &assignment.words {
                words.push(self.text_of(source, word));
            }
        }
        for word in &simple.words {
            words.push(self.text_of(source, word));
            let text = word.text();
            if OPTIONS.contains(&&*text) {
                self.doubt(&text);
            }
        }
        for input in &simple.inputs {
            let word = match input {
                Input::Text(word) | Input::File(word) => word,
                Input::Document(id) => &syntax.documents[*id],
            };
            words.push(self.text_of(source, word));
        }
        // `<>` reads, too.
        let reads = |word: &&Word| {
            let before = source.get(..word.start).unwrap_or("");
            before.trim_end().ends_with("<>")
        };
        for word in simple.writes.iter().filter(reads) {
            words.push(self.text_of(source, word));
        }
        words
    }

    /// Returns a word with the values of its variables, and `UNKNOWN` for what is not known.
    fn text_of(&mut self, source: &str, word: &Word) -> String {
        let written = source.get(word.start..word.end);
        // A document has no place of its own.
        let written = written.filter(|text| !text.is_empty()).unwrap_or(source);
        if has_braces(word) {
            self.doubt(written);
        }
        let (mut text, mut defaults) = (String::new(), String::new());
        for (index, piece) in word.pieces.iter().enumerate() {
            match piece {
                Piece::Text {
                    text: part,
                    is_quoted,
                } => {
                    let is_home = index == 0 && part.starts_with('~');
                    let has_home = !is_home || self.value_of("HOME").is_some();
                    let is_known = *is_quoted || has_home && is_plain(part, index == 0);
                    if !is_known {
                        self.doubt(written);
                    }
                    text.push_str(part);
                }
                Piece::Variable {
                    name,
                    is_plain,
                    default,
                    ..
                } => {
                    // `${NAME:+word}` has another value.
                    let is_value = *is_plain || default.is_some() && !written.contains('+');
                    match self.value_of(name).filter(|_| is_value) {
                        Some(value) => text.push_str(&value),
                        None => {
                            self.doubt(written);
                            text.push(UNKNOWN);
                        }
                    }
                    if let Some(default) = default {
                        defaults.push(UNKNOWN);
                        defaults += &self.text_of(source, default);
                    }
                }
                // The words of its commands are in the list.
                Piece::Output { is_file: true, .. } => text.push(UNKNOWN),
                Piece::Output { .. } => {
                    self.doubt(written);
                    text.push(UNKNOWN);
                }
            }
        }
        text + &defaults
    }

    /// Returns the value of a variable. One of the host that the text may set has none that is known.
    fn value_of(&self, name: &str) -> Option<String> {
        if matches!(name, "?" | "#") {
            return Some("0".to_owned());
        }
        if name == "_" && self.has_no_last {
            return Some(UNKNOWN.to_string());
        }
        match (self.value)(name) {
            Some(value) => (self.mentions(name) == 0).then_some(value),
            None => self.set.get(name).cloned().flatten(),
        }
    }
}

/// Returns how often a text has each name, but behind `$`.
fn mentioned(text: &str) -> HashMap<&str, usize> {
    let mut mentioned = HashMap::new();
    let mut rest = 0;
    while let Some(start) = text[rest..].find(is_of_name) {
        let start = rest + start;
        let length = text[start..].find(|c| !is_of_name(c));
        rest = length.map_or(text.len(), |length| start + length);
        let before = &text[..start];
        if !before.ends_with('$') && !before.ends_with("${") {
            *mentioned.entry(&text[start..rest]).or_default() += 1;
        }
    }
    mentioned
}

/// Returns whether a text outside of quotes stands for itself, for the home directory, or for the files that match it.
fn is_plain(text: &str, is_first: bool) -> bool {
    let home = text.strip_prefix('~').filter(|_| is_first);
    home.is_none_or(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns whether a shell may make several words of one: `{a,b}`, `{1..3}`.
fn has_braces(word: &Word) -> bool {
    let unquoted = word.pieces.iter().filter_map(|piece| match piece {
        Piece::Text {
            text,
            is_quoted: false,
        } => Some(&**text),
        _ => None,
    });
    let unquoted: String = unquoted.collect();
    let inner = unquoted
        .split_once('{')
        .and_then(|(_, rest)| rest.rsplit_once('}'));
    inner.is_some_and(|(inner, _)| inner.contains(',') || inner.contains(".."))
}

/// Returns the text of a word that no shell changes.
fn fixed(word: &Word) -> Option<String> {
    let is_fixed = |(index, piece): (usize, &Piece)| match piece {
        Piece::Text { text, is_quoted } => {
            *is_quoted || is_plain(text, index == 0) && !text.contains(['~', '*', '?', '['])
        }
        _ => false,
    };
    let all_fixed = word.pieces.iter().enumerate().all(is_fixed);
    (all_fixed && !has_braces(word)).then(|| word.text())
}
