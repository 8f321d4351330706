//! What a host declares about one of its events: a description, its data, whether hooks can block it.

use std::borrow::Cow;

use super::EventType;

/// An event that a host fires, described for the authors of hooks.
///
/// ```
/// use forge_hooks::{EventSpec, EventType};
///
/// let level_loaded = EventSpec::new(EventType::custom("level:loaded")?)
///     .description("A level is ready")
///     .data("level", "its name")
///     .notify_only();
/// assert!(!level_loaded.can_block());
/// # Ok::<(), forge_hooks::EventTypeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "it is declared with `HooksBuilder::event`"]
pub struct EventSpec {
    event_type: EventType,
    description: Cow<'static, str>,
    data: Vec<(Cow<'static, str>, Cow<'static, str>)>,
    notifies_only: bool,
    /// It is one of this crate's events of agents, which name no tool.
    is_of_agent: bool,
}

impl EventSpec {
    /// Creates a spec without a description and without data. A custom event can be blocked.
    pub fn new(event_type: EventType) -> Self {
        Self {
            event_type,
            description: Cow::Borrowed(""),
            data: Vec::new(),
            notifies_only: false,
            is_of_agent: false,
        }
    }

    /// Sets the description, one line: when the host fires the event.
    pub fn description(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.description = text.into();
        self
    }

    pub(super) fn of_agent(mut self) -> Self {
        self.is_of_agent = true;
        self
    }

    /// Adds a key of the event's data, with a description of its value.
    pub fn data(
        mut self,
        key: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.data.push((key.into(), description.into()));
        self
    }

    /// Declares that hooks cannot block the event: the host continues whatever they answer, and an answer
    /// that cannot be used is treated as plain text. No effect on a built-in event, for which
    /// [`EventType::can_block`] decides.
    pub fn notify_only(mut self) -> Self {
        self.notifies_only = true;
        self
    }

    /// The event.
    #[must_use]
    pub fn event_type(&self) -> &EventType {
        &self.event_type
    }

    /// The description. Default: empty.
    #[must_use]
    pub fn description_text(&self) -> &str {
        &self.description
    }

    /// The keys of the event's data, each with a description of its value.
    pub fn data_keys(&self) -> impl Iterator<Item = (&str, &str)> {
        self.data.iter().map(|(key, about)| (&**key, &**about))
    }

    /// Returns whether hooks can block the event.
    #[must_use]
    pub fn can_block(&self) -> bool {
        match self.event_type {
            EventType::Custom(_) => self.event_type.can_block() && !self.notifies_only,
            _ => self.event_type.can_block(),
        }
    }

    /// Whether its events may name a tool: those about tools and permissions, and those of a host's own.
    #[must_use]
    pub fn may_have_tool(&self) -> bool {
        match &self.event_type {
            EventType::Custom(_) => !self.is_of_agent,
            built_in => matches!(built_in.category(), "tool" | "permission"),
        }
    }
}

/// The sixteen built-in events, with the data that the factories of
/// [`HookEvent`](super::HookEvent) give them.
pub(super) fn builtin() -> impl Iterator<Item = EventSpec> {
    EventType::BUILTIN.into_iter().map(describe)
}

fn describe(event_type: EventType) -> EventSpec {
    let (description, keys): (_, &[_]) = match event_type {
        EventType::ToolPreExecute => ("Before a tool runs", &[ARGS]),
        EventType::ToolPostExecute => ("After a tool has run", &[ARGS, RESULT]),
        EventType::ToolError => ("A tool has failed", &[ARGS, ERROR]),
        EventType::LlmPreRequest => ("Before a request to a model", &[MODEL, MESSAGES]),
        EventType::LlmPostResponse => ("After a model's response", &[MODEL, TOKENS]),
        EventType::LlmStreamStart => ("A response begins to stream", &[MODEL]),
        EventType::LlmStreamEnd => ("A streamed response has ended", &[MODEL, TOKENS]),
        EventType::SessionStart => ("A session begins", &[]),
        EventType::SessionEnd => ("A session ends", &[]),
        EventType::SessionMessage => ("A message is added to a session", &[ROLE, CONTENT]),
        EventType::PermissionCheck => ("A permission is checked", &[LEVEL, RULE]),
        EventType::PermissionPrompt => ("The user is asked for a permission", &[LEVEL, RULE]),
        EventType::PermissionGranted => ("A permission was granted", &[LEVEL, RULE]),
        EventType::PermissionDenied => ("A permission was denied", &[LEVEL, RULE]),
        EventType::UserPromptSubmit => ("The user submits input", &[CONTENT]),
        EventType::UserInterrupt => ("The user interrupts, as with Ctrl-C", &[]),
        EventType::Custom(_) => ("", &[]),
    };
    let mut spec = EventSpec::new(event_type).description(description);
    for (key, about) in keys {
        spec = spec.data(*key, *about);
    }
    spec
}

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
