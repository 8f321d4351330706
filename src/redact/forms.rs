//! Finds where a value ends, by its form: a string, a YAML block, brackets, a call, a bare word. Also works
//! within text that is itself in a string (`\"x\"`, `\n`). Knows nothing of names.

use std::ops::Range;

use super::names::{Lazy, pattern};

/// The number of bytes searched for an optional part, and for the end of a string on other lines.
const NEAR: usize = 256;
const FAR: usize = 4096;

/// The parts of a bare value besides letters: `a\ b`, `abc"def ghi"`, `it's`.
#[rustfmt::skip]
macro_rules! bare {
    ($stops:literal) => { pattern!(r#"^(?:[^"'`\\\r\n"#, $stops, r#"]|\\[ \t]?|["'`][^\s,;:)\]}>"'`\\][^"'`\r\n]*["'`]|'\w)*"#) };
}
pub(super) static LINE: Lazy = bare!("");
pub(super) static SETTING: Lazy = bare!(" \t");
pub(super) static WORD: Lazy = bare!(" \t&;|<>)");
/// `next()`, `env["X"]`, `Option<String>`: the value comes from another place.
pub(super) static CALL: Lazy = pattern!(
    r"^[A-Za-z_&!*.:]{2,}(?:\([^\r\n()]*(?:\([^\r\n()]*\)[^\r\n()]*)*\)|\[[^\r\n\]]*\]|<[^\r\n>]+>)"
);
static QUOTE: Lazy = pattern!(r#"^\\*["'`]"#);
static HEAD: Lazy =
    pattern!(r"^(?:[!&]\S+[ \t]+)*(?:[|>][-+0-9]*)?[ \t]*(?:#[^\r\n]*)?(?:\r?\n|\\n)");
static BLOCK_LINE: Lazy = pattern!(r"^[^\n]*");
static ESCAPED_LINE: Lazy = pattern!(r#"^(?:[^"\n\\]|\\[^n])*"#);
static MAPPING: Lazy = pattern!(r"^[^\r\n]*(?:: |:$|:\r|=)");

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
    &text[at..at + length_of(&QUOTE, near(text, at))]
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

/// The content of the string that opens at `at`, with one quote or three.
pub(super) fn string(text: &str, at: usize, lines: bool) -> Option<Range<usize>> {
    let quote = Some(quote(text, at)).filter(|quote| !quote.is_empty())?;
    let (start, triple) = (at + quote.len(), quote.repeat(3));
    let Some(inner) = text[at..].strip_prefix(&triple) else {
        return Some(start..string_end(text, start, quote, lines));
    };
    let start = at + triple.len();
    Some(start..start + inner.find(&triple).unwrap_or(inner.len()))
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

/// A YAML block (`|`, `>-`, `!tag |2`) or a plain value on the lines after its name: all lines that are
/// indented deeper than the line that ends with `before`.
pub(super) fn block(text: &str, start: usize, before: &str) -> Option<Range<usize>> {
    let head = &text[start..start + length_of(&HEAD, near(text, start))];
    let line_break = if head.ends_with("\\n") { "\\n" } else { "\n" };
    let named = before.rsplit(line_break).next().unwrap_or_default();
    let indent = named.len() - named.trim_start_matches([' ', '-']).len();
    let (mut at, mut block) = (start + head.len(), start..start);
    while !head.is_empty() && at < text.len() {
        let form = [&BLOCK_LINE, &ESCAPED_LINE][line_break.len() - 1];
        let line = &text[at..at + length_of(form, &text[at..])];
        let inner = line.trim_start_matches(' ');
        let first = at + line.len() - inner.len();
        let is_first = block.is_empty() && !head.contains(['|', '>']);
        let is_outside = first - at <= indent || is_first && length_of(&MAPPING, inner) > 0;
        if !inner.trim().is_empty() && is_outside {
            break;
        }
        if !inner.trim().is_empty() {
            let start = if block.is_empty() { first } else { block.start };
            block = start..first + inner.trim_end().len();
        }
        at += line.len() + line_break.len();
        if text.get(at - line_break.len()..at) != Some(line_break) {
            break;
        }
    }
    Some(block).filter(|block| !block.is_empty())
}
