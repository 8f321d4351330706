//! The names of a host's variables. Those of the known events are created once, not for each event.
//!
//! Knows names, not values.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::events::data_keys;
use crate::profile::{AppProfile, COMMON_PREFIX};

/// The variables of every event.
const OF_EVENT: [&str; 4] = ["EVENT", "TIMESTAMP", "SESSION_ID", "TOOL_NAME"];

/// The further names that the engine sets or reads. Data can set neither these names, nor those of an event, nor
/// a name that ends in `_FILE`.
const OF_ENGINE: [&str; 6] = [
    "WORKING_DIR",
    "RESIDENT",
    "HOOK_CHAIN",
    "HOOK_VARIABLES",
    "HOOKS_DISABLE",
    "HOOKS_TRACE",
];

/// The names without a prefix, and the variables whose values they have.
const SHORT_NAMES: [(&str, &str); 4] = [
    ("EVENT_TYPE", "EVENT"),
    ("TOOL_NAME", "TOOL_NAME"),
    ("TOOL_ARGS", "TOOL_ARGS"),
    ("TOOL_RESULT", "TOOL_RESULT"),
];

/// The names of one variable.
#[derive(Debug)]
pub(super) struct VariableName {
    /// The name without a prefix.
    pub(super) plain: String,
    /// The names in a process: one for each prefix, and the short name.
    pub(super) full: Vec<String>,
    /// The number of them that come beside the profile's own, and are not counted for the limit of all variables.
    beside: usize,
}

impl VariableName {
    /// Returns the bytes that a value takes in an environment under all of these names.
    pub(super) fn size_with(&self, value: &str) -> usize {
        let size = |name: &String| name.len() + value.len() + 2;
        self.full.iter().skip(self.beside).map(size).sum()
    }

    /// Whether each of these names can have this value: no variable may be longer than `largest` bytes.
    pub(super) fn fits(&self, value: &str, largest: usize) -> bool {
        let mut names = self.full.iter();
        names.all(|name| name.len() + 1 + value.len() <= largest)
    }
}

/// The names of all variables for a host.
#[derive(Debug)]
pub(super) struct Names {
    /// The prefix that every host has, then the profile's own, so that a hook that reads `FORGE_TOOL_NAME` works in
    /// every host. Each ends with `_`.
    pub(super) prefixes: Vec<String>,
    /// Whether the profile has the first one too.
    is_common: bool,
    has_short: bool,
    of_event: Vec<Arc<VariableName>>,
    /// By the keys of the known events. No other key can use their names, since guards rely on them.
    of_data: BTreeMap<&'static str, Arc<VariableName>>,
}

impl Names {
    pub(super) fn new(profile: &AppProfile) -> Self {
        let own = profile.env_prefixes().iter().map(String::as_str);
        let others = own.clone().filter(|prefix| *prefix != COMMON_PREFIX);
        let prefixes = std::iter::once(COMMON_PREFIX).chain(others);
        let mut names = Self {
            prefixes: prefixes.map(|prefix| format!("{prefix}_")).collect(),
            is_common: own.clone().any(|prefix| prefix == COMMON_PREFIX),
            has_short: profile.short_names(),
            of_event: Vec::new(),
            of_data: BTreeMap::new(),
        };
        names.of_event = OF_EVENT.map(|plain| names.variable(plain)).into();
        let keys = data_keys().into_iter();
        let of_data = keys.map(|key| (key, names.variable(&key.to_ascii_uppercase())));
        names.of_data = of_data.collect();
        names
    }

    /// Returns this name with each prefix.
    pub(super) fn prefixed<'a>(&'a self, plain: &'a str) -> impl Iterator<Item = String> + 'a {
        self.prefixes
            .iter()
            .map(move |prefix| format!("{prefix}{plain}"))
    }

    fn variable(&self, plain: &str) -> Arc<VariableName> {
        let mut full: Vec<_> = self.prefixed(plain).collect();
        let short = SHORT_NAMES.iter().find(|(_, of)| *of == plain);
        full.extend(
            short
                .filter(|_| self.has_short)
                .map(|(short, _)| (*short).to_owned()),
        );
        Arc::new(VariableName {
            plain: plain.to_owned(),
            full,
            beside: usize::from(!self.is_common),
        })
    }

    /// The names of `EVENT`, `TIMESTAMP`, `SESSION_ID` and `TOOL_NAME`, in this order.
    pub(super) fn of_event(&self) -> impl Iterator<Item = Arc<VariableName>> {
        self.of_event.iter().cloned()
    }

    /// Returns the names for an event's data, with its keys and values. A key that cannot be a name, or that has the
    /// same name as another key, is left out: no hook can rely on which of two would win. docs/protocol.md lists
    /// these keys.
    pub(super) fn of_data<'e>(
        &self,
        data: &'e Map<String, Value>,
    ) -> Vec<(Arc<VariableName>, (&'e str, &'e Value))> {
        let mut named = Vec::with_capacity(data.len());
        let mut others: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for (key, value) in data {
            let member = (key.as_str(), value);
            if let Some(known) = self.of_data.get(key.as_str()) {
                named.push((Arc::clone(known), member));
            } else if let Some(name) = self.name_of_key(key) {
                others.entry(name).or_default().push(member);
            }
        }
        for (name, members) in others {
            if let [only] = members[..] {
                named.push((self.variable(&name), only));
            }
        }
        named
    }

    /// Returns the key in capitals, with `_` for common separators; none if it is not a valid name or is reserved.
    fn name_of_key(&self, key: &str) -> Option<String> {
        let letter = |c: char| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => Some(c.to_ascii_uppercase()),
            '-' | '.' | ' ' => Some('_'),
            _ => None,
        };
        let name: String = key.chars().map(letter).collect::<Option<_>>()?;
        let is_taken = OF_EVENT.contains(&&*name)
            || OF_ENGINE.contains(&&*name)
            || self.of_data.contains_key(&*name.to_ascii_lowercase());
        (!name.is_empty() && !name.ends_with("_FILE") && !is_taken).then_some(name)
    }

    /// Whether this variable, in capitals, can have a value of an event. Every name with a prefix can be that of a key of
    /// the data.
    pub(super) fn can_be_of_event(&self, name: &str) -> bool {
        let is_short = self.has_short && SHORT_NAMES.iter().any(|it| it.0 == name);
        is_short || self.prefixes.iter().any(|it| name.starts_with(it))
    }
}
