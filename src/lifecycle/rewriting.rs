//! The changes that hooks make to an event, and the second pass: the hooks run once more on the changed event, so that every
//! guard sees every change.
//!
//! A change must reach the event that the guards see, or block. A change that another hook puts back, or that comes in the
//! second pass, would be lost. A third pass would never end if two hooks disagree. Does not fire events.

use serde_json::{Map, Value};

#[cfg(feature = "cli")]
use super::table::ROWS;
use super::table::Rewrites;
#[cfg(feature = "cli")]
use crate::events::HookEvent;
use crate::json::kind;
use crate::outcome::{HookResult, Outcome};
use crate::printable::printable;

/// The data of an event.
type Data = Map<String, Value>;

/// The members of an event's data that the answer of a hook sets.
struct Answer<'a> {
    /// The data, or the object in it, whose members may be set. None if it has no members yet.
    members: Option<&'a Data>,
    updates: &'a Data,
    /// True if members that are not in `updates` are removed.
    replaces: bool,
    /// The only member that may be set; none if any may be set.
    only: Option<&'static str>,
}

/// A member of the data which the answer of a hook sets.
struct Setting<'a> {
    name: &'a str,
    old: Option<&'a Value>,
    /// The new value. None if the answer removes the member.
    new: Option<&'a Value>,
}

/// A result of the first pass.
struct Earlier<'a> {
    result: &'a HookResult,
    answer: Option<Answer<'a>>,
    changes: bool,
}

impl<'a> Answer<'a> {
    fn setting(&self, name: &'a str) -> Option<Setting<'a>> {
        let setting = Setting {
            name,
            old: self.members.and_then(|members| members.get(name)),
            new: self.updates.get(name),
        };
        let may_set = self.only.is_none_or(|only| only == name);
        let sets = setting.new.is_some() || self.replaces;
        (may_set && sets).then_some(setting)
    }

    /// Returns all members that the answer sets or removes.
    fn settings(&self) -> impl Iterator<Item = Setting<'a>> {
        let updates = self.updates;
        let others = self.members.into_iter().flat_map(Map::keys);
        let others = others.filter(|name| !updates.contains_key(*name));
        let names = updates.keys().chain(others);
        names.filter_map(|name| self.setting(name))
    }

    /// Returns the members that the answer changes.
    fn changes(&self) -> impl Iterator<Item = Setting<'a>> {
        self.settings().filter(Setting::is_change)
    }
}

impl Setting<'_> {
    fn is_change(&self) -> bool {
        self.old != self.new
    }
}

impl Rewrites {
    /// Returns the key that hooks have changed, with its new value.
    pub(super) fn change(self, data: &Data, outcome: &Outcome) -> Option<(&'static str, Value)> {
        let (key, value) = match self {
            Self::Nothing => return None,
            Self::Members(key) => {
                let changed = match data.get(key) {
                    Some(input) => outcome.changed_input(input.as_object()?),
                    None => outcome.changed_input(&Map::new()),
                };
                (key, Value::Object(changed?))
            }
            Self::Text(key) | Self::List { key, .. } => {
                (key, outcome.updated_input()?.get(key)?.clone())
            }
        };
        (data.get(key) != Some(&value)).then_some((key, value))
    }

    /// Writes a change into the data.
    pub(super) fn apply(self, data: &mut Data, (key, value): (&str, Value)) {
        if let (Self::List { count, .. }, Value::Array(list)) = (self, &value)
            && let Some(length) = data.get_mut(count)
        {
            // Guards may decide by the length.
            *length = list.len().into();
        }
        data.insert(key.to_owned(), value);
    }

    /// Returns the answer of a hook, with the members of this event that it may set.
    fn answer<'a>(self, data: &'a Data, result: &'a HookResult) -> Option<Answer<'a>> {
        let output = result.counted_output()?;
        let updates = output.updated_input.as_ref()?;
        match self {
            Self::Nothing => None,
            Self::Text(key) | Self::List { key, .. } => Some(Answer {
                members: Some(data),
                updates,
                replaces: false,
                only: Some(key),
            }),
            Self::Members(key) => Some(Answer {
                members: data.get(key).and_then(Value::as_object),
                updates,
                replaces: output.replaces_input,
                only: None,
            }),
        }
    }

