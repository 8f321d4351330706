//! The keys of an answer, a row each. Reading, writing and checking an answer follow from these rows. Tests compare the
//! schema and docs/protocol.md with them.
//!
//! Knows no text and no hook.

use serde_json::{Map, Value};

use crate::entry::{Decision, HookOutput, May};

/// The key whose object has the keys of other agents.
pub(super) const SPECIFIC: &str = "hookSpecificOutput";

/// An object that has keys of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The answer itself.
    Top,
    /// `hookSpecificOutput`.
    Specific,
    /// `hookSpecificOutput.decision`, as hooks written for Claude Code answer a request for a permission.
    Request,
}

/// The field that a key sets, and so the type of the key's value. `null` sets nothing.
pub(super) enum Field<'a> {
    Decision(&'a mut Option<Decision>),
    /// A text. A blank text sets nothing.
    Text(&'a mut Option<String>),
    /// A flag. The field becomes true if the value is this one.
    Flag(&'a mut bool, bool),
    Object(&'a mut Option<Map<String, Value>>),
    /// Any value but `null`.
    Any(&'a mut Option<Value>),
    /// An object with other keys.
    Keys(Place),
}

impl Field<'_> {
    /// Describes the value that the key expects.
    pub(super) fn expected(&self) -> &'static str {
        match self {
            Self::Decision(_) | Self::Text(_) => "a string",
            Self::Flag(..) => "true or false",
            Self::Object(_) | Self::Keys(Place::Top | Place::Specific) => "an object",
            Self::Keys(Place::Request) => {
                "an object with `behavior`, or `permissionDecision` instead"
            }
            Self::Any(_) => "a value (an empty output is `\"\"`)",
        }
    }
}

/// A key of an answer.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(super) places: &'static [Place],
    /// True if an answer without this key could let something pass that the hook intended to prevent.
    pub(crate) decides: bool,
    /// The word of `may` that the key needs, if it does more than stop something.
    pub(crate) word: Option<May>,
    pub(super) field: fn(&mut HookOutput) -> Field<'_>,
}

impl Key {
    const fn new(
        name: &'static str,
        places: &'static [Place],
        field: fn(&mut HookOutput) -> Field<'_>,
    ) -> Self {
        Self {
            name,
            places,
            decides: false,
            word: None,
            field,
        }
    }

    const fn deciding(self) -> Self {
        Self {
            decides: true,
            ..self
        }
    }

    const fn needing(self, word: May) -> Self {
        Self {
            word: Some(word),
            ..self
        }
    }

    pub(super) fn is_in(&self, place: Place) -> bool {
        self.places.contains(&place)
    }
}

const TOP: &[Place] = &[Place::Top];
const BOTH: &[Place] = &[Place::Top, Place::Specific];
const REQUEST: &[Place] = &[Place::Request];

/// All keys. If two keys set the same field at the top, an answer is written with the first.
pub(crate) static KEYS: [Key; 18] = [
    Key::new("decision", TOP, |output| {
        Field::Decision(&mut output.decision)
    })
    .deciding()
    .needing(May::Grant),
    Key::new("permissionDecision", BOTH, |output| {
        Field::Decision(&mut output.decision)
    })
    .deciding()
    .needing(May::Grant),
    Key::new("reason", TOP, |output| Field::Text(&mut output.reason)),
    Key::new("permissionDecisionReason", BOTH, |output| {
        Field::Text(&mut output.reason)
    }),
    Key::new("stopReason", TOP, |output| {
        Field::Text(&mut output.stop_reason)
    }),
    Key::new("systemMessage", TOP, |output| {
        Field::Text(&mut output.system_message)
    }),
    Key::new("additionalContext", BOTH, |output| {
        Field::Text(&mut output.additional_context)
    })
    .needing(May::AddContext),
    Key::new("feedback", TOP, |output| Field::Text(&mut output.feedback)).needing(May::AddContext),
    Key::new("continue", TOP, |output| {
        Field::Flag(&mut output.stops_turn, false)
    })
    .deciding()
    .needing(May::EndTurn),
    Key::new("onlyStops", TOP, |output| {
        Field::Flag(&mut output.only_stops, true)
    }),
    Key::new(
        "updatedInput",
        &[Place::Top, Place::Specific, Place::Request],
        |output| Field::Object(&mut output.updated_input),
    )
    .deciding()
    .needing(May::ChangeInput),
    Key::new("replacesInput", TOP, |output| {
        Field::Flag(&mut output.replaces_input, true)
    }),
    Key::new("updatedOutput", BOTH, |output| {
        Field::Any(&mut output.updated_output)
    })
    .deciding()
    .needing(May::ChangeOutput),
    Key::new(SPECIFIC, TOP, |_| Field::Keys(Place::Specific)).deciding(),
    Key::new("decision", &[Place::Specific], |_| {
        Field::Keys(Place::Request)
    })
    .deciding(),
    Key::new("behavior", REQUEST, |output| {
        Field::Decision(&mut output.decision)
    })
    .deciding()
    .needing(May::Grant),
    Key::new("message", REQUEST, |output| Field::Text(&mut output.reason)),
    Key::new("interrupt", REQUEST, |output| {
        Field::Flag(&mut output.stops_turn, true)
    })
    .needing(May::EndTurn),
];

/// Returns the keys of a place.
pub(super) fn keys_of(place: Place) -> impl Iterator<Item = &'static Key> + Clone {
    KEYS.iter().filter(move |key| key.is_in(place))
}

