//! The JSON in the output of another agent's hook, in the reading of its agent.
//!
//! Does not know the meaning of a key.

use std::cell::OnceCell;

use serde_json::{Map, Value};

use crate::agents::Words;
use crate::json::kind;

/// Returns the text, unless it is blank.
pub(super) fn nonblank(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns the beginning of a text of a hook, for a message.
pub(super) fn beginning(text: &str) -> String {
    text.chars().take(40).collect()
}

/// The members of an object. `null` counts as missing, and so does a value that is not understood. The first such value is
/// the fault of the answer.
#[derive(Clone, Copy)]
pub(super) struct Members<'a> {
    pub(super) map: &'a Map<String, Value>,
    pub(super) fault: &'a OnceCell<String>,
}

impl<'a> Members<'a> {
    /// Records a fault, unless there is one.
    pub(super) fn blame(self, message: String) {
        let _ = self.fault.set(message);
    }

    pub(super) fn get(self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// Returns the value that `read` gets from a key.
    fn read<T>(
        self,
        key: &str,
        expected: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.get(key)?;
        let legible = read(value);
        if legible.is_none() {
            let message = format!("`{key}`: expected {expected}, found {}", kind(value));
            self.blame(message);
        }
        legible
    }

    pub(super) fn text(self, key: &str) -> Option<&'a str> {
        self.read(key, "a string", Value::as_str)
    }

    /// Returns a string, unless it is blank.
    pub(super) fn nonblank(self, key: &str) -> Option<String> {
        nonblank(self.text(key)?)
    }

    pub(super) fn flag(self, key: &str) -> Option<bool> {
        self.read(key, "true or false", Value::as_bool)
    }

    pub(super) fn object(self, key: &str) -> Option<Self> {
        let map = self.read(key, "an object", Value::as_object)?;
        Some(Self { map, ..self })
    }

    /// Returns a string if it is one of these words.
    pub(super) fn choice(self, key: &str, choices: Words) -> Option<&'a str> {
        let text = self.text(key)?;
        if choices.contains(&text) {
            return Some(text);
        }
        let expected = choices.join("`, `");
        let text = beginning(text);
        self.blame(format!("`{key}`: expected `{expected}`, found `{text}`"));
        None
    }

    /// Returns this object, and the objects within it that have keys of an answer.
    fn parts(self) -> impl Iterator<Item = Self> {
        let within = |part: Self, key| {
            let map = part.get(key)?.as_object()?;
            Some(Self { map, ..part })
        };
        let specific = within(self, "hookSpecificOutput");
        let request = specific.and_then(|specific| within(specific, "decision"));
        [Some(self), specific, request].into_iter().flatten()
    }

    /// Returns a note on each of these keys: the agent knows them, but hosts do not apply them.
    pub(super) fn not_applied(self, keys: Words) -> Vec<String> {
        let parts = self.parts().flat_map(|part| part.map);
        let named = parts.filter(|(key, value)| keys.contains(&key.as_str()) && !value.is_null());
        let messages = named.map(|(key, _)| format!("`{key}` of the answer is not applied here"));
        messages.collect()
    }
}
