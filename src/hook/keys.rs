//! The keys of an entry, a row each. Reading and writing an entry follow from these rows. Tests compare the schema, the page
//! and the setters with them.
//!
//! Knows one entry, but not the file around it.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::error::{Fault, HookError};
use super::when::When;
use crate::entry::{
    FailurePolicy, HookOutput, LONGEST_TIMEOUT, May, Options, Reads, SHORTEST_TIMEOUT, Sandbox,
    Shell, Stdin,
};
use crate::json::{Member, Node};
use crate::protocol::read_answer;

/// The values of an entry's keys. The default is that of a missing key.
#[derive(Default)]
pub(super) struct Entry {
    pub(super) event: Option<String>,
    pub(super) when: Option<Arc<When>>,
    pub(super) command: Option<String>,
    pub(super) args: Option<Vec<String>>,
    pub(super) answer: Option<HookOutput>,
    pub(super) shell: Option<Shell>,
    /// The value of `enabled`. None counts as true.
    pub(super) enabled: Option<bool>,
    pub(super) options: Options,
}

/// A key of an entry.
pub(super) struct Key {
    pub(super) name: &'static str,
    /// A description of the expected value.
    expected: &'static str,
    /// True if only a hook with a process can have the key.
    pub(super) is_of_process: bool,
    pub(super) field: fn(&mut Entry) -> &mut dyn Setting,
}

/// The key of an entry's examples.
pub(crate) const CASES: &str = "cases";

const TEXT: &str = "a string";
const FLAG: &str = "true or false";
const TEXTS: &str = "a list of strings";

/// All keys, in the order in which they are written.
#[rustfmt::skip]
pub(super) static KEYS: [Key; 23] = [
    Key::new("event", "a string (a comma separates patterns)", |entry| &mut entry.event),
    Key::new("when", "an object, as in {\"/tool_args/command\": \"git *\"}", |entry| &mut entry.when),
    Key::new("command", "a string (a program with its arguments is `args`)", |entry| &mut entry.command).of_process(),
    Key::new("args", "a list of strings (a shell command is `command`)", |entry| &mut entry.args).of_process(),
    Key::new("answer", "an object, as in {\"decision\": \"ask\"}", |entry| &mut entry.answer),
    Key::new("shell", TEXT, |entry| &mut entry.shell).of_process(),
    Key::new("timeout", "a number of seconds", |entry| &mut entry.options.timeout).of_process(),
    Key::new("working_dir", TEXT, |entry| &mut entry.options.working_dir).of_process(),
    Key::new("env", "an object of strings", |entry| &mut entry.options.env).of_process(),
    Key::new("inherit", TEXTS, |entry| &mut entry.options.inherit).of_process(),
    Key::new("enabled", FLAG, |entry| &mut entry.enabled),
    Key::new("name", TEXT, |entry| &mut entry.options.name),
    Key::new("description", TEXT, |entry| &mut entry.options.description),
    Key::new("on_failure", TEXT, |entry| &mut entry.options.on_failure).of_process(),
    Key::new("may", "a list of words, as in [\"add_context\"]", |entry| &mut entry.options.may).of_process(),
    Key::new("enforce", FLAG, |entry| &mut entry.options.enforce),
    Key::new("stdin", TEXT, |entry| &mut entry.options.stdin).of_process(),
    Key::new("reads", TEXT, |entry| &mut entry.options.reads).of_process(),
    Key::new("inputs", TEXTS, |entry| &mut entry.options.inputs).of_process(),
    Key::new("background", FLAG, |entry| &mut entry.options.background).of_process(),
    Key::new("resident", FLAG, |entry| &mut entry.options.resident).of_process(),
    Key::new("sandbox", "true, or an object with `read`, `write` and `network`", |entry| &mut entry.options.sandbox).of_process(),
    Key::new(CASES, "an object with the lists `matches` and `passes`", |entry| &mut entry.options.cases),
];

