//! Masks within a JSON value, with the same rules for names and texts.

use serde_json::{Map, Value};

use super::Redactor;
use super::forms::{self, matches};
use super::pairs::COUNTS;

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
    let mut names = ["name", "key", "Name", "Key"].iter();
    let outer = names.find_map(|name| members.get(*name)?.as_str());
    let members = members.iter().map(|(name, value)| {
        let named = outer.filter(|_| name.eq_ignore_ascii_case("value"));
        let key = named.unwrap_or(name);
        let shown = if redactor.rules.names.has(key) && is_secret(key, value) {
            Value::from(Redactor::MASK)
        } else {
            masked(redactor, value, depth + 1)
        };
        (redactor.text(name).into_owned(), shown)
    });
    members.collect()
}

/// Whether a member is a secret. The members of `tokens` may be counts: `{"tokens": {"input": 5}}`.
fn is_secret(key: &str, value: &Value) -> bool {
    let counts = match value {
        Value::Null | Value::Bool(_) => return false,
        Value::String(text) => return forms::is_secret(text),
        Value::Number(_) => true,
        Value::Array(items) => items.iter().all(Value::is_number),
        Value::Object(members) => members.values().all(Value::is_number),
    };
    !(counts && matches(&COUNTS, key))
}

/// Masks a list. It may be a command's arguments or a header: `["--token", "x"]`, `["Authorization", "x"]`.
fn list(redactor: &Redactor, items: &[Value], depth: usize) -> Value {
    let is_name = |text: &str| {
        let name = text.trim_start_matches('-');
        (name.len() < text.len() || items.len() == 2)
            && !name.contains(|c: char| c == '=' || c.is_whitespace())
            && redactor.rules.names.has(name)
    };
    let mut hide = false;
    let items = items.iter().map(|item| {
        let text = item.as_str();
        let is_value = |text: &&str| hide && forms::is_secret(text) && !text.starts_with('-');
        let value = text.filter(is_value);
        hide = text.is_some_and(is_name);
        let shown = || masked(redactor, item, depth + 1);
        value.map_or_else(shown, |_| Value::from(Redactor::MASK))
    });
    items.collect()
}
