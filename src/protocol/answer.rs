//! The keys of an answer: one JSON object on standard output.
//!
//! Knows the keys of docs/protocol.md, at the top level and as other tools nest them; not the meaning of an answer.

use std::ops::Range;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Map;
use serde_json::value::RawValue;

use super::ending::{Object, find, is_blank};
use super::invalid::{explain, position};
use super::keys::{KEYS, Kind, SPECIFIC, SPECIFIC_KEYS, meant_decision};
use super::members::{Members, at, typed};
use crate::events::nearest;
use crate::hook::{Decision, HookOutput};
use crate::printable::printable;

/// What the output of a hook says.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// None if the output is plain text.
    pub(crate) output: Option<HookOutput>,
    /// Notes for the author of the hook.
    pub(crate) notes: Vec<String>,
    /// Notes on keys without effect, if the output of a tool is not replaced.
    unread: Vec<String>,
}

const BEFORE: &str = "found text before the object: a hook that withholds writes only its answer to standard output, \
                      and its log to standard error";

const NO_KEY: &str = "the object has no key of an answer, and is treated as plain text";

/// Reads the answer in a hook's output. `gap` is the place where bytes were left out, if any were. If the hook is
/// strict, anything but an answer is an error. The error is a message.
pub(crate) fn read(output: &[u8], gap: Option<usize>, is_strict: bool) -> Result<Written, String> {
    let Some(object) = find(output, gap)? else {
        if is_strict && !is_blank(output) {
            return Err("it is not a JSON object".to_owned());
        }
        return Ok(Written::default());
    };
    let is_alone = is_blank(&output[..object.range.start]);
    if is_strict && !is_alone {
        return Err(BEFORE.to_owned());
    }
    // A log may end with any object.
    if !is_alone && object.kind == Kind::Other {
        return Ok(Written::default());
    }
    let mut answer = match read_object(output, &object) {
        Err(_) if !is_alone && object.kind != Kind::Telling => return Ok(Written::default()),
        read => read?,
    };
    if object.kind == Kind::Other {
        answer.output = None;
        if answer.notes.is_empty() {
            answer.notes.push(NO_KEY.to_owned());
        }
    }
    match answer.notes.first().or(answer.unread.first()) {
        Some(note) if is_strict => Err(note.clone()),
        _ => Ok(answer),
    }
}

/// How similar an unknown key must be: a false suggestion would make the answer of a strict hook invalid.
const LIKE_A_TYPO: f64 = 0.9;

/// The most characters of an unknown word that an error shows.
const LONGEST_WORD: usize = 40;

fn read_object(output: &[u8], object: &Object) -> Result<Written, String> {
    let mut written = Written::default();
    let Range { start, end } = object.range;
    let members = match str::from_utf8(&output[start..end]) {
        Ok(text) => serde_json::from_str(text).map_err(|error| explain(&error, output, start))?,
        Err(_) if object.kind == Kind::Other => return Ok(written),
        Err(_) => {
            let place = position(output, start);
            return Err(format!(
                "found text that is not UTF-8 in the object {place}"
            ));
        }
    };
    let (mut said, specific) = written.said(output, &members, KEYS)?;
    if let Some(members) = specific {
        let (inner, _) = written.said(output, &members, SPECIFIC_KEYS)?;
        said = combined(said, inner);
    }
    if said.updated_output.is_some() {
        written.unread.clear();
    }
    written.output = Some(said);
    Ok(written)
}

impl Written {
    /// Reads the keys of one place, and notes those that are not known there. Returns also the other place, if it is in
    /// this one.
    fn said<'a>(
        &mut self,
        text: &[u8],
        members: &Members<'a>,
        keys: &'static [(&str, &str)],
    ) -> Result<(HookOutput, Option<Members<'a>>), String> {
        let mut said = HookOutput::default();
        let mut specific = None;
        let mut seen = Vec::new();
        for (key, value) in &members.0 {
            let Some((_, meaning)) = keys.iter().find(|(known, _)| known == key) else {
                self.note_unknown(key, value, keys)?;
                continue;
            };
            if seen.contains(meaning) {
                return Err(at(value, text, format!("`{meaning}` occurs twice")));
            }
            seen.push(meaning);
            match *meaning {
                SPECIFIC => specific = typed(key, value, text, "an object")?,
                meaning => take(&mut said, key, meaning, value, text)?,
            }
        }
        Ok((said, specific))
    }

    /// Notes a key that looks like a typo, or that a hook which redacts may have meant to hold the output. Other tools'
    /// keys are ignored.
    ///
    /// # Errors
    /// If it may have been meant to decide.
    fn note_unknown(
        &mut self,
        key: &str,
        value: &RawValue,
        keys: &'static [(&str, &str)],
    ) -> Result<(), String> {
        const HARMLESS: [&str; 3] = ["id", "hookEventName", "suppressOutput"];
        if KEYS.iter().any(|(known, _)| *known == key) {
            let note = misplaced_key(key);
            match value.get() {
                "\"block\"" | "\"deny\"" | "\"ask\"" | "false" => return Err(note),
                _ => self.notes.push(note),
            }
        } else if let Some(meant) = meant_decision(key, value.get()) {
            return Err(unknown_key(key, meant));
        } else if let Some(meant) = nearest(key, keys.iter().map(|(known, _)| *known), LIKE_A_TYPO)
        {
            self.notes.push(unknown_key(key, meant));
        }
        if !HARMLESS.contains(&key) {
            let key = printable(key);
            self.unread
                .push(format!("found `{key}` but no `updatedOutput`"));
        }
        Ok(())
    }
}

