//! How deep the data of an event is nested. A host can build a [`Value`] that is nested deeper than a stack
//! allows: writing, copying and dropping it recurse once for each level. The functions of this module recurse
//! no deeper than the limit.

use serde_json::Value;

use super::HookEvent;

/// The most levels of nested arrays and objects in a value that a hook can receive.
pub(crate) const DEEPEST_DATA: usize = 128;

impl HookEvent {
    /// The key of the first value that is nested too deep.
    pub(crate) fn too_deep_key(&self) -> Option<&str> {
        let mut data = self.data.iter();
        let too_deep = data.find(|(_, value)| is_deeper(value, DEEPEST_DATA));
        too_deep.map(|(key, _)| key.as_str())
    }

    /// Returns a copy in which `null` replaces the values deeper than the limit.
    pub(crate) fn cut_to_limit(&self) -> Self {
        self.cut(DEEPEST_DATA)
    }

    /// Returns a copy. A value that is too deep is cut one level below the limit, so that it is still too
    /// deep.
    pub(crate) fn bounded_copy(&self) -> Self {
        match self.too_deep_key() {
            None => self.clone(),
            Some(_) => self.cut(DEEPEST_DATA + 1),
        }
    }

    fn cut(&self, levels: usize) -> Self {
        let data = self.data.iter();
        Self {
            event_type: self.event_type.clone(),
            timestamp: self.timestamp,
            data: data
                .map(|(key, value)| (key.clone(), cut(value, levels)))
                .collect(),
            tool_name: self.tool_name.clone(),
            session_id: self.session_id.clone(),
            context: self.context.clone(),
        }
    }

    /// Drops the data, however deep it is.
    pub(crate) fn drop_data(&mut self) {
        if self.too_deep_key().is_none() {
            return;
        }
        drop_values(std::mem::take(&mut self.data).into_values().collect());
    }
}

/// Drops values, however deep they are.
pub(crate) fn drop_values(mut values: Vec<Value>) {
    while let Some(value) = values.pop() {
        match value {
            Value::Array(items) => values.extend(items),
            Value::Object(map) => values.extend(map.into_values()),
            _ => {}
        }
    }
}

/// [`HookEvent::bounded_copy`] for a value alone.
pub(crate) fn bounded_copy(value: &Value) -> Value {
    if is_deeper(value, DEEPEST_DATA) {
        cut(value, DEEPEST_DATA + 1)
    } else {
        value.clone()
    }
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| is_deeper(item, levels - 1)),
        Value::Object(map) => levels == 0 || map.values().any(|item| is_deeper(item, levels - 1)),
        _ => false,
    }
}

fn cut(value: &Value, levels: usize) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => Value::Null,
        Value::Array(items) => items.iter().map(|item| cut(item, levels - 1)).collect(),
        Value::Object(map) => {
            let members = map.iter();
            let members = members.map(|(key, item)| (key.clone(), cut(item, levels - 1)));
            Value::Object(members.collect())
        }
        other => other.clone(),
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
            assert_eq!(cut(&value, levels), value);
        }
    }

    #[test]
    fn a_cut_copy_keeps_what_is_above() {
        let value = json!({"a": 1, "b": [{"c": [1]}, 2]});
        for (levels, expected) in [
            (0, json!(null)),
            (1, json!({"a": 1, "b": null})),
            (2, json!({"a": 1, "b": [null, 2]})),
            (3, json!({"a": 1, "b": [{"c": null}, 2]})),
            (4, value.clone()),
        ] {
            assert_eq!(cut(&value, levels), expected);
        }
    }

    #[test]
    fn a_copy_that_is_too_deep_stays_so() {
        let mut value = json!(1);
        for _ in 0..DEEPEST_DATA {
            value = json!([value]);
        }
        let event = HookEvent::user_interrupt().with_data("deep", value.clone());
        assert_eq!(event.too_deep_key(), None);
        assert_eq!(event.bounded_copy(), event);
        let deeper = HookEvent::user_interrupt().with_data("deep", json!([[value]]));
        assert_eq!(deeper.too_deep_key(), Some("deep"));
        assert_eq!(deeper.bounded_copy().too_deep_key(), Some("deep"));
        assert_eq!(deeper.cut_to_limit().too_deep_key(), None);
    }
}
