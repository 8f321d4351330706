//! One entry of `hooks`, as a value and as a text: its problems, and where they are.
//!
//! Knows nothing of the file around it.

use std::collections::HashSet;
use std::ops::Range;

use jsonc_parser::ast::{self, ObjectProp};
use jsonc_parser::common::Ranged;
use serde_json::{Map, Number, Value};

use super::outline::{self, Failure};
use crate::events::meant_by;
use crate::hook::{Hook, HookError, KeyError, MOST_CONDITIONS, is_key};

/// The deepest nesting of an entry. Its unknown keys are also written into other files, whose readers have
/// such a limit.
const DEEPEST_ENTRY: usize = 100;

pub(super) struct Entry<'a> {
    node: ast::Value<'a>,
    range: Range<usize>,
}

/// A problem that makes an entry unusable.
pub(super) struct EntryError {
    pub(super) range: Range<usize>,
    /// Its key is empty for a problem of the entry as a whole.
    pub(super) error: KeyError,
}

/// An entry that cannot be used.
pub(super) struct Unusable {
    /// In the order of its keys; at least one.
    pub(super) errors: Vec<EntryError>,
    /// The legible part of the entry, without keys that occur twice.
    pub(super) value: Value,
}

impl<'a> Entry<'a> {
    pub(super) fn parse(text: &'a str, range: Range<usize>) -> Result<Self, Failure> {
        let node = outline::parse(text, &range)?;
        Ok(Self { node, range })
    }

    pub(super) fn hook(&self) -> Result<Hook, Unusable> {
        let mut found = Vec::new();
        let value = self.value(&mut found);
        let twice = repeated(self.properties());
        for property in twice.iter().filter(|it| is_key(it.name.as_str())) {
            found.push(self.repeated_key(property, ""));
        }
        for property in repeated(self.variables()) {
            found.push(self.repeated_key(property, "env."));
        }
        for property in self.repeated_in_when() {
            found.push(self.repeated_key(property, "when."));
        }
        let errors = match Hook::read(&value) {
            Ok(hook) if found.is_empty() => return Ok(hook),
            Ok(_) => Vec::new(),
            Err(errors) => errors,
        };
        found.extend(errors.into_iter().map(|error| self.located(error)));
        // It is unknown which of two values is meant, and the placeholder must not use the wrong one.
        let mut value = value;
        if let Value::Object(value) = &mut value {
            for property in twice {
                value.remove(property.name.as_str());
            }
        }
        Err(Unusable {
            errors: found,
            value,
        })
    }

    /// Returns the entry as unusable, if its hook shows an error only later.
    pub(super) fn unusable(&self, error: HookError) -> Unusable {
        Unusable {
            errors: vec![self.located(error)],
            value: self.value(&mut Vec::new()),
        }
    }

    /// Returns the entry's value, without keys whose values exceed a limit.
    fn value(&self, errors: &mut Vec<EntryError>) -> Value {
        let Some(object) = self.node.as_object() else {
            return to_value(&self.node, 0).unwrap_or_default();
        };
        let mut map = Map::new();
        for property in &object.properties {
            let key = property.name.as_str();
            match to_value(&property.value, 1) {
                Ok(value) => drop(map.insert(key.to_owned(), value)),
                Err((words, at)) => errors.push(EntryError {
                    range: self.place(at),
                    error: KeyError::new(key, words),
                }),
            }
        }
        Value::Object(map)
    }

    /// The first byte: the place of a missing key.
    pub(super) fn first(&self) -> Range<usize> {
        self.range.start..self.range.start + 1
    }

    /// Returns the keys that this version does not know, in order.
    pub(super) fn unknown_keys(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        let keys = self.properties().iter();
        keys.map(|property| (property.name.as_str(), self.place(property.name.range())))
            .filter(|(key, _)| !is_key(key))
    }

    /// Returns the number of values in the entry.
    pub(super) fn values(&self) -> usize {
        values(&self.node)
    }

    /// Returns the place of the value of a key, such as `timeout`, `env.PATH`, `args[1]`, `when./path[1]`;
    /// the beginning of the entry if it has no such value.
    pub(super) fn range_of(&self, key: &str) -> Range<usize> {
        match self.find(key) {
            Some(value) => self.place(value.range()),
            None => self.first(),
        }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    fn find(&self, key: &str) -> Option<&ast::Value<'a>> {
        if let Some(name) = key.strip_prefix("env.") {
            return last(self.variables(), name);
        }
        match key.strip_prefix("when.") {
            Some(pointer) => value_or_item(self.conditions(), pointer),
            None => value_or_item(self.properties(), key),
        }
    }

    fn properties(&self) -> &[ObjectProp<'a>] {
        properties(&self.node)
    }

    /// Returns the variables in `env`. If the key occurs twice, those of the last value.
    fn variables(&self) -> &[ObjectProp<'a>] {
        let last = self.environments().last();
        last.map_or(&[], |env| properties(&env.value))
    }

    pub(super) fn conditions(&self) -> &[ObjectProp<'a>] {
        last(self.properties(), "when").map_or(&[], properties)
    }

