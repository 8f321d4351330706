//! The names of an event's variables for a host.
//!
//! Knows names, but not values.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::events::known_data_keys;
use crate::profile::{AppProfile, COMMON_PREFIX};

/// The variables of every event.
const OF_EVENT: [&str; 4] = ["EVENT", "TIMESTAMP", "SESSION_ID", "TOOL_NAME"];

/// The variables of every event of a tool.
const OF_TOOLS: [&str; 2] = ["TOOL_ARGS", "TOOL_RESULT"];

/// The further names that the engine sets or reads. Data can set neither these names nor those of an event.
const OF_ENGINE: [&str; 7] = [
    "WORKING_DIR",
    "RESIDENT",
    "HOOK_CHAIN",
    "HOOK_VARIABLES",
    "HOOKS_DISABLE",
    "HOOKS_TRACE",
    "REPLAY",
];

/// The names without a prefix, and the variables whose values they have.
const SHORT_NAMES: [(&str, &str); 4] = [
    ("EVENT_TYPE", "EVENT"),
    ("TOOL_NAME", "TOOL_NAME"),
    ("TOOL_ARGS", "TOOL_ARGS"),
    ("TOOL_RESULT", "TOOL_RESULT"),
];

/// The names of the variables for a host.
#[derive(Debug)]
pub(super) struct Names {
    profile: AppProfile,
    /// The names that most events have, made once.
    cached: BTreeMap<String, Arc<[String]>>,
}

impl Names {
    pub(super) fn new(profile: AppProfile) -> Self {
        let of_data = known_data_keys().map(str::to_ascii_uppercase);
        let variables = OF_EVENT.map(str::to_owned).into_iter().chain(of_data);
        let with_names = |plain: String| (plain.clone(), names_of(&plain, &profile));
        Self {
            cached: variables.map(with_names).collect(),
            profile,
        }
    }

    /// Returns the names of a variable in a process.
    pub(super) fn of(&self, plain: &str) -> Arc<[String]> {
        let cached = self.cached.get(plain).cloned();
        cached.unwrap_or_else(|| names_of(plain, &self.profile))
    }
}

/// Returns the names of a variable in a process: one for each prefix, and the short name.
fn names_of(plain: &str, profile: &AppProfile) -> Arc<[String]> {
    let short = SHORT_NAMES.iter().filter(|(_, of)| *of == plain);
    let short = short.filter(|_| profile.short_names());
    let short = short.map(|(short, _)| (*short).to_owned());
    prefixed(profile, plain).chain(short).collect()
}

/// Returns the names for an event's data, without a prefix, with their keys. A key that cannot be a name, or that has the
/// same name as another key, is left out: a hook could not rely on either of the two. docs/protocol.md lists these keys.
pub(super) fn names_of_data(data: &Map<String, Value>) -> impl Iterator<Item = (String, &str)> {
    let mut names: BTreeMap<_, Option<&str>> = BTreeMap::new();
    for key in data.keys() {
        if let Some(name) = name_of_key(key) {
            let only = names.entry(name).or_insert(Some(key));
            *only = only.filter(|only| *only == key);
        }
    }
    names
        .into_iter()
        .filter_map(|(name, key)| Some((name, key?)))
}

/// Returns the key in capitals, with `_` for common separators; none if it is not a valid name or is reserved. Only the exact
/// key of a known event has its name, since guards rely on it.
fn name_of_key(key: &str) -> Option<String> {
    let letter = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => Some(c.to_ascii_uppercase()),
        '-' | '.' | ' ' => Some('_'),
        _ => None,
    };
    let name: String = key.chars().map(letter).collect::<Option<_>>()?;
    let is_taken = |known: &str| known != key && known.eq_ignore_ascii_case(&name);
    let is_reserved = OF_EVENT.contains(&&*name)
        || OF_ENGINE.contains(&&*name)
        || known_data_keys().any(is_taken);
    (!name.is_empty() && !is_reserved).then_some(name)
}

/// Returns whether this variable, in capitals, can have a value of an event. Every name with a prefix can be that of a
/// key of the data.
pub(super) fn can_be_of_event(name: &str, profile: &AppProfile) -> bool {
    let is_short = SHORT_NAMES.iter().any(|(short, _)| *short == name);
    let mut prefixes = prefixed(profile, "");
    is_short && profile.short_names() || prefixes.any(|prefix| name.starts_with(&prefix))
}

/// Returns whether this variable has a part of the event in every host that sets it.
pub(crate) fn is_of_every_event(name: &str) -> bool {
    let is_one = |known: &&str| {
        let prefix = name.strip_suffix(known);
        prefix.is_some_and(|prefix| prefix.ends_with('_'))
    };
    let of_common = name.strip_prefix(COMMON_PREFIX);
    of_common.is_some_and(|rest| rest.starts_with('_'))
        || OF_EVENT.iter().chain(&OF_TOOLS).any(is_one)
}

/// Returns this name with each prefix of a hook's variables: the one that every host has, then the profile's own. Because of
/// the first one, a hook that reads `FORGE_TOOL_NAME` works in every host.
pub(super) fn prefixed<'a>(
    profile: &'a AppProfile,
    name: &'a str,
) -> impl Iterator<Item = String> + 'a {
    let own = profile.env_prefixes().iter().map(String::as_str);
    let own = own.filter(|prefix| *prefix != COMMON_PREFIX);
    std::iter::once(COMMON_PREFIX)
        .chain(own)
        .map(move |prefix| format!("{prefix}_{name}"))
}
