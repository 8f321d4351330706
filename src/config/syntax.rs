//! Explains text that is not JSON.
//!
//! Knows the errors of `jsonc-parser`, not where they occur.

use jsonc_parser::ParseStringErrorKind;
use jsonc_parser::errors::{ParseError, ParseErrorKind};

/// Describes an error of the parser by what JSON expects there.
pub(super) fn words(error: &ParseError) -> String {
    use ParseErrorKind as Kind;
    let words = match error.kind() {
        Kind::ExpectedComma => "expected `,` after the value",
        Kind::ExpectedColonAfterObjectKey => "expected `:` after the key",
        Kind::ExpectedObjectValue => "expected a value after `:`",
        Kind::ExpectedStringObjectProperty | Kind::UnexpectedTokenInObject => {
            "expected a key in double quotes"
        }
        Kind::UnexpectedToken | Kind::UnexpectedWord => "unexpected text",
        Kind::UnterminatedCommentBlock => "`*/` is missing",
        Kind::String(ParseStringErrorKind::UnterminatedStringLiteral) => "`\"` is missing",
        Kind::String(
            ParseStringErrorKind::InvalidEscape
            | ParseStringErrorKind::InvalidEscapeInDoubleQuoteString,
        ) => "invalid escape in a string: write `\\\\` for a backslash",
        other => return in_lower_case(&other.to_string()),
    };
    words.to_owned()
}

fn in_lower_case(words: &str) -> String {
    let mut characters = words.chars();
    let first = characters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(characters).collect()
}
