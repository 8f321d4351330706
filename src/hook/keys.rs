//! The keys of an entry in hooks.json, each read strictly. Errors contain what was expected and found.
//!
//! Reads one key at a time; does not know the hook that they make.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use super::error::{HookError, KeyError};
use super::inherit::Inherit;
use super::parts::{FailurePolicy, HookCommand, LONGEST_TIMEOUT, SHORTEST_TIMEOUT, Shell};
use crate::events::nearest;
use crate::printable::shortened;

pub(super) type Entry = Map<String, Value>;

/// The keys of an entry, in the order in which they are written.
pub(crate) const KEYS: [&str; 18] = [
    "event",
    "when",
    "command",
    "args",
    "shell",
    "timeout",
    "working_dir",
    "env",
    "inherit",
    "enabled",
    "name",
    "description",
    "on_failure",
    "stdin",
    "reads",
    "inputs",
    "background",
    "resident",
];

/// Returns whether an entry may have this key.
pub(crate) fn is_key(key: &str) -> bool {
    KEYS.contains(&key)
}

/// Returns the members of an entry in the order in which they are written, unknown keys last. A `Value` may
/// have another order.
pub(crate) fn in_order(entry: &Entry) -> impl Iterator<Item = (&str, &Value)> {
    let known = KEYS.iter().filter_map(|key| Some((*key, entry.get(*key)?)));
    let members = entry.iter().map(|(key, value)| (key.as_str(), value));
    known.chain(members.filter(|(key, _)| !is_key(key)))
}

/// Returns the key that an unknown one is probably a typo of.
pub(crate) fn nearest_key(unknown: &str) -> Option<&'static str> {
    nearest(unknown, KEYS.into_iter(), LIKE_A_KEY)
}

/// How similar a key or a value must be to a known one to count as a typo of it.
pub(crate) const LIKE_A_KEY: f64 = 0.8;

/// Returns the failure policy of an entry that cannot be used. For a hook in the background that does not withhold,
/// it is to continue, since it cannot block. None if the policy cannot be read.
pub(crate) fn failure_policy_of(entry: &Value) -> Option<FailurePolicy> {
    let entry = entry.as_object()?;
    let policy = choice(entry, "on_failure", FailurePolicy::ALL);
    let policy = policy.ok().map(Option::unwrap_or_default);
    match switch(entry, "background") {
        Ok(Some(true)) if policy != Some(FailurePolicy::Withhold) => Some(FailurePolicy::Continue),
        _ => policy,
    }
}

pub(super) fn key_error(key: impl Into<String>, message: impl Into<String>) -> HookError {
    HookError::Key(Box::new(KeyError::new(key, message)))
}

pub(super) fn unexpected(
    key: impl Into<String>,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> HookError {
    let expected = expected.into();
    let found = shortened(&found.into()).into_owned();
    HookError::Key(Box::new(KeyError {
        key: key.into(),
        message: format!("expected {expected}, found {found}"),
        expected: Some(expected),
        found: Some(found),
        suggestion: None,
    }))
}

pub(super) fn wrong_type(key: impl Into<String>, expected: &str, found: &Value) -> HookError {
    unexpected(key, expected, kind(found))
}

pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Returns the value of a key. `null` counts as missing, since other programs write it for missing values.
pub(super) fn get<'a>(entry: &'a Entry, key: &str) -> Option<&'a Value> {
    entry.get(key).filter(|value| !value.is_null())
}

pub(super) fn require<T>(value: Option<T>, key: &str) -> Result<T, HookError> {
    value.ok_or_else(|| key_error(key, "the key is missing"))
}

/// Reads a string for the operating system, which must not contain NUL.
pub(super) fn text<'a>(entry: &'a Entry, key: &str) -> Result<Option<&'a str>, HookError> {
    match get(entry, key) {
        None => Ok(None),
        Some(Value::String(text)) => without_nul(text, key).map(Some),
        Some(other) => Err(wrong_type(key, "a string", other)),
    }
}

fn without_nul<'a>(text: &'a str, key: &str) -> Result<&'a str, HookError> {
    if text.contains('\0') {
        return Err(unexpected(
            key,
            "a string without the character NUL",
            "a string with NUL",
        ));
    }
    Ok(text)
}

pub(super) fn switch(entry: &Entry, key: &str) -> Result<Option<bool>, HookError> {
    match get(entry, key) {
        None => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(*value)),
        Some(other) => Err(wrong_type(key, "true or false", other)),
    }
}

pub(super) fn choice<T: Copy + ToString>(
    entry: &Entry,
    key: &str,
    all: &[T],
) -> Result<Option<T>, HookError> {
    let Some(given) = text(entry, key)? else {
        return Ok(None);
    };
    match all.iter().find(|value| value.to_string() == given) {
        Some(value) => Ok(Some(*value)),
        None => Err(no_choice(key, given, all)),
    }
}

fn no_choice<T: ToString>(key: &str, given: &str, all: &[T]) -> HookError {
    let names: Vec<String> = all.iter().map(T::to_string).collect();
    let expected = format!("one of `{}`", names.join("`, `"));
    let mut error = unexpected(key, expected, format!("`{given}`"));
    if let HookError::Key(error) = &mut error {
        let names = names.iter().map(String::as_str);
        error.suggestion = nearest(given, names, LIKE_A_KEY).map(str::to_owned);
    }
    error
}

