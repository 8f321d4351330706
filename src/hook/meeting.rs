//! The test whether two globs can match the same path.

use std::cell::Cell;

/// The longest glob, in bytes, that is compared.
const LONGEST: usize = 4096;

/// Stands for a star of a shell in a glob.
pub(super) const STAR_OF_NAME: char = '\u{1}';

/// A part of a glob.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Star,
    /// A star of a shell: neither `/`, nor a dot at the beginning of a name.
    OfName,
    /// `**/`: nothing, or names with a slash behind each.
    Directories,
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
    // Most pairs begin in different directories, which takes no steps.
    let Some(same) = common(&one, &other) else {
        return Some(false);
    };
    let (one, other) = (&one[same..], &other[same..]);
    left.set(left.get().checked_sub(one.len() * other.len())?);
    // Each row is a position in `one`; an item tells whether both globs can stand there and at this position in `other`.
    let mut row = vec![false; other.len() + 1];
    row[0] = true;
    spread(&mut row, None, other);
    for part in one {
        let mut next = vec![false; other.len() + 1];
        if matches!(part, Part::Star | Part::Directories) {
            next.clone_from(&row);
        }
        spread(&mut next, Some((*part, &row)), other);
        if *part == Part::Directories {
            for (at, theirs) in other.iter().enumerate() {
                let is_in_name = match theirs {
                    Part::OfName => true,
                    Part::One(c) => *c != '/',
                    _ => false,
                };
                next[at + 1] &= row[at + 1] || !is_in_name;
            }
        }
        row = next;
    }
    Some(row.last() == Some(&true))
}

/// Returns the number of characters of the directory in which both begin. None if they differ in a character before any
/// mark.
fn common(one: &[Part], other: &[Part]) -> Option<usize> {
    let mut pairs = one.iter().zip(other);
    let is_mark =
        |(ours, theirs): &(&Part, &Part)| !matches!((ours, theirs), (Part::One(_), Part::One(_)));
    let end = pairs.position(|pair| is_mark(&pair) || !is_common(*pair.0, *pair.1));
    let length = match end {
        None => one.len().min(other.len()),
        Some(at) if is_mark(&(&one[at], &other[at])) => at,
        Some(_) => return None,
    };
    let slash = one[..length]
        .iter()
        .rposition(|part| *part == Part::One('/'));
    Some(slash.map_or(0, |slash| slash + 1))
}

/// Completes a row from the one before it, and from its own beginning.
fn spread(row: &mut [bool], before: Option<(Part, &[bool])>, other: &[Part]) {
    // True if a part begins here, and does not go on from before.
    let mut begins = row[0];
    for (at, theirs) in other.iter().enumerate() {
        let reached = match before {
            // The star takes this character too.
            Some((Part::Star | Part::Directories, _)) => row[at],
            Some((ours, before)) => match theirs {
                Part::Star => before[at] || before[at + 1],
                // It ends behind a slash alone.
                Part::Directories => before[at] && matches!(ours, Part::One('/') | Part::Any),
                Part::OfName => {
                    let begins = before[at] && !(begins_name(other, at) && ours == Part::One('.'));
                    (begins || before[at + 1]) && ours != Part::One('/')
                }
                theirs => before[at] && is_common(ours, *theirs),
            },
            None => false,
        };
        let may_be_empty = match theirs {
            Part::Star | Part::Directories => true,
            // `*` is no empty name, and `*.x` no name that begins with a dot.
            Part::OfName if begins_name(other, at) => {
                !matches!(other.get(at + 1), None | Some(Part::One('.' | '/')))
            }
            theirs => *theirs == Part::OfName,
        };
        let is_empty = may_be_empty && begins;
        if let (Part::Directories, Some((Part::One(_) | Part::Any, before))) = (theirs, before) {
            row[at] |= before[at];
        }
        begins = row[at + 1] || reached || is_empty;
        row[at + 1] = begins;
    }
}

/// Returns whether a name begins with a part.
fn begins_name(parts: &[Part], at: usize) -> bool {
    at == 0 || parts[at - 1] == Part::One('/')
}

fn is_common(one: Part, other: Part) -> bool {
    match (one, other) {
        (Part::One(one), Part::One(other)) => {
            one == other || one.to_lowercase().eq(other.to_lowercase())
        }
        _ => true,
    }
}

/// Returns the parts of a glob.
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
            // At the end it stands for all that is below.
            '*' if length == 3 && rest.len() > 3 => Part::Directories,
            '*' => Part::Star,
            STAR_OF_NAME => Part::OfName,
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
    fn a_star_of_a_shell_stays_within_a_name() {
        for (one, other, expected) in [
            ("secrets/**", "\u{1}.key", false),
            ("**/.env", "\u{1}", false),
            ("**/.env", ".e\u{1}", true),
            ("**/*.lock", "a/\u{1}", true),
            ("**/.env", "\u{1}/.env", true),
            ("a.b", "a\u{1}b", true),
            ("a/x", "a\u{1}", false),
            ("b/.env", "b/\u{1}.env", false),
            ("env", "\u{1}env", true),
            ("*.pfx", "a/**/x", false),
            ("*.pfx", "a/**/x.pfx", true),
            ("a/b/c.d", "a/**/c.\u{1}", true),
            ("a/c.d", "a/**/c.\u{1}", true),
            ("ab", "ab\u{1}", true),
        ] {
            assert_eq!(meet(one, other), expected, "{one} {other}");
        }
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
        assert_eq!(meets("d/*bc", "d/abc", &left), Some(true));
        assert_eq!(meets("d/*bc", "d/abc", &left), None);
        // Globs in different directories take no steps.
        assert_eq!(meets("src/*bc", "abc/**", &left), Some(false));
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
