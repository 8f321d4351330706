//! An event of an agent: its name there, what a hook can do at it, and the fields of its input.

use std::time::Duration;

use serde_json::{Value, json};

use super::names::Words;
use crate::events::{EventType, named_elsewhere};

/// An event of an agent. A field that a row does not set is as in [`EVENT`].
#[cfg_attr(not(feature = "cli"), allow(dead_code))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    pub(crate) name: &'static str,
    pub(crate) fires: Fires,
    /// True if `install` registers the event, if hosts fire it.
    pub(crate) registered: bool,
    /// The input field that a matcher is tested against; none if the agent ignores matchers.
    pub(crate) subject: Option<&'static str>,
    /// The timeout of a hook without its own; none if the agent's timeout applies.
    pub(crate) timeout: Option<Duration>,
    /// The longest timeout. If there is one, no hook runs in the background.
    pub(crate) longest: Option<Duration>,
    /// The timeout with which this program is registered, if the agent waits longer for a hook that has one of its own.
    pub(crate) waits: Option<Duration>,
    /// True if a failure of a hook blocks.
    pub(crate) is_closed: bool,
    /// True if a hook can set variables of the session.
    pub(crate) has_env_file: bool,
    /// The effect of a hook that blocks by its exit code or its answer.
    pub(crate) effect: Effect,
    /// True if plain text on standard output is context for the model.
    pub(crate) text_is_context: bool,
    pub(crate) specific: Specific,
    /// The input fields of only this event.
    pub(crate) fields: &'static [Field],
}

/// An event that hosts fire, without matchers and input fields of its own, which hooks cannot block.
pub(crate) const EVENT: Event = Event {
    name: "",
    fires: Fires::Known,
    registered: true,
    subject: None,
    timeout: None,
    longest: None,
    waits: None,
    is_closed: false,
    has_env_file: false,
    effect: Effect::Nothing,
    text_is_context: false,
    specific: SPECIFIC,
    fields: &[],
};

/// The event here that an event of an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fires {
    /// The event that has the agent's name among its names in other programs: a row of `events/table.rs`.
    Known,
    /// This event, if the host knows it.
    OfHost(&'static str),
    /// This event, but only under the agent itself: hosts do not fire it.
    UnderAgent(&'static str),
    /// No event.
    Never,
}

/// An input field, with its value if the host does not set it.
pub(crate) type Field = (&'static str, Unset);

/// The value of an input field that no host sets.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unset {
    Text(&'static str),
    Object,
    List,
    False,
    Null,
}

impl Unset {
    pub(crate) fn value(self) -> Value {
        match self {
            Self::Text(text) => text.into(),
            Self::Object => json!({}),
            Self::List => json!([]),
            Self::False => Value::Bool(false),
            Self::Null => Value::Null,
        }
    }
}

/// The keys that an event's `hookSpecificOutput` has besides `additionalContext`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Specific {
    /// The object that contains the keys. Without it there is no decision.
    pub(crate) within: Option<&'static str>,
    /// The key of the decision, and its words.
    pub(crate) decision: Option<(&'static str, Words)>,
    pub(crate) reason: Option<&'static str>,
    /// The key of a new input.
    pub(crate) input: Option<&'static str>,
    /// The keys of a new output.
    pub(crate) output: Words,
}

pub(crate) const SPECIFIC: Specific = Specific {
    within: None,
    decision: None,
    reason: None,
    input: None,
    output: &[],
};

/// The name of the input field for the event's tool.
pub(crate) const TOOL_NAME: &str = "tool_name";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Blocks,
    /// It is too late to block: the model receives feedback.
    FeedsBack,
    Nothing,
}

impl Event {
    /// Returns the name of the event here; none if it is no event here.
    pub(crate) fn ours(&self) -> Option<&'static str> {
        match self.fires {
            Fires::Known => named_elsewhere(self.name),
            Fires::OfHost(ours) | Fires::UnderAgent(ours) => Some(ours),
            Fires::Never => None,
        }
    }

    /// Returns the name of the event here; none if hosts do not fire it.
    pub(crate) fn fired_by_hosts(&self) -> Option<&'static str> {
        self.ours()
            .filter(|_| !matches!(self.fires, Fires::UnderAgent(_)))
    }

    /// Returns whether `install` registers the event.
    #[cfg(feature = "cli")]
    pub(crate) fn is_registered(&self) -> bool {
        self.registered && self.ours().is_some()
    }

    /// Returns whether the event is the end of something, at which a block makes the agent continue.
    #[cfg(feature = "cli")]
    pub(crate) fn is_stop(&self) -> bool {
        let ends = [
            "agent:stop",
            "agent:subagent_stop",
            "agent:teammate_idle",
            "task:completed",
        ];
        self.ours().is_some_and(|name| ends.contains(&name))
    }

    /// Returns whether the event is that of a call before it runs.
    #[cfg(feature = "cli")]
    pub(crate) fn is_before_tool(&self) -> bool {
        self.ours() == Some("tool:pre_execute")
    }

    /// Returns whether exit code 2 at this event is a block or a text for the model, and no message to the user.
    #[cfg(feature = "cli")]
    pub(crate) fn is_read_by_model(&self) -> bool {
        self.is_before_tool() || self.ours() == Some("tool:error")
    }

    /// Returns whether hooks can block the event.
    pub(crate) fn can_block(&self) -> bool {
        let ours = self.ours().and_then(|name| EventType::of_name(name).ok());
        ours.is_some_and(|event| event.can_block())
    }

    /// Returns whether a matcher is tested against the event's tool.
    pub(crate) fn is_of_tool(&self) -> bool {
        self.subject == Some(TOOL_NAME)
    }
}
