//! The declaration of an event by its host: a description, its data, whether hooks can block it.

use std::borrow::Cow;

use super::HookEvent;
use super::event_type::{CustomEventType, EventType, of_agents};
use super::table::KNOWN;

/// An event that a host fires, described for the authors of hooks.
///
/// ```
/// use forge_hooks::EventSpec;
///
/// let level_loaded = EventSpec::named("level:loaded")
///     .with_description("A level is ready")
///     .with_data("level", "its name")
///     .notify_only();
/// assert!(!level_loaded.can_block());
/// let event = level_loaded.event().with_data("level", "Cellar");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "it is declared with `HooksBuilder::event`"]
pub struct EventSpec {
    event_type: EventType,
    description: Cow<'static, str>,
    data: Vec<(Cow<'static, str>, Cow<'static, str>)>,
    notifies_only: bool,
}

impl EventSpec {
    /// Creates the spec of a custom event. The spec has no description and no data; the event can be blocked.
    ///
    /// # Panics
    /// If [`EventType::custom`] refuses the name. For a name that comes from a file or a user, pass
    /// [`new`](EventSpec::new) what [`EventType::custom`] returns.
    // A wrong constant is a bug of the host, which its first run shows.
    #[allow(clippy::panic)]
    #[track_caller]
    pub fn named(name: impl AsRef<str>) -> Self {
        match EventType::custom(name) {
            Ok(event_type) => Self::new(event_type),
            Err(error) => panic!("EventSpec::named: {error}"),
        }
    }

    /// Creates a spec without a description and without data. A custom event can be blocked.
    pub fn new(event_type: EventType) -> Self {
        Self {
            event_type,
            description: Cow::Borrowed(""),
            data: Vec::new(),
            notifies_only: false,
        }
    }

    /// Sets the description: one line about the time at which the host fires the event.
    pub fn with_description(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.description = text.into();
        self
    }

    /// Adds a key of the event's data, with a description of its value. Loading reports a condition on another key; not for an
    /// event without declared keys.
    pub fn with_data(
        mut self,
        key: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.data.push((key.into(), description.into()));
        self
    }

    /// Declares that hooks cannot block the event: the host continues regardless of their answers, and an answer that cannot
    /// be used is treated as plain text. This has no effect on a built-in event, for which [`EventType::can_block`] decides.
    pub fn notify_only(mut self) -> Self {
        self.notifies_only = true;
        self
    }

    /// Creates an event of this kind, with the current time and without data.
    #[must_use]
    pub fn event(&self) -> HookEvent {
        HookEvent::new(self.event_type.clone())
    }

    /// Returns the kind of the event.
    #[must_use]
    pub fn event_type(&self) -> &EventType {
        &self.event_type
    }

    /// Returns the description. Default: empty.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the keys of the event's data, each with a description of its value.
    pub fn data_keys(&self) -> impl Iterator<Item = (&str, &str)> {
        self.data.iter().map(|(key, about)| (&**key, &**about))
    }

    /// Returns whether hooks can block the event.
    #[must_use]
    pub fn can_block(&self) -> bool {
        let is_builtin = !matches!(self.event_type, EventType::Custom(_));
        self.event_type.can_block() && (is_builtin || !self.notifies_only)
    }

    /// Returns whether the event may name a tool: an event about tools or permissions, or a custom one.
    pub(crate) fn may_have_tool(&self) -> bool {
        self.event_type.known().is_none_or(|known| known.has_tool)
    }
}

/// Returns the events that this crate knows: the sixteen built-in ones, then those of agents.
pub(super) fn known() -> impl Iterator<Item = EventSpec> {
    let of_agents = of_agents().map(|known| CustomEventType::known(known.name));
    let of_agents = of_agents.map(EventType::Custom);
    let types = EventType::BUILTIN.into_iter().chain(of_agents);
    types.zip(&KNOWN).map(|(event_type, known)| {
        let spec = EventSpec::new(event_type).with_description(known.about);
        let data = known.data.iter();
        data.fold(spec, |spec, (key, about)| spec.with_data(*key, *about))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_tools_and_permissions_may_have_a_tool() {
        for spec in known() {
            let is_of_tool = ["tool", "permission"].contains(&spec.event_type.category());
            assert_eq!(spec.may_have_tool(), is_of_tool, "{spec:?}");
        }
    }
}
