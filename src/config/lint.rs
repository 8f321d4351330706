//! Finds probable mistakes in a usable hook without running it.
//!
//! All findings are warnings: only the shell knows for certain.

use std::ops::Range;
use std::path::Path;

use super::report::Severity;
use crate::events::Vocabulary;
use crate::hook::{Hook, HookCommand, Reads, Stdin};
use crate::printable::shortened;

/// The host's events and tools.
#[derive(Clone, Copy)]
pub(super) struct Host<'a> {
    pub(super) vocabulary: &'a Vocabulary,
}

/// A problem with one key of a hook.
pub(crate) struct Finding {
    pub(crate) severity: Severity,
    pub(crate) key: String,
    /// The range of the value, from the beginning of the text that was parsed. The reader finds that of a key
    /// in hooks.json.
    pub(crate) range: Range<usize>,
    pub(crate) message: String,
    pub(crate) suggestion: Option<String>,
    pub(crate) help: Option<String>,
}

impl Finding {
    /// Creates a warning.
    pub(crate) fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            key: key.into(),
            range: 0..0,
            message: message.into(),
            suggestion: None,
            help: None,
        }
    }

    pub(crate) fn at(mut self, severity: Severity, range: &Range<usize>) -> Self {
        self.severity = severity;
        self.range = range.clone();
        self
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn with_suggestion(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }
}

/// Returns the findings of a hook.
pub(super) fn lint(hook: &Hook, host: Host<'_>) -> Vec<Finding> {
    let mut found = unfired(hook, host.vocabulary);
    if !host.vocabulary.declares_events() && found.is_empty() {
        found.extend(unknown_event(hook).or_else(|| no_event(hook)));
    }
    found.extend(missing_working_dir(hook));
    found.extend(missing_in_inherit(hook));
    found.extend(unread_stdin(hook));
    found.extend(outside_of_data(hook));
    if let HookCommand::Program(args) = hook.command() {
        found.extend(shell_words(args, hook.base_dir()));
    }
    found
}

/// Finds patterns for events and tools that the host does not declare.
fn unfired(hook: &Hook, vocabulary: &Vocabulary) -> Vec<Finding> {
    let mut found = Vec::new();
    for unfired in hook.pattern().unfired(vocabulary) {
        let mut finding = Finding::new("event", unfired.message);
        finding.suggestion = unfired.suggestion;
        finding.help = unfired.help.map(str::to_owned);
        found.push(finding);
    }
    found
}

/// Finds a name without a colon, such as `before`. It never matches, since every event has a colon in its
/// name.
fn no_event(hook: &Hook) -> Option<Finding> {
    let mut alternatives = hook.event_pattern().split(',').map(str::trim);
    let dead = alternatives.find(|text| !text.contains([':', '*', '?', '[']))?;
    let message = format!("`{}` matches no event", shortened(dead));
    let help = "names of events have the form `category:action`, as in `tool:pre_execute`";
    Some(Finding::new("event", message).with_help(help))
}

/// Finds a name with a typo. A pattern may be for an event of the host's own, but not if its name is almost
/// that of a built-in event.
fn unknown_event(hook: &Hook) -> Option<Finding> {
    if hook.pattern().matches_known() {
        return None;
    }
    let nearest = hook.pattern().nearest_known()?;
    let message = format!(
        "`{}` matches no built-in event",
        shortened(hook.event_pattern())
    );
    Some(Finding::new("event", message).with_suggestion(nearest))
}

/// Finds a directory that does not exist. A relative path with an unknown base is not checked.
fn missing_working_dir(hook: &Hook) -> Option<Finding> {
    let own = hook.working_dir()?;
    let path = match hook.base_dir() {
        Some(base) => base.join(own),
        None if own.is_absolute() => own.to_owned(),
        None => return None,
    };
    let missing = !path.is_dir();
    missing.then(|| {
        Finding::new(
            "working_dir",
            format!(
                "`{}` is not a directory",
                shortened(&path.to_string_lossy())
            ),
        )
    })
}

