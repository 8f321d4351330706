//! One condition of a hook's `when`: globs or a regular expression, compiled and tested against a string.
//!
//! Knows nothing of events.

use std::borrow::Cow;
use std::fmt;
use std::ops::DerefMut;
use std::sync::OnceLock;

use regex::{Regex, RegexBuilder, bytes};
use serde_json::{Value, json};

use super::error::HookError;
use super::globs::{self, translated};
use super::keys::{BACKSPACE, key_error, kind, unexpected, wrong_type};
use crate::printable::shortened;

/// The most bytes of an expression. A longer one would compile to more than `LARGEST`.
const LONGEST: usize = 64 * 1024;

/// The most bytes that a compiled expression may take.
const LARGEST: usize = 1024 * 1024;

/// The most bytes that all compiled expressions of a file may take together.
const LARGEST_TOGETHER: usize = 16 * LARGEST;

/// The first size limit that is tried. Most expressions need no more.
const SMALLEST: usize = 1024;

/// The most bytes of the states that a search creates while it runs.
const LARGEST_CACHE: usize = 256 * 1024;

/// The longest value, in bytes, that is searched. A search takes time, during which the host waits.
const LONGEST_VALUE: usize = 64 * 1024;

/// The same for a large expression: the worst ones visit all their states at each byte, which takes 92 ms here
/// (`a(?:[ab]|\b|\B){25}c`).
const LONGEST_FOR_LARGE: usize = 1024;

/// The most bytes of an expression that is not large, and of any expression, compiled for ASCII only: of a Unicode
/// class, however large, few states are visited.
const SMALL_ASCII: usize = 4 * 1024;
const LARGEST_ASCII: usize = 256 * 1024;

/// A condition on a string of an event's data; see [`Hook::with_when`](crate::Hook::with_when).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition {
    /// A glob that matches the whole string, with `*`, `?` and `[...]` as in patterns of events.
    Glob(String),
    /// At least one of these globs matches.
    OneOf(Vec<String>),
    /// A regular expression, in the syntax of the crate `regex`, that matches somewhere in the string.
    /// `\w`, `\d`, `\s` and letter case follow Unicode; `\p{..}` is not supported.
    Regex(String),
}

/// The number of bytes that further compiled expressions may take.
#[derive(Debug)]
pub(crate) struct Allowance(usize);

impl Default for Allowance {
    fn default() -> Self {
        Self(LARGEST_TOGETHER)
    }
}

/// Refuses what `"\b"` is in JSON: the expression would never match.
fn check_backspace(key: &str, text: &str) -> Result<(), HookError> {
    match text.contains('\u{8}') {
        true => Err(key_error(key, BACKSPACE)),
        false => Ok(()),
    }
}

/// The reason why an expression was not compiled.
#[derive(Debug, PartialEq)]
pub(super) enum Refused {
    /// The expression cannot be used, with the reason.
    Invalid(Box<str>),
    /// The other expressions have used the whole allowance.
    NothingLeft,
}

