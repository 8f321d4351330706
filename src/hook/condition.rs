//! One condition of a hook's `when`: globs or a regular expression, compiled and tested against a string.
//!
//! Knows nothing of events.

use std::fmt;
use std::ops::DerefMut;
use std::sync::OnceLock;

use regex::{Regex, RegexBuilder, bytes};
use serde_json::{Value, json};

use super::error::HookError;
use super::globs::translated;
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
pub(crate) struct Allowance {
    left: usize,
    /// An expression was refused since too little was left. No other one is compiled then.
    pub(crate) is_spent: bool,
}

impl Default for Allowance {
    fn default() -> Self {
        Self {
            left: LARGEST_TOGETHER,
            is_spent: false,
        }
    }
}

impl Allowance {
    fn charge(&mut self, bytes: usize) -> Result<(), Box<str>> {
        match self.left.checked_sub(bytes) {
            Some(left) if !self.is_spent => {
                self.left = left;
                Ok(())
            }
            _ => {
                self.is_spent = true;
                Err(NOTHING_LEFT.into())
            }
        }
    }
}

impl Condition {
    /// Reads a condition from JSON. Errors contain the key.
    pub(super) fn read(key: &str, value: &Value) -> Result<Self, HookError> {
        let condition = match value {
            Value::String(glob) => Self::Glob(glob.clone()),
            Value::Array(items) => Self::OneOf(list_of_globs(key, items)?),
            Value::Object(members) => match members.get("regex") {
                // What `"\b"` is in JSON: the expression would never match.
                Some(Value::String(text)) if members.len() == 1 && text.contains('\u{8}') => {
                    return Err(key_error(key, BACKSPACE));
                }
                Some(Value::String(text)) if members.len() == 1 => Self::Regex(text.clone()),
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

    fn globs(&self) -> &[String] {
        match self {
            Self::Glob(glob) => std::slice::from_ref(glob),
            Self::OneOf(globs) => globs,
            Self::Regex(_) => &[],
        }
    }

    pub(super) fn check_globs(&self, key: &str) -> Result<(), HookError> {
        if *self == Self::OneOf(Vec::new()) {
            let found = "an empty list, which no value matches";
            return Err(unexpected(key, "at least one glob", found));
        }
        for (index, glob) in self.globs().iter().enumerate() {
            if let Err(error) = translated(glob) {
                let words = format!("invalid glob `{}`: {error}", shortened(glob));
                let key = match self {
                    Self::OneOf(_) => format!("{key}[{index}]"),
                    _ => key.to_owned(),
                };
                return Err(key_error(key, words));
            }
        }
        Ok(())
    }

    /// Returns the condition as a regular expression.
    fn expression(&self) -> Result<String, String> {
        if let Self::Regex(text) = self {
            return Ok(text.clone());
        }
        let each: Result<Vec<_>, _> = self.globs().iter().map(|glob| translated(glob)).collect();
        // A `.` matches line ends too.
        Ok("(?s)".to_owned() + &each?.join("|"))
    }

    /// Compiles the condition, or returns why it cannot be used.
    fn compile(&self, allowance: &mut Allowance) -> Result<Compiled, Box<str>> {
        let expression = self.expression()?;
        compiled(&expression, allowance).map_err(|why| match allowance.is_spent {
            true => why,
            false => {
                let text = match self {
                    Self::Regex(text) => text.clone(),
                    globs => globs.to_string(),
                };
                format!("`{}` {why}", shortened(&text)).into()
            }
        })
    }
}

#[derive(Debug, Clone)]
struct Compiled {
    regex: Regex,
    longest_value: usize,
}

/// Compiles a regular expression. `regex` does not report the size of a compiled one; it only refuses one that exceeds a
/// limit. So the limit is raised step by step, and the last limit is charged to the allowance.
fn compiled(text: &str, allowance: &mut Allowance) -> Result<Compiled, Box<str>> {
    if text.len() > LONGEST {
        return Err("is longer than 64 KiB".into());
    }
    allowance.charge(0)?;
    let mut builder = RegexBuilder::new(text);
    builder.dfa_size_limit(LARGEST_CACHE);
    let mut limit = SMALLEST;
    let mut built = builder.size_limit(limit).build();
    while matches!(built, Err(regex::Error::CompiledTooBig(_))) && limit < LARGEST {
        limit *= 2;
        built = builder.size_limit(limit).build();
    }
    // Finding out that an expression is too large takes as long as compiling it, so it is charged too.
    allowance.charge(limit)?;
    let regex = match built {
        Ok(regex) => regex,
        Err(regex::Error::CompiledTooBig(_)) => return Err(TOO_LARGE.into()),
        Err(error) => {
            // The last of several lines contains the reason; the others show the position.
            let words = error.to_string();
            let last = words.lines().last().unwrap_or_default();
            let why = last.strip_prefix("error: ").unwrap_or(last);
            return Err(format!("is not a regular expression: {why}").into());
        }
    };
    let longest_value = if fits(SMALL_ASCII, text, limit) {
        LONGEST_VALUE
    } else if fits(LARGEST_ASCII, text, limit) {
        LONGEST_FOR_LARGE
    } else {
        return Err(TOO_SLOW.into());
    };
    Ok(Compiled {
        regex,
        longest_value,
    })
}

/// Returns whether an expression, compiled for ASCII only, takes at most this size. `whole` is its size with Unicode,
/// which counts if it is invalid without, as with `[ä-ü]`.
fn fits(size: usize, text: &str, whole: usize) -> bool {
    let mut ascii = bytes::RegexBuilder::new(text);
    ascii.unicode(false).size_limit(size);
    whole <= size || ascii.build().is_ok()
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

    /// Compiles the condition if it is not compiled yet. `allowance` is called before it is compiled.
    fn compiled<A: DerefMut<Target = Allowance>>(
        &self,
        allowance: impl FnOnce() -> A,
    ) -> &Result<Compiled, Box<str>> {
        let compile = || self.condition.compile(&mut allowance());
        self.compiled.get_or_init(compile)
    }

    /// Compiles the condition if it is not compiled yet, and returns why it cannot be used.
    pub(crate) fn fault<A: DerefMut<Target = Allowance>>(
        &self,
        allowance: impl FnOnce() -> A,
    ) -> Option<&str> {
        let compiled = self.compiled(allowance);
        compiled.as_ref().err().map(|words| &**words)
    }

    /// Tests the condition; None if the text is too long. A condition that cannot be used counts as matched, so
    /// that a guard runs; the hook then fails. Conditions that were not compiled at load are compiled now.
    pub(crate) fn test(&self, text: &str) -> Option<bool> {
        match self.compiled(|| Box::new(Allowance::default())) {
            Ok(it) => (text.len() <= it.longest_value).then(|| it.regex.is_match(text)),
            Err(_) => Some(true),
        }
    }

    pub(crate) fn is_compiled(&self) -> bool {
        self.compiled.get().is_some()
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
        let compiled = condition.compile(&mut Allowance::default());
        compiled.unwrap_err().into()
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
        // Backtracking at each `*` would take practically forever.
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
            assert!(refused(r"\w{2000}").unwrap().contains("1 MiB"));
        }
        assert_eq!(refused(r"\w{2000}").as_deref(), Some(NOTHING_LEFT));
        // Nor is anything compiled after that.
        assert_eq!(refused("a").as_deref(), Some(NOTHING_LEFT));
        assert!(allowance.is_spent);
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
            assert!(LARGEST_TOGETHER - allowance.left <= most, "{condition}");
        }
    }

    #[test]
    fn malformed_conditions_are_named() {
        for (value, expected) in [
            (
                json!(["a", "[a"]),
                "`k[1]`: invalid glob `[a`: at column 1, invalid range pattern",
            ),
            (
                json!("[!]-a]*[]x][b]-[a-bd-c]"),
                "`k`: invalid glob `[!]-a]*[]x][b]-[a-bd-c]`: the range `d-c` contains no character",
            ),
        ] {
            let error = Condition::read("k", &value).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        let error = Condition::read("k", &json!("a**b")).unwrap_err();
        assert!(error.to_string().contains("at column 1"), "{error}");
    }
}
