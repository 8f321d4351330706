//! The forms of answers that agents read: one row for each agent.

use std::fs::File;

use crate::compat::{
    Agent, BRIDGED, CLAUDE, CODEX, COPILOT, Event, GEMINI, GROK, KILO, KIMI, OPENCODE, PI, QWEN,
};

/// The form of an agent's answers, where agents differ.
pub(super) struct Dialect {
    pub(super) agent: &'static Agent,
    /// The events at which a context reaches the model.
    pub(super) context: &'static [&'static str],
    pub(super) questions: Questions,
    /// True if a tool runs with the input that a hook has changed.
    pub(super) applies_input: bool,
    /// True if the agent distinguishes an explicit yes before a tool from an empty answer.
    pub(super) takes_yes: bool,
    pub(super) outputs: Outputs,
    /// The events at which the turn cannot be ended. They are blocked instead, where that is possible.
    pub(super) cannot_end_turn: &'static [&'static str],
    pub(super) blocks: Blocks,
    pub(super) messages: Messages,
    /// The events at which the agent shows a message in JSON beside a block. Elsewhere the reason has it.
    pub(super) messages_beside_block: &'static [&'static str],
    /// The event at which a turn ends that could not be ended before a tool.
    pub(super) ends_turn_later: Option<&'static str>,
    /// The key beside each prompt of the user. An empty prompt without it is none: the agent fires the event again after its tools.
    pub(super) prompts_have: Option<&'static str>,
}

/// The form in which an agent reads a new output of a tool.
#[derive(Clone, Copy)]
pub(super) enum Outputs {
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
pub(super) enum Blocks {
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
pub(super) enum Messages {
    Json,
    /// The agent reads no JSON but adds the whole output to a prompt, and shows it to its user.
    Text,
    /// The agent reads standard error with exit code 2: not before a tool, where this code blocks, and not after a failed one, where
    /// the model reads it.
    Error,
}

/// The form in which an agent reads a question to its user before a tool.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Questions {
    /// The text is the reason.
    Reason,
    /// The text is a message; without a terminal, the agent would wait for ever.
    Message,
    /// The agent cannot ask: a question blocks.
    Never,
}

/// One row for each of [`BRIDGED`].
#[rustfmt::skip]
const DIALECTS: [Dialect; BRIDGED.len()] = [
    Dialect {
        agent: CLAUDE,
        // A context at the end of a turn would make the agent continue.
        context: &[
            "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit",
            "UserPromptExpansion", "SessionStart", "Setup", "SubagentStart", "Notification",
        ],
        questions: Questions::Reason,
        applies_input: true,
        takes_yes: true,
        outputs: Outputs::OwnForm,
        cannot_end_turn: &["PreToolUse"],
        blocks: Blocks::Code,
        messages: Messages::Json,
        messages_beside_block: &["PreToolUse", "PostToolBatch", "Stop"],
        ends_turn_later: Some("PostToolBatch"),
        prompts_have: None,
    },
    Dialect {
        agent: CODEX,
        context: &["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SubagentStart"],
        questions: Questions::Never,
        applies_input: false,
        takes_yes: false,
        outputs: Outputs::Reason("block"),
        cannot_end_turn: &["PreToolUse", "PermissionRequest", "PostToolUse"],
        blocks: Blocks::Code,
        messages: Messages::Json,
        // It reads no JSON beside exit code 2.
        messages_beside_block: &[],
        ends_turn_later: None,
        prompts_have: None,
    },
    Dialect {
        agent: GEMINI,
        context: &["AfterTool", "BeforeAgent", "SessionStart"],
        questions: Questions::Message,
        applies_input: true,
        takes_yes: false,
        outputs: Outputs::Reason("deny"),
        cannot_end_turn: &[],
        blocks: Blocks::CodeOrJson,
        messages: Messages::Json,
        // With a prompt, it shows a message in place of the reason.
        messages_beside_block: &["BeforeTool", "AfterAgent"],
        ends_turn_later: None,
        prompts_have: None,
    },
    Dialect {
        agent: COPILOT,
        context: &["PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart"],
        questions: Questions::Reason,
        applies_input: true,
        takes_yes: true,
        outputs: Outputs::Text("textResultForLlm"),
        cannot_end_turn: &[
            "PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart", "SessionEnd",
            "PreCompact", "PermissionRequest", "SubagentStart", "Notification", "ErrorOccurred", "PreMcpToolCall",
        ],
        blocks: Blocks::Json,
        messages: Messages::Error,
        messages_beside_block: &[],
        ends_turn_later: None,
        prompts_have: None,
    },
    Dialect {
        agent: QWEN,
        // The one before a tool has been seen to have no effect.
        context: &["PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit", "SessionStart", "SubagentStart"],
        questions: Questions::Reason,
        applies_input: false,
        // It asks by its own rules beside a yes of a hook.
        takes_yes: false,
        outputs: Outputs::StopReason,
        // Elsewhere `continue: false` blocks, replaces an output or has no effect; the model goes on.
        cannot_end_turn: &[
            "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "SessionStart",
            "SessionEnd", "Notification", "SubagentStart", "PreCompact", "InstructionsLoaded", "MessageDisplay",
            "PermissionDenied", "PostCompact", "SessionDelete", "StopFailure", "TodoCompleted", "TodoCreated",
            "UserPromptExpansion",
        ],
        blocks: Blocks::Code,
        messages: Messages::Json,
        // It reads no JSON beside exit code 2.
        messages_beside_block: &[],
        ends_turn_later: None,
        prompts_have: Some("submitted_prompt"),
    },
    Dialect {
        agent: KIMI,
        context: &["UserPromptSubmit"],
        outputs: Outputs::Context,
        cannot_end_turn: &[
            "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "UserPromptSubmit", "SessionStart",
            "SessionEnd", "SubagentStart", "PreCompact", "Notification", "Interrupt", "PermissionResult", "PostCompact",
            "StopFailure",
        ],
        messages: Messages::Text,
        applies_input: false,
        ..PLAIN
    },
    Dialect { agent: OPENCODE, ..OF_OPENCODE },
    Dialect { agent: KILO, ..OF_OPENCODE },
    Dialect {
        agent: PI,
        context: &["session_start", "input", "tool_result"],
        outputs: Outputs::Text("text"),
        cannot_end_turn: &["session_start", "input", "tool_result"],
        ..PLAIN
    },
    Dialect {
        agent: GROK,
        context: &["PreToolUse", "PostToolUse"],
        outputs: Outputs::Context,
        cannot_end_turn: &[
            "PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart", "SessionEnd",
            "Notification", "SubagentStart", "PreCompact",
        ],
        ..PLAIN
    },
];

#[rustfmt::skip]
const OF_OPENCODE: Dialect = Dialect {
    context: &["session.created", "chat.message", "tool.execute.after"],
    outputs: Outputs::Text("text"),
    cannot_end_turn: &["session.created", "chat.message", "tool.execute.before", "tool.execute.after"],
    ..PLAIN
};

/// An agent that reads exit code 2 as a block and cannot ask.
const PLAIN: Dialect = Dialect {
    agent: OPENCODE,
    context: &[],
    questions: Questions::Never,
    applies_input: true,
    takes_yes: false,
    outputs: Outputs::Context,
    cannot_end_turn: &[],
    blocks: Blocks::Code,
    messages: Messages::Json,
    messages_beside_block: &[],
    ends_turn_later: None,
    prompts_have: None,
};

impl Dialect {
    pub(super) fn of(agent: &Agent) -> &'static Self {
        let mut dialects = DIALECTS.iter();
        let dialect = dialects.find(|dialect| dialect.agent == agent);
        // A test compares them with the agents.
        dialect.unwrap_or(&DIALECTS[0])
    }

