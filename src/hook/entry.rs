//! A hook's entry in hooks.json: reading it strictly, with all its errors at once, and writing it without defaults.
//!
//! Knows one entry, but not the file around it. The keys of the entry are in `keys`.

use std::ops::Range;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::canonical::{canonical, fnv1a};
use super::condition::FOR_GUARDS;
use super::definition::{Hook, Settings};
use super::error::{BACKSPACE, Cause, EMPTY_ANSWER, Fault, HookError, LIKE_A_KEY};
use super::keys::{self, CASES, Entry, KEYS, MOST_FAULTS, is_variable};
use crate::entry::{Decision, FailurePolicy, HookCommand, HookOutput, May, Stdin};
use crate::events::{EventType, nearest};
use crate::json::{Member, Node};
use crate::pattern::EventPattern;

const WITHHOLD: &str = "`withhold` is only for hooks on `tool:post_execute`: name only that event";

/// The keys of an entry, in the order in which they are written.
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.name)
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

/// Returns the key of which an unknown key is probably a typo.
pub(crate) fn nearest_key(unknown: &str) -> Option<&'static str> {
    nearest(unknown, keys(), LIKE_A_KEY)
}

/// An entry that cannot be used: the reasons, and the part of it that could be read.
pub(crate) struct Unusable {
    /// The reasons, at least one.
    pub(crate) faults: Vec<Fault>,
    entry: Entry,
}

impl Unusable {
    /// Creates the value for the entry of a hook that can be read, but cannot be used.
    pub(crate) fn of(hook: &Hook, faults: Vec<Fault>) -> Self {
        let entry = hook.settings.entry();
        Self { faults, entry }
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.entry.enabled != Some(false)
    }

    pub(crate) fn event(&self) -> Option<&str> {
        self.entry.event.as_deref()
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.entry.options.name.as_deref()
    }

    /// Returns the policy, if it can be read. For a hook in the background that does not withhold, it is to continue, since
    /// such a hook cannot block.
    pub(crate) fn policy(&self) -> Option<FailurePolicy> {
        let options = &self.entry.options;
        let is_illegible = self.faults.iter().any(|fault| match &fault.error {
            HookError(Cause::NotAnObject { .. }) => true,
            error => error.key_path() == "on_failure",
        });
        match options.on_failure {
            FailurePolicy::Block if options.background => Some(FailurePolicy::Continue),
            policy => (!is_illegible).then_some(policy),
        }
    }
}

impl Hook {
    /// Returns the hook's entry in hooks.json, without values that are defaults. Keys that were read and that
    /// this version does not know are kept.
    #[must_use]
    pub fn to_json(&self) -> Value {
        self.settings.to_json()
    }

    /// Returns the entry without what changes no run of the hook: its cases.
    pub(crate) fn behavior(&self) -> Value {
        let mut entry = self.to_json();
        if let Some(members) = entry.as_object_mut() {
            members.remove(CASES);
        }
        entry
    }

    /// Returns the fingerprint of the hook's definition and base directory, the same in every program. If two hooks have the
    /// same fingerprint, neither runs below the other.
    pub(crate) fn fingerprint(&self) -> u64 {
        *self.fingerprint.get_or_init(|| {
            let definition = canonical(&self.behavior());
            let base = self.base_dir().map(|path| path.to_string_lossy());
            let base = base.iter().flat_map(|base| base.bytes());
            fnv1a(definition.bytes().chain([0]).chain(base))
        })
    }

    /// Reads an entry of hooks.json. The keys `event`, and one of `command` and `args`, are required.
    ///
    /// # Errors
    /// When a key is missing or its value cannot be used: the error contains the key, and what was expected
    /// and found. An unknown key is not an error: it is kept.
    pub fn from_json(value: &Value) -> Result<Self, HookError> {
        let hook = Self::read(Node::from(value)).map_err(|unusable| {
            let first = unusable.faults.into_iter().next();
            first.map_or(HookError::EMPTY_COMMAND, |fault| fault.error)
        })?;
        hook.check_when()?;
        Ok(hook)
    }

    /// Reads an entry, and returns all its errors, except those that only compiling its conditions would
    /// find.
    pub(crate) fn read(entry: Node<'_, '_>) -> Result<Self, Box<Unusable>> {
        let mut faults = Vec::new();
        if !entry.is_object() {
            let found = entry.kind();
            faults.push(HookError(Cause::NotAnObject { found }).in_place(entry.first()));
        }
        let mut read = keys::read(entry, &mut faults);
        // An entry with an answer blocks while it cannot be used.
        read.options.background &= entry.get("answer").is_none();
        let unknown = unknown_keys(entry, &mut faults);
        let settings = settings(entry, &read, unknown, &mut faults);
        match settings {
            Some(settings) if faults.is_empty() => Ok(Self::of(settings)),
            _ => Err(Box::new(Unusable {
                faults,
                entry: read,
            })),
        }
    }
}

