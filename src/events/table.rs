//! The events that this crate knows, in a table. A row has the event's name, its data and its description, and says whether
//! hooks can block it.
//!
//! Does not know the events that a host declares.

type Key = (&'static str, &'static str);

/// The part of an event's data that hooks may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    None,
    /// The members of an object, such as the arguments of a tool.
    Members(&'static str),
    /// A text.
    Text(&'static str),
    /// A list, and the key of its length.
    List {
        key: &'static str,
        count: &'static str,
    },
}

/// The row of an event that this crate knows.
pub(super) struct Known {
    pub(super) name: &'static str,
    pub(super) can_block: bool,
    /// True if the event may name a tool.
    pub(super) has_tool: bool,
    /// The time at which the event is fired, in one line.
    pub(super) about: &'static str,
    /// The keys of the event's data, each with a description of its value.
    pub(super) data: &'static [Key],
    /// The part of the data that hooks may change.
    pub(super) input: Input,
    /// The names of the event in other programs.
    pub(super) elsewhere: &'static [&'static str],
}

const ARGS: Key = ("tool_args", "the tool's arguments");
const RESULT: Key = ("tool_result", "what the tool returned");
const ERROR: Key = ("error", "the message of the error");
const MODEL: Key = ("llm_model", "the model");
const MESSAGE_COUNT: Key = ("message_count", "the number of messages in the request");
const MESSAGES: Key = (
    "messages",
    "the messages of the request, if the host sets them",
);
const TOKENS: Key = ("llm_tokens", "the number of tokens");
const ROLE: Key = ("role", "the role of the message's author");
const CONTENT: Key = ("content", "the text");
const LEVEL: Key = ("perm_level", "the level of the permission");
const RULE: Key = ("perm_rule", "the rule that matched, if one did");
const TRIGGER: Key = ("trigger", "`manual` or `auto`");
const KIND_OF_AGENT: Key = (AGENT_TYPE, "the kind of agent");
const IDENTITY_OF_AGENT: Key = (AGENT_ID, "the agent's id, if the host sets it");
const STOP_ACTIVE: Key = (
    "stop_hook_active",
    "whether a hook has already made the agent continue",
);
const LAST_MESSAGE: Key = (
    "last_assistant_message",
    "the agent's last message, if the host sets it",
);
const MESSAGE: Key = ("message", "the message");

impl Known {
    /// Creates the row of an event that is fired after something has happened.
    const fn after(name: &'static str, about: &'static str, data: &'static [Key]) -> Self {
        Self {
            name,
            can_block: false,
            has_tool: false,
            about,
            data,
            input: Input::None,
            elsewhere: &[],
        }
    }

    /// Creates the row of an event that is fired before something happens: hooks can block it.
    const fn before(name: &'static str, about: &'static str, data: &'static [Key]) -> Self {
        Self {
            can_block: true,
            ..Self::after(name, about, data)
        }
    }

    const fn of_tool(self) -> Self {
        Self {
            has_tool: true,
            ..self
        }
    }

    const fn changed(self, input: Input) -> Self {
        Self { input, ..self }
    }

    const fn elsewhere(self, elsewhere: &'static [&'static str]) -> Self {
        Self { elsewhere, ..self }
    }
}

