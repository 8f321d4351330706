//! A hook's entry in hooks.json: reading it strictly, with all its errors at once, and writing it without defaults.
//!
//! Knows one entry, not the file around it.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use serde_path_to_error::Segment;

use super::canonical::{canonical, fnv1a};
use super::condition::Allowance;
use super::definition::{Hook, Settings};
use super::error::{BACKSPACE, HookError, LIKE_A_KEY};
use super::when::When;
use crate::entry::{FailurePolicy, HookCommand, Options, Shell, Stdin};
use crate::events::{EventType, nearest};
use crate::json::kind;
use crate::pattern::EventPattern;

/// The keys of an entry, in the order in which they are written.
const KEYS: &str = "event when command args shell timeout working_dir env inherit enabled name description \
                    on_failure stdin reads inputs background resident sandbox";

/// What is expected of a key, or in place of what serde expects. Everything else is a string.
const EXPECTED: [(&str, &str); 8] = [
    ("event", "a string (a comma separates patterns)"),
    (
        "command",
        "a string (a program with its arguments is `args`)",
    ),
    ("args", "a list of strings (a shell command is `command`)"),
    ("a sequence", "a list of strings"),
    (
        "sandbox",
        "true, or an object with `read`, `write` and `network`",
    ),
    ("a map", "an object of strings"),
    ("a boolean", "true or false"),
    ("f64", "a number of seconds"),
];

const WITHHOLD: &str = "`withhold` is only for hooks on `tool:post_execute`: name only that event";

/// The keys that a hook has in another form.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Others {
    event: Option<String>,
    command: Option<String>,
    args: Option<Vec<String>>,
    shell: Option<Shell>,
    enabled: Option<bool>,
}

/// The keys of an entry, in the order in which they are written.
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.split(' ')
}

/// Returns whether an entry may have this key.
pub(crate) fn is_key(key: &str) -> bool {
    keys().any(|known| known == key)
}

/// Returns the members of an entry in the order in which they are written, unknown keys last. A `Value` may
/// have another order.
pub(crate) fn in_order(entry: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let known = keys().filter_map(|key| Some((key, entry.get(key)?)));
    let members = entry.iter().map(|(key, value)| (key.as_str(), value));
    known.chain(members.filter(|(key, _)| !is_key(key)))
}

/// Returns the key that an unknown one is probably a typo of.
pub(crate) fn nearest_key(unknown: &str) -> Option<&'static str> {
    nearest(unknown, keys(), LIKE_A_KEY)
}

/// Returns the failure policy of an entry that cannot be used. For a hook in the background that does not withhold,
/// it is to continue, since it cannot block. None if the policy cannot be read.
pub(crate) fn failure_policy_of(entry: &Value) -> Option<FailurePolicy> {
    let entry = entry.as_object()?;
    let policy = entry.get("on_failure").unwrap_or(&Value::Null);
    let policy = Option::deserialize(policy);
    let policy = policy.ok().map(Option::unwrap_or_default);
    match entry.get("background") {
        Some(Value::Bool(true)) if policy != Some(FailurePolicy::Withhold) => {
            Some(FailurePolicy::Continue)
        }
        _ => policy,
    }
}

impl Hook {
    /// Returns the hook's entry in hooks.json, without values that are defaults. Keys that were read and that
    /// this version does not know are kept.
    #[must_use]
    pub fn to_json(&self) -> Value {
        self.settings.to_json()
    }

    /// The fingerprint of the hook's definition and base directory, the same in every program. If two hooks
    /// have the same fingerprint, neither runs below the other.
    pub(crate) fn fingerprint(&self) -> u64 {
        *self.fingerprint.get_or_init(|| {
            let definition = canonical(&self.to_json());
            let base = self.base_dir().map(|path| path.to_string_lossy());
            let base = base.iter().flat_map(|base| base.bytes());
            fnv1a(definition.bytes().chain([0]).chain(base))
        })
    }

