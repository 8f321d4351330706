//! The check whether a hook may start. No other module makes this check.
//!
//! Knows nothing of the event, except how deep the hooks above it are nested.

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::sandbox::Bases;
use crate::entry::{Failure, FailureKind, HookCommand, HookOutput};
use crate::hook::Hook;
use crate::process::Confinement;
use crate::protocol::Naming;

/// The first step of a hook that may run.
#[derive(Debug)]
pub(super) enum Admitted {
    /// The hook starts a process.
    Start {
        working_dir: PathBuf,
        confinement: Option<Confinement>,
    },
    /// The answer of the hook is in its entry.
    Answer(Box<HookOutput>),
}

/// Checks whether a hook may start: right before each start, and before each event of a kept process. `naming` knows the hooks above this host, `working_dir` is the executor's, and `bases` are the directories at which
/// sandboxes begin. The approval comes first: no failure policy ignores a lost one.
///
/// # Errors
/// If the hook must not start. It then fails with this failure.
pub(super) fn admit(
    hook: &Hook,
    naming: &Naming,
    working_dir: Option<&Path>,
    bases: &Bases,
) -> Result<Admitted, Failure> {
    approved(hook)?;
    // A condition on a missing value has not been tested. What is wrong with it is kept as the fault of the hook.
    let _ = hook.check_form_of_when();
    hook.usable()?;
    if let HookCommand::Answer(output) = hook.action() {
        return Ok(Admitted::Answer(output.clone()));
    }
    let checked = naming.chain().check(hook.fingerprint());
    checked.map_err(|error| Failure::new(FailureKind::Circular, error.to_string()))?;
    let (base, working_dir) = working_dir_of(hook, working_dir)?;
    let confinement = bases.confinement(hook, &base, &working_dir)?;
    Ok(Admitted::Start {
        working_dir,
        confinement,
    })
}

/// Checks that the approved content is unchanged.
fn approved(hook: &Hook) -> Result<(), Failure> {
    let Some(approval) = hook.approval() else {
        return Ok(());
    };
    // The check reads files of a project, which may be in any state.
    let lost = catch_unwind(AssertUnwindSafe(|| approval.lost(hook)));
    let panicked = |_| Some("the check of the hook's approval panicked".to_owned());
    match lost.unwrap_or_else(panicked) {
        None => Ok(()),
        Some(why) => Err(Failure::new(FailureKind::ApprovalLost, why)),
    }
}

/// Returns the hook's base, which is its project's root, else the executor's working directory, else the host's current
/// directory; and its working directory, which may be relative to the base.
fn working_dir_of(hook: &Hook, of_executor: Option<&Path>) -> Result<(PathBuf, PathBuf), Failure> {
    let own = hook.working_dir();
    let absolute = own.filter(|path| path.is_absolute());
    let base = match (hook.base_dir().or(of_executor), absolute) {
        (Some(base), _) => base.to_owned(),
        // No path is relative to this base.
        (None, Some(path)) => path.ancestors().last().unwrap_or(path).to_owned(),
        (None, None) => std::env::current_dir().map_err(|error| {
            let why = match error.kind() {
                ErrorKind::NotFound => "it was removed".to_owned(),
                _ => error.to_string(),
            };
            let message = format!("working directory of the host cannot be used: {why}");
            Failure::new(FailureKind::NoWorkingDir, message)
        })?,
    };
    let working_dir = match own {
        Some(own) => base.join(own),
        None => base.clone(),
    };
    Ok((base, working_dir))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::AppProfile;
    use crate::entry::FailurePolicy;
    use crate::hook::ApprovalCheck;
    use crate::json::Node;

    /// An approval that is lost for this reason; without one, the check panics.
    #[derive(Debug)]
    struct Lost(Option<&'static str>);

    impl ApprovalCheck for Lost {
        fn lost(&self, _hook: &Hook) -> Option<String> {
            Some(self.0.unwrap().to_owned())
        }
    }

    #[test]
    fn the_approval_comes_first() {
        let naming = Naming::new(AppProfile::default(), None);
        let kind = |hook: &Hook| {
            admit(hook, &naming, None, &Bases::new(None))
                .err()
                .map(|failure| failure.kind)
        };
        let hook = Hook::new("*", "true").unwrap();
        let hook = hook.with_on_failure(FailurePolicy::Continue);
        assert_eq!(kind(&hook), None);
        // Each hook also fails for a reason that its policy ignores.
        let unusable = Hook::placeholder("no").with_on_failure(FailurePolicy::Continue);
        assert_eq!(kind(&unusable), Some(FailureKind::Misconfigured));
        for hook in [hook, unusable] {
            let lost = hook.clone().with_approval(Arc::new(Lost(Some("changed"))));
            assert_eq!(kind(&lost), Some(FailureKind::ApprovalLost));
            let panics = hook.clone().with_approval(Arc::new(Lost(None)));
            assert_eq!(kind(&panics), Some(FailureKind::ApprovalLost));
            let gone = hook.with_lost_approval("gone");
            assert_eq!(kind(&gone), Some(FailureKind::ApprovalLost));
        }
    }

    /// The conditions of a project's hook are compiled when they are first tested.
    #[test]
    fn an_approved_condition_may_be_unusable() {
        let when = serde_json::json!({"/tool_args": {"regex": "(a{1000}){1000}"}});
        let entry = serde_json::json!({"event": "*", "command": "true", "when": when});
        let hook = Hook::read(Node::from(&entry)).ok().unwrap();
        assert!(hook.matches(&crate::HookEvent::tool_pre_execute("bash", "ls")));
        let naming = Naming::new(AppProfile::default(), None);
        let failure = admit(&hook, &naming, None, &Bases::new(None)).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Misconfigured);
    }
}
