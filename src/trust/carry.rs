//! Approvals of hooks that a person has edited: what was approved as it stood stays approved.
//!
//! Knows nothing of files of hooks.

use std::collections::HashSet;
use std::path::Path;

use super::store::refuse_within_hook;
use super::{Approved, Project, TrustError, TrustStore, approve, canonical_root, digest_of};
use crate::hook::{GateVerdict, Hook};

/// A hook of a project before and after; none before for a new one, none after for one that was removed.
pub(crate) struct Edit<'a> {
    pub(crate) old: Option<&'a Hook>,
    pub(crate) new: Option<&'a Hook>,
}

/// What edits change in a store.
pub(crate) struct CarriedOver {
    root: String,
    /// The digests of definitions that are not there any more.
    gone: HashSet<String>,
    new: Vec<Approved>,
}

impl TrustStore {
    /// Looks at the edits of a project's hooks, and at the files that the hooks run.
    pub(crate) fn carried_over(
        &self,
        root: &Path,
        edits: &[Edit<'_>],
    ) -> Result<CarriedOver, TrustError> {
        refuse_within_hook()?;
        let judged = self.judged(root)?;
        let root = canonical_root(root)?;
        let project = Project::at(&root);
        let digest = |hook: &Hook| digest_of(&hook.to_json());
        let stays: HashSet<String> = edits.iter().filter_map(|it| it.new).map(digest).collect();
        let mut carried = CarriedOver {
            root: root.to_string_lossy().into_owned(),
            gone: HashSet::new(),
            new: Vec::new(),
        };
        for Edit { old, new } in edits {
            let Some(old) = old else { continue };
            let old_digest = digest(old);
            let is_same = new.is_some_and(|new| digest(new) == old_digest);
            // Files that have changed since are not approved on the way.
            if is_same || judged.judge(Hook::clone(old)).1 != GateVerdict::Run {
                continue;
            }
            if !stays.contains(&old_digest) {
                carried.gone.insert(old_digest);
            }
            if let Some(new) = new {
                carried.new.push(approve(&project, new));
            }
        }
        Ok(carried)
    }

    /// Writes what [`carried_over`](Self::carried_over) has found.
    pub(crate) fn carry_over(&self, carried: CarriedOver) -> Result<(), TrustError> {
        if carried.gone.is_empty() && carried.new.is_empty() {
            return Ok(());
        }
        self.change(|projects| {
            let Some(approved) = projects.get_mut(&carried.root) else {
                return;
            };
            approved.retain(|it| !carried.gone.contains(&it.digest));
            // What is approved with other files stays so.
            let known: HashSet<String> = approved.iter().map(|it| it.digest.clone()).collect();
            let is_new = |it: &Approved| !known.contains(&it.digest);
            approved.extend(carried.new.into_iter().filter(is_new));
        })
    }
}
