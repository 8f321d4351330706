//! Changes to the text of a hooks file that keep all other bytes.
//!
//! Uses the concrete syntax tree of the crate `jsonc-parser`. Knows entries as values, not hooks.

use std::collections::HashMap;

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use super::outline::parse_options;

/// The text of a new file.
const EMPTY: &str = "{\n  \"hooks\": []\n}\n";

/// Keys with their values, in the order in which they are written.
pub(super) type Pairs = Vec<(String, Value)>;

/// An editor of a hooks file. Entries are identified by their index before any change; added entries come
/// after them.
pub(super) struct Editor {
    root: CstRootNode,
    list: CstArray,
    entries: Vec<Option<CstNode>>,
}

impl Editor {
    /// Returns none if the text is not an object, or its `hooks` is not a list.
    pub(super) fn new(text: Option<&str>) -> Option<Self> {
        let root = CstRootNode::parse(text.unwrap_or(EMPTY), &parse_options()).ok()?;
        let list = root.object_value()?.array_value_or_create("hooks")?;
        let entries = list.elements().into_iter().map(Some).collect();
        Some(Self {
            root,
            list,
            entries,
        })
    }

    pub(super) fn text(&self) -> String {
        self.root.to_string()
    }

    pub(super) fn remove(&mut self, index: usize) {
        if let Some(entry) = self.entries[index].take() {
            entry.remove();
        }
    }

    /// Adds an entry after all others: on the same line if the list is on one line, else with one line for
    /// each key.
    pub(super) fn append(&mut self, entry: Pairs) -> usize {
        let is_one_line = !self.list.children().iter().any(CstNode::is_newline);
        let value = if is_one_line && !self.list.elements().is_empty() {
            let pairs: Vec<_> = entry.iter().map(pair_on_the_line).collect();
            verbatim(format!("{{{}}}", pairs.join(", ")))
        } else {
            object(entry)
        };
        self.entries.push(Some(self.list.append(value)));
        self.entries.len() - 1
    }

    /// Replaces all entries. The time grows with the number of the new entries; each of the other changes
    /// takes a time that grows with the length of the list.
    pub(super) fn replace_all(&self, entries: Vec<Pairs>) {
        let entries = entries.into_iter().map(object).collect();
        if let Some(property) = self.root.object_value().and_then(|root| root.get("hooks")) {
            property.set_value(CstInputValue::Array(entries));
        }
    }

    /// Sorts the entries into this order, which must contain all remaining entries.
    pub(super) fn arrange(&mut self, order: &[usize]) {
        let nodes = order
            .iter()
            .filter_map(|index| self.entries[*index].as_ref());
        let positions: HashMap<usize, usize> = nodes
            .enumerate()
            .map(|(position, node)| (node.child_index(), position))
            .collect();
        let sort = self.list.sort_elements();
        sort.by_key(|node| positions.get(&node.child_index()).copied());
    }

    /// Removes keys from an entry that is an object.
    pub(super) fn remove_keys(&mut self, index: usize, keys: &[String]) {
        let Some(entry) = self.object(index) else {
            return;
        };
        for key in keys {
            if let Some(property) = entry.get(key) {
                property.remove();
            }
        }
    }

    /// Sets keys of an entry that is an object. A new key is inserted after the last key of the entry that is
    /// in `follows`, else after all others.
    pub(super) fn set_keys(
        &mut self,
        index: usize,
        pairs: Pairs,
        follows: impl Fn(&str) -> Vec<String>,
    ) {
        let Some(entry) = self.object(index) else {
            return;
        };
        let is_one_line = !entry.children().iter().any(CstNode::is_newline);
        let mut on_the_line = Vec::new();
        for (key, value) in pairs {
            match entry.get(&key) {
                Some(property) => property.set_value(input(value)),
                None if is_one_line && !entry.properties().is_empty() => {
                    on_the_line.push((key, value));
                }
                None => {
                    let before = follows(&key);
                    let properties = entry.properties();
                    let last = properties.iter().rposition(|property| {
                        let name = property.decoded_name();
                        name.is_some_and(|name| before.contains(&name))
                    });
                    let place = last.map_or(properties.len(), |last| last + 1);
                    entry.insert(place, &key, input(value));
                }
            }
        }
        append_on_the_line(&entry, &on_the_line);
    }

    fn object(&self, index: usize) -> Option<CstObject> {
        self.entries[index].as_ref()?.as_object()
    }
}

/// Appends keys on the same line. The tree itself would break the line.
fn append_on_the_line(entry: &CstObject, pairs: &[(String, Value)]) {
    let last = entry.properties().pop();
    let Some((property, value)) = last.and_then(|it| it.value().map(|value| (it, value))) else {
        return;
    };
    if pairs.is_empty() {
        return;
    }
    let mut text = value.to_string();
    for pair in pairs {
        text = text + ", " + &pair_on_the_line(pair);
    }
    property.set_value(verbatim(text));
}

/// Creates a value with this text: the tree writes the text of a number unchanged.
fn verbatim(text: String) -> CstInputValue {
    CstInputValue::Number(text)
}

fn pair_on_the_line((key, value): &(String, Value)) -> String {
    format!("{}: {}", Value::from(key.as_str()), one_line(value))
}

/// Returns the value as JSON with a space after each comma and colon.
fn one_line(value: &Value) -> String {
    match value {
        Value::Array(values) => {
            let values: Vec<_> = values.iter().map(one_line).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Object(map) => {
            let pairs: Vec<_> = map
                .clone()
                .into_iter()
                .map(|pair| pair_on_the_line(&pair))
                .collect();
            format!("{{{}}}", pairs.join(", "))
        }
        other => other.to_string(),
    }
}

fn object(entry: Pairs) -> CstInputValue {
    let pairs = entry.into_iter();
    CstInputValue::Object(pairs.map(|(key, value)| (key, input(value))).collect())
}

fn input(value: Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text),
        Value::Array(values) => CstInputValue::Array(values.into_iter().map(input).collect()),
        Value::Object(map) => object(map.into_iter().collect()),
    }
}
