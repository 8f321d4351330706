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
    SPECIFIC,
];

const SPECIFIC: &str = "hookSpecificOutput";

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
const MOST_TRIED: usize = 16 * 1024 * 1024;

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

    /// Whether it is an answer wherever it is.
    pub(super) fn is_telling(&self) -> bool {
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
        None => last_object(output),
        Some(gap) => last_object_kept(output, gap),
    };
    if let Ok(Some(object)) = &found
        && object.is_answer()
    {
        return found;
    }
    let nul = output.iter().filter(|byte| **byte == 0).count();
    if nul > output.len() / 3 && !matches!(last_object(&without_nul(output)), Ok(None)) {
        return Err("it is UTF-16, expected UTF-8".to_owned());
    }
    if matches!(found, Ok(None))
        && output.contains(&0x1B)
        && let Ok(Some(hidden)) = last_object(&without_colors(output))
        && hidden.is_answer()
    {
        return Err("it contains colour codes: write JSON without them".to_owned());
    }
    found
}

fn without_nul(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| *byte != 0).collect()
}

/// Removes each `ESC [ ... m`.
fn without_colors(text: &[u8]) -> Vec<u8> {
    let mut parts = text.split(|byte| *byte == 0x1B);
    let mut plain = parts.next().unwrap_or_default().to_vec();
    for part in parts {
        let is_parameter = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'[' | b';');
        let code = part.iter().take_while(|byte| is_parameter(byte)).count();
        plain.extend(part[code..].strip_prefix(b"m").unwrap_or(part));
    }
    plain
}

/// Returns the object with which a text ends. A text that looks like an answer and is none is an error.
fn last_object(text: &[u8]) -> Result<Option<Object>, String> {
    let Scan { last, first, key } = scan(text)?;
    if let Some(last) = last.filter(|last| is_blank(&text[last.range.end..])) {
        return Ok(Some(last));
    }
    let begin = visible_start(text);
    if text.get(begin) == Some(&b'{') && first != Some(begin) {
        return Err(malformed(text, begin));
    }
    match key {
        Some((at, key)) if ends_with_brace(text) => {
            let place = position(text, at);
            Err(format!("`{key}` is not within a whole JSON object {place}"))
        }
        _ => Ok(None),
    }
}

/// Returns the object with which an output ends of which bytes were left out, if these cannot have been a part of it.
fn last_object_kept(output: &[u8], gap: usize) -> Result<Option<Object>, String> {
    let (head, tail) = output.split_at(gap);
    let Ok(before) = scan(head) else {
        return Err(NOT_KEPT.to_owned());
    };
    let begin = visible_start(head);
    let is_open = head.get(begin) == Some(&b'{') && before.first != Some(begin);
    let found = scan(tail)?.last;
    let found = found.filter(|last| is_blank(&tail[last.range.end..]));
    let is_lost = match &found {
        Some(found) => is_open && !found.is_answer(),
        // If the end is white space, the answer may be before it. Zeros, as of a device, are none.
        None => {
            let is_white = tail.trim_ascii().is_empty() && (!tail.is_empty() || is_blank(head));
            is_open || is_white || ends_with_brace(tail)
        }
    };
    if is_lost || before.last.is_some_and(|object| object.is_telling()) {
        return Err(NOT_KEPT.to_owned());
    }
    Ok(found.map(|Object { range, kind }| Object {
        range: range.start + gap..range.end + gap,
        kind,
    }))
}

/// Whether a text has only white space and characters that a terminal or an editor does not show. UTF-16's byte
/// order marks count too.
pub(crate) fn is_blank(text: &[u8]) -> bool {
    let is_invisible = |c: char| c.is_whitespace() || !is_printable(c);
    text.utf8_chunks().all(|chunk| {
        chunk.valid().chars().all(is_invisible) && matches!(chunk.invalid(), [] | [0xFE | 0xFF])
    })
}

/// Returns where the first character is that is seen, if it is ASCII; else the end.
fn visible_start(text: &[u8]) -> usize {
    let start = text.iter().position(u8::is_ascii_graphic);
    start
        .filter(|start| is_blank(&text[..*start]))
        .unwrap_or(text.len())
}

/// Whether a text ends with `}`, or with `}` in quotes.
fn ends_with_brace(text: &[u8]) -> bool {
    let is_skipped = |byte: &&u8| byte.is_ascii_whitespace() || b"\"'`".contains(byte);
    text.iter().rev().find(|byte| !is_skipped(byte)) == Some(&b'}')
}

