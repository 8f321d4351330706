//! An upper limit for the memory that an expression takes when it is compiled, found without compiling it.
//!
//! Compiling takes about thirty times as long as this, and a program that fires one event never tests most conditions. The
//! numbers are above those of the crate `regex-automata`; if one were too small, the condition would fail when it is first
//! tested, and its hook with it.

use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind, Repetition};
use regex_syntax::utf8::Utf8Sequences;

use super::forms::System;

/// The most bytes of a state with one transition.
const STATE: usize = 48;

/// The most states that any compiled expression has in addition.
const AROUND: usize = 8;

/// The most states of a `.` that matches line ends too.
const DOT: usize = 40;

/// The most states of a literal byte whose case does not matter: a letter has up to four forms of up to three bytes.
const WITHOUT_CASE: usize = 12;

/// Returns the most bytes that a regular expression takes; None if it is not one.
pub(super) fn most_bytes(expression: &str) -> Option<usize> {
    let parsed = regex_syntax::parse(expression).ok()?;
    Some(bytes(states(&parsed)))
}

/// Returns the most bytes that a glob without classes takes, from its regular expression.
pub(super) fn most_bytes_of_glob(expression: &str) -> usize {
    let literal = if System::NATIVE.ignores_case() {
        WITHOUT_CASE
    } else {
        1
    };
    let states = |byte| if byte == b'.' { DOT } else { literal };
    bytes(expression.bytes().map(states).sum())
}

fn bytes(states: usize) -> usize {
    states.saturating_add(AROUND).saturating_mul(STATE)
}

/// The nesting of an expression is limited by the parser.
fn states(expression: &Hir) -> usize {
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        // Alternatives of literals may share a state for each byte, with a branch each.
        HirKind::Literal(literal) => 2 * literal.0.len(),
        HirKind::Class(Class::Bytes(class)) => 1 + class.ranges().len(),
        HirKind::Class(Class::Unicode(class)) => 1 + states_of_class(class),
        HirKind::Repetition(repetition) => states_of_repetition(repetition),
        HirKind::Capture(capture) => states(&capture.sub).saturating_add(2),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts
            .iter()
            .fold(1, |sum, part| sum.saturating_add(states(part) + 1)),
    }
}

/// Returns half the number of ranges of bytes of the class: they share states, and those of large classes share four times
/// as many.
fn states_of_class(class: &ClassUnicode) -> usize {
    let ranges = class.ranges().iter();
    let bytes: usize = ranges
        .flat_map(|range| Utf8Sequences::new(range.start(), range.end()))
        .map(|sequence| sequence.len() + 1)
        .sum();
    bytes / 2 + 4
}

fn states_of_repetition(repetition: &Repetition) -> usize {
    let copies = repetition.max.unwrap_or(repetition.min).max(1) as usize;
    let copy = states(&repetition.sub).saturating_add(2);
    copy.saturating_mul(copies).saturating_add(2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::RegexBuilder;

    use super::*;
    use crate::globs::translated;

    /// Returns whether an expression can be compiled in this size.
    fn fits(expression: &str, size: usize) -> bool {
        let mut builder = RegexBuilder::new(expression);
        builder.size_limit(size).build().is_ok()
    }

    #[test]
    fn compiled_expressions_take_no_more() {
        for expression in [
            "",
            "a",
            r"\bsudo\b",
            r"\w",
            r"\w+@\w+\.com",
            r"(?i)password|secret|token",
            r"(?i)[a-zäöüß]{3,9}k",
            r"\s*(git|hg)\s+push\b.*--force",
            r"^(?:a|ab|abc|b|bc|c){2,20}$",
            r"(?-u:\w)+",
            r"[^\x00-\x7f]{4}",
            r"((((a?)?)?)?)*",
            r"(?:){100}",
            r".{10}",
            r"\d{1,3}(?:\.\d{1,3}){3}",
        ] {
            let most = most_bytes(expression).unwrap();
            assert!(fits(expression, most), "{expression}: {most}");
        }
        assert_eq!(most_bytes("a("), None);
        assert_eq!(
            most_bytes(r"\w{2000}").map(|most| most > 1 << 20),
            Some(true)
        );
        assert_eq!(
            most_bytes("(?:a{1000}){1000}").map(|most| most > 1 << 20),
            Some(true)
        );
    }

    #[test]
    fn ordinary_conditions_take_little() {
        let sudo = most_bytes(r"\bsudo\b").unwrap();
        assert!(sudo < 2048, "{sudo}");
        let glob = most_bytes_of_glob(&translated("src/**/*.rs").unwrap());
        // On Windows, a separator has two forms.
        assert!(glob < 20 * 1024, "{glob}");
    }

    proptest! {
        #[test]
        fn no_expression_takes_more(
            expression in r"(\(\?i\))?([a-cäß-][*+?]?|\[\^?[a-z]-[z-ÿ]\]|\\[wdsb]|\.\{[0-9]\}|\(\|?[ab|]{0,5}\)(\{[1-4],[4-9]?\})?){0,12}",
            globs in "[a-cä*?./ +{}()-]{0,20}",
        ) {
            if let Some(most) = most_bytes(&expression) {
                prop_assert!(fits(&expression, most), "{}: {}", expression, most);
            }
            if let Ok(glob) = translated(&globs) {
                let glob = format!("(?s{}){glob}", if System::NATIVE.ignores_case() { "i" } else { "" });
                let most = most_bytes_of_glob(&glob);
                prop_assert!(fits(&glob, most), "{}: {}", glob, most);
            }
        }
    }
}
