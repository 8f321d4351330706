//! Explains why output cannot be read as an answer, in words of JSON.
//!
//! Knows the types of the keys, not what they mean.

use serde_json::error::Category;
use serde_json::{Error, Map, Value};

use crate::hook::kind;

/// What `serde_json` reports of a text that is not JSON, and what an author of a hook can use.
const WORDS: [(&str, &str); 7] = [
    ("EOF while parsing an object", "`}` is missing"),
    ("EOF while parsing a list", "`]` is missing"),
    ("EOF while parsing a string", "`\"` is missing"),
    ("EOF while parsing a value", "a value is missing"),
    ("key must be a string", "expected a key in double quotes"),
    ("trailing characters", "found text after the object"),
    ("trailing comma", "expected a key after `,`"),
];

/// Describes a place in a text.
pub(super) fn position(text: &[u8], at: usize) -> String {
    let (lines, columns) = before(text, at);
    format!("(line {}, column {})", lines + 1, columns + 1)
}

/// Returns the number of whole lines before a place, and the number of bytes before it in its line.
fn before(text: &[u8], at: usize) -> (usize, usize) {
    let mut lines = text[..at].rsplit(|byte| *byte == b'\n');
    let columns = lines.next().map_or(0, <[u8]>::len);
    (lines.count(), columns)
}

/// Describes the error of reading the object that begins at `start`, with its line and column in the text.
pub(super) fn explain(error: &Error, text: &[u8], start: usize) -> String {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let message = message
        .strip_suffix(&format!(" at line {line} column {column}"))
        .unwrap_or(&message);
    let words = words(message).or_else(|| match error.classify() {
        Category::Data => wrong_type(&serde_json::from_slice(&text[start..]).ok()?),
        _ => None,
    });
    let words = words.unwrap_or_else(|| message.to_owned());
    let (lines, columns) = before(text, start);
    let place = lines + line;
    match (line, column) {
        (0, _) => words,
        // The end of the text, after a line feed.
        (_, 0) => format!("{words} (line {place})"),
        (1, _) => format!("{words} (line {place}, column {})", columns + column),
        _ => format!("{words} (line {place}, column {column})"),
    }
}

fn words(message: &str) -> Option<String> {
    if let Some(key) = message.strip_prefix("duplicate field ") {
        return Some(format!("{key} occurs twice"));
    }
    if let Some(key) = message.strip_prefix("missing field ") {
        return Some(format!("{key} is missing"));
    }
    let (_, words) = WORDS.iter().find(|(theirs, _)| *theirs == message)?;
    Some((*words).to_owned())
}

/// Describes the first key whose value has another type than expected.
fn wrong_type(object: &Map<String, Value>) -> Option<String> {
    for (key, value) in object {
        let (expected, is_right) = match key.as_str() {
            "continue" => ("true or false", value.is_boolean()),
            "updatedInput" | "hookSpecificOutput" => ("an object", value.is_object()),
            "decision"
            | "reason"
            | "stopReason"
            | "systemMessage"
            | "additionalContext"
            | "permissionDecision"
            | "permissionDecisionReason"
            | "id" => ("a string", value.is_string()),
            _ => continue,
        };
        if !is_right && !value.is_null() {
            let found = kind(value);
            return Some(format!("`{key}`: expected {expected}, found {found}"));
        }
    }
    wrong_type(object.get("hookSpecificOutput")?.as_object()?)
}
