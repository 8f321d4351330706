//! What a hook answers besides its exit code.
//!
//! Knows what an answer means, not how it is written: that is `protocol`.

use std::fmt;

use serde_json::{Map, Value};

use crate::hook::named;

/// What a hook says of the operation. Of several hooks, `Block` has priority over `Ask`, and `Ask` over
/// `Allow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Decision {
    /// It may go on.
    Allow,
    /// The host's user is to be asked.
    Ask,
    /// It may not.
    Block,
}

named!(Decision {
    Allow = "allow",
    Ask = "ask",
    Block = "block",
});

impl Decision {
    /// The one of two that has priority; `self` of two that are the same.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        match (self, other) {
            (Self::Block, _) | (Self::Ask, Self::Ask | Self::Allow) | (_, Self::Allow) => self,
            _ => other,
        }
    }
}

/// What a hook has answered as JSON on its standard output; docs/protocol.md has the keys. Nothing
/// in it is required, and most hooks answer nothing. It is serialized as a hook would write it.
///
/// `Debug` shows which parts there are, never their text: it may hold secrets.
#[derive(Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct HookOutput {
    /// What it says of the operation; the exit code, where it says nothing.
    pub decision: Option<Decision>,
    /// Why, for the user and the model.
    pub reason: Option<String>,
    /// Whether it wants the host to stop its whole turn, not only this operation.
    pub stops_turn: bool,
    /// Why it wants that, for the user.
    pub stop_reason: Option<String>,
    /// To be shown to the user.
    pub system_message: Option<String>,
    /// For the model.
    pub additional_context: Option<String>,
    /// What it would have in the place of values of the tool's input (FR-4.1), key by key.
    pub updated_input: Option<Map<String, Value>>,
    /// Whether that is the whole input: keys that it does not have are removed. Default: false; hooks
    /// written for Claude Code and Codex replace the input.
    pub replaces_input: bool,
    /// What it would have the model see in the place of a tool's output; on `tool:post_execute` alone.
    pub updated_output: Option<Value>,
    /// What the model hears after a tool has run; only hooks written for other tools say it.
    pub feedback: Option<String>,
}

impl HookOutput {
    /// Who stops the turn stops the operation too.
    pub(super) fn verdict(&self) -> Decision {
        let decision = self.decision.unwrap_or(Decision::Allow);
        if self.stops_turn {
            Decision::Block
        } else {
            decision
        }
    }

    /// The words for what it objects to. Those with which it allows are no objection, whatever its
    /// exit code.
    pub(super) fn objection(&self) -> Option<&str> {
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
        let keys = self.updated_input.as_ref();
        f.debug_struct("HookOutput")
            .field("decision", &self.decision)
            .field("reason", &self.reason.is_some())
            .field("stops_turn", &self.stops_turn)
            .field("stop_reason", &self.stop_reason.is_some())
            .field("system_message", &self.system_message.is_some())
            .field("additional_context", &self.additional_context.is_some())
            .field(
                "updated_input",
                &keys.map(|keys| keys.keys().collect::<Vec<_>>()),
            )
            .field("updated_output", &self.updated_output.is_some())
            .field("feedback", &self.feedback.is_some())
            .finish()
    }
}
