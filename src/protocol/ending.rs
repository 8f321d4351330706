//! Finds the answer in what a hook wrote: the JSON object with which the output ends. Text before it is the
//! hook's log.
//!
//! Knows the keys of an answer, not their meaning.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::invalid::{explain, position};
use crate::printable::is_printable;

/// An object with one of these keys must be the end of the output.
const TELLING_KEYS: [&str; 6] = [
    "decision",
    "permissionDecision",
    "continue",
    "updatedInput",
    "updatedOutput",
    "hookSpecificOutput",
];

/// The other keys of an answer, which logs may have too.
const OTHER_KEYS: [&str; 6] = [
    "id",
    "reason",
    "permissionDecisionReason",
    "stopReason",
    "systemMessage",
    "additionalContext",
];

/// The most bytes that are read of what looks like an object and is none. Keeps the time linear.
const MOST_TRIED: usize = 1024 * 1024;

const NOT_KEPT: &str = "it is longer than the part of the output that is kept";

/// A JSON object in an output.
#[derive(Debug, PartialEq)]
pub(crate) struct Object {
    pub(crate) range: Range<usize>,
    kind: Kind,
}

impl Object {
    /// Whether a key of it belongs to an answer; also `{}`.
    pub(crate) fn is_answer(&self) -> bool {
        self.kind != Kind::Other
    }

    fn is_telling(&self) -> bool {
        self.kind == Kind::Telling
    }
}

/// What the keys of an object make it, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Other,
    Answer,
    /// It is an answer wherever it is.
    Telling,
}

/// Finds the object with which the output of a hook ends; None if it ends with text. `gap` is the place in the output
/// where bytes were left out, if any were. The error says why the output is an invalid answer.
pub(crate) fn find(output: &[u8], gap: Option<usize>) -> Result<Option<Object>, String> {
    let found = match gap {
        None => last_object(output)?,
        Some(gap) => find_in_parts(output, gap)?,
    };
    if found.is_none() && output.contains(&0) {
        let without_nul: Vec<u8> = output.iter().copied().filter(|byte| *byte != 0).collect();
        if !matches!(last_object(&without_nul), Ok(None)) {
            return Err("it is UTF-16, expected UTF-8".to_owned());
        }
    }
    Ok(found)
}

/// Finds the answer in the end that was kept, if nothing before it can have been a part of it.
fn find_in_parts(output: &[u8], gap: usize) -> Result<Option<Object>, String> {
    let (head, tail) = output.split_at(gap);
    let Ok(before) = objects(head, true) else {
        return Err(NOT_KEPT.to_owned());
    };
    let found = last_object(tail)?;
    let is_lost = match tail.trim_ascii_end().last() {
        Some(byte) => *byte == b'}',
        None => !tail.is_empty() || is_blank(head) || head.contains(&b'{'),
    };
    if before.is_some_and(|object| object.is_telling()) || found.is_none() && is_lost {
        return Err(NOT_KEPT.to_owned());
    }
    Ok(found.map(|Object { range, kind }| Object {
        range: range.start + gap..range.end + gap,
        kind,
    }))
}

/// Returns the object with which a text ends.
fn last_object(text: &[u8]) -> Result<Option<Object>, String> {
    let last = objects(text, false)?;
    Ok(last.filter(|object| is_blank(&text[object.range.end..])))
}

/// Whether a text has only white space and characters that a terminal or an editor does not show. UTF-16's byte
/// order marks count too.
pub(crate) fn is_blank(text: &[u8]) -> bool {
    let is_invisible = |c: char| c.is_whitespace() || !is_printable(c);
    text.utf8_chunks().all(|chunk| {
        chunk.valid().chars().all(is_invisible) && matches!(chunk.invalid(), [] | [0xFE | 0xFF])
    })
}

/// Returns the last object that is not within another one. `goes_on` says that more text follows, which is not
/// known.
fn objects(text: &[u8], goes_on: bool) -> Result<Option<Object>, String> {
    let mut last: Option<Object> = None;
    let mut gaps = Gaps::default();
    let mut from = 0;
    let mut tried = 0;
    while let Some(start) = next_object(text, from) {
        let mut read = serde_json::Deserializer::from_slice(&text[start..]).into_iter();
        match read.next() {
            Some(Ok(kind)) => {
                let end = start + read.byte_offset();
                let range = start..end;
                let answer = last.replace(Object { range, kind });
                if let Some(answer) = answer.filter(Object::is_telling) {
                    return Err(followed(text, &answer));
                }
                gaps.search(text, start)?;
                gaps.at = end;
                from = end;
            }
            Some(Err(error)) if error.is_eof() && !goes_on => {
                return Err(explain(&error, text, start));
            }
            Some(Err(error)) => {
                tried += offset(&error, &text[start..]);
                from = start + 1;
            }
            None => break,
        }
        if tried > MOST_TRIED {
            return Err("too much of the output looks like JSON and is not".to_owned());
        }
    }
    if let Some(answer) = last.as_ref().filter(|last| last.is_telling())
        && !is_blank(&text[answer.range.end..])
    {
        return Err(followed(text, answer));
    }
    gaps.search(text, text.len())?;
    Ok(last)
}

