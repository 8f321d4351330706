//! The event as environment variables: one rule, and its exceptions.
//!
//! Knows how a variable is named and whether it fits; not how a process is started.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use log::warn;
use serde_json::Value;

use super::circular::HookChain;
use super::spill::Spill;
use crate::events::{DEEPEST_DATA, HookEvent};
use crate::hook::{FailurePolicy, Hook, Reads, Stdin};
use crate::printable::printable;
use crate::process::LARGEST_VARIABLE;
use crate::profile::AppProfile;

/// The variables of an event may take so many bytes all together, each prefix's copy counted. It
/// leaves most of what the system gives to the user's own environment.
const LARGEST_TOTAL: usize = 256 * 1024;

/// The names that the engine sets itself. Data can never set one of these, nor a name that ends
/// in `_FILE`.
const RESERVED: [&str; 7] = [
    "EVENT",
    "TIMESTAMP",
    "SESSION_ID",
    "TOOL_NAME",
    "WORKING_DIR",
    "HOOK_CHAIN",
    "HOOKS_DISABLE",
];

/// The data of the built-in events. No other key can take their names: a guard relies on them.
const BUILTIN_DATA: [&str; 10] = [
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

impl HookEvent {
    /// The event as a hook of the default profile finds it in its environment, but for
    /// `WORKING_DIR`, which depends on the hook.
    ///
    /// Every key of [`data`](HookEvent::data) is a variable: its name in capitals behind the prefix
    /// (`FORGE_` and `OPENCODE_`). Strings stand there as they are, anything else as JSON, and
    /// `tool_args` and `tool_result` always as JSON, in which what is nested deeper than 128 levels is
    /// `null`. docs/protocol.md has the whole rule.
    #[must_use]
    pub fn to_env(&self) -> BTreeMap<String, String> {
        self.to_env_for(&AppProfile::default())
    }

    /// The same with the names of another profile.
    #[must_use]
    pub fn to_env_for(&self, profile: &AppProfile) -> BTreeMap<String, String> {
        let named = match self.too_deep_key() {
            None => variables(self),
            Some(_) => variables(&self.cut_to_limit()),
        };
        named
            .iter()
            .flat_map(|(name, value)| {
                full_names(profile, name).map(move |full| (full, value.clone()))
            })
            .collect()
    }
}

/// The variables of one event, each by its name without a prefix. Recurses once a level of its data.
fn variables(event: &HookEvent) -> Vec<(String, String)> {
    let mut found = vec![
        ("EVENT".to_owned(), event.event_type.to_string()),
        (
            "TIMESTAMP".to_owned(),
            Value::from(event.timestamp).to_string(),
        ),
    ];
    let mut add = |name: &str, value: &str| {
        found.push((name.to_owned(), value.replace('\0', "\u{FFFD}")));
    };
    if let Some(id) = &event.session_id {
        add("SESSION_ID", id);
    }
    if let Some(tool) = &event.tool_name {
        add("TOOL_NAME", tool);
    }
    for (name, key) in names_of_data(event) {
        let value = &event.data[key];
        match value {
            Value::String(text) if !matches!(key, "tool_args" | "tool_result") => add(&name, text),
            _ => add(&name, &value.to_string()),
        }
    }
    found
}

/// The names of an event's data, and the keys they come from. A key that cannot be a name, or that
/// shares its name with another, is left out: which of two would win is nothing to rely on.
fn names_of_data(event: &HookEvent) -> BTreeMap<String, &str> {
    let mut names: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for key in event.data.keys() {
        match name_of_key(key) {
            Some(name) => names.entry(name).or_default().push(key),
            None => {
                warn!(
                    "event data `{}` is no variable: hooks find it in the JSON alone",
                    printable(key)
                );
            }
        }
    }
    let sole_key = |(name, keys): (String, Vec<_>)| match keys[..] {
        [only] => Some((name, only)),
        _ => {
            warn!(
                "event data {} would all be `{name}`: hooks find them in the JSON alone",
                printable(&format!("{keys:?}"))
            );
            None
        }
    };
    names.into_iter().filter_map(sole_key).collect()
}

/// The key in capitals, with `_` for what often separates words.
fn name_of_key(key: &str) -> Option<String> {
    let letter = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => Some(c.to_ascii_uppercase()),
        '-' | '.' | ' ' => Some('_'),
        _ => None,
    };
    let name: String = key.chars().map(letter).collect::<Option<_>>()?;
    let taken = RESERVED.contains(&&*name) || is_of_builtin(&name) && !BUILTIN_DATA.contains(&key);
    let free = !name.is_empty() && !name.ends_with("_FILE") && !taken;
    free.then_some(name)
}

