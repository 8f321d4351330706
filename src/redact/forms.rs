//! Finds where a value ends, by its form: a string, brackets, a bare word. Also works within text that is itself
//! in a string (`\"x\"`). Decides which values are not secrets. Knows nothing of names.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// A pattern that is compiled when it is first used. Tests show that all compile.
pub(super) type Lazy = LazyLock<Option<Regex>>;

macro_rules! pattern {
    ($($pattern:expr),+) => { $crate::redact::forms::Lazy::new(|| regex::Regex::new(concat!($($pattern),+)).ok()) };
}
pub(super) use pattern;

/// The number of bytes searched for an optional part, and for the end of a string on other lines.
const NEAR: usize = 512;
const FAR: usize = 4096;

/// The parts of a bare value besides letters: `a\ b`, `abc"def ghi"`, `it's`.
macro_rules! bare {
    ($stops:literal) => {
        pattern!(
            r#"^(?:[^"'`\\\r\n"#,
            $stops,
            r#"]|\\[ \t]?|["'`][^\s,;:)\]}>"'`\\][^"'`\r\n]*["'`]|'\w)*"#
        )
    };
}
pub(super) static LINE: Lazy = bare!("");
pub(super) static SETTING: Lazy = bare!(" \t");
pub(super) static WORD: Lazy = bare!(" \t&;|<>)");

/// `$TOKEN`, `${TOKEN}`, `%TOKEN%`, `!TOKEN!`, `{{ token }}`, `<token>`: the value comes from another place.
static REFERENCE: Lazy = pattern!(r"^(?:\$\w+|\$\{[\w.:-]+\}|%\w+%|!\w+!|\{\{.*\}\}|<.*>)$");
/// `$(cat token)`, `${{ secrets.TOKEN }}`, `process.env.TOKEN`
static ELSEWHERE: Lazy = pattern!(r"^(?:\$\(|\$\{\{|\$env:|process\.env|import\.meta\.env)");
/// A mask, or no letter and no digit.
static EMPTY: Lazy =
    pattern!(r#"^(?:[*.]*|\s*|[!-/:-@\[-`{-~]{1,3}|\s*\[redacted\][)\]},;"'`\\]*\s*)$"#);
static NUMBER: Lazy = pattern!("^[0-9][0-9.,_/]*[kKM%]?$");
/// Words that only say whether there is a secret, or of which type it is.
const PLAIN: &str = "null none nil undefined true false yes no on off enabled disabled required optional all any \
    basic bearer digest str &str string bool boolean int integer number bytes u8 u16 u32 u64 usize i8 i16 i32 i64 \
    isize void unknown";

pub(super) fn is_secret(value: &str) -> bool {
    let not_secret = [&REFERENCE, &ELSEWHERE, &EMPTY];
    !is_one_of(PLAIN, value) && !not_secret.iter().any(|pattern| matches(pattern, value))
}

/// Whether a word is in a list, whose words are separated by blanks.
pub(super) fn is_one_of(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one.eq_ignore_ascii_case(word))
}

/// `12`, `1,234`, `45.2%`: a count.
pub(super) fn is_number(value: &str) -> bool {
    matches(&NUMBER, value)
}

/// Words with what belongs to each, by their first byte.
pub(super) struct ByFirstByte<T>(Vec<Vec<(&'static str, T)>>);

impl<T: Copy> ByFirstByte<T> {
    /// The words of a row are separated by blanks.
    pub(super) fn new(rows: impl Iterator<Item = (&'static str, T)>) -> Self {
        let mut all = vec![Vec::new(); 256];
        for (words, value) in rows {
            let words = words.split(' ');
            words.for_each(|word| all[usize::from(word.as_bytes()[0])].push((word, value)));
        }
        Self(all)
    }

    pub(super) fn get(&self, byte: u8) -> &[(&'static str, T)] {
        &self.0[usize::from(byte)]
    }
}

/// Which bytes are letters, digits or one of these signs.
pub(super) const fn class(signs: &[u8]) -> [bool; 256] {
    let (mut class, mut at) = ([false; 256], 0);
    while at < 128 {
        class[at] = (at as u8).is_ascii_alphanumeric();
        at += 1;
    }
    at = 0;
    while at < signs.len() {
        class[signs[at] as usize] = true;
        at += 1;
    }
    class
}

pub(super) fn matches(pattern: &Lazy, text: &str) -> bool {
    pattern.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// The length of the match at the beginning of this text.
pub(super) fn length_of(pattern: &Lazy, text: &str) -> usize {
    let found = pattern.as_ref().and_then(|pattern| pattern.find(text));
    found.map_or(0, |found| found.len())
}

pub(super) fn char_boundary(text: &str, at: usize) -> usize {
    let boundary = (at..text.len()).find(|at| text.is_char_boundary(*at));
    boundary.unwrap_or(text.len())
}

/// A short piece of the text, from here on.
pub(super) fn near(text: &str, start: usize) -> &str {
    &text[start..char_boundary(text, start + NEAR)]
}

/// The quote at `at`, including the backslashes that escape it within another string: `"`, `\"`.
pub(super) fn quote(text: &str, at: usize) -> &str {
    let rest = &text[at..char_boundary(text, at + 64)];
    let escapes = rest.len() - rest.trim_start_matches('\\').len();
    let is_quote = rest[escapes..].starts_with(['"', '\'', '`']);
    &rest[..if is_quote { escapes + 1 } else { 0 }]
}

/// The end of the string that begins at `start`: before its closing quote, or at the end of the line.
pub(super) fn string_end(text: &str, start: usize, quote: &str, lines: bool) -> usize {
    let (rest, escapes) = (&text.as_bytes()[start..], quote.len() - 1);
    let mut line = None;
    for (at, byte) in rest.iter().enumerate() {
        if matches!(byte, b'\n' | b'\r') {
            line = line.or(Some(start + at));
        }
        if line.is_some() && (!lines || at > FAR) {
            break;
        }
        let before = rest[..at].iter().rev().take(64);
        let found = before.take_while(|byte| **byte == b'\\').count();
        let is_even = escapes == 0 && found % 2 == 0;
        if quote.as_bytes()[escapes] == *byte && (found == escapes || is_even) {
            return start + at - escapes;
        }
    }
    line.unwrap_or(text.len())
}

/// The content of the string that opens at `at`.
pub(super) fn string(text: &str, at: usize, lines: bool) -> Option<Range<usize>> {
    let quote = Some(quote(text, at)).filter(|quote| !quote.is_empty())?;
    let start = at + quote.len();
    Some(start..string_end(text, start, quote, lines))
}

/// The position after the bracket that closes the one at `open`, or the end of the text.
pub(super) fn bracket_end(text: &str, open: usize) -> usize {
    let (mut at, mut depth) = (open, 0_usize);
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            b'"' | b'\\' => {
                let escapes = quote(text, at).len().saturating_sub(1);
                at = string(text, at, false).map_or(at, |string| string.end + escapes);
            }
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}
