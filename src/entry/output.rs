//! The answer of a hook, in addition to its exit code.
//!
//! Knows the meaning of an answer. Its format is in `protocol`.

use std::fmt;

use serde_json::{Map, Value};

use super::named::named;

named! {
    /// The decision of a hook about the operation. `Block` has priority over `Ask`, and `Ask` over `Allow`.
    #[derive(PartialOrd, Ord)]
    pub enum Decision {
        /// The operation may continue.
        Allow = "allow",
        /// The host asks its user.
        Ask = "ask",
        /// The operation must not continue.
        Block = "block",
    }
}

impl Decision {
    /// Returns the decision that has priority.
    #[must_use]
    pub(crate) fn stricter(self, other: Self) -> Self {
        self.max(other)
    }
}

/// The JSON answer of a hook on its standard output; docs/protocol.md lists the keys. Every key is
/// optional, and most hooks do not answer. It is serialized as a hook would write it.
///
/// `Debug` shows the keys that are set, never their text: it may contain secrets.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct HookOutput {
    /// The decision about the operation. If none, the exit code decides.
    pub decision: Option<Decision>,
    /// The reason, for the user and the model.
    pub reason: Option<String>,
    /// True if the host should stop its whole turn, not only this operation.
    pub stops_turn: bool,
    /// True if stopping the turn does not deny the operation: the host stops, but the hook has not decided against the
    /// operation. Default: false; true for hooks of some other agents.
    pub only_stops: bool,
    /// The reason for stopping the turn, for the user.
    pub stop_reason: Option<String>,
    /// A message for the user.
    pub system_message: Option<String>,
    /// Context for the model.
    pub additional_context: Option<String>,
    /// Values that replace values of the tool's input, key by key.
    pub updated_input: Option<Map<String, Value>>,
    /// True if `updated_input` is the whole input, so that keys not in it are removed. Default: false; hooks of some other
    /// agents replace the whole input.
    pub replaces_input: bool,
    /// The replacement of a tool's output for the model; only on `tool:post_execute`.
    pub updated_output: Option<Value>,
    /// Feedback for the model after a tool has run.
    pub feedback: Option<String>,
}

impl HookOutput {
    /// Returns the decision. A hook that stops the turn blocks the operation too, unless it only stops.
    pub(crate) fn strictest(&self) -> Decision {
        match self.decision.unwrap_or(Decision::Allow) {
            _ if self.stops_turn && !self.only_stops => Decision::Block,
            decision => decision,
        }
    }

    /// Returns whether the answer replaces values of the input, even by equal ones.
    pub(crate) fn changes_input(&self) -> bool {
        let input = self.updated_input.as_ref();
        input.is_some_and(|input| self.replaces_input || !input.is_empty())
    }

    /// Returns whether the answer has no effect: reasons and the like count only beside a decision or a change.
    pub(crate) fn says_nothing(&self) -> bool {
        let rest = Self {
            reason: None,
            stop_reason: None,
            only_stops: false,
            replaces_input: false,
            updated_input: self.updated_input.clone().filter(|input| !input.is_empty()),
            ..self.clone()
        };
        rest == Self::default()
    }

    /// Returns the reason of an objection. The reason of an answer that allows is not an objection, regardless of the exit
    /// code.
    pub(crate) fn objection(&self) -> Option<&str> {
        let (reason, stop) = (self.reason.as_deref(), self.stop_reason.as_deref());
        match self.decision {
            Some(Decision::Block) => reason.or(stop),
            _ if self.stops_turn => stop.or(reason),
            Some(Decision::Allow) => None,
            Some(Decision::Ask) | None => reason,
        }
    }
}

impl fmt::Debug for HookOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Each field is named, so that the compiler reports one that is forgotten.
        let Self {
            decision,
            reason,
            stops_turn,
            only_stops,
            stop_reason,
            system_message,
            additional_context,
            updated_input,
            replaces_input,
            updated_output,
            feedback,
        } = self;
        let input = updated_input.as_ref();
        let keys = input.map(|input| input.keys().collect::<Vec<_>>());
        f.debug_struct("HookOutput")
            .field("decision", decision)
            .field("reason", &reason.is_some())
            .field("stops_turn", stops_turn)
            .field("only_stops", only_stops)
            .field("stop_reason", &stop_reason.is_some())
            .field("system_message", &system_message.is_some())
            .field("additional_context", &additional_context.is_some())
            .field("updated_input", &keys)
            .field("replaces_input", replaces_input)
            .field("updated_output", &updated_output.is_some())
            .field("feedback", &feedback.is_some())
            .finish()
    }
}
