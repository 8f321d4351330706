//! The host's environment variables that a hook inherits.
//!
//! Knows names. Does not read the environment.

/// Returns whether a list contains this variable. In the list, `*` matches any characters. On Windows, case does not
/// matter.
pub(crate) fn inherits(names: &[String], variable: &str) -> bool {
    names.iter().any(|name| {
        if cfg!(windows) {
            matches(&name.to_uppercase(), &variable.to_uppercase())
        } else {
            matches(name, variable)
        }
    })
}

/// Matches in linear time: each part between two stars is searched for once, and its first occurrence is used.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut left) = name.strip_prefix(first) else {
        return false;
    };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_characters() {
        for (pattern, covered, others) in [
            ("PATH", &["PATH"][..], &["PATHS", "MY_PATH", ""][..]),
            ("LC_*", &["LC_ALL", "LC_"], &["LC", "XLC_ALL"]),
            ("*_PROXY", &["HTTP_PROXY", "_PROXY"], &["HTTP_PROXY_X"]),
            ("*", &["A", ""], &[]),
            ("A*B*C", &["ABC", "AxBxBxC", "ABCC"], &["AB", "AC", "ACB"]),
            ("A*A", &["AA", "AxA"], &["A"]),
            ("**A**", &["A", "xAx"], &["B"]),
            ("", &[""], &["A"]),
        ] {
            let inherit = [pattern.to_owned()];
            for name in covered {
                assert!(inherits(&inherit, name), "{pattern} {name}");
            }
            for name in others {
                assert!(!inherits(&inherit, name), "{pattern} {name}");
            }
        }
        assert!(!inherits(&[], "A"));
    }
}