/// The text between objects, in which a malformed answer is found: a telling key after `{` or `,`.
#[derive(Default)]
struct Gaps {
    /// Where the text begins that was not searched.
    at: usize,
    /// The brace that is open.
    open: Option<usize>,
}

impl Gaps {
    fn search(&mut self, text: &[u8], end: usize) -> Result<(), String> {
        let mut expects_key = false;
        for at in self.at..end {
            match text[at] {
                b'{' => {
                    self.open = Some(at);
                    expects_key = true;
                }
                b'}' => self.open = None,
                b',' => expects_key = self.open.is_some(),
                // A quote of any kind, a backslash, white space.
                byte if !byte.is_ascii_alphanumeric() => {}
                _ => {
                    if let Some(open) = self
                        .open
                        .filter(|_| expects_key && is_telling_key(&text[at..]))
                    {
                        return Err(malformed(text, open));
                    }
                    expects_key = false;
                }
            }
        }
        Ok(())
    }
}

/// Whether a text begins with a key that only an answer has.
fn is_telling_key(text: &[u8]) -> bool {
    TELLING_KEYS.iter().any(|key| {
        let after = text.strip_prefix(key.as_bytes()).unwrap_or_default();
        matches!(
            after.trim_ascii_start().first(),
            Some(b':' | b'"' | b'\'' | b'\\' | b'=' | b'`' | 0x80..)
        )
    })
}

fn malformed(text: &[u8], start: usize) -> String {
    match serde_json::from_slice::<IgnoredAny>(&text[start..]) {
        Err(error) => explain(&error, text, start),
        // Not reached: `objects` skips valid objects.
        Ok(_) => format!("it is malformed {}", position(text, start)),
    }
}

fn followed(text: &[u8], answer: &Object) -> String {
    let after = &text[answer.range.end..];
    let blank = after.iter().take_while(|byte| byte.is_ascii_whitespace());
    let place = position(text, answer.range.end + blank.count());
    format!("found text after the object {place}: an answer is the end of the output")
}

/// Returns the next brace that can begin an object: before a key, before another brace, or alone in the last line.
fn next_object(text: &[u8], from: usize) -> Option<usize> {
    let mut braces = (from..text.len()).filter(|at| text[*at] == b'{');
    braces.find(|at| {
        let mut inside = text[at + 1..].iter();
        match inside.find(|byte| !byte.is_ascii_whitespace()) {
            Some(byte) => matches!(byte, b'"' | b'}'),
            None => {
                let line = text[..*at].rsplit(|byte| *byte == b'\n').next();
                line.is_none_or(is_blank)
            }
        }
    })
}

/// Returns where in the text reading has failed.
fn offset(error: &serde_json::Error, text: &[u8]) -> usize {
    let lines = text.split(|byte| *byte == b'\n');
    let before: usize = lines
        .take(error.line().saturating_sub(1))
        .map(|line| line.len() + 1)
        .sum();
    (before + error.column()).min(text.len())
}

/// Returns the key that was probably meant by one that has the value, as JSON, of a decision: an answer without its
/// decision lets everything pass.
pub(super) fn meant_decision(key: &str, value: &str) -> Option<&'static str> {
    near_decision(key).filter(|_| is_decision(value))
}

fn near_decision(key: &str) -> Option<&'static str> {
    let mut names = ["decision", "permissionDecision", "continue"].into_iter();
    names.find(|name| {
        key.len().abs_diff(name.len()) <= 1 && key != *name && strsim::osa_distance(key, name) == 1
    })
}

fn is_decision(value: &str) -> bool {
    let words = [
        "true",
        "false",
        "\"allow\"",
        "\"approve\"",
        "\"ask\"",
        "\"block\"",
        "\"deny\"",
    ];
    words.contains(&value)
}

/// Reads the keys of an object, and of values only what may be a decision.
impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Kind;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Kind, A::Error> {
                let mut most = None;
                while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                    let kind = if near_decision(&key).is_none() {
                        map.next_value::<IgnoredAny>()?;
                        Kind::of(&key)
                    } else if is_decision(map.next_value::<&RawValue>()?.get()) {
                        Kind::Telling
                    } else {
                        Kind::Other
                    };
                    most = most.max(Some(kind));
                }
                Ok(most.unwrap_or(Kind::Answer))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

impl Kind {
    fn of(key: &str) -> Self {
        match key {
            _ if TELLING_KEYS.contains(&key) => Self::Telling,
            _ if OTHER_KEYS.contains(&key) => Self::Answer,
            _ => Self::Other,
        }
    }
}
