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
use super::error::{BACKSPACE, HookError, LIKE_A_KEY, kind};
use super::options::Options;
use super::parts::{FailurePolicy, HookCommand, Shell, Stdin};
use super::when::When;
use crate::events::{EventType, nearest};
use crate::pattern::EventPattern;

/// The keys of an entry, in the order in which they are written.
const KEYS: &str = "event when command args shell timeout working_dir env inherit enabled name description \
                    on_failure stdin reads inputs background resident";

/// What is expected of a key, or in place of what serde expects. Everything else is a string.
const EXPECTED: [(&str, &str); 7] = [
    ("event", "a string (a comma separates patterns)"),
    (
        "command",
        "a string (a program with its arguments is `args`)",
    ),
    ("args", "a list of strings (a shell command is `command`)"),
    ("a sequence", "a list of strings"),
    ("a map", "an object of strings"),
    ("a boolean", "true or false"),
    ("f64", "a number of seconds"),
];

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
        let mut reading = Reading::new(entry);
        match reading.settings() {
            Some(settings) if reading.errors.is_empty() => Ok(Self::of(settings)),
            _ => Err(reading.errors),
        }
    }
}

impl Settings {
    fn to_json(&self) -> Value {
        // The unknown keys first, so that none can hide a setting.
        let mut entry = self.unknown.clone();
        let (set, unset) = (json!(self.options), json!(Options::default()));
        let options = set.as_object().into_iter().flatten();
        let changed = options.filter(|(key, value)| unset[*key] != **value);
        entry.extend(changed.map(|(key, value)| (key.clone(), value.clone())));
        let mut set = |key: &str, value: Value| drop(entry.insert(key.to_owned(), value));
        set("event", json!(self.pattern.as_str()));
        match &self.command {
            HookCommand::Shell { text, shell } => {
                set("command", json!(text));
                shell.iter().for_each(|shell| set("shell", json!(shell)));
            }
            HookCommand::Program(args) => set("args", json!(args)),
        }
        if let Some(when) = &self.when {
            set("when", when.to_json());
        }
        if !self.enabled {
            set("enabled", json!(false));
        }
        if let Some(own) = &self.protocol {
            set("protocol", own.definition.clone());
        }
        Value::Object(entry)
    }
}

/// An entry that is read, and what is wrong with it.
struct Reading<'a> {
    given: &'a Map<String, Value>,
    /// The known keys, without those that cannot be read. `null` counts as missing, since other programs write it for
    /// missing values.
    left: Value,
    errors: Vec<HookError>,
}

impl<'a> Reading<'a> {
    fn new(given: &'a Map<String, Value>) -> Self {
        let known = given.iter();
        let known = known.filter(|(key, value)| is_key(key) && !value.is_null());
        Self {
            given,
            left: known
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
            errors: Vec::new(),
        }
    }

    fn refuse(&mut self, key: &str, message: impl Into<String>) {
        self.errors.push(HookError::key(key, message));
    }

    /// Returns the value, or adds the error to the list.
    fn note<T>(&mut self, read: Result<T, HookError>) -> Option<T> {
        read.map_err(|error| self.errors.push(error)).ok()
    }

    /// Reads those keys that the type has. serde stops at the first value that it cannot read: this one is removed, and
    /// the others are read again.
    fn read<T: DeserializeOwned + Default>(&mut self) -> T {
        loop {
            let error = match serde_path_to_error::deserialize(&self.left) {
                Ok(read) => return read,
                Err(error) => error,
            };
            self.errors.push(unreadable(&self.left, &error));
            let first = match error.path().iter().next() {
                Some(Segment::Map { key }) => {
                    self.left.as_object_mut().and_then(|it| it.remove(key))
                }
                _ => None,
            };
            if first.is_none() {
                return T::default();
            }
        }
    }

    /// Reads all keys. None if the hook would have no events or nothing to run.
    fn settings(&mut self) -> Option<Settings> {
        if self.given.contains_key("protocol") {
            let words = "a host sets it in its program, and it cannot be read: remove the key";
            self.refuse("protocol", words);
        }
        let has = ["event", "command", "args", "shell"].map(|key| self.left.get(key).is_some());
        let others: Others = self.read();
        let options: Options = self.read();
        self.check_keys(has, &options);
        self.check_texts();
        self.check_names(&options);
        let pattern = others
            .event
            .map(|text| EventPattern::new(text).map_err(HookError::from));
        let pattern = pattern.and_then(|pattern| self.note(pattern));
        self.check_withhold(pattern.as_ref(), &options);
        let when = When::read(&self.left["when"]);
        let when = self.note(when).flatten();
        let command = match (others.command, others.args) {
            (Some(text), _) => HookCommand::Shell {
                text,
                shell: others.shell,
            },
            (None, args) => HookCommand::Program(args?),
        };
        if command.is_empty() {
            self.errors.push(HookError::EmptyCommand);
        }
        let unknown = self.given.iter().filter(|(key, _)| !is_key(key));
        let unknown = unknown.map(|(key, value)| (key.clone(), value.clone()));
        Some(Settings {
            when,
            options,
            enabled: others.enabled.unwrap_or(true),
            unknown: unknown.collect(),
            ..Settings::new(pattern?, command)
        })
    }