/// The sixteen built-in events, in the order of [`EventType::BUILTIN`](super::EventType::BUILTIN), then those of agents that
/// hooks of other agents use and the specification lacks. The latter are custom events.
pub(super) static KNOWN: [Known; 23] = [
    Known::before("tool:pre_execute", "Before a tool runs", &[ARGS])
        .of_tool()
        .changed(Input::Members("tool_args"))
        .elsewhere(&["PreToolUse", "BeforeTool"]),
    Known::after("tool:post_execute", "After a tool has run", &[ARGS, RESULT])
        .of_tool()
        .elsewhere(&["PostToolUse", "AfterTool"]),
    Known::after("tool:error", "A tool has failed", &[ARGS, ERROR])
        .of_tool()
        .elsewhere(&["PostToolUseFailure"]),
    Known::before(
        "llm:pre_request",
        "Before a request to a model",
        &[MODEL, MESSAGE_COUNT, MESSAGES],
    )
    .changed(Input::List {
        key: "messages",
        count: "message_count",
    })
    .elsewhere(&["BeforeModel"]),
    Known::after(
        "llm:post_response",
        "After a model's response",
        &[MODEL, TOKENS],
    )
    .elsewhere(&["AfterModel"]),
    Known::after("llm:stream_start", "A response begins to stream", &[MODEL]),
    Known::after(
        "llm:stream_end",
        "A streamed response has ended",
        &[MODEL, TOKENS],
    ),
    Known::after("session:start", "A session begins", &[]).elsewhere(&["SessionStart"]),
    Known::after("session:end", "A session ends", &[]).elsewhere(&["SessionEnd"]),
    Known::after(
        "session:message",
        "A message is added to a session",
        &[ROLE, CONTENT],
    ),
    Known::before(
        "permission:check",
        "A permission is checked",
        &[LEVEL, RULE],
    )
    .of_tool(),
    Known::before(
        "permission:prompt",
        "The user is asked for a permission",
        &[LEVEL, RULE],
    )
    .of_tool()
    .elsewhere(&["PermissionRequest"]),
    Known::after(
        "permission:granted",
        "A permission was granted",
        &[LEVEL, RULE],
    )
    .of_tool(),
    Known::after(
        "permission:denied",
        "A permission was denied",
        &[LEVEL, RULE],
    )
    .of_tool()
    .elsewhere(&["PermissionDenied"]),
    Known::before("user:prompt_submit", "The user submits input", &[CONTENT])
        .changed(Input::Text("content"))
        .elsewhere(&["UserPromptSubmit", "BeforeAgent"]),
    Known::after("user:interrupt", "The user interrupts, as with Ctrl-C", &[])
        .elsewhere(&["Interrupt"]),
    Known::before(
        STOP,
        "An agent is about to end its turn",
        &[STOP_ACTIVE, LAST_MESSAGE],
    )
    .elsewhere(&["Stop", "AfterAgent"]),
    Known::after(
        SUBAGENT_START,
        "A subagent has started",
        &[KIND_OF_AGENT, IDENTITY_OF_AGENT],
    )
    .elsewhere(&["SubagentStart"]),
    Known::before(
        SUBAGENT_STOP,
        "A subagent is about to end",
        &[KIND_OF_AGENT, IDENTITY_OF_AGENT, STOP_ACTIVE, LAST_MESSAGE],
    )
    .elsewhere(&["SubagentStop"]),
    Known::before(
        PRE_COMPACT,
        "Before the conversation is shortened",
        &[TRIGGER],
    )
    .elsewhere(&["PreCompact", "PreCompress"]),
    Known::after(
        POST_COMPACT,
        "After the conversation was shortened",
        &[TRIGGER],
    )
    .elsewhere(&["PostCompact"]),
    Known::after(NOTIFICATION, "The user is shown a message", &[MESSAGE])
        .elsewhere(&["Notification"]),
    Known::after(
        LLM_ERROR,
        "A request to a model has failed",
        &[MODEL, ERROR],
    ),
];

/// Returns the keys of the data of all these events. A key may occur more than once.
pub(crate) fn known_data_keys() -> impl Iterator<Item = &'static str> {
    KNOWN
        .iter()
        .flat_map(|event| event.data)
        .map(|(key, _)| *key)
}

/// Returns what the value of a key always is in these events, if it is not text.
pub(crate) fn never_text(key: &str) -> Option<&'static str> {
    match key {
        "messages" => Some("a list"),
        "message_count" | "llm_tokens" => Some("a number"),
        "stop_hook_active" => Some("a boolean"),
        _ => None,
    }
}

/// The keys that any event may have: of the turn in which it occurs, and of an agent that fires it.
pub(crate) const OF_ANY_EVENT: [&str; 3] = [AGENT_TYPE, AGENT_ID, AGENT];

/// The key of the data for values of an agent that have no other key in these events.
pub(crate) const AGENT: &str = "agent";

/// The key of the type of the agent in whose turn an event occurs.
pub(crate) const AGENT_TYPE: &str = "agent_type";

/// The key of the id of this agent.
pub(crate) const AGENT_ID: &str = "agent_id";

pub(super) const STOP: &str = "agent:stop";
pub(super) const SUBAGENT_START: &str = "agent:subagent_start";
pub(super) const SUBAGENT_STOP: &str = "agent:subagent_stop";
pub(super) const PRE_COMPACT: &str = "context:pre_compact";
pub(super) const POST_COMPACT: &str = "context:post_compact";
pub(super) const NOTIFICATION: &str = "notification:show";
pub(super) const LLM_ERROR: &str = "llm:error";
