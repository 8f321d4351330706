//! One condition of a hook's `when`: globs or a regular expression, compiled and tested against a string or the forms of a
//! path.
//!
//! Knows nothing of events.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

use super::compared::Budget;
use super::error::{BACKSPACE, Fault, HookError};
use super::forms::{System, composed};
use super::size::{most_bytes, most_bytes_of_glob};
use crate::globs::{translated, with_slashes};
use crate::json::Node;
use crate::printable::shortened;

/// The most bytes of an expression. A longer one would compile to more than `LARGEST`.
const LONGEST: usize = 64 * 1024;

/// The most bytes that a compiled expression may take.
const LARGEST: usize = 256 * 1024;

/// The most bytes that all compiled expressions of one owner's files may take together.
pub(crate) const LARGEST_TOGETHER: usize = 16 * 1024 * 1024;

/// The most bytes that the expressions of one owner's files may take which are compiled when they are first tested. They are
/// not part of `LARGEST_TOGETHER`.
const LARGEST_LATER: usize = 4 * 1024 * 1024;

/// The first size limit that is tried. Most expressions need no more.
const SMALLEST: usize = 1024;

/// The most bytes of the states that a search creates while it runs.
const LARGEST_CACHE: usize = 256 * 1024;

/// The longest value, in bytes, that is searched.
const LONGEST_VALUE: usize = 16 * 1024;

const NOTHING_LEFT: &str = "the expressions up to here take more than 16 MiB when compiled, the limit for all files of \
                            one owner";

const TOO_LARGE: &str = "takes more than 256 KiB when compiled: repeat less, match only ASCII letters, as in \
                         `(?-u:\\w)`, or test the value in the hook";

const EXPECTED: &str = "a glob, a list of globs, an object {\"regex\": \"...\"}, or {\"not\": ...} around one of these";

const NO_GLOB: &str = "expected at least one glob, found an empty list, which no value matches";

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
    /// The globs or the expression within do not match. An expression must match the whole string here: it begins with `^`
    /// and ends with `$`.
    Not(Box<Self>),
}

/// The number of bytes that further compiled expressions may take. Once an expression has been refused because too little
/// was left, nothing is left: no further one is compiled then.
#[derive(Debug)]
pub(crate) struct Allowance {
    now: AtomicUsize,
    /// The bytes for expressions that are compiled when they are first tested.
    later: AtomicUsize,
}

impl Default for Allowance {
    fn default() -> Self {
        Self {
            // One more, so that using exactly the whole allowance is not too much.
            now: AtomicUsize::new(LARGEST_TOGETHER + 1),
            later: AtomicUsize::new(LARGEST_LATER),
        }
    }
}

impl Allowance {
    fn charge(&self, bytes: usize) {
        let after = |left: usize| Some(left.saturating_sub(bytes));
        let _ = self
            .now
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, after);
    }

    /// Charges an expression that is compiled when it is first tested. Returns false if too little is left.
    fn charge_later(&self, bytes: usize) -> bool {
        let after = |left: usize| left.checked_sub(bytes);
        self.later
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, after)
            .is_ok()
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.now.load(Ordering::Relaxed) == 0
    }
}

