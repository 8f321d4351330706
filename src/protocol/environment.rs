//! The environment of a hook: what it inherits from the host, what its protocol sets, and its own variables.
//!
//! Knows names and rules; not the values of an event, nor how a process is started.

use std::path::Path;

use super::circular::HookChain;
use super::names::Names;
use super::variables::Variables;
use crate::hook::{Failure, FailureKind, Hook, inherits};
use crate::logging::warn;
use crate::process::{Environment, Inherited};
use crate::profile::AppProfile;

/// The names of the variables that the engine has set for a hook, separated by blanks.
const HOOK_VARIABLES: &str = "FORGE_HOOK_VARIABLES";

/// The most bytes of this list: on Linux, a variable has at most 128 KiB.
const LONGEST_LIST: usize = 64 * 1024;

/// The names of variables for a host, and the variables that it must not pass on.
#[derive(Debug)]
pub(crate) struct Naming {
    pub(super) names: Names,
    working_dir: Vec<String>,
    /// The variables that were set for the hook that has started the host, if one has.
    above: Vec<String>,
    /// The list for hooks that do not set their own.
    inherit: Option<Vec<String>>,
    /// The hooks that are running above this host.
    pub(crate) chain: HookChain,
    /// The variable with which the user has disabled all hooks.
    pub(crate) disabled_by: Option<String>,
}

impl Naming {
    pub(crate) fn new(profile: &AppProfile, inherit: Option<Vec<String>>) -> Self {
        let names = Names::new(profile);
        Self {
            working_dir: names.prefixed("WORKING_DIR").collect(),
            above: set_above(),
            inherit,
            chain: HookChain::inherited(),
            disabled_by: disabling_variable(profile),
            names,
        }
    }

    /// Returns the variables that a hook inherits from the host; never those of an event.
    fn inherited<'a>(&'a self, hook: &Hook) -> Inherited<'a> {
        let Some(rule) = hook.inherit().or(self.inherit.as_deref()) else {
            return Inherited::AllBut(&self.above);
        };
        let passes = |name: &str| inherits(rule, name) && !self.above.iter().any(|it| it == name);
        let mut own: Vec<_> = std::env::vars_os().collect();
        own.retain(|(name, _)| passes(&name.to_string_lossy()));
        Inherited::Only(own)
    }

    /// Returns the environment of a hook: what it inherits, what its protocol sets, and its own variables, which
    /// have priority, except over the list of variables and the chain.
    ///
    /// # Errors
    /// If the name of a variable is invalid.
    pub(crate) fn environment<'a>(
        &'a self,
        hook: &'a Hook,
        variables: Variables<'a>,
    ) -> Result<Environment<'a>, Failure> {
        // The names of `Native` are valid.
        let of_protocol: &[_] = match hook.protocol() {
            Some(_) => &variables,
            None => &[],
        };
        let of_protocol = of_protocol.iter().map(|(name, _)| &**name);
        let mut names = hook.env().keys().map(String::as_str).chain(of_protocol);
        if let Some(name) = names.find(|name| name.is_empty() || name.contains(['=', '\0'])) {
            let message = format!("`{name}` is not a valid name of a variable");
            return Err(Failure::new(FailureKind::NotStarted, message));
        }
        let set = self.listed(&variables);
        let mut environment = Environment::new(self.inherited(hook), variables);
        if hook.has_approval() {
            // A `.pyc` beside a script is covered as the script is, and must not appear.
            environment.set("PYTHONDONTWRITEBYTECODE", "1");
        }
        for (name, value) in hook.env() {
            environment.set(name, value);
        }
        environment.set(HOOK_VARIABLES, set);
        self.chain.extend(hook, &mut environment);
        Ok(environment)
    }

    /// Returns the names of these variables. Very many are listed by their prefixes.
    fn listed(&self, variables: &Variables<'_>) -> String {
        let names = variables.iter().map(|(name, _)| &**name);
        let set = joined(names.clone());
        if set.len() <= LONGEST_LIST {
            return set;
        }
        let prefixes = &self.names.prefixes;
        let all: Vec<_> = prefixes.iter().map(|prefix| format!("{prefix}*")).collect();
        let has_prefix = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
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
        // Otherwise Python would keep its answers in a buffer.
        variables.push(("PYTHONUNBUFFERED".into(), "1".into()));
        self.add_directory(working_dir, variables);
        for name in self.names.prefixed("RESIDENT") {
            variables.push((name.into(), "1".into()));
        }
    }
}

/// Returns what a host under a hook removes first, so that no value of an outer event reaches its hooks.
fn set_above() -> Vec<String> {
    let Some(names) = std::env::var_os(HOOK_VARIABLES) else {
        return Vec::new();
    };
    let names = names.to_string_lossy();
    let (prefixes, names): (Vec<_>, Vec<_>) = names
        .split_whitespace()
        .partition(|name| name.ends_with("_*"));
    let is_set = |name: &String| {
        let mut prefixes = prefixes.iter().map(|it| it.trim_end_matches('*'));
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
