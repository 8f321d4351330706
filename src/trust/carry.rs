//! Keeps approvals when a person edits the approved hooks.
//!
//! Knows nothing of files of hooks.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::store::refuse_within_hook;
use super::{
    Approved, Project, TrustError, TrustStore, approve, by_digest, canonical_root, digest_of,
};
use crate::hook::{GateVerdict, Hook};

/// A hook of a project before and after an edit. A new hook has no `old`, a removed one no `new`.
pub(crate) struct Edit<'a> {
    pub(crate) old: Option<&'a Hook>,
    pub(crate) new: Option<&'a Hook>,
}

/// The changes of a store that keep the approvals of edited hooks.
pub(crate) struct CarriedOver {
    root: String,
    changes: Vec<Change>,
    /// The digests of the definitions after the edits.
    stays: HashSet<String>,
}

/// An approval, and its replacement; none if its hook was removed.
struct Change {
    old: Approved,
    new: Option<Approved>,
}

impl TrustStore {
    /// Computes the changes for these edits of a project's hooks, with the files that the hooks run.
    pub(crate) fn carried_over(
        &self,
        root: &Path,
        edits: &[Edit<'_>],
    ) -> Result<CarriedOver, TrustError> {
        refuse_within_hook()?;
        let approvals = self.approvals(root)?;
        let root = canonical_root(root)?;
        let project = Project::at(&root);
        let digest = |hook: &Hook| digest_of(&hook.to_json());
        let mut changes = Vec::new();
        for Edit { old, new } in edits {
            let Some(old) = old else { continue };
            let old_digest = digest(old);
            let Some(approved) = approvals.approved.get(&old_digest) else {
                continue;
            };
            let new = match new {
                None => None,
                Some(new) => {
                    let is_same = digest(new) == old_digest;
                    // An edit does not approve files that have changed since.
                    if is_same || approvals.set_gate(Hook::clone(old)).1 != GateVerdict::Run {
                        continue;
                    }
                    Some(approve_as(&project, new, approved))
                }
            };
            changes.push(Change {
                old: approved.clone(),
                new,
            });
        }
        Ok(CarriedOver {
            root: root.to_string_lossy().into_owned(),
            changes,
            stays: edits.iter().filter_map(|it| it.new).map(digest).collect(),
        })
    }

    /// Writes the changes that [`carried_over`](Self::carried_over) has computed, except of approvals that have
    /// changed since.
    pub(crate) fn carry_over(&self, carried: CarriedOver) -> Result<(), TrustError> {
        if carried.changes.is_empty() {
            return Ok(());
        }
        self.change(|projects| {
            let Some(approved) = projects.get_mut(&carried.root) else {
                return;
            };
            let mut known = by_digest(approved.iter().cloned());
            let mut gone = HashSet::new();
            for Change { old, new } in carried.changes {
                if known.get(&old.digest) != Some(&old) {
                    continue;
                }
                if !carried.stays.contains(&old.digest) {
                    gone.insert(old.digest);
                }
                // An approval of the same hook with other files stays.
                if let Some(new) = new
                    && !known.contains_key(&new.digest)
                {
                    known.insert(new.digest.clone(), new.clone());
                    approved.push(new);
                }
            }
            approved.retain(|it| !gone.contains(&it.digest));
        })
    }
}

/// Returns the approval of an edited hook. For files that were approved before, it has their old digests: a
/// file may have changed since they were compared.
fn approve_as(project: &Project, hook: &Hook, before: &Approved) -> Approved {
    let mut approved = approve(project, hook);
    let before: HashMap<_, _> = before.files.iter().cloned().collect();
    for (file, digest) in &mut approved.files {
        if let Some(before) = before.get(file) {
            digest.clone_from(before);
        }
    }
    approved
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Approval;
    use super::*;

    #[test]
    fn what_changes_meanwhile_is_not_approved() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let store = TrustStore::new(root.join("trust.json"));
        fs::write(root.join("check.sh"), "exit 0").unwrap();
        let hook = |command| Hook::new("*", command).unwrap();
        let old = hook("sh check.sh");
        let new = old.clone().with_name("new");
        let approve = |hook: &Hook| store.approve(&Approval::of(root, [hook]).unwrap()).unwrap();
        let carried = || {
            let (old, new) = (Some(&old), Some(&new));
            store.carried_over(root, &[Edit { old, new }]).unwrap()
        };
        let verdict = || store.status(root, [&new]).unwrap().remove(0);

        approve(&old);
        let edited = carried();
        approve(&hook("echo other"));
        store.carry_over(edited).unwrap();
        assert!(matches!(verdict(), GateVerdict::NotApproved(_)));

        approve(&old);
        let edited = carried();
        fs::write(root.join("check.sh"), "exit 1").unwrap();
        store.carry_over(edited).unwrap();
        assert!(matches!(verdict(), GateVerdict::ApprovalLost(_)));

        let project = Project::at(&canonical_root(root).unwrap());
        let before = store.approved(root).unwrap().remove(0);
        assert_eq!(approve_as(&project, &old, &before).files, before.files);
    }
}
