//! The events and tools that a host declares, and whether hooks can block each event.
//!
//! Knows names, not patterns or hooks.

use std::borrow::Cow;
use std::collections::HashMap;

use glob::Pattern;

use super::event_type::EventTypeError;
use super::meant::{LIKE_AN_EVENT, nearest};
use super::table::{CustomEventType, KNOWN};
use super::{EventKind, EventType, HookEvent};

/// An event that a host fires, described for the authors of hooks.
///
/// ```
/// use forge_hooks::EventSpec;
///
/// let level_loaded = EventSpec::custom("level:loaded")?
///     .description("A level is ready")
///     .data("level", "its name")
///     .notify_only();
/// assert!(!level_loaded.can_block());
/// let event = level_loaded.event().with_data("level", "Cellar");
/// # Ok::<(), forge_hooks::EventTypeError>(())
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
    /// Creates the spec of an event of the host's own, without a description and without data. It can be blocked.
    ///
    /// # Errors
    /// As with [`EventType::custom`].
    pub fn custom(name: impl AsRef<str>) -> Result<Self, EventTypeError> {
        EventType::custom(name).map(Self::new)
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

    /// Sets the description, one line: when the host fires the event.
    pub fn description(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.description = text.into();
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

    /// Creates an event of this kind, with the current time and without data.
    pub fn event(&self) -> HookEvent {
        HookEvent::new(self.event_type.clone())
    }

    /// The kind of the event.
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
        let is_builtin = !matches!(self.event_type, EventType::Custom(_));
        self.event_type.can_block() && (is_builtin || !self.notifies_only)
    }

    /// Whether its events may name a tool: those about tools and permissions, and those of a host's own.
    #[must_use]
    pub fn may_have_tool(&self) -> bool {
        let is_of_host = self.event_type.known().is_none();
        is_of_host || matches!(self.event_type.category(), "tool" | "permission")
    }
}

/// The events and tools of a host: the sixteen built-in events, seven events of agents (`agent:stop` and the
/// others that [`HookEvent`](crate::HookEvent) has a constructor for), the host's own events, and its tools. A
/// host declares them with [`HooksBuilder::event`](crate::HooksBuilder::event) and
/// [`HooksBuilder::tools`](crate::HooksBuilder::tools). Warnings about hooks and the JSON Schema are made
/// from them.
///
/// ```
/// use forge_hooks::{AppProfile, EventSpec, EventType, Hooks};
///
/// let saved = EventType::custom("game:saved")?;
/// # let home = tempfile::tempdir()?;
/// let hooks = Hooks::builder(AppProfile::new("mygame"))
///     .event(EventSpec::new(saved.clone()).notify_only())
/// #   .config_home(home.path())
///     .load();
/// assert_eq!(hooks.vocabulary().events().len(), 24);
/// assert!(!hooks.vocabulary().can_block(&saved));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Vocabulary {
    events: Vec<EventSpec>,
    /// The place of each in `events`, by its name.
    places: HashMap<String, usize>,
    tools: Vec<String>,
    /// The globs among `tools`.
    globs: Vec<Pattern>,
}

/// The events that this crate knows, and no tools.
impl Default for Vocabulary {
    fn default() -> Self {
        let mut vocabulary = Self {
            events: Vec::with_capacity(KNOWN.len()),
            places: HashMap::new(),
            tools: Vec::new(),
            globs: Vec::new(),
        };
        let mut built_in = EventType::BUILTIN.into_iter();
        for known in KNOWN {
            let of_agents = || EventType::Custom(CustomEventType::known(known.name));
            let mut spec = EventSpec::new(built_in.next().unwrap_or_else(of_agents));
            spec.description = known.about.into();
            let data = known.data.iter();
            spec.data
                .extend(data.map(|(key, about)| ((*key).into(), (*about).into())));
            vocabulary.add_event(spec);
        }
        vocabulary
    }
}

