//! The approvals of a project, while its hooks are loaded: each hook gets its gate.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::approval::{Approved, digest_of, source_of};
use super::covered::Project;
use super::gate::{Unchanged, with_command};
use crate::hook::{Gate, GateVerdict, Hook};

const NOT_APPROVED: &str = "it comes from a project and has not been approved";
const VANISHED: &str = "it was approved, but its entry was changed or removed since";

/// The gate of a hook that must not run.
#[derive(Debug)]
struct Refused(GateVerdict);

impl Refused {
    /// Creates the gate of a hook whose approval does not apply any more.
    fn lost(why: &str) -> Arc<Self> {
        Arc::new(Self(GateVerdict::ApprovalLost(why.to_owned())))
    }
}

impl Gate for Refused {
    fn check(&self, _hook: &Hook) -> GateVerdict {
        self.0.clone()
    }
}

/// The approvals of a project, used while its hooks are loaded.
pub(crate) struct ProjectApprovals {
    project: Arc<Project>,
    /// The project while it is loaded.
    loaded: Project,
    /// By their digests. Several files may have the same entry.
    approved: HashMap<String, Vec<Approved>>,
    /// The command with which a person approves, if it is known.
    command: Option<Arc<str>>,
}

impl ProjectApprovals {
    pub(super) fn new(root: &Path, approved: Vec<Approved>) -> Self {
        let mut found: HashMap<String, Vec<Approved>> = HashMap::new();
        for hook in approved {
            found.entry(hook.digest.clone()).or_default().push(hook);
        }
        Self {
            project: Arc::new(Project::at(root)),
            loaded: Project::once(root),
            approved: found,
            command: None,
        }
    }

    /// Makes the reasons of hooks that have changed name this command.
    pub(crate) fn with_command(self, command: &str) -> Self {
        Self {
            command: Some(command.into()),
            ..self
        }
    }

    /// Creates the value for a project that cannot have any approvals.
    pub(crate) fn none(root: &Path) -> Self {
        Self::new(root, Vec::new())
    }

    /// Whether any hook of the project was ever approved.
    pub(crate) fn knows_project(&self) -> bool {
        !self.approved.is_empty()
    }

    fn approved(&self, hook: &Hook) -> Option<&Approved> {
        // Usually a project has no approvals at all.
        if !self.knows_project() {
            return None;
        }
        let same = self.approved.get(&digest_of(&hook.to_json()))?;
        let source = source_of(hook);
        let of_file = same.iter().find(|it| it.source == source);
        of_file.or(same.first())
    }

    /// Sets the hook's gate, which is checked before each run, and returns the current verdict.
    pub(crate) fn set_gate(&self, hook: Hook) -> (Hook, GateVerdict) {
        let Some(approved) = self.approved(&hook) else {
            let verdict = GateVerdict::NotApproved(NOT_APPROVED.to_owned());
            let gate = Arc::new(Refused(verdict.clone()));
            return (hook.with_closed_gate(gate), verdict);
        };
        let gate =
            Arc::new(Unchanged::new(&self.project, &approved.files).with_command(&self.command));
        let verdict = gate.first_check(&self.loaded, &hook);
        (hook.with_approval(gate), verdict)
    }

    /// Returns the approved hooks that are not among these, each with a gate that refuses to run it: one of them
    /// may have been a guard.
    /// `whole` gives a hook the protocol that it had; None if such hooks are not loaded, so that none is missed.
    pub(crate) fn vanished<'a>(
        &self,
        hooks: impl Iterator<Item = &'a Hook>,
        whole: impl Fn(Hook, Option<&Value>) -> Option<Hook>,
    ) -> Vec<Hook> {
        let present: HashSet<String> = hooks.map(|hook| digest_of(&hook.to_json())).collect();
        let all = self.approved.values().filter_map(|same| same.first());
        let mut gone: Vec<&Approved> = all.filter(|it| !present.contains(&it.digest)).collect();
        gone.sort_by_key(|approved| &approved.digest);
        let mut hooks = Vec::new();
        for Approved {
            definition, label, ..
        } in gone
        {
            if definition.get("enabled") == Some(&Value::Bool(false)) {
                continue;
            }
            let mut definition = definition.clone();
            let own = definition
                .as_object_mut()
                .and_then(|it| it.remove("protocol"));
            // An approval that cannot be read may have been of any guard.
            let hook = Hook::read(&definition);
            let hook = hook.unwrap_or_else(|_| Hook::placeholder(VANISHED));
            if let Some(mut hook) = whole(hook, own.as_ref()) {
                // The label of another program's hook has its place, which is not part of its definition.
                if hook.label() != label {
                    hook = hook.with_description(label.clone());
                }
                let why = with_command(VANISHED.to_owned(), self.command.as_deref());
                hooks.push(hook.with_gate(Refused::lost(&why)));
            }
        }
        hooks
    }

    /// Returns the hook with a closed gate. For a store that cannot be used: the hook may have been approved.
    pub(crate) fn without_store(hook: Hook, why: &str) -> Hook {
        hook.with_closed_gate(Refused::lost(why))
    }
}