impl Condition {
    /// Reads a condition from JSON. Errors contain the key.
    pub(super) fn read(key: &str, value: &Value) -> Result<Self, HookError> {
        let condition = match value {
            Value::String(glob) => Self::Glob(glob.clone()),
            Value::Array(items) => Self::OneOf(list_of_globs(key, items)?),
            Value::Object(members) => match members.get("regex") {
                Some(Value::String(text)) if members.len() == 1 => {
                    check_backspace(key, text)?;
                    Self::Regex(text.clone())
                }
                Some(other) if members.len() == 1 => {
                    let found = format!("{} in `regex`", kind(other));
                    return Err(unexpected(key, EXPECTED, found));
                }
                _ => return Err(unexpected(key, EXPECTED, "an object with other keys")),
            },
            other => return Err(wrong_type(key, EXPECTED, other)),
        };
        condition.check_globs(key)?;
        Ok(condition)
    }

    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Glob(glob) => json!(glob),
            Self::OneOf(globs) => json!(globs),
            Self::Regex(text) => json!({"regex": text}),
        }
    }

    pub(super) fn check_globs(&self, key: &str) -> Result<(), HookError> {
        match self {
            Self::Glob(glob) => check_glob(key, glob),
            Self::OneOf(globs) if globs.is_empty() => Err(unexpected(
                key,
                "at least one glob",
                "an empty list, which no value matches",
            )),
            Self::OneOf(globs) => {
                for (index, glob) in globs.iter().enumerate() {
                    check_glob(&format!("{key}[{index}]"), glob)?;
                }
                Ok(())
            }
            Self::Regex(_) => Ok(()),
        }
    }

    /// Compiles the condition. `regex` does not report the size of a compiled expression; it only refuses one that
    /// exceeds a limit. So the limit is raised step by step, and the last limit is charged to the allowance.
    fn compile(&self, allowance: &mut Allowance) -> Result<Compiled, Refused> {
        if allowance.0 == 0 {
            return Err(Refused::NothingLeft);
        }
        let text = self.expression();
        let invalid = |why: &str| {
            let shown = match self {
                Self::Regex(text) => Cow::Borrowed(text.as_str()),
                globs => Cow::Owned(globs.to_string()),
            };
            let words = format!("`{}` {why}", shortened(&shown));
            Err(Refused::Invalid(words.into()))
        };
        if text.len() > LONGEST {
            return invalid("is longer than 64 KiB");
        }
        let mut builder = RegexBuilder::new(&text);
        builder
            .dot_matches_new_line(!matches!(self, Self::Regex(_)))
            .dfa_size_limit(LARGEST_CACHE);
        let mut limit = SMALLEST;
        loop {
            let built = builder.size_limit(limit).build();
            let is_too_large = matches!(built, Err(regex::Error::CompiledTooBig(_)));
            if is_too_large && limit < LARGEST {
                limit *= 2;
                continue;
            }
            // Finding out that an expression is too large takes as long as compiling it, so it is charged too.
            match allowance.0.checked_sub(limit) {
                Some(left) => allowance.0 = left,
                None => {
                    // So that no further expression is compiled in vain.
                    allowance.0 = 0;
                    return Err(Refused::NothingLeft);
                }
            }
            return match built {
                Ok(regex) if self.fits(SMALL_ASCII, &text, limit) => Ok(Compiled {
                    regex,
                    longest_value: LONGEST_VALUE,
                }),
                Ok(regex) if self.fits(LARGEST_ASCII, &text, limit) => Ok(Compiled {
                    regex,
                    longest_value: LONGEST_FOR_LARGE,
                }),
                Ok(_) => invalid(TOO_SLOW),
                Err(_) if is_too_large => invalid(TOO_LARGE),
                Err(error) => {
                    // The last of several lines contains the reason; the others show the position.
                    let words = error.to_string();
                    let last = words.lines().last().unwrap_or_default();
                    let why = last.strip_prefix("error: ").unwrap_or(last);
                    invalid(&format!("is not a regular expression: {why}"))
                }
            };
        }
    }

    /// Returns whether the expression, compiled for ASCII only, takes at most this size. `whole` is its size with
    /// Unicode, which counts if it is invalid without, as with `[ä-ü]`.
    fn fits(&self, size: usize, text: &str, whole: usize) -> bool {
        let mut ascii = bytes::RegexBuilder::new(text);
        ascii
            .unicode(false)
            .dot_matches_new_line(!matches!(self, Self::Regex(_)))
            .size_limit(size);
        whole <= size || ascii.build().is_ok()
    }

    fn expression(&self) -> Cow<'_, str> {
        match self {
            Self::Glob(glob) => Cow::Owned(translated(glob)),
            Self::OneOf(globs) => {
                let each: Vec<_> = globs.iter().map(|glob| translated(glob)).collect();
                Cow::Owned(each.join("|"))
            }
            Self::Regex(text) => Cow::Borrowed(text),
        }
    }
}

#[derive(Debug, Clone)]
struct Compiled {
    regex: Regex,
    longest_value: usize,
}

/// A condition that is compiled at load or when it is first needed.
#[derive(Debug, Clone)]
pub(crate) struct Lazy {
    pub(super) condition: Condition,
    compiled: OnceLock<Result<Compiled, Box<str>>>,
}

impl Lazy {
    pub(crate) fn new(condition: Condition) -> Self {
        Self {
            condition,
            compiled: OnceLock::new(),
        }
    }

    pub(super) fn compile(&self, allowance: &mut Allowance) -> Result<(), Refused> {
        if self.compiled.get().is_none() {
            let compiled = match self.condition.compile(allowance) {
                Err(Refused::NothingLeft) => return Err(Refused::NothingLeft),
                Err(Refused::Invalid(words)) => Err(words),
                Ok(compiled) => Ok(compiled),
            };
            let _ = self.compiled.set(compiled);
        }
        match self.compiled.get() {
            Some(Err(words)) => Err(Refused::Invalid(words.clone())),
            _ => Ok(()),
        }
    }

    /// Tests the condition; None if the text is too long. A condition that cannot be used counts as matched, so
    /// that a guard runs; the hook then fails.
    pub(crate) fn test(&self, text: &str) -> Option<bool> {
        // Conditions that were not compiled at load are compiled when they are first needed.
        let _ = self.compile(&mut Allowance::default());
        match self.compiled.get() {
            Some(Ok(it)) => (text.len() <= it.longest_value).then(|| it.regex.is_match(text)),
            _ => Some(true),
        }
    }

