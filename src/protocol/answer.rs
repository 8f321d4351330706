//! Reads an answer, one JSON object that is all of a hook's standard output, and writes one.
//!
//! Knows the types of the keys, from their table. Does not know their effects.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::ending::{TextNote, check_text, trimmed};
use super::invalid::explain;
use super::keys::{self, Field, Scope, hidden_decision, key, keys_of};
use super::members::{Member, Members};
use crate::entry::{Decision, HookOutput};
use crate::events::nearest;
use crate::json::{self, kind};
use crate::printable::{printable, shortened};

/// The standard output of a hook, as it was read.
#[derive(Debug, Default)]
pub(crate) struct ParsedOutput {
    /// The answer. None if the output is text.
    pub(crate) output: Option<HookOutput>,
    /// The answer as the hook wrote it.
    pub(crate) answer: Option<Map<String, Value>>,
    /// The reasons why the answer does not block although it was probably intended to.
    pub(crate) warnings: Vec<String>,
    /// Further notes for the author of the hook.
    pub(crate) notes: Vec<String>,
}

/// Reads the output of a hook. `gap` is the position at which bytes were left out, if any were. If the hook is strict, any output
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
        return read_object(text, &members, is_strict);
    }
    let note = check_text(output, gap)?;
    if is_strict && !is_blank {
        return Err("it is not a JSON object".to_owned());
    }
    let mut parsed = ParsedOutput::default();
    match note {
        Some(TextNote::Refusal(note)) => parsed.warnings.push(note),
        Some(TextNote::Other(note)) => parsed.notes.push(note),
        None => {}
    }
    Ok(parsed)
}

const NO_KEY: &str = "the object has no key of an answer, and is treated as plain text";

const TO_BLOCK: &str = "write {\"decision\": \"block\"}, or exit with 1";

fn read_object(text: &str, members: &Members<'_>, is_strict: bool) -> Result<ParsedOutput, String> {
    let mut others = Others::default();
    let output = read_members(members, Scope::Top, &mut others)?;
    let names = || members.0.iter().map(|(name, _)| name);
    let is_answer = names().any(|name| key(name, Scope::Top).is_some());
    let is_empty = names().all(|name| name == "id");
    let mut parsed = ParsedOutput {
        notes: others.typos,
        ..ParsedOutput::default()
    };
    if is_answer {
        parsed.answer = Some(json::parse(text).map_err(|error| explain(&error))?);
    } else if let Some(refusal) = members.0.iter().find_map(refusal) {
        let warning = format!("`{refusal}` is not an answer, so it does not block: {TO_BLOCK}");
        parsed.warnings.push(warning);
    } else if !is_empty && parsed.notes.is_empty() {
        parsed.notes.push(NO_KEY.to_owned());
    }
    let ignored = others.ignored;
    if is_strict {
        let is_unread = |_: &&String| output.updated_output.is_none();
        let unread = ignored.first().filter(is_unread);
        let unread = unread.map(|name| format!("found `{name}` but no `updatedOutput`"));
        let mut whys = parsed.notes.iter().chain(&unread).chain(&parsed.warnings);
        if let Some(why) = whys.next() {
            return Err(why.clone());
        }
    } else if is_answer && !ignored.is_empty() {
        parsed.notes.push(ignored_keys(&ignored));
    }
    parsed.output = (is_answer || is_empty).then_some(output);
    Ok(parsed)
}

/// Returns a member that is not part of an answer and was probably intended to block.
fn refusal((name, value): &Member<'_>) -> Option<String> {
    let value = json::parse(value.get()).ok()?;
    keys::is_refusal(name, &value).then(|| printable(&format!("\"{name}\": {value}")))
}

/// Returns a note that names the first of the keys that are not read.
fn ignored_keys(names: &[String]) -> String {
    const MOST_NAMED: usize = 5;
    let named = names.iter().take(MOST_NAMED);
    let named: Vec<_> = named.map(|name| format!("`{}`", shortened(name))).collect();
    let rest = match names.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("keys of the answer are ignored: {}{rest}", named.join(", "))
}

