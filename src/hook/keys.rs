//! The keys of an entry in hooks.json: each is read as a type, and all errors of an entry are found at once, with what was
//! expected and found.
//!
//! Reads one key at a time; does not know the hook that they make.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};
use serde_path_to_error::Segment;

use super::error::{HookError, KeyError};
use super::parts::{FailurePolicy, HookCommand, LONGEST_TIMEOUT, SHORTEST_TIMEOUT, Shell};
use crate::events::nearest;
use crate::printable::shortened;

pub(super) type Entry = Map<String, Value>;

/// The keys of an entry in the order in which they are written, and what their values are.
const TABLE: [(&str, &str); 18] = [
    ("event", "a string (a comma separates patterns)"),
    (
        "when",
        "an object, as in {\"/tool_args/command\": \"git *\"}",
    ),
    (
        "command",
        "a string (a program with its arguments is `args`)",
    ),
    ("args", "a list of strings (a shell command is `command`)"),
    ("shell", "a string"),
    ("timeout", "a number of seconds"),
    ("working_dir", "a string"),
    ("env", "an object of strings"),
    ("inherit", "a list of strings"),
    ("enabled", "true or false"),
    ("name", "a string"),
    ("description", "a string"),
    ("on_failure", "a string"),
    ("stdin", "a string"),
    ("reads", "a string"),
    ("inputs", "a list of strings"),
    ("background", "true or false"),
    ("resident", "true or false"),
];

/// The keys of an entry, in the order in which they are written.
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(key, _)| *key)
}

/// Returns whether an entry may have this key.
pub(crate) fn is_key(key: &str) -> bool {
    keys().any(|known| known == key)
}

/// Returns the members of an entry in the order in which they are written, unknown keys last. A `Value` may
/// have another order.
pub(crate) fn in_order(entry: &Entry) -> impl Iterator<Item = (&str, &Value)> {
    let known = keys().filter_map(|key| Some((key, entry.get(key)?)));
    let members = entry.iter().map(|(key, value)| (key.as_str(), value));
    known.chain(members.filter(|(key, _)| !is_key(key)))
}

/// Returns the key that an unknown one is probably a typo of.
pub(crate) fn nearest_key(unknown: &str) -> Option<&'static str> {
    nearest(unknown, keys(), LIKE_A_KEY)
}

/// How similar a key or a value must be to a known one to count as a typo of it.
pub(crate) const LIKE_A_KEY: f64 = 0.8;