/// The objects of a text that are not within another one.
#[derive(Default)]
struct Scan {
    last: Option<Object>,
    /// Where the first one begins.
    first: Option<usize>,
    /// A telling key that is not within an object, and its place.
    key: Option<(usize, &'static str)>,
}

fn scan(text: &[u8]) -> Result<Scan, String> {
    let mut found = Scan::default();
    let mut from = 0;
    let mut gap = 0;
    let mut tried = 0;
    while let Some(start) = next_object(text, from) {
        let mut read = serde_json::Deserializer::from_slice(&text[start..]).into_iter();
        match read.next() {
            Some(Ok(kind)) => {
                let end = start + read.byte_offset();
                found.first = found.first.or(Some(start));
                let range = start..end;
                let last = found.last.replace(Object { range, kind });
                if let Some(answer) = last.filter(Object::is_telling) {
                    return Err(followed(text, &answer));
                }
                found.key = found.key.or_else(|| telling_key(text, gap..start));
                from = end;
                gap = end;
            }
            Some(Err(error))
                if error.is_eof() && telling_key(text, start..text.len()).is_some() =>
            {
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
    match found.last.as_ref().filter(|last| last.is_telling()) {
        Some(answer) if !is_blank(&text[answer.range.end..]) => Err(followed(text, answer)),
        _ => {
            found.key = found.key.or_else(|| telling_key(text, gap..text.len()));
            Ok(found)
        }
    }
}

/// Returns the first key in a part of a text that only an answer has: before `:`, `=` or a quote of any kind.
fn telling_key(text: &[u8], part: Range<usize>) -> Option<(usize, &'static str)> {
    let starts = TELLING_KEYS.map(|key| key.as_bytes()[0]);
    for at in part.clone() {
        let follows_letter = at > part.start && text[at - 1].is_ascii_alphanumeric();
        if follows_letter || !starts.contains(&text[at]) {
            continue;
        }
        let rest = &text[at..part.end];
        let is_key = |key: &&&str| {
            let after = rest.strip_prefix(key.as_bytes()).unwrap_or_default();
            let after_blanks = after.trim_ascii_start().first();
            matches!(
                after.first(),
                Some(b'"' | b'\'' | b'`' | b'\\' | 0x1B | 0x80..)
            ) || matches!(after_blanks, Some(b':' | b'='))
        };
        if let Some(key) = TELLING_KEYS.iter().find(is_key) {
            return Some((at, key));
        }
    }
    None
}

fn malformed(text: &[u8], start: usize) -> String {
    match serde_json::from_slice::<IgnoredAny>(&text[start..]) {
        Err(error) => explain(&error, text, start),
        // `scan` reads keys, which must be UTF-8; this reads none.
        Ok(_) => format!(
            "found text that is not UTF-8 in the object {}",
            position(text, start)
        ),
    }
}

fn followed(text: &[u8], answer: &Object) -> String {
    let after = &text[answer.range.end..];
    let blank = after.iter().take_while(|byte| byte.is_ascii_whitespace());
    let place = position(text, answer.range.end + blank.count());
    format!("found text after the object {place}: an answer is the end of the output")
}

/// Returns the next brace that can begin an object: before a key or another brace.
fn next_object(text: &[u8], from: usize) -> Option<usize> {
    let mut braces = (from..text.len()).filter(|at| text[*at] == b'{');
    braces.find(|at| {
        let inside = text[at + 1..].trim_ascii_start().first();
        matches!(inside, Some(b'"' | b'}'))
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
/// decision lets everything pass. It differs in one letter, in case or in underscores.
pub(super) fn meant_decision(key: &str, value: &str) -> Option<&'static str> {
    near_decision(key).filter(|meant| is_decision(meant, value))
}

fn near_decision(key: &str) -> Option<&'static str> {
    const NAMES: [&str; 4] = ["decision", "permissionDecision", "continue", SPECIFIC];
    let is_near = |name: &&&str| {
        let is_long = key.len() < name.len() - 1 || key.len() > name.len() + 3;
        !is_long && strsim::osa_distance(&plain(key), &plain(name)) <= 1
    };
    match NAMES.contains(&key) {
        true => None,
        false => NAMES.iter().find(is_near).copied(),
    }
}

fn plain(key: &str) -> String {
    key.to_ascii_lowercase().replace('_', "")
}

fn is_decision(meant: &str, value: &str) -> bool {
    let words = [
        "\"allow\"",
        "\"approve\"",
        "\"ask\"",
        "\"block\"",
        "\"deny\"",
    ];
    match meant {
        SPECIFIC => value.starts_with('{'),
        "continue" => value == "false",
        _ => words.contains(&&*value.to_ascii_lowercase()),
    }
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
                    let kind = match near_decision(&key) {
                        None => {
                            map.next_value::<IgnoredAny>()?;
                            Kind::of(&key)
                        }
                        Some(meant) => {
                            match is_decision(meant, map.next_value::<&RawValue>()?.get()) {
                                true => Kind::Telling,
                                false => Kind::Other,
                            }
                        }
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
