//! One condition of a hook's `when`: its forms in JSON and as text, and what it tests, compiled.
//!
//! Knows nothing of events.

use std::fmt;
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::command_test::{CommandTest, NO_PATTERN, RunsTest};
use super::error::{BACKSPACE, Fault, HookError};
use super::expressions::Expression;
use super::path_test::Paths;
use crate::command::Only;
use crate::json::Node;
use crate::printable::shortened;

const EXPECTED: &str = "a glob, a list of globs, an object with `regex`, `runs`, `writes`, `runs_only` or {\"path\": \
                        \"outside\"}, or {\"not\": ...} around one of these";

/// The reason why a hook with a condition on what a command does grants nothing.
pub(super) const FOR_GUARDS: &str = "`runs` and `writes` do not see everything that a command does: for an answer that \
                                     allows, write `runs_only`";

/// The one value of the key `path`.
const OUTSIDE: &str = "outside";

/// A condition on a string of an event's data; see [`Hook::with_when`](crate::Hook::with_when).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Condition {
    /// A glob that matches the whole string, with `*`, `?` and `[...]` as in patterns of events.
    Glob(String),
    /// At least one of these globs matches.
    OneOf(Vec<String>),
    /// A regular expression, in the syntax of the crate `regex`, that matches somewhere in the string.
    /// `\w`, `\d`, `\s` and letter case follow Unicode; `\p{..}` is not supported.
    Regex(String),
    /// The string is a path that lies outside of the project's root and of the system's directories for temporary files, or a
    /// link that leads there.
    Outside,
    /// The string is a shell command that runs a command which meets one of these patterns, as in `git push -f|--force`.
    Runs {
        /// The patterns.
        patterns: Vec<String>,
        /// A regular expression that matches in a word or in the input of that command, too.
        with: Option<String>,
        /// Globs, or [`Outside`](Self::Outside), that match a path which that command names, too.
        paths: Option<Box<Self>>,
    },
    /// The string is a shell command that writes a file which one of these globs matches.
    Writes(Vec<String>),
    /// The string is a shell command in which each command meets one of these patterns; they name all options and words.
    RunsOnly(Vec<String>),
    /// The condition within does not match. An expression must match the whole string here: it begins with `^`
    /// and ends with `$`.
    Not(Box<Self>),
}

/// What a condition tests, compiled.
#[derive(Debug, Clone)]
pub(super) enum Test {
    Text {
        expression: Expression,
        /// The expression that leaves it open whether the whole value matches.
        perhaps: Option<Expression>,
    },
    Paths(Paths),
    Command(CommandTest),
}

