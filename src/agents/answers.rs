//! The forms in which agents read answers, where they differ.

#[cfg(feature = "cli")]
use super::event::Event;
use super::names::Words;

/// The form of an agent's answers, where agents differ.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "cli"), allow(dead_code))]
pub(crate) struct Answers {
    /// The events at which a context reaches the model.
    pub(crate) context: Words,
    pub(crate) questions: Questions,
    /// True if a tool runs with the input that a hook has changed.
    pub(crate) applies_input: bool,
    /// True if the agent distinguishes an explicit yes before a tool from an empty answer.
    pub(crate) takes_yes: bool,
    pub(crate) outputs: Outputs,
    /// The events at which the turn cannot be ended. They are blocked instead, where that is possible.
    pub(crate) cannot_end_turn: Words,
    pub(crate) blocks: BlockedBy,
    pub(crate) messages: Messages,
    /// The events at which the agent shows a message in JSON beside a block. Elsewhere the reason has it.
    pub(crate) messages_beside_block: Words,
    /// The event at which a turn ends that could not be ended before a tool.
    pub(crate) ends_turn_later: Option<&'static str>,
    /// The key beside each prompt of the user. An empty prompt without it is none: the agent fires the event again after its tools.
    pub(crate) prompts_have: Option<&'static str>,
}

/// An agent that reads exit code 2 as a block and cannot ask.
pub(crate) const ANSWERS: Answers = Answers {
    context: &[],
    questions: Questions::Never,
    applies_input: true,
    takes_yes: false,
    outputs: Outputs::Context,
    cannot_end_turn: &[],
    blocks: BlockedBy::Code,
    messages: Messages::Json,
    messages_beside_block: &[],
    ends_turn_later: None,
    prompts_have: None,
};

/// The form in which an agent reads a new output of a tool.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "cli"), allow(dead_code))]
pub(crate) enum Outputs {
    /// The output has the tool's own form.
    OwnForm,
    /// The output is the reason of this decision.
    Reason(&'static str),
    /// The output is a text under this key.
    Text(&'static str),
    /// The output is the reason for which the agent would not continue, which it does.
    StopReason,
    /// The output stays. A context says what a hook has wanted.
    Context,
}

/// The form in which an agent reads a block.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "cli"), allow(dead_code))]
pub(crate) enum BlockedBy {
    /// Exit code 2 blocks, and the text is the reason.
    Code,
    /// The same as `Code`; if the turn ends too, or beside a message, the block is also in JSON: exit code 2 beside other JSON does not
    /// block.
    CodeOrJson,
    /// JSON blocks, since the agent reads the reason only there; before a tool, exit code 2 blocks too.
    Json,
}

/// The place where an agent reads a message for its user.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "cli"), allow(dead_code))]
pub(crate) enum Messages {
    Json,
    /// The agent reads no JSON but adds the whole output to a prompt, and shows it to its user.
    Text,
    /// The agent reads standard error with exit code 2: not before a tool, where this code blocks, and not after a failed one, where
    /// the model reads it.
    Error,
}

/// The form in which an agent reads a question to its user before a tool.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "cli"), allow(dead_code))]
pub(crate) enum Questions {
    /// The text is the reason.
    Reason,
    /// The text is a message; without a terminal, the agent would wait for ever.
    Message,
    /// The agent cannot ask: a question blocks.
    Never,
}

#[cfg(feature = "cli")]
impl Answers {
    /// Returns whether the user gets a message beside a block.
    pub(crate) fn shows_message_beside_block(&self, event: &Event) -> bool {
        match self.messages {
            Messages::Json => {
                // Such a block is JSON.
                event.specific.within.is_some() || self.messages_beside_block.contains(&event.name)
            }
            Messages::Text => false,
            Messages::Error => !event.is_read_by_model(),
        }
    }

    /// Returns whether some block needs JSON, since exit code 2 alone does not block everything.
    pub(crate) fn blocks_in_json(&self) -> bool {
        self.blocks == BlockedBy::Json
    }
}
