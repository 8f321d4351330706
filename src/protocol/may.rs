//! Limits an answer to the effects that the hook may have (`may`). Without a word, any text that a hook prints stops an
//! operation at most.
//!
//! Knows the keys that need a word. Does not know where a hook gets it.

use serde_json::Value;

use super::answer::{set, take};
use super::keys::{Field, KEYS, Place, keys_of};
use crate::entry::{Decision, HookOutput, May, Reading};
use crate::events::HookEvent;

/// Removes from an answer the effects that the hook may not have. `may` returns the reason why the hook may not, and the
/// next step. A change that the hook may not make invalidates the answer; any other part is left out, and reported to the
/// user.
pub(crate) fn limit(
    reading: &mut Reading,
    event: &HookEvent,
    may: impl Fn(May) -> Result<(), String>,
) {
    let Some(output) = &mut reading.output else {
        return;
    };
    let is_stop = event.event_type.is_agent_stop();
    for key in keys_of(Place::Top) {
        let Some(word) = key.word.filter(|_| does((key.field)(output), is_stop)) else {
            continue;
        };
        let Err(why) = may(word) else {
            continue;
        };
        if word.is_change() {
            reading.output = None;
            reading.invalid = Some(format!("{}: {why}", word.without()));
            return;
        }
        take((key.field)(output));
        let message = format!("{}: {why}", word.without());
        // An `allow` is often intended as "no objection", and still counts as that.
        match word {
            May::Grant => reading.notes.push(message),
            _ => reading.unused.push(message),
        }
    }
}

/// Returns the words that an answer needs. `is_stop`: whether it is for the stop of an agent.
pub(crate) fn words_of(output: &HookOutput, is_stop: bool) -> Vec<May> {
    let mut output = output.clone();
    let mut words = Vec::new();
    for key in keys_of(Place::Top) {
        let needed = key.word.filter(|_| does((key.field)(&mut output), is_stop));
        words.extend(needed.filter(|word| !words.contains(word)));
    }
    words
}

/// Returns whether a field that needs a word has a value that needs it.
fn does(field: Field<'_>, is_stop: bool) -> bool {
    match field {
        Field::Decision(decision) => *decision == Some(Decision::Allow),
        Field::Flag(flag, _) => *flag && is_stop,
        Field::Text(text) => text.is_some(),
        Field::Object(object) => object.is_some(),
        Field::Any(value) => value.is_some(),
        Field::Keys(_) => false,
    }
}

/// Returns the word that a member of an answer needs.
pub(crate) fn word_for(name: &str, value: &Value, event: &HookEvent) -> Option<May> {
    let mut keys = KEYS.iter().filter(|key| key.name == name);
    let key = keys.find(|key| key.word.is_some())?;
    let mut output = HookOutput::default();
    // A value that cannot be read makes the answer invalid anyway.
    set(name, (key.field)(&mut output), value.clone()).ok()?;
    key.word
        .filter(|_| does((key.field)(&mut output), event.event_type.is_agent_stop()))
}