impl Condition {
    /// Reads a condition from JSON. Errors contain the key.
    pub(super) fn read(key: &str, value: Node<'_, '_>) -> Result<Self, Fault> {
        if let Some(glob) = value.text() {
            return Ok(Self::Glob(glob.to_owned()));
        }
        if let Some(items) = value.items() {
            return list_of(key, "a glob", items).map(Self::OneOf);
        }
        if let Some(condition) = of_command(key, value)? {
            return Ok(condition);
        }
        let mut members = value.members();
        let given = match (members.next(), members.next()) {
            (Some(member), None) => match (member.key, member.value.text()) {
                ("not", _) => {
                    let inner = Self::read(&format!("{key}.not"), member.value)?;
                    return Ok(Self::Not(Box::new(inner)));
                }
                // In JSON, `"\b"` is a backspace: the expression would never match.
                ("regex", Some(text)) if text.contains('\u{8}') => {
                    return Err(HookError::key(key, BACKSPACE).at(value));
                }
                ("regex", Some(text)) => return Ok(Self::Regex(text.to_owned())),
                ("path", Some(OUTSIDE)) => return Ok(Self::Outside),
                ("path", Some(text)) => format!("`{}` in `path`", shortened(text)),
                (key @ ("regex" | "path"), None) => format!("{} in `{key}`", member.value.kind()),
                _ => other_keys(value),
            },
            _ if value.is_object() => other_keys(value),
            _ => value.kind().to_owned(),
        };
        Err(HookError::unexpected(key, EXPECTED, &given).at(value))
    }

    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Glob(glob) => json!(glob),
            Self::OneOf(globs) => json!(globs),
            Self::Regex(text) => json!({"regex": text}),
            Self::Outside => json!({"path": OUTSIDE}),
            Self::Runs {
                patterns,
                with,
                paths,
            } => {
                let mut object = json!({"runs": one_or_many(patterns)});
                if let Some(text) = with {
                    object["with"] = json!({"regex": text});
                }
                if let Some(paths) = paths {
                    object["paths"] = match &**paths {
                        Self::Outside => json!(OUTSIDE),
                        globs => globs.to_json(),
                    };
                }
                object
            }
            Self::Writes(globs) => json!({"writes": one_or_many(globs)}),
            Self::RunsOnly(patterns) => json!({"runs_only": one_or_many(patterns)}),
            Self::Not(inner) => json!({"not": inner.to_json()}),
        }
    }

    /// Returns whether the condition sees what a command does, but not everything: what it does not see must not be granted.
    pub(super) fn is_only_for_guards(&self) -> bool {
        match self {
            Self::Runs { .. } | Self::Writes(_) => true,
            Self::Not(inner) => inner.is_only_for_guards(),
            _ => false,
        }
    }

    pub(super) fn is_runs_only(&self) -> bool {
        match self {
            Self::RunsOnly(_) => true,
            Self::Not(inner) => inner.is_runs_only(),
            _ => false,
        }
    }

    /// Returns what the condition tests, without `not`.
    fn compiled(&self, home: Option<&str>) -> Result<Test, String> {
        match self {
            Self::Glob(glob) => Paths::matching(std::slice::from_ref(glob), home).map(Test::Paths),
            Self::OneOf(globs) => Paths::matching(globs, home).map(Test::Paths),
            Self::Regex(text) => Ok(Test::Text {
                expression: of_text(text.clone()),
                perhaps: None,
            }),
            Self::Outside => Ok(Test::Paths(Paths::Outside)),
            Self::Runs {
                patterns,
                with,
                paths,
            } => {
                let paths = paths.as_deref().map(|paths| paths.of_runs(home));
                let with = with.clone().map(of_text);
                let test = RunsTest::new(patterns, with, paths.transpose()?)?;
                Ok(Test::Command(CommandTest::Runs(test)))
            }
            Self::Writes(globs) => {
                check_no_outside(globs, "`writes` has globs only")?;
                let paths = Paths::matching(globs, home)?;
                Ok(Test::Command(CommandTest::Writes(paths)))
            }
            Self::RunsOnly(patterns) if patterns.is_empty() => Err(NO_PATTERN.to_owned()),
            Self::RunsOnly(patterns) => {
                let only = Only::new(patterns.iter().map(String::as_str))?;
                Ok(Test::Command(CommandTest::RunsOnly(only)))
            }
            Self::Not(inner) => inner.compiled_in_not(home),
        }
    }

    /// Returns what the paths beside `runs` must be.
    fn of_runs(&self, home: Option<&str>) -> Result<Paths, String> {
        let globs = match self {
            Self::Outside => return Ok(Paths::Outside),
            Self::OneOf(globs) => globs,
            Self::Glob(glob) => std::slice::from_ref(glob),
            other => {
                return Err(format!(
                    "`paths` has globs or \"outside\", and not `{other}`"
                ));
            }
        };
        check_no_outside(
            globs,
            "for paths outside of the project write \"paths\": \"outside\", without a list",
        )?;
        Paths::matching(globs, home)
    }

    /// Returns what a condition within `not` tests. An expression that matches a part of a value would skip a hook, regardless
    /// of the rest of the value.
    fn compiled_in_not(&self, home: Option<&str>) -> Result<Test, String> {
        match self {
            Self::Not(_) => Err("`not` within `not`: remove both".to_owned()),
            Self::Regex(text) => {
                let rest = without_flags(text);
                if !rest.starts_with('^') || !rest.ends_with('$') {
                    return Err(format!(
                        "`{}` must match the whole value within `not`: begin it with `^`, and end it with `$`",
                        shortened(text)
                    ));
                }
                Ok(Test::Text {
                    expression: of_text(format!(r"\A(?:{text})\z")),
                    perhaps: Some(of_text(text.clone())),
                })
            }
            _ => self.compiled(home),
        }
    }
}

