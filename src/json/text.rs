//! The first step of reading any JSON text, so that texts of all programs are read alike.
//!
//! Some programs write a byte order mark before a text (PowerShell), and half of a surrogate pair where they have cut a
//! string within a character (`JSON.stringify` in JavaScript, `json.dumps` in Python). RFC 8259 (sections 8.1 and 8.2) leaves
//! it to a reader whether it accepts both; `serde_json` refuses them.

use std::borrow::Cow;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::de::StrRead;
use serde_json::{Deserializer, StreamDeserializer};

/// Reads a JSON text.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    parse(&readable(text))
}

/// Reads a text that is [readable], or a part of one, such as the value of a key.
pub(crate) fn parse<'a, T: Deserialize<'a>>(readable: &'a str) -> serde_json::Result<T> {
    serde_json::from_str(readable)
}

/// Reads the values of a [readable] text, one after the other.
pub(crate) fn values<'a, T: Deserialize<'a>>(
    readable: &'a str,
) -> StreamDeserializer<'a, StrRead<'a>, T> {
    Deserializer::from_str(readable).into_iter()
}

/// A JSON text without a byte order mark before it, and with U+FFFD in place of each half of a surrogate pair. Apart from
/// the mark, all bytes keep their places.
#[derive(Debug)]
pub(crate) struct Readable<'a> {
    text: Cow<'a, str>,
    /// The bytes of the mark.
    pub(crate) skipped: usize,
}

impl Deref for Readable<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// Returns the text from which JSON is read.
pub(crate) fn readable(text: &str) -> Readable<'_> {
    let (text, skipped) = without_mark(text);
    let text = without_halves(text);
    Readable { text, skipped }
}

/// Returns the text after a byte order mark, and the length of the mark.
fn without_mark(text: &str) -> (&str, usize) {
    match text.strip_prefix('\u{FEFF}') {
        Some(text) => (text, '\u{FEFF}'.len_utf8()),
        None => (text, 0),
    }
}

/// The number of bytes of an escape such as `\ud83d`.
const ESCAPE: usize = 6;

/// Replaces each half of a surrogate pair by a text of the same length.
fn without_halves(text: &str) -> Cow<'_, str> {
    let mut replaced = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(offset) = text[at..].find('\\') {
        at += offset;
        match surrogate_at(text, at) {
            None => at += after_backslash(text, at),
            Some(Half::First) if surrogate_at(text, at + ESCAPE) == Some(Half::Second) => {
                at += 2 * ESCAPE;
            }
            Some(_) => {
                replaced.push_str(&text[copied..at]);
                replaced.push_str("\\ufffd");
                at += ESCAPE;
                copied = at;
            }
        }
    }
    if copied == 0 {
        return text.into();
    }
    replaced.push_str(&text[copied..]);
    replaced.into()
}

/// Returns the bytes of a backslash and the character after it, which may be a backslash.
fn after_backslash(text: &str, at: usize) -> usize {
    let next = text[at + 1..].chars().next();
    1 + next.map_or(0, char::len_utf8)
}

#[derive(PartialEq, Eq)]
enum Half {
    First,
    Second,
}

/// Returns the half of a pair that is escaped at this place, if there is one.
fn surrogate_at(text: &str, at: usize) -> Option<Half> {
    let digits = text.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    match u32::from_str_radix(digits, 16).ok()? {
        0xD800..=0xDBFF => Some(Half::First),
        0xDC00..=0xDFFF => Some(Half::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn each_run_is_read_in_linear_time() {
        crate::growth::assert_reads_in_linear_time("JSON", |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let _ = read::<Value>(&text);
        });
    }

    #[test]
    fn marks_are_skipped_and_halves_are_replaced() {
        for (text, expected) in [
            ("\u{FEFF}{}", "{}"),
            ("\u{FEFF}\u{FEFF}{}", "\u{FEFF}{}"),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\uD83D""#, r#""\ufffd""#),
            (r#""a\ude00b""#, r#""a\ufffdb""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud83d\n""#, r#""\ufffd\n""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\ud83""#, r#""\ud83""#),
            (r#""\u+83d""#, r#""\u+83d""#),
            ("\\", "\\"),
            ("\\ä\\ud83d", "\\ä\\ufffd"),
            ("\\ud83ä", "\\ud83ä"),
        ] {
            assert_eq!(&*readable(text), expected, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_string_of_escapes_is_read(units in proptest::collection::vec(any::<u16>(), 0..12)) {
            let escaped: String = units.iter().map(|unit| format!("\\u{unit:04X}")).collect();
            let expected = String::from_utf16_lossy(&units);
            prop_assert_eq!(read::<Value>(&format!("\"{escaped}\"")).unwrap(), expected);
        }

        #[test]
        fn bytes_keep_their_places(text in "[\\\\uUdD89abcdeEfF0\"ä]{0,24}") {
            let read = readable(&text);
            prop_assert_eq!(read.len(), text.len());
            for (at, c) in text.char_indices() {
                prop_assert!(read.is_char_boundary(at), "{}: {}", text, c);
            }
        }
    }
}
