//! Whether two globs can match the same path.

use std::cell::Cell;

/// The longest glob, in bytes, that is compared.
const LONGEST: usize = 4096;

/// A part of a glob.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Star,
    /// One character of several: `?` or a class.
    Any,
    One(char),
}

/// Returns whether there may be a path that both globs match. `*` matches `/` too. None if this takes more than `left` steps,
/// which are taken off.
pub(super) fn meets(one: &str, other: &str, left: &Cell<usize>) -> Option<bool> {
    if one.len().max(other.len()) > LONGEST {
        return None;
    }
    let (one, other) = (parts(one), parts(other));
    left.set(left.get().checked_sub(one.len() * other.len())?);
    // Each row is a position in `one`; an item tells whether both globs can stand there and at this position in `other`.
    let mut row = vec![false; other.len() + 1];
    row[0] = true;
    spread(&mut row, None, &other);
    for part in &one {
        let mut next = vec![false; other.len() + 1];
        if *part == Part::Star {
            next.clone_from(&row);
        }
        spread(&mut next, Some((*part, &row)), &other);
        row = next;
    }
    Some(row.last() == Some(&true))
}

/// Completes a row from the one before it, and from its own beginning.
fn spread(row: &mut [bool], before: Option<(Part, &[bool])>, other: &[Part]) {
    for (at, theirs) in other.iter().enumerate() {
        let reached = match before {
            // The star takes this character too.
            Some((Part::Star, _)) => row[at],
            Some((ours, before)) => match theirs {
                Part::Star => before[at] || before[at + 1],
                theirs => before[at] && is_common(ours, *theirs),
            },
            None => false,
        };
        let is_empty = *theirs == Part::Star && row[at];
        row[at + 1] |= reached || is_empty;
    }
}

fn is_common(one: Part, other: Part) -> bool {
    match (one, other) {
        (Part::One(one), Part::One(other)) => {
            one == other || one.to_lowercase().eq(other.to_lowercase())
        }
        _ => true,
    }
}

/// Returns the parts of a glob. `**/` matches nothing too, as one star.
fn parts(glob: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = glob;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '*' if rest.starts_with("**/") => 3,
            '[' => class(rest),
            first => first.len_utf8(),
        };
        parts.push(match first {
            '*' => Part::Star,
            '?' | '[' => Part::Any,
            first => Part::One(first),
        });
        rest = &rest[length..];
    }
    parts
}

/// Returns the length of the class at the beginning. A `]` that comes first belongs to it.
fn class(glob: &str) -> usize {
    let open = if glob.starts_with("[!") { 2 } else { 1 };
    let mut characters = glob[open..].char_indices().skip(1);
    let close = characters.find(|(_, c)| *c == ']');
    close.map_or(glob.len(), |(at, _)| open + at + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::globs::Glob;

    fn meet(one: &str, other: &str) -> bool {
        meets(one, other, &Cell::new(1_000)).unwrap()
    }

    #[test]
    fn globs_meet_where_a_path_matches_both() {
        for (one, other, expected) in [
            ("secrets/**", "secrets/*", true),
            ("secrets/**", "src/*", false),
            ("secrets/**", "*.key", true),
            ("**/.env", "src/**/*.rs", false),
            ("**/.env", "src/*.env", true),
            (".env", "**/.env", true),
            ("a/b", "a/b", true),
            ("a/b", "A/B", true),
            ("a/b", "a/c", false),
            ("a[bc]d", "a?d", true),
            ("a[]]d", "ad", false),
            ("", "*", true),
            ("", "?", false),
        ] {
            assert_eq!(meet(one, other), expected, "{one} {other}");
            assert_eq!(meet(other, one), expected, "{other} {one}");
        }
        assert_eq!(meets(&"a".repeat(5000), "b", &Cell::new(1_000_000)), None);
        let left = Cell::new(10);
        assert_eq!(meets("abc", "abc", &left), Some(true));
        assert_eq!(meets("abc", "abc", &left), None);
    }

    proptest! {
        #[test]
        fn a_path_that_both_match_is_a_meeting(
            globs in prop::collection::vec(r"([a-b/.]|\*|\?|\[!?[a-b]\]|\*\*/){0,6}", 2),
            texts in prop::collection::vec(r"[a-b/.]{0,6}", 32),
        ) {
            let (Ok(one), Ok(other)) = (Glob::new(&globs[0]), Glob::new(&globs[1])) else {
                return Ok(());
            };
            if texts.iter().any(|text| one.matches(text) && other.matches(text)) {
                prop_assert!(meet(&globs[0], &globs[1]), "{:?}", globs);
            }
        }
    }
}
