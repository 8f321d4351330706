//! The decision of a hook's result: the table of results that block (docs/protocol.md).
//!
//! The verdict follows from the end, the answer and the policy of the hook, and from the host's way of handling answers. It
//! is set with the answer, and once more by the user's answer to its question.

use crate::entry::{Decision, FailureKind, HookOutput};
use crate::hook::Hook;

/// A host's way of handling the answers of hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Handles {
    /// The host asks its user.
    pub(crate) ask: bool,
    /// The host applies changes of the input.
    pub(crate) updates: bool,
    /// A hook that could not decide does not block: a block would let an agent work on that has ended its turn.
    pub(crate) only_decisions: bool,
}

/// The decision of a result about the operation, with its effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The hook has no objection.
    Allows,
    /// The hook explicitly allows the operation, or the user has said yes to its question.
    Grants,
    /// The hook has failed, and the failure is ignored: by its policy, by the host, or since the hook runs in the background.
    Forgiven,
    /// The hook asks the user. `is_open`: the host handles questions.
    Asks {
        is_open: bool,
    },
    /// The hook ends the turn, and does not deny the operation.
    Stops,
    /// The hook allows the operation with another input, and the host does not apply changes.
    ChangesInput,
    Blocks,
    /// The hook is not enforced: its decision has no effect, and `would` is the decision that would count.
    Observed {
        would: Decision,
    },
}

impl Verdict {
    /// Returns the verdict that follows from the failure and the answer of a hook.
    pub(super) fn of(
        hook: &Hook,
        failure: Option<FailureKind>,
        output: Option<&HookOutput>,
        handles: Handles,
    ) -> Self {
        let verdict = Self::enforced(hook, failure, output, handles);
        let is_of_its_run = failure.is_none_or(FailureKind::is_of_its_run);
        match verdict {
            _ if hook.enforce() || !is_of_its_run => verdict,
            // A stop does not deny the operation, but the host would not continue.
            Self::Stops => Self::Observed {
                would: Decision::Block,
            },
            verdict => Self::Observed {
                would: verdict.decision(),
            },
        }
    }

    fn enforced(
        hook: &Hook,
        failure: Option<FailureKind>,
        output: Option<&HookOutput>,
        handles: Handles,
    ) -> Self {
        // The host does not wait for a hook in the background.
        let output = output.filter(|_| !hook.background());
        match (failure, output.map(HookOutput::strictest)) {
            (Some(failure), _) if hook.forgives(failure) => Self::Forgiven,
            (Some(failure), _) if handles.only_decisions && failure != FailureKind::Exit => {
                Self::Forgiven
            }
            (Some(_), _) | (None, Some(Decision::Block)) => Self::Blocks,
            // A change and a question have lower priority than a stop, since they would block.
            _ if output.is_some_and(|output| output.stops_turn) => Self::Stops,
            // The user's yes would apply to the changed input.
            _ if !handles.updates && output.is_some_and(HookOutput::changes_input) => {
                Self::ChangesInput
            }
            (None, Some(Decision::Ask)) => Self::Asks {
                is_open: handles.ask,
            },
            _ if output.is_some_and(|output| output.decision.is_some()) => Self::Grants,
            _ => Self::Allows,
        }
    }

    pub(super) fn decision(self) -> Decision {
        match self {
            Self::Allows | Self::Grants | Self::Forgiven | Self::Stops | Self::Observed { .. } => {
                Decision::Allow
            }
            Self::Asks { .. } => Decision::Ask,
            Self::Blocks | Self::ChangesInput => Decision::Block,
        }
    }

    /// Returns whether the operation may continue.
    pub(super) fn continues(self) -> bool {
        match self {
            Self::Allows | Self::Grants | Self::Forgiven | Self::Observed { .. } => true,
            Self::Asks { .. } | Self::Stops | Self::ChangesInput | Self::Blocks => false,
        }
    }

    /// Returns the decision that would count, if the hook is not enforced.
    pub(super) fn would(self) -> Option<Decision> {
        match self {
            Self::Observed { would } => Some(would),
            _ => None,
        }
    }

    /// Returns whether the verdict waits for the answer of the host's user.
    pub(super) fn is_open_question(self) -> bool {
        self == Self::Asks { is_open: true }
    }
}
