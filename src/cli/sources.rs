//! All hooks, each with its state and its label.
//!
//! Prints nothing.

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::context::Context;
use crate::cli::files::short;
use crate::{GateVerdict, Hook, Hooks};

/// Whether a hook runs when its event is fired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    Enabled,
    /// Its entry has `"enabled": false`.
    Disabled,
    /// The user's file lists its name.
    DisabledByName,
    NotApproved,
    /// It fails, and blocks.
    ApprovalLost(String),
    /// It fails, and blocks: its entry cannot be used.
    Unusable(String),
}

/// A hook of a file, and its state.
pub(crate) struct Listed {
    pub(crate) hook: Arc<Hook>,
    pub(crate) state: State,
    /// The description of the state, with the fix if there is one.
    pub(crate) words: String,
}

/// Returns all hooks in the order in which they would run, including hooks that would not run.
pub(crate) fn listed(found: &Hooks, context: &Context<'_>) -> Vec<Listed> {
    let mut hooks = found.registry().hooks();
    let report = found.report();
    if !report.disabled.is_empty() {
        let is_disabled = |hook: &Hook| {
            let name = hook.name().unwrap_or_default();
            report.disabled.iter().any(|listed| listed == name)
        };
        let all = match found.project() {
            Some(root) => found.config().load_all(root),
            None => found.config().load_global(),
        };
        hooks.extend(all.into_iter().filter(is_disabled).map(Arc::new));
        hooks.sort_by_key(|hook| place_in(&report.files, hook));
    }
    let listed = hooks.into_iter().map(|hook| {
        let state = state_of(&hook, &report.disabled);
        let words = state.words(context);
        Listed { hook, state, words }
    });
    listed.collect()
}

/// Returns the sort key of a hook. Hooks with a lost approval come last, as they are registered
/// last.
fn place_in(files: &[PathBuf], hook: &Hook) -> (usize, usize) {
    let Some(source) = hook.source() else {
        return (usize::MAX, 0);
    };
    let file = files.iter().position(|file| **file == *source.path);
    let index = source.index.unwrap_or_default();
    (file.unwrap_or(usize::MAX), index)
}

fn state_of(hook: &Hook, disabled: &[String]) -> State {
    let is_listed = |name: &str| disabled.iter().any(|listed| listed == name);
    if let Some(why) = hook.refusal() {
        return State::Unusable(why.to_owned());
    }
    if !hook.enabled() {
        return State::Disabled;
    }
    if !hook.is_system() && hook.name().is_some_and(is_listed) {
        return State::DisabledByName;
    }
    match hook.gate().map(|gate| gate.check(hook)) {
        Some(GateVerdict::NotApproved(_)) => State::NotApproved,
        Some(GateVerdict::ApprovalLost(why)) => State::ApprovalLost(why),
        _ => State::Enabled,
    }
}

impl State {
    /// Returns its name for programs.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
            Self::DisabledByName => "disabled_by_name",
            Self::NotApproved => "not_approved",
            Self::ApprovalLost(_) => "approval_lost",
            Self::Unusable(_) => "unusable",
        }
    }

    fn words(&self, context: &Context<'_>) -> String {
        match self {
            Self::Enabled => "enabled".to_owned(),
            Self::Disabled => "disabled by `\"enabled\": false`".to_owned(),
            Self::DisabledByName => "disabled by name in the user's file".to_owned(),
            Self::NotApproved => {
                format!(
                    "not approved: approve it with `{}`",
                    context.command("trust")
                )
            }
            Self::ApprovalLost(why) => format!("fails: {why}; see `{}`", context.command("status")),
            Self::Unusable(why) => format!("fails: {why}"),
        }
    }
}

/// Returns the position of a hook, for example `hooks.json:7`; relative if it is below the working
/// directory.
pub(crate) fn place(hook: &Hook) -> String {
    let Some(source) = hook.source() else {
        return "not in a file".to_owned();
    };
    let path = short(&source.path);
    match source.line {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    }
}

/// Returns the title of a hook in a list: its label, unless that is the place of an unusable entry.
pub(crate) fn title(hook: &Hook) -> &str {
    if hook.name().is_some() || hook.refusal().is_none() {
        return hook.label();
    }
    match hook.source() {
        Some(source) if source.index.is_some() => "an entry that cannot be used",
        _ => "a file that cannot be used",
    }
}
