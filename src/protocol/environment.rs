//! The event as environment variables: one rule, and its exceptions.
//!
//! Knows the content of a variable and whether it fits. Does not know how a process is started.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde_json::Value;

use super::called_hook::CalledHook;
use super::names::{Names, can_be_of_event, names_of_data, prefixed};
use super::recursion::HookChain;
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
        let variables = variables(self, &names).into_iter();
        let named = variables.flat_map(|Variable { names, value }| {
            let each = names.iter().map(|name| (name.clone(), value.clone()));
            each.collect::<Vec<_>>()
        });
        named.collect()
    }
}

/// A variable of an event.
#[derive(Debug)]
struct Variable {
    /// The names in a process, the one with the common prefix first.
    names: Arc<[String]>,
    value: String,
}

impl Variable {
    fn new(names: Arc<[String]>, mut value: String) -> Self {
        // A variable cannot contain NUL.
        if value.contains('\0') {
            value = value.replace('\0', "\u{FFFD}");
        }
        Self { names, value }
    }

    /// Returns the bytes that the variable takes in an environment under its names but the first ones.
    fn size_without(&self, first: usize) -> usize {
        let size = |name: &String| name.len() + self.value.len() + 2;
        self.names.iter().skip(first).map(size).sum()
    }

    /// Returns whether no name with its value is longer than a variable may be.
    fn fits(&self) -> bool {
        let longest = self.names.iter().map(String::len).max();
        longest.unwrap_or_default() + 1 + self.value.len() <= LARGEST_VARIABLE
    }
}

/// Returns the variables of one event. Recurses once for each level of its data.
fn variables(event: &HookEvent, names: &Names) -> Vec<Variable> {
    let of_event = [
        ("EVENT", Some(event.event_type.as_str().to_owned())),
        ("TIMESTAMP", Some(json_text(&event.timestamp))),
        ("SESSION_ID", event.session_id.clone()),
        ("TOOL_NAME", event.tool_name.clone()),
    ];
    let of_event = of_event
        .into_iter()
        .filter_map(|(name, value)| Some(Variable::new(names.of(name), value?)));
    let of_data = names_of_data(&event.data)
        .map(|(name, key)| Variable::new(names.of(&name), text_of(key, &event.data[key])));
    of_event.chain(of_data).collect()
}

/// Returns the text of a value of the data.
fn text_of(key: &str, value: &Value) -> String {
    let text = match key {
        "tool_args" | "tool_result" => None,
        // The whole object would be too much for a variable.
        "agent" => value.as_str().or(value["name"].as_str()),
        _ => value.as_str(),
    };
    text.map_or_else(|| json_text(value), str::to_owned)
}

