//! A prediction for each hook on an event: whether an executor would run it, and the reason.
//!
//! Uses the selection and the order of the dispatch, and asks the runner for the standing of each hook. Runs nothing.

use std::sync::Arc;

use super::chain::Chain;
use super::hook_executor::HookExecutor;
use super::options::{Background, FireOptions};
use crate::entry::{Off, Standing};
use crate::events::HookEvent;
use crate::hook::{Compared, Hook};
use crate::outcome::HookResult;

/// A hook, and the prediction for it.
#[derive(Debug)]
pub(crate) struct Explanation {
    pub(crate) hook: Arc<Hook>,
    pub(crate) standing: Standing,
    /// The reason why the event does not reach the hook; none if it does.
    pub(crate) omission: Option<Omission>,
    /// The hook's position among those that run or fail, counted from 1.
    pub(crate) order: Option<usize>,
}

/// The reason why an event does not reach a hook, independent of the hook's standing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Omission {
    /// The hook's pattern, or one of its conditions, does not match the event.
    Mismatch(String),
    /// An identical hook of another agent runs instead.
    Replaced,
    /// The hook with this label, which is before it, fails, and the executor stops there.
    Stopped(String),
}

impl HookExecutor {
    /// Explains the hooks on an event: for each hook of the registry, whether it would run, and otherwise the reason. The
    /// hooks of the event come first, in the order in which they would run, then the others. Runs no hook, but checks the
    /// files of those that a person has approved.
    ///
    /// [`FireOptions::without_background`] leaves background hooks out.
    pub(crate) fn explain(&self, event: &HookEvent, options: &FireOptions) -> Vec<Explanation> {
        let can_block = self.can_block(&event.event_type);
        let is_planned =
            |hook: &Arc<Hook>| options.background != Background::Skip || !hook.background();
        let mut chosen = self.hooks_for(event);
        chosen.retain(is_planned);
        let mut others = self.registry().hooks();
        others.retain(|hook| {
            is_planned(hook) && !chosen.iter().any(|other| Arc::ptr_eq(other, hook))
        });
        let standings: Vec<_> = chosen.iter().map(|hook| self.standing(hook)).collect();
        let mut chain = Chain::new(options, can_block);
        let mut running = 0;
        let planned = chosen.into_iter().zip(standings).map(|(hook, standing)| {
            let stopped_by = chain.keeps_back(&hook).map(|by| by.label().to_owned());
            if stopped_by.is_none() && stops(&hook, &standing, can_block) {
                // On an event that can be blocked, it blocks.
                chain.note(&hook, true, true);
            }
            let stopped_by = stopped_by.filter(|_| standing.takes_part());
            let omission = stopped_by.map(Omission::Stopped);
            let has_order = omission.is_none() && standing.takes_part();
            running += usize::from(has_order);
            Explanation {
                hook,
                standing,
                omission,
                order: has_order.then_some(running),
            }
        });
        let mut all: Vec<_> = planned.collect();
        let at = Compared::new(event, self.core().runner.working_dir.as_deref(), &others);
        all.extend(others.into_iter().map(|hook| {
            let standing = self.standing(&hook);
            let omission = match hook.mismatch_at(&at, can_block) {
                Some(mismatch) => Some(Omission::Mismatch(mismatch)),
                None => standing.takes_part().then_some(Omission::Replaced),
            };
            Explanation {
                hook,
                standing,
                omission,
                order: None,
            }
        }));
        all
    }

    /// Returns whether a hook may run, independent of the event. Checks the files of an approved hook.
    pub(crate) fn standing(&self, hook: &Hook) -> Standing {
        if !hook.enabled() {
            return Standing::Off(Off::Entry);
        }
        match self.disabling(hook) {
            Some(variable) => Standing::Off(Off::Variable(variable.to_owned())),
            None => self.core().runner.standing_of(hook),
        }
    }
}

/// Returns whether a hook of this standing certainly keeps those after it from running.
fn stops(hook: &Arc<Hook>, standing: &Standing, can_block: bool) -> bool {
    let Standing::Fails(failure) = standing else {
        return false;
    };
    let hook = Arc::clone(hook);
    HookResult::failing(hook, failure.kind, &*failure.message).stops_others(can_block)
}

impl Explanation {
    /// Explains a hook that is not registered. Does not look at the conditions of a hook that no person has approved.
    #[cfg(feature = "cli")]
    pub(crate) fn left_out(hook: &Arc<Hook>, standing: &Standing, event: &HookEvent) -> Self {
        let is_of_pattern =
            matches!(standing, Standing::NotApproved) && !hook.pattern().matches(event);
        let mismatch = hook.mismatch(event, true).filter(|_| is_of_pattern);
        Self {
            hook: Arc::clone(hook),
            standing: standing.clone(),
            omission: mismatch.map(Omission::Mismatch),
            order: None,
        }
    }

    /// Returns the reason why the hook does not run, as a fragment.
    pub(crate) fn reason(&self) -> String {
        match &self.omission {
            Some(omission) => omission.reason(),
            None => self.standing.reason(),
        }
    }

    /// Returns a sentence about a hook that does not run, such as `does not run: ...`; none if it runs.
    pub(crate) fn why(&self) -> Option<String> {
        match (&self.omission, &self.standing) {
            (Some(omission), _) => Some(format!("does not run: {}", omission.reason())),
            (None, Standing::Ready) => None,
            (None, standing) => Some(standing.to_string()),
        }
    }
}

impl Omission {
    fn reason(&self) -> String {
        match self {
            Self::Mismatch(mismatch) => mismatch.clone(),
            Self::Replaced => "an identical handler runs instead".to_owned(),
            Self::Stopped(by) => {
                format!("`{by}`, which is before it, fails and stops the hooks after it")
            }
        }
    }
}
