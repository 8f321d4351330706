//! Translates globs into regular expressions: `*`, `?`, `[...]` and `**` have the same meaning as in patterns of
//! events.
//!
//! The crate `glob` recurses at each `*`, and scans the rest of the text for each character. That is fast enough
//! for names of tools, but the values that these globs match are longer.

/// Checks that a text is a valid glob.
///
/// # Errors
/// A fragment that says where it is not valid, and why.
pub(super) fn check(glob: &str) -> Result<(), String> {
    if let Err(error) = glob::Pattern::new(glob) {
        return Err(format!("at column {}, {}", error.pos + 1, error.msg));
    }
    for piece in pieces(glob) {
        if let Piece::Class { ranges, .. } = piece
            && let Some((first, last)) = ranges.iter().find(|(first, last)| first > last)
        {
            return Err(format!("the range `{first}-{last}` contains no character"));
        }
    }
    Ok(())
}

/// A part of a glob that the crate `glob` accepts.
enum Piece {
    Any,
    /// Any number of directories, each with its `/`.
    Directories,
    One,
    Class {
        is_negated: bool,
        ranges: Vec<(char, char)>,
    },
    Literal(char),
}

fn pieces(glob: &str) -> impl Iterator<Item = Piece> {
    let mut rest = glob;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let (piece, length) = match first {
            // As in the crate `glob`.
            '*' if rest == "**/" => (Piece::Any, 3),
            '*' if rest.starts_with("**/") => (Piece::Directories, 3),
            '*' if rest.starts_with("**") => (Piece::Any, 2),
            '*' => (Piece::Any, 1),
            '?' => (Piece::One, 1),
            '[' => class(rest),
            other => (Piece::Literal(other), other.len_utf8()),
        };
        rest = &rest[length..];
        Some(piece)
    })
}

/// Returns the class at the beginning, and its length. A `]` that comes first belongs to the class.
fn class(text: &str) -> (Piece, usize) {
    let is_negated = text[1..].starts_with('!');
    let start = if is_negated { 2 } else { 1 };
    let inner = &text[start..];
    let after_first = inner.chars().next().map_or(0, char::len_utf8);
    let close = inner[after_first..].find(']');
    let end = close.map_or(inner.len(), |at| after_first + at);
    let characters: Vec<char> = inner[..end].chars().collect();
    let mut ranges = Vec::new();
    let mut left = &characters[..];
    while let [first, rest @ ..] = left {
        if let ['-', last, behind @ ..] = rest {
            ranges.push((*first, *last));
            left = behind;
        } else {
            ranges.push((*first, *first));
            left = rest;
        }
    }
    let length = (start + end + 1).min(text.len());
    (Piece::Class { is_negated, ranges }, length)
}

/// Returns a regular expression that matches the whole text. A `*` at the beginning or the end is left out, so
/// that a search does not have to read that part.
pub(super) fn translated(glob: &str) -> String {
    let mut regex = r"\A".to_owned();
    for piece in pieces(glob) {
        match piece {
            Piece::Any => regex.push_str(".*"),
            Piece::Directories => regex.push_str("(?:.*/)?"),
            Piece::One => regex.push('.'),
            Piece::Class { is_negated, ranges } => {
                regex.push_str(if is_negated { "[^" } else { "[" });
                for (first, last) in ranges {
                    push_escaped(first, &mut regex);
                    regex.push('-');
                    push_escaped(last, &mut regex);
                }
                regex.push(']');
            }
            Piece::Literal(literal) => push_escaped(literal, &mut regex),
        }
    }
    regex.push_str(r"\z");
    let begins = regex.strip_prefix(r"\A.*").unwrap_or(&regex);
    begins.strip_suffix(r".*\z").unwrap_or(begins).to_owned()
}

fn push_escaped(literal: char, regex: &mut String) {
    regex.push_str(&regex::escape(literal.encode_utf8(&mut [0; 4])));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn globs_match_as_in_patterns_of_events(
            glob in r"([a-c/.]|\*|\?|\[!?[a-c\]][^\]]{0,3}\]|\*\*/|/\*\*){0,8}",
            texts in prop::collection::vec("[a-c/.\n]{0,8}", 8),
        ) {
            let Ok(pattern) = glob::Pattern::new(&glob) else {
                return Ok(());
            };
            prop_assume!(check(&glob).is_ok());
            let translated = format!("(?s){}", translated(&glob));
            let compiled = regex::Regex::new(&translated).unwrap();
            for text in texts {
                prop_assert_eq!(compiled.is_match(&text), pattern.matches(&text), "{} {:?}", glob, text);
            }
        }
    }
}
