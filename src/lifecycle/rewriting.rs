//! What hooks change of an event, and the second pass: the hooks run once more on the changed event, so that every guard
//! sees every change.
//!
//! A change must reach the event that the guards see, or block: one that another hook puts back, or that comes in the second
//! pass, would be lost. Does not fire events.

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

/// A member of the data which the answer of a hook sets.
struct Setting<'a> {
    name: &'a str,
    old: Option<&'a Value>,
    /// None if the answer removes the member.
    new: Option<&'a Value>,
}

impl Setting<'_> {
    fn is_change(&self) -> bool {
        self.old != self.new
    }
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
                let input = data.get(key).and_then(Value::as_object);
                let changed = outcome.changed_input(input.ok_or(Unfit(key))?);
                (key, changed.map(Value::Object))
            }
            Self::Text(key) => (key, updates.get(key).cloned()),
        };
        let is_new = |value: &Value| data.get(key) != Some(value);
        Ok(value.filter(is_new).map(|value| (key, value)))
    }

    /// Returns the members of the data which the answer of a hook sets or removes.
    fn settings<'a>(self, data: &'a Data, result: &'a HookResult) -> Vec<Setting<'a>> {
        let output = result.output().filter(|_| result.answer_counts());
        let Some((output, updates)) =
            output.and_then(|output| Some((output, output.updated_input.as_ref()?)))
        else {
            return Vec::new();
        };
        let set = |members: &'a Data, name: &'a str| Setting {
            name,
            old: members.get(name),
            new: updates.get(name),
        };
        match self {
            Self::Nothing => Vec::new(),
            Self::Text(key) if updates.contains_key(key) => vec![set(data, key)],
            Self::Text(_) => Vec::new(),
            Self::Members(key) => {
                let Some(input) = data.get(key).and_then(Value::as_object) else {
                    return Vec::new();
                };
                let removed = input
                    .keys()
                    .filter(|name| output.replaces_input && !updates.contains_key(*name));
                updates
                    .keys()
                    .chain(removed)
                    .map(|name| set(input, name))
                    .collect()
            }
        }
    }

    fn is_changed_by(self, data: &Data, result: &HookResult) -> bool {
        self.settings(data, result).iter().any(Setting::is_change)
    }

    fn is_set_by(self, data: &Data, name: &str, result: &HookResult) -> bool {
        self.settings(data, result)
            .iter()
            .any(|setting| setting.name == name)
    }

    /// Returns the outcome of an event before its changes are applied. Blocks each hook whose change has the wrong type, or
    /// was put back by another hook.
    pub(super) fn first_pass(self, data: &Data, outcome: Outcome) -> Outcome {
        // A blocked event has no changes.
        let has_changes = outcome.updated_input().is_some();
        let is_put_back = has_changes && matches!(self.change(data, &outcome), Ok(None));
        let results = outcome.results().to_vec();
        outcome.objecting(|result| {
            let mistyped = self.mistyped(data, result);
            mistyped.or_else(|| {
                self.put_back(data, &results, result)
                    .filter(|_| is_put_back)
            })
        })
    }

    /// Returns why the change of a hook cannot be applied.
    fn mistyped(self, data: &Data, result: &HookResult) -> Option<String> {
        let Self::Text(key) = self else {
            return None;
        };
        let value = self.settings(data, result).first()?.new?;
        let found = kind(value);
        (!value.is_string())
            .then(|| format!("invalid change of `{key}`: expected a string, found {found}"))
    }

    /// Returns which hook has put back the change of this one.
    fn put_back(self, data: &Data, results: &[HookResult], result: &HookResult) -> Option<String> {
        let mut settings = self.settings(data, result);
        settings.retain(Setting::is_change);
        let mut others = results
            .iter()
            .rev()
            .filter(|other| other.hook != result.hook);
        let other = others.find(|other| {
            settings
                .iter()
                .any(|setting| self.is_set_by(data, setting.name, other))
        })?;
        Some(format!(
            "hook `{}` puts back what hook `{}` has changed",
            label(other),
            label(result)
        ))
    }

    /// Returns the outcome of the changed event. Blocks each hook that changes what another hook has set, or, after a change
    /// of another hook, what it has not set itself: its change would be lost. What it alone has set, a hook may change again:
    /// that was applied once.
    pub(super) fn second_pass(
        self,
        (data, first): (&Data, &Outcome),
        (changed, again): (&Data, Outcome),
    ) -> Outcome {
        again.objecting(|result| {
            let changes = self.settings(changed, result).into_iter().filter(Setting::is_change);
            let mut conflicts = changes.filter_map(|change| self.conflict(data, first.results(), result, change.name));
            let other = conflicts.next()?;
            Some(format!(
                "hook `{}` changes the input again after hook `{}` has changed it, and a second change is not applied: let one \
                 hook make both changes",
                label(result),
                label(other)
            ))
        })
    }

    /// Returns the hook of the first pass because of which a hook may not change this member in the second one.
    fn conflict<'a>(
        self,
        data: &Data,
        first: &'a [HookResult],
        result: &HookResult,
        name: &str,
    ) -> Option<&'a HookResult> {
        let own = first.iter().position(|other| other.hook == result.hook);
        let has_set = own.is_some_and(|own| self.is_set_by(data, name, &first[own]));
        let mut others = first
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, other)| other.hook != result.hook);
        let conflict = others.find(|(index, other)| {
            let changes = self.is_changed_by(data, other);
            let is_later = own.is_some_and(|own| *index > own);
            match self.is_set_by(data, name, other) {
                true => changes || is_later,
                false => changes && !has_set,
            }
        });
        conflict.map(|(_, other)| other)
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
