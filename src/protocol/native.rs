//! The format of an answer: one JSON object on standard output.
//!
//! Knows the keys of docs/protocol.md, at the top level and as other tools nest them; not the
//! meaning of an answer.

use serde::de::Error;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::invalid::explain;
use crate::events::nearest;
use crate::outcome::{Decision, HookOutput};
use crate::printable::is_printable;

/// Whether output [from its first visible character](from_first_visible) is meant as an answer;
/// other output is plain text.
pub(crate) fn is_answer(visible: &[u8]) -> bool {
    visible.first() == Some(&b'{')
}

/// Returns the output from its first visible character on. A `block` after characters that a terminal
/// or an editor does not show must not be overlooked, so white space and unprintable characters are
/// skipped. UTF-16's byte order marks are skipped too, so that UTF-16 is an invalid answer and not
/// plain text.
pub(crate) fn from_first_visible(stdout: &[u8]) -> &[u8] {
    let mut skipped = 0;
    for chunk in stdout.utf8_chunks() {
        let visible = chunk.valid().trim_start_matches(is_invisible);
        skipped += chunk.valid().len() - visible.len();
        let is_mark = matches!(chunk.invalid(), [0xFE | 0xFF]);
        if !visible.is_empty() || !is_mark {
            break;
        }
        skipped += 1;
    }
    &stdout[skipped..]
}

fn is_invisible(c: char) -> bool {
    c.is_whitespace() || !is_printable(c)
}

/// An answer, with its unknown keys that look like typos, each with the key that was probably
/// meant.
pub(crate) struct Answer {
    pub(crate) output: HookOutput,
    pub(crate) misspelt: Vec<(String, &'static str)>,
}

/// Reads output that [is an answer](is_answer). The error is a message.
pub(crate) fn read(stdout: &[u8]) -> Result<Answer, String> {
    match serde_json::from_slice::<Wire>(stdout) {
        Ok(wire) => Ok(wire.into_answer()),
        Err(error) if error.is_data() => Err(explain(&error, stdout)),
        // Also for an author who did not mean to answer: why the output was read as an answer.
        Err(error) => Err(format!(
            "{}: output that begins with `{{` must be one JSON object and nothing else",
            explain(&error, stdout)
        )),
    }
}

/// The keys by which an object in plain text is recognized as an answer.
const TELLING_KEYS: [&str; 5] = [
    "decision",
    "permissionDecision",
    "continue",
    "updatedInput",
    "hookSpecificOutput",
];

/// How much at the end of plain text is searched for an answer, and for how many objects.
const LONGEST_SEARCHED: usize = 64 * 1024;
const MOST_OBJECTS: usize = 64;

/// Whether plain text contains an answer after other text, such as a line of a log.
pub(crate) fn hides_answer(text: &[u8]) -> bool {
    let mut rest = &text[text.len().saturating_sub(LONGEST_SEARCHED)..];
    for _ in 0..MOST_OBJECTS {
        let Some(at) = rest.iter().position(|byte| *byte == b'{') else {
            return false;
        };
        rest = &rest[at..];
        let mut objects = serde_json::Deserializer::from_slice(rest).into_iter();
        let object: Option<Result<Map<String, Value>, _>> = objects.next();
        let Some(Ok(object)) = object else {
            rest = &rest[1..];
            continue;
        };
        if TELLING_KEYS.iter().any(|key| object.contains_key(*key)) {
            return true;
        }
        rest = &rest[objects.byte_offset()..];
    }
    false
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
    fn into_answer(self) -> Answer {
        let nested = self.hook_specific_output.unwrap_or_default();
        let mut misspelt = typos(&self.others, KEYS);
        misspelt.extend(typos(&nested.others, SPECIFIC_KEYS));
        misspelt.extend(misplaced(&nested.others));
        // If both places have a decision, the stricter one counts, with the reason next to it.
        let decision = match (self.decision, nested.permission_decision) {
            (Some(outer), Some(inner)) => Some(outer.stricter(inner)),
            (outer, inner) => outer.or(inner),
        };
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
            ),
            updated_input: merged(self.updated_input, nested.updated_input),
            updated_output: self.updated_output.or(nested.updated_output),
            ..HookOutput::default()
        };
        Answer { output, misspelt }
    }
}

/// Returns the text, unless it is blank.
fn nonblank(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

fn both(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(first + "\n" + &second),
        (first, second) => first.or(second),
    }
}

fn merged(
    first: Option<Map<String, Value>>,
    second: Option<Map<String, Value>>,
) -> Option<Map<String, Value>> {
    match (first, second) {
        (Some(mut first), Some(second)) => {
            first.extend(second);
            Some(first)
        }
        (first, second) => first.or(second),
    }
}

/// Returns the keys that look like typos (`descision`). Other tools' keys are ignored without a
/// warning.
fn typos(others: &Map<String, Value>, known: &[&'static str]) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    for key in others.keys() {
        if let Some(name) = nearest(key, known.iter().copied(), LIKE_A_TYPO) {
            found.push((key.clone(), name));
        }
    }
    found
}

/// Returns known keys in a place where they have no effect.
fn misplaced(others: &Map<String, Value>) -> Vec<(String, &'static str)> {
    let found = KEYS.iter().copied().filter(|key| others.contains_key(*key));
    let pairs = found.map(|key| {
        let meant = match key {
            "decision" => "permissionDecision",
            "reason" => "permissionDecisionReason",
            key => key,
        };
        (format!("hookSpecificOutput.{key}"), meant)
    });
    pairs.collect()
}
