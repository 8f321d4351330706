//! What an executor would do with each hook on an event, and why.
//!
//! Uses the selection and the order of the dispatch, and what the runner foresees. Runs nothing but gates.

use std::fmt;
use std::sync::Arc;

use super::hook_executor::HookExecutor;
use super::options::{Background, FireOptions};
use crate::events::HookEvent;
use crate::hook::Hook;
use crate::outcome::{FailureKind, HookResult};
use crate::pattern::Mismatch;
use crate::runner::foreseen;

/// A hook, and what an executor would do with it.
#[derive(Debug)]
pub(crate) struct Explanation {
    pub(crate) hook: Arc<Hook>,
    pub(crate) fate: Fate,
    /// Its position among the hooks that run or fail, counted from 1.
    pub(crate) order: Option<usize>,
}

/// What an executor would do with a hook, and why. `Display` is a sentence without its subject, such as
/// `does not run: not approved`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It runs. Whether it then succeeds is not known.
    Runs,
    /// It fails without being started: its entry is invalid, or its approval is lost.
    Fails { failure: FailureKind, error: String },
    /// Its entry has `"enabled": false`.
    Disabled,
    /// This environment variable disables all hooks.
    DisabledBy(String),
    /// Its name is disabled in this file, so it is not registered.
    DisabledByName(&'static str),
    /// Its pattern, or one of its conditions, does not match the event.
    Mismatch(Vec<Mismatch>),
    /// It was never approved; with the reason.
    NotApproved(String),
    /// An identical hook of another agent runs instead.
    Replaced,
    /// The hook with this label, which is before it, fails, and the executor stops there.
    Stopped(String),
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runs | Self::Fails { .. } => f.write_str(&self.reason()),
            _ => write!(f, "does not run: {}", self.reason()),
        }
    }
}

impl HookExecutor {
    /// Explains what would happen on an event: for each hook of the registry, whether it would run, and why not. The
    /// hooks of the event come first, in the order in which they would run, then the others. Runs no hook, but asks the
    /// [gates](crate::hook::Gate).
    ///
    /// [`FireOptions::without_background`] leaves background hooks out.
    pub(crate) fn explain(&self, event: &HookEvent, options: FireOptions<'_>) -> Vec<Explanation> {
        let can_block = self.core().vocabulary.can_block(&event.event_type);
        let chosen = self.hooks_for(event);
        let is_chosen = |hook: &Arc<Hook>| chosen.iter().any(|it| Arc::ptr_eq(it, hook));
        let mut others = self.registry().hooks();
        others.retain(|hook| !is_chosen(hook));
        let is_left_out = |hook: &Hook| options.background == Background::Skip && hook.background();
        let mut all = Vec::new();
        let mut failed: Option<Arc<Hook>> = None;
        let mut running = 0;
        for hook in chosen {
            let before = failed.as_ref();
            // The dispatch does not reach it then.
            let stopped = before.filter(|failed| match hook.group() {
                None => options.stops_own(),
                group => can_block && group != failed.group(),
            });
            let (mut fate, stops) = self.foresee(&hook);
            if let (Some(failed), Fate::Runs | Fate::Fails { .. }) = (stopped, &fate) {
                fate = Fate::Stopped(failed.label().to_owned());
            } else if failed.is_none() && stops {
                failed = Some(Arc::clone(&hook));
            }
            let is_in_order = matches!(fate, Fate::Runs | Fate::Fails { .. });
            let has_order = is_in_order && !is_left_out(&hook);
            running += usize::from(has_order);
            let order = has_order.then_some(running);
            all.push(Explanation { hook, fate, order });
        }
        all.extend(others.into_iter().map(|hook| {
            let fate = match hook.mismatches(event, can_block) {
                mismatches if !mismatches.is_empty() => Fate::Mismatch(mismatches),
                _ => match self.fate_of(&hook) {
                    Fate::Runs | Fate::Fails { .. } => Fate::Replaced,
                    fate => fate,
                },
            };
            Explanation {
                hook,
                fate,
                order: None,
            }
        }));
        all.retain(|it| !is_left_out(&it.hook));
        all
    }

    /// What would happen to a hook on an event that it matches, if no other hook stops it.
    pub(crate) fn fate_of(&self, hook: &Arc<Hook>) -> Fate {
        self.foresee(hook).0
    }

    /// Returns what would happen to a hook, and whether that would stop the hooks after it.
    fn foresee(&self, hook: &Arc<Hook>) -> (Fate, bool) {
        if !hook.enabled() {
            return (Fate::Disabled, false);
        }
        if let Some(variable) = self.disabling(hook) {
            return (Fate::DisabledBy(variable.to_owned()), false);
        }
        let result = foreseen(hook).or_else(|| self.core().runner.unconfinable(hook));
        let Some(result) = result else {
            return (Fate::Runs, false);
        };
        let stops = !hook.background() && !result.should_continue();
        (Fate::of(result), stops)
    }
}

impl Fate {
    fn of(result: HookResult) -> Self {
        let error = result.error.unwrap_or_default();
        match result.failure {
            Some(failure) => Self::Fails { failure, error },
            None => Self::NotApproved(error),
        }
    }

    /// Returns why the hook does not run, without saying that it does not.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Runs => "runs".to_owned(),
            Self::Fails { error, .. } => format!("fails: {error}"),
            Self::Disabled => "disabled by `\"enabled\": false`".to_owned(),
            Self::DisabledBy(variable) => format!("`{variable}` is set"),
            Self::DisabledByName(file) => format!("disabled by name in {file}"),
            Self::Mismatch(mismatches) => {
                let words = |it: &Mismatch| format!("`{}` does not match: {it}", it.alternative);
                let all: Vec<_> = mismatches.iter().map(words).collect();
                all.join("; ")
            }
            Self::NotApproved(why) => why.clone(),
            Self::Replaced => "an identical handler runs instead".to_owned(),
            Self::Stopped(by) => {
                format!("`{by}`, which is before it, fails and stops the hooks after it")
            }
        }
    }
}
