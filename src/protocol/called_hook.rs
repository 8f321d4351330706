//! The protocol's view of the hook that it starts.

use crate::entry::{HookCommand, Options};

/// The hook of a [`Call`](super::Call).
#[derive(Clone, Copy)]
pub(crate) struct CalledHook<'a> {
    pub(crate) command: &'a HookCommand,
    pub(crate) options: &'a Options,
    /// The hook's fingerprint, by which a host below it recognizes the hook.
    pub(crate) fingerprint: u64,
    /// True if the hook runs because a person has approved it: it may use nothing that the approval does not cover.
    pub(crate) is_approved: bool,
    /// True if the hook runs in a sandbox.
    pub(crate) is_confined: bool,
}
