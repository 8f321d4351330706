//! Replaces `tree.rs` on systems without Linux's `/proc`. Only the hook's process group is ended. The rest of the tree is
//! invisible, so the whole grace period is waited for.

use rustix::process::{Pid, Signal};

#[cfg(feature = "cli")]
use crate::process::Lived;

#[derive(Debug, Default)]
pub(super) struct Outside;

impl Outside {
    pub(super) fn find(&mut self, _leader: Pid) {}

    pub(super) fn signal(&mut self, _signals: &[Signal]) {}

    pub(super) fn is_gone(&self) -> bool {
        true
    }
}

pub(super) fn group_is_gone(_leader: Pid) -> bool {
    false
}

/// The rest of the group cannot be checked.
pub(super) fn group_is_stopped(_leader: Pid) -> bool {
    false
}

/// The processes above this one are not known.
#[cfg(feature = "cli")]
pub(crate) fn lineage() -> Option<Vec<Lived>> {
    None
}

#[cfg(feature = "cli")]
pub(crate) fn name_of(_process: Lived) -> Option<String> {
    None
}
