//! Which of a project's hooks may run, where a person has to approve them.

use std::path::Path;
#[cfg(feature = "watch")]
use std::sync::Arc;

use super::content::Loaded;
use super::report::{Problem, Severity, TrustPolicy};
use crate::hook::{GateVerdict, Hook};
use crate::trust::{Judged, TrustError};

/// Of a file of which nothing was approved, so many hooks are registered, to be skipped: each event
/// would pay for more.
const MOST_NOT_APPROVED: usize = 1000;

/// Gives the hooks of a project's files their gates. Returns what was approved and is gone, be it
/// with its file: each fails, and says so.
pub(super) fn admit(files: &mut [Loaded], root: &Path, policy: &TrustPolicy) -> Vec<Hook> {
    let TrustPolicy::Approved(store) = policy else {
        return Vec::new();
    };
    match store.judged(root) {
        Ok(judged) => judge(files, &judged),
        // An approval is bound to a place: a place that cannot be found has none.
        Err(TrustError::Root { .. }) => judge(files, &Judged::nothing(root)),
        Err(error) => {
            lose_all(files, &error);
            Vec::new()
        }
    }
}

/// Hooks that were loaded before, as they stand now: those of the project with new gates.
#[cfg(feature = "watch")]
pub(super) fn judge_again(
    hooks: &[Arc<Hook>],
    root: &Path,
    policy: &TrustPolicy,
) -> Vec<Arc<Hook>> {
    let TrustPolicy::Approved(store) = policy else {
        return hooks.to_vec();
    };
    let judged = match store.judged(root) {
        Err(TrustError::Root { .. }) => Ok(Judged::nothing(root)),
        judged => judged.map_err(|error| error.to_string()),
    };
    let again = |hook: &Arc<Hook>| {
        // Where its paths count from tells a project's hook.
        if hook.base_dir().is_none() {
            return Arc::clone(hook);
        }
        let hook = Hook::clone(hook);
        Arc::new(match &judged {
            Ok(judged) => judged.judge(hook).0,
            Err(why) => Judged::lose(hook, why),
        })
    };
    hooks.iter().map(again).collect()
}

fn judge(files: &mut [Loaded], judged: &Judged) -> Vec<Hook> {
    // A clone must not block its host by what is wrong in it.
    if !judged.knows_project() {
        for file in &mut *files {
            file.drop_placeholders();
            file.keep_first(MOST_NOT_APPROVED);
        }
    }
    for file in &mut *files {
        file.change_hooks(|hook| {
            let (hook, trust) = judged.judge(hook);
            let problem = match trust {
                GateVerdict::Run => None,
                // One that is switched off would not run in any case.
                GateVerdict::NotApproved(_) if !hook.enabled() => None,
                GateVerdict::NotApproved(_) => {
                    let words = "has not been approved, and is skipped".to_owned();
                    Some((Severity::Warning, words))
                }
                GateVerdict::ApprovalLost(why) => Some((Severity::Error, why)),
            };
            (hook, problem)
        });
    }
    if !judged.knows_project() {
        return Vec::new();
    }
    let vanished = judged.vanished(files.iter().flat_map(Loaded::hooks));
    files.iter_mut().for_each(Loaded::compile_conditions);
    vanished
}

/// What cannot be read may have approved them all, or none.
fn lose_all(files: &mut [Loaded], error: &TrustError) {
    for file in files {
        file.change_hooks(|hook| (Judged::lose(hook, &error.to_string()), None));
        let problem = Problem::new(Severity::Error, file.path(), error.to_string());
        file.report(problem);
    }
}

/// What is to be said of a hook that is gone from the project's file.
pub(super) fn problem_of(vanished: &Hook, path: &Path) -> Problem {
    let words = format!(
        "`{}` was approved, and is not there any more as it was",
        vanished.label()
    );
    Problem::new(Severity::Error, path, words).made_printable()
}
