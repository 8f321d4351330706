//! A hook as an entry of hooks.json, read strictly and written without what is default.
//!
//! Knows one entry, nothing of the file around it.

use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::{
    EventPattern, FailurePolicy, Hook, HookCommand, HookError, LONGEST_TIMEOUT, Reads, Shell, Stdin,
};

/// The keys of an entry, in the order in which they are written.
const KEYS: [&str; 14] = [
    "event",
    "command",
    "args",
    "shell",
    "timeout",
    "working_dir",
    "env",
    "enabled",
    "name",
    "description",
    "on_failure",
    "stdin",
    "reads",
    "background",
];

/// The key that was probably meant by one that is unknown.
pub(crate) fn nearest_key(unknown: &str) -> Option<&'static str> {
    KEYS.into_iter()
        .map(|key| (strsim::jaro_winkler(key, unknown), key))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, key)| key)
}

type Entry = Map<String, Value>;

impl Hook {
    /// The hook as an entry of hooks.json. What is default is left out; keys that were read and
    /// are unknown to this version are kept.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut entry = Map::new();
        let mut put = |key: &str, value: Value| entry.insert(key.to_owned(), value);
        put("event", json!(self.event_pattern()));
        match &self.command {
            HookCommand::Shell { text, shell } => {
                put("command", json!(text));
                if let Some(shell) = shell {
                    put("shell", json!(shell.as_str()));
                }
            }
            HookCommand::Program(args) => {
                put("args", json!(args));
            }
        }
        for (key, value) in self.optional_keys() {
            if let Some(value) = value {
                put(key, value);
            }
        }
        entry.extend(self.unknown.clone());
        Value::Object(entry)
    }

    /// The keys that an entry may go without, each with its value where it is not the default.
    fn optional_keys(&self) -> [(&'static str, Option<Value>); 10] {
        fn unless_default<T: Default + PartialEq>(value: T, name: &str) -> Option<Value> {
            (value != T::default()).then(|| json!(name))
        }
        let dir = self
            .working_dir
            .as_ref()
            .map(|path| json!(path.to_string_lossy()));
        [
            (
                "timeout",
                self.timeout.map(|timeout| json!(timeout.as_secs_f64())),
            ),
            ("working_dir", dir),
            ("env", (!self.env.is_empty()).then(|| json!(self.env))),
            ("enabled", (!self.enabled).then(|| json!(false))),
            ("name", self.name.as_ref().map(|name| json!(name))),
            (
                "description",
                unless_default(self.description.as_str(), &self.description),
            ),
            (
                "on_failure",
                unless_default(self.on_failure, self.on_failure.as_str()),
            ),
            ("stdin", unless_default(self.stdin, self.stdin.as_str())),
            ("reads", unless_default(self.reads, self.reads.as_str())),
            ("background", self.background.then(|| json!(true))),
        ]
    }

    /// Reads an entry of hooks.json. Only `event` and one of `command` and `args` are needed.
    ///
    /// # Errors
    /// When a key is missing or its value cannot be used; the error names the key, what was
    /// expected and what was found. Unknown keys are no error: they are kept.
    pub fn from_json(value: &Value) -> Result<Self, HookError> {
        let Value::Object(entry) = value else {
            return Err(HookError::NotAnObject { found: kind(value) });
        };
        let pattern = EventPattern::new(require(text(entry, "event")?, "event")?)?;
        let mut hook = Self::with_parts(pattern, command(entry)?);
        if let Some(timeout) = timeout(entry)? {
            hook = hook.with_timeout(timeout);
        }
        hook.working_dir = text(entry, "working_dir")?.map(Into::into);
        hook.env = environment(entry)?;
        hook.enabled = switch(entry, "enabled")?.unwrap_or(true);
        hook.name = text(entry, "name")?.map(str::to_owned);
        hook.description = text(entry, "description")?.unwrap_or_default().to_owned();
        hook.on_failure = choice(
            entry,
            "on_failure",
            FailurePolicy::ALL,
            FailurePolicy::as_str,
        )?
        .unwrap_or_default();
        hook.stdin = choice(entry, "stdin", Stdin::ALL, Stdin::as_str)?.unwrap_or_default();
        hook.reads = choice(entry, "reads", Reads::ALL, Reads::as_str)?.unwrap_or_default();
        hook.background = switch(entry, "background")?.unwrap_or(false);
        let is_unknown = |key: &str| !KEYS.contains(&key);
        hook.unknown = entry
            .iter()
            .filter(|(key, _)| is_unknown(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        Ok(hook)
    }

    /// The keys of the entry that this version does not know.
    pub(crate) fn unknown_keys(&self) -> impl Iterator<Item = &str> {
        self.unknown.keys().map(String::as_str)
    }
}

/// What the failure of an entry that is otherwise unusable would mean, as far as it is legible: one
/// in the background could not have blocked.
pub(crate) fn failure_policy_of(entry: &Value) -> FailurePolicy {
    let Some(entry) = entry.as_object() else {
        return FailurePolicy::default();
    };
    if let Ok(Some(true)) = switch(entry, "background") {
        return FailurePolicy::Continue;
    }
    let policy = choice(
        entry,
        "on_failure",
        FailurePolicy::ALL,
        FailurePolicy::as_str,
    );
    policy.ok().flatten().unwrap_or_default()
}

fn key_error(key: impl Into<String>, message: impl Into<String>) -> HookError {
    HookError::Key {
        key: key.into(),
        message: message.into(),
    }
}

fn wrong_type(key: impl Into<String>, expected: &str, found: &Value) -> HookError {
    key_error(key, format!("expected {expected}, found {}", kind(found)))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The value of a key. `null` is a key that is not there: other programs write it so.
fn get<'a>(entry: &'a Entry, key: &str) -> Option<&'a Value> {
    entry.get(key).filter(|value| !value.is_null())
}

fn require<T>(value: Option<T>, key: &str) -> Result<T, HookError> {
    value.ok_or_else(|| key_error(key, "is missing"))
}

/// A string for the operating system, so without NUL.
fn text<'a>(entry: &'a Entry, key: &str) -> Result<Option<&'a str>, HookError> {
    match get(entry, key) {
        None => Ok(None),
        Some(Value::String(text)) => without_nul(text, key).map(Some),
        Some(other) => Err(wrong_type(key, "a string", other)),
    }
}

