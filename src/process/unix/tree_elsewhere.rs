//! Replaces `tree.rs` on systems without Linux's `/proc`. Only the hook's process group is ended. The rest of the tree is
//! invisible, so the whole grace period is waited for.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};

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

/// Returns whether the leader is stopped, since the rest of the group cannot be checked.
pub(super) fn group_is_stopped(leader: Pid) -> bool {
    let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::Pid(leader), options), Ok(Some(_)))
}
