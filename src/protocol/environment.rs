//! The event as environment variables: one rule, and its exceptions.
//!
//! Knows the content of a variable and whether it fits. Does not know how a process is started.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use super::called_hook::CalledHook;
use super::circular::HookChain;
use super::names::{Names, VariableName, prefixed};
use crate::entry::{Failure, FailureKind, FailurePolicy, Options, Reads, Stdin, inherits};
use crate::events::{DEEPEST_DATA, HookEvent};
use crate::logging::warn;
use crate::process::{Environment, Inherited, LARGEST_VARIABLE, last_value};
use crate::profile::{AppProfile, COMMON_PREFIX};

/// The most bytes of all variables of an event together, counting the copy of each of the profile's prefixes. This
/// leaves most of the system's limit to the user's own environment.
const LARGEST_TOTAL: usize = 256 * 1024;

impl HookEvent {
    /// Returns the environment variables of this event with the default profile, except
    /// `WORKING_DIR`, which depends on the hook.
    ///
    /// Every key of [`data`](HookEvent::data) is a variable: its name in capitals after the prefix
    /// (`FORGE_` and `OPENCODE_`). Strings are passed unchanged, and all other values as JSON.
    /// `tool_args` and `tool_result` are always JSON. If `agent` is an object with a `name`, its variable is the name. A value
    /// that is nested deeper than 128 levels is `null`.
    /// docs/protocol.md has the complete rule.
    #[must_use]
    pub fn to_env(&self) -> BTreeMap<String, String> {
        self.to_env_for(&AppProfile::default())
    }

    /// Returns the variables as [`to_env`](HookEvent::to_env) does, with the names of another profile beside those with
    /// `FORGE_`.
    #[must_use]
    pub fn to_env_for(&self, profile: &AppProfile) -> BTreeMap<String, String> {
        let names = Names::new(profile.clone());
        let variables = variables(&self.within_limit(), &names);
        let mut environment = BTreeMap::new();
        for Variable { name, value } in &variables {
            for full in &name.full {
                environment.insert(full.clone(), value.clone());
            }
        }
        environment
    }
}

#[derive(Debug)]
pub(super) struct Variable {
    pub(super) name: Arc<VariableName>,
    pub(super) value: String,
}

/// Returns the variables of one event. Recurses once for each level of its data.
fn variables(event: &HookEvent, names: &Names) -> Vec<Variable> {
    let [event_type, timestamp, session_id, tool_name] = names.of_event();
    let mut variables = Vec::with_capacity(4 + event.data.len());
    let mut add = |name: &Arc<VariableName>, value: String| {
        let name = Arc::clone(name);
        let value = without_nul(value);
        variables.push(Variable { name, value });
    };
    add(event_type, event.event_type.as_str().to_owned());
    add(timestamp, json_text(&event.timestamp));
    if let Some(id) = &event.session_id {
        add(session_id, id.clone());
    }
    if let Some(tool) = &event.tool_name {
        add(tool_name, tool.clone());
    }
    for (name, key) in names.of_data(&event.data) {
        let value = &event.data[key];
        let text = match key {
            "tool_args" | "tool_result" => None,
            // The whole object would be too much for a variable.
            "agent" => value.as_str().or(value["name"].as_str()),
            _ => value.as_str(),
        };
        add(&name, text.map_or_else(|| json_text(value), str::to_owned));
    }
    variables
}

/// Returns a value of an event in JSON. A number or a `Value` always has a text. `Value::to_string()` would format it piece by
/// piece, which takes 1,000 instructions more for each hook.
fn json_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Removes NUL, which a variable cannot contain.
fn without_nul(value: String) -> String {
    if value.contains('\0') {
        value.replace('\0', "\u{FFFD}")
    } else {
        value
    }
}

/// The names of the variables that the engine has set for a hook, separated by blanks.
const HOOK_VARIABLES: &str = "FORGE_HOOK_VARIABLES";

/// The variable that tells a hook that its event was recorded and is fired only for a comparison. No other hook gets the
/// variable, since a guard may allow more if it is set.
const REPLAY: &str = "FORGE_REPLAY";

