//! The JSON that another tool's hook wrote, as its tool would read it.
//!
//! Does not know the meaning of a key.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::tool::{Words, has};
use crate::hook::{Decision, kind};

/// Reads JSON as JavaScript does: with halves of surrogate pairs, as `JSON.stringify` writes of a text that
/// is cut within an emoji. They are replaced.
pub(super) fn from_json<T: DeserializeOwned>(text: &str) -> Option<T> {
    let read = serde_json::from_str(text);
    read.or_else(|_| serde_json::from_str(&without_halves(text)))
        .ok()
}

/// Replaces halves of surrogate pairs by as many bytes.
pub(super) fn without_halves(mut rest: &str) -> String {
    let mut whole = String::with_capacity(rest.len());
    while let Some((before, escape)) = rest.find('\\').map(|at| rest.split_at(at)) {
        whole.push_str(before);
        let second = escape.get(6..).and_then(code_unit);
        let (kept, length) = match (code_unit(escape), second) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => (&escape[..12], 12),
            (Some(0xD800..0xE000), _) => ("\\ufffd", 6),
            _ => {
                let length = escape.char_indices().nth(2).map_or(escape.len(), |it| it.0);
                (&escape[..length], length)
            }
        };
        whole.push_str(kept);
        rest = &escape[length..];
    }
    whole + rest
}

/// Returns the code unit of `\uXXXX`.
fn code_unit(escape: &str) -> Option<u32> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

/// Returns the text, unless it is blank.
pub(super) fn nonblank(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The members of an object; `null` counts as missing.
#[derive(Clone, Copy)]
pub(super) struct Members<'a> {
    pub(super) map: &'a Map<String, Value>,
    /// Whether a value that is not understood counts as missing.
    is_tolerant: bool,
}

impl<'a> Members<'a> {
    pub(super) fn new(map: &'a Map<String, Value>, is_tolerant: bool) -> Self {
        Self { map, is_tolerant }
    }

    /// Returns a value. A table has an empty key for one that its tool does not have.
    pub(super) fn get(self, key: &str) -> Option<&'a Value> {
        let value = self.map.get(key).filter(|value| !value.is_null());
        value.filter(|_| !key.is_empty())
    }

    /// Returns a value as `read` has it; none if the key is missing.
    fn read<T>(
        self,
        key: &str,
        expected: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, String> {
        match self.get(key).map(|value| (read(value), value)) {
            Some((None, found)) if !self.is_tolerant => {
                let found = kind(found);
                Err(format!("`{key}`: expected {expected}, found {found}"))
            }
            found => Ok(found.and_then(|(value, _)| value)),
        }
    }

    pub(super) fn text(self, key: &str) -> Result<Option<&'a str>, String> {
        self.read(key, "a string", Value::as_str)
    }

    /// Returns a string, unless it is blank.
    pub(super) fn nonblank(self, key: &str) -> Result<Option<String>, String> {
        Ok(self.text(key)?.and_then(nonblank))
    }

    pub(super) fn flag(self, key: &str) -> Result<Option<bool>, String> {
        self.read(key, "true or false", Value::as_bool)
    }

    pub(super) fn object(self, key: &str) -> Result<Option<Self>, String> {
        let map = self.read(key, "an object", Value::as_object)?;
        Ok(map.map(|map| Self { map, ..self }))
    }

    /// Returns what one of these words means.
    pub(super) fn choice(
        self,
        key: &str,
        words: &[(&str, Decision)],
    ) -> Result<Option<Decision>, String> {
        let Some(found) = self.text(key)? else {
            return Ok(None);
        };
        match words.iter().find(|(word, _)| *word == found) {
            Some((_, meant)) => Ok(Some(*meant)),
            None if self.is_tolerant => Ok(None),
            None => {
                let expected = words.iter().map(|(word, _)| format!("`{word}`"));
                let expected = expected.collect::<Vec<_>>().join(", ");
                let found: String = found.chars().take(40).collect();
                Err(format!("`{key}`: expected {expected}, found `{found}`"))
            }
        }
    }

    /// Refuses a key that is not one of these words, if there are any.
    pub(super) fn check_keys(self, known: Words) -> Result<(), String> {
        let mut keys = self.map.keys();
        match keys.find(|key| !known.is_empty() && !has(known, key)) {
            Some(key) => {
                let key: String = key.chars().take(40).collect();
                Err(format!("unknown key `{key}`"))
            }
            None => Ok(()),
        }
    }

    /// Returns this object, and those within it that have keys of an answer.
    fn parts(self) -> impl Iterator<Item = Self> {
        let within = |part: Self, key| part.object(key).ok().flatten();
        let specific = within(self, "hookSpecificOutput");
        let request = specific.and_then(|it| within(it, "decision"));
        [Some(self), specific, request].into_iter().flatten()
    }

    /// Whether some part has this key, with this value if it is not empty.
    pub(super) fn has_anywhere(self, key: &str, value: &str) -> bool {
        let is_meant = |found: &Value| match found {
            Value::String(text) if value.is_empty() => !text.trim().is_empty(),
            Value::Bool(flag) if !value.is_empty() => value == if *flag { "true" } else { "false" },
            found => value.is_empty() || found == value,
        };
        self.parts().any(|part| part.get(key).is_some_and(is_meant))
    }

    /// Returns a note on each of these keys: the tool knows them, and hosts do not apply them.
    pub(super) fn not_applied(self, keys: Words) -> Vec<String> {
        let parts = self.parts().flat_map(|part| part.map);
        let named = parts.filter(|(key, value)| has(keys, key) && !value.is_null());
        let words = named.map(|(key, _)| format!("`{key}` of the answer is not applied here"));
        words.collect()
    }
}