impl Key {
    const fn new(
        name: &'static str,
        expected: &'static str,
        field: fn(&mut Entry) -> &mut dyn Setting,
    ) -> Self {
        Self {
            name,
            expected,
            is_of_process: false,
            field,
        }
    }

    const fn of_process(self) -> Self {
        Self {
            is_of_process: true,
            ..self
        }
    }
}

/// A value in an entry.
trait FromEntry: Sized {
    /// Reads the value of this key. `expected` describes the expected value.
    fn of(value: Node<'_, '_>, key: &str, expected: &str) -> Result<Self, Fault>;

    fn json(&self) -> Value;
}

/// A setting that a key sets.
pub(super) trait Setting {
    fn set(&mut self, value: Node<'_, '_>, key: &str, expected: &str) -> Result<(), Fault>;

    /// Returns the value in JSON; none if it is that of a missing key.
    fn value_if_set(&self) -> Option<Value>;
}

impl<T: FromEntry + Default + PartialEq> Setting for T {
    fn set(&mut self, value: Node<'_, '_>, key: &str, expected: &str) -> Result<(), Fault> {
        *self = T::of(value, key, expected)?;
        Ok(())
    }

    fn value_if_set(&self) -> Option<Value> {
        (*self != T::default()).then(|| self.json())
    }
}

impl<T: FromEntry> Setting for Option<T> {
    fn set(&mut self, value: Node<'_, '_>, key: &str, expected: &str) -> Result<(), Fault> {
        *self = Some(T::of(value, key, expected)?);
        Ok(())
    }

    fn value_if_set(&self) -> Option<Value> {
        self.as_ref().map(T::json)
    }
}

/// Reads the keys of an object. `null` counts as a missing key, since other programs write it for missing values. A key that
/// occurs twice is not read: it is not known which value is intended.
pub(super) fn read(object: Node<'_, '_>, faults: &mut Vec<Fault>) -> Entry {
    let mut entry = Entry::default();
    let twice = repeated(object, None, faults);
    for Member {
        key: name, value, ..
    } in object.members()
    {
        let Some(key) = KEYS.iter().find(|key| key.name == name) else {
            continue;
        };
        if twice.contains(name) || value.is_null() {
            continue;
        }
        let read = (key.field)(&mut entry).set(value, name, key.expected);
        faults.extend(read.err());
    }
    entry
}

/// The problem with a key that occurs twice.
pub(super) const TWICE: &str = "the key occurs twice";

/// The approximate limit for the faults of an entry: each further one takes a search in the entry.
pub(super) const MOST_FAULTS: usize = 1000;

/// Returns the keys that occur twice, and adds a fault for each, also within the values: a person may intend one value, and
/// the program use the other. An unknown key of the entry is only kept.
fn repeated<'t>(
    object: Node<'t, '_>,
    within: Option<&str>,
    faults: &mut Vec<Fault>,
) -> HashSet<&'t str> {
    let (mut seen, mut twice) = (HashSet::new(), HashSet::new());
    for member in object.members() {
        let key = member.key;
        // Cases change no run, so that no mistake in them makes an entry unusable.
        if within.is_none() && (key == CASES || !KEYS.iter().any(|known| known.name == key)) {
            continue;
        }
        if !seen.insert(key) {
            twice.insert(key);
            if faults.len() <= MOST_FAULTS {
                let path = within.map_or_else(|| key.to_owned(), |outer| format!("{outer}.{key}"));
                faults.push(HookError::key(path, TWICE).in_place(member.key_range));
            }
        }
        repeated(member.value, within.or(Some(key)), faults);
    }
    twice
}

/// Returns the fault of a value that is not of the expected kind.
fn unexpected(value: Node<'_, '_>, key: &str, expected: &str) -> Fault {
    HookError::unexpected(key, expected, value.kind()).at(value)
}

