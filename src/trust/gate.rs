//! The gates of a project's hooks, checked right before each run: the program that a hook guards may have
//! changed the hook's script after the approval.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::coverage::coverage;
use super::digest::{self, Budget};
use super::findings::Kind;
use super::place::Project;
use crate::hook::{Gate, GateVerdict, Hook};

/// The gate of an approved hook: its files must be unchanged. The hook itself cannot have changed, because it
/// is the one that was loaded.
#[derive(Debug)]
pub(super) struct Unchanged {
    project: Arc<Project>,
    files: BTreeMap<String, Option<String>>,
}

impl Unchanged {
    pub(super) fn new(project: &Arc<Project>, files: &[(String, Option<String>)]) -> Self {
        Self {
            project: Arc::clone(project),
            files: files.iter().cloned().collect(),
        }
    }

    /// Returns each file that differs from what was approved, and the difference.
    pub(super) fn differences(&self, hook: &Hook) -> Vec<(String, &'static str)> {
        let now = coverage(&self.project, hook).files;
        let mut budget = Budget::new();
        let mut differences = Vec::new();
        for (file, before) in &self.files {
            let kind = now.get(file).copied().unwrap_or(Kind::Named);
            let what = match (
                digest::of(&self.project.root, file, kind, &mut budget),
                before,
            ) {
                (Ok(now), before) if now == *before => continue,
                (Ok(None), _) => "is gone",
                (Ok(Some(_)), None) => "has appeared",
                (Ok(Some(_)), Some(_)) => "has changed",
                (Err(_), _) => "cannot be read",
            };
            differences.push((file.clone(), what));
        }
        for (file, kind) in &now {
            // A file that cannot be read was a reason for a partial approval.
            if !self.files.contains_key(file)
                && let Ok(Some(_)) = digest::of(&self.project.root, file, *kind, &mut budget)
            {
                let what = "has become a script that the command may run";
                differences.push((file.clone(), what));
            }
        }
        differences
    }
}

/// Hashes the content of the files, because times and sizes can be forged.
impl Gate for Unchanged {
    fn check(&self, hook: &Hook) -> GateVerdict {
        let base = hook.base_dir().map(Path::canonicalize);
        if base.is_some_and(|base| base.ok().as_deref() != Some(&*self.project.root)) {
            let why = "the project has been moved since the hook was loaded";
            return GateVerdict::ApprovalLost(why.to_owned());
        }
        match self.differences(hook).first() {
            None => GateVerdict::Run,
            Some((file, what)) => {
                GateVerdict::ApprovalLost(format!("`{file}` {what} since the hook was approved"))
            }
        }
    }
}

/// The gate of a hook that must not run.
#[derive(Debug)]
pub(super) struct Refused(pub(super) GateVerdict);

impl Refused {
    /// Creates the gate of a hook whose approval does not apply any more.
    pub(super) fn lost(why: &str) -> Arc<Self> {
        Arc::new(Self(GateVerdict::ApprovalLost(why.to_owned())))
    }
}

impl Gate for Refused {
    fn check(&self, _hook: &Hook) -> GateVerdict {
        self.0.clone()
    }
}
