//! What a protocol has read of the end of a hook.
//!
//! Knows no protocol, and not what follows for the operation: that is in `outcome`.

use super::output::HookOutput;

/// What the end of a hook means. Default: nothing; the exit code decides.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct Reading {
    pub(crate) output: Option<HookOutput>,
    /// Whether the answer counts whatever the exit code. Not for every end: a guard that was not found (127) or was
    /// killed has checked nothing.
    pub(crate) replaces_exit_code: bool,
    /// Whether standard output is meant for programs, even if it is no answer: people are not shown it as a reason.
    pub(crate) hides_stdout: bool,
    /// Why the answer cannot be read. The hook fails.
    pub(crate) invalid: Option<String>,
    /// What of the answer is not used, one line each: the hook lacks the word for it. The host's user is told.
    pub(crate) unused: Vec<String>,
    /// Why the hook may have checked nothing, one line each. Its author is told, and so is the host's user if it neither blocks
    /// nor asks.
    pub(crate) warnings: Vec<String>,
    /// Further notes for the author of the hook, one line each.
    pub(crate) notes: Vec<String>,
}

impl Reading {
    pub(crate) fn invalid(why: impl Into<String>) -> Self {
        Self {
            invalid: Some(why.into()),
            ..Self::default()
        }
    }
}
