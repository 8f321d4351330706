//! The conditions of a hook on an event's data, tested before a process is started.
//!
//! Does no I/O. Does not know when conditions are compiled, nor which hooks may run.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::condition::{Allowance, Condition, Lazy};
use super::error::{HookError, kind};
use crate::events::HookEvent;
use crate::pattern::{Mismatch, PatternPart};
use crate::printable::shortened;
use crate::redact::Redactor;

/// The most conditions of a hook.
pub(crate) const MOST_CONDITIONS: usize = 64;

/// The most bytes of a pointer.
pub(crate) const LONGEST_POINTER: usize = 1000;

/// The conditions by pointer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct When(BTreeMap<String, Test>);

#[derive(Debug, Clone)]
struct Test {
    /// The pointer's parts, with `~0` and `~1` replaced.
    path: Box<[String]>,
    value: Lazy,
}

impl PartialEq for Test {
    fn eq(&self, other: &Self) -> bool {
        self.value.condition == other.value.condition
    }
}

fn key_of(pointer: &str) -> String {
    format!("when.{pointer}")
}

fn path(pointer: &str) -> Result<Box<[String]>, HookError> {
    if pointer.len() > LONGEST_POINTER {
        let expected = format!("JSON Pointers of at most {LONGEST_POINTER} bytes");
        return Err(HookError::unexpected(
            "when",
            &expected,
            &pointer.len().to_string(),
        ));
    }
    let mut parts = pointer.split('/');
    if parts.next() == Some("") && parts.clone().all(is_escaped) {
        let unescaped = parts.map(|part| part.replace("~1", "/").replace("~0", "~"));
        return Ok(unescaped.collect());
    }
    let expected = "a JSON Pointer into the event's data, as in `/tool_args/command`";
    let mut error = HookError::unexpected(key_of(pointer), expected, &format!("`{pointer}`"));
    if let HookError::Key(error) = &mut error
        && !pointer.contains('~')
    {
        error.suggestion = Some(shortened(&meant_by(pointer)).into_owned());
    }
    Err(error)
}

/// Returns the pointer that is meant by a path with dots, or by the name of a tool's argument.
fn meant_by(path: &str) -> String {
    let path = path.trim_start_matches("$.").trim_start_matches("data.");
    let path = path.replace("tool_input", "tool_args").replace('.', "/");
    match path.contains('/') || ["tool_args", "prompt"].contains(&&*path) {
        true => format!("/{path}"),
        false => format!("/tool_args/{path}"),
    }
}

/// Returns whether `~` occurs only in `~0` and `~1`.
fn is_escaped(part: &str) -> bool {
    part.split('~').skip(1).all(|it| it.starts_with(['0', '1']))
}

impl When {
    /// Reads the value of the key `when`; `null` counts as missing.
    pub(super) fn read(value: &Value) -> Result<Option<Arc<Self>>, HookError> {
        let conditions = match value {
            Value::Null => return Ok(None),
            Value::Object(conditions) => conditions,
            other => {
                let expected = "an object, as in {\"/tool_args/command\": \"git *\"}";
                return Err(HookError::unexpected("when", expected, kind(other)));
            }
        };
        let mut when = Self::default();
        for (pointer, value) in conditions {
            let path = path(pointer)?;
            let value = Lazy::new(Condition::read(&key_of(pointer), value)?);
            when.0.insert(pointer.clone(), Test { path, value });
        }
        when.check_count()?;
        Ok(Some(Arc::new(when)))
    }

    fn check_count(&self) -> Result<(), HookError> {
        if self.0.len() <= MOST_CONDITIONS {
            return Ok(());
        }
        let expected = format!("at most {MOST_CONDITIONS} conditions");
        Err(HookError::unexpected(
            "when",
            &expected,
            &self.0.len().to_string(),
        ))
    }

    pub(super) fn to_json(&self) -> Value {
        let members = self.conditions();
        let members = members.map(|(pointer, condition)| (pointer.to_owned(), condition.to_json()));
        members.collect()
    }

    /// Adds a condition. Replaces one with the same pointer.
    pub(super) fn insert(
        &mut self,
        pointer: String,
        condition: Condition,
    ) -> Result<(), HookError> {
        let path = path(&pointer)?;
        let value = Lazy::new(condition);
        self.0.insert(pointer, Test { path, value });
        self.check_count()?;
        self.compile(&Allowance::default())
    }

    pub(super) fn conditions(&self) -> impl Iterator<Item = (&str, &Condition)> {
        let tests = self.0.iter();
        tests.map(|(pointer, test)| (pointer.as_str(), &test.value.condition))
    }