    /// Reads an entry of hooks.json. Required are `event`, and one of `command` and `args`.
    ///
    /// # Errors
    /// When a key is missing or its value cannot be used: the error contains the key, and what was expected
    /// and found. An unknown key is not an error: it is kept.
    pub fn from_json(value: &Value) -> Result<Self, HookError> {
        // `read` returns at least one error.
        let first = |errors: Vec<HookError>| errors.into_iter().next();
        let hook =
            Self::read(value).map_err(|errors| first(errors).unwrap_or(HookError::EmptyCommand))?;
        hook.compile_when(&Allowance::default())?;
        Ok(hook)
    }

    /// Reads an entry, and returns all its errors, except those that only compiling its conditions would
    /// find.
    pub(crate) fn read(value: &Value) -> Result<Self, Vec<HookError>> {
        let Value::Object(entry) = value else {
            return Err(vec![HookError::NotAnObject { found: kind(value) }]);
        };
        let members = entry.clone().into_iter();
        let (mut keys, unknown): (Map<_, _>, Map<_, _>) = members.partition(|(key, _)| is_key(key));
        keys.retain(|_, value| !value.is_null());
        let mut reading = Reading {
            keys: Value::Object(keys),
            errors: Vec::new(),
        };
        if unknown.contains_key("protocol") {
            let words = "a host sets it in its program, and it cannot be read: remove the key";
            reading.errors.push(HookError::key("protocol", words));
        }
        match reading.settings(unknown) {
            Some(settings) if reading.errors.is_empty() => Ok(Self::of(settings)),
            _ => Err(reading.errors),
        }
    }
}

impl Settings {
    fn to_json(&self) -> Value {
        let (command, shell) = match &self.command {
            HookCommand::Shell { text, shell } => (("command", json!(text)), *shell),
            HookCommand::Program(args) => (("args", json!(args)), None),
        };
        let unset = json!(Options::default());
        let mut options = json!(self.options);
        for (key, value) in options.as_object_mut().into_iter().flatten() {
            if unset[key] == *value {
                value.take();
            }
        }
        let others = json!({
            "event": self.pattern.as_str(),
            "when": self.when.as_ref().map(|when| when.to_json()),
            (command.0): command.1,
            "shell": shell,
            "enabled": (!self.enabled).then_some(false),
            "protocol": self.protocol.as_ref().map(|own| &own.definition),
        });
        let known = [options, others].into_iter();
        let known = known.flat_map(|it| it.as_object().cloned().unwrap_or_default());
        // The unknown keys first, so that none can hide a setting.
        let mut entry = self.unknown.clone();
        entry.extend(known.filter(|(_, value)| !value.is_null()));
        Value::Object(entry)
    }
}

/// An entry that is read, and what is wrong with it.
struct Reading {
    /// The known keys, without those that cannot be read. `null` counts as missing, since other programs write it for
    /// missing values.
    keys: Value,
    errors: Vec<HookError>,
}

impl Reading {
    /// Reads those keys that the type has. serde stops at the first value that it cannot read: this one is removed, and
    /// the others are read again.
    fn read<T: DeserializeOwned + Default>(&mut self) -> T {
        loop {
            let error = match serde_path_to_error::deserialize(&self.keys) {
                Ok(read) => return read,
                Err(error) => error,
            };
            self.errors.push(unreadable(&self.keys, &error));
            let removed = match (error.path().iter().next(), self.keys.as_object_mut()) {
                (Some(Segment::Map { key }), Some(keys)) => keys.remove(key),
                _ => None,
            };
            if removed.is_none() {
                return T::default();
            }
        }
    }

    /// Returns the value, or adds the error to the list.
    fn note<T, E: Into<HookError>>(&mut self, read: Result<T, E>) -> Option<T> {
        read.map_err(|error| self.errors.push(error.into())).ok()
    }

