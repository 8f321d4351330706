//! Reads the text of a pattern; the grammar stands in `mod`.
//!
//! Does not know what a pattern is matched with.

use std::borrow::Cow;

use glob::Pattern;

use super::PatternError;
use super::alternative::{Alternative, Part, PatternPart};
use crate::events::EventType;
use crate::printable::shortened;

/// The most bytes of a glob. `glob` recurses at each `*`, and scans the rest of the name for each character.
/// Without a limit, a pattern with a long tool name could overflow the stack or take very long.
const LONGEST_GLOB: usize = 1000;

const LONGEST_PATTERN: usize = 64 * 1024;

const NO_CAPITALS: &str = "event names have no capital letters: expected `category:action`, optionally \
                           with a tool, as in `tool:pre_execute:bash`";

/// What is wrong in a pattern.
pub(super) struct Wrong<'a> {
    /// The rest of the pattern, or of one of its parts, from there on.
    at: &'a str,
    /// None where a name is missing.
    message: Option<Cow<'static, str>>,
}

impl<'a> Wrong<'a> {
    fn new(at: &'a str, message: impl Into<Cow<'static, str>>) -> Self {
        let message = Some(message.into());
        Self { at, message }
    }

    pub(super) fn in_pattern(self, pattern: &str) -> PatternError {
        let before = &pattern[..start_in(pattern, self.at)];
        let separator = before.trim_end().chars().next_back();
        let missing = || match separator {
            Some(separator) => format!("expected a name or a glob after `{separator}`").into(),
            None => "expected a name or a glob".into(),
        };
        PatternError {
            pattern: shortened(pattern).into_owned(),
            column: before.chars().count() + 1,
            message: self.message.unwrap_or_else(missing),
        }
    }
}

/// Returns where a part of a text begins.
fn start_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

pub(super) fn alternatives(source: &str) -> Result<Vec<Alternative>, Wrong<'_>> {
    if source.len() > LONGEST_PATTERN {
        return Err(Wrong::new(source, "it is longer than 64 KiB"));
    }
    let pieces = split(source, ',', usize::MAX).into_iter();
    pieces
        .map(|piece| Alternative::parse(piece.trim_start().trim_end()))
        .collect()
}

/// Returns the pattern in lower case, except for its tools, if each of its alternatives then matches a built-in event.
pub(super) fn without_capitals(source: &str) -> Option<String> {
    let small = |piece| {
        let event = event_of(piece);
        let lower = event.to_lowercase();
        // Some capital letters have no lower-case form.
        (!lower.contains(char::is_uppercase)).then(|| lower + &piece[event.len()..])
    };
    let pieces = split(source, ',', usize::MAX).into_iter();
    let small = pieces.map(small).collect::<Option<Vec<_>>>()?.join(",");
    let mut alternatives = alternatives(&small).ok()?.into_iter();
    let is_known = |it: Alternative| {
        EventType::BUILTIN
            .iter()
            .any(|known| it.matches_type(known))
    };
    alternatives.all(is_known).then_some(small)
}

/// The part of an alternative that describes the event: everything except the tool.
fn event_of(alternative: &str) -> &str {
    match split(alternative, ':', 3)[..] {
        [_, _, tool] => &alternative[..start_in(alternative, tool) - 1],
        _ => alternative,
    }
}

impl Alternative {
    fn parse(text: &str) -> Result<Self, Wrong<'_>> {
        // It would never match, so a guard would never run.
        if let Some(at) = event_of(text).find(char::is_uppercase) {
            return Err(match without_capitals(text) {
                Some(small) => Wrong::new(
                    &text[at..],
                    format!("event names have no capital letters: write `{small}`"),
                ),
                None => Wrong::new(&text[at..], NO_CAPITALS),
            });
        }
        // The tool is the whole rest, because names of tools may contain colons.
        let pieces = split(text, ':', 3);
        let places = match pieces.len() {
            1 => [PatternPart::Event; 3],
            _ => [
                PatternPart::Category,
                PatternPart::Action,
                PatternPart::Tool,
            ],
        };
        let parts = places.into_iter().zip(pieces);
        let parts: Result<_, _> = parts
            .map(|(place, text)| Part::parse(place, text))
            .collect();
        Ok(Self {
            text: text.into(),
            parts: parts?,
        })
    }
}

impl Part {
    fn parse(place: PatternPart, text: &str) -> Result<Self, Wrong<'_>> {
        let names = split(text, '|', usize::MAX).into_iter();
        Ok(Self {
            place,
            text: text.into(),
            names: names.map(name).collect::<Result<_, _>>()?,
        })
    }
}

/// Reads a name or a glob. A name is the glob that matches it alone.
fn name(text: &str) -> Result<Pattern, Wrong<'_>> {
    if text.is_empty() {
        return Err(Wrong {
            at: text,
            message: None,
        });
    }
    if text.contains(['*', '?', '[']) && text.len() > LONGEST_GLOB {
        return Err(Wrong::new(text, "the glob is longer than 1000 bytes"));
    }
    Pattern::new(text).map_err(|error| {
        // `glob` counts in characters.
        let at = text.char_indices().nth(error.pos);
        let rest = &text[at.map_or(text.len(), |(at, _)| at)..];
        let message = match error.msg {
            "invalid range pattern" => "`[` without `]`",
            other => other,
        };
        Wrong::new(rest, message)
    })
}

/// Splits a text at a separator, except within a closed bracket, into at most so many pieces.
fn split(text: &str, separator: char, most: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut marks = ['[', separator];
    while pieces.len() + 1 < most
        && let Some(found) = text[at..].find(marks)
    {
        at += found;
        if !text[at..].starts_with('[') {
            pieces.push(&text[start..at]);
            at += 1;
            start = at;
        } else if let Some(length) = set_length(&text[at..]) {
            at += length;
        } else {
            // No later bracket is closed either. Searching again for each would take quadratic time.
            marks = [separator; 2];
        }
    }
    pieces.push(&text[start..]);
    pieces
}

/// Returns the length of the set with which the text begins; None if it is never closed. As in `glob`, a `]` that comes
/// first, or first after `!`, belongs to the set.
fn set_length(text: &str) -> Option<usize> {
    let before = if text.starts_with("[!") { 3 } else { 2 };
    let (first, _) = text.char_indices().nth(before)?;
    let close = text[first..].find(']')?;
    Some(first + close + 1)
}