impl Settings {
    fn entry(&self) -> Entry {
        let mut entry = Entry {
            event: Some(self.pattern.as_str().to_owned()),
            when: self.when.clone(),
            enabled: (!self.enabled).then_some(false),
            options: self.options.clone(),
            ..Entry::default()
        };
        match &self.command {
            HookCommand::Shell { text, shell } => {
                (entry.command, entry.shell) = (Some(text.clone()), *shell);
            }
            HookCommand::Program(args) => entry.args = Some(args.clone()),
            HookCommand::Answer(output) => entry.answer = Some((**output).clone()),
        }
        entry
    }

    fn to_json(&self) -> Value {
        let mut known = self.entry();
        // The unknown keys come first, so that none can hide a setting.
        let mut entry = self.unknown.clone();
        for key in &KEYS {
            let value = (key.field)(&mut known).value_if_set();
            entry.extend(value.map(|value| (key.name.to_owned(), value)));
        }
        let protocol = self.protocol.as_ref().map(|own| own.definition.clone());
        entry.extend(protocol.map(|definition| ("protocol".to_owned(), definition)));
        Value::Object(entry)
    }
}

/// Returns the keys that this version does not know. They are kept.
fn unknown_keys(entry: Node<'_, '_>, faults: &mut Vec<Fault>) -> Map<String, Value> {
    let mut unknown = Map::new();
    for Member { key, value, .. } in entry.members().filter(|member| !is_key(member.key)) {
        if faults.len() > MOST_FAULTS {
            break;
        }
        if key == "protocol" {
            let message = "a host sets it in its program, and it cannot be read: remove the key";
            faults.push(HookError::key(key, message).at(value));
        }
        match value.value() {
            Ok(value) => drop(unknown.insert(key.to_owned(), value)),
            Err(fault) => faults.push(HookError::key(key, fault.message).in_place(fault.place)),
        }
    }
    unknown
}

/// Returns the settings of an entry. None if the hook would have no events or nothing to run.
fn settings(
    entry: Node<'_, '_>,
    read: &Entry,
    unknown: Map<String, Value>,
    faults: &mut Vec<Fault>,
) -> Option<Settings> {
    let pattern = match read.event.as_deref().map(EventPattern::new) {
        Some(Ok(pattern)) => Some(pattern),
        Some(Err(error)) => {
            faults.push(HookError::from(error).in_place(place_of(entry, "event")));
            None
        }
        None => None,
    };
    check_keys(entry, read, pattern.as_ref(), faults);
    if read.answer.is_some() {
        refuse_keys_of_processes(entry, faults);
    }
    check_texts(entry, faults);
    let shell = read.shell;
    let command = match (&read.command, &read.args, &read.answer) {
        (Some(text), ..) => HookCommand::Shell {
            text: text.clone(),
            shell,
        },
        (None, Some(args), _) => HookCommand::Program(args.clone()),
        (None, None, answer) => HookCommand::Answer(Box::new(answer.clone()?)),
    };
    if command.is_empty() {
        faults.push(match command {
            HookCommand::Shell { .. } => {
                HookError::EMPTY_COMMAND.in_place(place_of(entry, "command"))
            }
            HookCommand::Program(_) => HookError::EMPTY_COMMAND.in_place(place_of(entry, "args")),
            HookCommand::Answer(_) => {
                HookError::key("answer", EMPTY_ANSWER).in_place(place_of(entry, "answer"))
            }
        });
    }
    let mut settings = Settings {
        when: read.when.clone(),
        options: read.options.clone(),
        enabled: read.enabled != Some(false),
        unknown,
        ..Settings::new(pattern?, command)
    };
    settings.leave_out_useless();
    Some(settings)
}

/// Reports keys that are missing, and values that cannot be used together.
fn check_keys(
    entry: Node<'_, '_>,
    read: &Entry,
    pattern: Option<&EventPattern>,
    faults: &mut Vec<Fault>,
) {
    let has = |key: &str| entry.get(key).is_some() || !entry.is_object();
    let options = &read.options;
    let withholds = options.on_failure == FailurePolicy::Withhold;
    let others = pattern.is_some_and(|pattern| !pattern.matches_only(&EventType::ToolPostExecute));
    let (resident, background) = (options.resident, options.background);
    let observes = options.enforce == Some(false);
    let no_input = options.stdin == Stdin::None;
    let allows = |answer: &HookOutput| answer.decision == Some(Decision::Allow);
    let grants = options.may.contains(&May::Grant) || read.answer.as_ref().is_some_and(allows);
    let when = read.when.as_ref();
    let for_guards = when.is_some_and(|when| when.only_for_guards().is_some());
    let no_args = "the key is missing, and there is neither `args` nor `answer`";
    for (is_wrong, key, message) in [
        (!has("event"), "event", "the key is missing".to_owned()),
        (
            !has("command") && !has("args") && !has("answer"),
            "command",
            no_args.to_owned(),
        ),
        (
            read.command.is_some() && read.args.is_some(),
            "args",
            beside("command"),
        ),
        (
            read.shell.is_some() && read.args.is_some(),
            "shell",
            beside("args"),
        ),
        (resident && background, "resident", beside("background")),
        (resident && no_input, "resident", beside("stdin")),
        (withholds && background, "on_failure", beside("background")),
        (withholds && others, "on_failure", WITHHOLD.to_owned()),
        (
            observes && withholds,
            "enforce",
            "a hook that withholds the output must be enforced: remove one of the two".to_owned(),
        ),
        (observes && background, "enforce", beside("background")),
        (grants && for_guards, "when", FOR_GUARDS.to_owned()),
    ] {
        if is_wrong {
            let mut error = HookError::key(key, message);
            if let (HookError(Cause::Key(error)), "command") = (&mut error, key) {
                error.suggestion = misspelled_command(entry).map(str::to_owned);
            }
            faults.push(error.in_place(place_of(entry, key)));
        }
    }
}