fn without_nul<'a>(text: &'a str, key: &str) -> Result<&'a str, HookError> {
    if text.contains('\0') {
        return Err(key_error(
            key,
            "expected a string without the character NUL",
        ));
    }
    Ok(text)
}

fn switch(entry: &Entry, key: &str) -> Result<Option<bool>, HookError> {
    match get(entry, key) {
        None => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(*value)),
        Some(other) => Err(wrong_type(key, "true or false", other)),
    }
}

fn choice<T: Copy>(
    entry: &Entry,
    key: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<Option<T>, HookError> {
    let Some(given) = text(entry, key)? else {
        return Ok(None);
    };
    match all.iter().copied().find(|value| name(*value) == given) {
        Some(value) => Ok(Some(value)),
        None => {
            let names: Vec<_> = all
                .iter()
                .map(|value| format!("`{}`", name(*value)))
                .collect();
            Err(key_error(
                key,
                format!("expected one of {}, found `{given}`", names.join(", ")),
            ))
        }
    }
}

fn command(entry: &Entry) -> Result<HookCommand, HookError> {
    let shell = choice(entry, "shell", Shell::ALL, Shell::as_str)?;
    match (text(entry, "command")?, get(entry, "args")) {
        (Some(_), Some(_)) => Err(key_error("args", "cannot stand beside `command`")),
        (None, None) => Err(key_error("command", "is missing")),
        (Some(text), None) if text.trim().is_empty() => Err(HookError::EmptyCommand),
        (Some(text), None) => Ok(HookCommand::Shell {
            text: text.to_owned(),
            shell,
        }),
        (None, Some(_)) if shell.is_some() => Err(key_error(
            "shell",
            "has no meaning beside `args`, which run without a shell",
        )),
        (None, Some(args)) => program(args),
    }
}

fn program(args: &Value) -> Result<HookCommand, HookError> {
    let Value::Array(items) = args else {
        return Err(wrong_type("args", "a list of strings", args));
    };
    let args = items
        .iter()
        .enumerate()
        .map(|(index, item)| match item {
            Value::String(text) => without_nul(text, &format!("args[{index}]")).map(str::to_owned),
            other => Err(wrong_type(format!("args[{index}]"), "a string", other)),
        })
        .collect::<Result<Vec<_>, _>>()?;
    if args.first().is_none_or(String::is_empty) {
        return Err(HookError::EmptyCommand);
    }
    Ok(HookCommand::Program(args))
}

fn timeout(entry: &Entry) -> Result<Option<Duration>, HookError> {
    let seconds = match get(entry, "timeout") {
        None => return Ok(None),
        Some(Value::Number(number)) => number.as_f64().unwrap_or(f64::NAN),
        Some(other) => return Err(wrong_type("timeout", "a number of seconds", other)),
    };
    if seconds > 0.0 && seconds <= LONGEST_TIMEOUT.as_secs_f64() {
        return Ok(Some(Duration::from_secs_f64(seconds)));
    }
    let milliseconds = if seconds >= 1000.0 {
        " (it is in seconds)"
    } else {
        ""
    };
    let message =
        format!("expected seconds above 0 and up to 86400, found {seconds}{milliseconds}");
    Err(key_error("timeout", message))
}

fn environment(entry: &Entry) -> Result<std::collections::BTreeMap<String, String>, HookError> {
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
                return Err(key_error(
                    key,
                    "expected the name of a variable: not empty, without `=`",
                ));
            }
            match value {
                Value::String(text) => Ok((name.clone(), without_nul(text, &key)?.to_owned())),
                other => Err(wrong_type(key, "a string", other)),
            }
        })
        .collect()
}

