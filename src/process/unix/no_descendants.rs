//! Replaces `descendants.rs` on systems without pidfd or without Linux's `/proc`: only the hook's process
//! group is ended.

use rustix::process::{Pid, Signal};

#[derive(Debug, Default)]
pub(super) struct Descendants;

impl Descendants {
    pub(super) fn find(&mut self, _leader: Pid) {}

    pub(super) fn signal(&mut self, _signals: &[Signal]) {}

    pub(super) fn are_gone(&mut self) -> bool {
        true
    }
}
