//! Why a hook failed, or did not run.
//!
//! Knows which failures a hook may be forgiven, not how one comes about.

use std::fmt;

use crate::hook::{FailurePolicy, named};

/// Why a hook failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// It ended with an exit code other than 0.
    Exit,
    /// A signal ended it (Unix).
    Signal,
    /// It had not ended at its deadline, and was killed with everything it had started.
    TimedOut,
    /// Its command, program, interpreter or working directory does not exist; also exit code 127.
    NotFound,
    /// Its command may not be executed, or cannot be; also exit code 126.
    NotExecutable,
    /// The operating system could not start it: no processes or no memory left, say.
    NotStarted,
    /// A value of the event is too large for an environment variable, and the hook is a guard that
    /// would not have seen it. Or a value is nested deeper than 128 levels, whatever the hook is.
    EventTooLarge,
    /// Its entry in hooks.json, or the file, cannot be used; see
    /// [`HookConfig::load_into`](crate::HookConfig::load_into).
    Misconfigured,
    /// It answered on an event that can block, and its answer cannot be used: what it wrote to its
    /// standard output begins with `{`, and is no whole [`HookOutput`](crate::HookOutput). Or it is a
    /// [resident](crate::Hook::with_resident) hook, and has not answered this event.
    InvalidAnswer,
    /// It ended, but another part of the host took its exit status away (a handler that reaps
    /// all children, or an ignored `SIGCHLD`).
    StatusLost,
    /// The engine itself failed. Please report it.
    Panicked,
    /// It is running already: by what it runs it has started this host, whose event would run it
    /// again. Or eight hooks are running, each started by what the one before it runs.
    Circular,
    /// It was approved, and is not any more what was approved: see
    /// [`TrustStore`](crate::TrustStore).
    ApprovalLost,
    /// It was stopped, or never came to its turn, because the host cancelled it or its executor is
    /// gone; [`HookResult::started`](crate::HookResult::started) tells which.
    Cancelled,
}

named!(FailureKind {
    Exit = "exit",
    Signal = "signal",
    TimedOut = "timed_out",
    NotFound = "not_found",
    NotExecutable = "not_executable",
    NotStarted = "not_started",
    EventTooLarge = "event_too_large",
    Misconfigured = "misconfigured",
    InvalidAnswer = "invalid_answer",
    StatusLost = "status_lost",
    Panicked = "panicked",
    Circular = "circular",
    ApprovalLost = "approval_lost",
    Cancelled = "cancelled",
});

impl FailureKind {
    /// Whether this crate has failed, or a limit of it: a hook's own tool would have heard the hook.
    pub(super) fn is_of_the_engine(self) -> bool {
        matches!(
            self,
            Self::EventTooLarge | Self::StatusLost | Self::Panicked
        )
    }

    /// Whether the operation may go on in spite of this failure. One rule for all causes, with two
    /// exceptions. Of a hook that was cancelled nobody can say what it would have answered, and
    /// whoever cancelled it does not want to go on. And of one that has been changed since it was
    /// approved, what it says of its failures is no more to be trusted than the rest.
    #[must_use]
    pub fn continues_under(self, policy: FailurePolicy) -> bool {
        match self {
            Self::Cancelled | Self::ApprovalLost => false,
            _ => policy == FailurePolicy::Continue,
        }
    }
}

/// Why a hook was not run although it was for the event, and nothing failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SkipReason {
    /// It comes from a project, and nobody has approved it: see [`TrustStore`](crate::TrustStore).
    NotApproved,
}

/// How a [resident](crate::Hook::with_resident) hook got an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Residency {
    /// Its process was there.
    Kept,
    /// Its process was started for this event.
    Started,
    /// The same, in the place of one that had failed, was old, or was started from other files.
    Replaced,
    /// It ran for this event alone: it has failed again and again, there are too many such processes,
    /// or the platform keeps none.
    OneShot,
}

named!(Residency {
    Kept = "kept",
    Started = "started",
    Replaced = "replaced",
    OneShot = "one_shot",
});

named!(SkipReason {
    NotApproved = "not_approved",
});
