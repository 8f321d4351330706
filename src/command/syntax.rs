//! The simple commands of a shell text as they are written: words in pieces, redirections, what feeds which command.
//!
//! Knows no programs and no values of variables.

use std::ops::Range;

/// A part of a word.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    Text {
        text: String,
        is_quoted: bool,
    },
    /// `$NAME`, `${NAME}`. It is not plain if an operator changes the value, a list if it may be several words in quotes.
    Variable {
        name: String,
        is_quoted: bool,
        is_plain: bool,
        is_list: bool,
        /// The word in `${NAME:-word}`.
        default: Option<Box<Word>>,
    },
    /// The output of commands, by their places in the list. A file for `<(..)` and `>(..)`.
    Output {
        commands: Range<usize>,
        is_quoted: bool,
        is_file: bool,
    },
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Word {
    pub(super) pieces: Vec<Piece>,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Word {
    pub(super) fn new(start: usize) -> Self {
        Self {
            pieces: Vec::new(),
            start,
            end: start,
        }
    }

    pub(super) fn push(&mut self, text: &str, is_quoted: bool) {
        match self.pieces.last_mut() {
            Some(Piece::Text {
                text: last,
                is_quoted: quoted,
            }) if *quoted == is_quoted => last.push_str(text),
            _ => self.pieces.push(Piece::Text {
                text: text.to_owned(),
                is_quoted,
            }),
        }
    }

    /// Returns the text of a word that has no quotes and no substitutions, as a keyword must.
    pub(super) fn bare(&self) -> Option<&str> {
        match &self.pieces[..] {
            [
                Piece::Text {
                    text,
                    is_quoted: false,
                },
            ] => Some(text),
            _ => None,
        }
    }

    /// Returns the text of a word without quotes. Leaves out what is substituted.
    pub(super) fn text(&self) -> String {
        let texts = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text { text, .. } => Some(&**text),
            _ => None,
        });
        texts.collect()
    }

    pub(super) fn is_quoted(&self) -> bool {
        let is_quoted = |piece: &Piece| {
            matches!(
                piece,
                Piece::Text {
                    is_quoted: true,
                    ..
                }
            )
        };
        self.pieces.iter().any(is_quoted)
    }

    /// The commands whose output is in the word.
    pub(super) fn outputs(&self) -> impl Iterator<Item = Range<usize>> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Output { commands, .. } => Some(commands.clone()),
            _ => None,
        })
    }

    /// The commands whose output is in the word, in quotes or not, with the pieces before and after it. None if there is another
    /// output.
    pub(super) fn one_output(&self) -> Option<(Self, &Range<usize>, Self)> {
        let is_output = |piece: &Piece| matches!(piece, Piece::Output { .. });
        let place = self.pieces.iter().position(is_output)?;
        let part = |pieces: &[Piece]| Self {
            pieces: pieces.to_vec(),
            ..Self::new(self.start)
        };
        let (before, after) = (&self.pieces[..place], &self.pieces[place + 1..]);
        match &self.pieces[place] {
            Piece::Output {
                commands,
                is_file: false,
                ..
            } if !after.iter().any(is_output) => Some((part(before), commands, part(after))),
            _ => None,
        }
    }

    /// Reads `NAME=value` and `NAME+=value`.
    pub(super) fn assignment(&self) -> Option<Assignment> {
        let Some(Piece::Text {
            text,
            is_quoted: false,
        }) = self.pieces.first()
        else {
            return None;
        };
        let (name, head) = assignment(text)?;
        let mut word = Word {
            end: self.end,
            ..Word::new(self.start)
        };
        if head < text.len() || self.pieces.len() == 1 {
            word.push(&text[head..], false);
        }
        word.pieces.extend_from_slice(&self.pieces[1..]);
        Some(Assignment {
            name: name.to_owned(),
            words: vec![word],
            adds: text[..head].ends_with("+="),
        })
    }
}

/// Returns whether a character may be in the name of a variable.
pub(super) fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the name in `NAME=`, `NAME+=` and `NAME[..]=`, and the length up to the value.
pub(super) fn assignment(text: &str) -> Option<(&str, usize)> {
    let length = text.find(|c| !is_of_name(c))?;
    let (name, rest) = text.split_at(length);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let operator = if rest.starts_with('[') {
        rest.find("]=")? + 2
    } else if rest.starts_with("+=") {
        2
    } else if rest.starts_with('=') {
        1
    } else {
        return None;
    };
    Some((name, length + operator))
}

/// What a command reads.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Input {
    /// `<<< word`
    Text(Word),
    /// `<<E`, by its place in the list of documents.
    Document(usize),
    /// `< file`
    File(Word),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Assignment {
    pub(super) name: String,
    /// The value; of an array, its words.
    pub(super) words: Vec<Word>,
    /// True for `NAME+=`.
    pub(super) adds: bool,
}

/// A simple command. It has no words if it only assigns, or if its redirections are those of a group.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Simple {
    pub(super) assignments: Vec<Assignment>,
    pub(super) words: Vec<Word>,
    pub(super) writes: Vec<Word>,
    pub(super) inputs: Vec<Input>,
    /// The commands whose output it may read.
    pub(super) fed_by: Vec<Range<usize>>,
    pub(super) start: usize,
    pub(super) end: usize,
    /// True for `for NAME in WORDS`, which runs nothing.
    pub(super) is_loop: bool,
    /// The subshell that runs it, by its place in the list of subshells.
    pub(super) shell: usize,
}

/// The operator that joins a command or a group to the one before it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum Join {
    /// `;`, a line end, a keyword, or nothing before it.
    #[default]
    Sequence,
    And,
    Or,
    /// `|`, `&`
    Beside,
}

/// Where a command or a group of the text itself stands, not one of a substitution.
#[derive(Debug, Default)]
pub(crate) struct Place {
    pub(crate) join: Join,
    /// True behind `!`.
    pub(crate) is_negated: bool,
    /// The number of groups around it.
    pub(crate) depth: usize,
    /// True for `{ .. }` and `( .. )`.
    pub(crate) is_list: bool,
}

/// A text that was read.
#[derive(Debug)]
pub(super) struct Syntax {
    pub(super) commands: Vec<Simple>,
    /// The commands, by their places in the list, and groups. The last one may be the nothing behind `&`.
    pub(super) steps: Vec<(Place, Option<usize>)>,
    /// The places of all words of the text itself.
    pub(super) written: Vec<Range<usize>>,
    pub(super) documents: Vec<Word>,
    /// The place of the first `$'..'`.
    pub(super) escape: Option<usize>,
    /// How many words were read.
    pub(super) words: usize,
    /// The subshells, each with the one that it is in.
    pub(super) shells: Vec<usize>,
    /// The functions, each with the commands of its body.
    pub(super) functions: Vec<(String, Range<usize>)>,
    /// The reason why a part of the text was not read.
    pub(super) unread: Option<&'static str>,
}

impl Syntax {
    pub(super) fn new() -> Self {
        Self {
            commands: Vec::new(),
            steps: Vec::new(),
            written: Vec::new(),
            documents: Vec::new(),
            escape: None,
            words: 0,
            shells: vec![0],
            functions: Vec::new(),
            unread: None,
        }
    }

    /// Notes a reason. The first one stays.
    pub(super) fn doubt(&mut self, reason: &'static str) {
        self.unread.get_or_insert(reason);
    }

    pub(super) fn new_shell(&mut self, parent: usize) -> usize {
        self.shells.push(parent);
        self.shells.len() - 1
    }
}
