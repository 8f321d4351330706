//! Finds probable mistakes in a usable hook without running it.
//!
//! All findings are warnings: only the shell and the host know for certain. `script` looks at the files that a command
//! names.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::known_elsewhere::{ABOUT_NAMES, name_elsewhere};
use super::report::Problem;
use super::script;
use crate::events::Vocabulary;
use crate::hook::{Condition, Hook, HookCommand, Shell};
use crate::printable::shortened;
use crate::profile::COMMON_PREFIX;
use crate::redact::Redactor;

/// The names of a host.
#[derive(Default)]
pub(super) struct Host {
    /// Its events and tools.
    pub(super) vocabulary: Arc<Vocabulary>,
    /// Its own prefixes of the variables that hooks receive.
    pub(super) prefixes: Vec<String>,
    /// Whether the scripts of hooks are looked at, as far as it is known where they are.
    pub(super) looks_at_files: bool,
}

/// A longer timeout was probably meant in milliseconds.
const LONGEST_USUAL: Duration = Duration::from_secs(60 * 60);

/// The most names of `inherit` that are checked: checking takes longer than reading.
const MOST_NAMES: usize = 20;

/// Returns warnings about a hook, each with its key.
pub(super) fn lint(hook: &Hook, host: &Host) -> Vec<Problem> {
    let command = match hook.command() {
        HookCommand::Program(args) => shell_word(args, &host.prefixes),
        HookCommand::Shell { text, shell } => unquoted(text, *shell, &host.prefixes),
    };
    // The script of a hook that is switched off may come later.
    let script = match hook.enabled() && host.looks_at_files {
        true => script::check_own(hook, |name| directory_in(name, hook)),
        false => None,
    };
    let others = [
        timeout(hook),
        working_dir(hook),
        when(hook),
        foreign_name(hook),
        command,
        script,
        inherit(hook),
    ];
    let mut found = event(hook, &host.vocabulary);
    found.extend(others.into_iter().flatten());
    found
}

/// Returns the directory in a variable, if it is known here.
fn directory_in(name: &str, hook: &Hook) -> Option<String> {
    let path = match name {
        "HOME" if !hook.env().contains_key("HOME") => home::home_dir(),
        name if name.ends_with("_WORKING_DIR") => hook.base_dir().map(Path::to_owned),
        _ => None,
    }?;
    Some(path.to_string_lossy().into_owned())
}

fn event(hook: &Hook, vocabulary: &Vocabulary) -> Vec<Problem> {
    let unfired = hook.pattern().unfired(vocabulary).into_iter();
    let problems = unfired.map(|unfired| {
        let mut problem = Problem::warning("event", unfired.message);
        problem.help = unfired.help.map(str::to_owned);
        problem.with_suggestion_of(unfired.suggestion)
    });
    problems.collect()
}

fn timeout(hook: &Hook) -> Option<Problem> {
    let timeout = hook.own_timeout().filter(|it| *it > LONGEST_USUAL)?;
    let seconds = timeout.as_secs_f64();
    let message = format!("{seconds} seconds are longer than an hour");
    let help = format!(
        "the unit is seconds, not milliseconds: {seconds} milliseconds are {}",
        seconds / 1000.0
    );
    Some(Problem::warning("timeout", message).with_help(help))
}

/// Finds a name of another program in the command.
fn foreign_name(hook: &Hook) -> Option<Problem> {
    let texts = hook.command().texts();
    let mut found = texts
        .iter()
        .enumerate()
        .filter_map(|(index, text)| Some((index, name_elsewhere(hook, text)?)));
    let (index, message) = found.next()?;
    let key = match hook.command() {
        HookCommand::Shell { .. } => "command".to_owned(),
        HookCommand::Program(_) => format!("args[{index}]"),
    };
    Some(Problem::warning(key, message).with_help(ABOUT_NAMES))
}

fn working_dir(hook: &Hook) -> Option<Problem> {
    let directory = hook.working_dir()?.to_string_lossy();
    let is_replaced = directory == "~" || directory.starts_with("~/") || directory.starts_with('$');
    is_replaced.then(|| {
        let message = "`~` and variables are not replaced here";
        Problem::warning("working_dir", message).with_help("write the whole path")
    })
}

/// Whether this is the name of a variable with a value of the event.
fn is_of_event(name: &str, prefixes: &[String]) -> bool {
    let mut prefixes = prefixes.iter().map(String::as_str).chain([COMMON_PREFIX]);
    prefixes.any(|prefix| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.starts_with('_'))
    })
}