impl Condition {
    /// Reads a condition from JSON. Errors contain the key.
    pub(super) fn read(key: &str, value: Node<'_, '_>) -> Result<Self, Fault> {
        let mut inner = value.member("not");
        inner = inner.filter(|_| value.members().count() == 1);
        if let Some(inner) = inner {
            let inner = Self::read(&format!("{key}.not"), inner)?;
            return Ok(Self::Not(Box::new(inner)));
        }
        if let Some(glob) = value.text() {
            return Ok(Self::Glob(glob.to_owned()));
        }
        if let Some(items) = value.items() {
            return list_of_globs(key, items).map(Self::OneOf);
        }
        let regex = value
            .member("regex")
            .filter(|_| value.members().count() == 1);
        let given = match regex.map(|regex| (regex.text(), regex.kind())) {
            // In JSON, `"\b"` is a backspace: the expression would never match.
            Some((Some(text), _)) if text.contains('\u{8}') => {
                return Err(HookError::key(key, BACKSPACE).at(value));
            }
            Some((Some(text), _)) => return Ok(Self::Regex(text.to_owned())),
            Some((None, kind)) => &format!("{kind} in `regex`"),
            None if value.is_object() => &other_keys(value),
            None => value.kind(),
        };
        Err(HookError::unexpected(key, EXPECTED, given).at(value))
    }

    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Glob(glob) => json!(glob),
            Self::OneOf(globs) => json!(globs),
            Self::Regex(text) => json!({"regex": text}),
            Self::Not(inner) => json!({"not": inner.to_json()}),
        }
    }

    /// Returns whether values are compared as paths.
    pub(super) fn is_of_paths(&self) -> bool {
        match self {
            Self::Glob(_) | Self::OneOf(_) => true,
            Self::Regex(_) => false,
            Self::Not(inner) => inner.is_of_paths(),
        }
    }

    /// Returns the condition as a regular expression.
    fn expression(&self) -> Result<String, String> {
        let globs = match self {
            Self::Regex(text) => return Ok(text.clone()),
            Self::Not(inner) => return inner.expression_of_all(),
            Self::Glob(glob) => std::slice::from_ref(glob),
            Self::OneOf(globs) if globs.is_empty() => return Err(NO_GLOB.to_owned()),
            Self::OneOf(globs) => globs,
        };
        let each = globs.iter().map(|glob| {
            translated(&composed(glob, System::NATIVE))
                .map_err(|why| format!("invalid glob `{}`: {why}", shortened(glob)))
        });
        let each: Vec<String> = each.collect::<Result<_, _>>()?;
        // A `.` matches line ends too.
        let flags = if System::NATIVE.ignores_case() {
            "(?si)"
        } else {
            "(?s)"
        };
        Ok(flags.to_owned() + &each.join("|"))
    }

    /// Returns a condition within `not` as a regular expression. An expression that matches a part of a value would skip a
    /// hook, regardless of the rest of the value.
    fn expression_of_all(&self) -> Result<String, String> {
        match self {
            Self::Not(_) => Err("`not` within `not`: remove both".to_owned()),
            Self::Regex(text) => {
                let rest = without_flags(text);
                if rest.starts_with('^') && rest.ends_with('$') {
                    return Ok(text.clone());
                }
                Err(format!(
                    "`{}` must match the whole value within `not`: begin it with `^`, and end it with `$`",
                    shortened(text)
                ))
            }
            Self::Glob(_) | Self::OneOf(_) => self.expression(),
        }
    }

    /// Returns whether compiling the condition surely succeeds, so that it need not be compiled before it is tested.
    fn can_wait(&self, allowance: &Allowance) -> bool {
        let Ok(expression) = self.expression() else {
            return false;
        };
        if expression.len() > LONGEST || allowance.is_spent() {
            return false;
        }
        let size = if self.has_globs_without_classes() {
            Some(most_bytes_of_glob(&expression))
        } else {
            most_bytes(&expression)
        };
        size.is_some_and(|size| size <= LARGEST && allowance.charge_later(size))
    }

    fn has_globs_without_classes(&self) -> bool {
        match self {
            Self::Glob(glob) => !glob.contains('['),
            Self::OneOf(globs) => globs.iter().all(|glob| !glob.contains('[')),
            Self::Regex(_) => false,
            Self::Not(inner) => inner.has_globs_without_classes(),
        }
    }

    /// Compiles the condition, or returns the reason why it cannot be used.
    fn compile(&self, allowance: &Allowance) -> Result<Compiled, String> {
        let expression = self.expression()?;
        let (size, built) = match expression.len() {
            ..=LONGEST if !allowance.is_spent() => built(&expression),
            _ => (0, Err(TOO_LARGE.to_owned())),
        };
        // Detecting that an expression is too large takes as long as compiling it, so it is charged too.
        allowance.charge(size);
        if allowance.is_spent() {
            return Err(NOTHING_LEFT.to_owned());
        }
        let source_text = match self {
            Self::Regex(text) => text.clone(),
            others => others.to_string(),
        };
        built.map_err(|why| format!("`{}` {why}", shortened(&source_text)))
    }
}

#[derive(Debug, Clone)]
struct Compiled {
    regex: Regex,
    size: usize,
}

impl Condition {
    /// Returns whether a value matches, in these forms: in any of them. A condition within `not` must match all of them,
    /// since each may be the name by which the file is used.
    fn is_met(&self, regex: &Regex, forms: &[&str]) -> bool {
        let mut forms = forms.iter();
        match self {
            Self::Regex(_) => forms.any(|form| regex.is_match(form)),
            Self::Glob(_) | Self::OneOf(_) => forms.any(|form| matches_somehow(regex, form)),
            Self::Not(inner) if inner.is_of_paths() => {
                !forms.all(|form| matches_surely(regex, form))
            }
            Self::Not(_) => !forms.all(|form| is_match_of_all(regex, form)),
        }
    }