    /// Returns keys that occur twice in `when`. Empty if there are too many conditions, which is reported
    /// instead.
    fn repeated_in_when(&self) -> Vec<&ObjectProp<'a>> {
        let conditions = self.conditions();
        if conditions.len() > MOST_CONDITIONS {
            return Vec::new();
        }
        let mut found = repeated(conditions);
        for condition in conditions {
            // Two keys `regex`.
            if !repeated(properties(&condition.value)).is_empty() {
                found.push(condition);
            }
        }
        found
    }

    fn environments(&self) -> impl Iterator<Item = &ObjectProp<'a>> {
        let properties = self.properties().iter();
        properties.filter(|property| property.name.as_str() == "env")
    }

    /// Converts a range that counts from the entry's beginning.
    fn place(&self, range: jsonc_parser::common::Range) -> Range<usize> {
        self.range.start + range.start..self.range.start + range.end
    }

    /// Reports a repeated key: a reader of the file may mean one value, and this program use the other.
    fn repeated_key(&self, property: &ObjectProp<'_>, prefix: &str) -> EntryError {
        let key = format!("{prefix}{}", property.name.as_str());
        EntryError {
            range: self.place(property.name.range()),
            error: KeyError::new(key, "the key occurs twice"),
        }
    }

    fn located(&self, error: HookError) -> EntryError {
        let key = match &error {
            HookError::Key(error) => error.key.as_str(),
            HookError::Pattern(_) => "event",
            HookError::EmptyCommand if last(self.properties(), "args").is_some() => "args",
            HookError::EmptyCommand => "command",
            HookError::NotAnObject { .. } => "",
        };
        let range = self.range_of(key);
        let key = key.to_owned();
        let error = match error {
            HookError::Key(error) => *error,
            other => {
                let mut error = KeyError::new(key, other.to_string());
                error.suggestion = event_of_another_tool(&other);
                error
            }
        };
        EntryError { range, error }
    }
}

/// The event that was meant by the name which another tool has for it.
fn event_of_another_tool(error: &HookError) -> Option<String> {
    let HookError::Pattern(error) = error else {
        return None;
    };
    meant_by(error.pattern()).map(str::to_owned)
}

pub(crate) fn properties<'t, 'a>(node: &'t ast::Value<'a>) -> &'t [ObjectProp<'a>] {
    node.as_object().map_or(&[], |object| &object.properties)
}

pub(crate) fn last<'t, 'a>(
    properties: &'t [ObjectProp<'a>],
    key: &str,
) -> Option<&'t ast::Value<'a>> {
    let mut from_behind = properties.iter().rev();
    let found = from_behind.find(|property| property.name.as_str() == key);
    found.map(|property| &property.value)
}

/// Returns the value of a key, or for a key such as `args[1]` the item of the list.
fn value_or_item<'t, 'a>(
    properties: &'t [ObjectProp<'a>],
    key: &str,
) -> Option<&'t ast::Value<'a>> {
    if let Some(value) = last(properties, key) {
        return Some(value);
    }
    let (list, index) = key.rsplit_once('[')?;
    let index: usize = index.trim_end_matches(']').parse().ok()?;
    last(properties, list)?.as_array()?.elements.get(index)
}

fn values(node: &ast::Value<'_>) -> usize {
    match node {
        ast::Value::Array(array) => array.elements.iter().map(|it| 1 + values(it)).sum(),
        ast::Value::Object(object) => {
            let members = object.properties.iter().map(|property| &property.value);
            members.map(|it| 1 + values(it)).sum()
        }
        _ => 0,
    }
}

/// Returns the properties whose keys occurred before.
fn repeated<'t, 'a>(properties: &'t [ObjectProp<'a>]) -> Vec<&'t ObjectProp<'a>> {
    let mut seen = HashSet::with_capacity(properties.len());
    let repeated = properties.iter();
    repeated
        .filter(|property| !seen.insert(property.name.as_str()))
        .collect()
}

/// Converts a tree to a value. The error has the part that exceeds a limit.
pub(crate) fn to_value(
    node: &ast::Value<'_>,
    depth: usize,
) -> Result<Value, (String, jsonc_parser::common::Range)> {
    if depth > DEEPEST_ENTRY {
        let words = format!("the value is nested deeper than {DEEPEST_ENTRY} levels");
        return Err((words, node.range()));
    }
    Ok(match node {
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
        ast::Value::StringLit(literal) => Value::String(literal.value.as_ref().to_owned()),
        ast::Value::NumberLit(literal) => match literal.value.parse::<Number>() {
            Ok(number) => Value::Number(number),
            Err(_) => return Err(("the number is out of range".to_owned(), node.range())),
        },
        ast::Value::Array(array) => {
            // With the exact capacity, since the value is kept, and an entry may consist of brackets only.
            let mut values = Vec::with_capacity(array.elements.len());
            for element in &array.elements {
                values.push(to_value(element, depth + 1)?);
            }
            Value::Array(values)
        }
        ast::Value::Object(object) => {
            let mut map = Map::new();
            for property in &object.properties {
                let value = to_value(&property.value, depth + 1)?;
                map.insert(property.name.as_str().to_owned(), value);
            }
            Value::Object(map)
        }
    })
}
