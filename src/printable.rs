//! Makes text safe to show to people. The result has no character that controls a terminal, changes the order of the text or
//! is invisible.
//!
//! All output for people uses this one rule. Does not know the meaning of the text.

use std::borrow::Cow;

/// Unicode's property Default_Ignorable_Code_Point: characters that fonts do not show. From
/// DerivedCoreProperties.txt of Unicode 16.0. U+061C, U+200E, U+200F, U+202A to U+202E and U+2066 to
/// U+2069 are all characters of Bidi_Control (PropList.txt).
fn is_default_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{AD}'
            | '\u{34F}'
            | '\u{61C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFF8}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// Returns whether [`printable`] leaves a character unchanged.
///
/// Not printable are: control characters except the tab; line and paragraph separators (U+2028, U+2029);
/// and the characters that Unicode calls default-ignorable, such as zero-width characters, soft hyphens,
/// variation selectors, tag characters, and characters that change the direction of text.
#[must_use]
pub(crate) fn is_printable(c: char) -> bool {
    // Nearly all text is of these characters, and `fire` prints each of them.
    if matches!(c, ' '..='~' | '\t') {
        return true;
    }
    let breaks_line = matches!(c, '\u{2028}' | '\u{2029}');
    !(c.is_control() || breaks_line || is_default_ignorable(c))
}

/// Returns a text in one line that is safe to show to people.
///
/// Each character that is not printable, including line breaks, is replaced by an escape.
///
/// Names, commands, reasons and output of hooks come from files and programs of other authors. On a terminal
/// they could hide or forge the text that a person uses to decide. A host that prints them should call this
/// function first.
///
/// An emoji that consists of several characters loses its joiners. A text in a script that needs joiners
/// (U+200C, U+200D) shows them as escapes.
///
/// ```
/// use forge_hooks::printable;
///
/// assert_eq!(printable("größe\t道具"), "größe\t道具");
/// assert_eq!(printable("rm\u{200b} x\n\u{1b}[2J"), r"rm\u{200b} x\n\u{1b}[2J");
/// ```
#[must_use]
pub fn printable(text: &str) -> String {
    let mut display = String::with_capacity(text.len());
    for c in text.chars() {
        if is_printable(c) {
            display.push(c);
        } else {
            display.extend(c.escape_default());
        }
    }
    display
}

/// The most characters of a text of another author that a message repeats.
const LONGEST_QUOTE: usize = 80;

/// Returns the beginning of a text that a message repeats.
pub(crate) fn beginning(text: &str) -> &str {
    match text.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Returns the beginning of a text that a message repeats, with a mark if the text is longer.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    match beginning(text) {
        part if part.len() < text.len() => format!("{part}…").into(),
        whole => whole.into(),
    }
}

/// Returns a text with at most this many characters. If it has more, a note with their number replaces the rest.
pub(crate) fn limited(text: &str, most: usize) -> Cow<'_, str> {
    // A character has at least one byte.
    if text.len() <= most {
        return text.into();
    }
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text.into();
    };
    let (part, rest) = text.split_at(end);
    format!(
        "{part} [... {} more characters]",
        grouped(rest.chars().count())
    )
    .into()
}

/// Returns a number with a comma before each group of three digits.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups = groups.map(|group| String::from_utf8_lossy(group));
    groups.collect::<Vec<_>>().join(",")
}

/// Returns the JSON in a form that is safe to show: each character that is not [printable](is_printable) is replaced by a
/// `\u` escape, except for line breaks between the values.
#[must_use]
pub(crate) fn printable_json(json: &str) -> String {
    let mut display = String::with_capacity(json.len());
    for c in json.chars() {
        // A line break within a string is already an escape.
        if c == '\n' || is_printable(c) {
            display.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            display.push_str(&format!("\\u{unit:04x}"));
        }
    }
    display
}

/// Returns a text of several lines that is safe to show: line breaks stay, and `\r\n` becomes `\n`.
///
/// ```
/// assert_eq!(forge_hooks::printable_lines("one\r\ntwo\u{7}"), "one\ntwo\\u{7}");
/// ```
#[must_use]
pub fn printable_lines(text: &str) -> String {
    let lines = text.split('\n');
    let lines = lines.map(|line| printable(line.strip_suffix('\r').unwrap_or(line)));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    #[test]
    fn each_run_is_read_in_linear_time() {
        crate::growth::assert_reads_in_linear_time("a text for people", |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let _ = printable(&text);
            let _ = printable_lines(&text);
        });
    }

    #[test]
    fn hidden_characters_are_escaped() {
        let cases = [
            ("plain\ttext, ä→☃", "plain\ttext, ä→☃"),
            ("\x1b[31mred\x07", "\\u{1b}[31mred\\u{7}"),
            ("a\r\nb", "a\\r\\nb"),
            ("\u{9b}2J\u{202e}x", "\\u{9b}2J\\u{202e}x"),
            (
                "a\u{ad}\u{2028}\u{fe0f}\u{e0041}",
                "a\\u{ad}\\u{2028}\\u{fe0f}\\u{e0041}",
            ),
        ];
        for (given, expected) in cases {
            assert_eq!(printable(given), expected);
            assert_eq!(printable(expected), expected);
        }
        assert_eq!(printable_lines("a\n\n\rb\r\r\n"), "a\n\n\\rb\\r\n");
    }

    #[test]
    fn a_limit_counts_characters_and_says_how_many_are_missing() {
        let cases = [
            ("", 1, ""),
            ("äöü", 3, "äöü"),
            ("äöü", 2, "äö [... 1 more characters]"),
            (&"x".repeat(1001), 1, "x [... 1,000 more characters]"),
            (
                &"x".repeat(1_234_567),
                0,
                " [... 1,234,567 more characters]",
            ),
        ];
        for (given, most, expected) in cases {
            assert_eq!(limited(given, most), expected);
        }
    }

    #[test]
    fn printable_follows_unicode() {
        let hidden = r"[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]+";
        let all: String = ('\0'..=char::MAX).collect();
        // One search for all characters: a search for each takes long without optimization.
        let pattern = Regex::new(hidden).unwrap();
        let hidden_runs = pattern.find_iter(&all).flat_map(|run| run.as_str().chars());
        let expected: Vec<char> = hidden_runs.filter(|c| *c != '\t').collect();
        let hidden: Vec<char> = all.chars().filter(|c| !is_printable(*c)).collect();
        assert_eq!(hidden, expected);
    }
}