    /// Reports keys that are missing, and those that cannot be used together.
    fn check_keys(&mut self, [event, command, args, shell]: [bool; 4], options: &Options) {
        let is_resident = options.resident;
        let withholds = options.on_failure == FailurePolicy::Withhold;
        for (is_wrong, key, words) in [
            (!event, "event", "the key is missing"),
            (
                !command && !args,
                "command",
                "the key is missing, and there is no `args`",
            ),
            (
                command && args,
                "args",
                "the key cannot be used together with `command`: remove one of the two",
            ),
            (
                !command && args && shell,
                "shell",
                "the key cannot be used together with `args`, which run without a shell: remove it",
            ),
            (
                withholds && options.background,
                "on_failure",
                "a hook in the `background` cannot `withhold` output, since the program does not wait for it: remove `background`",
            ),
            (
                is_resident && options.background,
                "resident",
                "the key cannot be used together with `background`, since the program must wait for a resident hook's answer: remove one of the two",
            ),
            (
                is_resident && options.stdin == Stdin::None,
                "resident",
                "a resident hook reads its events from standard input: remove `stdin`",
            ),
        ] {
            if is_wrong {
                self.refuse(key, words);
            }
        }
    }

    /// Reports that a hook with the policy `withhold` is for events that have no output.
    fn check_withhold(&mut self, pattern: Option<&EventPattern>, options: &Options) {
        if let Some(pattern) = pattern
            && options.on_failure == FailurePolicy::Withhold
            && !pattern.matches_only(&EventType::ToolPostExecute)
        {
            let message = format!(
                "`withhold` is only for hooks on `tool:post_execute`, but `{pattern}` matches other events too: name only that event"
            );
            self.refuse("on_failure", message);
        }
    }

    /// Reports characters in texts that no program can receive, or that are never meant.
    fn check_texts(&mut self) {
        let entry = self.left.as_object().into_iter().flatten();
        for (key, value) in entry.filter(|(key, _)| !["when", "inherit"].contains(&key.as_str())) {
            let texts: Vec<(String, &Value)> = match value {
                Value::Array(items) => {
                    let items = items.iter().enumerate();
                    items
                        .map(|(index, item)| (format!("{key}[{index}]"), item))
                        .collect()
                }
                Value::Object(members) => {
                    let members = members.iter();
                    members
                        .map(|(name, item)| (format!("{key}.{name}"), item))
                        .collect()
                }
                text => vec![(key.clone(), text)],
            };
            for (place, text) in texts {
                let text = text.as_str().unwrap_or_default();
                if text.contains('\0') {
                    let expected = "a string without the character NUL";
                    self.errors
                        .push(HookError::unexpected(place, expected, "a string with NUL"));
                } else if text.contains('\u{8}') && ["command", "args"].contains(&key.as_str()) {
                    self.errors.push(HookError::key(place, BACKSPACE));
                }
            }
        }
    }

    /// Reports names that no variable can have.
    fn check_names(&mut self, options: &Options) {
        let is_wrong = |name: &str| name.is_empty() || name.contains(['=', '\0']);
        let own = options
            .env
            .keys()
            .map(|name| (format!("env.{name}"), name, ENV_NAME));
        let inherited = options.inherit.iter().flatten().enumerate();
        let inherited =
            inherited.map(|(index, name)| (format!("inherit[{index}]"), name, INHERIT_NAME));
        for (place, name, expected) in own.chain(inherited).filter(|(_, name, _)| is_wrong(name)) {
            self.errors
                .push(HookError::unexpected(place, expected, &format!("`{name}`")));
        }
    }
}

const ENV_NAME: &str = "the name of a variable, not empty and without `=`";
const INHERIT_NAME: &str = "the name of a variable, in which `*` matches any characters";

/// Says which value cannot be read, and why.
fn unreadable(entry: &Value, error: &serde_path_to_error::Error<serde_json::Error>) -> HookError {
    let key = error.path().to_string();
    let words = error.inner().to_string();
    if let Some((expected, found)) = words
        .strip_prefix("expected ")
        .and_then(|it| it.split_once(", found "))
    {
        return HookError::unexpected(key, expected, found);
    }
    // As in `invalid type: integer `5`, expected a string`.
    let wanted = words
        .rsplit_once("expected ")
        .map_or("", |(_, wanted)| wanted);
    let expected = EXPECTED
        .iter()
        .find(|(known, _)| *known == key || *known == wanted);
    let value = error
        .path()
        .iter()
        .fold(entry, |value, segment| match segment {
            Segment::Seq { index } => &value[*index],
            Segment::Map { key } => &value[key],
            _ => value,
        });
    HookError::unexpected(
        key,
        expected.map_or("a string", |(_, words)| words),
        kind(value),
    )
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