    /// Compiles the conditions that are not compiled yet.
    pub(super) fn compile(&self, allowance: &Allowance) -> Result<(), HookError> {
        for (pointer, test) in &self.0 {
            if let Some(words) = test.value.fault(allowance) {
                return Err(HookError::key(key_of(pointer), words));
            }
        }
        Ok(())
    }

    /// Returns whether all conditions match. A value that cannot be tested must not skip a hook that guards.
    pub(super) fn is_met(&self, event: &HookEvent, guards: bool) -> bool {
        let mut tests = self.0.values();
        tests.all(|test| test.result(event).unwrap_or(guards))
    }

    /// Returns each condition that does not match. These secrets are masked in the values.
    pub(super) fn mismatches<'s>(
        &self,
        event: &HookEvent,
        guards: bool,
        secrets: impl Iterator<Item = &'s str> + Clone,
    ) -> Vec<Mismatch> {
        let differs = |test: &Test| !test.result(event).unwrap_or(guards);
        let tests = self.0.iter().filter(|(_, test)| differs(test));
        let mismatches = tests.map(|(pointer, test)| Mismatch {
            alternative: pointer.clone(),
            part: PatternPart::Condition,
            expected: test.value.condition.to_string(),
            found: test.shown(event, secrets.clone()),
        });
        mismatches.collect()
    }

    /// Returns the pointers of conditions whose values cannot be tested.
    pub(super) fn untested(&self, event: &HookEvent) -> Vec<&str> {
        let tests = self.0.iter();
        let untested = tests.filter(|(_, test)| test.result(event).is_none());
        untested.map(|(pointer, _)| pointer.as_str()).collect()
    }

    /// The reason why a condition cannot be used, if compiling one has failed.
    pub(super) fn refusal(&self) -> Option<&str> {
        self.0.values().find_map(|test| test.value.refusal())
    }
}

impl Test {
    /// Tests the condition; None if the value is missing, not a string, or too long.
    fn result(&self, event: &HookEvent) -> Option<bool> {
        let text = find(&self.path, &event.data)?.as_str()?;
        self.value.test(text)
    }

    /// Returns the value, if the event has it, for people: in short, with secrets masked. A key above the value may show
    /// that it is a secret.
    fn shown<'s>(
        &self,
        event: &HookEvent,
        secrets: impl Iterator<Item = &'s str>,
    ) -> Option<String> {
        let value = find(&self.path, &event.data)?;
        let words = match value {
            Value::Array(_) | Value::Object(_) => kind(value).to_owned(),
            Value::String(long) if self.value.test(long).is_none() => {
                format!("a string of {} bytes", long.len())
            }
            _ => {
                let nested = self.path.iter().rev();
                let nested = nested.fold(value.clone(), |value, part| json!({ part: value }));
                let masked = Redactor::default().value(&nested);
                let masked = self
                    .path
                    .iter()
                    .fold(&masked, |value, part| value.get(part).unwrap_or(value));
                let text = masked
                    .as_str()
                    .map_or_else(|| masked.to_string(), str::to_owned);
                shortened(&Redactor::default().text_with(&text, secrets)).into_owned()
            }
        };
        Some(words)
    }
}

/// Returns the value at a pointer, by RFC 6901. None for the empty pointer: the whole data is not a string.
fn find<'a>(path: &[String], data: &'a Map<String, Value>) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let mut value = data.get(first)?;
    for part in rest {
        value = match value {
            Value::Object(members) => members.get(part)?,
            Value::Array(items) => items.get(index(part)?)?,
            _ => return None,
        };
    }
    Some(value)
}

/// Reads an array index: digits without a sign or a leading zero.
fn index(part: &str) -> Option<usize> {
    let is_canonical = part.bytes().all(|byte| byte.is_ascii_digit());
    let is_canonical = is_canonical && (part == "0" || !part.starts_with('0'));
    part.parse().ok().filter(|_| is_canonical)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn data(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(members) => members,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn pointers_lead_where_the_rfc_says() {
        // The examples of RFC 6901, section 5, except the two whose result is the document.
        let document = data(
            json!({"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3,
            "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8}),
        );
        for (pointer, expected) in [
            ("/foo", json!(["bar", "baz"])),
            ("/foo/0", json!("bar")),
            ("/", json!(0)),
            ("/a~1b", json!(1)),
            ("/c%d", json!(2)),
            ("/ ", json!(7)),
            ("/m~0n", json!(8)),
        ] {
            let found = find(&path(pointer).unwrap(), &document);
            assert_eq!(found, Some(&expected), "{pointer}");
        }
        for pointer in [
            "", "/foo/2", "/foo/-", "/foo/00", "/foo/+0", "/foo/0/0", "/m~01n", "/x",
        ] {
            assert_eq!(find(&path(pointer).unwrap(), &document), None, "{pointer}");
        }
    }
}