/// A text that a process can receive.
impl FromEntry for String {
    fn of(value: Node<'_, '_>, key: &str, expected: &str) -> Result<Self, Fault> {
        match value.text() {
            None => Err(unexpected(value, key, expected)),
            Some(text) if text.contains('\0') => {
                let expected = "a string without the character NUL";
                Err(HookError::unexpected(key, expected, "a string with NUL").at(value))
            }
            Some(text) => Ok(text.to_owned()),
        }
    }

    fn json(&self) -> Value {
        json!(self)
    }
}

impl FromEntry for PathBuf {
    fn of(value: Node<'_, '_>, key: &str, expected: &str) -> Result<Self, Fault> {
        String::of(value, key, expected).map(Into::into)
    }

    fn json(&self) -> Value {
        self.to_string_lossy().into()
    }
}

/// Returns the items of a list, each with its path.
fn items<'t, 'a>(
    value: Node<'t, 'a>,
    key: &str,
    expected: &str,
) -> Result<impl Iterator<Item = (String, Node<'t, 'a>)> + use<'t, 'a>, Fault> {
    let key = key.to_owned();
    let items = value
        .items()
        .ok_or_else(|| unexpected(value, &key, expected))?;
    Ok(items
        .enumerate()
        .map(move |(index, item)| (format!("{key}[{index}]"), item)))
}

/// A list of strings or of words.
impl<T: FromEntry> FromEntry for Vec<T> {
    fn of(value: Node<'_, '_>, key: &str, expected: &str) -> Result<Self, Fault> {
        let items = items(value, key, expected)?;
        items.map(|(path, item)| T::of(item, &path, TEXT)).collect()
    }

    fn json(&self) -> Value {
        self.iter().map(T::json).collect()
    }
}

/// Variables.
impl FromEntry for BTreeMap<String, String> {
    fn of(value: Node<'_, '_>, key: &str, expected: &str) -> Result<Self, Fault> {
        if !value.is_object() {
            return Err(unexpected(value, key, expected));
        }
        let variables = value.members().map(
            |Member {
                 key: name, value, ..
             }| {
                let path = format!("{key}.{name}");
                if is_variable(name) {
                    return Ok((name.to_owned(), String::of(value, &path, TEXT)?));
                }
                let expected = "the name of a variable, not empty and without `=`";
                Err(HookError::unexpected(path, expected, &format!("`{name}`")).at(value))
            },
        );
        variables.collect()
    }

    fn json(&self) -> Value {
        json!(self)
    }
}

/// Returns whether a variable can have this name.
pub(super) fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

impl FromEntry for bool {
    fn of(value: Node<'_, '_>, key: &str, _: &str) -> Result<Self, Fault> {
        value.switch().ok_or_else(|| unexpected(value, key, FLAG))
    }

    fn json(&self) -> Value {
        json!(self)
    }
}

/// Seconds.
impl FromEntry for Duration {
    fn of(value: Node<'_, '_>, key: &str, expected: &str) -> Result<Self, Fault> {
        let seconds = value
            .number()
            .ok_or_else(|| unexpected(value, key, expected))?;
        if seconds > 0.0 && seconds <= LONGEST_TIMEOUT.as_secs_f64() {
            return Ok(Self::from_secs_f64(seconds).max(SHORTEST_TIMEOUT));
        }
        if seconds.is_infinite() {
            return Err(HookError::key(key, "the number is out of range").at(value));
        }
        let longest = LONGEST_TIMEOUT.as_secs();
        let expected = format!("a number of seconds above 0 and up to {longest}");
        let unit = if seconds >= 1000.0 {
            " (the unit is seconds)"
        } else {
            ""
        };
        Err(HookError::unexpected(key, &expected, &format!("{seconds}{unit}")).at(value))
    }

    fn json(&self) -> Value {
        self.as_secs_f64().into()
    }
}

