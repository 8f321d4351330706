//! Decides whether output that is not one JSON object is a hook's log, or an answer with a mistake.
//!
//! Text is not searched for an answer to follow: a model chooses a tool's arguments, and so could write the answer of a hook
//! that logs them. Text that looks like an answer on lines of its own is invalid, and blocks, since the hook may have
//! intended to deny. After a word on its line it is text, since hooks log in this form. Each byte is read a fixed number of
//! times.
//!
//! Knows the names that decide. Does not know their effects. Reads no grammar but JSON's.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value};

use super::invalid::{explain, position};
use super::keys::{
    Deciding, Place, Within, deciding, hidden_decision, is_decision, is_refusal, key,
};
use crate::json;
use crate::printable::{is_printable, printable};

const NOT_KEPT: &str = "it is longer than the part of the output that is kept";

/// The advice about an answer among other text.
const ALL: &str =
    "an answer must be all that a hook writes to its standard output; write logs to standard error";

/// Removes the characters around an answer that have no meaning: white space and byte order marks.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}')
}

/// Checks output that is not one JSON object. `gap` is the place where bytes were left out, if any were. Returns a note
/// for text that has a key of an answer. The error says why the output is an invalid answer.
pub(super) fn check_text(output: &[u8], gap: Option<usize>) -> Result<Option<TextNote>, String> {
    if gap.is_some_and(|gap| may_hold_answer(output.split_at(gap))) {
        return Err(NOT_KEPT.to_owned());
    }
    let plain = plain(output);
    let text = json::readable(&plain);
    let begins_object = text.trim_start().starts_with('{');
    let checked = match std::str::from_utf8(output) {
        Err(_) if begins_object => Err("it is not UTF-8".to_owned()),
        _ => check(&text),
    };
    checked.map_err(|why| {
        let is_colored = || json::parse::<Map<String, Value>>(&text).is_ok();
        if output.contains(&0) {
            "it contains NUL bytes, as UTF-16 does: write UTF-8".to_owned()
        } else if output.contains(&0x1B) && is_colored() {
            "it contains colour codes: write JSON without them".to_owned()
        } else {
            why
        }
    })?;
    let names = keys_in(&text, 0..text.len());
    let mut known = names.filter(|name| name.has_value() && key(name.name, Place::Top).is_some());
    let Some(first) = known.next() else {
        return Ok(None);
    };
    Ok(Some(TextNote {
        note: found_key(first.name, &text, first.at),
        refuses: first.refuses() || known.any(|name| name.refuses()),
    }))
}

/// A note on text that has a key of an answer.
pub(super) struct TextNote {
    pub(super) note: String,
    /// True if the text was probably intended to block or to ask.
    pub(super) refuses: bool,
}

/// Returns the output without the characters that disguise an answer: codes of a terminal, and invisible characters.
fn plain(output: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(output);
    if text.chars().all(|c| is_printable(c) || is_line_break(c)) {
        return text;
    }
    let mut parts = text.split('\u{1B}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // A control sequence: `[`, parameters, and a letter.
        let code = part.strip_prefix('[').map(|code| {
            code.trim_start_matches(|c: char| matches!(c, '0'..='9' | ';' | ':' | '?' | '\0'))
        });
        let rest = code.and_then(|code| code.strip_prefix(|c: char| c.is_ascii_alphabetic()));
        plain.push_str(rest.unwrap_or(part));
    }
    plain.retain(|c| is_printable(c) || is_line_break(c));
    plain.into()
}

fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{B}' | '\u{C}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Returns whether an answer may be among the bytes that are missing between two parts of an output.
fn may_hold_answer((head, tail): (&[u8], &[u8])) -> bool {
    let is_white = |part: &[u8]| part.trim_ascii().is_empty() && !part.is_empty();
    let is_unknown = is_white(head) || is_white(tail) || head.is_empty() && tail.is_empty();
    let begins = plain(head).trim_start_matches(is_opening).starts_with('{');
    is_unknown || begins || plain(tail).trim_end_matches(is_opening).ends_with('}')
}

fn is_quote(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '`' | '\\' | '‘'..='‟' | '‹' | '›' | '«' | '»' | '＂' | '＇'
    )
}

/// Returns whether a character may be around an answer that is alone on its lines.
fn is_opening(c: char) -> bool {
    let is_bracket = matches!(c, '[' | ']' | '(' | ')' | '@' | '&' | '%' | ';' | ',');
    c.is_whitespace() || c == char::REPLACEMENT_CHARACTER || is_bracket || is_quote(c)
}

fn check(text: &str) -> Result<(), String> {
    if text.trim_start().starts_with('{') {
        return check_objects(text);
    }
    match json::parse(text) {
        Ok(value) => check_value(&value, text, 0),
        Err(_) => check_lines(text),
    }
}

