//! Which hooks there are: from the files that the common options name, each with the state it is in.
//!
//! Prints nothing.

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::context::Context;
use crate::cli::error::Failure;
use crate::{AppProfile, GateVerdict, Hook, HookConfig, HookRegistry, LoadReport, TrustPolicy};

/// Where hooks are looked for.
pub(crate) struct Sources {
    /// Of the files that are meant.
    pub(crate) config: HookConfig,
    /// The project's root, absolute.
    pub(crate) root: PathBuf,
    policy: TrustPolicy,
    program: String,
}

/// Whether a hook runs when its event comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    Enabled,
    /// Its entry says so.
    Disabled,
    /// The user's file lists its name.
    DisabledByName,
    NotApproved,
    /// It fails, and blocks.
    ApprovalLost(String),
    /// It fails too: its entry cannot be used.
    Unusable(String),
}

/// A hook of a file, and how it stands.
pub(crate) struct Listed {
    pub(crate) hook: Arc<Hook>,
    pub(crate) state: State,
    /// The state in words, with the fix where there is one.
    pub(crate) words: String,
}

/// What was found in the files.
pub(crate) struct Found {
    /// What an executor would run.
    pub(crate) registry: Arc<HookRegistry>,
    pub(crate) report: LoadReport,
}

impl Sources {
    pub(crate) fn of(context: &Context<'_>) -> Result<Self, Failure> {
        let root = context.root()?;
        // A file that is named on the command line is approved by that; there is no other then.
        let common = context.common;
        let (config, policy) = if !common.config.is_empty() {
            let profile = profile_of_files(context.profile(), &common.config)?;
            (HookConfig::new(profile), TrustPolicy::Everything)
        } else if common.no_global {
            (
                context.project_config(),
                TrustPolicy::Approved(context.trust_store()?),
            )
        } else {
            let policy = TrustPolicy::Approved(context.trust_store()?);
            (context.config.clone(), policy)
        };
        Ok(Self {
            config,
            root,
            policy,
            program: context.program.to_owned(),
        })
    }

    /// Loads them as a host does that wants approvals.
    pub(crate) fn load(&self) -> Found {
        let registry = Arc::new(HookRegistry::new());
        let report = self
            .config
            .load_into(&registry, &self.root, self.policy.clone());
        Found { registry, report }
    }

    /// What is wrong with the files, but for what is approved of them.
    pub(crate) fn problems(&self) -> LoadReport {
        let (registry, policy) = (HookRegistry::new(), TrustPolicy::Everything);
        self.config.load_into(&registry, &self.root, policy)
    }

    /// All hooks in the order in which they would run, and those between them that would not.
    pub(crate) fn listed(&self, found: &Found) -> Vec<Listed> {
        let mut hooks = found.registry.hooks();
        if !found.report.disabled.is_empty() {
            let is_disabled = |hook: &Hook| {
                let name = hook.name().unwrap_or_default();
                found.report.disabled.iter().any(|listed| listed == name)
            };
            let all = self.config.load_all(&self.root).into_iter();
            hooks.extend(all.filter(is_disabled).map(Arc::new));
            let place = |hook: &Arc<Hook>| place_in(&found.report.files, hook);
            hooks.sort_by_key(place);
        }
        let listed = hooks.into_iter().map(|hook| {
            let state = state_of(&hook, &found.report.disabled);
            let words = state.words(&self.program);
            Listed { hook, state, words }
        });
        listed.collect()
    }
}

/// Absolute paths, so that it does not matter below which folder they are looked for.
fn profile_of_files(profile: &AppProfile, files: &[PathBuf]) -> Result<AppProfile, Failure> {
    let mut paths = Vec::new();
    for file in files {
        if let Err(error) = file.metadata() {
            let words = format!("could not use `--config {}`: {error}", file.display());
            return Err(Failure::new(words).with_fix("name a file that exists"));
        }
        let path = std::path::absolute(file).map_err(|error| Failure::new(error.to_string()))?;
        paths.push(path);
    }
    let profile = profile.clone().with_global_files(paths);
    Ok(profile.with_project_files([""; 0]))
}

/// What an approval has lost comes last, as it is registered last.
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
    if hook.name().is_some_and(is_listed) {
        return State::DisabledByName;
    }
    match hook.gate().map(|gate| gate.check(hook)) {
        Some(GateVerdict::NotApproved(_)) => State::NotApproved,
        Some(GateVerdict::ApprovalLost(why)) => State::ApprovalLost(why),
        _ => State::Enabled,
    }
}

impl State {
    /// Its name for programs.
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

    fn words(&self, program: &str) -> String {
        match self {
            Self::Enabled => "enabled".to_owned(),
            Self::Disabled => "disabled by `\"enabled\": false`".to_owned(),
            Self::DisabledByName => "disabled by name in the user's file".to_owned(),
            Self::NotApproved => format!("not approved: see `{program} trust`"),
            Self::ApprovalLost(why) => format!("fails: {why}; see `{program} status`"),
            Self::Unusable(why) => format!("fails: {why}"),
        }
    }
}

/// The place of a hook for people and editors, as in `hooks.json:7`; short where it lies below the
/// working directory.
pub(crate) fn place(hook: &Hook) -> String {
    let Some(source) = hook.source() else {
        return "no file".to_owned();
    };
    let here = std::env::current_dir().unwrap_or_default();
    let path = source.path.strip_prefix(&here).unwrap_or(&source.path);
    match source.line {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    }
}

/// The words by which a hook is called in a list: its name where it has one.
pub(crate) fn title(hook: &Hook) -> &str {
    match (hook.name(), hook.refusal()) {
        (Some(name), _) => name,
        (None, Some(_)) => "an entry that cannot be used",
        (None, None) => hook.label(),
    }
}
