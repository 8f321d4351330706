//! Decides whether output that is not one JSON object is a hook's log, or an answer with a mistake.
//!
//! Whole JSON is a log, unless it has a deciding key. In other text, a line that begins as an answer does is invalid: with `{`,
//! if a deciding key is there or below, or with a quoted deciding key. All else is a log. Text is not searched for an answer to
//! follow: a model chooses a tool's arguments, and so could write the answer of a hook that logs them. Each byte is read a
//! fixed number of times.
//!
//! Knows the names that decide. Does not know their effects. Reads no grammar but JSON's.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Match, Regex};
use serde_json::{Map, Value};

use super::invalid::{explain, position};
use super::keys::{Scope, deciding, hidden_decision, intended, is_decision, is_refusal, key};
use crate::json;
use crate::printable::{is_printable, printable};

const NOT_KEPT: &str = "it is longer than the part of the output that is kept";

/// The advice about an answer among other text.
const ALL: &str =
    "an answer must be all that a hook writes to its standard output; write logs to standard error";

/// The characters with which programs and people quote keys and answers.
const QUOTES: &str = "\"'`\\‘’‚‛“”„‟‹›«»＂＇";

/// A name where a key may be: behind a quote, or behind a mark of an object. What follows the name decides whether it is a key,
/// and is no part of the match, since it may also be before the next name. A test shows that it compiles.
static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let (quote, name) = (regex::escape(QUOTES), "[A-Za-z0-9_-]+");
    Regex::new(&format!(
        r"[{quote}](?<quoted>{name})|[{{,;:]\s*(?<bare>{name})"
    ))
    .ok()
});

/// Removes the characters around an answer that have no meaning: white space and byte order marks.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}')
}

/// Checks output that is not one JSON object. `gap` is the position at which bytes were left out, if any were. Returns a note
/// for text that has a key of an answer. The error says why the output is an invalid answer.
pub(super) fn check_text(output: &[u8], gap: Option<usize>) -> Result<Option<TextNote>, String> {
    if output.contains(&0) {
        return Err("it contains NUL bytes, as UTF-16 does: write UTF-8".to_owned());
    }
    if gap.is_some_and(|gap| may_hold_answer(output.split_at(gap))) {
        return Err(NOT_KEPT.to_owned());
    }
    let plain = plain(output);
    let text = json::readable(&plain);
    if text.trim_start().starts_with('{') && str::from_utf8(output).is_err() {
        return Err("it is not UTF-8".to_owned());
    }
    check(&text).map_err(|why| {
        if output.contains(&0x1B) && json::parse::<Map<String, Value>>(&text).is_ok() {
            "it contains colour codes: write JSON without them".to_owned()
        } else {
            why
        }
    })?;
    let is_known = |candidate: &TextKey<'_>| {
        candidate.has_value() && key(candidate.name, Scope::Top).is_some()
    };
    let mut keys = keys_in(&text).filter(is_known);
    let Some(first) = keys.next() else {
        return Ok(None);
    };
    let note = described(first.name, &text, first.at);
    if first.refuses() || keys.any(|key| key.refuses()) {
        Ok(Some(TextNote::Refusal(note)))
    } else {
        Ok(Some(TextNote::Other(note)))
    }
}

/// A note on text that has a key of an answer.
pub(super) enum TextNote {
    /// The text was probably intended to block or to ask.
    Refusal(String),
    Other(String),
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
            code.trim_start_matches(|c: char| matches!(c, '0'..='9' | ';' | ':' | '?'))
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
    QUOTES.contains(c)
}

/// Returns whether a character may be around an answer that is alone on its lines.
fn is_opening(c: char) -> bool {
    let is_bracket = matches!(c, '[' | ']' | '(' | ')' | '@' | '&' | '%' | ';' | ',');
    c.is_whitespace() || c == char::REPLACEMENT_CHARACTER || is_bracket || is_quote(c)
}

fn check(text: &str) -> Result<(), String> {
    if text.trim_start().starts_with('{') {
        check_objects(text)
    } else if let Some(value) = value_of(text) {
        check_value(&value, text, 0)
    } else {
        check_lines(text)
    }
}

