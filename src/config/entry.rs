//! One entry of `hooks`, as a value and as a text: what is wrong in it, and where.
//!
//! Knows nothing of the file around it.

use std::collections::HashSet;
use std::ops::Range;

use jsonc_parser::ast::{self, ObjectProp};
use jsonc_parser::common::Ranged;
use serde_json::{Map, Number, Value};

use super::file::FileError;
use super::outline::{self, Failure, MOST_KEYS};
use crate::hook::dialects::our_event;
use crate::hook::{Hook, HookError, MOST_CONDITIONS, is_key};

/// The levels of lists and objects in an entry: what is kept of it is written into other files too,
/// whose readers have such a limit.
const DEEPEST_ENTRY: usize = 100;

pub(super) struct Entry<'a> {
    node: ast::Value<'a>,
    range: Range<usize>,
}

/// Something that makes an entry unusable.
pub(super) struct Slip {
    /// The key, as in `env.PATH`; empty for the entry as a whole.
    pub(super) key: String,
    pub(super) range: Range<usize>,
    pub(super) message: String,
    pub(super) expected: Option<String>,
    pub(super) found: Option<String>,
    pub(super) suggestion: Option<String>,
}

/// What is left of an entry that cannot be used.
pub(super) struct Unusable {
    /// In the order of its keys; one at least.
    pub(super) slips: Vec<Slip>,
    /// What can be read of it, without the keys that come twice.
    pub(super) value: Value,
}

impl<'a> Entry<'a> {
    pub(super) fn parse(text: &'a str, range: Range<usize>) -> Result<Self, Failure> {
        let node = outline::parse(text, &range)?;
        let entry = Self { node, range };
        let environments = entry.environments().map(|env| properties(&env.value).len());
        let keys = entry.properties().len() + environments.sum::<usize>();
        if keys > MOST_KEYS {
            return Err((FileError::TooManyKeys, entry.first()));
        }
        Ok(entry)
    }

    pub(super) fn hook(&self) -> Result<Hook, Unusable> {
        let mut slips = Vec::new();
        let value = self.value(&mut slips);
        let twice = repeated(self.properties());
        for property in twice.iter().filter(|it| is_key(it.name.as_str())) {
            slips.push(self.comes_twice(property, ""));
        }
        for property in repeated(self.variables()) {
            slips.push(self.comes_twice(property, "env."));
        }
        for property in self.repeated_in_when() {
            slips.push(self.comes_twice(property, "when."));
        }
        let errors = match Hook::read(&value) {
            Ok(hook) if slips.is_empty() => return Ok(hook),
            Ok(_) => Vec::new(),
            Err(errors) => errors,
        };
        slips.extend(errors.into_iter().map(|error| self.slip(error)));
        // Which of two values is meant is unknown: a placeholder must not go by the wrong one.
        let mut value = value;
        if let Value::Object(value) = &mut value {
            for property in twice {
                value.remove(property.name.as_str());
            }
        }
        Err(Unusable { slips, value })
    }

    /// For an entry whose hook shows this only later.
    pub(super) fn unusable(&self, error: HookError) -> Unusable {
        Unusable {
            slips: vec![self.slip(error)],
            value: self.value(&mut Vec::new()),
        }
    }

    /// The entry without the keys whose values are beyond bounds.
    fn value(&self, slips: &mut Vec<Slip>) -> Value {
        let Some(object) = self.node.as_object() else {
            return to_value(&self.node, 0).unwrap_or_default();
        };
        let mut map = Map::new();
        for property in &object.properties {
            let key = property.name.as_str();
            match to_value(&property.value, 1) {
                Ok(value) => drop(map.insert(key.to_owned(), value)),
                Err((words, at)) => slips.push(Slip::new(key, self.place(at), words)),
            }
        }
        Value::Object(map)
    }

    /// Its first byte, for what is missing in it.
    pub(super) fn first(&self) -> Range<usize> {
        self.range.start..self.range.start + 1
    }

    /// The keys that this version does not know, in their order.
    pub(super) fn unknown_keys(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        let keys = self.properties().iter();
        keys.map(|property| (property.name.as_str(), self.place(property.name.range())))
            .filter(|(key, _)| !is_key(key))
    }

    /// How many values are within those of keys that this version does not know, which are kept.
    pub(super) fn nested(&self) -> usize {
        let unknown = self.properties().iter();
        let unknown = unknown.filter(|property| !is_key(property.name.as_str()));
        unknown.map(|property| nested(&property.value)).sum()
    }

