//! What hooks change of an event, and the second pass: the hooks run once more on the changed event, so that every guard
//! sees every change.
//!
//! A change in the second pass would be lost, or hooks that disagree would never end. So a hook that changes there what
//! another hook has changed blocks. Does not fire events.

use serde_json::{Map, Value};

#[cfg(feature = "cli")]
use super::table::ROWS;
use super::table::Rewrites;
#[cfg(feature = "cli")]
use crate::events::HookEvent;
use crate::outcome::{HookResult, Outcome};

/// The data of an event.
type Data = Map<String, Value>;

/// Error applying the changes of hooks: the value of the key has another type.
pub(super) struct Unfit {
    pub(super) key: &'static str,
    pub(super) expected: &'static str,
}

impl Rewrites {
    /// Returns the key that hooks have changed, with its new value.
    ///
    /// # Errors
    /// If the changes do not fit the event.
    pub(super) fn change(
        self,
        data: &Data,
        outcome: &Outcome,
    ) -> Result<Option<(&'static str, Value)>, Unfit> {
        let Some(updates) = outcome.updated_input() else {
            return Ok(None);
        };
        let (key, value) = match self {
            Self::Nothing => return Ok(None),
            Self::Members(key) => {
                let expected = "an object";
                let input = data.get(key).and_then(Value::as_object);
                let input = input.ok_or(Unfit { key, expected })?;
                (key, outcome.changed_input(input).map(Value::Object))
            }
            Self::Text(key) => match updates.get(key) {
                Some(value) if !value.is_string() => {
                    let expected = "a text";
                    return Err(Unfit { key, expected });
                }
                value => (key, value.cloned()),
            },
        };
        let is_new = |value: &Value| data.get(key) != Some(value);
        Ok(value.filter(is_new).map(|value| (key, value)))
    }

    /// Returns whether the answer of a hook changes the data.
    fn is_changed_by(self, data: &Data, result: &HookResult) -> bool {
        let output = result.output().filter(|_| result.answer_counts());
        let Some((output, updates)) = output.and_then(|it| Some((it, it.updated_input.as_ref()?)))
        else {
            return false;
        };
        match self {
            Self::Nothing => false,
            Self::Members(key) => match data.get(key).and_then(Value::as_object) {
                Some(input) if output.replaces_input => updates != input,
                Some(input) => updates
                    .iter()
                    .any(|(key, value)| input.get(key) != Some(value)),
                None => false,
            },
            Self::Text(key) => match updates.get(key) {
                Some(value) => value.is_string() && data.get(key) != Some(value),
                None => false,
            },
        }
    }

    /// Returns the outcome of the changed event, in which each hook blocks that changes what another hook has changed.
    /// The only hook that changes an event may do so again: its change is applied once.
    pub(super) fn second_pass(
        self,
        (data, first): (&Data, &Outcome),
        (changed, again): (&Data, Outcome),
    ) -> Outcome {
        let results = first.results().iter();
        let before: Vec<_> = results
            .filter(|result| self.is_changed_by(data, result))
            .collect();
        again.objecting(|result| {
            let mut others = before.iter().rev().filter(|other| other.hook != result.hook);
            let other = others.next().filter(|_| self.is_changed_by(changed, result))?;
            Some(format!(
                "hook `{}` changes what hook `{}` has already changed, and only one change is applied: let one hook make \
                 both",
                result.hook.shown_label(),
                other.hook.shown_label()
            ))
        })
    }
}

#[cfg(feature = "cli")]
fn rewrites_of(event: &HookEvent) -> Rewrites {
    let name = event.event_type.as_str();
    let row = ROWS.iter().find(|row| row.before == name);
    row.map_or(Rewrites::Nothing, |row| row.rewrites)
}

/// Returns the event with the changes of hooks, for a program that applies them; none if hooks have not changed it.
#[cfg(feature = "cli")]
pub(crate) fn changed_event(event: &HookEvent, outcome: &Outcome) -> Option<HookEvent> {
    let change = rewrites_of(event).change(&event.data, outcome);
    let (key, value) = change.ok().flatten()?;
    Some(event.clone().with_data(key, value))
}

/// Returns the outcome of an event that hooks have changed, after that of the original event.
#[cfg(feature = "cli")]
pub(crate) fn second_pass(
    (event, first): (&HookEvent, &Outcome),
    (changed, again): (&HookEvent, Outcome),
) -> Outcome {
    rewrites_of(event).second_pass((&event.data, first), (&changed.data, again))
}
