//! Limits an answer to the effects that the hook may have (`may`). Without a word, any text that a hook prints stops an
//! operation at most.
//!
//! Knows the keys that need a word. Does not know where a hook gets it.

use serde_json::Value;

use super::answer::{set, take};
use super::keys::{Field, KEYS, Key, Scope, keys_of};
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
    for key in keys_of(Scope::Top) {
        let Some(word) = needed(key, output, is_stop) else {
            continue;
        };
        let Err(why) = may(word) else {
            continue;
        };
        let message = format!("{}: {why}", word.without());
        if word.is_change() {
            reading.output = None;
            reading.invalid = Some(message);
            return;
        }
        take(&key.field, output);
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
    let mut words: Vec<_> = keys_of(Scope::Top)
        .filter_map(|key| needed(key, &mut output, is_stop))
        .collect();
    // The keys that need one word follow each other in the table.
    words.dedup();
    words
}

/// Returns the word that the value of a key needs, in an answer for the stop of an agent or another event.
fn needed(key: &Key, output: &mut HookOutput, is_stop: bool) -> Option<May> {
    let needs_word = match &key.field {
        Field::Choice(field) => *field(output) == Some(Decision::Allow),
        Field::Flag(_, field) => *field(output) && is_stop,
        Field::Text(field) => field(output).is_some(),
        Field::Object(field) => field(output).is_some(),
        Field::Any(field) => field(output).is_some(),
        Field::Keys(_) => false,
    };
    key.word.filter(|_| needs_word)
}

/// Returns the word that a member of an answer needs.
pub(crate) fn word_for(name: &str, value: &Value, event: &HookEvent) -> Option<May> {
    let mut keys = KEYS.iter().filter(|key| key.name == name);
    let key = keys.find(|key| key.word.is_some())?;
    let mut output = HookOutput::default();
    // A value that cannot be read makes the answer invalid anyway.
    set(name, &key.field, value.clone(), &mut output).ok()?;
    needed(key, &mut output, event.event_type.is_agent_stop())
}
