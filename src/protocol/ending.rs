//! Finds the answer in what a hook wrote: the JSON object with which the output ends. Text before it is the
//! hook's log.
//!
//! Knows which objects are answers, not what they mean.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::ops::Range;

use serde::de::IgnoredAny;

use super::invalid::{explain, position};
use super::keys::{DECIDING, Kind};
use super::members::Members;
use crate::printable::is_printable;

/// The most bytes that are read of what looks like an object and is none. Keeps the time linear.
const MOST_TRIED: usize = 16 * 1024 * 1024;

const NOT_KEPT: &str = "it is longer than the part of the output that is kept";

/// A JSON object in an output.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
}

/// Finds the object with which the output of a hook ends; None if it ends with text. `gap` is the place in the output
/// where bytes were left out, if any were. The error says why the output is an invalid answer.
pub(super) fn find(output: &[u8], gap: Option<usize>) -> Result<Option<Object>, String> {
    let found = match gap {
        None => last_object(output),
        Some(gap) => last_object_kept(output, gap),
    };
    if matches!(&found, Ok(Some(object)) if object.kind != Kind::Other) {
        return found;
    }
    let nul = output.iter().filter(|byte| **byte == 0).count();
    if nul > output.len() / 3 && !matches!(last_object(&without_nul(output)), Ok(None)) {
        return Err("it is UTF-16, expected UTF-8".to_owned());
    }
    if matches!(found, Ok(None))
        && output.contains(&0x1B)
        && let Ok(Some(hidden)) = last_object(&without_colors(output))
        && hidden.kind != Kind::Other
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
    let Scan {
        last,
        first,
        outside,
    } = scan(text, 0)?;
    if let Some(last) = last.filter(|last| is_blank(&text[last.range.end..])) {
        return Ok(Some(last));
    }
    if let Some(begin) = opening_brace(text).filter(|begin| first != Some(*begin)) {
        return Err(malformed(text, begin));
    }
    let mut outside = outside.into_iter().flatten();
    if ends_with_brace(text)
        && let Some((at, key)) = outside.find_map(|at| Some((at, deciding_key(text, at)?)))
    {
        let place = position(text, at);
        return Err(format!("`{key}` is not within a whole JSON object {place}"));
    }
    Ok(None)
}

/// Returns the object with which an output ends of which bytes were left out, if these cannot have been a part of it.
fn last_object_kept(output: &[u8], gap: usize) -> Result<Option<Object>, String> {
    let (head, tail) = output.split_at(gap);
    let Ok(before) = scan(head, 0) else {
        return Err(NOT_KEPT.to_owned());
    };
    let is_open = opening_brace(head).is_some_and(|begin| before.first != Some(begin));
    let found = scan(output, gap)?.last;
    let found = found.filter(|last| is_blank(&output[last.range.end..]));
    let is_lost = match &found {
        Some(found) => is_open && found.kind == Kind::Other,
        // If the end is white space, the answer may be before it. Zeros, as of a device, are none.
        None => {
            let is_white = tail.trim_ascii().is_empty() && (!tail.is_empty() || is_blank(head));
            is_open || is_white || ends_with_brace(tail)
        }
    };
    match is_lost || before.last.is_some_and(|it| is_telling(&it)) {
        true => Err(NOT_KEPT.to_owned()),
        false => Ok(found),
    }
}

/// Whether a text has only white space and characters that a terminal or an editor does not show. UTF-16's byte
/// order marks count too.
pub(super) fn is_blank(text: &[u8]) -> bool {
    let is_invisible = |c: char| c.is_whitespace() || !is_printable(c);
    text.utf8_chunks().all(|chunk| {
        chunk.valid().chars().all(is_invisible) && matches!(chunk.invalid(), [] | [0xFE | 0xFF])
    })
}

/// Returns where the brace is with which a text begins, if it begins with one.
fn opening_brace(text: &[u8]) -> Option<usize> {
    let start = text.iter().position(u8::is_ascii_graphic)?;
    (text[start] == b'{' && is_blank(&text[..start])).then_some(start)
}