fn is_of_builtin(name: &str) -> bool {
    BUILTIN_DATA
        .iter()
        .any(|key| key.eq_ignore_ascii_case(name))
}

/// The names that a variable has in a process: one for each prefix, and the short one.
fn full_names<'a>(profile: &'a AppProfile, name: &'a str) -> impl Iterator<Item = String> + 'a {
    let short = SHORT_NAMES
        .iter()
        .filter(move |(_, of)| profile.short_names() && *of == name)
        .map(|(short, _)| (*short).to_owned());
    prefixed(profile, name).chain(short)
}

fn prefixed<'a>(profile: &'a AppProfile, name: &'a str) -> impl Iterator<Item = String> + 'a {
    profile
        .env_prefixes()
        .iter()
        .map(move |prefix| format!("{prefix}_{name}"))
}

/// How variables are named for a host, and which of them it must not hand on.
#[derive(Debug)]
pub(crate) struct Naming {
    profile: AppProfile,
    inherited: Vec<String>,
    chain: HookChain,
    disabled_by: Option<String>,
}

impl Naming {
    pub(crate) fn new(profile: AppProfile) -> Self {
        let data = BUILTIN_DATA.iter().map(|key| key.to_ascii_uppercase());
        let engine = [
            "EVENT",
            "TIMESTAMP",
            "SESSION_ID",
            "TOOL_NAME",
            "WORKING_DIR",
        ];
        let names = data.chain(engine.map(str::to_owned));
        let inherited = names
            .flat_map(|name| [format!("{name}_FILE"), name])
            .flat_map(|name| full_names(&profile, &name).collect::<Vec<_>>())
            .filter(|name| std::env::var_os(name).is_some())
            .collect();
        Self {
            chain: HookChain::inherited(&profile),
            disabled_by: disabling_variable(&profile),
            profile,
            inherited,
        }
    }

    pub(crate) fn profile(&self) -> &AppProfile {
        &self.profile
    }

    /// The hooks that are running above this host.
    pub(crate) fn chain(&self) -> &HookChain {
        &self.chain
    }

    /// The variable by which a person has turned all hooks off.
    pub(crate) fn disabled_by(&self) -> Option<&str> {
        self.disabled_by.as_deref()
    }

    /// Variables of an event that the host itself found in its environment, being run by a hook.
    pub(crate) fn inherited(&self) -> &[String] {
        &self.inherited
    }
}

fn disabling_variable(profile: &AppProfile) -> Option<String> {
    let is_on = |name: &String| {
        let value = std::env::var(name).unwrap_or_default();
        match &*value.to_ascii_lowercase() {
            "1" | "true" | "yes" | "on" => true,
            "" | "0" | "false" | "no" | "off" => false,
            _ => {
                warn!("`{name}` is neither 1 nor 0: hooks are not turned off by it");
                false
            }
        }
    };
    prefixed(profile, "HOOKS_DISABLE").find(is_on)
}

/// The variables of one event for all its hooks.
#[derive(Debug)]
pub(crate) struct EventVariables {
    /// By their full names.
    fitting: Vec<(String, String)>,
    /// By their names without a prefix.
    too_large: Vec<(String, String)>,
    /// The key of a value that is nested too deep; then there are no variables.
    too_deep: Option<String>,
    spill: OnceLock<Result<Spill, String>>,
}

/// Why a hook cannot be given an event.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum VariablesError {
    #[error(
        "`{name}` is too large for an environment variable ({bytes} bytes), and the hook would not see it; a hook that reads its standard input instead says `\"reads\": \"stdin\"`"
    )]
    TooLarge { name: String, bytes: usize },
    #[error(
        "event data `{key}` is nested deeper than {DEEPEST_DATA} levels, and hooks are not given that; the program that fires the event can flatten it, or pass it as a string of JSON"
    )]
    TooDeep { key: String },
    #[error("could not put the large value of `{name}` into a file: {cause}")]
    NoSpill { name: String, cause: String },
    #[error("`{name}` in the hook's `env` is no name of a variable")]
    BadName { name: String },
}

