//! A text as it is written, for checks of the text itself: its commands and groups in their order, without those in
//! substitutions.

use super::lexer;
use super::read::MOST;
use super::syntax::{self, Piece, Place};

/// The commands and words of a text.
pub(crate) struct Outline<'a> {
    pub(crate) steps: Vec<Step<'a>>,
    /// Each word, also assignments, keywords and the names of files.
    pub(crate) words: Vec<&'a str>,
}

/// A command, or a group whose steps follow, one level deeper.
pub(crate) struct Step<'a> {
    pub(crate) place: Place,
    /// The words of a command; a group has none.
    pub(crate) words: Vec<Word<'a>>,
}

/// A word of a command.
pub(crate) struct Word<'a> {
    /// The word as it is written.
    pub(crate) source: &'a str,
    word: syntax::Word,
}

impl<'a> Outline<'a> {
    pub(crate) fn read(text: &'a str) -> Self {
        let mut syntax = lexer::read(text, MOST);
        let source = |range| text.get(range).unwrap_or("");
        let steps = syntax.steps.into_iter().map(|(place, command)| {
            let command = command.and_then(|index| syntax.commands.get_mut(index));
            let words = command.map_or(Vec::new(), |command| std::mem::take(&mut command.words));
            let words = words.into_iter().map(|word| Word {
                source: source(word.start..word.end),
                word,
            });
            Step {
                place,
                words: words.collect(),
            }
        });
        Self {
            steps: steps.collect(),
            words: syntax.written.into_iter().map(source).collect(),
        }
    }
}

impl Word<'_> {
    /// Returns the word as a program gets it, with these values of variables; none if a part of it is not known.
    pub(crate) fn value(&self, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
        // `${NAME:+word}` has another value.
        let has_plus = self.source.contains('+');
        let pieces = self.word.pieces.iter().enumerate();
        let values = pieces.map(|(index, piece)| match piece {
            Piece::Text { text, is_quoted } => match text.strip_prefix('~') {
                Some(rest)
                    if index == 0 && !is_quoted && (rest.is_empty() || rest.starts_with('/')) =>
                {
                    Some(variable("HOME")? + rest)
                }
                _ => Some(text.clone()),
            },
            Piece::Variable {
                name,
                is_plain,
                default,
                ..
            } if *is_plain || default.is_some() && !has_plus => variable(name),
            Piece::Variable { .. } | Piece::Output { .. } => None,
        });
        values.collect()
    }
}
