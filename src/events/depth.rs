//! The depth of an event's data. A host can build a [`Value`] that is nested deeper than a stack allows: writing, copying
//! and dropping it recurse once for each level. Such a value is refused where it is added.

use serde_json::Value;

/// The most levels of nested arrays and objects in a value that a hook can receive.
pub(crate) const DEEPEST_DATA: usize = 128;

/// Returns a value for an event; none if it is nested too deep, and then it is dropped here, without recursion.
pub(super) fn bounded(value: Value) -> Option<Value> {
    if !is_deeper(&value, DEEPEST_DATA) {
        return Some(value);
    }
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(map) => left.extend(map.into_iter().map(|(_, item)| item)),
            _ => {}
        }
    }
    None
}

/// Returns whether a value has more levels than these.
pub(crate) fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| is_deeper(item, levels - 1)),
        Value::Object(map) => levels == 0 || map.values().any(|item| is_deeper(item, levels - 1)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn levels_are_arrays_and_objects() {
        for (value, levels) in [
            (json!("text"), 0),
            (json!([]), 1),
            (json!({}), 1),
            (json!([1, [2], 3]), 2),
            (json!({"a": 1, "b": [{"c": []}]}), 4),
        ] {
            assert!(!is_deeper(&value, levels), "{value}");
            assert!(levels == 0 || is_deeper(&value, levels - 1), "{value}");
        }
    }
}