    pub(crate) fn is_compiled(&self) -> bool {
        self.compiled.get().is_some()
    }

    /// Compiles the condition if it is not compiled yet, and returns why it cannot be used. `allowance` is called before
    /// it is compiled.
    pub(crate) fn fault<A: DerefMut<Target = Allowance>>(
        &self,
        allowance: impl FnOnce() -> A,
    ) -> Option<&str> {
        let compiled = self.compiled.get_or_init(|| {
            let refused = |refused| match refused {
                Refused::Invalid(words) => words,
                Refused::NothingLeft => NOTHING_LEFT.into(),
            };
            self.condition.compile(&mut allowance()).map_err(refused)
        });
        compiled.as_ref().err().map(|words| &**words)
    }

    /// The reason why the condition cannot be used, if compiling it has failed.
    pub(super) fn refusal(&self) -> Option<&str> {
        self.compiled.get()?.as_ref().err().map(|words| &**words)
    }
}

const NOTHING_LEFT: &str = "the expressions of the file take more than 16 MiB when compiled";

const TOO_LARGE: &str = "takes more than 1 MiB when compiled: repeat less, or match only ASCII letters, \
                         as in `(?-u:\\w)`";

const TOO_SLOW: &str = "takes more than 256 KiB when compiled, even without Unicode, and could take seconds to \
                        test: repeat less, or test the value in the hook";

const EXPECTED: &str = "a glob, a list of globs, or an object {\"regex\": \"...\"}";

fn check_glob(key: &str, glob: &str) -> Result<(), HookError> {
    let Err(error) = globs::check(glob) else {
        return Ok(());
    };
    let words = format!("invalid glob `{}`: {error}", shortened(glob));
    Err(key_error(key, words))
}

fn list_of_globs(key: &str, items: &[Value]) -> Result<Vec<String>, HookError> {
    let mut globs = Vec::new();
    for (index, item) in items.iter().enumerate() {
        match item {
            Value::String(glob) => globs.push(glob.clone()),
            other => return Err(wrong_type(format!("{key}[{index}]"), "a glob", other)),
        }
    }
    Ok(globs)
}

/// Formats as `git *`, `git *, hg *` or `regex \bsudo\b`.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Glob(glob) => f.pad(glob),
            Self::OneOf(globs) => f.pad(&globs.join(", ")),
            Self::Regex(text) => f.pad(&format!("regex {text}")),
        }
    }
}

