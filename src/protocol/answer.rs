//! Reads an answer, one JSON object that is all of a hook's standard output, and writes one.
//!
//! Knows the types of the keys, from their table. Does not know their effects.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::ending::{check_text, trimmed};
use super::invalid::explain;
use super::keys::{self, Field, Place, Within, hidden_decision, key, keys_of};
use super::members::Members;
use crate::entry::{Decision, HookOutput};
use crate::events::nearest;
use crate::json::{self, kind};
use crate::printable::{printable, shortened};

/// The standard output of a hook, as it was read.
#[derive(Debug, Default)]
pub(crate) struct ParsedOutput {
    /// The answer. None if the output is text.
    pub(crate) output: Option<HookOutput>,
    /// The answer in the form in which the hook wrote it.
    pub(crate) answer: Option<Map<String, Value>>,
    /// The reasons why the answer does not block although it was probably intended to.
    pub(crate) warnings: Vec<String>,
    /// Further notes for the author of the hook.
    pub(crate) notes: Vec<String>,
}

/// Reads the output of a hook. `gap` is the place where bytes were left out, if any were. If the hook is strict, any output
/// but an answer, or none, is an error. The error says why the output is an invalid answer.
pub(crate) fn read(
    output: &[u8],
    gap: Option<usize>,
    is_strict: bool,
) -> Result<ParsedOutput, String> {
    let is_blank = output.trim_ascii().is_empty();
    if is_blank && gap.is_none() {
        return Ok(ParsedOutput::default());
    }
    let text = json::readable(str::from_utf8(output).unwrap_or_default());
    let text = trimmed(&text);
    let members = json::parse(text);
    if let (None, Ok(members)) = (gap, members) {
        return read_object(text, members, is_strict);
    }
    let note = check_text(output, gap)?;
    if is_strict && !is_blank {
        return Err("it is not a JSON object".to_owned());
    }
    let mut parsed = ParsedOutput::default();
    if let Some(note) = note {
        let notes = if note.refuses {
            &mut parsed.warnings
        } else {
            &mut parsed.notes
        };
        notes.push(note.note);
    }
    Ok(parsed)
}

const NO_KEY: &str = "the object has no key of an answer, and is treated as plain text";

const TO_BLOCK: &str = "write {\"decision\": \"block\"}, or exit with 1";

fn read_object(text: &str, members: Members<'_>, is_strict: bool) -> Result<ParsedOutput, String> {
    let mut others = Others::default();
    let is_answer = members
        .0
        .iter()
        .any(|(name, _)| key(name, Place::Top).is_some());
    let says_nothing = members.0.iter().all(|(name, _)| name == "id");
    let refusal = members.0.iter().find_map(|(name, value)| {
        let value = json::parse(value.get()).ok()?;
        keys::is_refusal(name, &value).then(|| printable(&format!("\"{name}\": {value}")))
    });
    let output = read_members(members, Place::Top, &mut others)?;
    let (mut notes, mut warnings) = (others.typos, Vec::new());
    let mut answer = None;
    if is_answer {
        answer = Some(json::parse(text).map_err(|error| explain(&error))?);
    } else if let Some(refusal) = &refusal {
        warnings.push(format!(
            "`{refusal}` is not an answer, so it does not block: {TO_BLOCK}"
        ));
    } else if !says_nothing && notes.is_empty() {
        notes.push(NO_KEY.to_owned());
    }
    let is_unread = is_strict && output.updated_output.is_none();
    if is_unread {
        let ignored = others.ignored.iter();
        notes.extend(ignored.map(|name| format!("found `{name}` but no `updatedOutput`")));
    } else if is_answer && !is_strict {
        notes.extend(ignored_keys(&others.ignored, others.further));
    }
    match notes.iter().chain(&warnings).next() {
        Some(note) if is_strict => Err(note.clone()),
        _ => Ok(ParsedOutput {
            output: (is_answer || says_nothing).then_some(output),
            answer,
            warnings,
            notes,
        }),
    }
}

/// Returns a note that names the first of the keys that are not read. Beside these names are `further` keys.
fn ignored_keys(names: &[String], further: usize) -> Option<String> {
    const MOST_NAMED: usize = 5;
    let (named, more) = names.split_at(names.len().min(MOST_NAMED));
    let named = named.iter().map(|name| format!("`{}`", shortened(name)));
    let named = named.collect::<Vec<_>>().join(", ");
    let rest = match more.len() + further {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!names.is_empty()).then(|| format!("keys of the answer are ignored: {named}{rest}"))
}

/// Reads the keys that are in one place, and in the places within it.
fn read_members(
    Members(members): Members<'_>,
    place: Place,
    others: &mut Others,
) -> Result<HookOutput, String> {
    let mut output = HookOutput::default();
    let mut inner = HookOutput::default();
    let mut seen = Vec::new();
    for (name, value) in members {
        let Some(key) = key(&name, place) else {
            others.check(&name, value, place)?;
            continue;
        };
        if seen.contains(&key.name) {
            return Err(format!("`{name}` occurs twice"));
        }
        seen.push(key.name);
        match (key.field)(&mut output) {
            Field::Keys(within) if value.get().starts_with('{') => {
                let members = json::parse(value.get()).map_err(|error| explain(&error))?;
                inner = read_members(members, within, others)?;
            }
            field => set(&name, field, parse(value)?)?,
        }
    }
    if place == Place::Request && output.decision.is_none() {
        return Err("`decision` has no `behavior`".to_owned());
    }
    Ok(combined(output, inner))
}

fn parse(value: &RawValue) -> Result<Value, String> {
    json::parse(value.get()).map_err(|error| explain(&error))
}