/// Returns a value of an event in JSON. A number or a `Value` always has a text. `Value::to_string()` would format it piece by
/// piece, which takes 1,000 instructions more for each hook.
fn json_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
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
    /// The names of the variables that were set for the hook that has started the host, if one has.
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

    /// Replaces the chain of the hooks above this host.
    #[cfg(feature = "cli")]
    pub(crate) fn with_chain(mut self, chain: HookChain) -> Self {
        self.chain = chain;
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

    pub(crate) fn profile(&self) -> &AppProfile {
        &self.profile
    }

    /// Returns whether this variable, in capitals, can have a value of an event.
    pub(crate) fn can_be_of_event(&self, name: &str) -> bool {
        can_be_of_event(name, &self.profile)
    }

    /// Returns the hooks that are running above this host.
    pub(crate) fn chain(&self) -> &HookChain {
        &self.chain
    }

    /// Returns the variables that a hook inherits from the host, but never those of an event.
    fn inherited<'a>(&'a self, hook: CalledHook<'_>) -> Inherited<'a> {
        let rule = hook.options.inherit.as_ref().or(self.inherit.as_ref());
        let mut variables = match &self.replacement {
            Some(variables) => variables.clone(),
            None if rule.is_none() => return Inherited::AllBut(&self.above),
            None => std::env::vars_os().collect(),
        };
        variables.retain(|(name, _)| {
            let name = name.to_string_lossy();
            rule.is_none_or(|rule| inherits(rule, &name))
                && !self.above.iter().any(|above| *above == name)
        });
        Inherited::Only(variables)
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
    ) -> Result<Environment<'a>, Failure> {
        let is_invalid = |byte: u8| matches!(byte, b'=' | 0);
        let of_hook = hook.options.env.keys().map(String::as_str);
        let mut names = of_hook.chain(variables.iter().map(|(name, _)| &**name));
        if let Some(name) = names.find(|name| name.is_empty() || name.bytes().any(is_invalid)) {
            let why = format!("`{name}` is not a valid name of a variable");
            return Err(Failure::new(FailureKind::NotStarted, why));
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
        let set = names.clone().collect::<Vec<_>>().join(" ");
        if set.len() <= LONGEST_LIST {
            return set;
        }
        let prefixes: Vec<_> = prefixed(self.profile(), "").collect();
        let has_prefix = |name: &&str| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let all = prefixes.iter().map(|prefix| format!("{prefix}*"));
        let others = names.filter(|name| !has_prefix(name)).map(str::to_owned);
        all.chain(others).collect::<Vec<_>>().join(" ")
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

/// Returns the names of the variables that no hook inherits: those that were set for the hook that has started this
/// host, so that no value of an outer event reaches its hooks.
fn not_passed_on() -> Vec<String> {
    let listed = std::env::var_os(HOOK_VARIABLES).unwrap_or_default();
    let listed = listed.to_string_lossy();
    let (prefixes, names): (Vec<_>, Vec<_>) = listed
        .split_whitespace()
        .partition(|name| name.ends_with("_*"));
    let is_set = |name: &String| {
        let mut prefixes = prefixes.iter().map(|prefix| prefix.trim_end_matches('*'));
        let is_of_user = name.ends_with("_HOOKS_DISABLE") || name.ends_with("_HOOKS_TRACE");
        !is_of_user && prefixes.any(|prefix| name.starts_with(prefix))
    };
    let inherited = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let names = names.into_iter().chain([HOOK_VARIABLES, REPLAY]);
    let names = names.map(str::to_owned).chain(inherited.filter(is_set));
    names
        .filter(|name| std::env::var_os(name).is_some())
        .collect()
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
    let prefixes = profile.env_prefixes().iter();
    let mut names = prefixes.map(|prefix| format!("{prefix}_HOOKS_DISABLE"));
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

/// Returns the failure of all hooks of an event whose data is nested too deep.
pub(crate) fn too_deep(event: &HookEvent) -> Option<Failure> {
    let key = event.too_deep().next()?;
    let why = format!(
        "event data `{key}` is nested deeper than {DEEPEST_DATA} levels, which hooks do not receive; the program that fires the event can flatten it, or pass it as a string of JSON"
    );
    Some(Failure::new(FailureKind::EventTooLarge, why))
}

impl EventVariables {
    /// Prepares the variables of an event that is not nested too deep.
    pub(crate) fn new(event: &HookEvent, naming: &Naming) -> Self {
        let make = || Names::new(naming.profile.clone());
        let mut fitting = variables(event, naming.names.get_or_init(make));
        let is_too_large = |variable: &mut Variable| !variable.fits();
        let mut too_large: Vec<_> = fitting.extract_if(.., is_too_large).collect();
        // The common prefix comes first. It counts only if it is one of the profile's own.
        let is_own = naming
            .profile
            .env_prefixes()
            .iter()
            .any(|prefix| prefix == COMMON_PREFIX);
        let size = |variable: &Variable| variable.size_without(usize::from(!is_own));
        fitting.sort_by_key(size);
        let mut total = 0;
        too_large.extend(fitting.extract_if(.., |variable| {
            total += size(variable);
            total > LARGEST_TOTAL
        }));
        Self { fitting, too_large }
    }

    /// Adds the variables that fit.
    pub(super) fn add<'a>(&'a self, variables: &mut Variables<'a>) {
        for Variable { names, value } in &self.fitting {
            for name in names.iter() {
                variables.push((name.into(), value.into()));
            }
        }
    }

    /// Checks that a hook does not miss a value that it may decide on.
    ///
    /// # Errors
    /// If a value is too large, and the hook is a guard that would not receive it.
    pub(super) fn check(&self, options: &Options, can_block: bool) -> Result<(), Failure> {
        let Some(first) = self.too_large.first() else {
            return Ok(());
        };
        let may_decide = options.on_failure != FailurePolicy::Continue && options.guards(can_block);
        let sees_input = options.reads == Reads::Stdin && options.stdin == Stdin::Json;
        if !may_decide || sees_input {
            return Ok(());
        }
        let why = format!(
            "`{}` is too large for an environment variable ({} bytes), so the hook would not receive it; if the hook reads the event from its standard input, set `\"reads\": \"stdin\"`",
            first.names[0],
            first.value.len()
        );
        Err(Failure::new(FailureKind::EventTooLarge, why))
    }
}
