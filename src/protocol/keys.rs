//! The keys of an answer, and those that an author of a hook has probably meant as one.
//!
//! Knows names, not how a value is read.

use super::members::Members;

pub(super) const SPECIFIC: &str = "hookSpecificOutput";

/// The keys at the top level, each with the one whose meaning it has.
pub(super) const KEYS: &[(&str, &str)] = &[
    ("decision", "decision"),
    ("permissionDecision", "decision"),
    ("reason", "reason"),
    ("permissionDecisionReason", "reason"),
    ("continue", "continue"),
    ("stopReason", "stopReason"),
    ("systemMessage", "systemMessage"),
    ("additionalContext", "additionalContext"),
    ("updatedInput", "updatedInput"),
    ("updatedOutput", "updatedOutput"),
    (SPECIFIC, SPECIFIC),
];

/// The keys in `hookSpecificOutput`.
pub(super) const SPECIFIC_KEYS: &[(&str, &str)] = &[
    ("permissionDecision", "decision"),
    ("permissionDecisionReason", "reason"),
    ("additionalContext", "additionalContext"),
    ("updatedInput", "updatedInput"),
    ("updatedOutput", "updatedOutput"),
];

/// The keys that decide: an object with one of them must be the end of the output. Logs may have the others too.
pub(super) const DECIDING: [&str; 6] = [
    "decision",
    "permissionDecision",
    "continue",
    "updatedInput",
    "updatedOutput",
    SPECIFIC,
];

/// What its keys make an object, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Other,
    Answer,
    /// It is an answer wherever it is.
    Telling,
}

impl Kind {
    pub(super) fn of(members: &Members<'_>) -> Self {
        let members = members.0.iter();
        let kinds = members.map(|(key, value)| Self::of_member(key, value.get()));
        kinds.max().unwrap_or(Self::Answer)
    }

    fn of_member(key: &str, value: &str) -> Self {
        match near_decision(key) {
            Some(meant) if is_decision(meant, value) => Self::Telling,
            Some(_) => Self::Other,
            None if DECIDING.contains(&key) => Self::Telling,
            None if key == "id" || KEYS.iter().any(|(known, _)| *known == key) => Self::Answer,
            None => Self::Other,
        }
    }
}

/// Returns the key that was probably meant by one that has the value, as JSON, of a decision: an answer without its
/// decision lets everything pass. It differs in one letter, in case or in underscores.
pub(super) fn meant_decision(key: &str, value: &str) -> Option<&'static str> {
    near_decision(key).filter(|meant| is_decision(meant, value))
}

fn near_decision(key: &str) -> Option<&'static str> {
    const NAMES: [&str; 4] = ["decision", "permissionDecision", "continue", SPECIFIC];
    let plain = |key: &str| key.to_ascii_lowercase().replace('_', "");
    let is_near = |name: &&&str| {
        let is_long = key.len() < name.len() - 1 || key.len() > name.len() + 3;
        !is_long && strsim::osa_distance(&plain(key), &plain(name)) <= 1
    };
    match NAMES.contains(&key) {
        true => None,
        false => NAMES.iter().find(is_near).copied(),
    }
}

fn is_decision(meant: &str, value: &str) -> bool {
    match meant {
        SPECIFIC => value.starts_with('{'),
        "continue" => value == "false",
        _ => {
            let word = value.trim_matches('"').to_ascii_lowercase();
            matches!(&*word, "allow" | "approve" | "ask" | "block" | "deny")
        }
    }
}
