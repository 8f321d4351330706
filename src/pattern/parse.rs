//! Reads the text of a pattern; the grammar is in `mod`.
//!
//! Does not know the texts that a pattern is matched with.

use std::borrow::Cow;

use super::alternative::{Alternative, Name, Part, PatternPart};
use crate::globs::Glob;

/// A position in the pattern, in bytes, and the mistake there.
pub(super) type PlacedMessage = (usize, Cow<'static, str>);

const NAME_EXPECTED: &str = "expected a name or a glob";

/// The most bytes of a glob. `glob` recurses at each `*`, and scans the rest of the name for each character.
/// Without a limit, a pattern with a long tool name could overflow the stack or take very long.
const LONGEST_GLOB: usize = 1000;

const LONGEST_PATTERN: usize = 64 * 1024;

pub(super) fn alternatives(source: &str) -> Result<Vec<Alternative>, PlacedMessage> {
    if source.len() > LONGEST_PATTERN {
        return Err((0, "it is longer than 64 KiB".into()));
    }
    let mut alternatives = Vec::new();
    for piece in split(Piece::whole(source), ',') {
        let piece = piece.trim();
        refuse_capitals(piece)?;
        alternatives.push(Alternative::parse(piece).map_err(|error| placed_after(source, error))?);
    }
    Ok(alternatives)
}

/// Names the separator after which a name is missing.
fn placed_after(source: &str, (at, message): PlacedMessage) -> PlacedMessage {
    match source[..at].trim_end().chars().next_back() {
        Some(before) if message == NAME_EXPECTED => {
            (at, format!("{NAME_EXPECTED} after `{before}`").into())
        }
        _ => (at, message),
    }
}

/// Returns the pattern in lower case, except for its tools, if each of its alternatives then matches a built-in event.
pub(super) fn without_capitals(source: &str) -> Option<String> {
    let small = |piece| {
        let event = event_of(piece);
        let lower = event.text.to_lowercase();
        let tool = &piece.text[event.text.len()..];
        // Some capital letters have no lower-case form.
        (!lower.contains(char::is_uppercase)).then(|| lower + tool)
    };
    let pieces = split(Piece::whole(source), ',').into_iter();
    let pieces: Option<Vec<_>> = pieces.map(small).collect();
    let small = pieces?.join(",");
    let mut alternatives = alternatives(&small).ok()?.into_iter();
    alternatives
        .all(|alternative| alternative.matches_known())
        .then_some(small)
}

/// Refuses a pattern with a capital letter. It would never match, so a guard would never run.
fn refuse_capitals(piece: Piece<'_>) -> Result<(), PlacedMessage> {
    let event = event_of(piece);
    let Some(at) = event.text.find(char::is_uppercase) else {
        return Ok(());
    };
    let message = match without_capitals(piece.text) {
        Some(small) => format!("event names have no capital letters: write `{small}`").into(),
        None => "event names have no capital letters: expected `category:action`, optionally \
                 with a tool, as in `tool:pre_execute:bash`"
            .into(),
    };
    Err((event.start + at, message))
}

/// Returns the part of an alternative that describes the event: everything except the tool.
fn event_of(piece: Piece<'_>) -> Piece<'_> {
    let end = match split(piece, ':').get(2) {
        Some(tool) => tool.start - 1 - piece.start,
        None => piece.text.len(),
    };
    Piece {
        text: &piece.text[..end],
        start: piece.start,
    }
}

impl Alternative {
    fn parse(piece: Piece<'_>) -> Result<Self, PlacedMessage> {
        use PatternPart::{Action, Category, Event, Tool};
        let pieces = split(piece, ':');
        let parts = match pieces[..] {
            [whole] => vec![(Event, whole)],
            [category, action] => vec![(Category, category), (Action, action)],
            // The tool is the whole rest, because names of tools may contain colons.
            [category, action, tool, ..] => vec![
                (Category, category),
                (Action, action),
                (Tool, piece.from(tool.start)),
            ],
            [] => Vec::new(),
        };
        let parts = parts.into_iter();
        let parts: Result<_, _> = parts
            .map(|(place, text)| Part::parse(place, text))
            .collect();
        Ok(Self { parts: parts? })
    }
}

impl Part {
    fn parse(place: PatternPart, piece: Piece<'_>) -> Result<Self, PlacedMessage> {
        let names: Result<_, _> = split(piece, '|').into_iter().map(Name::parse).collect();
        Ok(Self {
            place,
            names: names?,
        })
    }
}

impl Name {
    fn parse(piece: Piece<'_>) -> Result<Self, PlacedMessage> {
        let glob = match piece.text {
            "" => return Err((piece.start, NAME_EXPECTED.into())),
            "*" => None,
            text if !text.contains(['*', '?', '[']) => None,
            text if text.len() > LONGEST_GLOB => {
                return Err((piece.start, "the glob is longer than 1000 bytes".into()));
            }
            text => Some(glob(text).map_err(|(at, message)| (piece.start + at, message))?),
        };
        Ok(Self {
            text: piece.text.into(),
            glob,
        })
    }
}

fn glob(text: &str) -> Result<Box<Glob>, PlacedMessage> {
    let glob = Glob::new(text).map_err(|error| {
        // `glob` counts in characters.
        let characters = text.char_indices().map(|(at, _)| at);
        let at = characters.chain([text.len()]).nth(error.pos);
        let message = match error.msg {
            "invalid range pattern" => "`[` without `]`",
            other => other,
        };
        (at.unwrap_or(text.len()), message.into())
    });
    glob.map(Box::new)
}

/// A part of the pattern's text, with its position in the whole text, in bytes.
#[derive(Clone, Copy)]
struct Piece<'a> {
    text: &'a str,
    start: usize,
}

impl<'a> Piece<'a> {
    fn whole(text: &'a str) -> Self {
        Self { text, start: 0 }
    }

    fn trim(self) -> Self {
        let left = self.text.trim_start();
        Self {
            text: left.trim_end(),
            start: self.start + (self.text.len() - left.len()),
        }
    }

    /// Returns the rest of this piece, starting at a position in the whole pattern.
    fn from(self, start: usize) -> Self {
        Self {
            text: &self.text[start - self.start..],
            start,
        }
    }
}

/// Splits at a separator, except within a closed bracket.
fn split(piece: Piece<'_>, separator: char) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut start, mut resume) = (0, 0);
    // If a bracket is never closed, later ones are not closed either. Searching again for each would take
    // quadratic time.
    let mut may_close = true;
    for (at, c) in piece.text.char_indices() {
        if at < resume {
            continue;
        }
        if c == '[' && may_close {
            resume = bracket_end(piece.text, at);
            may_close = resume > at;
        } else if c == separator {
            pieces.push(Piece {
                text: &piece.text[start..at],
                start: piece.start + start,
            });
            start = at + 1;
        }
    }
    pieces.push(Piece {
        text: &piece.text[start..],
        start: piece.start + start,
    });
    pieces
}

/// Returns the position after the bracket that opens at `open`, or `open` if it is never closed. As in `glob`,
/// a `]` that comes first, or first after `!`, belongs to the set.
fn bracket_end(text: &str, open: usize) -> usize {
    let set = &text[open + 1..];
    let skipped = if set.starts_with('!') { 2 } else { 1 };
    let first = set
        .char_indices()
        .nth(skipped)
        .map_or(set.len(), |(at, _)| at);
    set[first..]
        .find(']')
        .map_or(open, |close| open + 1 + first + close + 1)
}