    /// Reads all keys. None if the hook would have no events or nothing to run.
    fn settings(&mut self, unknown: Map<String, Value>) -> Option<Settings> {
        let given = self.keys.clone();
        let others: Others = self.read();
        let options: Options = self.read();
        let pattern = others.event.map(EventPattern::new);
        let pattern = pattern.and_then(|read| self.note(read));
        let when = When::read(&self.keys["when"]);
        let when = self.note(when).flatten();
        self.check_texts();
        self.check_names(&options);
        self.check_keys(&given, &options, pattern.as_ref());
        let shell = others.shell;
        let command = match (others.command, others.args) {
            (Some(text), _) => HookCommand::Shell { text, shell },
            (None, args) => HookCommand::Program(args?),
        };
        if command.is_empty() {
            self.errors.push(HookError::EmptyCommand);
        }
        Some(Settings {
            when,
            options,
            enabled: others.enabled.unwrap_or(true),
            unknown,
            ..Settings::new(pattern?, command)
        })
    }

    /// Reports keys that are missing, and those that cannot be used together.
    fn check_keys(&mut self, given: &Value, options: &Options, pattern: Option<&EventPattern>) {
        let has = |key| given.get(key).is_some();
        let (is_resident, in_background) = (options.resident, options.background);
        let withholds = options.on_failure == FailurePolicy::Withhold;
        let mut refuse_if = |is_wrong: bool, key: &str, words: &str| {
            if is_wrong {
                self.errors.push(HookError::key(key, words));
            }
        };
        refuse_if(!has("event"), "event", "the key is missing");
        let nothing = !has("command") && !has("args");
        let words = "the key is missing, and there is no `args`";
        refuse_if(nothing, "command", words);
        refuse_if(has("command") && has("args"), "args", &beside("command"));
        refuse_if(has("shell") && has("args"), "shell", &beside("args"));
        refuse_if(
            is_resident && in_background,
            "resident",
            &beside("background"),
        );
        let no_input = options.stdin == Stdin::None;
        refuse_if(is_resident && no_input, "resident", &beside("stdin"));
        let never_waits = withholds && in_background;
        refuse_if(never_waits, "on_failure", &beside("background"));
        let others = pattern.filter(|it| !it.matches_only(&EventType::ToolPostExecute));
        let has_no_output = withholds && others.is_some();
        refuse_if(has_no_output, "on_failure", WITHHOLD);
    }

    /// Reports texts that no program can receive, or that are never meant.
    fn check_texts(&mut self) {
        for (key, value) in self.keys.as_object().into_iter().flatten() {
            let key = key.as_str();
            if !["inherit", "when"].contains(&key)
                && let Some(place) = place_of('\0', key, value)
            {
                let expected = "a string without the character NUL";
                let error = HookError::unexpected(place, expected, "a string with NUL");
                self.errors.push(error);
            }
            if ["args", "command"].contains(&key)
                && let Some(place) = place_of('\u{8}', key, value)
            {
                self.errors.push(HookError::key(place, BACKSPACE));
            }
        }
    }

    /// Reports names that no variable can have.
    fn check_names(&mut self, options: &Options) {
        let is_wrong = |name: &String| name.is_empty() || name.contains(['=', '\0']);
        for name in options.env.keys().filter(|name| is_wrong(name)) {
            let expected = "the name of a variable, not empty and without `=`";
            let (key, found) = (format!("env.{name}"), format!("`{name}`"));
            self.errors
                .push(HookError::unexpected(key, expected, &found));
        }
        let inherited = options.inherit.iter().flatten().enumerate();
        for (index, name) in inherited.filter(|(_, name)| is_wrong(name)) {
            let expected = "the name of a variable, in which `*` matches any characters";
            let (key, found) = (format!("inherit[{index}]"), format!("`{name}`"));
            self.errors
                .push(HookError::unexpected(key, expected, &found));
        }
    }
}

/// Why a key cannot be used.
fn beside(other: &str) -> String {
    format!("the value cannot be used together with `{other}`: remove one of the two")
}

