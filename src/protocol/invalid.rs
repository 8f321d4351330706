//! Explains why output cannot be read as JSON, in words that an author of a hook can use.
//!
//! Knows no key.

use serde_json::Error;

/// The errors that `serde_json` reports for a text that is not JSON, and their descriptions for an author.
const DESCRIPTIONS: [(&str, &str); 8] = [
    ("EOF while parsing an object", "`}` is missing"),
    ("EOF while parsing a list", "`]` is missing"),
    ("EOF while parsing a string", "`\"` is missing"),
    ("EOF while parsing a value", "a value is missing"),
    ("key must be a string", "expected a key in double quotes"),
    ("trailing characters", "found text after the object"),
    ("trailing comma", "expected a key after `,`"),
    (
        "recursion limit exceeded",
        "it is nested deeper than 128 levels",
    ),
];

/// Describes a position in a text.
pub(super) fn position(text: &str, at: usize) -> String {
    let before = &text[..at];
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
    format!("(line {line}, column {column})")
}

/// Describes an error of reading a text, with its position.
pub(super) fn explain(error: &Error) -> String {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let message = message
        .strip_suffix(&format!(" at line {line} column {column}"))
        .unwrap_or(&message);
    let known = DESCRIPTIONS.iter().find(|(theirs, _)| *theirs == message);
    let description = known.map_or(message, |(_, ours)| ours);
    match (line, column) {
        (0, _) => description.to_owned(),
        // The column is 0 at the end of the text, after a line feed.
        (_, 0) => format!("{description} (line {line})"),
        _ => format!("{description} (line {line}, column {column})"),
    }
}
