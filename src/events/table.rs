//! The events that this crate knows: one table. The variants of [`EventType`] and what is known of each event are made of
//! it.
//!
//! Knows nothing of what a host declares.

use std::sync::Arc;

/// What this crate knows of an event.
pub(super) struct Known {
    pub(super) name: &'static str,
    pub(super) can_block: bool,
    /// When it is fired, in one line.
    pub(super) about: &'static str,
    pub(super) data: &'static [Key],
    /// Its names in other programs.
    pub(super) elsewhere: &'static [&'static str],
}

/// A key of an event's data, with a description of its value.
type Key = (&'static str, &'static str);

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
const AGENT: Key = ("agent_type", "the kind of agent");
const ACTIVE: Key = (
    "stop_hook_active",
    "whether a hook has already made the agent continue",
);
const LAST: Key = (
    "last_assistant_message",
    "the agent's last message, if the host sets it",
);
const MESSAGE: Key = ("message", "the message");

/// Creates a row of the table. An event before something happens can be blocked.
macro_rules! known {
    (before $($row:tt)*) => { known!(true, $($row)*) };
    (after $($row:tt)*) => { known!(false, $($row)*) };
    ($can_block:literal, $name:literal, $about:literal, [$($key:ident),*], [$($elsewhere:literal),*]) => {
        Known {
            name: $name,
            can_block: $can_block,
            about: $about,
            data: &[$($key),*],
            elsewhere: &[$($elsewhere),*],
        }
    };
}

/// The documentation of a variant.
macro_rules! about {
    (before $name:literal, $about:literal, $($rest:tt)*) => {
        concat!("`", $name, "`: ", $about, ". Can be blocked.")
    };
    (after $name:literal, $about:literal, $($rest:tt)*) => {
        concat!("`", $name, "`: ", $about, ".")
    };
}

