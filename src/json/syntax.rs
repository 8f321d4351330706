//! Explains text that is not JSON.
//!
//! Knows the errors of `jsonc-parser` and common mistakes, not hooks.

use std::ops::Range;

use jsonc_parser::ParseStringErrorKind;
use jsonc_parser::errors::{ParseError, ParseErrorKind};

/// Returns the place of an error.
pub(super) fn range(error: &ParseError) -> Range<usize> {
    use ParseErrorKind as Kind;
    let range = error.range();
    match error.kind() {
        Kind::UnterminatedArray | Kind::UnterminatedObject => range.start..range.start + 1,
        _ => range.start..range.end,
    }
}

/// Describes an error of the parser by what JSON expects there.
pub(super) fn description(error: &ParseError, text: &str) -> String {
    use ParseErrorKind as Kind;
    let description = match error.kind() {
        Kind::UnterminatedArray => "`]` is missing for the list that begins here",
        Kind::UnterminatedObject => "`}` is missing for the object that begins here",
        Kind::UnexpectedCloseBrace => "expected a value, found `}`",
        Kind::UnexpectedCloseBracket => "expected a value, found `]`",
        Kind::UnexpectedColon => "expected a value, found `:`",
        Kind::UnexpectedComma => "expected a value, found `,`",
        Kind::ExpectedComma => "expected `,` after the value",
        Kind::ExpectedColonAfterObjectKey => "expected `:` after the key",
        Kind::ExpectedObjectValue => "expected a value after `:`",
        Kind::UnexpectedTokenInObject if is_open(text, error.range().start) => {
            "expected `,` or `}`, found `]`"
        }
        Kind::ExpectedStringObjectProperty | Kind::UnexpectedTokenInObject => {
            "expected a key in double quotes"
        }
        Kind::MultipleRootJsonValues => "expected the end of the file",
        Kind::UnexpectedToken | Kind::UnexpectedWord => "unexpected text",
        Kind::UnterminatedCommentBlock => "`*/` is missing",
        Kind::String(ParseStringErrorKind::UnterminatedStringLiteral) => "`\"` is missing",
        Kind::String(
            ParseStringErrorKind::InvalidEscape
            | ParseStringErrorKind::InvalidEscapeInDoubleQuoteString,
        ) => "invalid escape in a string: write `\\\\` for a backslash",
        other => return in_lower_case(&other.to_string()),
    };
    description.to_owned()
}

/// Returns whether a list ends here while an object in it is open, after a value of the object.
fn is_open(text: &str, at: usize) -> bool {
    let (before, rest) = text.split_at(at);
    rest.starts_with(']') && !before.trim_end().ends_with(['{', ','])
}

fn in_lower_case(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(characters).collect()
}

/// Explains the most common mistake behind the text that cannot be read at this place.
pub(super) fn help(text: &str, range: &Range<usize>) -> Option<&'static str> {
    let before = &text[..range.start];
    let character = text[range.start..].chars().next();
    let is_behind_string = before.ends_with('"') && !before.ends_with("\"\"");
    let is_text = |c: char| !c.is_whitespace() && !c.is_control() && !"\\\",:;=+[]{}".contains(c);
    Some(match character {
        None if text.trim().is_empty() => "the file is empty; a file without hooks is {}",
        Some('#') => "a comment begins with `//`",
        Some('“' | '”' | '„' | '‟' | '‘' | '’') => {
            "typographic quotes cannot be used: write `\"`"
        }
        Some('"') if text[range.clone()].len() > 1 && !text[range.clone()].ends_with('"') => {
            "write `\\\"` for a quote within a string, and `\\n` for a line break"
        }
        Some(character) if is_behind_string && is_text(character) => {
            "a string has ended here: write `\\\"` for a quote within it"
        }
        Some(_) if ["True", "False", "yes", "no"].contains(&&text[range.clone()]) => {
            "write `true` or `false`"
        }
        Some('\'') => "a string needs double quotes",
        Some(character) if character.is_alphabetic() => "a string needs double quotes",
        _ => return None,
    })
}
