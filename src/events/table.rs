//! The events that this crate knows: a row for each, from which its name, its data, its description and whether hooks can
//! block it follow.

type Key = (&'static str, &'static str);

/// What this crate knows of an event.
pub(super) struct Known {
    pub(super) name: &'static str,
    pub(super) can_block: bool,
    /// Whether its events may name a tool.
    pub(super) has_tool: bool,
    /// When it is fired, in one line.
    pub(super) about: &'static str,
    /// The keys of its data, each with a description of its value.
    pub(super) data: &'static [Key],
}

const ARGS: Key = ("tool_args", "the tool's arguments");
const RESULT: Key = ("tool_result", "what the tool returned");
const ERROR: Key = ("error", "the message of the error");
const MODEL: Key = ("llm_model", "the model");
const MESSAGES: Key = ("message_count", "the number of messages in the request");
const TOKENS: Key = ("llm_tokens", "the number of tokens");
const ROLE: Key = ("role", "the role of the message's author");
const CONTENT: Key = ("content", "the text");
const LEVEL: Key = ("perm_level", "the level of the permission");
const RULE: Key = ("perm_rule", "the rule that matched, if one did");
const TRIGGER: Key = ("trigger", "`manual` or `auto`");
const AGENT_TYPE: Key = ("agent_type", "the kind of agent");
const STOP_ACTIVE: Key = (
    "stop_hook_active",
    "whether a hook has already made the agent continue",
);
const LAST_MESSAGE: Key = (
    "last_assistant_message",
    "the agent's last message, if the host sets it",
);
const MESSAGE: Key = ("message", "the message");

/// An event that has happened already.
const fn after(name: &'static str, about: &'static str, data: &'static [Key]) -> Known {
    Known {
        name,
        can_block: false,
        has_tool: false,
        about,
        data,
    }
}

/// An event before something happens: hooks can block it.
const fn before(name: &'static str, about: &'static str, data: &'static [Key]) -> Known {
    Known {
        can_block: true,
        ..after(name, about, data)
    }
}

const fn of_tool(known: Known) -> Known {
    Known {
        has_tool: true,
        ..known
    }
}

pub(super) static TOOL_PRE_EXECUTE: Known =
    of_tool(before("tool:pre_execute", "Before a tool runs", &[ARGS]));
pub(super) static TOOL_POST_EXECUTE: Known = of_tool(after(
    "tool:post_execute",
    "After a tool has run",
    &[ARGS, RESULT],
));
pub(super) static TOOL_ERROR: Known =
    of_tool(after("tool:error", "A tool has failed", &[ARGS, ERROR]));
pub(super) static LLM_PRE_REQUEST: Known = before(
    "llm:pre_request",
    "Before a request to a model",
    &[MODEL, MESSAGES],
);
pub(super) static LLM_POST_RESPONSE: Known = after(
    "llm:post_response",
    "After a model's response",
    &[MODEL, TOKENS],
);
pub(super) static LLM_STREAM_START: Known =
    after("llm:stream_start", "A response begins to stream", &[MODEL]);
pub(super) static LLM_STREAM_END: Known = after(
    "llm:stream_end",
    "A streamed response has ended",
    &[MODEL, TOKENS],
);
pub(super) static SESSION_START: Known = after("session:start", "A session begins", &[]);
pub(super) static SESSION_END: Known = after("session:end", "A session ends", &[]);
pub(super) static SESSION_MESSAGE: Known = after(
    "session:message",
    "A message is added to a session",
    &[ROLE, CONTENT],
);
pub(super) static PERMISSION_CHECK: Known = of_tool(before(
    "permission:check",
    "A permission is checked",
    &[LEVEL, RULE],
));
pub(super) static PERMISSION_PROMPT: Known = of_tool(before(
    "permission:prompt",
    "The user is asked for a permission",
    &[LEVEL, RULE],
));
pub(super) static PERMISSION_GRANTED: Known = of_tool(after(
    "permission:granted",
    "A permission was granted",
    &[LEVEL, RULE],
));
pub(super) static PERMISSION_DENIED: Known = of_tool(after(
    "permission:denied",
    "A permission was denied",
    &[LEVEL, RULE],
));
pub(super) static USER_PROMPT_SUBMIT: Known =
    before("user:prompt_submit", "The user submits input", &[CONTENT]);
pub(super) static USER_INTERRUPT: Known =
    after("user:interrupt", "The user interrupts, as with Ctrl-C", &[]);

/// Events of agents that hooks of other tools use and the specification lacks. They are custom events.
pub(super) static OF_AGENTS: [Known; 7] = [
    before(
        STOP,
        "An agent is about to end its turn",
        &[STOP_ACTIVE, LAST_MESSAGE],
    ),
    after(SUBAGENT_START, "A subagent has started", &[AGENT_TYPE]),
    before(
        SUBAGENT_STOP,
        "A subagent is about to end",
        &[AGENT_TYPE, STOP_ACTIVE, LAST_MESSAGE],
    ),
    before(
        PRE_COMPACT,
        "Before the conversation is shortened",
        &[TRIGGER],
    ),
    after(
        POST_COMPACT,
        "After the conversation was shortened",
        &[TRIGGER],
    ),
    after(NOTIFICATION, "The user is shown a message", &[MESSAGE]),
    after(
        LLM_ERROR,
        "A request to a model has failed",
        &[MODEL, ERROR],
    ),
];

pub(super) const STOP: &str = "agent:stop";
pub(super) const SUBAGENT_START: &str = "agent:subagent_start";
pub(super) const SUBAGENT_STOP: &str = "agent:subagent_stop";
pub(super) const PRE_COMPACT: &str = "context:pre_compact";
pub(super) const POST_COMPACT: &str = "context:post_compact";
pub(super) const NOTIFICATION: &str = "notification:show";
pub(super) const LLM_ERROR: &str = "llm:error";