/// Finds words that only a shell would change. Behind an option, as in `sh -c`, another program may read them as code.
fn shell_word(args: &[String], prefixes: &[String]) -> Option<Problem> {
    let index = args
        .iter()
        .position(|word| is_replaced_by_shell(word, prefixes))?;
    if index > 0 && args[index - 1].starts_with('-') {
        return None;
    }
    let word = shortened(&args[index]);
    let message = format!("`{word}` is used as it is, since `args` run without a shell");
    let help = match word.starts_with('~') {
        true => "write the whole path, or use `command`",
        false => "to have a shell put in the variable, use `command`",
    };
    Some(Problem::warning(format!("args[{index}]"), message).with_help(help))
}

/// Whether a word begins with the home directory, or with a variable of the event.
fn is_replaced_by_shell(word: &str, prefixes: &[String]) -> bool {
    let Some(name) = word.strip_prefix('$') else {
        return word.starts_with("~/");
    };
    let name = name.trim_start_matches('{');
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let name = &name[..end.unwrap_or(name.len())];
    name == "HOME" || is_of_event(name, prefixes)
}

/// Finds a glob where an expression, or a part of the value, was probably meant.
fn when(hook: &Hook) -> Option<Problem> {
    hook.when().find_map(|(pointer, condition)| {
        let Condition::Glob(glob) = condition else {
            return None;
        };
        let (message, help) = misread(pointer, glob)?;
        Some(Problem::warning(format!("when.{pointer}"), message).with_help(help))
    })
}

fn misread(pointer: &str, glob: &str) -> Option<(String, String)> {
    let shown = shortened(glob);
    if glob.starts_with('^') || glob.contains("\\b") {
        return Some((
            format!("`{shown}` is a glob, and looks like a regular expression"),
            "a regular expression is {\"regex\": \"...\"}".to_owned(),
        ));
    }
    let is_whole = !glob.contains(['*', '?', '[']) && !glob.is_empty();
    (is_whole && pointer.ends_with("/command")).then(|| {
        (
            format!("`{shown}` has no `*`: it matches only a value that is exactly this"),
            format!("to find it within a value, write `*{shown}*`"),
        )
    })
}

/// Finds a variable of the event that a shell splits into words, since it is not in quotes.
fn unquoted(text: &str, shell: Option<Shell>, prefixes: &[String]) -> Option<Problem> {
    // `zsh` splits no variables.
    let splits = script::is_posix(shell) && shell != Some(Shell::Zsh);
    if !splits || text.len() > script::LONGEST_COMMAND {
        return None;
    }
    let mut names = script::split_variables(text);
    let name = names.find(|name| is_of_event(name, prefixes))?;
    let name = shortened(name);
    let message = format!("`${name}` is not in quotes, so the shell splits its value into words");
    let help = format!("write \\\"${name}\\\"");
    Some(Problem::warning("command", message).with_help(help))
}

/// Finds the first name in `inherit` that looks like that of a secret. A name with a star is skipped, since it may be for
/// other variables.
fn inherit(hook: &Hook) -> Option<Problem> {
    let mut names = hook.inherit()?.iter().take(MOST_NAMES);
    let name = names.find(|name| !name.contains('*') && is_secret(name))?;
    let name = shortened(name);
    let message = format!("the list passes on `{name}`, whose name looks like that of a secret");
    let problem = Problem::warning("inherit", message);
    Some(problem.with_help("remove it unless the hook needs it"))
}

/// Returns whether the value of a variable of this name would be masked. The two exceptions are directories.
fn is_secret(name: &str) -> bool {
    let value = json!({name: "x9x9"});
    !["PWD", "OLDPWD"].contains(&name) && Redactor::default().value(&value)[name] != "x9x9"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_in_a_list_is_found() {
        for (names, secret) in [
            (&["PATH", "HOME", "GITHUB_TOKEN"][..], Some("GITHUB_TOKEN")),
            (&["DB_PASSWORD", "PATH"], Some("DB_PASSWORD")),
            (&["PATH", "HOME", "*_TOKEN", "PWD", "TERM"], None),
            (&[], None),
        ] {
            let hook = Hook::new("session:start", "x").unwrap();
            let found = inherit(&hook.with_inherit(names.iter().copied()));
            let expected = secret.map(|it| {
                format!("the list passes on `{it}`, whose name looks like that of a secret")
            });
            assert_eq!(found.map(|it| it.message), expected, "{names:?}");
        }
    }
}
