//! The format of an answer: one JSON object on standard output.
//!
//! Knows the keys of docs/protocol.md, at the top level and as other tools nest them; not the
//! meaning of an answer.

use std::ops::Range;

use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::ending::{Object, find, is_blank, meant_decision};
use super::invalid::explain;
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
    if !is_alone && !object.is_answer() {
        return Ok(Written::default());
    }
    let mut answer = match read_object(output, &object) {
        Err(_) if !is_alone && !object.is_telling() => return Ok(Written::default()),
        read => read?,
    };
    if !object.is_answer() {
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

const BEFORE: &str = "found text before the object: a hook that withholds writes only its answer to standard output, \
                      and its log to standard error";

const NO_KEY: &str = "the object has no key of an answer, and is treated as plain text";

fn read_object(output: &[u8], object: &Object) -> Result<Written, String> {
    let Range { start, end } = object.range;
    let wire: Wire = match serde_json::from_slice(&output[start..end]) {
        Ok(wire) => wire,
        // It is nested too deep, and no answer anyway.
        Err(_) if !object.is_answer() => return Ok(Written::default()),
        Err(error) => return Err(explain(&error, &output[..end], start)),
    };
    let nested = wire.hook_specific_output.as_ref();
    let nested = nested.into_iter().flat_map(|nested| &nested.others);
    let misplaced = nested
        .clone()
        .filter(|(key, _)| KEYS.contains(&key.as_str()));
    for (key, value) in misplaced {
        if matches!(
            value.to_string().as_str(),
            "\"block\"" | "\"deny\"" | "\"ask\"" | "false"
        ) {
            return Err(misplaced_key(key));
        }
    }
    let mut others = wire.others.iter().chain(nested);
    let slip =
        others.find_map(|(key, value)| Some((key, meant_decision(key, &value.to_string())?)));
    match slip {
        Some((key, meant)) => Err(unknown_key(key, meant)),
        None => Ok(wire.into_written()),
    }
}

fn misplaced_key(key: &str) -> String {
    let meant = match key {
        "decision" => "permissionDecision",
        "reason" => "permissionDecisionReason",
        key => key,
    };
    unknown_key(&format!("hookSpecificOutput.{key}"), meant)
}

fn unknown_key(key: &str, meant: &str) -> String {
    format!(
        "`{}` is not a known key; did you mean `{meant}`?",
        printable(key)
    )
}

/// The keys of an answer. Reading a `Value` would be as short, but this reports the column of an
/// error, and refuses a duplicate key.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    #[serde(default, deserialize_with = "decision")]
    #[serde(alias = "permissionDecision")]
    decision: Option<Decision>,
    #[serde(alias = "permissionDecisionReason")]
    reason: Option<String>,
    r#continue: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    additional_context: Option<String>,
    updated_input: Option<Map<String, Value>>,
    #[serde(default, deserialize_with = "present")]
    updated_output: Option<Value>,
    hook_specific_output: Option<Specific>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Specific {
    #[serde(default, deserialize_with = "decision")]
    permission_decision: Option<Decision>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Map<String, Value>>,
    #[serde(default, deserialize_with = "present")]
    updated_output: Option<Value>,
    additional_context: Option<String>,
    #[serde(flatten)]
    others: Map<String, Value>,
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

/// How similar a key must be: a false suggestion would make the answer of a strict hook invalid.
const LIKE_A_TYPO: f64 = 0.9;

const KEYS: &[&str] = &[
    "decision",
    "reason",
    "continue",
    "stopReason",
    "systemMessage",
    "additionalContext",
    "updatedInput",
    "updatedOutput",
    "hookSpecificOutput",
];

/// The most characters of an unknown word that an error shows.
const LONGEST_WORD: usize = 40;

const SPECIFIC_KEYS: &[&str] = &[
    "permissionDecision",
    "permissionDecisionReason",
    "updatedInput",
    "updatedOutput",
    "additionalContext",
];

/// Reads a value that is present. An output of `null` replaces the tool's output like any other
/// value.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn decision<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Decision>, D::Error> {
    let Some(word) = Option::<String>::deserialize(deserializer)? else {
        return Ok(None);
    };
    Ok(Some(match word.as_str() {
        "allow" | "approve" => Decision::Allow,
        "ask" => Decision::Ask,
        "block" | "deny" => Decision::Block,
        _ => {
            // The word comes from the hook, and may be of any length.
            let word: String = word.chars().take(LONGEST_WORD).collect();
            let message = format!("unknown decision `{word}`, expected `allow`, `block` or `ask`");
            return Err(D::Error::custom(message));
        }
    }))
}

impl Wire {
    fn into_written(self) -> Written {
        let nested = self.hook_specific_output.unwrap_or_default();
        let mut notes = typos(&self.others, KEYS);
        notes.extend(typos(&nested.others, SPECIFIC_KEYS));
        notes.extend(misplaced(&nested.others));
        let mut unread = unread(self.others.keys().chain(nested.others.keys()));
        // If both places have a decision, the stricter one counts, with the reason next to it.
        let decision = both(
            self.decision,
            nested.permission_decision,
            Decision::stricter,
        );
        let inner_counts = decision != self.decision;
        let (reason, other) = if inner_counts {
            (nested.permission_decision_reason, self.reason)
        } else {
            (self.reason, nested.permission_decision_reason)
        };
        let output = HookOutput {
            decision,
            reason: nonblank(reason).or(nonblank(other)),
            stops_turn: self.r#continue == Some(false),
            stop_reason: nonblank(self.stop_reason),
            system_message: nonblank(self.system_message),
            additional_context: both(
                nonblank(self.additional_context),
                nonblank(nested.additional_context),
                |first, second| first + "\n" + &second,
            ),
            updated_input: both(self.updated_input, nested.updated_input, |first, second| {
                first.into_iter().chain(second).collect()
            }),
            updated_output: self.updated_output.or(nested.updated_output),
            ..HookOutput::default()
        };
        if output.updated_output.is_some() {
            unread.clear();
        }
        Written {
            output: Some(output),
            notes,
            unread,
        }
    }
}

/// Returns the text, unless it is blank.
fn nonblank(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

/// Joins two values, if there are two.
fn both<T>(first: Option<T>, second: Option<T>, join: impl Fn(T, T) -> T) -> Option<T> {
    match (first, second) {
        (Some(first), Some(second)) => Some(join(first, second)),
        (first, second) => first.or(second),
    }
}

/// Returns notes on keys that look like typos (`additionalContex`). Other tools' keys are ignored.
fn typos(others: &Map<String, Value>, known: &[&'static str]) -> Vec<String> {
    let mut notes = Vec::new();
    for key in others.keys() {
        if let Some(meant) = nearest(key, known.iter().copied(), LIKE_A_TYPO) {
            notes.push(unknown_key(key, meant));
        }
    }
    notes
}

/// Returns notes on known keys in a place where they have no effect.
fn misplaced(others: &Map<String, Value>) -> impl Iterator<Item = String> {
    let found = KEYS.iter().filter(|key| others.contains_key(**key));
    found.map(|key| misplaced_key(key))
}

/// Returns notes on keys that a hook which redacts may have meant to hold the output.
fn unread<'a>(others: impl Iterator<Item = &'a String>) -> Vec<String> {
    const HARMLESS: [&str; 3] = ["id", "hookEventName", "suppressOutput"];
    let others = others.filter(|key| !HARMLESS.contains(&key.as_str()));
    let notes = others.map(|key| format!("found `{}` but no `updatedOutput`", printable(key)));
    notes.collect()
}
