//! What hooks change of an event, and the second pass: the hooks run once more on the changed event, so that every guard
//! sees every change.
//!
//! A change of a hook must reach the event that the guards see, or block: one that another hook puts back, or that comes in
//! the second pass, would be lost. Does not fire events.

use serde_json::{Map, Value};

#[cfg(feature = "cli")]
use super::table::ROWS;
use super::table::Rewrites;
#[cfg(feature = "cli")]
use crate::events::HookEvent;
use crate::json::kind;
use crate::outcome::{HookResult, Outcome};

/// The data of an event.
type Data = Map<String, Value>;

/// Error applying the changes of hooks: the value of this key is not an object.
pub(super) struct Unfit(pub(super) &'static str);

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
                let input = data.get(key).and_then(Value::as_object);
                let changed = outcome.changed_input(input.ok_or(Unfit(key))?);
                (key, changed.map(Value::Object))
            }
            Self::Text(key) => (key, updates.get(key).cloned()),
        };
        let is_new = |value: &Value| data.get(key) != Some(value);
        Ok(value.filter(is_new).map(|value| (key, value)))
    }

    /// Returns the members of the data which the answer of a hook sets, each with its value in the data.
    fn set_by<'a>(
        self,
        data: &'a Data,
        result: &'a HookResult,
    ) -> impl Iterator<Item = (&'a str, Option<&'a Value>, &'a Value)> {
        let output = result.output().filter(|_| result.answer_counts());
        let updates = output.and_then(|output| output.updated_input.as_ref());
        let members = match self {
            Self::Nothing => None,
            Self::Members(key) => data.get(key).and_then(Value::as_object),
            Self::Text(_) => Some(data),
        };
        let set = members.and_then(|members| Some((members, updates?)));
        set.into_iter().flat_map(move |(members, updates)| {
            let set = updates.iter().filter(move |(name, _)| match self {
                Self::Text(key) => *name == key,
                _ => true,
            });
            set.map(|(name, value)| (name.as_str(), members.get(name), value))
        })
    }

    /// Whether the answer of a hook changes the data.
    fn is_changed_by(self, data: &Data, result: &HookResult) -> bool {
        let removes = match (self, result.output()) {
            (Self::Members(key), Some(output)) if output.replaces_input => {
                let count = output.updated_input.as_ref().map(Map::len);
                let input = data.get(key).and_then(Value::as_object);
                count.is_some_and(|count| input.is_some_and(|input| input.len() > count))
            }
            _ => false,
        };
        let mut set = self.set_by(data, result);
        removes && result.answer_counts() || set.any(|(_, old, new)| old != Some(new))
    }

    /// Whether two answers set the same member.
    fn is_set_by_both(self, data: &Data, one: &HookResult, other: &HookResult) -> bool {
        let replaces = |result: &HookResult| {
            let output = result.output();
            output.is_some_and(|output| output.replaces_input && output.updated_input.is_some())
        };
        let mut of_one = self.set_by(data, one);
        let is_set = |name: &str| self.set_by(data, other).any(|(it, ..)| it == name);
        replaces(one) || replaces(other) || of_one.any(|(name, ..)| is_set(name))
    }

    /// Returns the outcome of an event before its changes are applied. A hook blocks whose change other hooks have put
    /// back, and so does one whose change has the wrong type.
    pub(super) fn first_pass(self, data: &Data, outcome: Outcome) -> Outcome {
        // A blocked event has no changes.
        let has_changes = outcome.updated_input().is_some();
        let is_put_back = has_changes && matches!(self.change(data, &outcome), Ok(None));
        let results = outcome.results().to_vec();
        outcome.objecting(|result| {
            if let Self::Text(key) = self
                && let Some((.., new)) =
                    self.set_by(data, result).find(|(.., new)| !new.is_string())
            {
                let found = kind(new);
                return Some(format!(
                    "invalid change of `{key}`: expected a string, found {found}"
                ));
            }
            if !is_put_back || !self.is_changed_by(data, result) {
                return None;
            }
            let mut others = results.iter().rev();
            let other = others.find(|other| {
                other.hook != result.hook && self.is_set_by_both(data, result, other)
            })?;
            Some(format!(
                "hook `{}` puts back what hook `{}` has changed",
                label(other),
                label(result)
            ))
        })
    }

    /// Returns the outcome of the changed event, in which each hook blocks that changes what another hook has changed or
    /// put back. The only hook that changes an event may do so again: its change is applied once.
    pub(super) fn second_pass(
        self,
        (data, first): (&Data, &Outcome),
        (changed, again): (&Data, Outcome),
    ) -> Outcome {
        again.objecting(|result| {
            if !self.is_changed_by(changed, result) {
                return None;
            }
            let before = first.results();
            let own = before.iter().position(|it| it.hook == result.hook);
            let has_put_back = |index: usize, other: &HookResult| {
                own.is_some_and(|own| index > own) && self.is_set_by_both(data, result, other)
            };
            let mut others = before.iter().enumerate().rev();
            let (_, other) = others.find(|(index, other)| {
                let is_other = other.hook != result.hook;
                is_other && (self.is_changed_by(data, other) || has_put_back(*index, other))
            })?;
            Some(format!(
                "hook `{}` changes what hook `{}` has already changed, and only one change is applied: let one hook make \
                 both",
                label(result),
                label(other)
            ))
        })
    }
}

fn label(result: &HookResult) -> String {
    result.hook.shown_label()
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

/// Returns the outcome of an event as hooks have left it, for a program that applies their changes.
#[cfg(feature = "cli")]
pub(crate) fn first_pass(event: &HookEvent, outcome: Outcome) -> Outcome {
    rewrites_of(event).first_pass(&event.data, outcome)
}

/// Returns the outcome of an event that was cancelled before any guard has seen what hooks have changed.
#[cfg(feature = "cli")]
pub(crate) fn without_second_pass(event: &HookEvent, outcome: Outcome) -> Outcome {
    let rewrites = rewrites_of(event);
    outcome.objecting(|result| {
        let is_change = rewrites.is_changed_by(&event.data, result);
        is_change.then(|| "cancelled before other hooks have seen its change".to_owned())
    })
}