/// Whether a text ends with `}`, or with `}` in quotes.
fn ends_with_brace(text: &[u8]) -> bool {
    let is_skipped = |byte: &&u8| byte.is_ascii_whitespace() || b"\"'`".contains(byte);
    text.iter().rev().find(|byte| !is_skipped(byte)) == Some(&b'}')
}

/// The objects of a text that are not within another one.
struct Scan {
    last: Option<Object>,
    /// Where the first one begins.
    first: Option<usize>,
    /// What is outside of them.
    outside: Vec<Range<usize>>,
}

fn is_telling(object: &Object) -> bool {
    object.kind == Kind::Telling
}

/// Finds the objects of a text from this place on.
fn scan(text: &[u8], from: usize) -> Result<Scan, String> {
    let mut last: Option<Object> = None;
    let (mut first, mut outside) = (None, Vec::new());
    let (mut end, mut next, mut tried) = (from, from, 0);
    let is_key = |at: &usize| deciding_key(text, *at).is_some();
    let last_key = LazyCell::new(|| (from..text.len()).rfind(is_key));
    let readable = readable(text);
    while let Some(start) = next_object(text, next) {
        let mut read = serde_json::Deserializer::from_slice(&readable[start..]).into_iter();
        match read.next() {
            Some(Ok(members)) => {
                let members: Members<'_> = members;
                if let Some(answer) = last.filter(is_telling) {
                    return Err(followed(text, &answer));
                }
                first = first.or(Some(start));
                outside.push(end..start);
                end = start + read.byte_offset();
                next = end;
                last = Some(Object {
                    range: start..end,
                    kind: Kind::of(&members),
                });
            }
            Some(Err(error)) if error.is_eof() && last_key.is_some_and(|key| key > start) => {
                return Err(explain(&error, text, start));
            }
            Some(Err(error)) => {
                tried += offset(&error, &text[start..]);
                next = start + 1;
            }
            None => break,
        }
        if tried > MOST_TRIED {
            return Err("too much of the output looks like JSON and is not".to_owned());
        }
    }
    if let Some(answer) = last.as_ref().filter(|last| is_telling(last))
        && !is_blank(&text[end..])
    {
        return Err(followed(text, answer));
    }
    outside.push(end..text.len());
    Ok(Scan {
        last,
        first,
        outside,
    })
}

/// Returns the key at this place of a text that only an answer has: before `:`, `=` or a quote of any kind.
fn deciding_key(text: &[u8], at: usize) -> Option<&'static str> {
    if !matches!(text[at], b'c' | b'd' | b'h' | b'p' | b'u') {
        return None;
    }
    let follows_letter = at > 0 && text[at - 1].is_ascii_alphanumeric();
    let is_key = |key: &&str| {
        let after = text[at..].strip_prefix(key.as_bytes()).unwrap_or_default();
        let is_quoted = matches!(
            after.first(),
            Some(b'"' | b'\'' | b'`' | b'\\' | 0x1B | 0x80..)
        );
        is_quoted || matches!(after.trim_ascii_start().first(), Some(b':' | b'='))
    };
    DECIDING
        .into_iter()
        .find(is_key)
        .filter(|_| !follows_letter)
}

/// Returns the text with `?` for each byte that is not UTF-8, so that the end of an object with such bytes is found.
fn readable(text: &[u8]) -> Cow<'_, [u8]> {
    if str::from_utf8(text).is_ok() {
        return Cow::Borrowed(text);
    }
    let mut readable = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        readable.extend(chunk.valid().as_bytes());
        readable.extend(chunk.invalid().iter().map(|_| b'?'));
    }
    Cow::Owned(readable)
}

fn malformed(text: &[u8], start: usize) -> String {
    match serde_json::from_slice::<IgnoredAny>(&text[start..]) {
        Err(error) => explain(&error, text, start),
        Ok(_) => format!("it is not a JSON object {}", position(text, start)),
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
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let before = lines.take(error.line().saturating_sub(1));
    let before: usize = before.map(<[u8]>::len).sum();
    (before + error.column()).min(text.len())
}
