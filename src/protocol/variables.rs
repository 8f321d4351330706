//! The event as environment variables: one rule, and its exceptions. A value that does not fit is in a file.
//!
//! Knows the content of a variable and whether it fits; not how a process is started.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::names::{Names, VariableName};
use super::spill::Spill;
use crate::events::{DEEPEST_DATA, HookEvent};
use crate::hook::{Failure, FailureKind, FailurePolicy, Hook, Reads, Stdin};
use crate::process::LARGEST_VARIABLE;
use crate::profile::AppProfile;

/// The most bytes of all variables of an event together, counting the copy of each of the profile's prefixes. This
/// leaves most of the system's limit to the user's own environment.
const LARGEST_TOTAL: usize = 256 * 1024;

/// Names and values of variables.
pub(crate) type Variables<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

impl HookEvent {
    /// Returns the environment variables of this event with the default profile, except
    /// `WORKING_DIR`, which depends on the hook.
    ///
    /// Every key of [`data`](HookEvent::data) is a variable: its name in capitals after the prefix
    /// (`FORGE_` and `OPENCODE_`). Strings are passed unchanged, and all other values as JSON.
    /// `tool_args` and `tool_result` are always JSON. A value that is nested deeper than 128 levels is `null`.
    /// docs/protocol.md has the complete rule.
    #[must_use]
    pub fn to_env(&self) -> BTreeMap<String, String> {
        self.to_env_for(&AppProfile::default())
    }

    /// Like [`to_env`](HookEvent::to_env), with the names of another profile beside those with `FORGE_`.
    #[must_use]
    pub fn to_env_for(&self, profile: &AppProfile) -> BTreeMap<String, String> {
        let mut environment = BTreeMap::new();
        for Variable { name, value } in variables(&self.within_limit(), &Names::new(profile)) {
            for full in &name.full {
                environment.insert(full.clone(), value.clone());
            }
        }
        environment
    }
}

#[derive(Debug)]
struct Variable {
    name: Arc<VariableName>,
    value: String,
}

impl Variable {
    fn size(&self) -> usize {
        self.name.size_with(&self.value)
    }
}

/// Returns the variables of one event. Recurses once for each level of its data.
fn variables(event: &HookEvent, names: &Names) -> Vec<Variable> {
    let of_event = [
        Some(event.event_type.as_str().to_owned()),
        Some(Value::from(event.timestamp).to_string()),
        event.session_id.clone(),
        event.tool_name.clone(),
    ];
    let mut found = Vec::with_capacity(of_event.len() + event.data.len());
    let mut add = |name, value: String| {
        // No variable can contain NUL.
        let value = match value.contains('\0') {
            true => value.replace('\0', "\u{FFFD}"),
            false => value,
        };
        found.push(Variable { name, value });
    };
    for (name, value) in names.of_event().zip(of_event) {
        if let Some(value) = value {
            add(name, value);
        }
    }
    for (name, (key, value)) in names.of_data(&event.data) {
        match value {
            Value::String(text) if !matches!(key, "tool_args" | "tool_result") => {
                add(name, text.clone());
            }
            value => add(name, value.to_string()),
        }
    }
    found
}

/// Returns the failure of all hooks of an event whose data is nested too deep.
pub(crate) fn too_deep(event: &HookEvent) -> Option<Failure> {
    let key = event.too_deep_key()?;
    let message = format!(
        "event data `{key}` is nested deeper than {DEEPEST_DATA} levels, which hooks do not receive; the program that fires the event can flatten it, or pass it as a string of JSON"
    );
    Some(Failure::new(FailureKind::EventTooLarge, message))
}

/// The variables of one event, shared by all its hooks.
#[derive(Debug)]
pub(super) struct EventVariables {
    fitting: Vec<Variable>,
    too_large: Vec<Variable>,
    spill: OnceLock<Result<Spill, String>>,
}

impl EventVariables {
    /// Prepares the variables of an event that is not nested too deep.
    pub(super) fn new(event: &HookEvent, names: &Names) -> Self {
        let mut fitting = variables(event, names);
        let is_too_large = |it: &mut Variable| !it.name.fits(&it.value, LARGEST_VARIABLE);
        let mut too_large: Vec<_> = fitting.extract_if(.., is_too_large).collect();
        let mut total: usize = fitting.iter().map(Variable::size).sum();
        if total > LARGEST_TOTAL {
            fitting.sort_by_key(Variable::size);
        }
        while total > LARGEST_TOTAL
            && let Some(largest) = fitting.pop()
        {
            total -= largest.size();
            too_large.push(largest);
        }
        Self {
            fitting,
            too_large,
            spill: OnceLock::new(),
        }
    }

    /// Adds the variables of the event for a hook; for values that do not fit, those with the names of their files.
    ///
    /// # Errors
    /// If a value is too large and the hook is a guard that would not receive it; if the value cannot be written to a
    /// file.
    pub(super) fn add<'a>(
        &'a self,
        hook: &Hook,
        can_block: bool,
        names: &Names,
        variables: &mut Variables<'a>,
    ) -> Result<(), Failure> {
        for Variable { name, value } in &self.fitting {
            for full in &name.full {
                variables.push((full.into(), value.into()));
            }
        }
        let Some(first) = self.too_large.first() else {
            return Ok(());
        };
        let name = &first.name.full[0];
        let is_guard = hook.on_failure() != FailurePolicy::Continue && hook.guards(can_block);
        let sees_input = hook.reads() == Reads::Stdin && hook.stdin() == Stdin::Json;
        if is_guard && !sees_input {
            let message = format!(
                "`{name}` is too large for an environment variable ({} bytes), so the hook would not receive it; if the hook reads the event from its standard input, set `\"reads\": \"stdin\"`",
                first.value.len()
            );
            return Err(Failure::new(FailureKind::EventTooLarge, message));
        }
        let values = self.too_large.iter();
        let values = values.map(|it| (it.name.plain.as_str(), it.value.as_str()));
        let write = || Spill::write(values).map_err(|error| error.to_string());
        let spill = self.spill.get_or_init(write).as_ref().map_err(|cause| {
            let message = format!("cannot write the large value of `{name}` to a file: {cause}");
            Failure::new(FailureKind::NotStarted, message)
        })?;
        for Variable { name, .. } in &self.too_large {
            for file in names.prefixed(&format!("{}_FILE", name.plain)) {
                variables.push((file.into(), spill.path(&name.plain).into()));
            }
        }
        Ok(())
    }
}
