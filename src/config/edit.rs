//! Changes the list of a hooks file's text, and keeps all other bytes.
//!
//! Uses the concrete syntax tree of the crate `jsonc-parser`. Knows entries as values, not hooks.

use std::collections::HashMap;

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use crate::hook::in_order;
use crate::json::{parse_options, readable};

/// The text of a new file.
const EMPTY: &str = "{\n  \"hooks\": []\n}\n";

/// An entry of the new list.
pub(super) struct Slot<'a> {
    /// Its index in the text; none for a new entry.
    pub(super) index: Option<usize>,
    /// Its value in the text: the keys in which `new` differs are written.
    pub(super) old: Option<&'a Value>,
    /// Its value; none if the text stays as it is.
    pub(super) new: Option<Value>,
}

/// Returns the text with its entries replaced by these. None if the text is not an object, or its `hooks` is not a list.
pub(super) fn edited(text: Option<&str>, slots: &[Slot<'_>]) -> Option<String> {
    let text = text.unwrap_or(EMPTY);
    let body = readable(text);
    let root = CstRootNode::parse(&body, &parse_options()).ok()?;
    let list = root.object_value()?.array_value_or_create("hooks")?;
    let entries = list.elements();
    for slot in slots {
        if let (Some(index), Some(old), Some(new)) = (slot.index, slot.old, &slot.new)
            && let Some(entry) = entries[index].as_object()
        {
            change(&entry, old, new);
        }
    }
    let kept: Vec<_> = slots.iter().filter_map(|slot| slot.index).collect();
    keep(&list, &entries, &kept);
    for (place, slot) in slots.iter().enumerate() {
        if let (None, Some(entry)) = (slot.index, &slot.new) {
            list.insert(place, json_input(entry));
        }
    }
    Some(text[..body.skipped].to_owned() + &root.to_string())
}

/// Removes all entries but these, and sorts these into this order.
fn keep(list: &CstArray, entries: &[CstNode], kept: &[usize]) {
    let places: HashMap<usize, usize> = kept.iter().copied().zip(0..).collect();
    for (index, entry) in entries.iter().enumerate() {
        if !places.contains_key(&index) {
            entry.clone().remove();
        }
    }
    // Sorting a list may change its spaces.
    if !kept.is_sorted() {
        let nodes = kept.iter().map(|index| entries[*index].child_index());
        let order: HashMap<usize, usize> = nodes.zip(0..).collect();
        let sort = list.sort_elements();
        sort.by_key(|node| order.get(&node.child_index()).copied());
    }
}

/// Writes the keys of an entry whose values differ.
fn change(entry: &CstObject, old: &Value, new: &Value) {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else {
        return;
    };
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        match entry.get(key) {
            // A comment must stay when a hook is switched on.
            Some(property) if key == "enabled" => property.set_value(true.into()),
            Some(property) => property.remove(),
            None => {}
        }
    }
    for (key, value) in in_order(new).filter(|(key, value)| old.get(*key) != Some(*value)) {
        match entry.get(key) {
            Some(property) => property.set_value(json_input(value)),
            None => drop(entry.append(key, json_input(value))),
        }
    }
}

/// Returns a value as the tree takes it.
pub(crate) fn json_input(value: &Value) -> CstInputValue {
    match value {
        Value::Array(items) => CstInputValue::Array(items.iter().map(json_input).collect()),
        Value::Object(object) => {
            let members = in_order(object).map(|(key, value)| (key.to_owned(), json_input(value)));
            CstInputValue::Object(members.collect())
        }
        // The tree writes the text of a number unchanged.
        other => CstInputValue::Number(other.to_string()),
    }
}