/// Returns the intended key of a misspelled one, if the key sets what the hook runs.
fn misspelled_command(entry: Node<'_, '_>) -> Option<&'static str> {
    let mut unknown = entry.members().filter(|member| !is_key(member.key));
    let key = unknown.find_map(|member| nearest_key(member.key))?;
    ["command", "args", "answer"].contains(&key).then_some(key)
}

/// Reports keys beside an answer that only a process can have.
fn refuse_keys_of_processes(entry: Node<'_, '_>, faults: &mut Vec<Fault>) {
    for key in KEYS.iter().filter(|key| key.is_of_process) {
        if let Some(value) = entry.get(key.name) {
            let message = match key.name {
                "may" => "an answer in the entry needs no `may`: remove the key".to_owned(),
                _ => beside("answer"),
            };
            faults.push(HookError::key(key.name, message).at(value));
        }
    }
}

/// Reports texts that are never intended.
fn check_texts(entry: Node<'_, '_>, faults: &mut Vec<Fault>) {
    let inherited = texts_of(entry, "inherit");
    for (key, value) in inherited.filter(|(key, _)| key != "inherit") {
        let name = value.text().unwrap_or_default();
        if !is_variable(name) {
            let expected = "the name of a variable, in which `*` matches any characters";
            faults.push(HookError::unexpected(key, expected, &format!("`{name}`")).at(value));
        }
    }
    let mut commands = texts_of(entry, "command").chain(texts_of(entry, "args"));
    let has_backspace = |text: &str| text.contains('\u{8}');
    if let Some((key, value)) = commands.find(|(_, value)| value.text().is_some_and(has_backspace))
    {
        faults.push(HookError::key(key, BACKSPACE).at(value));
    }
}

/// Returns the reason why a key cannot be used beside another one.
fn beside(other: &str) -> String {
    format!("the value cannot be used together with `{other}`: remove one of the two")
}

/// Returns the place of a value, such as `env`, `args[1]` or `when./path`. For a missing value, returns the beginning of the
/// entry.
pub(crate) fn place_of(entry: Node<'_, '_>, path: &str) -> Range<usize> {
    let value = match (path.split_once('.'), path.split_once('[')) {
        (Some((object, name)), _) => entry.get(object).and_then(|object| object.member(name)),
        (None, Some((list, index))) => {
            let items = entry.get(list).and_then(|list| list.items());
            let index = index.trim_end_matches(']').parse().ok();
            items
                .zip(index)
                .and_then(|(mut items, index)| items.nth(index))
        }
        (None, None) => entry.member(path),
    };
    value.map_or_else(|| entry.first(), |value| value.range())
}

/// Returns the texts of a key, each with its path.
fn texts_of<'t, 'a>(
    entry: Node<'t, 'a>,
    key: &'static str,
) -> impl Iterator<Item = (String, Node<'t, 'a>)> {
    let value = entry.get(key);
    let items = value.and_then(|value| value.items());
    let items = items.into_iter().flatten().enumerate();
    let items = items.map(move |(index, item)| (format!("{key}[{index}]"), item));
    let alone = value.into_iter().map(move |value| (key.to_owned(), value));
    alone
        .chain(items)
        .filter(|(_, value)| value.text().is_some())
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
    use serde_json::json;

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
        let unusable = Hook::read(Node::from(&entry)).unwrap_err();
        let errors: Vec<_> = unusable
            .faults
            .into_iter()
            .map(|fault| fault.error)
            .collect();
        assert_eq!(errors.len(), 6, "{errors:?}");
        let message = "`inherit[1]`: expected the name of a variable, in which `*` matches any characters, found `B=1`";
        assert!(
            errors.iter().any(|error| error.to_string() == message),
            "{errors:?}"
        );
        assert_eq!(Hook::from_json(&entry).unwrap_err(), errors[0]);
        let mut keys = errors.iter().filter_map(|error| match error {
            HookError(Cause::Key(error)) => Some(error),
            _ => None,
        });
        let error = keys.find(|error| error.key == "on_failure").unwrap();
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