    /// Returns whether a value surely matches: in each of these forms. An answer that grants something must not apply to
    /// another name of a file that its condition excludes.
    fn is_surely_met(&self, regex: &Regex, forms: &[&str]) -> bool {
        let mut forms = forms.iter();
        match self {
            Self::Glob(_) | Self::OneOf(_) => forms.all(|form| matches_surely(regex, form)),
            Self::Not(inner) if inner.is_of_paths() => {
                !forms.any(|form| matches_somehow(regex, form))
            }
            Self::Regex(_) => forms.all(|form| regex.is_match(form)),
            // An expression that matches a part of the value leaves a doubt.
            Self::Not(_) => !forms.any(|form| regex.is_match(form)),
        }
    }
}

/// Returns whether a path matches as it is, or with `/` for `\`: only on Windows is `\` surely a separator.
fn matches_somehow(regex: &Regex, path: &str) -> bool {
    regex.is_match(&with_slashes(path)) || !cfg!(windows) && regex.is_match(path)
}

/// Returns whether a path matches in both readings of `\`.
fn matches_surely(regex: &Regex, path: &str) -> bool {
    regex.is_match(&with_slashes(path)) && (cfg!(windows) || regex.is_match(path))
}

/// Returns whether an expression matches the whole value.
fn is_match_of_all(regex: &Regex, value: &str) -> bool {
    regex
        .find(value)
        .is_some_and(|occurrence| occurrence.range() == (0..value.len()))
}

/// Returns an expression without flags at its beginning, as in `(?i)^a$`.
fn without_flags(text: &str) -> &str {
    let rest = text
        .strip_prefix("(?")
        .and_then(|rest| rest.split_once(')'));
    match rest {
        Some((flags, rest)) if flags.chars().all(|c| c.is_ascii_alphabetic()) => rest,
        _ => text,
    }
}

/// Compiles a regular expression, and returns its size. `regex` does not report it; it only refuses an expression that
/// exceeds a limit. So the limit is raised step by step, and the last limit is the size.
fn built(text: &str) -> (usize, Result<Compiled, String>) {
    let mut builder = RegexBuilder::new(text);
    builder.dfa_size_limit(LARGEST_CACHE);
    let mut size = SMALLEST;
    let built = loop {
        match builder.size_limit(size).build() {
            Err(regex::Error::CompiledTooBig(_)) if size < LARGEST => size *= 2,
            built => break built,
        }
    };
    let compiled = match built {
        Ok(regex) => Ok(Compiled { regex, size }),
        Err(regex::Error::CompiledTooBig(_)) => Err(TOO_LARGE.to_owned()),
        Err(error) => {
            // The last of several lines contains the reason; the others show the position.
            let message = error.to_string();
            let last = message.lines().last().unwrap_or_default();
            let why = last.strip_prefix("error: ").unwrap_or(last);
            Err(format!("is not a regular expression: {why}"))
        }
    };
    (size, compiled)
}

/// A condition that is compiled when it is first tested, or at load if only that shows whether it can be used.
#[derive(Debug, Clone)]
pub(crate) struct Lazy {
    pub(super) condition: Condition,
    compiled: OnceLock<Result<Compiled, String>>,
}

impl PartialEq for Lazy {
    fn eq(&self, other: &Self) -> bool {
        self.condition == other.condition
    }
}

impl Lazy {
    pub(crate) fn new(condition: Condition) -> Self {
        Self {
            condition,
            compiled: OnceLock::new(),
        }
    }

    /// Compiles the condition if it is not compiled yet.
    fn compiled(&self, allowance: &Allowance) -> &Result<Compiled, String> {
        let compile = || self.condition.compile(allowance);
        self.compiled.get_or_init(compile)
    }

    /// Returns the reason why the condition cannot be used. Compiles it only if that is not known otherwise: most conditions
    /// are never tested by a program that fires one event.
    pub(super) fn check(&self, allowance: &Allowance) -> Option<&str> {
        if !self.is_compiled() && self.condition.can_wait(allowance) {
            return None;
        }
        self.fault(allowance)
    }

    /// Compiles the condition if it is not compiled yet, and returns the reason why it cannot be used.
    pub(crate) fn fault(&self, allowance: &Allowance) -> Option<&str> {
        self.compiled(allowance).as_ref().err().map(String::as_str)
    }