/// Finds a missing variable in `inherit`. An empty list counts as intended.
fn missing_in_inherit(hook: &Hook) -> Option<Finding> {
    let rule = hook.inherit_rule().filter(|it| !it.names().is_empty())?;
    let missing = ["PATH", "HOME"].into_iter().find(|name| {
        let is_set = hook.env().contains_key(*name);
        !is_set && !rule.covers(name)
    })?;
    let message = format!("the list does not pass on `{missing}`, which most programs need");
    let help = format!("add \"{missing}\" to the list, or set it in `env`");
    Some(Finding::new("inherit", message).with_help(help))
}

fn unread_stdin(hook: &Hook) -> Option<Finding> {
    let contradicts = hook.stdin() == Stdin::None && hook.reads() == Reads::Stdin;
    contradicts.then(|| {
        let message = "with \"stdin\": \"none\", the hook has no standard input to read";
        Finding::new("reads", message).with_help("remove one of the two")
    })
}

/// Finds words that only a shell would change or split.
fn shell_words(args: &[String], base: Option<&Path>) -> Option<Finding> {
    let has_home = |word: &String| {
        ["~/", "$HOME", "${HOME}"]
            .iter()
            .any(|it| word.starts_with(it))
    };
    let index = args.iter().position(has_home);
    // Another program may read the word as code.
    if let Some(index) = index.filter(|it| *it == 0 || !reads_its_argument_again(&args[it - 1])) {
        let message = format!(
            "`{}` is used as it is, since `args` run without a shell",
            shortened(&args[index])
        );
        let finding = Finding::new(format!("args[{index}]"), message);
        return Some(finding.with_help("write the whole path, or use `command`"));
    }
    match args {
        [only] if only.contains(' ') && !base.unwrap_or(Path::new("")).join(only).is_file() => {
            let message = format!(
                "`{}` contains a space, but `args` is a list of single words",
                shortened(only)
            );
            let words: Vec<_> = only
                .split_whitespace()
                .map(|word| format!("{word:?}"))
                .collect();
            let help = if only.contains(['$', '&', '|', ';', '<', '>', '(', '`', '"', '\'']) {
                "code for a shell is `command`".to_owned()
            } else {
                format!("write [{}]", shortened(&words.join(", ")))
            };
            Some(Finding::new("args[0]", message).with_help(help))
        }
        _ => None,
    }
}

/// Finds a pointer to a value outside of the event's data. Pointers begin at the data, so such a value would
/// always be missing.
fn outside_of_data(hook: &Hook) -> Option<Finding> {
    hook.when().find_map(|(pointer, _)| {
        let mut parts = pointer.splitn(3, '/').skip(1);
        let (message, help) = match parts.next() {
            None => (
                "is the whole data, which is not a string",
                "name a value in it",
            ),
            Some("data") => (
                "begins with `/data`, but pointers begin in the data",
                "remove `/data`",
            ),
            Some("tool_name") => ("is not in the data", "name the tool in `event`"),
            Some("type") => ("is not in the data", "name the event in `event`"),
            Some("session_id" | "timestamp") => ("is not in the data", "remove the condition"),
            Some(_) => return None,
        };
        let key = format!("when.{pointer}");
        Some(Finding::new(key, format!("`{}` {message}", shortened(pointer))).with_help(help))
    })
}

/// Returns whether a program takes shell code or a list of names as an argument, as `sh -c` and `bash -lc`
/// do.
fn reads_its_argument_again(word: &str) -> bool {
    let is_option = word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    is_option || ["eval", "trap", "envsubst"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_without_path_or_home_is_found() {
        for (names, missing) in [
            (&["LANG"][..], Some("PATH")),
            (&["PATH", "LC_*"], Some("HOME")),
            (&["PATH", "H*"], None),
            (&[], None),
        ] {
            let hook = Hook::new("session:start", "x").unwrap();
            let found = missing_in_inherit(&hook.with_inherit(names.iter().copied()));
            let found = found.map(|it| it.message);
            let expected = missing
                .map(|it| format!("the list does not pass on `{it}`, which most programs need"));
            assert_eq!(found, expected, "{names:?}");
        }
    }
}
