//! How the variables of an event are named for a host.
//!
//! Knows names, no values. The names of the built-in events' variables are made once for each profile,
//! not once for each event.

use std::collections::BTreeMap;
use std::sync::Arc;

use log::warn;
use serde_json::{Map, Value};

use crate::printable::printable;
use crate::profile::AppProfile;

/// What every event has.
const OF_EVENT: [&str; 4] = ["EVENT", "TIMESTAMP", "SESSION_ID", "TOOL_NAME"];

/// The names that the engine sets itself besides. Data can set neither these nor those of an event, nor
/// a name that ends in `_FILE`.
const OF_ENGINE: [&str; 4] = ["WORKING_DIR", "RESIDENT", "HOOK_CHAIN", "HOOKS_DISABLE"];

/// The data of the built-in events. No other key can take their names: a guard relies on them.
const OF_DATA: [&str; 10] = [
    "tool_args",
    "tool_result",
    "error",
    "llm_model",
    "llm_tokens",
    "perm_level",
    "perm_rule",
    "message_count",
    "content",
    "role",
];

/// The names without prefix of FR-2.3, and whose values they have.
const SHORT_NAMES: [(&str, &str); 4] = [
    ("EVENT_TYPE", "EVENT"),
    ("TOOL_NAME", "TOOL_NAME"),
    ("TOOL_ARGS", "TOOL_ARGS"),
    ("TOOL_RESULT", "TOOL_RESULT"),
];

/// One variable's names.
#[derive(Debug)]
pub(super) struct VariableName {
    /// Without a prefix.
    pub(super) plain: String,
    /// In a process: one name for each prefix, and the short one.
    pub(super) full: Vec<String>,
}

impl VariableName {
    fn new(plain: &str, profile: &AppProfile) -> Arc<Self> {
        let short = SHORT_NAMES
            .iter()
            .filter(|(_, of)| profile.short_names() && *of == plain)
            .map(|(short, _)| (*short).to_owned());
        Arc::new(Self {
            plain: plain.to_owned(),
            full: prefixed(profile, plain).chain(short).collect(),
        })
    }

    /// The bytes that a value takes in an environment, under all of these names.
    pub(super) fn size_with(&self, value: &str) -> usize {
        let size = |name: &String| name.len() + value.len() + 2;
        self.full.iter().map(size).sum()
    }

    /// Whether each of these names can have this value; no variable is longer than `largest` bytes.
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
    of_data: [Arc<VariableName>; OF_DATA.len()],
}

impl Names {
    pub(super) fn new(profile: AppProfile) -> Self {
        let name = |plain: &str| VariableName::new(plain, &profile);
        Self {
            of_event: OF_EVENT.map(name),
            of_data: OF_DATA.map(|key| name(&key.to_ascii_uppercase())),
            profile,
        }
    }

    pub(super) fn profile(&self) -> &AppProfile {
        &self.profile
    }

    /// `EVENT`, `TIMESTAMP`, `SESSION_ID` and `TOOL_NAME`, in this order.
    pub(super) fn of_event(&self) -> &[Arc<VariableName>; OF_EVENT.len()] {
        &self.of_event
    }

    /// The names of an event's data, and the keys they come from. A key that cannot be a name, or that
    /// shares its name with another, is left out: which of two would win is nothing to rely on.
    pub(super) fn of_data<'e>(
        &self,
        data: &'e Map<String, Value>,
    ) -> Vec<(Arc<VariableName>, &'e str)> {
        let mut names = Vec::with_capacity(data.len());
        let mut others: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for key in data.keys() {
            if let Some(at) = OF_DATA.iter().position(|known| known == key) {
                names.push((Arc::clone(&self.of_data[at]), key.as_str()));
            } else if let Some(name) = name_of_key(key) {
                others.entry(name).or_default().push(key);
            } else {
                warn!(
                    "event data `{}` is no variable: hooks find it in the JSON alone",
                    printable(key)
                );
            }
        }
        for (name, keys) in others {
            if let [only] = keys[..] {
                names.push((VariableName::new(&name, &self.profile), only));
            } else {
                warn!(
                    "event data {} would all be `{name}`: hooks find them in the JSON alone",
                    printable(&format!("{keys:?}"))
                );
            }
        }
        names
    }

    /// The variables of an event that are in the host's own environment, as in that of a host which a
    /// hook has started.
    pub(super) fn found_in_environment(&self) -> Vec<String> {
        let known = self.of_event.iter().chain(&self.of_data);
        let names = known.flat_map(|name| {
            let file = VariableName::new(&format!("{}_FILE", name.plain), &self.profile);
            [&*file.full, &*name.full].concat()
        });
        names
            .chain(prefixed(&self.profile, "WORKING_DIR"))
            .chain(prefixed(&self.profile, "WORKING_DIR_FILE"))
            .chain(prefixed(&self.profile, "RESIDENT"))
            .filter(|name| std::env::var_os(name).is_some())
            .collect()
    }
}

/// The key in capitals, with `_` for what often separates words; none for one that is no name, and for
/// one that another variable has.
fn name_of_key(key: &str) -> Option<String> {
    let letter = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => Some(c.to_ascii_uppercase()),
        '-' | '.' | ' ' => Some('_'),
        _ => None,
    };
    let name: String = key.chars().map(letter).collect::<Option<_>>()?;
    let taken = OF_EVENT.contains(&&*name)
        || OF_ENGINE.contains(&&*name)
        || OF_DATA.iter().any(|key| key.eq_ignore_ascii_case(&name));
    (!name.is_empty() && !name.ends_with("_FILE") && !taken).then_some(name)
}

/// This name behind each of the profile's prefixes.
pub(super) fn prefixed<'a>(
    profile: &'a AppProfile,
    name: &'a str,
) -> impl Iterator<Item = String> + 'a {
    profile
        .env_prefixes()
        .iter()
        .map(move |prefix| format!("{prefix}_{name}"))
}
