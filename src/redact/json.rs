//! Masking within a JSON value. The rules for names and texts are those of the rest.

use serde_json::{Map, Value};

use super::Redactor;
use super::names::Key;
use super::plain;

/// As deep as `serde_json` reads; a value that was made otherwise may be deeper than the stack.
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

/// One with a name and a value may be a variable or a header: `{"name": "API_KEY", "value": "x"}`.
fn object(redactor: &Redactor, members: &Map<String, Value>, depth: usize) -> Value {
    let outer = ["name", "key", "Name", "Key"]
        .iter()
        .find_map(|name| members.get(*name)?.as_str());
    let members = members.iter().map(|(name, value)| {
        let named = outer.filter(|_| name.eq_ignore_ascii_case("value"));
        let shown = match redactor.rules.names.find(named.unwrap_or(name)) {
            Some(key) if is_secret(key, value) => Value::from(Redactor::MASK),
            _ => masked(redactor, value, depth + 1),
        };
        (redactor.text(name).into_owned(), shown)
    });
    members.collect()
}

fn is_secret(key: Key, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::String(text) => plain::is_secret(text),
        Value::Number(_) => !key.counts,
        // What `tokens` has may be counts: `{"tokens": {"input": 5}}`.
        Value::Array(items) => !(key.counts && items.iter().all(Value::is_number)),
        Value::Object(members) => !(key.counts && members.values().all(Value::is_number)),
    }
}

/// A list may be a command's arguments, or a header: `["--token", "x"]`, `["Authorization", "x"]`.
fn list(redactor: &Redactor, items: &[Value], depth: usize) -> Value {
    let is_name = |text: &str| {
        let name = text.trim_start_matches('-');
        (name.len() < text.len() || items.len() == 2)
            && !name.contains(|c: char| c == '=' || c.is_whitespace())
            && redactor.rules.names.find(name).is_some()
    };
    let mut hide = false;
    let items = items.iter().map(|item| {
        let text = item.as_str();
        let is_value = |text: &str| plain::is_secret(text) && !text.starts_with('-');
        let shown = if hide && text.is_some_and(is_value) {
            Value::from(Redactor::MASK)
        } else {
            masked(redactor, item, depth + 1)
        };
        hide = text.is_some_and(is_name);
        shown
    });
    items.collect()
}