    /// Where the value of a key is, as in `timeout`, `env.PATH`, `args[1]`, `when./path[1]`; the
    /// beginning of the entry where there is none.
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

    /// Of a key that comes twice, the last value is read.
    fn variables(&self) -> &[ObjectProp<'a>] {
        let last = self.environments().last();
        last.map_or(&[], |env| properties(&env.value))
    }

    pub(super) fn conditions(&self) -> &[ObjectProp<'a>] {
        last(self.properties(), "when").map_or(&[], properties)
    }

    /// Where there are too many, that is what is wrong.
    fn repeated_in_when(&self) -> Vec<&ObjectProp<'a>> {
        let conditions = self.conditions();
        if conditions.len() > MOST_CONDITIONS {
            return Vec::new();
        }
        let mut found = repeated(conditions);
        for condition in conditions {
            // A second `regex`.
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

    /// The tree counts from the entry's beginning.
    fn place(&self, range: jsonc_parser::common::Range) -> Range<usize> {
        self.range.start + range.start..self.range.start + range.end
    }

    /// Of two values, a reader of the file may mean the one and this program take the other.
    fn comes_twice(&self, property: &ObjectProp<'_>, prefix: &str) -> Slip {
        let key = format!("{prefix}{}", property.name.as_str());
        let range = self.place(property.name.range());
        Slip::new(key, range, "the key comes twice")
    }

    fn slip(&self, error: HookError) -> Slip {
        let key = match &error {
            HookError::Key(error) => error.key.as_str(),
            HookError::Pattern(_) => "event",
            HookError::EmptyCommand if last(self.properties(), "args").is_some() => "args",
            HookError::EmptyCommand => "command",
            HookError::NotAnObject { .. } => "",
        };
        let range = self.range_of(key);
        let key = key.to_owned();
        match error {
            HookError::Key(error) => Slip {
                key,
                range,
                message: error.message,
                expected: error.expected,
                found: error.found,
                suggestion: error.suggestion,
            },
            other => {
                let mut slip = Slip::new(key, range, other.to_string());
                slip.suggestion = event_of_another_tool(&other);
                slip
            }
        }
    }
}

/// The event that was meant by the name which another tool has for it.
fn event_of_another_tool(error: &HookError) -> Option<String> {
    let HookError::Pattern(error) = error else {
        return None;
    };
    our_event(error.pattern()).map(str::to_owned)
}

impl Slip {
    fn new(key: impl Into<String>, range: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            range,
            message: message.into(),
            expected: None,
            found: None,
            suggestion: None,
        }
    }
}

pub(super) fn properties<'t, 'a>(node: &'t ast::Value<'a>) -> &'t [ObjectProp<'a>] {
    node.as_object().map_or(&[], |object| &object.properties)
}

pub(super) fn last<'t, 'a>(
    properties: &'t [ObjectProp<'a>],
    key: &str,
) -> Option<&'t ast::Value<'a>> {
    let mut from_behind = properties.iter().rev();
    let found = from_behind.find(|property| property.name.as_str() == key);
    found.map(|property| &property.value)
}

/// The value of a key, or an item of that of `key[1]`.
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

fn nested(node: &ast::Value<'_>) -> usize {
    match node {
        ast::Value::Array(array) => array.elements.iter().map(|it| 1 + nested(it)).sum(),
        ast::Value::Object(object) => {
            let values = object.properties.iter().map(|property| &property.value);
            values.map(|it| 1 + nested(it)).sum()
        }
        _ => 0,
    }
}

/// Those whose key came before.
fn repeated<'t, 'a>(properties: &'t [ObjectProp<'a>]) -> Vec<&'t ObjectProp<'a>> {
    let mut seen = HashSet::with_capacity(properties.len());
    let repeated = properties.iter();
    repeated
        .filter(|property| !seen.insert(property.name.as_str()))
        .collect()
}

/// The value, or what in it is beyond bounds.
pub(super) fn to_value(
    node: &ast::Value<'_>,
    depth: usize,
) -> Result<Value, (String, jsonc_parser::common::Range)> {
    if depth > DEEPEST_ENTRY {
        let words = format!("is nested deeper than {DEEPEST_ENTRY} levels");
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
            // No larger than it has to be: an entry may be all brackets, and is kept.
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
