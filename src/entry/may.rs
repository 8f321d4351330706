//! The effects that the answer of a hook may have besides stopping an operation.
//!
//! Does not know the form of an answer: the keys that need a word are in `protocol`.

use super::named::named;

named! {
    /// An effect that the answer of a hook may have besides stopping the operation (`may`). Without its word, the answer has
    /// no such effect.
    #[non_exhaustive]
    pub enum May {
        /// Changes the input: `updatedInput` replaces arguments of a tool, a prompt, or the messages for a model.
        ChangeInput = "change_input",
        /// Changes the tool's output for the model: `updatedOutput`. A hook that
        /// [withholds](crate::FailurePolicy::Withhold) may do this too.
        ChangeOutput = "change_output",
        /// Adds text for the model: `additionalContext` and `feedback`.
        AddContext = "add_context",
        /// Allows the operation, instead of only not objecting: an answer `allow`.
        Grant = "grant",
        /// Lets the agent stop against the objection of other hooks: `"continue": false` on `agent:stop` and
        /// `agent:subagent_stop`.
        EndTurn = "end_turn",
    }
}

impl May {
    /// Returns a note for an answer that lacks the word.
    pub(crate) fn without(self) -> &'static str {
        match self {
            Self::ChangeInput => "it changes the input",
            Self::ChangeOutput => "it changes the output",
            Self::AddContext => "its context is not used",
            Self::Grant => "its `allow` is not used",
            Self::EndTurn => "it does not end the turn",
        }
    }

    /// Returns a description for a person before an approval.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::ChangeInput => "change the input",
            Self::ChangeOutput => "change the tool's output",
            Self::AddContext => "add text for the model",
            Self::Grant => "grant permissions",
            Self::EndTurn => "end the turn against other hooks",
        }
    }

    /// Returns whether the effect replaces something. Ignoring a change would let pass what the hook intended to prevent.
    pub(crate) fn is_change(self) -> bool {
        matches!(self, Self::ChangeInput | Self::ChangeOutput)
    }
}