macro_rules! events {
    (
        $(#[$on_enum:meta])* $type:ident
        built_in { $($variant:ident $row:tt)+ }
        of_agents { $($agent:ident $agent_row:tt)+ }
    ) => {
        $(#[$on_enum])*
        pub enum $type {
            $(#[doc = about! $row] $variant,)+
            /// An event that the host defined with [`EventType::custom`], or one of the seven events of agents; see
            /// [`can_block`](EventType::can_block).
            Custom(CustomEventType),
        }

        /// The built-in events in their order, then those of agents that hooks of other tools use and the
        /// specification lacks. The latter are custom events.
        pub(super) static KNOWN: &[Known] = &[$(known! $row,)+ $(known! $agent_row,)+];

        $(pub(super) const $agent: &str = (known! $agent_row).name;)+

        impl $type {
            /// The sixteen built-in events.
            pub const BUILTIN: [Self; 16] = [$(Self::$variant),+];

            /// What this crate knows of the event; None for an event of the host's own.
            pub(super) fn known(&self) -> Option<&'static Known> {
                /// The place in the table.
                enum Row {
                    $($variant),+
                }
                match self {
                    $(Self::$variant => Some(&KNOWN[Row::$variant as usize]),)+
                    Self::Custom(custom) => {
                        let mut of_agents = KNOWN[Self::BUILTIN.len()..].iter();
                        of_agents.find(|known| known.name == custom.as_str())
                    }
                }
            }
        }
    };
}

events! {
    /// The kind of an event: one of the sixteen built-in events, or one that the host defined.
    ///
    /// The text form is `category:action`, for example `tool:pre_execute`.
    ///
    /// ```
    /// use forge_hooks::EventType;
    ///
    /// let event: EventType = "tool:pre_execute".parse()?;
    /// assert_eq!(event, EventType::ToolPreExecute);
    /// assert_eq!((event.category(), event.action()), ("tool", "pre_execute"));
    /// assert!("tool:pre_exec".parse::<EventType>().is_err());
    /// # Ok::<(), forge_hooks::EventTypeError>(())
    /// ```
    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    EventType
    built_in {
        ToolPreExecute(before "tool:pre_execute", "Before a tool runs", [ARGS], ["PreToolUse", "BeforeTool"])
        ToolPostExecute(
            after "tool:post_execute", "After a tool has run", [ARGS, RESULT], ["PostToolUse", "AfterTool"]
        )
        ToolError(after "tool:error", "A tool has failed", [ARGS, ERROR], ["PostToolUseFailure"])
        LlmPreRequest(
            before "llm:pre_request", "Before a request to a model", [MODEL, MESSAGES], ["BeforeModel"]
        )
        LlmPostResponse(
            after "llm:post_response", "After a model's response", [MODEL, TOKENS], ["AfterModel"]
        )
        LlmStreamStart(after "llm:stream_start", "A response begins to stream", [MODEL], [])
        LlmStreamEnd(after "llm:stream_end", "A streamed response has ended", [MODEL, TOKENS], [])
        SessionStart(after "session:start", "A session begins", [], ["SessionStart"])
        SessionEnd(after "session:end", "A session ends", [], ["SessionEnd"])
        SessionMessage(after "session:message", "A message is added to a session", [ROLE, CONTENT], [])
        PermissionCheck(before "permission:check", "A permission is checked", [LEVEL, RULE], [])
        PermissionPrompt(
            before "permission:prompt", "The user is asked for a permission", [LEVEL, RULE], ["PermissionRequest"]
        )
        PermissionGranted(after "permission:granted", "A permission was granted", [LEVEL, RULE], [])
        PermissionDenied(after "permission:denied", "A permission was denied", [LEVEL, RULE], [])
        UserPromptSubmit(
            before "user:prompt_submit", "The user submits input", [CONTENT], ["UserPromptSubmit", "BeforeAgent"]
        )
        UserInterrupt(after "user:interrupt", "The user interrupts, as with Ctrl-C", [], [])
    }
    of_agents {
        STOP(before "agent:stop", "An agent is about to end its turn", [ACTIVE, LAST], ["Stop", "AfterAgent"])
        SUBAGENT_START(after "agent:subagent_start", "A subagent has started", [AGENT], ["SubagentStart"])
        SUBAGENT_STOP(
            before "agent:subagent_stop", "A subagent is about to end", [AGENT, ACTIVE, LAST], ["SubagentStop"]
        )
        PRE_COMPACT(
            before "context:pre_compact", "Before the conversation is shortened", [TRIGGER],
            ["PreCompact", "PreCompress"]
        )
        POST_COMPACT(after "context:post_compact", "After the conversation was shortened", [TRIGGER], ["PostCompact"])
        NOTIFICATION(after "notification:show", "The user is shown a message", [MESSAGE], ["Notification"])
        LLM_ERROR(after "llm:error", "A request to a model has failed", [MODEL, ERROR], [])
    }
}

/// The checked name of an event that a host defined. [`EventType::custom`] creates it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CustomEventType(Arc<str>);

impl CustomEventType {
    /// Creates it from a name that is known to be valid.
    pub(super) fn known(name: &str) -> Self {
        Self(name.into())
    }

    /// The whole name, such as `game:level_loaded`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The keys of the events' data, each once.
pub(crate) fn data_keys() -> Vec<&'static str> {
    let data = KNOWN.iter().flat_map(|known| known.data);
    let mut keys: Vec<_> = data.map(|(key, _)| *key).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

#[cfg(test)]
mod tests {
    use super::super::{EventType, HookEvent};

    #[test]
    fn agent_events_have_valid_names() {
        for (event, can_block) in [
            (HookEvent::agent_stop(false), true),
            (HookEvent::agent_subagent_start("x"), false),
            (HookEvent::agent_subagent_stop("x", false), true),
            (HookEvent::context_pre_compact("auto"), true),
            (HookEvent::context_post_compact("auto"), false),
            (HookEvent::notification_show("x"), false),
            (HookEvent::llm_error("x", "y"), false),
        ] {
            let event_type = event.event_type;
            let read = EventType::custom(event_type.as_str()).unwrap();
            assert_eq!(read, event_type);
            assert_eq!(event_type.can_block(), can_block, "{event_type}");
        }
    }
}
