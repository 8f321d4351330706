//! The reasons why a hook failed, or did not run.
//!
//! Knows which failures can be ignored, not how they happen.

use std::fmt;

use super::named::named;
use super::parts::FailurePolicy;

/// Why a hook failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// It ended with an exit code other than 0.
    Exit,
    /// A signal ended it (Unix).
    Signal,
    /// It was still running at its deadline, and was killed with everything it had started.
    TimedOut,
    /// Its command, program, interpreter or working directory does not exist; also exit code 127.
    NotFound,
    /// Its command is not executable; also exit code 126.
    NotExecutable,
    /// The operating system could not start it, for example because no process or memory was left.
    NotStarted,
    /// A value of the event is too large for an environment variable and is in a file, and the hook is a guard
    /// that may read only the variable. Or, for any hook, a value is nested deeper than 128 levels. Or the line
    /// for a resident hook is longer than 16 MiB.
    EventTooLarge,
    /// Its entry in hooks.json, or the file, cannot be used; see
    /// [`HookConfig::load_into`](crate::HookConfig::load_into).
    Misconfigured,
    /// Its answer is [invalid](crate::docs::protocol#json), on an event that can be blocked. A hook that
    /// [withholds](crate::FailurePolicy::Withhold): its output is not an answer. A
    /// [resident](crate::Hook::with_resident) hook: it has not answered this event.
    InvalidAnswer,
    /// It ended, but another part of the host took its exit status (a handler that reaps all
    /// children, or an ignored `SIGCHLD`).
    StatusLost,
    /// The engine itself failed. Please report it.
    Panicked,
    /// It is already running: its command started this host, and an event of this host would run it
    /// again. Or eight nested hooks are running, each started through the one before it.
    Circular,
    /// It was approved, and has changed since then: see [`TrustStore`](crate::trust::TrustStore).
    ApprovalLost,
    /// It was stopped, or never started, because the host cancelled it or dropped its executor;
    /// [`HookResult::started`](crate::HookResult::started) says which.
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
    /// Whether this crate or one of its limits has caused the failure, and not the hook.
    pub(crate) fn is_of_the_engine(self) -> bool {
        matches!(
            self,
            Self::EventTooLarge | Self::StatusLost | Self::Panicked
        )
    }

    /// Returns whether the operation may continue in spite of this failure: if the policy is `Continue`. Two
    /// failures are never ignored. The decision of a cancelled hook is not known, and the host that cancelled
    /// it does not want to continue. A hook that changed after its approval is not trusted to say what its
    /// failures mean.
    #[must_use]
    pub fn continues_under(self, policy: FailurePolicy) -> bool {
        match self {
            Self::Cancelled | Self::ApprovalLost => false,
            _ => policy == FailurePolicy::Continue,
        }
    }
}

/// The reason why a hook for this event was skipped, without a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SkipReason {
    /// It comes from a project and is not approved: see [`TrustStore`](crate::trust::TrustStore).
    NotApproved,
}

/// How a [resident](crate::Hook::with_resident) hook got an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Residency {
    /// Its process was already running.
    Kept,
    /// Its process was started for this event.
    Started,
    /// Its process was started for this event, to replace one that had failed, was old, or was
    /// started from other files.
    Replaced,
    /// Its process ran for this event only: it has failed repeatedly, there are too many kept
    /// processes, or the platform does not support them.
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