    /// Tests the condition on a value in these forms. Returns None if the value is too long, or exceeds the budget. A
    /// condition that cannot be used counts as matched, so that a guard runs; the hook then fails. Conditions that are not
    /// compiled yet are compiled now.
    pub(crate) fn test(&self, forms: &[&str], budget: &Budget) -> Option<bool> {
        self.tested(forms, budget, Condition::is_met)
    }

    /// Tests whether the condition surely matches.
    pub(super) fn test_surely(&self, forms: &[&str], budget: &Budget) -> Option<bool> {
        self.tested(forms, budget, Condition::is_surely_met)
    }

    fn tested(
        &self,
        forms: &[&str],
        budget: &Budget,
        test: impl Fn(&Condition, &Regex, &[&str]) -> bool,
    ) -> Option<bool> {
        match self.compiled(&Allowance::default()) {
            Ok(compiled) => {
                let mut tested = forms.iter();
                let is_affordable =
                    |form: &&str| !is_too_long(form) && budget.takes(form, compiled.size);
                tested
                    .all(is_affordable)
                    .then(|| test(&self.condition, &compiled.regex, forms))
            }
            Err(_) => Some(true),
        }
    }

    pub(crate) fn is_compiled(&self) -> bool {
        self.compiled.get().is_some()
    }

    /// Returns the reason why the condition cannot be used, if compiling it has failed.
    pub(super) fn refusal(&self) -> Option<&str> {
        self.compiled.get()?.as_ref().err().map(String::as_str)
    }
}

/// Describes the keys of an object that is not a condition.
fn other_keys(value: Node<'_, '_>) -> String {
    let names: Vec<_> = value
        .members()
        .take(2)
        .map(|member| format!("`{}`", shortened(member.key)))
        .collect();
    match &names[..] {
        [] => "an empty object".to_owned(),
        names => format!("an object with {}", names.join(" and ")),
    }
}

/// Returns whether a value is too long to be searched.
pub(super) fn is_too_long(value: &str) -> bool {
    value.len() > LONGEST_VALUE
}

fn list_of_globs<'t, 'a: 't>(
    key: &str,
    items: impl Iterator<Item = Node<'t, 'a>>,
) -> Result<Vec<String>, Fault> {
    let globs = items.enumerate().map(|(index, item)| {
        let key = format!("{key}[{index}]");
        let wrong = || HookError::unexpected(key, "a glob", item.kind()).at(item);
        item.text().map(str::to_owned).ok_or_else(wrong)
    });
    globs.collect()
}