/// Returns the key of this name in this place.
pub(super) fn key(name: &str, place: Place) -> Option<&'static Key> {
    keys_of(place).find(|key| key.name == name)
}

/// Returns the place whose keys are in the object under this name.
pub(super) fn place_within(name: &str, place: Place) -> Option<Place> {
    match (key(name, place)?.field)(&mut HookOutput::default()) {
        Field::Keys(within) => Some(within),
        _ => None,
    }
}

/// A name that seems to decide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Deciding {
    /// A key that decides.
    Key(&'static str),
    /// A typo of this key: one edit, or the same letters in another order. Case, and characters that are neither letters nor
    /// digits, make no difference.
    SlipOf(&'static str),
}

/// Returns the key that decides, if a name is such a key or a typo of one. Knows only the keys at the top.
pub(super) fn deciding(name: &str) -> Option<Deciding> {
    if let Some(key) = deciding_key(name) {
        return Some(Deciding::Key(key));
    }
    let slip = deciding_keys().find(|key| is_slip(name, key))?;
    Some(Deciding::SlipOf(slip))
}

/// Returns the key that decides and has exactly this name.
fn deciding_key(name: &str) -> Option<&'static str> {
    deciding_keys().find(|key| *key == name)
}

fn deciding_keys() -> impl Iterator<Item = &'static str> {
    let keys = keys_of(Place::Top).filter(|key| key.decides);
    keys.map(|key| key.name)
}

/// Returns whether a name is probably a typo of a key: one letter is missing, added, changed or swapped, or only case and
/// marks differ.
pub(crate) fn is_slip(name: &str, key: &str) -> bool {
    // The lengths exclude most names without comparing their letters.
    if name.len() + 1 < key.len() || name.len() > 2 * key.len() {
        return false;
    }
    let plain = |text: &str| {
        text.replace(|c: char| !c.is_alphanumeric(), "")
            .to_lowercase()
    };
    let sorted = |text: &str| {
        let mut letters = text.as_bytes().to_vec();
        letters.sort_unstable();
        letters
    };
    let (name, key) = (plain(name), plain(key));
    strsim::osa_distance(&name, &key) <= 1 || sorted(&name) == sorted(&key)
}

/// The words for decisions.
const WORDS: [(&str, Decision); 5] = [
    ("allow", Decision::Allow),
    ("approve", Decision::Allow),
    ("ask", Decision::Ask),
    ("block", Decision::Block),
    ("deny", Decision::Block),
];

/// Returns the decision that is written as this word.
pub(super) fn decision(word: &str) -> Option<Decision> {
    let (_, decision) = WORDS.iter().find(|(name, _)| *name == word)?;
    Some(*decision)
}

/// Returns whether a word is that of a decision, in any case.
pub(super) fn is_decision(word: &str) -> bool {
    WORDS
        .iter()
        .any(|(known, _)| known.eq_ignore_ascii_case(word.trim()))
}

/// Returns whether a key with its value, which is not an answer, was probably intended to block or to ask.
pub(super) fn is_refusal(name: &str, value: &Value) -> bool {
    const REFUSING: [&str; 4] = ["block", "blocked", "deny", "denied"];
    const ALLOWING: [&str; 4] = ["allow", "allowed", "approve", "approved"];
    match value {
        Value::Bool(flag) => (if *flag { REFUSING } else { ALLOWING }).contains(&name),
        Value::String(word) => REFUSING.contains(&&**word) || decision(word) == Some(Decision::Ask),
        _ => false,
    }
}

/// The place in which a decision is searched for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Within {
    /// A member of an answer that is not a key.
    Answer,
    /// A member of `hookSpecificOutput` that is not a key.
    Specific,
    /// JSON that is not an answer.
    Text,
}

/// Returns a name that has a decision as its value, and is not read as one, with the intended key.
pub(super) fn hidden_decision(
    name: &str,
    value: &Value,
    within: Within,
) -> Option<(String, &'static str)> {
    let decides = match value {
        Value::String(word) => is_decision(word),
        Value::Bool(flag) => !flag,
        Value::Object(_) => true,
        _ => false,
    };
    // Only exact names are compared for other values: to find typos takes longer than to read the answer.
    let intended = if !decides {
        deciding_key(name).filter(|_| within == Within::Text)
    } else {
        match deciding(name) {
            Some(Deciding::Key(key) | Deciding::SlipOf(key)) => Some(key),
            None if name == "behavior" && within == Within::Specific => Some("permissionDecision"),
            None => None,
        }
    };
    if let Some(intended) = intended {
        return Some((name.to_owned(), intended));
    }
    match value {
        Value::Object(map) => map
            .iter()
            .find_map(|(name, value)| hidden_decision(name, value, within)),
        Value::Array(items) => items
            .iter()
            .find_map(|item| hidden_decision("", item, within)),
        _ => None,
    }
}