/// Returns the JSON value of a text. None for a string, which is searched as text: its content may be an answer.
fn value_of(text: &str) -> Option<Value> {
    let value: Value = json::parse(text).ok()?;
    (!value.is_string()).then_some(value)
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
                let position = position(text, start);
                return Err(format!("found text after the object {position}: {ALL}"));
            }
        }
        end = objects.byte_offset();
    }
    Ok(())
}

/// Checks JSON that begins at `start`, and is not an answer.
fn check_value(value: &Value, text: &str, start: usize) -> Result<(), String> {
    match hidden_decision("", value, None) {
        Some((name, _)) => Err(described(name, text, start)),
        None => Ok(()),
    }
}

/// Describes a key of an answer in text, with its position.
fn described(name: &str, text: &str, at: usize) -> String {
    let (name, position) = (printable(name), position(text, at));
    format!("found `{name}` {position}: {ALL}")
}

/// Checks each line that is JSON or begins as an answer does.
fn check_lines(text: &str) -> Result<(), String> {
    let mut is_open = false;
    let mut start = 0;
    for line in text.split_inclusive(is_line_break) {
        let begin = line.trim_start_matches(|c| c == '}' || is_opening(c));
        let is_first = |key: &TextKey<'_>| key.at == line.len() - begin.len();
        let key = if let Some(value) = value_of(line) {
            check_value(&value, text, start)?;
            None
        } else if begin.starts_with('{') && !is_open {
            // The rest of the text is searched once.
            is_open = true;
            keys_in(&text[start..]).find(TextKey::decides)
        } else {
            let key = keys_in(line).next().filter(is_first);
            key.filter(|key| key.is_quoted && key.has_value() && key.decides())
        };
        if let Some(key) = key {
            return Err(described(key.name, text, start + key.at));
        }
        start += line.len();
    }
    Ok(())
}

/// A key in a text: a quoted name, or one before a value.
struct TextKey<'a> {
    name: &'a str,
    at: usize,
    is_quoted: bool,
    /// The text after the name, without the characters that close it.
    rest: &'a str,
}

impl<'a> TextKey<'a> {
    /// Returns the key of a name with its position; none if the text after it is not that of a key.
    fn new(text: &'a str, name: Match<'a>, is_quoted: bool) -> Option<Self> {
        let after = &text[name.end()..];
        let closes = |c: char| c.is_whitespace() || is_quoted && (is_quote(c) || c == ']');
        let key = Self {
            name: name.as_str(),
            at: name.start(),
            is_quoted,
            rest: after.trim_start_matches(closes),
        };
        let is_key = if is_quoted {
            after.starts_with(is_quote)
        } else {
            key.has_value()
        };
        is_key.then_some(key)
    }

    fn has_value(&self) -> bool {
        self.rest.starts_with([':', '='])
    }

    /// Returns the value, and its first word.
    fn value_and_word(&self) -> (&'a str, &'a str) {
        let is_between = |c: char| is_opening(c) || matches!(c, ':' | '=' | '>');
        let value = self.rest.trim_start_matches(is_between);
        let word = value.split(|c: char| !c.is_alphanumeric()).next();
        (value, word.unwrap_or_default())
    }

    /// Returns whether the key decides, or is a typo of one that does and has a decision as its value.
    fn decides(&self) -> bool {
        let (value, word) = self.value_and_word();
        let has_decision =
            value.starts_with('{') || is_decision(word) || word.eq_ignore_ascii_case("false");
        deciding(self.name).is_some() || has_decision && intended(self.name).is_some()
    }

    /// Returns whether the key decides, with a value that blocks or asks.
    fn refuses(&self) -> bool {
        let (_, word) = self.value_and_word();
        match deciding(self.name) {
            Some("continue") => word == "false",
            Some(_) => is_refusal("decision", &word.into()),
            None => false,
        }
    }
}

fn keys_in(text: &str) -> impl Iterator<Item = TextKey<'_>> {
    let all = NAME.iter().flat_map(|name| name.captures_iter(text));
    all.filter_map(|groups| match groups.name("quoted") {
        Some(name) => TextKey::new(text, name, true),
        None => TextKey::new(text, groups.name("bare")?, false),
    })
}
