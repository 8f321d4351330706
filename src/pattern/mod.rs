//! The events that a hook is for: a pattern that is parsed once, and then matched without allocating.
//!
//! Pure: knows the names of events, nothing of hooks.
//!
//! ```text
//! pattern     = alternative { "," alternative }
//! alternative = segment                             a glob over the whole name: `*`, `tool*`
//!             | segment ":" segment                 category:action, with any tool or none
//!             | segment ":" segment ":" segment     with a tool, whose name may contain colons
//! segment     = glob { "|" glob }
//! ```
//!
//! Within the brackets of a glob (`[a,b]`) separators have no special meaning. Names of events have no
//! capital letters, so that a capital letter in a category, an action or a whole name is an error.

mod mismatch;
mod unfired;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use glob::Pattern;

use crate::events::{EventType, HookEvent};
use crate::printable::shortened;

pub use mismatch::{Mismatch, PatternPart};

/// A parsed event pattern.
///
/// ```
/// use forge_hooks::{EventPattern, HookEvent};
///
/// let pattern: EventPattern = "tool:pre_execute:bash|write, session:*".parse()?;
/// assert!(pattern.matches(&HookEvent::tool_pre_execute("bash", "ls")));
/// assert!(!pattern.matches(&HookEvent::tool_pre_execute("read", "file")));
/// assert!(pattern.matches(&HookEvent::session_start("sess_1")));
/// # Ok::<(), forge_hooks::PatternError>(())
/// ```
#[derive(Clone)]
pub struct EventPattern {
    source: Box<str>,
    alternatives: Box<[Alternative]>,
}

/// Error parsing an event pattern, with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid event pattern `{pattern}` at column {column}: {message}")]
pub struct PatternError {
    pattern: String,
    column: usize,
    message: Cow<'static, str>,
}

impl PatternError {
    /// The position in the pattern, in characters, starting at 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }

    /// The pattern as it was written.
    pub(crate) fn pattern(&self) -> &str {
        &self.pattern
    }
}

#[derive(Clone)]
pub(crate) enum Alternative {
    Whole(Segment),
    Parts {
        category: Segment,
        action: Segment,
        tool: Option<Segment>,
    },
}

/// A part of a pattern. Nearly all patterns need only the first three variants, and no glob.
#[derive(Clone)]
pub(crate) enum Segment {
    Any,
    Literal(Box<str>),
    Glob(Box<Pattern>),
    OneOf(Box<[Segment]>),
}

impl EventPattern {
    /// Parses a pattern, like [`str::parse`].
    ///
    /// # Errors
    /// If an alternative or a segment is empty, if a glob is malformed, or if a category or an action has a
    /// capital letter, which no event has. The error contains the position. Also if the pattern is longer than
    /// 64 KiB.
    pub fn new(pattern: impl Into<String>) -> Result<Self, PatternError> {
        let source = pattern.into();
        let error = |(at, mut message): PlacedMessage| {
            let before = source[..at].trim_end().chars().next_back();
            if let Some(before) = before.filter(|_| message == NAME_EXPECTED) {
                message = format!("{NAME_EXPECTED} after `{before}`").into();
            }
            PatternError {
                pattern: shortened(&source).into_owned(),
                column: source[..at].chars().count() + 1,
                message,
            }
        };
        if source.len() > LONGEST_PATTERN {
            return Err(error((0, "it is longer than 64 KiB".into())));
        }
        let mut alternatives = Vec::new();
        for piece in split(Piece::whole(&source), ',') {
            alternatives.push(Alternative::parse(piece.trim()).map_err(error)?);
        }
        Ok(Self {
            source: source.into(),
            alternatives: alternatives.into(),
        })
    }

    /// The pattern `*`.
    pub(crate) fn any() -> Self {
        Self {
            source: "*".into(),
            alternatives: [Alternative::Whole(Segment::Any)].into(),
        }
    }

    /// Returns the pattern of this event type, with any tool or none.
    pub(crate) fn of_event(event_type: &EventType) -> Self {
        Self::new(event_type.as_str()).unwrap_or_else(|_| Self::any())
    }

    /// Returns a pattern that matches what either of the two matches.
    pub(crate) fn or(&self, other: &Self) -> Self {
        let both = format!("{}, {}", self.as_str(), other.as_str());
        Self::new(both).unwrap_or_else(|_| Self::any())
    }

