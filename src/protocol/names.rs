//! The names of an event's variables for a host.
//!
//! Knows names, but not values. The names for the built-in events are created once for each profile, not for each event.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::events::known_data_keys;
use crate::profile::{AppProfile, COMMON_PREFIX};

/// The variables of every event.
const OF_EVENT: [&str; 4] = ["EVENT", "TIMESTAMP", "SESSION_ID", "TOOL_NAME"];

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

/// Returns the names after a `%` in a command for `cmd`, in capitals, since `cmd` ignores case.
pub(super) fn variables_in(text: &str) -> impl Iterator<Item = String> {
    let in_name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let after_marks = text.split('%').skip(1);
    after_marks.map(move |rest| {
        rest.chars()
            .take_while(in_name)
            .collect::<String>()
            .to_ascii_uppercase()
    })
}

/// The names of one variable.
#[derive(Debug)]
pub(super) struct VariableName {
    /// The name without a prefix.
    pub(super) plain: String,
    /// The names in a process: one for each prefix, and the short name.
    pub(super) full: Vec<String>,
    /// The number of names besides the profile's own, which do not count for the limit of all variables.
    beside: usize,
}

impl VariableName {
    fn new(plain: &str, profile: &AppProfile) -> Arc<Self> {
        let short = SHORT_NAMES
            .iter()
            .filter(|(_, of)| profile.short_names() && *of == plain)
            .map(|(short, _)| (*short).to_owned());
        let has_common = profile
            .env_prefixes()
            .iter()
            .any(|prefix| prefix == COMMON_PREFIX);
        Arc::new(Self {
            plain: plain.to_owned(),
            beside: usize::from(!has_common),
            full: prefixed(profile, plain).chain(short).collect(),
        })
    }

    /// Returns the bytes that a value takes in an environment under all of these names.
    pub(super) fn size_with(&self, value: &str) -> usize {
        let size = |name: &String| name.len() + value.len() + 2;
        self.full.iter().skip(self.beside).map(size).sum()
    }

    /// Returns whether each of these names can have this value: no variable may be longer than `largest`
    /// bytes.
    pub(super) fn fits(&self, value: &str, largest: usize) -> bool {
        let fits = |name: &String| name.len() + 1 + value.len() <= largest;
        self.full.iter().all(fits)
    }
}

/// The names of all variables for a host.
#[derive(Debug)]
pub(super) struct Names {
    profile: AppProfile,
    of_event: [Arc<VariableName>; OF_EVENT.len()],
    /// The names for the data of known events, by key. No other key can use them, since guards rely on them.
    of_data: BTreeMap<&'static str, Arc<VariableName>>,
}

impl Names {
    pub(super) fn new(profile: AppProfile) -> Self {
        let name = |plain: &str| VariableName::new(plain, &profile);
        Self {
            of_event: OF_EVENT.map(name),
            of_data: known_data_keys()
                .map(|key| (key, name(&key.to_ascii_uppercase())))
                .collect(),
            profile,
        }
    }

    /// Returns the names `EVENT`, `TIMESTAMP`, `SESSION_ID` and `TOOL_NAME`, in this order.
    pub(super) fn of_event(&self) -> &[Arc<VariableName>; OF_EVENT.len()] {
        &self.of_event
    }

    /// Returns the names for an event's data, with their keys. A key that cannot be a name, or that has the same name as
    /// another key, is left out: a hook could not rely on either of the two. docs/protocol.md lists these keys.
    pub(super) fn of_data<'e>(
        &self,
        data: &'e Map<String, Value>,
    ) -> Vec<(Arc<VariableName>, &'e str)> {
        let mut names = Vec::with_capacity(data.len());
        let mut others: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for key in data.keys() {
            if let Some(name) = self.of_data.get(key.as_str()) {
                names.push((Arc::clone(name), key.as_str()));
            } else if let Some(name) = self.name_of_key(key) {
                others.entry(name).or_default().push(key);
            }
        }
        for (name, keys) in others {
            if let [only] = keys[..] {
                names.push((VariableName::new(&name, &self.profile), only));
            }
        }
        names
    }

    /// Returns the key in capitals, with `_` for common separators; none if it is not a valid name or is
    /// reserved.
    fn name_of_key(&self, key: &str) -> Option<String> {
        let letter = |c: char| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => Some(c.to_ascii_uppercase()),
            '-' | '.' | ' ' => Some('_'),
            _ => None,
        };
        let name: String = key.chars().map(letter).collect::<Option<_>>()?;
        let taken = OF_EVENT.contains(&&*name)
            || OF_ENGINE.contains(&&*name)
            || self
                .of_data
                .keys()
                .any(|key| key.eq_ignore_ascii_case(&name));
        (!name.is_empty() && !taken).then_some(name)
    }

    /// Returns whether this variable, in capitals, can have a value of an event. Every name with a prefix can be that of a
    /// key of the data.
    pub(super) fn can_be_of_event(&self, name: &str) -> bool {
        let mut prefixes = prefixed(&self.profile, "");
        let is_short =
            self.profile.short_names() && SHORT_NAMES.iter().any(|(short, _)| *short == name);
        is_short || prefixes.any(|prefix| name.starts_with(&prefix))
    }
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