/// Returns the place of the first text with this character.
fn place_of(c: char, key: &str, value: &Value) -> Option<String> {
    match value {
        Value::String(text) => text.contains(c).then(|| key.to_owned()),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| place_of(c, &format!("{key}[{index}]"), item))
        }
        Value::Object(members) => {
            let mut members = members.iter();
            members.find_map(|(name, member)| place_of(c, &format!("{key}.{name}"), member))
        }
        _ => None,
    }
}

/// Says which value cannot be read, and why.
fn unreadable(entry: &Value, error: &serde_path_to_error::Error<serde_json::Error>) -> HookError {
    let key = error.path().to_string();
    let words = error.inner().to_string();
    let own = words.strip_prefix("expected ");
    if let Some((expected, found)) = own.and_then(|words| words.split_once(", found ")) {
        return HookError::unexpected(key, expected, found);
    }
    // As in `invalid type: integer `5`, expected a string`.
    let (_, wanted) = words.rsplit_once("expected ").unwrap_or_default();
    let mut known = EXPECTED.iter();
    let row = known.find(|(known, _)| *known == key || *known == wanted);
    let mut path = error.path().iter();
    let value = path.try_fold(entry, |value, segment| match segment {
        Segment::Seq { index } => value.get(index),
        Segment::Map { key } => value.get(key),
        _ => None,
    });
    let expected = row.map_or("a string", |(_, words)| words);
    HookError::unexpected(key, expected, kind(value.unwrap_or(&Value::Null)))
}

impl Serialize for Hook {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entry = self.to_json();
        serializer.collect_map(entry.as_object().into_iter().flat_map(in_order))
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
            json!({"event": "*", "when": {"/a": "x*", "/b": ["y", "z"], "/c~1d/0": {"regex": "^a"}}, "command": "x"}),
            json!({"event": "*", "when": {}, "command": "x"}),
            json!({"event": "*", "args": ["python3", "-I", "guard.py"], "resident": true}),
            json!({"event": "*", "args": ["guard", "--all"], "inherit": [], "enabled": false, "stdin": "none"}),
            json!({"event": "*", "command": "x", "shell": "bash", "timeout": 0.1, "working_dir": "a b",
                "env": {"A": "1", "B": ""}, "inherit": ["PATH", "LC_*"], "name": "n", "on_failure": "continue", "reads": "stdin", "background": true, "inputs": ["a"],
                "comment": ["kept", {"as": "is"}]}),
        ] {
            let hook = Hook::from_json(&entry).unwrap();
            assert_eq!(hook.to_json(), entry);
            let text = serde_json::to_string(&hook).unwrap();
            assert!(text.starts_with("{\"event\":"), "{text}");
            assert_eq!(serde_json::from_str::<Hook>(&text).unwrap(), hook);
        }
    }

    #[test]
    fn all_errors_are_found_at_once() {
        let entry = json!({"event": "a:", "command": 1, "timeout": 0, "on_failure": "blok", "env": {"A": 1},
            "inherit": ["A", "B=1"]});
        let errors = Hook::read(&entry).unwrap_err();
        assert_eq!(errors.len(), 6, "{errors:?}");
        let message = "`inherit[1]`: expected the name of a variable, in which `*` matches any characters, found `B=1`";
        assert!(
            errors.iter().any(|it| it.to_string() == message),
            "{errors:?}"
        );
        assert_eq!(Hook::from_json(&entry).unwrap_err(), errors[0]);
        let mut keys = errors.iter().filter_map(|it| match it {
            HookError::Key(error) => Some(error),
            _ => None,
        });
        let error = keys.find(|it| it.key == "on_failure").unwrap();
        assert_eq!(error.suggestion.as_deref(), Some("block"));
        assert_eq!(error.found.as_deref(), Some("`blok`"));
    }

    #[test]
    fn null_is_a_key_that_is_not_there() {
        let entry = json!({"event": "*", "command": "x", "timeout": null, "env": null, "working_dir": null});
        assert_eq!(
            Hook::from_json(&entry).unwrap(),
            Hook::new("*", "x").unwrap()
        );
    }
}
