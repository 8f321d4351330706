//! The reasons why a hook failed.
//!
//! Knows the failures that can be ignored. Does not know their causes.

use super::named::named;
use super::parts::FailurePolicy;

named! {
    /// The reason why a hook failed.
    #[non_exhaustive]
    pub enum FailureKind {
        /// The hook ended with an exit code other than 0.
        Exit = "exit",
        /// A signal ended the hook (Unix).
        Signal = "signal",
        /// The hook was still running at its deadline, and was killed with every process that it had started.
        TimedOut = "timed_out",
        /// The hook's command, program or interpreter does not exist; also exit code 127.
        NotFound = "not_found",
        /// The hook's command is not executable; also exit code 126.
        NotExecutable = "not_executable",
        /// The operating system could not start the hook, for example because no process or memory was left.
        NotStarted = "not_started",
        /// The hook's working directory does not exist any more, is not a directory, or cannot be entered.
        NoWorkingDir = "no_working_dir",
        /// The hook has a [sandbox](crate::Sandbox) that this system cannot enforce, or one with a path that does not exist.
        NoSandbox = "no_sandbox",
        /// A value of the event is too large for an environment variable, and the hook is a guard
        /// that may read only the variable. Or, for any hook, a value is nested deeper than 128 levels. Or the line
        /// for a resident hook is longer than 16 MiB.
        EventTooLarge = "event_too_large",
        /// The hook was written for another agent, and the arguments of the event's tool cannot be given the names that it
        /// reads; see [`OtherAgents::with_tool`](crate::compat::OtherAgents::with_tool).
        ArgumentsNotMapped = "arguments_not_mapped",
        /// The hook's entry in hooks.json, or the file, cannot be used; see
        /// [`HookConfig::load_into`](crate::HookConfig::load_into).
        Misconfigured = "misconfigured",
        /// The hook's answer is [invalid](crate::docs::protocol#json): a decision that cannot be read.
        InvalidAnswer = "invalid_answer",
        /// A [resident](crate::Hook::with_resident) hook ended, or closed its standard output, without an answer to
        /// this event.
        NoAnswer = "no_answer",
        /// The hook ended, but another part of the host took its exit status (a handler that reaps all children, or an
        /// ignored `SIGCHLD`).
        StatusLost = "status_lost",
        /// The engine itself failed. Please report it.
        Panicked = "panicked",
        /// The hook is already running: its command started this host, and an event of this host would run it again. Or
        /// eight nested hooks are running, each started through the one before it.
        Circular = "circular",
        /// The hook was approved, and has changed since then: see [`TrustStore`](crate::trust::TrustStore).
        ApprovalLost = "approval_lost",
        /// The result replaces those of the hooks of an event that none of them has seen: the queue was full, no thread
        /// could be started, the event was skipped, or the executor had been shut down.
        NotTaken = "not_taken",
        /// The hook was stopped, or never started, because the host cancelled it or dropped its executor;
        /// [`HookResult::started`](crate::HookResult::started) says which.
        Cancelled = "cancelled",
    }
}

/// A failure of a hook, with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    /// The message, a fragment in lower case.
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }
}

/// The cause of a failure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// The hook ended by itself, or its shell did for it.
    End,
    /// The hook's run in any other way.
    Run,
    /// A value of the event.
    Event,
    /// This crate, one of its limits, or the system under it.
    Engine,
    /// The hook's definition, or its approval.
    Definition,
    /// The host.
    Host,
}

impl FailureKind {
    /// All other questions follow from this one.
    fn cause(self) -> Cause {
        match self {
            Self::Exit | Self::Signal | Self::NotFound | Self::NotExecutable => Cause::End,
            Self::TimedOut
            | Self::NotStarted
            | Self::InvalidAnswer
            | Self::NoAnswer
            | Self::Circular => Cause::Run,
            Self::EventTooLarge | Self::ArgumentsNotMapped => Cause::Event,
            Self::NoWorkingDir | Self::NoSandbox | Self::StatusLost | Self::Panicked => {
                Cause::Engine
            }
            Self::Misconfigured | Self::ApprovalLost => Cause::Definition,
            Self::NotTaken | Self::Cancelled => Cause::Host,
        }
    }

    /// Returns whether this crate, one of its limits or the event has caused the failure, and not the hook.
    pub(crate) fn is_of_the_engine(self) -> bool {
        matches!(self.cause(), Cause::Event | Cause::Engine)
    }

    /// Returns whether the hook ended by itself, or its shell did for it, so that it may have answered.
    pub(crate) fn is_of_its_end(self) -> bool {
        self.cause() == Cause::End
    }

    /// Returns whether a value of the event has caused the failure.
    pub(crate) fn is_of_the_event(self) -> bool {
        self.cause() == Cause::Event
    }

    /// Returns whether the failure follows from the hook's run, and not from its definition or from the host. Only then does
    /// a hook that is not [enforced](crate::Hook::with_enforce) let the operation continue.
    pub(crate) fn is_of_its_run(self) -> bool {
        !matches!(self.cause(), Cause::Definition | Cause::Host)
    }

    /// Returns whether the operation may continue despite this failure: if the policy is `Continue`. Four failures are never
    /// ignored. The decision of a hook that was cancelled, or has not seen the event, is not known, and the host that
    /// cancelled it does not want to continue. A hook that changed after its approval is not trusted to define the meaning
    /// of its failures. An invalid answer is a decision, and may be a block.
    #[must_use]
    pub(crate) fn continues_under(self, policy: FailurePolicy) -> bool {
        let may_be_ignored = match self.cause() {
            Cause::Host => false,
            Cause::Definition => self != Self::ApprovalLost,
            Cause::Run => self != Self::InvalidAnswer,
            Cause::End | Cause::Event | Cause::Engine => true,
        };
        may_be_ignored && policy == FailurePolicy::Continue
    }
}