/// The most bytes of this list: on Linux, a variable has at most 128 KiB.
const LONGEST_LIST: usize = 64 * 1024;

/// The names of variables for a host, and the variables that it must not pass on.
#[derive(Debug)]
pub(crate) struct Naming {
    profile: AppProfile,
    /// The names, which are made for the first hook that runs, since many executors run none.
    names: OnceLock<Names>,
    working_dir: Vec<String>,
    /// The sorted names of the variables that were set for the hook that has started the host, if one has.
    above: Vec<String>,
    /// The list for hooks that do not set their own.
    inherit: Option<Vec<String>>,
    /// The variables that replace those of this process, if any do.
    replacement: Option<Vec<(OsString, OsString)>>,
    chain: HookChain,
    disabled_by: Option<String>,
    /// True if the events are recorded ones.
    replays: bool,
}

impl Naming {
    pub(crate) fn new(profile: AppProfile, inherit: Option<Vec<String>>) -> Self {
        Self {
            working_dir: prefixed(&profile, "WORKING_DIR").collect(),
            above: not_passed_on(),
            replays: false,
            inherit,
            replacement: None,
            chain: HookChain::inherited(),
            disabled_by: disabling_variable(&profile),
            names: OnceLock::new(),
            profile,
        }
    }

    /// Replaces the environment of this process. Its list of variables that a hook above has set does not count either: it could
    /// name `PATH`. The chain of the hooks above still counts, so that no hook runs endlessly.
    pub(crate) fn with_variables(mut self, variables: Vec<(OsString, OsString)>) -> Self {
        self.above = vec![REPLAY.to_owned()];
        self.replacement = Some(variables);
        self
    }

    /// Marks the events as recorded ones.
    pub(crate) fn for_replay(mut self) -> Self {
        self.replays = true;
        self
    }

