//! Which of the host's environment variables a hook inherits.
//!
//! Knows names; does not read the environment.

/// A list of names in which `*` matches any characters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Inherit(Box<[String]>);

impl Inherit {
    pub(crate) fn new<I: IntoIterator<Item: Into<String>>>(names: I) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.0
    }

    /// Returns whether the list contains this variable. On Windows, case does not matter.
    pub(crate) fn covers(&self, variable: &str) -> bool {
        if cfg!(windows) {
            let variable = variable.to_uppercase();
            return self
                .0
                .iter()
                .any(|it| matches(&it.to_uppercase(), &variable));
        }
        self.0.iter().any(|it| matches(it, variable))
    }
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
            let inherit = Inherit::new([pattern]);
            for name in covered {
                assert!(inherit.covers(name), "{pattern} {name}");
            }
            for name in others {
                assert!(!inherit.covers(name), "{pattern} {name}");
            }
        }
        assert!(!Inherit::new([""; 0]).covers("A"));
    }
}