    /// Returns the pattern with its categories and actions in lower case. None if part of the result is
    /// malformed or matches no built-in event.
    pub(crate) fn without_capitals(pattern: &str) -> Option<Self> {
        let mut small = Vec::new();
        for piece in split(Piece::whole(pattern), ',') {
            small.push(known_in_small_letters(piece)?);
        }
        Self::new(small.join(",")).ok()
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Whether the pattern matches this event. Allocates nothing.
    #[must_use]
    pub fn matches(&self, event: &HookEvent) -> bool {
        let tool = event.tool_name.as_deref();
        self.alternatives.iter().any(|alternative| {
            alternative.matches_type(&event.event_type) && alternative.matches_tool(tool)
        })
    }

    /// Whether the pattern matches events of this type, with some tool or without one.
    #[must_use]
    pub fn matches_type(&self, event_type: &EventType) -> bool {
        self.alternatives
            .iter()
            .any(|alternative| alternative.matches_type(event_type))
    }

    /// Whether this is the only built-in event that the pattern matches.
    pub(crate) fn matches_only(&self, event_type: &EventType) -> bool {
        let mut known = EventType::BUILTIN.iter();
        known.all(|known| self.matches_type(known) == (known == event_type))
    }

    /// Whether the pattern matches any built-in event.
    pub(crate) fn matches_known(&self) -> bool {
        let mut known = EventType::BUILTIN.iter();
        known.any(|known| self.matches_type(known))
    }

    pub(crate) fn alternatives(&self) -> &[Alternative] {
        &self.alternatives
    }
}

const NAME_EXPECTED: &str = "expected a name or a glob";

/// The most bytes of a glob. `glob` recurses at each `*`, and scans the rest of the name for each character.
/// Without a limit, a pattern with a long tool name could overflow the stack or take very long.
const LONGEST_GLOB: usize = 1000;

const LONGEST_PATTERN: usize = 64 * 1024;

/// The most alternatives that are compared with names of events: a pattern may have very many.
const MOST_SEARCHED: usize = 16;

type PlacedMessage = (usize, Cow<'static, str>);

/// Returns an alternative in lower case, except for its tool.
fn small_letters(piece: Piece<'_>) -> String {
    let event = event_part(piece);
    let tool = &piece.text[event.text.len()..];
    event.text.to_lowercase() + tool
}

/// The part of an alternative that describes the event: everything except the tool.
fn event_part(piece: Piece<'_>) -> Piece<'_> {
    let end = match split(piece, ':').get(2) {
        Some(tool) => tool.start - 1 - piece.start,
        None => piece.text.len(),
    };
    Piece {
        text: &piece.text[..end],
        start: piece.start,
    }
}

/// Returns an alternative in lower case, except for its tool, if that matches a built-in event.
fn known_in_small_letters(piece: Piece<'_>) -> Option<String> {
    let small = small_letters(piece);
    // Some capital letters have no lower-case form.
    if event_part(Piece::whole(&small))
        .text
        .contains(char::is_uppercase)
    {
        return None;
    }
    let pattern = EventPattern::new(small.clone()).ok()?;
    pattern.matches_known().then_some(small)
}

/// Refuses a pattern with a capital letter. It would never match, so a guard would never run.
fn refuse_capitals(piece: Piece<'_>) -> Result<(), PlacedMessage> {
    let event = event_part(piece);
    let Some(at) = event.text.find(char::is_uppercase) else {
        return Ok(());
    };
    let message = match known_in_small_letters(piece) {
        Some(small) => format!("event names have no capital letters: write `{small}`"),
        None => "event names have no capital letters: expected `category:action`, optionally \
                 with a tool, as in `tool:pre_execute:bash`"
            .to_owned(),
    };
    Err((event.start + at, message.into()))
}

impl Alternative {
    fn parse(piece: Piece<'_>) -> Result<Self, PlacedMessage> {
        refuse_capitals(piece)?;
        let mut parts = split(piece, ':').into_iter();
        let category = parts.next().unwrap_or(piece);
        let Some(action) = parts.next() else {
            return Segment::parse(piece).map(Self::Whole);
        };
        // The tool is the whole rest, because names of tools may contain colons.
        let tool = parts
            .next()
            .map(|third| piece.from(third.start))
            .map(Segment::parse);
        Ok(Self::Parts {
            category: Segment::parse(category)?,
            action: Segment::parse(action)?,
            tool: tool.transpose()?,
        })
    }

    pub(crate) fn matches_type(&self, event_type: &EventType) -> bool {
        match self {
            Self::Whole(name) => name.matches(event_type.as_str()),
            Self::Parts {
                category, action, ..
            } => category.matches(event_type.category()) && action.matches(event_type.action()),
        }
    }

    fn matches_tool(&self, name: Option<&str>) -> bool {
        self.tool()
            .is_none_or(|tool| name.is_some_and(|name| tool.matches(name)))
    }

    /// The tool segment. None: any tool, or none, matches.
    pub(crate) fn tool(&self) -> Option<&Segment> {
        match self {
            Self::Whole(_) => None,
            Self::Parts { tool, .. } => tool.as_ref(),
        }
    }
}

impl Segment {
    fn parse(piece: Piece<'_>) -> Result<Self, PlacedMessage> {
        let mut globs = split(piece, '|')
            .into_iter()
            .map(Self::parse_glob)
            .collect::<Result<Vec<_>, _>>()?;
        Ok(match globs.pop() {
            Some(only) if globs.is_empty() => only,
            last => {
                globs.extend(last);
                Self::OneOf(globs.into())
            }
        })
    }

    fn parse_glob(piece: Piece<'_>) -> Result<Self, PlacedMessage> {
        match piece.text {
            "" => Err((piece.start, NAME_EXPECTED.into())),
            "*" => Ok(Self::Any),
            text if !text.contains(['*', '?', '[']) => Ok(Self::Literal(text.into())),
            text if text.len() > LONGEST_GLOB => {
                Err((piece.start, "the glob is longer than 1000 bytes".into()))
            }
            text => Pattern::new(text)
                .map(|glob| Self::Glob(Box::new(glob)))
                .map_err(|error| {
                    // `glob` counts in characters.
                    let offset = text
                        .char_indices()
                        .nth(error.pos)
                        .map_or(text.len(), |(at, _)| at);
                    let message = match error.msg {
                        "invalid range pattern" => "`[` without `]`",
                        other => other,
                    };
                    (piece.start + offset, message.into())
                }),
        }
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Literal(literal) => **literal == *text,
            Self::Glob(glob) => glob.matches(text),
            Self::OneOf(segments) => segments.iter().any(|segment| segment.matches(text)),
        }
    }
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

impl FromStr for EventPattern {
    type Err = PatternError;

    fn from_str(pattern: &str) -> Result<Self, Self::Err> {
        Self::new(pattern)
    }
}

impl PartialEq for EventPattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for EventPattern {}

impl fmt::Display for EventPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.source)
    }
}

impl fmt::Debug for EventPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EventPattern").field(&self.source).finish()
    }
}
