//! The gates of a project's hooks, asked right before each run: the very program that a hook guards
//! may have edited the script since.

use std::path::{Path, PathBuf};

use super::{HookTrust, digest};
use crate::hook::{Gate, GateVerdict, Hook};

/// Approved, if the files are still what they were. The hook itself cannot have changed: it is the
/// one that was loaded.
#[derive(Debug)]
pub(super) struct Unchanged {
    root: PathBuf,
    files: Vec<(String, Option<String>)>,
}

impl Unchanged {
    pub(super) fn new(root: &Path, files: &[(String, Option<String>)]) -> Self {
        Self {
            root: root.to_owned(),
            files: files.to_vec(),
        }
    }
}

/// Content is hashed, for times and sizes can be forged.
impl Gate for Unchanged {
    fn check(&self, hook: &Hook) -> GateVerdict {
        let base = hook.base_dir().map(Path::canonicalize);
        if base.is_some_and(|base| base.ok().as_deref() != Some(&*self.root)) {
            let why = "the project is not where it was when the hook was loaded";
            return GateVerdict::ApprovalLost(why.to_owned());
        }
        let changed = self.files.iter().find_map(|(file, before)| {
            let what = match (digest::of(&self.root, file), before) {
                (Ok(now), before) if now == *before => return None,
                (Ok(None), _) => "is gone",
                (Ok(Some(_)), None) => "has appeared",
                (Ok(Some(_)), Some(_)) => "has changed",
                (Err(_), _) => "cannot be read",
            };
            Some(format!("`{file}` {what} since the hook was approved"))
        });
        changed.map_or(GateVerdict::Run, GateVerdict::ApprovalLost)
    }
}

#[derive(Debug)]
pub(super) struct NeverApproved;

impl Gate for NeverApproved {
    fn check(&self, _hook: &Hook) -> GateVerdict {
        GateVerdict::NotApproved("it comes from a project and has not been approved".to_owned())
    }
}

#[derive(Debug)]
pub(super) struct Vanished;

impl Gate for Vanished {
    fn check(&self, _hook: &Hook) -> GateVerdict {
        let why = "it was approved, and has been changed in its file, or is gone from it";
        GateVerdict::ApprovalLost(why.to_owned())
    }
}

#[derive(Debug)]
pub(super) struct Lost(pub(super) String);

impl Gate for Lost {
    fn check(&self, _hook: &Hook) -> GateVerdict {
        GateVerdict::ApprovalLost(self.0.clone())
    }
}

impl From<GateVerdict> for HookTrust {
    fn from(verdict: GateVerdict) -> Self {
        match verdict {
            GateVerdict::Run => Self::Approved,
            GateVerdict::NotApproved(_) => Self::NotApproved,
            GateVerdict::ApprovalLost(why) => Self::Lost(why),
        }
    }
}
