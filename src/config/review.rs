//! The review of a project's hooks by a person: the hooks as the files have them now, compared with their approval.

use std::path::Path;

use super::HookConfig;
use super::content::Loaded;
use super::report::LoadReport;
use crate::hook::Hook;
use crate::trust::{Approval, TrustError, TrustStore};

/// A project's hooks, compared with their approval.
#[cfg_attr(not(feature = "cli"), expect(dead_code))]
pub(crate) struct Review {
    pub(crate) store: TrustStore,
    pub(crate) approval: Approval,
    /// True if hooks were approved before.
    pub(crate) has_approval: bool,
    /// The number of approved hooks of other agents, whose files were not read.
    pub(crate) unread: usize,
    /// The problems of the project's files. While there are errors, nothing can be approved.
    pub(crate) report: LoadReport,
}

impl HookConfig {
    /// Reads a project's files, and compares their hooks with their approval.
    pub(crate) fn review(&self, store: TrustStore, root: &Path) -> Result<Review, TrustError> {
        let all = store.approved_hooks(root)?.into_iter();
        let (before, unread): (Vec<_>, Vec<_>) = all.partition(|approved| self.reads(approved));
        let files = self.read_files_of_project(root);
        let mut report = LoadReport::default();
        files.iter().for_each(|file| file.add_to(&mut report));
        let hooks: Vec<Hook> = files.iter().flat_map(Loaded::hooks).cloned().collect();
        Ok(Review {
            approval: Approval::since(&before, root, &hooks)?,
            has_approval: !before.is_empty(),
            unread: unread.len(),
            report,
            store,
        })
    }
}

impl Review {
    /// Returns whether all hooks are approved as they are.
    pub(crate) fn is_approved(&self) -> bool {
        self.approval.changes.is_empty() && self.report.is_ok()
    }

    /// Approves the hooks. Approvals of hooks that were not read stay.
    pub(crate) fn approve(&self, config: &HookConfig) -> Result<(), TrustError> {
        let is_kept = |approved: &_| !config.reads(approved);
        self.store.approve_beside(&self.approval, is_kept)
    }
}
