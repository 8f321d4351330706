//! The keys of an answer, a row each. Reading, writing and checking an answer follow from these rows. Tests compare the
//! schema and docs/protocol.md with them.
//!
//! Knows no text and no hook.

use serde_json::{Map, Value};

use crate::entry::{Decision, HookOutput, May};
use Field::{Any, Choice, Flag, Keys, Object, Text};

/// The key whose object has the keys of other agents.
pub(super) const SPECIFIC: &str = "hookSpecificOutput";

/// An object that has keys of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// The answer itself.
    Top,
    /// `hookSpecificOutput`.
    Specific,
    /// `hookSpecificOutput.decision`, as hooks written for Claude Code answer a request for a permission.
    Request,
}

/// The field that a key sets, and so the type of the key's value. `null` sets nothing.
pub(super) enum Field {
    /// The word of a decision.
    Choice(fn(&mut HookOutput) -> &mut Option<Decision>),
    /// A text. A blank text sets nothing.
    Text(fn(&mut HookOutput) -> &mut Option<String>),
    /// A flag. The field becomes true if the value is this one.
    Flag(bool, fn(&mut HookOutput) -> &mut bool),
    Object(fn(&mut HookOutput) -> &mut Option<Map<String, Value>>),
    /// Any value but `null`.
    Any(fn(&mut HookOutput) -> &mut Option<Value>),
    /// An object with other keys.
    Keys(Scope),
}

impl Field {
    /// Describes the value that the key expects.
    pub(super) fn expected(&self) -> &'static str {
        match self {
            Self::Choice(_) | Self::Text(_) => "a string",
            Self::Flag(..) => "true or false",
            Self::Object(_) | Self::Keys(Scope::Top | Scope::Specific) => "an object",
            Self::Keys(Scope::Request) => {
                "an object with `behavior`, or `permissionDecision` instead"
            }
            Self::Any(_) => "a value (an empty output is `\"\"`)",
        }
    }
}

/// A key of an answer.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(super) scopes: &'static [Scope],
    /// True if an answer without this key could let something pass that the hook intended to prevent.
    pub(crate) decides: bool,
    /// The word of `may` that the key needs, if it does more than stop something.
    pub(crate) word: Option<May>,
    pub(super) field: Field,
}

impl Key {
    const fn new(name: &'static str, scopes: &'static [Scope], field: Field) -> Self {
        Self {
            name,
            scopes,
            decides: false,
            word: None,
            field,
        }
    }

    const fn deciding(mut self, word: Option<May>) -> Self {
        self.decides = true;
        self.word = word;
        self
    }

    const fn needing(mut self, word: May) -> Self {
        self.word = Some(word);
        self
    }

    pub(super) fn is_in(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }
}

const TOP: &[Scope] = &[Scope::Top];
const BOTH: &[Scope] = &[Scope::Top, Scope::Specific];
const ALL: &[Scope] = &[Scope::Top, Scope::Specific, Scope::Request];
const IN_SPECIFIC: &[Scope] = &[Scope::Specific];
const REQUEST: &[Scope] = &[Scope::Request];

/// All keys. If two keys set the same field at the top, an answer is written with the first.
pub(crate) static KEYS: [Key; 18] = [
    Key::new("decision", TOP, Choice(|out| &mut out.decision)).deciding(Some(May::Grant)),
    Key::new("permissionDecision", BOTH, Choice(|out| &mut out.decision))
        .deciding(Some(May::Grant)),
    Key::new("reason", TOP, Text(|out| &mut out.reason)),
    Key::new(
        "permissionDecisionReason",
        BOTH,
        Text(|out| &mut out.reason),
    ),
    Key::new("stopReason", TOP, Text(|out| &mut out.stop_reason)),
    Key::new("systemMessage", TOP, Text(|out| &mut out.system_message)),
    Key::new(
        "additionalContext",
        BOTH,
        Text(|out| &mut out.additional_context),
    )
    .needing(May::AddContext),
    Key::new("feedback", TOP, Text(|out| &mut out.feedback)).needing(May::AddContext),
    Key::new("continue", TOP, Flag(false, |out| &mut out.stops_turn)).deciding(Some(May::EndTurn)),
    Key::new("onlyStops", TOP, Flag(true, |out| &mut out.only_stops)),
    Key::new("updatedInput", ALL, Object(|out| &mut out.updated_input))
        .deciding(Some(May::ChangeInput)),
    Key::new(
        "replacesInput",
        TOP,
        Flag(true, |out| &mut out.replaces_input),
    ),
    Key::new("updatedOutput", BOTH, Any(|out| &mut out.updated_output))
        .deciding(Some(May::ChangeOutput)),
    Key::new(SPECIFIC, TOP, Keys(Scope::Specific)).deciding(None),
    Key::new("decision", IN_SPECIFIC, Keys(Scope::Request)).deciding(None),
    Key::new("behavior", REQUEST, Choice(|out| &mut out.decision)).deciding(Some(May::Grant)),
    Key::new("message", REQUEST, Text(|out| &mut out.reason)),
    Key::new("interrupt", REQUEST, Flag(true, |out| &mut out.stops_turn)).needing(May::EndTurn),
];

