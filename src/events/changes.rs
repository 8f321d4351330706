//! The change of an event's input by the answer of a hook.
//!
//! The [table](super::table) says which part of an event is its input. Does not know which answers count.

use serde_json::{Map, Value};

use super::HookEvent;
use super::table::Input;
use crate::json::kind;
use crate::printable::printable;

/// The changes that hooks have made to the input of an event.
#[derive(Debug, Clone)]
pub(crate) struct InputChange {
    /// The event with the changes.
    pub(crate) event: HookEvent,
    /// The members of the input with other values than before; all members if one was removed.
    pub(crate) updates: Map<String, Value>,
    /// True if a member was removed.
    pub(crate) removes: bool,
}

impl HookEvent {
    fn input(&self) -> Input {
        let known = self.event_type.known();
        known.map_or(Input::None, |known| known.input)
    }

    /// Returns whether a hook may change the input of the operation: the arguments of a tool, if they are an object, a
    /// prompt, or the messages of a request to a model, if the host has set them.
    pub(crate) fn has_changeable_input(&self) -> bool {
        match self.input() {
            Input::None => false,
            Input::Members(key) => self.data.get(key).is_none_or(Value::is_object),
            Input::Text(_) => true,
            Input::List { key, .. } => self.data.get(key).is_some_and(Value::is_array),
        }
    }

    /// Returns the keys of the data that a change of the input sets.
    pub(crate) fn input_keys(&self) -> impl Iterator<Item = &'static str> {
        let (key, count) = match self.input() {
            Input::None => (None, None),
            Input::Members(key) | Input::Text(key) => (Some(key), None),
            Input::List { key, count } => (Some(key), Some(count)),
        };
        key.into_iter().chain(count)
    }

    /// Returns the event with other values of its input; none if all of them are those of the event. `replaces` removes the
    /// members that have no new value.
    ///
    /// # Errors
    /// If the input of this event is not changed in this way.
    pub(crate) fn with_input(
        &self,
        updates: &Map<String, Value>,
        replaces: bool,
    ) -> Result<Option<Self>, String> {
        let mut changed = self.clone();
        match self.input() {
            Input::None => return Ok(None),
            Input::Members(key) => {
                let members = changed.data.entry(key).or_insert_with(|| Map::new().into());
                let Value::Object(members) = members else {
                    return Ok(None);
                };
                if replaces {
                    members.clear();
                }
                members.extend(updates.clone());
            }
            Input::Text(key) => {
                let new = only(updates, key, Value::is_string, "a string")?;
                changed.data.extend(new);
            }
            Input::List { key, count } => {
                let new = only(updates, key, Value::is_array, "a list")?;
                if let Some((_, Value::Array(list))) = &new
                    && changed.data.contains_key(count)
                {
                    // Guards may decide by the length.
                    changed.data.insert(count.to_owned(), list.len().into());
                }
                changed.data.extend(new);
            }
        }
        Ok((changed.data != self.data).then_some(changed))
    }

    /// Returns the change of the input from this event to a later one.
    pub(crate) fn change_to(&self, event: Self) -> InputChange {
        let (before, after) = (self.input_members(), event.input_members());
        let removes = before.keys().any(|name| !after.contains_key(name));
        let is_new = |name: &String, value: &Value| removes || before.get(name) != Some(value);
        let updates = after
            .into_iter()
            .filter(|(name, value)| is_new(name, value));
        InputChange {
            updates: updates.collect(),
            removes,
            event,
        }
    }

    fn input_members(&self) -> Map<String, Value> {
        let members = match self.input() {
            Input::None => None,
            Input::Members(key) => self.data.get(key).and_then(Value::as_object).cloned(),
            Input::Text(key) | Input::List { key, .. } => {
                let value = self.data.get(key).cloned();
                value.map(|value| Map::from_iter([(key.to_owned(), value)]))
            }
        };
        members.unwrap_or_default()
    }
}

/// Returns the new value of the only member that may be set, if there is one.
fn only(
    updates: &Map<String, Value>,
    key: &'static str,
    is_valid: fn(&Value) -> bool,
    expected: &str,
) -> Result<Option<(String, Value)>, String> {
    if let Some(other) = updates.keys().find(|name| *name != key) {
        let other = printable(other);
        return Err(format!(
            "cannot change `{other}`: only `{key}` of this event can be changed"
        ));
    }
    match updates.get(key) {
        Some(value) if !is_valid(value) => Err(format!(
            "invalid change of `{key}`: expected {expected}, found {}",
            kind(value)
        )),
        value => Ok(value.map(|value| (key.to_owned(), value.clone()))),
    }
}