/// Puts the value of a key into the answer.
fn take(
    said: &mut HookOutput,
    key: &str,
    meaning: &str,
    value: &RawValue,
    text: &[u8],
) -> Result<(), String> {
    let words = || typed::<String>(key, value, text, "a string");
    let nonblank = || Ok::<_, String>(words()?.filter(|words| !words.trim().is_empty()));
    match meaning {
        "decision" => {
            let decision = words()?.map(|word| decision(&word)).transpose();
            said.decision = decision.map_err(|why| at(value, text, why))?;
        }
        "reason" => said.reason = nonblank()?,
        "continue" => {
            said.stops_turn = typed(key, value, text, "true or false")? == Some(false);
        }
        "stopReason" => said.stop_reason = nonblank()?,
        "systemMessage" => said.system_message = nonblank()?,
        "additionalContext" => said.additional_context = nonblank()?,
        "updatedInput" => said.updated_input = typed(key, value, text, "an object")?,
        // `null` replaces the tool's output like any other value.
        _ => said.updated_output = Some(typed(key, value, text, "a value")?.unwrap_or_default()),
    }
    Ok(())
}

fn decision(word: &str) -> Result<Decision, String> {
    match word {
        "allow" | "approve" => Ok(Decision::Allow),
        "ask" => Ok(Decision::Ask),
        "block" | "deny" => Ok(Decision::Block),
        _ => {
            // The word comes from the hook, and may be of any length.
            let word: String = word.chars().take(LONGEST_WORD).collect();
            Err(format!(
                "unknown decision `{word}`, expected `allow`, `block` or `ask`"
            ))
        }
    }
}

/// Returns what both places say together. Of two decisions the stricter one counts, with the reason next to it.
fn combined(mut outer: HookOutput, inner: HookOutput) -> HookOutput {
    let decision = both(outer.decision, inner.decision, Decision::stricter);
    outer.reason = match decision == outer.decision {
        true => outer.reason.or(inner.reason),
        false => inner.reason.or(outer.reason),
    };
    outer.decision = decision;
    let lines = |first: String, second: String| first + "\n" + &second;
    outer.additional_context = both(outer.additional_context, inner.additional_context, lines);
    let keys = |first: Map<_, _>, second| first.into_iter().chain(second).collect();
    outer.updated_input = both(outer.updated_input, inner.updated_input, keys);
    outer.updated_output = outer.updated_output.or(inner.updated_output);
    outer
}

/// Joins two values, if there are two.
fn both<T>(first: Option<T>, second: Option<T>, join: impl Fn(T, T) -> T) -> Option<T> {
    match (first, second) {
        (Some(first), Some(second)) => Some(join(first, second)),
        (first, second) => first.or(second),
    }
}

fn misplaced_key(key: &str) -> String {
    let meant = match key {
        "decision" => "permissionDecision",
        "reason" => "permissionDecisionReason",
        key => key,
    };
    unknown_key(&format!("{SPECIFIC}.{key}"), meant)
}

fn unknown_key(key: &str, meant: &str) -> String {
    format!(
        "`{}` is not a known key; did you mean `{meant}`?",
        printable(key)
    )
}

/// Serializes as a hook writes it, with only the keys that are set.
impl Serialize for HookOutput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let texts = [
            ("decision", self.decision.map(Decision::as_str)),
            ("reason", self.reason.as_deref()),
            ("stopReason", self.stop_reason.as_deref()),
            ("systemMessage", self.system_message.as_deref()),
            ("additionalContext", self.additional_context.as_deref()),
            ("feedback", self.feedback.as_deref()),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                map.serialize_entry(key, text)?;
            }
        }
        if self.stops_turn {
            map.serialize_entry("continue", &false)?;
        }
        if let Some(input) = &self.updated_input {
            map.serialize_entry("updatedInput", input)?;
        }
        if let Some(output) = &self.updated_output {
            map.serialize_entry("updatedOutput", output)?;
        }
        map.end()
    }
}