    /// Returns the value of a variable from which hooks inherit.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        match &self.replacement {
            Some(variables) => last_value(variables, name),
            None => std::env::var_os(name),
        }
    }

    fn names(&self) -> &Names {
        let make = || Names::new(self.profile.clone());
        self.names.get_or_init(make)
    }

    pub(crate) fn profile(&self) -> &AppProfile {
        &self.profile
    }

    /// Returns whether this variable, in capitals, can have a value of an event.
    pub(crate) fn can_be_of_event(&self, name: &str) -> bool {
        self.names().can_be_of_event(name)
    }

    /// Returns the hooks that are running above this host.
    pub(crate) fn chain(&self) -> &HookChain {
        &self.chain
    }

    /// Returns the variables that a hook inherits from the host, but never those of an event.
    fn inherited<'a>(&'a self, hook: CalledHook<'_>) -> Inherited<'a> {
        let rule = hook.options.inherit.as_ref().or(self.inherit.as_ref());
        let passes = |(name, _): &(OsString, OsString)| {
            let name = name.to_string_lossy();
            rule.is_none_or(|rule| inherits(rule, &name))
                && self
                    .above
                    .binary_search_by(|above| (**above).cmp(&name))
                    .is_err()
        };
        match (&self.replacement, rule) {
            (None, None) => Inherited::AllBut(&self.above),
            (None, Some(_)) => Inherited::Only(std::env::vars_os().filter(passes).collect()),
            (Some(variables), _) => Inherited::Only(
                variables
                    .iter()
                    .filter(|variable| passes(variable))
                    .cloned()
                    .collect(),
            ),
        }
    }

    /// Returns the environment of a hook: the variables that it inherits, those that its protocol sets, and its own
    /// variables, which have priority, except over the list of variables and the chain.
    ///
    /// # Errors
    /// If the name of a variable is invalid.
    pub(crate) fn environment<'a>(
        &'a self,
        hook: CalledHook<'a>,
        variables: Variables<'a>,
    ) -> Result<Environment<'a>, VariablesError> {
        // The names of `Native` are valid.
        let of_protocol: &[_] = if hook.is_of_other_agent {
            &variables
        } else {
            &[]
        };
        let of_protocol = of_protocol.iter().map(|(name, _)| &**name);
        let mut names = hook
            .options
            .env
            .keys()
            .map(String::as_str)
            .chain(of_protocol);
        if let Some(name) = names.find(|name| name.is_empty() || name.contains(['=', '\0'])) {
            let name = name.to_owned();
            return Err(VariablesError::BadName { name });
        }
        let set = self.listed(&variables);
        let mut environment = Environment::new(self.inherited(hook), variables);
        if hook.is_approved {
            // A `.pyc` file beside a script is covered as the script is, and must not appear.
            environment.set("PYTHONDONTWRITEBYTECODE", "1");
        }
        for (name, value) in &hook.options.env {
            environment.set(name, value);
        }
        environment.set(HOOK_VARIABLES, set);
        if self.replays {
            environment.set(REPLAY, "1");
        }
        self.chain.extend(hook.fingerprint, &mut environment);
        Ok(environment)
    }

    /// Returns the names of these variables. If there are very many, it lists their prefixes instead.
    fn listed(&self, variables: &Variables<'_>) -> String {
        let names = variables.iter().map(|(name, _)| &**name);
        let set = joined(names.clone());
        if set.len() <= LONGEST_LIST {
            return set;
        }
        let prefixes: Vec<_> = prefixed(self.profile(), "").collect();
        let has_prefix = |name: &&str| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let all: Vec<_> = prefixes.iter().map(|prefix| format!("{prefix}*")).collect();
        let others = names.filter(|name| !has_prefix(name));
        joined(all.iter().map(String::as_str).chain(others))
    }

    /// Adds the working directory.
    pub(super) fn add_directory<'a>(
        &'a self,
        working_dir: &'a Path,
        variables: &mut Variables<'a>,
    ) {
        for name in &self.working_dir {
            variables.push((name.into(), working_dir.to_string_lossy()));
        }
    }

    /// Adds the variables of a resident hook, instead of those of an event: its process handles many events.
    pub(super) fn add_for_resident<'a>(
        &'a self,
        working_dir: &'a Path,
        variables: &mut Variables<'a>,
    ) {
        // Without this, Python would keep its answers in a buffer.
        variables.push(("PYTHONUNBUFFERED".into(), "1".into()));
        self.add_directory(working_dir, variables);
        for name in prefixed(self.profile(), "RESIDENT") {
            variables.push((name.into(), "1".into()));
        }
    }

    /// Returns the variable with which the user has disabled all hooks; none if the user has not.
    pub(crate) fn disabled_by(&self) -> Option<&str> {
        self.disabled_by.as_deref()
    }
}

/// Returns the variables that no hook inherits.
fn not_passed_on() -> Vec<String> {
    // A filter without an effect would cost each hook 2,000 instructions.
    let replay = std::env::var_os(REPLAY).map(|_| REPLAY.to_owned());
    let mut names: Vec<_> = set_above().into_iter().chain(replay).collect();
    names.sort_unstable();
    names
}

/// Returns the variables that a host under a hook removes, so that no value of an outer event reaches its hooks.
fn set_above() -> Vec<String> {
    let Some(names) = std::env::var_os(HOOK_VARIABLES) else {
        return Vec::new();
    };
    let names = names.to_string_lossy();
    let (prefixes, names): (Vec<_>, Vec<_>) = names
        .split_whitespace()
        .partition(|name| name.ends_with("_*"));
    let is_set = |name: &String| {
        let mut prefixes = prefixes.iter().map(|prefix| prefix.trim_end_matches('*'));
        let is_of_user = name.ends_with("_HOOKS_DISABLE") || name.ends_with("_HOOKS_TRACE");
        !is_of_user && prefixes.any(|prefix| name.starts_with(prefix))
    };
    let own = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let names = names.into_iter().chain([HOOK_VARIABLES]);
    names.map(str::to_owned).chain(own.filter(is_set)).collect()
}

/// Joins names with blanks. It is called for each hook: `join` would take several times as long.
fn joined<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut all = String::with_capacity(512);
    for name in names {
        all.push_str(name);
        all.push(' ');
    }
    all.pop();
    all
}