/// Checks text that begins with a brace. Text of whole objects and nothing else is a log.
fn check_objects(text: &str) -> Result<(), String> {
    let mut objects = json::values::<Map<String, Value>>(text);
    let mut end = 0;
    while let Some(object) = objects.next() {
        let start = text.len() - text[end..].trim_start().len();
        match object {
            Ok(object) => check_value(&object.into(), text, start)?,
            Err(error) if end == 0 => return Err(explain(&error)),
            Err(_) => {
                let place = position(text, start);
                return Err(format!("found text after the object {place}: {ALL}"));
            }
        }
        end = objects.byte_offset();
    }
    Ok(())
}

/// Checks JSON that begins at `start`, and is not an answer.
fn check_value(value: &Value, text: &str, start: usize) -> Result<(), String> {
    // A program may have encoded its answer as JSON twice.
    if let Value::String(inner) = value {
        return check(inner);
    }
    match hidden_decision("", value, Within::Text) {
        Some((name, _)) => Err(found_key(&name, text, start)),
        None => Ok(()),
    }
}

/// Describes a key of an answer in text, with its place.
fn found_key(name: &str, text: &str, at: usize) -> String {
    let (name, place) = (printable(name), position(text, at));
    format!("found `{name}` {place}: {ALL}")
}

/// Checks each line that begins in the form of an answer, and the lines after one that is not whole.
fn check_lines(text: &str) -> Result<(), String> {
    let mut is_open = false;
    let mut start = 0;
    for line in text.split_inclusive(is_line_break) {
        let end = start + line.len();
        let begin = line.trim_start_matches(|c| c == '}' || is_opening(c));
        match json::parse::<Value>(line) {
            Ok(value) => check_value(&value, text, start)?,
            Err(_) => {
                is_open |= begin.starts_with('{');
                let mut keys = keys_in(text, start..end);
                let begins_line = |key: &TextKey<'_>| {
                    key.is_quoted && key.has_value() && key.at == end - begin.len()
                };
                let key = keys.find(|key| key.is_deciding() && (is_open || begins_line(key)));
                if let Some(TextKey { name, at, .. }) = key {
                    return Err(found_key(name, text, at));
                }
            }
        }
        start = end;
    }
    Ok(())
}

/// A name in a text, in the place of a key.
struct TextKey<'a> {
    name: &'a str,
    at: usize,
    is_quoted: bool,
    /// The text after the name, which begins with the value if the name has one.
    value: &'a str,
}

impl TextKey<'_> {
    fn has_value(&self) -> bool {
        self.value.starts_with([':', '='])
    }

    /// Returns the value after the name, and the first word of the value.
    fn value_and_word(&self) -> (&str, &str) {
        let is_between = |c: char| is_opening(c) || matches!(c, ':' | '=' | '>');
        let value = self.value.trim_start_matches(is_between);
        let word = value.split(|c: char| !c.is_alphanumeric()).next();
        (value, word.unwrap_or_default())
    }

    /// Returns whether the key decides, with a value that blocks or asks.
    fn refuses(&self) -> bool {
        let (_, word) = self.value_and_word();
        match deciding(self.name) {
            Some(Deciding::Key("continue")) => word == "false",
            Some(Deciding::Key(_)) => is_refusal("decision", &word.into()),
            _ => false,
        }
    }

    fn is_deciding(&self) -> bool {
        let (value, word) = self.value_and_word();
        match deciding(self.name) {
            Some(Deciding::Key(_)) => true,
            Some(Deciding::SlipOf(_)) => {
                value.starts_with('{') || is_decision(word) || word.eq_ignore_ascii_case("false")
            }
            None => false,
        }
    }
}

/// Returns the names in a part of a text that are in quotes of any kind, or after `{`, `,`, `;` or `:` and before `:` or
/// `=`.
fn keys_in(text: &str, part: Range<usize>) -> impl Iterator<Item = TextKey<'_>> {
    let mut at = part.start;
    let mut names = text[part].split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
    std::iter::from_fn(move || {
        let name = names.next()?;
        // Only the characters around a name are read, so that each is read a fixed number of times.
        let key = if name.is_empty() {
            None
        } else {
            key_at(text, at, name)
        };
        at += name.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
        Some(key)
    })
    .flatten()
}

fn key_at<'a>(text: &'a str, at: usize, name: &'a str) -> Option<TextKey<'a>> {
    let (before, after) = (&text[..at], &text[at + name.len()..]);
    let is_quoted = before.ends_with(is_quote) && after.starts_with(is_quote);
    let closes = |c: char| c.is_whitespace() || is_quoted && (is_quote(c) || c == ']');
    let value = after.trim_start_matches(closes);
    let is_bare = || before.trim_end().ends_with(['{', ',', ';', ':']);
    let is_key = is_quoted || is_bare() && value.starts_with([':', '=']);
    is_key.then_some(TextKey {
        name,
        at,
        is_quoted,
        value,
    })
}
