//! A protocol's reading of the end of a hook.
//!
//! Knows no protocol, and not the effect on the operation, which is in `outcome`.

use super::output::HookOutput;

/// The meaning of the end of a hook. Default: nothing; the exit code decides.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct Reading {
    pub(crate) output: Option<HookOutput>,
    /// True if the answer counts regardless of the exit code. This is not so for every end: a guard that was not found (127)
    /// or was killed has checked nothing.
    pub(crate) replaces_exit_code: bool,
    /// True if standard output is for programs, even if it is not an answer: it is not shown to people as a reason.
    pub(crate) hides_stdout: bool,
    /// The reason why the answer cannot be read. The hook then fails.
    pub(crate) invalid: Option<String>,
    /// The parts of the answer that are not used, one line each, since the hook lacks the word for them. They are reported
    /// to the host's user.
    pub(crate) unused: Vec<String>,
    /// The reasons why the hook may have checked nothing, one line each. They are reported to its author, and also to the
    /// host's user if the hook neither blocks nor asks.
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
