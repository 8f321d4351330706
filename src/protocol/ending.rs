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
const OTHER_KEYS: [&str; 5] = [
    "reason",
    "permissionDecisionReason",
    "stopReason",
    "systemMessage",
    "additionalContext",
];

/// The most bytes that are read of what looks like an object and is none. Keeps the time linear.
const MOST_TRIED: usize = 1024 * 1024;

const NOT_KEPT: &str = "it is longer than the part of the output that is kept";

/// What an output ends with.
#[derive(Debug, PartialEq)]
pub(crate) enum Ending {
    Text,
    Object(Object),
}

/// A JSON object in an output.
#[derive(Debug, PartialEq)]
pub(crate) struct Object {
    pub(crate) range: Range<usize>,
    keys: Keys,
}

impl Object {
    /// Whether it has a key of an answer, the `id` of a resident hook's among them, or no key.
    pub(crate) fn is_answer(&self) -> bool {
        self.keys != Keys::Unknown
    }

    fn is_telling(&self) -> bool {
        self.keys == Keys::Telling
    }
}

/// What the keys of an object say, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Keys {
    Unknown,
    Answer,
    /// It is an answer wherever it is.
    Telling,
}

/// Finds the answer of a hook. `gap` is the place in the output where bytes were left out, if any were. The error
/// says why the output is an invalid answer.
pub(crate) fn find(output: &[u8], gap: Option<usize>) -> Result<Ending, String> {
    let found = match gap {
        None => objects(output, false).map(|last| ending_of(output, last)),
        Some(gap) => find_in_parts(output, gap),
    };
    if !matches!(found, Ok(Ending::Text)) || !output.contains(&0) {
        return found;
    }
    let without_nul: Vec<u8> = output.iter().copied().filter(|byte| *byte != 0).collect();
    match objects(&without_nul, false).map(|last| ending_of(&without_nul, last)) {
        Ok(Ending::Text) => found,
        Ok(Ending::Object(_)) | Err(_) => Err("it is UTF-16, expected UTF-8".to_owned()),
    }
}

/// Finds the answer in the end that was kept, if nothing before it can have been a part of it.
fn find_in_parts(output: &[u8], gap: usize) -> Result<Ending, String> {
    let (head, tail) = output.split_at(gap);
    let not_kept = || Err(NOT_KEPT.to_owned());
    if !objects(head, true).is_ok_and(|last| !last.is_some_and(|last| last.is_telling())) {
        return not_kept();
    }
    let is_lost = match tail.trim_ascii_end().last() {
        Some(byte) => *byte == b'}',
        None => !tail.is_empty() || is_blank(head) || head.contains(&b'{'),
    };
    match ending_of(tail, objects(tail, false)?) {
        Ending::Text if is_lost => not_kept(),
        Ending::Text => Ok(Ending::Text),
        Ending::Object(Object { range, keys }) => Ok(Ending::Object(Object {
            range: range.start + gap..range.end + gap,
            keys,
        })),
    }
}

fn ending_of(text: &[u8], last: Option<Object>) -> Ending {
    match last {
        Some(object) if is_blank(&text[object.range.end..]) => Ending::Object(object),
        _ => Ending::Text,
    }
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
    let mut between = Between::default();
    let mut from = 0;
    let mut tried = 0;
    while let Some(start) = next_object(text, from) {
        let mut read = serde_json::Deserializer::from_slice(&text[start..]).into_iter();
        match read.next() {
            Some(Ok(keys)) => {
                let end = start + read.byte_offset();
                let range = start..end;
                let answer = last.replace(Object { range, keys });
                if let Some(answer) = answer.filter(Object::is_telling) {
                    return Err(followed(text, &answer));
                }
                between.search(text, start)?;
                between.at = end;
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
    between.search(text, text.len())?;
    Ok(last)
}

/// The text between objects, in which a malformed answer is found: a telling key after `{` or `,`.
#[derive(Default)]
struct Between {
    /// Where the text begins that was not searched.
    at: usize,
    /// The brace that is open.
    open: Option<usize>,
}

impl Between {
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
                b'"' | b'\'' => {}
                byte if byte.is_ascii_whitespace() => {}
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

/// Whether a text begins with a key that only an answer has. Before it may be a quote, of whatever kind.
fn is_telling_key(text: &[u8]) -> bool {
    TELLING_KEYS.iter().any(|key| {
        let after = text.strip_prefix(key.as_bytes()).unwrap_or_default();
        matches!(after.trim_ascii_start().first(), Some(b':' | b'"' | b'\''))
    })
}

fn malformed(text: &[u8], start: usize) -> String {
    match serde_json::from_slice::<IgnoredAny>(&text[start..]) {
        Err(error) => explain(&error, text, start),
        // Not reached: the object is none that was read.
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

/// Reads the keys of an object, and no values.
impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Keys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut most = None;
                while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                    let is_slip = match near_decision(&key) {
                        Some(_) => is_decision(map.next_value::<&RawValue>()?.get()),
                        None => {
                            map.next_value::<IgnoredAny>()?;
                            false
                        }
                    };
                    let keys = match &*key {
                        _ if is_slip => Keys::Telling,
                        key if TELLING_KEYS.contains(&key) => Keys::Telling,
                        key if OTHER_KEYS.contains(&key) => Keys::Answer,
                        "id" => Keys::Answer,
                        _ => Keys::Unknown,
                    };
                    most = Some(most.unwrap_or(keys).max(keys));
                }
                Ok(most.unwrap_or(Keys::Answer))
            }
        }

        deserializer.deserialize_map(Members)
    }
}
