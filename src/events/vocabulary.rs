//! The events and tools that a host fires, and whether hooks may block each event.
//!
//! Knows names, nothing of patterns and hooks.

use std::collections::{HashMap, HashSet};

use glob::Pattern;

use super::event_type::nearest;
use super::spec::{self, EventSpec};
use super::{EventKind, EventType, agent};

/// What a host fires: the sixteen built-in events, six of agents (`agent:stop` and the others that
/// [`HookEvent`](crate::HookEvent) has a constructor for), and its own, and its tools. A host declares them
/// with [`HooksBuilder::event`](crate::HooksBuilder::event) and
/// [`HooksBuilder::tools`](crate::HooksBuilder::tools); help for the authors of hooks is made of it.
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
/// assert_eq!(hooks.vocabulary().events().len(), 23);
/// assert!(!hooks.vocabulary().can_block(&saved));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Vocabulary {
    events: Vec<EventSpec>,
    /// The place of each in `events`, by its name.
    places: HashMap<String, usize>,
    notify_only: HashSet<EventType>,
    tools: Vec<String>,
    /// Those of `tools` that are globs.
    globs: Vec<Pattern>,
    /// So many of `events` are this crate's.
    known: usize,
}

/// The events that this crate knows, and no tools.
impl Default for Vocabulary {
    fn default() -> Self {
        let mut vocabulary = Self {
            events: Vec::new(),
            places: HashMap::new(),
            known: 0,
            notify_only: HashSet::new(),
            tools: Vec::new(),
            globs: Vec::new(),
        };
        for spec in spec::builtin().chain(agent::specs()) {
            vocabulary.add_event(spec);
        }
        vocabulary.known = vocabulary.events.len();
        vocabulary
    }
}

impl Vocabulary {
    /// Replaces one of the same name.
    pub(crate) fn add_event(&mut self, spec: EventSpec) {
        let event_type = spec.event_type();
        if !spec.can_block() && matches!(event_type, EventType::Custom(_)) {
            self.notify_only.insert(event_type.clone());
        } else {
            self.notify_only.remove(event_type);
        }
        let name = event_type.as_str();
        if let Some(place) = self.places.get(name) {
            self.events[*place] = spec;
        } else {
            self.places.insert(name.to_owned(), self.events.len());
            self.events.push(spec);
        }
    }

    /// A glob that is malformed is a name.
    pub(crate) fn add_tool(&mut self, name: String) {
        if name.contains(['*', '?', '['])
            && let Ok(glob) = Pattern::new(&name)
        {
            self.globs.push(glob);
        }
        self.tools.push(name);
    }

    /// The built-in events in the order of the specification, those of agents, then the host's own.
    pub fn events(&self) -> &[EventSpec] {
        &self.events
    }

    /// The event of this name.
    #[must_use]
    pub fn event(&self, name: &str) -> Option<&EventSpec> {
        self.places.get(name).map(|place| &self.events[*place])
    }

    /// The host's tools, names and globs, as it has declared them.
    #[must_use]
    pub fn tools(&self) -> &[String] {
        &self.tools
    }

    /// Whether a tool of this name has been declared, itself or by a glob.
    #[must_use]
    pub fn has_tool(&self, name: &str) -> bool {
        let is_named = self.tools.iter().any(|tool| tool == name);
        is_named || self.globs.iter().any(|glob| glob.matches(name))
    }

    /// Whether one of the tools may pass a test of its name: with a glob, any name may be one.
    pub(crate) fn may_have_tool_like(&self, is_it: impl Fn(&str) -> bool) -> bool {
        !self.globs.is_empty() || self.tools.iter().any(|tool| is_it(tool))
    }

    /// Whether hooks may stop what the host is about to do: [`EventType::can_block`], except for the
    /// host's events that [only notify](EventSpec::notify_only).
    #[must_use]
    pub fn can_block(&self, event_type: &EventType) -> bool {
        event_type.can_block() && !self.notify_only.contains(event_type)
    }

    /// The event whose name is most like this one, unless none is near enough to be meant.
    #[must_use]
    pub fn nearest_event(&self, text: &str) -> Option<&EventSpec> {
        let names = self.events.iter().map(|spec| spec.event_type().as_str());
        self.event(nearest(text, names)?)
    }

    /// The tool whose name is most like this one, unless none is near enough to be meant. Globs are
    /// not compared.
    #[must_use]
    pub fn nearest_tool(&self, text: &str) -> Option<&str> {
        let names = || self.tools.iter().map(String::as_str);
        let same = names().find(|tool| tool.eq_ignore_ascii_case(text));
        same.or_else(|| nearest(text, names()))
    }

    /// Whether the host has declared events of its own.
    pub(crate) fn declares_events(&self) -> bool {
        self.events.len() > self.known
    }

    pub(crate) fn kind_of(&self, event_type: &EventType) -> EventKind {
        EventKind {
            event_type: event_type.clone(),
            can_block: self.can_block(event_type),
        }
    }
}