/// Returns the keys of a scope.
pub(super) fn keys_of(scope: Scope) -> impl Iterator<Item = &'static Key> + Clone {
    KEYS.iter().filter(move |key| key.is_in(scope))
}

/// Returns the key of this name in this scope.
pub(super) fn key(name: &str, scope: Scope) -> Option<&'static Key> {
    keys_of(scope).find(|key| key.name == name)
}

/// Returns the scope whose keys are in the object under this name.
pub(super) fn scope_within(name: &str, scope: Scope) -> Option<Scope> {
    match key(name, scope)?.field {
        Field::Keys(within) => Some(within),
        _ => None,
    }
}

/// Returns the key at the top that decides and has exactly this name.
pub(super) fn deciding(name: &str) -> Option<&'static str> {
    deciding_keys().find(|key| *key == name)
}

/// Returns the key at the top that decides and has this name, or of which the name is a typo.
pub(super) fn intended(name: &str) -> Option<&'static str> {
    deciding(name).or_else(|| deciding_keys().find(|key| is_typo(name, key)))
}

fn deciding_keys() -> impl Iterator<Item = &'static str> {
    let keys = keys_of(Scope::Top).filter(|key| key.decides);
    keys.map(|key| key.name)
}

/// Returns whether a name is probably a typo of a key: one letter is missing, added, changed or swapped, or only case and
/// marks differ.
pub(crate) fn is_typo(name: &str, key: &str) -> bool {
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

/// The names of decisions in an answer.
const DECISIONS: [(&str, Decision); 5] = [
    ("allow", Decision::Allow),
    ("approve", Decision::Allow),
    ("ask", Decision::Ask),
    ("block", Decision::Block),
    ("deny", Decision::Block),
];

/// Returns the decision that is written as this word.
pub(super) fn decision(word: &str) -> Option<Decision> {
    let (_, decision) = DECISIONS.iter().find(|(name, _)| *name == word)?;
    Some(*decision)
}

/// Returns whether a word is that of a decision, in any case.
pub(super) fn is_decision(word: &str) -> bool {
    DECISIONS
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

/// Returns a name that has a decision as its value, and is not read as one, with the intended key. `scope` is where in an
/// answer the name is; in JSON that is not an answer, a key that decides counts with any value.
pub(super) fn hidden_decision<'a>(
    name: &'a str,
    value: &'a Value,
    scope: Option<Scope>,
) -> Option<(&'a str, &'static str)> {
    let decides = match value {
        Value::String(word) => is_decision(word),
        Value::Bool(flag) => !flag,
        Value::Object(_) => true,
        _ => false,
    };
    // Only exact names are compared for other values: to find typos takes longer than to read the answer.
    let is_specific = matches!(scope, Some(Scope::Specific | Scope::Request));
    let intended = if decides && is_specific && name == "behavior" {
        Some("permissionDecision")
    } else if decides {
        intended(name)
    } else {
        deciding(name).filter(|_| scope.is_none())
    };
    if let Some(intended) = intended {
        return Some((name, intended));
    }
    match value {
        Value::Object(map) => map
            .iter()
            .find_map(|(name, value)| hidden_decision(name, value, scope)),
        Value::Array(items) => items
            .iter()
            .find_map(|item| hidden_decision("", item, scope)),
        _ => None,
    }
}