    fn is_changed_by(self, data: &Data, result: &HookResult) -> bool {
        let answer = self.answer(data, result);
        answer.is_some_and(|answer| answer.changes().next().is_some())
    }

    /// Returns the outcome of an event before its changes are applied. Blocks each hook whose change has the wrong type, or
    /// was put back by another hook.
    pub(super) fn first_pass(self, data: &Data, outcome: Outcome) -> Outcome {
        // A blocked event has no changes.
        let has_changes = outcome.updated_input().is_some();
        let after = self.change(data, &outcome).map(|change| {
            let mut after = data.clone();
            self.apply(&mut after, change);
            after
        });
        let after = after.as_ref().unwrap_or(data);
        let results = outcome.results().to_vec();
        outcome.objecting(|result| {
            let mistyped = self.mistyped(data, result);
            mistyped.or_else(|| {
                self.put_back((data, after), &results, result)
                    .filter(|_| has_changes)
            })
        })
    }

    /// Returns the reason why the change of a hook cannot be applied.
    fn mistyped(self, data: &Data, result: &HookResult) -> Option<String> {
        let (key, expected) = match self {
            Self::Text(key) => (key, "a string"),
            // Without the list, every change blocks already, with its own reason.
            Self::List { key, .. } if data.get(key).is_some_and(Value::is_array) => (key, "a list"),
            Self::Nothing | Self::Members(_) | Self::List { .. } => return None,
        };
        let updates = result.counted_output()?.updated_input.as_ref()?;
        if let Some(other) = updates.keys().find(|name| *name != key) {
            let other = printable(other);
            return Some(format!(
                "cannot change `{other}`: only `{key}` of this event can be changed"
            ));
        }
        let value = self.answer(data, result)?.setting(key)?.new?;
        let actual = kind(value);
        (actual != expected)
            .then(|| format!("invalid change of `{key}`: expected {expected}, found {actual}"))
    }