    /// Returns whether the agent asks its user the questions of hooks at this event.
    pub(super) fn asks_at(&self, event: &Event) -> bool {
        match self.questions {
            // The agent is about to ask.
            _ if event.specific.within.is_some() => true,
            Questions::Never => false,
            Questions::Reason => is_before_tool(event) && event.specific.decision.is_some(),
            Questions::Message => is_before_tool(event) && has_terminal(),
        }
    }

    /// Returns whether the user gets a message beside a block.
    pub(super) fn shows_message_beside_block(&self, event: &Event) -> bool {
        match self.messages {
            Messages::Json => {
                // Such a block is JSON.
                event.specific.within.is_some() || self.messages_beside_block.contains(&event.name)
            }
            Messages::Text => false,
            Messages::Error => !is_read_by_model(event),
        }
    }

    /// Returns whether some block needs JSON, since exit code 2 alone does not block everything.
    pub(super) fn blocks_in_json(&self) -> bool {
        self.blocks == Blocks::Json
    }
}

/// Returns whether exit code 2 at this event is a block or a text for the model, and no message to the user.
pub(super) fn is_read_by_model(event: &Event) -> bool {
    is_before_tool(event) || event.ours() == Some("tool:error")
}

pub(super) fn is_before_tool(event: &Event) -> bool {
    event.ours() == Some("tool:pre_execute")
}

/// Returns whether the agent has a terminal, on which it can ask. Hooks are in its session.
fn has_terminal() -> bool {
    let terminal = if cfg!(windows) { "CONIN$" } else { "/dev/tty" };
    File::open(terminal).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_has_its_own_words() {
        for (agent, dialect) in BRIDGED.into_iter().zip(&DIALECTS) {
            assert_eq!(dialect.agent, agent);
            let names = dialect.context.iter().chain(dialect.cannot_end_turn);
            let names = names.chain(dialect.messages_beside_block);
            for name in names.copied().chain(dialect.ends_turn_later) {
                assert!(agent.event_named(name).is_some(), "{agent} {name}");
            }
        }
    }
}