/// Reads the keys that are in one scope, and in the scopes within it.
fn read_members(
    Members(members): &Members<'_>,
    scope: Scope,
    others: &mut Others,
) -> Result<HookOutput, String> {
    let mut output = HookOutput::default();
    let mut inner = HookOutput::default();
    let mut names = Vec::new();
    for (name, value) in members {
        let Some(key) = key(name, scope) else {
            others.check(name, value, scope)?;
            continue;
        };
        if names.contains(&key.name) {
            return Err(format!("`{name}` occurs twice"));
        }
        names.push(key.name);
        match key.field {
            Field::Keys(within) if value.get().starts_with('{') => {
                inner = read_members(&parse(value)?, within, others)?;
            }
            _ => set(name, &key.field, parse(value)?, &mut output)?,
        }
    }
    if scope == Scope::Request && output.decision.is_none() {
        return Err("`decision` has no `behavior`".to_owned());
    }
    Ok(combined(output, inner))
}

fn parse<'a, T: Deserialize<'a>>(value: &'a RawValue) -> Result<T, String> {
    json::parse(value.get()).map_err(|error| explain(&error))
}

/// Sets the field of a key to its value.
pub(super) fn set(
    name: &str,
    field: &Field,
    value: Value,
    output: &mut HookOutput,
) -> Result<(), String> {
    match (field, value) {
        (Field::Any(field), value) if !value.is_null() => *field(output) = Some(value),
        (field, Value::Null) if !matches!(field, Field::Any(_)) => {}
        (Field::Choice(field), Value::String(word)) => {
            let decision = keys::decision(&word).ok_or_else(|| unknown_decision(&word))?;
            set_once(name, field(output), decision)?;
        }
        (Field::Text(_), Value::String(text)) if text.trim().is_empty() => {}
        (Field::Text(field), Value::String(text)) => set_once(name, field(output), text)?,
        (Field::Flag(effective, field), Value::Bool(flag)) => *field(output) = flag == *effective,
        (Field::Object(field), Value::Object(map)) => *field(output) = Some(map),
        (field, value) => {
            let (expected, found) = (field.expected(), kind(&value));
            return Err(format!("`{name}`: expected {expected}, found {found}"));
        }
    }
    Ok(())
}

/// Sets a field that no other key of the answer has set: two keys may set the same field, but not both.
fn set_once<T>(name: &str, field: &mut Option<T>, value: T) -> Result<(), String> {
    if field.replace(value).is_some() {
        return Err(format!(
            "`{name}` occurs twice, the first time as another key"
        ));
    }
    Ok(())
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
    /// Notes on names that are probably typos, or on keys in the wrong scope.
    typos: Vec<String>,
    /// The names of the other members, made printable.
    ignored: Vec<String>,
}

impl Others {
    /// Records a member that is not read. A member that seems to decide is an error.
    fn check(&mut self, name: &str, value: &RawValue, scope: Scope) -> Result<(), String> {
        /// The least similarity to a key at which it is suggested. A wrong suggestion would make the answer of a strict hook
        /// invalid.
        const LIKE_A_TYPO: f64 = 0.9;
        /// Names that occur in answers, without a meaning here.
        const WITHOUT_MEANING: [&str; 3] = ["id", "hookEventName", "suppressOutput"];
        if let Some((name, intended)) = hidden_decision(name, &parse(value)?, Some(scope)) {
            return Err(unknown_key(name, intended));
        }
        if self.typos.len() + self.ignored.len() >= MOST_COMPARED {
            self.ignored.push(printable(name));
            return Ok(());
        }
        let names = keys_of(scope).map(|key| key.name);
        let typo = nearest(name, names, LIKE_A_TYPO);
        let misplaced = key(name, Scope::Top).filter(|_| scope != Scope::Top);
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

/// Serializes the answer as a hook writes it, with only the keys that are set.
impl Serialize for HookOutput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut rest = self.clone();
        for key in keys_of(Scope::Top) {
            if let Some(value) = take(&key.field, &mut rest) {
                map.serialize_entry(key.name, &value)?;
            }
        }
        map.end()
    }
}

/// Returns the value of a field that is set, and resets it.
pub(super) fn take(field: &Field, output: &mut HookOutput) -> Option<Value> {
    match field {
        Field::Choice(field) => Some(field(output).take()?.as_str().into()),
        Field::Text(field) => Some(field(output).take()?.into()),
        Field::Flag(effective, field) => {
            std::mem::take(field(output)).then_some((*effective).into())
        }
        Field::Object(field) => Some(Value::Object(field(output).take()?)),
        Field::Any(field) => field(output).take(),
        Field::Keys(_) => None,
    }
}
