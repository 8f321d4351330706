//! Globs of patterns, conditions and `inputs`: `*`, `?`, `[...]` and `**`. In a glob, and in the text that it is compared
//! with, `\` counts as `/` on every system: a hooks file is shared, and paths may come from Windows.
//!
//! The crate `glob` compares the text after a `*` at each character of the rest. That is fast enough for names of tools, but
//! the values of conditions are longer: it can take seconds. Their globs therefore become regular expressions.

use std::borrow::Cow;

use glob::{Pattern, PatternError};
use regex::{Regex, RegexBuilder};

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

/// A glob for paths of files: `*` and `?` do not match `/`, and neither does a class.
#[derive(Debug, Clone)]
pub(crate) struct PathGlob(Regex);

impl PathGlob {
    /// Compiles a glob. Returns None if the text is not a valid glob, or is too long.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let regex = translation(text, Star::OfNames).ok()?;
        let regex = RegexBuilder::new(&regex).dot_matches_new_line(true).build();
        regex.ok().map(Self)
    }

    pub(crate) fn matches(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}

/// The characters that `*`, `?` and classes match.
#[derive(Clone, Copy, PartialEq)]
enum Star {
    All,
    OfNames,
}

/// Returns a text with `/` in place of each `\`.
pub(crate) fn with_slashes(text: &str) -> Cow<'_, str> {
    if text.contains('\\') {
        text.replace('\\', "/").into()
    } else {
        text.into()
    }
}

/// Returns a regular expression that matches the whole text, given [with slashes](with_slashes). A `*` at the beginning
/// or the end is left out, so that a search does not have to read that part.
///
/// # Errors
/// A fragment that names the place of the mistake, and the reason why the glob is not valid.
pub(crate) fn translated(glob: &str) -> Result<String, String> {
    let regex = translation(&with_slashes(glob), Star::All)?;
    let begins = regex.strip_prefix(r"\A.*").unwrap_or(&regex);
    Ok(begins.strip_suffix(r".*\z").unwrap_or(begins).to_owned())
}

fn translation(glob: &str, star: Star) -> Result<String, String> {
    if let Err(error) = Pattern::new(glob) {
        return Err(format!("at column {}, {}", error.pos + 1, error.msg));
    }
    let mut regex = r"\A".to_owned();
    let mut rest = glob;
    while let Some(first) = rest.chars().next() {
        // These rules are those of the crate `glob`.
        let (piece, length) = match first {
            '*' if rest == "**/" => (".*".to_owned(), 3),
            '*' if rest.starts_with("**/") => ("(?:.*/)?".to_owned(), 3),
            '*' if rest.starts_with("**") => (".*".to_owned(), 2),
            '*' if star == Star::OfNames => ("[^/]*".to_owned(), 1),
            '*' => (".*".to_owned(), 1),
            '?' if star == Star::OfNames => ("[^/]".to_owned(), 1),
            '?' => (".".to_owned(), 1),
            '[' if star == Star::OfNames => {
                let (class, length) = class(rest)?;
                (format!("[{class}&&[^/]]"), length)
            }
            '[' => class(rest)?,
            literal => (escaped(literal), literal.len_utf8()),
        };
        regex += &piece;
        rest = &rest[length..];
    }
    regex.push_str(r"\z");
    Ok(regex)
}

/// Translates the class at the beginning of the glob. Returns the class's length too. A `]` that comes first belongs to the
/// class.
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

    #[test]
    fn each_run_is_read_in_linear_time() {
        crate::growth::assert_reads_in_linear_time("a glob", |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let _ = Glob::new(&text).map(|glob| glob.matches("a/b/c"));
            let _ = translated(&text);
        });
    }

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

    proptest! {
        #[test]
        fn globs_of_paths_match_as_those_of_the_crate(
            glob in r"([a-c/.]|\*|\?|\[!?[a-c\]][^\]/]{0,3}\]|\*\*/|/\*\*){0,8}",
            texts in prop::collection::vec(r"[a-c/.\n]{0,8}", 8),
        ) {
            let options = glob::MatchOptions {
                require_literal_separator: true,
                ..glob::MatchOptions::new()
            };
            let pattern = Pattern::new(&glob);
            let ours = PathGlob::new(&glob);
            // For `ours`, a range without a character is an error.
            prop_assert!(pattern.is_ok() || ours.is_none(), "{}", glob);
            if let (Ok(pattern), Some(ours)) = (pattern, ours) {
                for text in texts {
                    let expected = pattern.matches_with(&text, options);
                    prop_assert_eq!(ours.matches(&text), expected, "{} {:?}", glob, text);
                }
            }
        }
    }

    #[test]
    fn many_stars_take_linear_time() {
        let glob = PathGlob::new(&("*a".repeat(100) + "b/x")).unwrap();
        assert!(!glob.matches(&("a".repeat(250) + "/x")));
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
