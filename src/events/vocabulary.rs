//! The events and tools that a host fires, and whether hooks can block each event.
//!
//! Knows names, not patterns or hooks.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use super::event_type::{LIKE_AN_EVENT, nearest};
use super::spec::{self, EventSpec};
use super::{EventKind, EventType};
use crate::globs::{Glob, with_slashes};

/// The events and tools of a host: the sixteen built-in events, the events of agents (`agent:stop` and the
/// others that [`HookEvent`](crate::HookEvent) has a constructor for), the host's own events, and its tools. Warnings about
/// hooks and the JSON Schema are made from them.
#[derive(Debug, Clone)]
pub(crate) struct Vocabulary {
    events: Vec<EventSpec>,
    /// The index of each event in `events`, by its name.
    places: HashMap<String, usize>,
    tools: Vec<String>,
    /// The globs among `tools`.
    globs: Vec<Glob>,
    /// True if agents fire the events, and not a host: then the usual tools have the names of this crate.
    is_of_agents: bool,
    /// The number of `events` that this crate defines.
    known: usize,
}

/// The events that this crate knows, and no tools.
impl Default for Vocabulary {
    fn default() -> Self {
        let mut vocabulary = Self {
            events: Vec::new(),
            places: HashMap::new(),
            known: 0,
            tools: Vec::new(),
            globs: Vec::new(),
            is_of_agents: false,
        };
        for spec in spec::known() {
            vocabulary.add_event(spec);
        }
        vocabulary.known = vocabulary.events.len();
        vocabulary
    }
}

impl Vocabulary {
    /// Returns the default vocabulary. All hosts of this process share it.
    pub(crate) fn known() -> Arc<Self> {
        static KNOWN: LazyLock<Arc<Vocabulary>> = LazyLock::new(Arc::default);
        Arc::clone(&KNOWN)
    }

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
            && let Ok(glob) = Glob::new(&name)
        {
            self.globs.push(glob);
        }
        self.tools.push(name);
    }

    /// Records that agents fire the events.
    #[cfg(any(test, feature = "cli"))]
    pub(crate) fn set_of_agents(&mut self) {
        self.is_of_agents = true;
    }

    /// Returns whether agents fire the events, so that the usual tools have the names of this crate.
    pub(crate) fn is_of_agents(&self) -> bool {
        self.is_of_agents
    }

    /// Returns the built-in events in the order of [`EventType::BUILTIN`], those of agents, then the host's own.
    pub(crate) fn events(&self) -> &[EventSpec] {
        &self.events
    }

    /// Returns the event of this name.
    #[must_use]
    pub(crate) fn event(&self, name: &str) -> Option<&EventSpec> {
        self.places.get(name).map(|place| &self.events[*place])
    }

    /// Returns the host's tools as it has declared them: names and globs.
    #[must_use]
    pub(crate) fn tools(&self) -> &[String] {
        &self.tools
    }

    /// Returns whether a tool of this name has been declared, by its name or by a glob.
    #[must_use]
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        let is_named = self.tools.iter().any(|tool| tool == name);
        is_named || self.globs.iter().any(|glob| glob.matches(name))
    }

    /// Returns whether a tool may have a name that this glob matches. The tools of a declared glob may have any name with
    /// the glob's prefix.
    pub(crate) fn may_have_tool_like(&self, wanted: &str, is_it: impl Fn(&str) -> bool) -> bool {
        let wanted = with_slashes(wanted);
        let start = beginning(&wanted);
        let mut starts = self.globs.iter().map(|glob| beginning(glob.as_str()));
        starts.any(|declared| declared.starts_with(start) || start.starts_with(declared))
            || self.tools.iter().any(|tool| is_it(tool))
    }

    /// Returns whether hooks can block the event: as [`EventType::can_block`], except for the host's
    /// [notify-only](EventSpec::notify_only) events.
    #[must_use]
    pub(crate) fn can_block(&self, event_type: &EventType) -> bool {
        let declared = self.event(event_type.as_str());
        event_type.can_block() && declared.is_none_or(EventSpec::can_block)
    }

    /// Returns the event whose name is most similar to this text, if one is similar enough to be a typo.
    #[must_use]
    pub(crate) fn nearest_event(&self, text: &str) -> Option<&EventSpec> {
        if let Some(event) = self.before_or_after(text) {
            return Some(event);
        }
        let names = self.events.iter().map(|spec| spec.event_type().as_str());
        self.event(nearest(text, names, LIKE_AN_EVENT)?)
    }

    /// Returns the event of a category that `before` or `after` means, as in `tool:before`.
    fn before_or_after(&self, text: &str) -> Option<&EventSpec> {
        let (category, action) = text.split_once(':')?;
        let prefix = match action {
            action if action.starts_with("before") => "pre_",
            action if action.starts_with("after") => "post_",
            _ => return None,
        };
        let is_known = self.event(text).is_some();
        let mut events = self.events.iter().filter(|_| !is_known);
        events.find(|spec| {
            let name = spec.event_type().as_str().split_once(':');
            name.is_some_and(|(own, action)| own == category && action.starts_with(prefix))
        })
    }

    /// Returns the tool whose name is most similar to this text, if one is similar enough to be a typo. Globs
    /// are not compared.
    #[must_use]
    pub(crate) fn nearest_tool(&self, text: &str) -> Option<&str> {
        let names = || self.tools.iter().map(String::as_str);
        let same = names().find(|tool| tool.eq_ignore_ascii_case(text));
        same.or_else(|| nearest(text, names(), LIKE_AN_EVENT))
    }

    /// Returns whether the host has declared events of its own.
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

/// Returns the prefix that all names share that a glob matches.
fn beginning(glob: &str) -> &str {
    &glob[..glob.find(['*', '?', '[']).unwrap_or(glob.len())]
}
