//! Masks within a JSON value, with the same rules for names and texts.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::values::Values;
use super::{Redactor, names};

/// The depth that `serde_json` reads. A value from another source may be deeper than the stack allows.
const DEEPEST: usize = 128;

/// The rules for masking.
#[derive(Clone, Copy)]
pub(super) struct Masks<'a> {
    pub(super) redactor: &'a Redactor,
    /// Values that are masked anywhere.
    pub(super) values: &'a Values,
}

impl Masks<'_> {
    fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redactor.masked_text(text, self.values)
    }
}

pub(super) fn masked(masks: Masks<'_>, value: &Value, depth: usize) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) => Value::from(masks.text(text)),
        Value::Array(_) | Value::Object(_) if depth >= DEEPEST => Value::from(Redactor::MASK),
        Value::Array(items) => list(masks, items, depth),
        Value::Object(members) => object(masks, members, depth),
    }
}

/// Masks an object. One with a name and a value may be a variable or header: `{"name": "API_KEY", "value": "x"}`.
fn object(masks: Masks<'_>, members: &Map<String, Value>, depth: usize) -> Value {
    let outer = members.get("name").and_then(Value::as_str);
    let members = members.iter().map(|(key, value)| {
        let name = outer.filter(|_| key == "value").unwrap_or(key);
        let masked_value = named(masks, name, value, depth);
        (masks.text(key).into_owned(), masked_value)
    });
    members.collect()
}

/// Masks a list. It may hold a command's arguments: `["--token", "x"]`.
fn list(masks: Masks<'_>, items: &[Value], depth: usize) -> Value {
    let mut before = "";
    let items = items.iter().map(|item| {
        let option = if before.starts_with('-') { before } else { "" };
        before = item.as_str().unwrap_or_default();
        let name = if before.starts_with('-') { "" } else { option };
        named(masks, name, item, depth)
    });
    items.collect()
}

fn named(masks: Masks<'_>, name: &str, value: &Value, depth: usize) -> Value {
    let is_switch = value.is_null() || value.is_boolean();
    let is_secret = value.as_str().map_or(!is_switch, names::is_secret);
    if is_secret
        && masks
            .redactor
            .names(name)
            .any(|names| names::is_name(names, name))
    {
        Value::from(Redactor::MASK)
    } else {
        masked(masks, value, depth + 1)
    }
}