/// # Errors
/// If a glob is the word that means all paths outside of the project. A file of that name is still found by `[o]utside`.
fn check_no_outside(globs: &[String], help: &str) -> Result<(), String> {
    match globs.iter().find(|glob| glob.eq_ignore_ascii_case(OUTSIDE)) {
        Some(glob) => {
            let (first, rest) = glob.split_at(1);
            Err(format!(
                "`{glob}` is not a glob: {help}; for a file of this name write `[{first}]{rest}`"
            ))
        }
        None => Ok(()),
    }
}

fn of_text(text: String) -> Expression {
    Expression {
        text,
        is_of_paths: false,
    }
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

impl Test {
    pub(super) fn expressions(&self) -> Vec<&Expression> {
        match self {
            Self::Text {
                expression,
                perhaps,
            } => perhaps.iter().chain([expression]).collect(),
            Self::Paths(paths) => paths.expressions(),
            Self::Command(command) => command.expressions(),
        }
    }
}

/// A condition that is compiled when it is first needed.
#[derive(Debug, Clone)]
pub(super) struct Lazy {
    pub(super) condition: Condition,
    compiled: OnceLock<Result<Test, String>>,
    /// The reason why an expression cannot be used.
    fault: OnceLock<String>,
}

impl PartialEq for Lazy {
    fn eq(&self, other: &Self) -> bool {
        self.condition == other.condition
    }
}

impl Lazy {
    pub(super) fn new(condition: Condition) -> Self {
        Self {
            condition,
            compiled: OnceLock::new(),
            fault: OnceLock::new(),
        }
    }

    /// Returns what the condition tests, without `not`. None if it cannot be used.
    pub(super) fn test(&self) -> Option<&Test> {
        let compile = || {
            let home = home::home_dir().map(|home| home.to_string_lossy().into_owned());
            self.condition.compiled(home.as_deref())
        };
        self.compiled.get_or_init(compile).as_ref().ok()
    }

    /// Checks that the condition can be used: compiles its expressions. Returns the reason why not.
    pub(super) fn check(&self) -> Option<&str> {
        self.checked(Expression::check)
    }

    /// Checks the form of the condition without compiling anything: most conditions are never tested by a program that fires
    /// one event. One that is too large is found when it is tested.
    pub(super) fn check_form(&self) -> Option<&str> {
        self.checked(Expression::check_form)
    }

    fn checked(&self, check: fn(&Expression) -> Result<(), String>) -> Option<&str> {
        let all = self.test().map(Test::expressions).unwrap_or_default();
        if let Some(why) = all.into_iter().map(check).find_map(Result::err) {
            self.refuse(&why);
        }
        self.refusal()
    }

    /// Keeps the reason why an expression cannot be used.
    pub(super) fn refuse(&self, why: &str) {
        let condition = match &self.condition {
            Condition::Not(inner) => inner,
            condition => condition,
        };
        let text = match condition {
            Condition::Regex(text) => text.clone(),
            others => others.to_string(),
        };
        let _ = self.fault.set(format!("`{}` {why}", shortened(&text)));
    }

    /// Returns the reason why the condition cannot be used, if that is known already.
    pub(super) fn refusal(&self) -> Option<&str> {
        if let Some(Err(why)) = self.compiled.get() {
            return Some(why);
        }
        self.fault.get().map(String::as_str)
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

/// The conditions on what a command does.
const OF_COMMANDS: [&str; 3] = ["runs", "writes", "runs_only"];

/// The keys that may stand beside `runs`.
const BESIDE_RUNS: [&str; 2] = ["with", "paths"];

/// Reads a condition on what a command does; none if the object has none of its keys.
fn of_command(key: &str, value: Node<'_, '_>) -> Result<Option<Condition>, Fault> {
    let has = |name: &&str| value.member(name).is_some();
    let mut kinds = OF_COMMANDS.into_iter().filter(has);
    let Some(kind) = kinds.next() else {
        return match BESIDE_RUNS.into_iter().find(has) {
            Some(name) => {
                let message = format!("`{name}` stands beside `runs`, which is missing");
                Err(HookError::key(key, message).at(value))
            }
            None => Ok(None),
        };
    };
    if let Some(other) = kinds.next() {
        let message = format!("`{kind}` and `{other}` are two conditions: write two hooks");
        return Err(HookError::key(key, message).at(value));
    }
    check_beside(key, kind, value)?;
    let list = texts(key, kind, value)?.unwrap_or_default();
    Ok(Some(match kind {
        "writes" => Condition::Writes(list),
        "runs_only" => Condition::RunsOnly(list),
        _ => Condition::Runs {
            patterns: list,
            with: value
                .member("with")
                .map(|node| with(key, node))
                .transpose()?,
            paths: paths(key, value)?.map(Box::new),
        },
    }))
}

/// Checks the other keys of a condition.
fn check_beside(key: &str, kind: &str, value: Node<'_, '_>) -> Result<(), Fault> {
    let is_allowed = |name: &str| name == kind || kind == "runs" && BESIDE_RUNS.contains(&name);
    let Some(other) = value.members().find(|member| !is_allowed(member.key)) else {
        return Ok(());
    };
    let expected = match kind {
        "runs" => "one of the keys `runs`, `with`, `paths`".to_owned(),
        kind => format!("`{kind}` alone"),
    };
    let path = format!("{key}.{}", other.key);
    let found = format!("`{}`", shortened(other.key));
    Err(HookError::unexpected(path, &expected, &found).at(other.value))
}

/// Reads the expression of `with`.
fn with(key: &str, value: Node<'_, '_>) -> Result<String, Fault> {
    let key = format!("{key}.with");
    if value.member("regex").is_some()
        && value.members().count() == 1
        && let Condition::Regex(text) = Condition::read(&key, value)?
    {
        return Ok(text);
    }
    let found = match value.is_object() {
        true => other_keys(value),
        false => value.kind().to_owned(),
    };
    Err(HookError::unexpected(key, "an object {\"regex\": \"...\"}", &found).at(value))
}

/// Reads the paths beside `runs`.
fn paths(key: &str, value: Node<'_, '_>) -> Result<Option<Condition>, Fault> {
    let paths = value.member("paths");
    if paths.is_some_and(|paths| paths.text() == Some(OUTSIDE)) {
        return Ok(Some(Condition::Outside));
    }
    Ok(texts(key, "paths", value)?.map(Condition::OneOf))
}

/// Reads the member of an object that is a string, as a list of one, or a list of strings.
fn texts(key: &str, name: &str, value: Node<'_, '_>) -> Result<Option<Vec<String>>, Fault> {
    let Some(value) = value.member(name) else {
        return Ok(None);
    };
    let key = format!("{key}.{name}");
    if let Some(text) = value.text() {
        return Ok(Some(vec![text.to_owned()]));
    }
    match value.items() {
        Some(items) => list_of(&key, "a string", items).map(Some),
        None => {
            let expected = "a string or a list of strings";
            Err(HookError::unexpected(key, expected, value.kind()).at(value))
        }
    }
}

/// Returns a list of one as its string.
fn one_or_many(texts: &[String]) -> Value {
    match texts {
        [text] => json!(text),
        texts => json!(texts),
    }
}

fn list_of<'t, 'a: 't>(
    key: &str,
    expected: &str,
    items: impl Iterator<Item = Node<'t, 'a>>,
) -> Result<Vec<String>, Fault> {
    let texts = items.enumerate().map(|(index, item)| {
        let key = format!("{key}[{index}]");
        let wrong = || HookError::unexpected(key, expected, item.kind()).at(item);
        item.text().map(str::to_owned).ok_or_else(wrong)
    });
    texts.collect()
}

/// Formats the condition as `git *`, `git *, hg *` or `regex \bsudo\b`.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Glob(glob) => f.pad(glob),
            Self::OneOf(globs) => f.pad(&globs.join(", ")),
            Self::Regex(text) => f.pad(&format!("regex {text}")),
            Self::Outside => f.pad("path outside"),
            Self::Runs {
                patterns,
                with,
                paths,
            } => {
                let mut text = format!("runs {}", patterns.join(", "));
                if let Some(with) = with {
                    text += &format!(" with regex {with}");
                }
                match paths.as_deref() {
                    Some(Self::Outside) => text += " and paths outside",
                    Some(paths) => text += &format!(" and paths {paths}"),
                    None => {}
                }
                f.pad(&text)
            }
            Self::Writes(globs) => f.pad(&format!("writes {}", globs.join(", "))),
            Self::RunsOnly(patterns) => f.pad(&format!("runs only {}", patterns.join(", "))),
            Self::Not(inner) => f.pad(&format!("not {inner}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{EventType, HookEvent};
    use crate::hook::Hook;

    fn is_match(condition: &Condition, text: &str) -> bool {
        let hook = Hook::new("*", "x").unwrap();
        let hook = hook.with_when("/x", condition.to_json()).unwrap();
        // What is unknown is no match here.
        let event = HookEvent::new(EventType::SessionEnd).with_data("x", text);
        hook.matches(&event)
    }

    fn refusal(condition: Condition) -> String {
        let lazy = Lazy::new(condition);
        lazy.check().unwrap().to_owned()
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
            let condition = Condition::Glob(glob.to_owned());
            // A name of Windows has no blank at its end.
            let has_name = |text: &&&str| !cfg!(windows) || !text.ends_with(' ');
            for text in matching.iter().filter(has_name) {
                assert!(is_match(&condition, text), "{glob} {text:?}");
            }
            for text in others.iter().filter(has_name) {
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
    fn unusable_conditions_are_refused() {
        let regex = |text: &str| refusal(Condition::Regex(text.to_owned()));
        assert_eq!(
            regex("a("),
            "`a(` is not a regular expression: unclosed group"
        );
        assert!(regex("(?=a)").contains("look-around"), "{}", regex("(?=a)"));
        assert!(regex(r"\w{2000}").starts_with(r"`\w{2000}` takes more than 256 KiB"));
        let long = regex(&"a".repeat(64 * 1024 + 1));
        let is_short = long.contains("…` takes more than 256 KiB") && long.len() < 300;
        assert!(is_short, "{long}");
        let error = refusal(Condition::Glob("a**b".to_owned()));
        assert!(error.contains("at column 1"), "{error}");
        // A part that an attempt of something else has in a glob is an error.
        for (glob, message) in [
            (
                "$HOME/.ssh/**",
                "a glob has no variables: write `~/.ssh/**`",
            ),
            ("${HOME}/.ssh/**", "write `~/.ssh/**`"),
            (r"%USERPROFILE%\.ssh\**", "write `~/.ssh/**`"),
            (
                "$PROJECT/src/**",
                "a glob has no variables: write the whole path",
            ),
            ("./src/*", "paths are compared without `.`"),
            ("src/./*", "paths are compared without `.`"),
            (
                "src/",
                "for a directory remove it, for what is below add `**`",
            ),
            ("../x/**", "paths are compared without `..`"),
            ("src/../x", "paths are compared without `..`"),
        ] {
            let error = refusal(Condition::OneOf(vec!["a".to_owned(), glob.to_owned()]));
            assert!(error.contains(message), "{error}");
        }
        for glob in [
            "$",
            "$x",
            "a..b/**",
            "50%/x",
            "%/x",
            "~/x",
            "~",
            ".",
            "/",
            "https://a/*",
        ] {
            assert_eq!(
                Lazy::new(Condition::Glob(glob.to_owned())).check(),
                None,
                "{glob}"
            );
        }
    }

    #[test]
    fn backtracking_would_take_forever() {
        let stars = "*[a-z]".repeat(100);
        assert!(is_match(&Condition::Glob(stars), &"a".repeat(1000)));
        assert!(!is_match(
            &Condition::Glob("*[ab]".repeat(25) + "c"),
            &"a".repeat(10_000)
        ));
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
            assert_eq!(refusal(condition), expected);
        }
    }
}