/// Reads an answer as the output of a hook is read, but a mistake that would only be a note there is an error.
impl FromEntry for HookOutput {
    fn of(value: Node<'_, '_>, key: &str, expected: &str) -> Result<Self, Fault> {
        if !value.is_object() {
            return Err(unexpected(value, key, expected));
        }
        let read = read_answer(value.json().as_bytes(), None, false);
        let (output, why) = match read {
            Ok(written) => {
                let mut notes = written.warnings.into_iter().chain(written.notes);
                (written.output.unwrap_or_default(), notes.next())
            }
            Err(why) => (Self::default(), Some(why)),
        };
        let Some(why) = why else {
            return Ok(output);
        };
        // Most reasons name a key, or its value.
        let name = why
            .strip_prefix('`')
            .and_then(|rest| rest.split('`').next());
        let place = name.and_then(|name| value.member(name)).unwrap_or(value);
        Err(HookError::key(key, why).at(place))
    }

    fn json(&self) -> Value {
        json!(self)
    }
}

impl FromEntry for Arc<When> {
    fn of(value: Node<'_, '_>, key: &str, expected: &str) -> Result<Self, Fault> {
        if !value.is_object() {
            return Err(unexpected(value, key, expected));
        }
        When::read(value).map(Self::new)
    }

    fn json(&self) -> Value {
        self.to_json()
    }
}

/// `true` or an object; `false` is no sandbox.
impl Setting for Option<Sandbox> {
    fn set(&mut self, value: Node<'_, '_>, key: &str, expected: &str) -> Result<(), Fault> {
        if let Some(is_confined) = value.switch() {
            *self = is_confined.then(Sandbox::new);
            return Ok(());
        }
        if !value.is_object() {
            return Err(unexpected(value, key, expected));
        }
        let mut sandbox = Sandbox::new();
        for Member {
            key: name,
            value: given,
            ..
        } in value.members()
        {
            let path = format!("{key}.{name}");
            sandbox = match name {
                "read" | "write" | "network" if given.is_null() => sandbox,
                "read" => sandbox.reading(paths(given, &path)?),
                "write" => sandbox.writing(paths(given, &path)?),
                "network" if !bool::of(given, &path, FLAG)? => sandbox,
                "network" => sandbox.with_network(),
                _ => {
                    let (expected, found) =
                        ("one of `read`, `write`, `network`", format!("`{name}`"));
                    return Err(HookError::unexpected(path, expected, &found).at(given));
                }
            };
        }
        *self = Some(sandbox);
        Ok(())
    }

    fn value_if_set(&self) -> Option<Value> {
        self.as_ref().map(|sandbox| json!(sandbox))
    }
}

/// Kept as they are: `check` tests them.
impl Setting for Option<Arc<Value>> {
    fn set(&mut self, value: Node<'_, '_>, _: &str, _: &str) -> Result<(), Fault> {
        *self = value.value().ok().map(Arc::new);
        Ok(())
    }

    fn value_if_set(&self) -> Option<Value> {
        self.as_deref().cloned()
    }
}

/// Reads the paths of a sandbox.
fn paths(value: Node<'_, '_>, key: &str) -> Result<Vec<String>, Fault> {
    let paths = Vec::of(value, key, TEXTS)?;
    if paths.iter().any(String::is_empty) {
        return Err(HookError::unexpected(key, "paths", "an empty string").at(value));
    }
    Ok(paths)
}

/// Implements the reading of choices between values with names.
macro_rules! choices {
    ($($type:ident),+) => {$(
        impl FromEntry for $type {
            fn of(value: Node<'_, '_>, key: &str, expected: &str) -> Result<Self, Fault> {
                let given = String::of(value, key, expected)?;
                let known = $type::ALL.iter().find(|value| value.as_str() == given);
                known.copied().ok_or_else(|| {
                    let names: Vec<_> = $type::ALL.iter().map(|value| value.as_str()).collect();
                    let expected = format!("one of `{}`", names.join("`, `"));
                    HookError::unexpected(key, &expected, &format!("`{given}`")).at(value)
                })
            }

            fn json(&self) -> Value {
                self.as_str().into()
            }
        }
    )+};
}

choices!(FailurePolicy, May, Stdin, Reads, Shell);