fn disabling_variable(profile: &AppProfile) -> Option<String> {
    let is_on = |name: &String| {
        let value = std::env::var(name).unwrap_or_default();
        match &*value.to_ascii_lowercase() {
            "1" | "true" | "yes" | "on" => true,
            "" | "0" | "false" | "no" | "off" => false,
            _ => {
                warn!("`{name}` is ignored: expected 1 to disable all hooks, or 0");
                false
            }
        }
    };
    let own = profile.env_prefixes().iter();
    let mut names = own.map(|prefix| format!("{prefix}_HOOKS_DISABLE"));
    names.find(is_on)
}

/// Names and values of variables.
pub(crate) type Variables<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

/// The variables of one event, shared by all its hooks.
#[derive(Debug)]
pub(crate) struct EventVariables {
    fitting: Vec<Variable>,
    /// The variables that are too large: their values are only on standard input.
    too_large: Vec<Variable>,
}

/// Error passing an event to a hook.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum VariablesError {
    #[error(
        "`{name}` is too large for an environment variable ({bytes} bytes), so the hook would not receive it; if the hook reads the event from its standard input, set `\"reads\": \"stdin\"`"
    )]
    TooLarge { name: String, bytes: usize },
    #[error(
        "event data `{key}` is nested deeper than {DEEPEST_DATA} levels, which hooks do not receive; the program that fires the event can flatten it, or pass it as a string of JSON"
    )]
    TooDeep { key: String },
    #[error("`{name}` is not a valid name of a variable")]
    BadName { name: String },
}

/// Returns the failure of all hooks of an event whose data is nested too deep.
pub(crate) fn too_deep(event: &HookEvent) -> Option<Failure> {
    let key = event.too_deep_key()?.to_owned();
    Some(VariablesError::TooDeep { key }.into())
}

impl From<VariablesError> for Failure {
    fn from(error: VariablesError) -> Self {
        let kind = match error {
            VariablesError::TooLarge { .. } | VariablesError::TooDeep { .. } => {
                FailureKind::EventTooLarge
            }
            VariablesError::BadName { .. } => FailureKind::NotStarted,
        };
        Self::new(kind, error.to_string())
    }
}

impl EventVariables {
    /// Prepares the variables of an event that is not nested too deep.
    pub(crate) fn new(event: &HookEvent, naming: &Naming) -> Self {
        let mut fitting = variables(event, naming.names());
        let is_too_large = |variable: &mut Variable| {
            let Variable { name, value } = variable;
            !name.fits(value, LARGEST_VARIABLE)
        };
        let mut too_large: Vec<_> = fitting.extract_if(.., is_too_large).collect();
        let size = |variable: &Variable| variable.name.size_with(&variable.value);
        let mut total: usize = fitting.iter().map(size).sum();
        if total > LARGEST_TOTAL {
            fitting.sort_by_key(size);
        }
        while total > LARGEST_TOTAL
            && let Some(largest) = fitting.pop()
        {
            total -= size(&largest);
            too_large.push(largest);
        }
        Self { fitting, too_large }
    }

    /// Adds the variables that fit.
    pub(super) fn add<'a>(&'a self, variables: &mut Variables<'a>) {
        for Variable { name, value } in &self.fitting {
            for full in &name.full {
                variables.push((full.into(), value.into()));
            }
        }
    }

    /// Checks that a hook does not miss a value that it may decide on.
    ///
    /// # Errors
    /// If a value is too large, and the hook is a guard that would not receive it.
    pub(super) fn check(&self, options: &Options, can_block: bool) -> Result<(), VariablesError> {
        let Some(first) = self.too_large.first() else {
            return Ok(());
        };
        let may_decide = match options.on_failure {
            FailurePolicy::Continue => false,
            _ => options.guards(can_block),
        };
        let sees_input = options.reads == Reads::Stdin && options.stdin == Stdin::Json;
        if may_decide && !sees_input {
            return Err(VariablesError::TooLarge {
                name: format!("{COMMON_PREFIX}_{}", first.name.plain),
                bytes: first.value.len(),
            });
        }
        Ok(())
    }
}
