//! Translates globs into regular expressions: `*`, `?`, `[...]` and `**` have the same meaning as in patterns of
//! events.
//!
//! The crate `glob` compares the text behind a `*` at each character of the rest. That is fast enough for names of
//! tools, but the values that these globs match are longer: it can take seconds.

/// Returns a regular expression that matches the whole text. A `*` at the beginning or the end is left out, so
/// that a search does not have to read that part.
///
/// # Errors
/// A fragment that says where the text is no valid glob, and why.
pub(super) fn translated(glob: &str) -> Result<String, String> {
    if let Err(error) = glob::Pattern::new(glob) {
        return Err(format!("at column {}, {}", error.pos + 1, error.msg));
    }
    let mut regex = r"\A".to_owned();
    let mut rest = glob;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '[' => push_class(rest, &mut regex)?,
            _ => push_piece(first, rest, &mut regex),
        };
        rest = &rest[length..];
    }
    regex.push_str(r"\z");
    let begins = regex.strip_prefix(r"\A.*").unwrap_or(&regex);
    Ok(begins.strip_suffix(r".*\z").unwrap_or(begins).to_owned())
}

/// Adds what the glob begins with, and returns its length.
fn push_piece(first: char, glob: &str, regex: &mut String) -> usize {
    let (piece, length) = match first {
        // As in the crate `glob`.
        '*' if glob == "**/" => (".*", 3),
        '*' if glob.starts_with("**/") => ("(?:.*/)?", 3),
        '*' if glob.starts_with("**") => (".*", 2),
        '*' => (".*", 1),
        '?' => (".", 1),
        literal => {
            push_escaped(literal, regex);
            return literal.len_utf8();
        }
    };
    regex.push_str(piece);
    length
}

/// Adds the class with which the glob begins, and returns its length. A `]` that comes first belongs to the class.
fn push_class(glob: &str, regex: &mut String) -> Result<usize, String> {
    let is_negated = glob[1..].starts_with('!');
    let start = if is_negated { 2 } else { 1 };
    let inner = &glob[start..];
    let after_first = inner.chars().next().map_or(0, char::len_utf8);
    let close = inner[after_first..].find(']');
    let end = close.map_or(inner.len(), |at| after_first + at);
    let characters: Vec<char> = inner[..end].chars().collect();
    regex.push_str(if is_negated { "[^" } else { "[" });
    let mut left = &characters[..];
    while let [first, rest @ ..] = left {
        let (last, behind) = match rest {
            ['-', last, behind @ ..] => (last, behind),
            _ => (first, rest),
        };
        if first > last {
            return Err(format!("the range `{first}-{last}` contains no character"));
        }
        push_escaped(*first, regex);
        regex.push('-');
        push_escaped(*last, regex);
        left = behind;
    }
    regex.push(']');
    Ok((start + end + 1).min(glob.len()))
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
        fn globs_match_as_in_event_patterns(
            glob in r"([a-c/.]|\*|\?|\[!?[a-c\]][^\]]{0,3}\]|\*\*/|/\*\*){0,8}",
            texts in prop::collection::vec("[a-c/.\n]{0,8}", 8),
        ) {
            let Ok(pattern) = glob::Pattern::new(&glob) else {
                return Ok(());
            };
            let Ok(translated) = translated(&glob) else {
                return Ok(());
            };
            let translated = format!("(?s){translated}");
            let compiled = regex::Regex::new(&translated).unwrap();
            for text in texts {
                prop_assert_eq!(compiled.is_match(&text), pattern.matches(&text), "{} {:?}", glob, text);
            }
        }
    }
}
