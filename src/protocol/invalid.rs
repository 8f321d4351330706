//! Explains why output cannot be read as JSON, in words for an author of a hook.

use serde_json::Error;

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

/// Describes the error of reading the value that begins at `start`, with its line and column in the text.
pub(super) fn explain(error: &Error, text: &[u8], start: usize) -> String {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let message = message
        .strip_suffix(&format!(" at line {line} column {column}"))
        .unwrap_or(&message);
    let known = WORDS.iter().find(|(theirs, _)| *theirs == message);
    let words = known.map_or(message, |(_, words)| words);
    let (lines, columns) = before(text, start);
    let place = lines + line;
    match (line, column) {
        (0, _) => words.to_owned(),
        // The end of the text, after a line feed.
        (_, 0) => format!("{words} (line {place})"),
        (1, _) => format!("{words} (line {place}, column {})", columns + column),
        _ => format!("{words} (line {place}, column {column})"),
    }
}