impl From<&str> for Condition {
    /// Creates a glob condition.
    fn from(glob: &str) -> Self {
        Self::Glob(glob.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(condition: &Condition, text: &str) -> bool {
        let compiled = condition.compile(&mut Allowance::default());
        compiled.unwrap().regex.is_match(text)
    }

    fn refusal(condition: &Condition) -> String {
        match condition.compile(&mut Allowance::default()) {
            Err(Refused::Invalid(words)) => words.into(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_glob_matches_the_whole_string() {
        for (glob, matching, others) in [
            (
                "git *",
                &["git push", "git ", "git a\nb"][..],
                &["git", "a git b"][..],
            ),
            ("*git", &["git", "x\ngit"], &["git "]),
            ("*sudo*", &["sudo", "a sudo b"], &["su do"]),
            ("*", &["", "a\nb"], &[]),
            ("", &[""], &["a"]),
            ("a.b+c", &["a.b+c"], &["axb+c", "a.bbc"]),
            ("[!a-c]?", &["dx", "-ä"], &["ax", "d"]),
            ("[]x-]", &["]", "x", "-"], &["a"]),
            ("[[&&~^]", &["[", "&", "~", "^"], &["a"]),
            (
                "src/**/*.rs",
                &["src/a.rs", "src/a/b.rs"],
                &["src.rs", "srcx/a.rs"],
            ),
            ("ä*", &["äb"], &["b"]),
            ("(?i)a", &["(xi)a"], &["A", "a"]),
        ] {
            let condition = Condition::from(glob);
            for text in matching {
                assert!(is_match(&condition, text), "{glob} {text:?}");
            }
            for text in others {
                assert!(!is_match(&condition, text), "{glob} {text:?}");
            }
        }
        let either = Condition::OneOf(vec!["a*".to_owned(), "b".to_owned()]);
        assert!(is_match(&either, "ax") && is_match(&either, "b"));
        assert!(!is_match(&either, "bx") && !is_match(&either, "xa"));
    }

    #[test]
    fn a_regex_is_found_anywhere() {
        let sudo = Condition::Regex(r"\bsudo\b".to_owned());
        assert!(is_match(&sudo, "cd x && sudo rm") && !is_match(&sudo, "pseudosudo"));
        let lines = Condition::Regex("a.b".to_owned());
        assert!(!is_match(&lines, "a\nb"));
    }

    #[test]
    fn unusable_expressions_are_refused() {
        let regex = |text: &str| refusal(&Condition::Regex(text.to_owned()));
        assert_eq!(
            regex("a("),
            "`a(` is not a regular expression: unclosed group"
        );
        assert!(regex("(?=a)").contains("look-around"), "{}", regex("(?=a)"));
        assert!(regex(r"\w{2000}").starts_with(r"`\w{2000}` takes more than 1 MiB"));
        let long = regex(&"a".repeat(LONGEST + 1));
        assert!(
            long.ends_with("…` is longer than 64 KiB") && long.len() < 150,
            "{long}"
        );
        let repeated = regex("[ab]*a[ab]{9000}c");
        let expected =
            "`[ab]*a[ab]{9000}c` takes more than 256 KiB when compiled, even without Unicode";
        assert!(repeated.starts_with(expected), "{repeated}");
        // The crate `glob` would take practically forever.
        let stars = "*[a-z]".repeat(300);
        assert!(is_match(&Condition::Glob(stars), &"a".repeat(1000)));
        assert!(!is_match(
            &Condition::Glob("*[ab]".repeat(25) + "c"),
            &"a".repeat(10_000)
        ));
    }

    #[test]
    fn large_expressions_test_shorter_values() {
        let regex = |text: &str| Condition::Regex(text.to_owned());
        for (condition, longest) in [
            (Condition::from("git *"), 64),
            (Condition::from("src/**/*.[ch]"), 64),
            (Condition::Glob("*[ab]".repeat(25)), 1),
            (regex(r"\b(sudo|doas)\b"), 64),
            (regex("(?i)password"), 64),
            (regex(r"[\w.-]+@[\w.-]+"), 64),
            (regex(r"\w{20}"), 64),
            (regex("[ab]*a[ab]{200}c"), 1),
            (regex(&["word"; 500].join("s?|")), 1),
            (regex("(?s)[ä-ü].{100}"), 1),
        ] {
            let compiled = condition.compile(&mut Allowance::default()).unwrap();
            let shown = format!("{:.30}", condition.to_string());
            assert_eq!(compiled.longest_value, longest * 1024, "{shown}");
        }
        let git = Lazy::new("git *".into());
        assert_eq!(git.test(&"-".repeat(LONGEST_VALUE)), Some(false));
        assert_eq!(git.test(&"-".repeat(LONGEST_VALUE + 1)), None);
    }

    #[test]
    fn expressions_share_an_allowance() {
        let mut allowance = Allowance::default();
        let mut refused = |text: &str| {
            let condition = Condition::Regex(text.to_owned());
            condition.compile(&mut allowance).err()
        };
        assert_eq!(refused("a"), None);
        // Expressions that are too large are charged too; otherwise very many of them would take very long.
        for _ in 0..15 {
            assert!(matches!(refused(r"\w{2000}"), Some(Refused::Invalid(_))));
        }
        assert_eq!(refused(r"\w{2000}"), Some(Refused::NothingLeft));
        // Nor is anything compiled after that.
        assert_eq!(refused("a"), Some(Refused::NothingLeft));
    }

    #[test]
    fn small_expressions_take_little() {
        for (condition, most) in [
            (Condition::from("git *"), 1024),
            (Condition::from("src/**/*.[ch]"), 4096),
            (Condition::Regex(r"\bsudo\b".to_owned()), 1024),
            (Condition::Regex("(?i)password".to_owned()), 2048),
        ] {
            let mut allowance = Allowance::default();
            condition.compile(&mut allowance).unwrap();
            assert!(LARGEST_TOGETHER - allowance.0 <= most, "{condition}");
        }
    }

    #[test]
    fn malformed_conditions_are_named() {
        for (value, expected) in [
            (
                json!(5),
                "`k`: expected a glob, a list of globs, or an object {\"regex\": \"...\"}, found a number",
            ),
            (
                json!([]),
                "`k`: expected at least one glob, found an empty list, which no value matches",
            ),
            (json!(["a", 1]), "`k[1]`: expected a glob, found a number"),
            (
                json!(["a", "[a"]),
                "`k[1]`: invalid glob `[a`: at column 1, invalid range pattern",
            ),
            (
                json!("[z-a]"),
                "`k`: invalid glob `[z-a]`: the range `z-a` contains no character",
            ),
            (
                json!({"regexp": "a"}),
                "`k`: expected a glob, a list of globs, or an object {\"regex\": \"...\"}, found an object with other keys",
            ),
            (
                json!({"regex": 5}),
                "`k`: expected a glob, a list of globs, or an object {\"regex\": \"...\"}, found a number in `regex`",
            ),
        ] {
            let error = Condition::read("k", &value).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        let error = Condition::read("k", &json!("a**b")).unwrap_err();
        assert!(error.to_string().contains("at column 1"), "{error}");
    }
}
