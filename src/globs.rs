//! Globs of patterns, conditions and `inputs`: `*`, `?`, `[...]` and `**`. In a glob, and in the text that it is compared
//! with, `\` counts as `/` on every system: a hooks file is shared, and paths may come from Windows.
//!
//! The crate `glob` compares the text behind a `*` at each character of the rest. That is fast enough for names of
//! tools, but the values of conditions are longer: it can take seconds. So their globs become regular expressions.

use std::borrow::Cow;

use glob::{Pattern, PatternError};

/// A glob for short texts, compiled.
#[derive(Debug, Clone)]
pub(crate) struct Glob(Pattern);

impl Glob {
    pub(crate) fn new(text: &str) -> Result<Self, PatternError> {
        Pattern::new(&with_slashes(text)).map(Self)
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        self.0.matches(&with_slashes(text))
    }
}

/// Returns a text with each `\` as `/`.
pub(crate) fn with_slashes(text: &str) -> Cow<'_, str> {
    match text.contains('\\') {
        true => text.replace('\\', "/").into(),
        false => text.into(),
    }
}

/// Returns a regular expression that matches the whole text, given [with slashes](with_slashes). A `*` at the beginning
/// or the end is left out, so that a search does not have to read that part.
///
/// # Errors
/// A fragment that says where the text is no valid glob, and why.
pub(crate) fn translated(glob: &str) -> Result<String, String> {
    let glob = &*with_slashes(glob);
    if let Err(error) = Pattern::new(glob) {
        return Err(format!("at column {}, {}", error.pos + 1, error.msg));
    }
    let mut regex = r"\A".to_owned();
    let mut rest = glob;
    while let Some(first) = rest.chars().next() {
        // As in the crate `glob`.
        let (piece, length) = match first {
            '*' if rest == "**/" => (".*".to_owned(), 3),
            '*' if rest.starts_with("**/") => ("(?:.*/)?".to_owned(), 3),
            '*' if rest.starts_with("**") => (".*".to_owned(), 2),
            '*' => (".*".to_owned(), 1),
            '?' => (".".to_owned(), 1),
            '[' => class(rest)?,
            literal => (escaped(literal), literal.len_utf8()),
        };
        regex += &piece;
        rest = &rest[length..];
    }
    regex.push_str(r"\z");
    let begins = regex.strip_prefix(r"\A.*").unwrap_or(&regex);
    Ok(begins.strip_suffix(r".*\z").unwrap_or(begins).to_owned())
}

/// Translates the class with which the glob begins, and returns the class's length too. A `]` that comes first belongs to
/// the class.
fn class(glob: &str) -> Result<(String, usize), String> {
    let open = if glob.starts_with("[!") { "[!" } else { "[" };
    let inner = &glob[open.len()..];
    let close = inner.char_indices().skip(1).find(|(_, c)| *c == ']');
    let end = close.map_or(inner.len(), |(at, _)| at);
    let characters: Vec<char> = inner[..end].chars().collect();
    let mut class = open.replace('!', "^");
    let mut left = &characters[..];
    while let [first, rest @ ..] = left {
        let (last, behind) = match rest {
            ['-', last, behind @ ..] => (last, behind),
            _ => (first, rest),
        };
        if first > last {
            return Err(format!("the range `{first}-{last}` contains no character"));
        }
        class += &format!("{}-{}", escaped(*first), escaped(*last));
        left = behind;
    }
    Ok((class + "]", (open.len() + end + 1).min(glob.len())))
}

fn escaped(literal: char) -> String {
    regex::escape(literal.encode_utf8(&mut [0; 4]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn globs_match_as_in_event_patterns(
            glob in r"([a-c/\\.]|\*|\?|\[!?[a-c\]\\][^\]]{0,3}\]|\*\*/|/\*\*){0,8}",
            texts in prop::collection::vec(r"[a-c/\\.\n]{0,8}", 8),
        ) {
            let Ok(pattern) = Glob::new(&glob) else {
                return Ok(());
            };
            let Ok(translated) = translated(&glob) else {
                return Ok(());
            };
            let translated = format!("(?s){translated}");
            let compiled = regex::Regex::new(&translated).unwrap();
            for text in texts {
                let is_match = compiled.is_match(&with_slashes(&text));
                prop_assert_eq!(is_match, pattern.matches(&text), "{} {:?}", glob, text);
            }
        }
    }

    #[test]
    fn a_backslash_is_a_slash() {
        for (glob, text, expected) in [
            ("src/**/*.rs", r"src\a\b.rs", true),
            (r"src\**\*.rs", "src/a/b.rs", true),
            (r"C:\x\*", r"C:\x/a", true),
            (r"[!\]*", "/x", false),
            ("[+-1]x", r"\x", true),
            (r"a\*", "a*", false),
        ] {
            let is_match = Glob::new(glob).unwrap().matches(text);
            assert_eq!(is_match, expected, "{glob} {text}");
        }
    }
}
