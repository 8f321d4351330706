//! A hook's entry in hooks.json: reading it strictly, and writing it without defaults.
//!
//! Knows one entry, not the file around it.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::canonical::{canonical, fnv1a};
use super::condition::Allowance;
use super::definition::{Hook, Settings};
use super::error::HookError;
use super::inherit::Inherit;
use super::keys::{Fields, NameGlob, Seconds, Text, command, environment, in_order, is_key, kind};
use super::parts::{FailurePolicy, HookCommand, Stdin};
use super::when::When;
use crate::events::EventType;
use crate::pattern::EventPattern;

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
        hook.compile_when(&mut Allowance::default())?;
        Ok(hook)
    }

    /// Reads an entry, and returns all its errors, except those that only compiling its conditions would
    /// find.
    pub(crate) fn read(value: &Value) -> Result<Self, Vec<HookError>> {
        let Value::Object(entry) = value else {
            return Err(vec![HookError::NotAnObject { found: kind(value) }]);
        };
        let mut fields = Fields::new(entry);
        let settings = settings(&mut fields);
        match settings.filter(|_| fields.errors.is_empty()) {
            Some(settings) => Ok(Self::of(settings)),
            None => Err(fields.errors),
        }
    }
}

impl Settings {
    fn to_json(&self) -> Value {
        fn changed<T: Default + PartialEq + Serialize>(value: &T) -> Option<Value> {
            (*value != T::default()).then(|| json!(value))
        }
        let (command, shell) = match &self.command {
            HookCommand::Shell { text, shell } => (("command", json!(text)), shell.as_ref()),
            HookCommand::Program(args) => (("args", json!(args)), None),
        };
        let timeout = self.timeout.map(|timeout| json!(timeout.as_secs_f64()));
        let directory = self.working_dir.as_ref();
        let directory = directory.map(|path| json!(path.to_string_lossy()));
        let keys = [
            ("event", Some(json!(self.pattern.as_str()))),
            ("when", self.when.as_ref().map(|when| when.to_json())),
            (command.0, Some(command.1)),
            ("shell", shell.map(|shell| json!(shell))),
            ("timeout", timeout),
            ("working_dir", directory),
            ("env", changed(&self.env)),
            ("inherit", self.inherit.as_ref().map(|it| json!(it.names()))),
            ("enabled", (!self.enabled).then_some(Value::Bool(false))),
            ("name", self.name.as_ref().map(|name| json!(name))),
            ("description", changed(&self.description)),
            ("on_failure", changed(&self.on_failure)),
            ("stdin", changed(&self.stdin)),
            ("reads", changed(&self.reads)),
            ("inputs", changed(&self.inputs)),
            ("background", changed(&self.background)),
            ("resident", changed(&self.resident)),
            (
                "protocol",
                self.protocol.as_ref().map(|own| own.definition.clone()),
            ),
        ];
        // The unknown keys first, so that none can hide a setting.
        let mut entry = self.unknown.clone();
        for (key, value) in keys {
            if let Some(value) = value {
                entry.insert(key.to_owned(), value);
            }
        }
        Value::Object(entry)
    }
}

/// Reads the keys in the order in which their errors are reported.
fn settings(fields: &mut Fields<'_>) -> Option<Settings> {
    if fields.entry.contains_key("protocol") {
        let words = "a host sets it in its program, and it cannot be read: remove the key";
        fields.refuse("protocol", words);
    }
    let pattern = pattern(fields);
    let command = command(fields);
    let (has_pattern, has_command) = (pattern.is_some(), command.is_some());
    let placeholder = HookCommand::Program(Vec::new());
    let mut read = Settings::new(
        pattern.unwrap_or_else(EventPattern::any),
        command.unwrap_or(placeholder),
    );
    let when = When::read(fields.entry);
    let text = |text: Text| text.0;
    read.timeout = fields.take("timeout").map(|Seconds(timeout)| timeout);
    read.working_dir = fields.take("working_dir").map(|Text(path)| path.into());
    read.name = fields.take("name").map(text);
    read.description = fields.take("description").map(text).unwrap_or_default();
    let inherit: Option<Vec<NameGlob>> = fields.take("inherit");
    read.inherit = inherit.map(|names| Inherit::new(names.into_iter().map(|name| name.0)));
    let inputs: Vec<Text> = fields.take("inputs").unwrap_or_default();
    read.inputs = inputs.into_iter().map(text).collect();
    read.when = fields.note(when).flatten();
    read.env = environment(fields);
    read.enabled = fields.take("enabled").unwrap_or(true);
    read.on_failure = fields.take("on_failure").unwrap_or_default();
    read.stdin = fields.take("stdin").unwrap_or_default();
    read.reads = fields.take("reads").unwrap_or_default();
    read.background = fields.take("background").unwrap_or_default();
    read.resident = fields.take("resident").unwrap_or_default();
    let unknown = fields.entry.iter().filter(|(key, _)| !is_key(key));
    read.unknown = unknown
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    check_withhold(fields, &read, has_pattern);
    check_resident(fields, &read);
    (has_pattern && has_command).then_some(read)
}

/// Checks that a hook with the policy `withhold` can withhold the output of a tool.
fn check_withhold(fields: &mut Fields<'_>, read: &Settings, has_pattern: bool) {
    if read.on_failure != FailurePolicy::Withhold {
        return;
    }
    let pattern = &read.pattern;
    if has_pattern && !pattern.matches_only(&EventType::ToolPostExecute) {
        let message = format!(
            "`withhold` is only for hooks on `tool:post_execute`, but `{}` matches other events too: name only that event",
            pattern.as_str()
        );
        fields.refuse("on_failure", message);
    } else if read.background {
        let message = "a hook in the `background` cannot `withhold` output, since the program does not wait for it: remove `background`";
        fields.refuse("on_failure", message);
    }
}

fn check_resident(fields: &mut Fields<'_>, read: &Settings) {
    if read.resident && read.background {
        let message = "the key cannot be used together with `background`, since the program must wait for a resident hook's answer: remove one of the two";
        fields.refuse("resident", message);
    } else if read.resident && read.stdin == Stdin::None {
        let message = "a resident hook reads its events from standard input: remove `stdin`";
        fields.refuse("resident", message);
    }
}

fn pattern(fields: &mut Fields<'_>) -> Option<EventPattern> {
    if !fields.has("event") {
        fields.refuse("event", "the key is missing");
    }
    let Text(pattern) = fields.take("event")?;
    let pattern = EventPattern::new(pattern).map_err(HookError::from);
    fields.note(pattern)
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
