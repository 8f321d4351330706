//! The depth of an event's data. A host can build a [`Value`] that is nested deeper than a stack allows: writing, copying
//! and dropping it recurse once for each level. All hooks of such an event fail, on the thread that fires it: no other
//! thread gets it.

use std::borrow::Cow;

use serde_json::Value;

use super::HookEvent;

/// The most levels of nested arrays and objects in a value that a hook can receive.
pub(crate) const DEEPEST_DATA: usize = 128;

impl HookEvent {
    /// Returns the key of the first value that is nested too deep.
    pub(crate) fn too_deep_key(&self) -> Option<&str> {
        let mut data = self.data.iter();
        let too_deep = data.find(|(_, value)| is_deeper(value, DEEPEST_DATA));
        too_deep.map(|(key, _)| key.as_str())
    }

    /// Returns the event with `null` in place of the values that are too deep.
    pub(crate) fn within_limit(&self) -> Cow<'_, Self> {
        if self.too_deep_key().is_none() {
            return Cow::Borrowed(self);
        }
        let kept = |value: &Value| {
            if is_deeper(value, DEEPEST_DATA) {
                Value::Null
            } else {
                value.clone()
            }
        };
        let data = self.data.iter();
        Cow::Owned(Self {
            data: data
                .map(|(key, value)| (key.clone(), kept(value)))
                .collect(),
            event_type: self.event_type.clone(),
            timestamp: self.timestamp,
            tool_name: self.tool_name.clone(),
            session_id: self.session_id.clone(),
            context: self.context.clone(),
        })
    }
}

/// Copies a value for an event. A value that is too deep becomes a copy that is too deep by one level.
pub(crate) fn bounded_copy(value: &Value) -> Value {
    if is_deeper(value, DEEPEST_DATA) {
        (0..=DEEPEST_DATA).fold(Value::Null, |inner, _| Value::from(vec![inner]))
    } else {
        value.clone()
    }
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

    #[test]
    fn a_copy_that_is_too_deep_stays_so() {
        let mut value = json!(1);
        for _ in 0..DEEPEST_DATA {
            value = json!([value]);
        }
        let event = HookEvent::user_interrupt().with_data("deep", value.clone());
        assert_eq!(event.too_deep_key(), None);
        assert_eq!(*event.within_limit(), event);
        assert_eq!(bounded_copy(&value), value);
        let deeper = HookEvent::user_interrupt().with_data("deep", json!([[value]]));
        assert_eq!(deeper.too_deep_key(), Some("deep"));
        assert_eq!(deeper.within_limit().data["deep"], Value::Null);
        let copy = bounded_copy(&deeper.data["deep"]);
        assert!(is_deeper(&copy, DEEPEST_DATA) && !is_deeper(&copy, DEEPEST_DATA + 1));
    }
}