pub(super) fn command(entry: &Entry) -> Result<HookCommand, HookError> {
    let shell = choice(entry, "shell", Shell::ALL)?;
    if let Some(list @ Value::Array(_)) = get(entry, "command") {
        let expected = "a string (a program with its arguments is `args`)";
        return Err(wrong_type("command", expected, list));
    }
    match (text(entry, "command")?, get(entry, "args")) {
        (Some(_), Some(_)) => Err(key_error(
            "args",
            "the key cannot be used together with `command`: remove one of the two",
        )),
        (None, None) => Err(key_error(
            "command",
            "the key is missing, and there is no `args`",
        )),
        (Some(text), None) if text.trim().is_empty() => Err(HookError::EmptyCommand),
        (Some(text), None) => Ok(HookCommand::Shell {
            text: text.to_owned(),
            shell,
        }),
        (None, Some(_)) if shell.is_some() => Err(key_error(
            "shell",
            "the key cannot be used together with `args`, which run without a shell: remove it",
        )),
        (None, Some(_)) => program(entry),
    }
}

fn program(entry: &Entry) -> Result<HookCommand, HookError> {
    if let Some(text @ Value::String(_)) = get(entry, "args") {
        let expected = "a list of strings (a shell command is `command`)";
        return Err(wrong_type("args", expected, text));
    }
    let args = list(entry, "args")?;
    if args.first().is_none_or(String::is_empty) {
        return Err(HookError::EmptyCommand);
    }
    Ok(HookCommand::Program(args))
}

/// Reads a list of strings.
pub(super) fn list(entry: &Entry, key: &str) -> Result<Vec<String>, HookError> {
    let expected = "a list of strings";
    let Some(value) = get(entry, key) else {
        return Ok(Vec::new());
    };
    let Value::Array(items) = value else {
        return Err(wrong_type(key, expected, value));
    };
    let item = |(index, item): (usize, &Value)| match item {
        Value::String(text) => without_nul(text, &format!("{key}[{index}]")).map(str::to_owned),
        other => Err(wrong_type(format!("{key}[{index}]"), "a string", other)),
    };
    items.iter().enumerate().map(item).collect()
}

pub(super) fn inherit(entry: &Entry) -> Result<Option<Inherit>, HookError> {
    if get(entry, "inherit").is_none() {
        return Ok(None);
    }
    let names = list(entry, "inherit")?;
    let is_bad = |name: &String| name.is_empty() || name.contains('=');
    match names.iter().position(is_bad) {
        Some(index) => Err(unexpected(
            format!("inherit[{index}]"),
            "the name of a variable, in which `*` matches any characters",
            format!("`{}`", names[index]),
        )),
        None => Ok(Some(Inherit::new(names))),
    }
}

pub(super) fn resident(entry: &Entry) -> Result<bool, HookError> {
    let is_resident = switch(entry, "resident")?.unwrap_or(false);
    if !is_resident {
        return Ok(false);
    }
    if matches!(switch(entry, "background"), Ok(Some(true))) {
        let message = "the key cannot be used together with `background`, since the program must wait for a resident hook's answer: remove one of the two";
        return Err(key_error("resident", message));
    }
    if entry.get("stdin").and_then(Value::as_str) == Some("none") {
        let message = "a resident hook reads its events from standard input: remove `stdin`";
        return Err(key_error("resident", message));
    }
    Ok(true)
}

pub(super) fn timeout(entry: &Entry) -> Result<Option<Duration>, HookError> {
    let seconds = match get(entry, "timeout") {
        None => return Ok(None),
        Some(Value::Number(number)) => number.as_f64().unwrap_or(f64::NAN),
        Some(other) => return Err(wrong_type("timeout", "a number of seconds", other)),
    };
    if seconds > 0.0 && seconds <= LONGEST_TIMEOUT.as_secs_f64() {
        let timeout = Duration::from_secs_f64(seconds);
        return Ok(Some(timeout.max(SHORTEST_TIMEOUT)));
    }
    let milliseconds = if seconds >= 1000.0 {
        " (the unit is seconds)"
    } else {
        ""
    };
    let found = format!("{seconds}{milliseconds}");
    Err(unexpected(
        "timeout",
        "a number of seconds above 0 and up to 86400",
        found,
    ))
}

pub(super) fn environment(entry: &Entry) -> Result<BTreeMap<String, String>, HookError> {
    let Some(value) = get(entry, "env") else {
        return Ok(Default::default());
    };
    let Value::Object(variables) = value else {
        return Err(wrong_type("env", "an object of strings", value));
    };
    variables
        .iter()
        .map(|(name, value)| {
            let key = format!("env.{name}");
            if name.is_empty() || name.contains(['=', '\0']) {
                let expected = "the name of a variable, not empty and without `=`";
                return Err(unexpected(key, expected, format!("`{name}`")));
            }
            match value {
                Value::String(text) => Ok((name.clone(), without_nul(text, &key)?.to_owned())),
                other => Err(wrong_type(key, "a string", other)),
            }
        })
        .collect()
}
