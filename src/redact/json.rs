//! Masking within a JSON value. The rules for names and texts are those of the rest.

use serde_json::{Map, Value};

use super::Redactor;
use super::bare;
use super::keys::{KeyName, Noun};

/// As deep as `serde_json` reads; a value that was made otherwise may be deeper than the stack.
const DEEPEST: usize = 128;

pub(super) fn masked(redactor: &Redactor, value: &Value, depth: usize) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) => Value::from(redactor.text(text)),
        Value::Array(_) | Value::Object(_) if depth >= DEEPEST => mask(),
        Value::Array(items) => list(redactor, items, depth),
        Value::Object(members) => object(redactor, members, depth),
    }
}

fn mask() -> Value {
    Value::from(Redactor::MASK)
}

/// One with a name and a value may be a variable or a header: `{"name": "API_KEY", "value": "x"}`.
fn object(redactor: &Redactor, members: &Map<String, Value>, depth: usize) -> Value {
    let text = |name| members.get(name).and_then(Value::as_str);
    let outer = text("name").or_else(|| text("key"));
    let members = members.iter().map(|(name, value)| {
        let named = if name == "value" { outer } else { None };
        let key = redactor.rules.names.find(named.unwrap_or(name));
        let shown = match key {
            Some(key) if is_secret(key, value) => mask(),
            _ => masked(redactor, value, depth + 1),
        };
        (redactor.text(name).into_owned(), shown)
    });
    members.collect()
}

fn is_secret(key: KeyName, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::String(text) => !(bare::is_plain(text) || bare::is_reference(text)),
        Value::Number(_) => !(key.plural || key.noun == Noun::Pass),
        Value::Array(items) => !(key.plural && items.iter().all(Value::is_number)),
        // What `tokens` has may be counts: `{"tokens": {"input": 5}}`.
        Value::Object(members) => !(key.plural && members.values().all(Value::is_number)),
    }
}

/// A list may be a command's arguments: `["--token", "x"]`.
fn list(redactor: &Redactor, items: &[Value], depth: usize) -> Value {
    let mut is_value = false;
    let items = items.iter().map(|item| {
        let text = item.as_str();
        let hide = is_value
            && text.is_some_and(|text| !bare::is_reference(text) && !text.starts_with('-'));
        is_value = text.is_some_and(|text| is_secret_option(redactor, text));
        if hide {
            mask()
        } else {
            masked(redactor, item, depth + 1)
        }
    });
    items.collect()
}

fn is_secret_option(redactor: &Redactor, text: &str) -> bool {
    let name = text.trim_start_matches('-');
    let is_option =
        name.len() < text.len() && !name.contains(|c: char| c == '=' || c.is_whitespace());
    is_option && redactor.rules.names.find(name).is_some()
}