impl Serialize for Hook {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Hook {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_again() {
        for entry in [
            json!({"event": "tool:*", "command": "true"}),
            json!({"event": "tool:pre_execute", "command": "echo hello", "timeout": 5.0, "description": "Test hook"}),
            json!({"event": "*", "args": ["guard", "--all"], "enabled": false, "stdin": "none"}),
            json!({"event": "*", "command": "x", "shell": "bash", "timeout": 0.1, "working_dir": "a b",
                "env": {"A": "1", "B": ""}, "name": "n", "on_failure": "continue", "reads": "stdin", "background": true,
                "comment": ["kept", {"as": "is"}]}),
        ] {
            let hook = Hook::from_json(&entry).unwrap();
            assert_eq!(hook.to_json(), entry);
            let text = serde_json::to_string(&hook).unwrap();
            assert_eq!(serde_json::from_str::<Hook>(&text).unwrap(), hook);
        }
    }

    #[test]
    fn what_cannot_be_used_is_named_with_what_is_expected() {
        #[track_caller]
        fn case(entry: Value, message: &str) {
            assert_eq!(Hook::from_json(&entry).unwrap_err().to_string(), message);
        }
        case(
            json!([]),
            "expected an object with `event` and `command`, found a list",
        );
        case(json!({"command": "x"}), "`event`: is missing");
        case(
            json!({"event": 1, "command": "x"}),
            "`event`: expected a string, found a number",
        );
        case(
            json!({"event": "a:", "command": "x"}),
            "invalid event pattern `a:` at column 3: something is missing here",
        );
        case(json!({"event": "*"}), "`command`: is missing");
        case(
            json!({"event": "*", "command": "x", "args": ["x"]}),
            "`args`: cannot stand beside `command`",
        );
        case(
            json!({"event": "*", "command": "  "}),
            "the command is empty",
        );
        case(
            json!({"event": "*", "command": "a\0b"}),
            "`command`: expected a string without the character NUL",
        );
        case(
            json!({"event": "*", "args": "x"}),
            "`args`: expected a list of strings, found a string",
        );
        case(json!({"event": "*", "args": []}), "the command is empty");
        case(
            json!({"event": "*", "args": ["x", 1]}),
            "`args[1]`: expected a string, found a number",
        );
        case(
            json!({"event": "*", "args": ["x"], "shell": "sh"}),
            "`shell`: has no meaning beside `args`, which run without a shell",
        );
        case(
            json!({"event": "*", "command": "x", "timeout": "5"}),
            "`timeout`: expected a number of seconds, found a string",
        );
        case(
            json!({"event": "*", "command": "x", "timeout": 0}),
            "`timeout`: expected seconds above 0 and up to 86400, found 0",
        );
        case(
            json!({"event": "*", "command": "x", "timeout": 100_000}),
            "`timeout`: expected seconds above 0 and up to 86400, found 100000 (it is in seconds)",
        );
        case(
            json!({"event": "*", "command": "x", "enabled": "yes"}),
            "`enabled`: expected true or false, found a string",
        );
        case(
            json!({"event": "*", "command": "x", "env": []}),
            "`env`: expected an object of strings, found a list",
        );
        case(
            json!({"event": "*", "command": "x", "env": {"A": 1}}),
            "`env.A`: expected a string, found a number",
        );
        case(
            json!({"event": "*", "command": "x", "env": {"A=B": "1"}}),
            "`env.A=B`: expected the name of a variable: not empty, without `=`",
        );
        case(
            json!({"event": "*", "command": "x", "on_failure": "blok"}),
            "`on_failure`: expected one of `block`, `continue`, found `blok`",
        );
    }

    #[test]
    fn null_is_a_key_that_is_not_there() {
        let entry = json!({"event": "*", "command": "x", "timeout": null, "env": null, "working_dir": null});
        assert_eq!(
            Hook::from_json(&entry).unwrap(),
            Hook::new("*", "x").unwrap()
        );
    }

    #[test]
    fn a_mistyped_key_finds_its_neighbour() {
        for (given, expected) in [
            ("timout", Some("timeout")),
            ("comand", Some("command")),
            ("workingDir", Some("working_dir")),
            ("zebra", None),
        ] {
            assert_eq!(nearest_key(given), expected);
        }
    }
}