impl Vocabulary {
    /// Adds an event, or replaces the one of the same name.
    pub(crate) fn add_event(&mut self, spec: EventSpec) {
        let name = spec.event_type().as_str();
        if let Some(place) = self.places.get(name) {
            self.events[*place] = spec;
        } else {
            self.places.insert(name.to_owned(), self.events.len());
            self.events.push(spec);
        }
    }

    /// Adds a tool. A malformed glob is treated as a name.
    pub(crate) fn add_tool(&mut self, name: String) {
        if name.contains(['*', '?', '['])
            && let Ok(glob) = Pattern::new(&name)
        {
            self.globs.push(glob);
        }
        self.tools.push(name);
    }

    /// The built-in events in the order of [`EventType::BUILTIN`], those of agents, then the host's own.
    pub fn events(&self) -> &[EventSpec] {
        &self.events
    }

    /// The event of this name.
    #[must_use]
    pub fn event(&self, name: &str) -> Option<&EventSpec> {
        self.places.get(name).map(|place| &self.events[*place])
    }

    /// The host's tools as it has declared them: names and globs.
    #[must_use]
    pub fn tools(&self) -> &[String] {
        &self.tools
    }

    /// Returns whether a tool of this name has been declared, by its name or by a glob.
    #[must_use]
    pub fn has_tool(&self, name: &str) -> bool {
        let is_named = self.tools.iter().any(|tool| tool == name);
        is_named || self.globs.iter().any(|glob| glob.matches(name))
    }

    /// Returns whether a tool may have a name that this glob matches. A tool of a declared glob may have any name that
    /// begins as the glob does.
    pub(crate) fn may_have_tool_like(&self, wanted: &Pattern) -> bool {
        let start = beginning(wanted);
        let mut starts = self.globs.iter().map(beginning);
        starts.any(|it| it.starts_with(start) || start.starts_with(it))
            || self.tools.iter().any(|tool| wanted.matches(tool))
    }

    /// Returns whether hooks can stop what the host is about to do: as [`EventType::can_block`], except for
    /// the host's [notify-only](EventSpec::notify_only) events.
    #[must_use]
    pub fn can_block(&self, event_type: &EventType) -> bool {
        match event_type {
            EventType::Custom(custom) => match self.event(custom.as_str()) {
                Some(declared) => declared.can_block(),
                None => event_type.can_block(),
            },
            built_in => built_in.can_block(),
        }
    }

    /// Returns the event whose name is most similar to this text, if one is similar enough to be a typo.
    #[must_use]
    pub fn nearest_event(&self, text: &str) -> Option<&EventSpec> {
        // Some programs write `tool:before` and `tool:after`.
        let text = match text.split_once(':') {
            Some((category, action)) if self.event(text).is_none() => {
                let action = action.replacen("before", "pre_", 1);
                let action = action.replacen("after", "post_", 1);
                &format!("{category}:{}", action.replacen("__", "_", 1))
            }
            _ => text,
        };
        let names = self.events.iter().map(|spec| spec.event_type().as_str());
        self.event(nearest(text, names, LIKE_AN_EVENT)?)
    }

    /// Returns the tool whose name is most similar to this text, if one is similar enough to be a typo. Globs
    /// are not compared.
    #[must_use]
    pub fn nearest_tool(&self, text: &str) -> Option<&str> {
        let names = || self.tools.iter().map(String::as_str);
        let same = names().find(|tool| tool.eq_ignore_ascii_case(text));
        same.or_else(|| nearest(text, names(), LIKE_AN_EVENT))
    }

    /// Returns whether the host has declared events of its own.
    pub(crate) fn declares_events(&self) -> bool {
        self.events.len() > KNOWN.len()
    }

    pub(crate) fn kind_of(&self, event_type: &EventType) -> EventKind {
        EventKind {
            event_type: event_type.clone(),
            can_block: self.can_block(event_type),
        }
    }
}

/// Returns what all names that a glob matches begin with.
fn beginning(glob: &Pattern) -> &str {
    let text = glob.as_str();
    &text[..text.find(['*', '?', '[']).unwrap_or(text.len())]
}