/// Returns the failure policy of an entry that cannot be used. For a hook in the background that does not withhold,
/// it is to continue, since it cannot block. None if the policy cannot be read.
pub(crate) fn failure_policy_of(entry: &Value) -> Option<FailurePolicy> {
    let mut fields = Fields::new(entry.as_object()?);
    let policy = fields.take("on_failure").unwrap_or_default();
    let policy = fields.errors.is_empty().then_some(policy);
    match fields.take("background") {
        Some(true) if policy != Some(FailurePolicy::Withhold) => Some(FailurePolicy::Continue),
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
    let found = found.into();
    let names = expected.strip_prefix("one of ").unwrap_or_default();
    let mut names = names.split('`').skip(1).step_by(2);
    let suggestion = nearest(found.trim_matches('`'), &mut names, LIKE_A_KEY).map(str::to_owned);
    let found = shortened(&found).into_owned();
    HookError::Key(Box::new(KeyError {
        key: key.into(),
        message: format!("expected {expected}, found {found}"),
        expected: Some(expected),
        found: Some(found),
        suggestion,
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

/// Reads the keys of an entry, each as a type, and collects all errors.
pub(super) struct Fields<'a> {
    pub(super) entry: &'a Entry,
    pub(super) errors: Vec<HookError>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(entry: &'a Entry) -> Self {
        Self {
            entry,
            errors: Vec::new(),
        }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        get(self.entry, key).is_some()
    }

    /// Returns the value of a key; None if it is missing or cannot be read.
    pub(super) fn take<T: Deserialize<'a>>(&mut self, key: &str) -> Option<T> {
        let value = get(self.entry, key)?;
        let read = serde_path_to_error::deserialize(value);
        self.note(read.map_err(|error| unreadable(key, value, &error)))
    }

    /// Returns the value, or adds the error to the list.
    pub(super) fn note<T>(&mut self, read: Result<T, HookError>) -> Option<T> {
        read.map_err(|error| self.errors.push(error)).ok()
    }

    pub(super) fn refuse(&mut self, key: &str, message: impl Into<String>) {
        self.errors.push(key_error(key, message));
    }
}

/// Says which value cannot be read, and why.
fn unreadable(
    key: &str,
    value: &Value,
    error: &serde_path_to_error::Error<serde_json::Error>,
) -> HookError {
    let mut name = key.to_owned();
    let mut value = value;
    for segment in error.path() {
        match segment {
            Segment::Seq { index } => {
                name += &format!("[{index}]");
                value = &value[index];
            }
            Segment::Map { key } => {
                name += &format!(".{key}");
                value = &value[key];
            }
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    let words = error.inner().to_string();
    let own = words.strip_prefix("expected ");
    if let Some((expected, found)) = own.and_then(|words| words.split_once(", found ")) {
        return unexpected(name, expected, found);
    }
    let row = TABLE.iter().find(|(known, _)| *known == name);
    wrong_type(
        &name,
        row.map_or("a string", |(_, expected)| expected),
        value,
    )
}

/// A string for the operating system.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Text(pub(super) String);

impl TryFrom<String> for Text {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.contains('\0') {
            true => Err("expected a string without the character NUL, found a string with NUL"),
            false => Ok(Self(text)),
        }
    }
}

/// The name of a variable, in which `*` matches any characters.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct NameGlob(pub(super) String);

impl TryFrom<String> for NameGlob {
    type Error = String;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        if name.is_empty() || name.contains(['=', '\0']) {
            let expected = "the name of a variable, in which `*` matches any characters";
            return Err(format!("expected {expected}, found `{name}`"));
        }
        Ok(Self(name))
    }
}

#[derive(Deserialize)]
#[serde(try_from = "f64")]
pub(super) struct Seconds(pub(super) Duration);

impl TryFrom<f64> for Seconds {
    type Error = String;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        if seconds > 0.0 && seconds <= LONGEST_TIMEOUT.as_secs_f64() {
            let timeout = Duration::from_secs_f64(seconds);
            return Ok(Self(timeout.max(SHORTEST_TIMEOUT)));
        }
        let unit = match seconds >= 1000.0 {
            true => " (the unit is seconds)",
            false => "",
        };
        Err(format!(
            "expected a number of seconds above 0 and up to 86400, found {seconds}{unit}"
        ))
    }
}

/// Reads the variables of a hook.
pub(super) fn environment(fields: &mut Fields<'_>) -> BTreeMap<String, String> {
    let mut read = BTreeMap::new();
    let variables: BTreeMap<String, Text> = fields.take("env").unwrap_or_default();
    for (name, value) in variables {
        if name.is_empty() || name.contains(['=', '\0']) {
            let expected = "the name of a variable, not empty and without `=`";
            let error = unexpected(format!("env.{name}"), expected, format!("`{name}`"));
            fields.errors.push(error);
        }
        read.insert(name, value.0);
    }
    read
}

/// Why a backspace is refused: it is never meant, and a guard that searches for it guards nothing.
pub(super) const BACKSPACE: &str =
    "`\\b` is a backspace in JSON: for the word boundary of an expression write `\\\\b`";

/// Reads what the hook runs: a text for a shell, or a program.
pub(super) fn command(fields: &mut Fields<'_>) -> Option<HookCommand> {
    let shell: Option<Shell> = fields.take("shell");
    let text: Option<Text> = fields.take("command");
    let args: Option<Vec<Text>> = fields.take("args");
    match (fields.has("command"), fields.has("args")) {
        (true, true) => fields.refuse(
            "args",
            "the key cannot be used together with `command`: remove one of the two",
        ),
        (false, false) => {
            fields.refuse("command", "the key is missing, and there is no `args`");
        }
        (false, true) if fields.has("shell") => fields.refuse(
            "shell",
            "the key cannot be used together with `args`, which run without a shell: remove it",
        ),
        _ => {}
    }
    let command = match (text, args) {
        (Some(Text(text)), _) => HookCommand::Shell { text, shell },
        (None, Some(args)) => HookCommand::Program(args.into_iter().map(|arg| arg.0).collect()),
        (None, None) => return None,
    };
    let is_empty = match &command {
        HookCommand::Shell { text, .. } => text.trim().is_empty(),
        HookCommand::Program(args) => args.first().is_none_or(String::is_empty),
    };
    if is_empty {
        fields.errors.push(HookError::EmptyCommand);
    }
    // What `"\b"` is in JSON, where an expression was meant.
    if command.texts().iter().any(|text| text.contains('\u{8}')) {
        let key = match &command {
            HookCommand::Shell { .. } => "command",
            HookCommand::Program(_) => "args",
        };
        fields.refuse(key, BACKSPACE);
    }
    Some(command)
}