impl EventVariables {
    /// Looks once at how deep the event is, for all its hooks.
    pub(crate) fn new(event: &HookEvent, naming: &Naming) -> Self {
        if let Some(key) = event.too_deep_key() {
            return Self {
                fitting: Vec::new(),
                too_large: Vec::new(),
                too_deep: Some(key.to_owned()),
                spill: OnceLock::new(),
            };
        }
        let profile = &naming.profile;
        let mut named = variables(event);
        let size = |(name, value): &(String, String)| -> usize {
            full_names(profile, name)
                .map(|full| full.len() + value.len() + 2)
                .sum()
        };
        let fits_alone = |(name, value): &(String, String)| {
            full_names(profile, name).all(|full| full.len() + 1 + value.len() <= LARGEST_VARIABLE)
        };
        let mut too_large: Vec<_> = named
            .extract_if(.., |variable| !fits_alone(variable))
            .collect();
        named.sort_by_key(size);
        let mut total: usize = named.iter().map(size).sum();
        while total > LARGEST_TOTAL
            && let Some(largest) = named.pop()
        {
            total -= size(&largest);
            too_large.push(largest);
        }
        let fitting = named
            .into_iter()
            .flat_map(|(name, value)| {
                let full: Vec<_> = full_names(profile, &name).collect();
                full.into_iter().map(move |full| (full, value.clone()))
            })
            .collect();
        Self {
            fitting,
            too_large,
            too_deep: None,
            spill: OnceLock::new(),
        }
    }

    /// All that a hook finds in its environment besides what it inherits, later entries over
    /// earlier ones.
    ///
    /// # Errors
    /// When a value is nested too deep, when one is too large and the hook is a guard that would not
    /// see it, when the value cannot be put into a file, and when the hook's own `env` cannot be an
    /// environment.
    pub(crate) fn for_hook(
        &self,
        hook: &Hook,
        can_block: bool,
        working_dir: &str,
        naming: &Naming,
    ) -> Result<Vec<(String, String)>, VariablesError> {
        if let Some(key) = &self.too_deep {
            return Err(VariablesError::TooDeep { key: key.clone() });
        }
        let is_bad = |name: &&String| name.is_empty() || name.contains(['=', '\0']);
        if let Some(name) = hook.env().keys().find(is_bad) {
            return Err(VariablesError::BadName { name: name.clone() });
        }
        let files = self.files_for(hook, can_block, naming)?;
        let directory = prefixed(&naming.profile, "WORKING_DIR")
            .map(|name| (name, working_dir.replace('\0', "\u{FFFD}")));
        let own = hook.env().iter();
        // The hook's own variables win, except over this one.
        let chain = naming.chain.variables(hook, &naming.profile);
        Ok(self
            .fitting
            .iter()
            .cloned()
            .chain(directory)
            .chain(files)
            .chain(own.map(|(name, value)| (name.clone(), value.clone())))
            .chain(chain)
            .collect())
    }

    /// The variables that name files, for the values that do not fit.
    fn files_for(
        &self,
        hook: &Hook,
        can_block: bool,
        naming: &Naming,
    ) -> Result<Vec<(String, String)>, VariablesError> {
        let Some((first, value)) = self.too_large.first() else {
            return Ok(Vec::new());
        };
        let name = format!("{}_{first}", naming.profile.first_prefix());
        let guards = can_block && hook.on_failure() == FailurePolicy::Block;
        let sees_input = hook.reads() == Reads::Stdin && hook.stdin() == Stdin::Json;
        if guards && !sees_input {
            return Err(VariablesError::TooLarge {
                name,
                bytes: value.len(),
            });
        }
        let write = || Spill::write(&self.too_large).map_err(|error| error.to_string());
        let spill = self.spill.get_or_init(write).as_ref();
        let spill = spill.map_err(|cause| VariablesError::NoSpill {
            name,
            cause: cause.clone(),
        })?;
        let variable = |(name, _): &(String, String)| {
            let path = spill.path(name);
            let names = prefixed(&naming.profile, &format!("{name}_FILE")).collect::<Vec<_>>();
            names.into_iter().map(move |name| (name, path.clone()))
        };
        Ok(self.too_large.iter().flat_map(variable).collect())
    }
}