    /// Returns a message that names the hook which has put back the change of this one.
    fn put_back(
        self,
        (data, after): (&Data, &Data),
        results: &[HookResult],
        result: &HookResult,
    ) -> Option<String> {
        let answer = self.answer(data, result)?;
        let members = match self {
            Self::Members(key) => after.get(key).and_then(Value::as_object),
            _ => Some(after),
        };
        let is_lost = |change: &Setting<'_>| {
            members.and_then(|members| members.get(change.name)) == change.old
        };
        let changes: Vec<_> = answer.changes().filter(is_lost).collect();
        let others = results.iter().rev();
        let mut others = others.filter(|other| other.hook != result.hook);
        let other = others.find(|other| {
            let answer = self.answer(data, other);
            answer.is_some_and(|answer| {
                changes
                    .iter()
                    .any(|change| answer.setting(change.name).is_some())
            })
        })?;
        Some(format!(
            "hook `{}` puts back what hook `{}` has changed",
            label(other),
            label(result)
        ))
    }

    /// Returns the outcome of the changed event. Blocks each hook that changes a value that another hook has set, or that
    /// changes, after a change of another hook, a value that it has not set itself: its change would be lost. A hook may
    /// again change a value that only it has set, since that change was applied once.
    pub(super) fn second_pass(
        self,
        (data, first): (&Data, &Outcome),
        (changed, again): (&Data, Outcome),
    ) -> Outcome {
        let first: Vec<_> = first
            .results()
            .iter()
            .map(|result| Earlier {
                result,
                answer: self.answer(data, result),
                changes: self.is_changed_by(data, result),
            })
            .collect();
        again.objecting(|result| {
            let other = self.conflict(&first, changed, result)?;
            Some(format!(
                "hook `{}` changes the input again after hook `{}` has changed it, and a second change is not applied: let one \
                 hook make both changes",
                label(result),
                label(other)
            ))
        })
    }

    /// Returns the hook of the first pass that keeps a hook from making its changes in the second pass.
    fn conflict<'a>(
        self,
        first: &[Earlier<'a>],
        changed: &Data,
        result: &HookResult,
    ) -> Option<&'a HookResult> {
        let answer = self.answer(changed, result)?;
        let own = first
            .iter()
            .position(|other| other.result.hook == result.hook);
        let own_answer = own.and_then(|own| first[own].answer.as_ref());
        let others: Vec<_> = first
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, other)| other.result.hook != result.hook)
            .collect();
        answer.changes().find_map(|change| {
            let has_set = own_answer.is_some_and(|own| own.setting(change.name).is_some());
            let conflict = others.iter().find(|(index, other)| {
                let is_later = own.is_some_and(|own| *index > own);
                let sets = other
                    .answer
                    .as_ref()
                    .is_some_and(|other| other.setting(change.name).is_some());
                if sets {
                    other.changes || is_later
                } else {
                    other.changes && !has_set
                }
            });
            conflict.map(|(_, other)| other.result)
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
    let rewrites = rewrites_of(event);
    let change = rewrites.change(&event.data, outcome)?;
    let mut changed = event.clone();
    rewrites.apply(&mut changed.data, change);
    Some(changed)
}

/// Returns the outcome of an event that hooks have changed, after that of the original event.
#[cfg(feature = "cli")]
pub(crate) fn second_pass(
    (event, first): (&HookEvent, &Outcome),
    (changed, again): (&HookEvent, Outcome),
) -> Outcome {
    rewrites_of(event).second_pass((&event.data, first), (&changed.data, again))
}

/// Returns the outcome of an event with the changes of hooks, for a program that applies them.
#[cfg(feature = "cli")]
pub(crate) fn first_pass(event: &HookEvent, outcome: Outcome) -> Outcome {
    rewrites_of(event).first_pass(&event.data, outcome)
}

/// Returns the outcome of an event that was cancelled before any guard has seen the changes of hooks.
#[cfg(feature = "cli")]
pub(crate) fn without_second_pass(event: &HookEvent, outcome: Outcome) -> Outcome {
    let rewrites = rewrites_of(event);
    outcome.objecting(|result| {
        let is_change = rewrites.is_changed_by(&event.data, result);
        is_change.then(|| "cancelled before other hooks have seen its change".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::events::EventType;
    use crate::growth::assert_linear;
    use crate::{Hook, HookOutput};

    const INPUT: Rewrites = Rewrites::Members("tool_args");

    fn members(names: Range<usize>, value: u8) -> Data {
        names.map(|name| (name.to_string(), json!(value))).collect()
    }

    fn sets(hook: &Arc<Hook>, names: Range<usize>, value: u8) -> HookResult {
        let output = HookOutput {
            updated_input: Some(members(names, value)),
            ..HookOutput::default()
        };
        HookResult::new(Arc::clone(hook), 0)
            .with_output(output)
            .applies_updates()
    }

    fn outcome(results: [HookResult; 2]) -> Outcome {
        Outcome::new(EventType::ToolPreExecute, results.to_vec())
    }

    /// One hook answers with its whole input, and another one changes as many members.
    #[test]
    fn large_answers_are_compared_in_linear_time() {
        let hook = |name: &str| Arc::new(Hook::new("tool:*", "true").unwrap().with_name(name));
        let input = |size: usize| {
            let data = |value| {
                Data::from_iter([("tool_args".to_owned(), json!(members(0..2 * size, value)))])
            };
            let (echoes, counts) = (hook("echoes"), hook("counts"));
            let first = outcome([sets(&echoes, 0..size, 0), sets(&counts, size..2 * size, 1)]);
            let again = outcome([sets(&echoes, 0..size, 1), sets(&counts, size..2 * size, 2)]);
            (data(0), first, data(1), again)
        };
        assert_linear("members", 2_000, input, |(data, first, changed, again)| {
            assert!(INPUT.first_pass(data, first.clone()).blocked().is_none());
            let again = INPUT.second_pass((data, first), (changed, again.clone()));
            assert!(again.blocked().is_none());
        });
    }
}
