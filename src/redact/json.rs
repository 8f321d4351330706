//! Masks within a JSON value, with the same rules for names and texts.

use serde_json::{Map, Value};

use super::{Redactor, names};

/// The depth that `serde_json` reads. A value from another source may be deeper than the stack allows.
const DEEPEST: usize = 128;

pub(super) fn masked(redactor: &Redactor, value: &Value, depth: usize) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) => Value::from(redactor.text(text)),
        Value::Array(_) | Value::Object(_) if depth >= DEEPEST => Value::from(Redactor::MASK),
        Value::Array(items) => list(redactor, items, depth),
        Value::Object(members) => object(redactor, members, depth),
    }
}

/// Masks an object. One with a name and a value may be a variable or header: `{"name": "API_KEY", "value": "x"}`.
fn object(redactor: &Redactor, members: &Map<String, Value>, depth: usize) -> Value {
    let outer = members.get("name").and_then(Value::as_str);
    let members = members.iter().map(|(key, value)| {
        let name = outer.filter(|_| key == "value").unwrap_or(key);
        let shown = named(redactor, name, value, depth);
        (redactor.text(key).into_owned(), shown)
    });
    members.collect()
}

/// Masks a list. It may be a command's arguments: `["--token", "x"]`.
fn list(redactor: &Redactor, items: &[Value], depth: usize) -> Value {
    let mut before = "";
    let items = items.iter().map(|item| {
        let option = if before.starts_with('-') { before } else { "" };
        before = item.as_str().unwrap_or_default();
        let name = if before.starts_with('-') { "" } else { option };
        named(redactor, name, item, depth)
    });
    items.collect()
}

fn named(redactor: &Redactor, name: &str, value: &Value, depth: usize) -> Value {
    let is_switch = value.is_null() || value.is_boolean();
    let is_secret = value.as_str().map_or(!is_switch, names::is_secret);
    match is_secret && redactor.names().any(|names| names::is_name(names, name)) {
        true => Value::from(Redactor::MASK),
        false => masked(redactor, value, depth + 1),
    }
}