/// Formats the condition as `git *`, `git *, hg *` or `regex \bsudo\b`.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Glob(glob) => f.pad(glob),
            Self::OneOf(globs) => f.pad(&globs.join(", ")),
            Self::Regex(text) => f.pad(&format!("regex {text}")),
            Self::Not(inner) => f.pad(&format!("not {inner}")),
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
        let compiled = condition.compile(&Allowance::default());
        condition.is_met(&compiled.unwrap().regex, &[text])
    }

    fn refusal(condition: &Condition) -> String {
        let compiled = condition.compile(&Allowance::default());
        compiled.unwrap_err()
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
            (
                r"C:\src\**/*.rs",
                &[r"C:\src\a.rs", "C:/src/a/b.rs"],
                &["C:"],
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
        let either = Condition::OneOf(vec!["a*".to_owned(), r"b\c".to_owned()]);
        assert!(is_match(&either, "ax") && is_match(&either, r"b\c"));
        assert!(!is_match(&either, "b/cx") && !is_match(&either, "xa"));
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
        assert!(regex(r"\w{2000}").starts_with(r"`\w{2000}` takes more than 256 KiB"));
        let long = regex(&"a".repeat(LONGEST + 1));
        let is_short = long.contains("…` takes more than 256 KiB") && long.len() < 300;
        assert!(is_short, "{long}");
        let repeated = regex("[ab]*a[ab]{9000}c");
        let expected = "`[ab]*a[ab]{9000}c` takes more than 256 KiB when compiled";
        assert!(repeated.starts_with(expected), "{repeated}");
        // Backtracking at each `*` would take practically forever.
        let stars = "*[a-z]".repeat(100);
        assert!(is_match(&Condition::Glob(stars), &"a".repeat(1000)));
        assert!(!is_match(
            &Condition::Glob("*[ab]".repeat(25) + "c"),
            &"a".repeat(10_000)
        ));
    }

    #[test]
    fn an_event_has_a_budget() {
        let condition = |text: &str| Lazy::new(Condition::Regex(text.to_owned()));
        let (git, slow) = (Lazy::new("git *".into()), condition("[ab]*a[ab]{35}c"));
        let longest = "-".repeat(LONGEST_VALUE);
        let test = |lazy: &Lazy, text: &str| lazy.test(&[text], &Budget::default());
        assert_eq!(test(&git, &longest), Some(false));
        assert_eq!(test(&git, &(longest.clone() + "-")), None);
        assert_eq!(test(&slow, &longest), Some(false));
        // One expression is as large as sixteen others, and uses up the budget that the next one needs.
        for (lazy, most) in [(&git, 8..=16), (&slow, 1..=2)] {
            let budget = Budget::default();
            let tested = (0..20).take_while(|_| lazy.test(&[&longest], &budget).is_some());
            assert!(most.contains(&tested.count()), "{:?}", lazy.condition);
            assert_eq!(git.test(&["git x"], &budget), None);
        }
        // Ordinary hooks and commands are all tested.
        let budget = Budget::default();
        let sudo = condition(r"\bsudo\b");
        assert!((0..100).all(|_| sudo.test(&[&"x".repeat(1000)], &budget) == Some(false)));
    }

    #[test]
    fn expressions_share_an_allowance() {
        let allowance = Allowance::default();
        let refused = |text: &str| {
            let condition = Condition::Regex(text.to_owned());
            condition.compile(&allowance).err()
        };
        assert_eq!(refused("a"), None);
        // Expressions that are too large are charged too; otherwise very many of them would take very long.
        for _ in 0..63 {
            assert!(refused(r"\w{2000}").unwrap().contains("256 KiB"));
        }
        assert_eq!(refused(r"\w{2000}").as_deref(), Some(NOTHING_LEFT));
        // After that, nothing else is compiled.
        assert_eq!(refused("a").as_deref(), Some(NOTHING_LEFT));
        assert!(allowance.is_spent());
    }

    #[test]
    fn a_condition_waits_until_it_is_tested() {
        let regex = |text: &str| Lazy::new(Condition::Regex(text.to_owned()));
        let allowance = Allowance::default();
        for lazy in [
            Lazy::new("src/**/*.rs".into()),
            regex(r"\bsudo\b"),
            Lazy::new("[ab]*".into()),
        ] {
            assert_eq!(lazy.check(&allowance), None);
            assert!(!lazy.is_compiled(), "{}", lazy.condition);
            assert_eq!(
                lazy.test(&["sudo"], &Budget::default()),
                Some(lazy.condition == regex(r"\bsudo\b").condition)
            );
            assert!(lazy.is_compiled());
        }
        for (text, why) in [("a(", "unclosed group"), (r"\w{2000}", "256 KiB")] {
            let reason = regex(text).check(&allowance).map(str::to_owned);
            assert!(reason.is_some_and(|reason| reason.contains(why)), "{text}");
        }
        // Only this number of expressions wait. The others are compiled, and charged.
        let largest = || regex(r"\w");
        let waiting = (0..1000).take_while(|_| {
            let lazy = largest();
            lazy.check(&allowance).is_none() && !lazy.is_compiled()
        });
        let count = waiting.count();
        assert!((10..100).contains(&count), "{count}");
    }

    #[test]
    fn small_expressions_take_little() {
        for (condition, most) in [
            (Condition::from("git *"), 1024),
            (Condition::from("src/**/*.[ch]"), 4096),
            (Condition::Regex(r"\bsudo\b".to_owned()), 1024),
            (Condition::Regex("(?i)password".to_owned()), 2048),
        ] {
            let allowance = Allowance::default();
            condition.compile(&allowance).unwrap();
            assert!(
                LARGEST_TOGETHER + 1 - allowance.now.into_inner() <= most,
                "{condition}"
            );
        }
    }

    #[test]
    fn malformed_conditions_are_named() {
        for (value, expected) in [
            (
                json!(["a", "[a"]),
                "invalid glob `[a`: at column 1, invalid range pattern",
            ),
            (
                json!("[!]-a]*[]x][b]-[a-bd-c]"),
                "invalid glob `[!]-a]*[]x][b]-[a-bd-c]`: the range `d-c` contains no character",
            ),
        ] {
            let condition = Condition::read("k", Node::from(&value)).unwrap();
            assert_eq!(refusal(&condition), expected);
        }
        let error = refusal(&Condition::from("a**b"));
        assert!(error.contains("at column 1"), "{error}");
    }
}
