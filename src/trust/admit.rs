//! The approvals of a project, while its hooks are loaded: each approved hook gets the check that compares it with its
//! approval.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::approval::{Approved, digest_of, source_of};
use super::covered::{Project, RULES, covered, refused_part};
use super::unchanged::{Unchanged, with_command};
use crate::hook::Hook;
use crate::json::Node;

const VANISHED: &str = "it was approved, but its entry was changed or removed since";

/// The approval status of a project's hook. The text is for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ApprovalStatus {
    /// The hook is as a person has approved it.
    Approved,
    /// The hook was never approved. It is not registered, and the host continues without it.
    NotApproved,
    /// The hook has changed since it was approved. It fails, and blocks if the event can be blocked.
    Lost(String),
}

/// The approvals of a project, used while its hooks are loaded.
pub(crate) struct ProjectApprovals {
    project: Arc<Project>,
    /// The project while its hooks are loaded.
    loaded: Project,
    /// The approved hooks by their digests. Several files may have the same entry.
    approved: HashMap<String, Vec<Approved>>,
    /// The command with which a person approves, if it is known.
    command: Option<Arc<str>>,
}

impl ProjectApprovals {
    pub(super) fn new(root: &Path, approved: Vec<Approved>) -> Self {
        let mut by_digest: HashMap<String, Vec<Approved>> = HashMap::new();
        for hook in approved {
            by_digest.entry(hook.digest.clone()).or_default().push(hook);
        }
        Self {
            project: Arc::new(Project::at(root)),
            loaded: Project::once(root),
            approved: by_digest,
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

    /// Returns whether any hook of the project was ever approved.
    pub(crate) fn knows_project(&self) -> bool {
        !self.approved.is_empty()
    }

    fn approved(&self, hook: &Hook) -> Option<&Approved> {
        // Usually a project has no approvals at all.
        if !self.knows_project() {
            return None;
        }
        let same = self.approved.get(&digest_of(&hook.behavior()))?;
        let source = source_of(hook);
        let of_file = same.iter().find(|approved| approved.source == source);
        of_file.or(same.first())
    }

    /// Returns the hook in the form in which it is registered, compared with its approval before each run, and the
    /// approval's current status.
    pub(crate) fn admit(&self, hook: Hook) -> (Hook, ApprovalStatus) {
        let Some(approved) = self.approved(&hook) else {
            return (hook, ApprovalStatus::NotApproved);
        };
        // By the present rules, such a hook is refused before a person approves.
        if approved.rules != RULES
            && let named = covered(&self.loaded, &hook, &|_| false)
            && let Some(part) = refused_part(&hook, &named)
        {
            let why = format!(
                "it may run files that no approval covers any more (`{part}`): list the files that it runs in its `inputs`"
            );
            let why = with_command(why, self.command.as_deref());
            return (
                hook.with_lost_approval(why.clone()),
                ApprovalStatus::Lost(why),
            );
        }
        let check = Unchanged::new(&self.project, &approved.files, approved.rules);
        let check = Arc::new(check.with_command(&self.command));
        let status = match check.first_look(&self.loaded, &hook) {
            None => ApprovalStatus::Approved,
            Some(why) => ApprovalStatus::Lost(why),
        };
        (hook.with_approval(check), status)
    }

    /// Returns the approved hooks that are not among these. Each fails: one of them may have been a guard.
    /// `whole` gives a hook the protocol that it had; None if such hooks are not loaded, so that none is missed.
    pub(crate) fn vanished<'a>(
        &self,
        hooks: impl Iterator<Item = &'a Hook>,
        whole: impl Fn(Hook, Option<&Value>) -> Option<Hook>,
    ) -> Vec<Hook> {
        let present: HashSet<String> = hooks.map(|hook| digest_of(&hook.behavior())).collect();
        let all = self.approved.values().filter_map(|same| same.first());
        let mut gone: Vec<&Approved> = all
            .filter(|approved| !present.contains(&approved.digest))
            .collect();
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
                .and_then(|object| object.remove("protocol"));
            // An approval that cannot be read may have been that of any guard.
            let hook = Hook::read(Node::from(&definition));
            let hook = hook.unwrap_or_else(|_| Hook::placeholder(VANISHED));
            if let Some(mut hook) = whole(hook, own.as_ref()) {
                // The label of another program's hook contains its place, which is not part of its definition.
                if hook.label() != label {
                    hook = hook.with_description(label.clone());
                }
                let why = with_command(VANISHED.to_owned(), self.command.as_deref());
                hooks.push(hook.with_lost_approval(why));
            }
        }
        hooks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the status of a hook that the last version has approved, with these files.
    fn status(command: &str, inputs: &[&str]) -> ApprovalStatus {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::write(root.join("data.txt"), "1").unwrap();
        let hook = Hook::new("*", command)
            .unwrap()
            .with_inputs(inputs.iter().copied());
        let approved = Approved {
            definition: hook.to_json(),
            digest: digest_of(&hook.behavior()),
            label: hook.label().to_owned(),
            source: String::new(),
            files: Vec::new(),
            rules: 1,
            written: None,
            notes: Vec::new(),
        };
        let approvals = ProjectApprovals::new(&root, vec![approved]).with_command("trust it");
        approvals.admit(hook).1
    }

    #[test]
    fn an_approval_of_the_last_version_counts_where_nothing_is_new() {
        assert_eq!(status("make check", &[]), ApprovalStatus::Approved);
        for (command, inputs, expected) in [
            (
                "sh \"$X\"",
                &[][..],
                "it may run files that no approval covers any more (`\"$X\"`): list the files that it runs in its `inputs`; \
                 review the changes; to approve them: `trust it`",
            ),
            (
                "jq . data.txt",
                &[],
                "`data.txt` is newly covered since the hook was approved; if it is data, exclude it: `\"inputs\": [\"!data.txt\"]`",
            ),
        ] {
            let expected = ApprovalStatus::Lost(expected.to_owned());
            assert_eq!(status(command, inputs), expected, "{command}");
        }
        assert_eq!(status("sh \"$X\"", &["x"]), ApprovalStatus::Approved);
    }
}