/// Sets a field to the value of its key.
pub(super) fn set(name: &str, field: Field<'_>, value: Value) -> Result<(), String> {
    match (field, value) {
        (Field::Any(field), value) if !value.is_null() => *field = Some(value),
        (field, Value::Null) if !matches!(field, Field::Any(_)) => {}
        (Field::Decision(field), Value::String(word)) => {
            let decision = keys::decision(&word).ok_or_else(|| unknown_decision(&word))?;
            set_once(name, field, decision)?;
        }
        (Field::Text(_), Value::String(text)) if text.trim().is_empty() => {}
        (Field::Text(field), Value::String(text)) => set_once(name, field, text)?,
        (Field::Flag(field, effective), Value::Bool(flag)) => *field = flag == effective,
        (Field::Object(field), Value::Object(map)) => *field = Some(map),
        (field, value) => {
            let (expected, found) = (field.expected(), kind(&value));
            return Err(format!("`{name}`: expected {expected}, found {found}"));
        }
    }
    Ok(())
}

/// Sets a field that no other key of the answer has set: two keys may set the same field, but not both.
fn set_once<T>(name: &str, field: &mut Option<T>, value: T) -> Result<(), String> {
    match field.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!(
            "`{name}` occurs twice, the first time as another key"
        )),
    }
}

fn unknown_decision(word: &str) -> String {
    /// The most characters of the word that the message quotes: the hook may write a word of any length.
    const LONGEST_WORD: usize = 40;
    let word: String = word.chars().take(LONGEST_WORD).collect();
    let word = printable(&word);
    format!("unknown decision `{word}`, expected `allow`, `block` or `ask`")
}

/// Combines two objects of an answer. The stricter decision counts, with the reason next to it.
fn combined(outer: HookOutput, inner: HookOutput) -> HookOutput {
    let decision = both(outer.decision, inner.decision, Decision::stricter);
    let (first, second) = if decision == outer.decision {
        (outer.reason, inner.reason)
    } else {
        (inner.reason, outer.reason)
    };
    let join = |first: String, second: String| first + "\n" + &second;
    HookOutput {
        decision,
        reason: first.or(second),
        stops_turn: outer.stops_turn || inner.stops_turn,
        additional_context: both(outer.additional_context, inner.additional_context, join),
        updated_input: both(outer.updated_input, inner.updated_input, |first, second| {
            first.into_iter().chain(second).collect()
        }),
        updated_output: outer.updated_output.or(inner.updated_output),
        ..outer
    }
}

/// Joins two values, if there are two.
fn both<T>(first: Option<T>, second: Option<T>, join: impl Fn(T, T) -> T) -> Option<T> {
    match (first, second) {
        (Some(first), Some(second)) => Some(join(first, second)),
        (first, second) => first.or(second),
    }
}

/// The most members that are compared with the keys, to find typos: an answer may have 100,000 members, and each comparison
/// takes as long as reading ten.
const MOST_COMPARED: usize = 100;

/// The members of an answer that are not keys.
#[derive(Default)]
struct Others {
    /// Notes on names that are probably typos, or on keys in the wrong place.
    typos: Vec<String>,
    /// The first names of the other members, made printable.
    ignored: Vec<String>,
    /// The number of members beyond [`MOST_COMPARED`].
    further: usize,
}

impl Others {
    /// Records a member that is not read. A member that seems to decide is an error.
    fn check(&mut self, name: &str, value: &RawValue, place: Place) -> Result<(), String> {
        /// The least similarity to a key at which it is suggested. A wrong suggestion would make the answer of a strict hook
        /// invalid.
        const LIKE_A_TYPO: f64 = 0.9;
        /// Names that occur in answers, without a meaning here.
        const WITHOUT_MEANING: [&str; 3] = ["id", "hookEventName", "suppressOutput"];
        let within = if place == Place::Top {
            Within::Answer
        } else {
            Within::Specific
        };
        if let Some((name, intended)) = hidden_decision(name, &parse(value)?, within) {
            return Err(unknown_key(&name, intended));
        }
        if self.typos.len() + self.ignored.len() >= MOST_COMPARED {
            self.further += 1;
            return Ok(());
        }
        let names = keys_of(place).map(|key| key.name);
        let typo = nearest(name, names, LIKE_A_TYPO);
        let misplaced = key(name, Place::Top).filter(|_| place != Place::Top);
        if let Some(intended) = misplaced.map(|key| key.name).or(typo) {
            self.typos.push(unknown_key(name, intended));
        } else if !WITHOUT_MEANING.contains(&name) {
            self.ignored.push(printable(name));
        }
        Ok(())
    }
}

fn unknown_key(name: &str, intended: &str) -> String {
    let name = printable(name);
    if name == intended {
        return format!(
            "`{name}` is not read in this place: docs/protocol.md says where it stands"
        );
    }
    format!("`{name}` is not a known key; did you mean `{intended}`?")
}

/// Serializes the answer in the form in which a hook writes it, with only the keys that are set.
impl Serialize for HookOutput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut rest = self.clone();
        for key in keys_of(Place::Top) {
            if let Some(value) = take((key.field)(&mut rest)) {
                map.serialize_entry(key.name, &value)?;
            }
        }
        map.end()
    }
}

/// Returns the value of a field that is set, and resets it.
pub(super) fn take(field: Field<'_>) -> Option<Value> {
    match field {
        Field::Decision(field) => Some(field.take()?.as_str().into()),
        Field::Text(field) => Some(field.take()?.into()),
        Field::Flag(field, effective) => std::mem::take(field).then_some(effective.into()),
        Field::Object(field) => Some(Value::Object(field.take()?)),
        Field::Any(field) => field.take(),
        Field::Keys(_) => None,
    }
}
