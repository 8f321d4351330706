//! The hooks of a host, in order, with an index by event.
//!
//! Runs nothing.
//!
//! When a hook is registered, it is added to the index of each of the sixteen built-in events that it
//! can match, and there under the tools that it names. A custom event gets an index when it is first
//! looked up. So the time of a lookup depends on the number of matches (and on the number of hooks of
//! that event whose tool is a glob), not on the number of other hooks.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{
    Arc, LazyLock, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak,
};

use crate::events::{EventType, HookEvent};
use crate::hook::Hook;
use crate::logging::{debug, warn};
use crate::pattern::{Alternative, Segment};
use crate::printable::printable;

/// Identifies one registered hook. Ids are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HookId(u64);

/// An ordered, thread-safe collection of hooks. All its methods take `&self`.
///
/// ```
/// use forge_hooks::{Hook, HookEvent, HookRegistry};
///
/// let registry = HookRegistry::new();
/// registry.register(Hook::new("tool:pre_execute", "echo 1")?);
/// registry.register(Hook::new("tool:*", "echo 2")?);
/// registry.register(Hook::new("llm:*", "echo 3")?);
/// assert_eq!(registry.get_hooks(&HookEvent::tool_pre_execute("bash", "ls")).len(), 2);
/// # Ok::<(), forge_hooks::HookError>(())
/// ```
#[derive(Debug, Default)]
pub struct HookRegistry {
    state: RwLock<State>,
    listeners: Mutex<Vec<Weak<dyn Removals>>>,
}

/// Receives the fingerprints of resident hooks that have been removed from a registry.
pub(crate) trait Removals: Send + Sync {
    fn removed(&self, fingerprints: &[u64]);
}

/// The most custom events that have an index. At this number, all indexes of custom events are dropped.
const MOST_CUSTOM_INDEXES: usize = 1024;

#[derive(Debug, Clone)]
struct Registered {
    id: HookId,
    /// Increases along the list of all hooks. Not the index in the list, since removing a hook would then
    /// change all hooks after it.
    position: u64,
    hook: Arc<Hook>,
}

#[derive(Debug)]
struct State {
    /// The next id. It is also greater than all positions.
    next: u64,
    /// In the order in which they run.
    hooks: Vec<Registered>,
    indexes: HashMap<EventType, EventIndex>,
}

/// The enabled hooks that can match one kind of event, each in one of the three lists.
#[derive(Debug, Default)]
struct EventIndex {
    any_tool: Vec<Registered>,
    by_tool: HashMap<Box<str>, Vec<Registered>>,
    /// Hooks with a glob for a tool: their patterns are matched at each lookup.
    glob_tools: Vec<Registered>,
}

impl HookRegistry {
    /// Creates an empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The registry that [`HookExecutor::global`](crate::HookExecutor::global) uses. It is empty
    /// until the host fills it.
    #[must_use]
    pub fn global() -> &'static Arc<Self> {
        static GLOBAL: LazyLock<Arc<HookRegistry>> = LazyLock::new(Default::default);
        &GLOBAL
    }

    /// Adds a hook after all others, in constant time.
    ///
    /// A pattern that matches no built-in event is treated as one for the host's own events. It is
    /// logged, as a warning if it looks like a typo.
    pub fn register(&self, hook: impl Into<Arc<Hook>>) -> HookId {
        let hook = hook.into();
        report_unknown_event(&hook);
        self.write().add(hook)
    }

    /// Adds hooks in this order, atomically: an event sees none of them, or all.
    pub fn load_hooks<I>(&self, hooks: I)
    where
        I: IntoIterator<Item: Into<Arc<Hook>>>,
    {
        let hooks: Vec<Arc<Hook>> = hooks.into_iter().map(Into::into).collect();
        hooks.iter().for_each(|hook| report_unknown_event(hook));
        let mut state = self.write();
        for hook in hooks {
            state.add(hook);
        }
    }

    /// Replaces hooks by others, atomically: an event sees the old ones or the new ones. The new ones come
    /// after all hooks that are registered already.
    pub(crate) fn replace(&self, old: &HashSet<HookId>, new: Vec<Arc<Hook>>) -> HashSet<HookId> {
        self.change(|state| {
            state.remove_where(|id, _| old.contains(&id));
            new.into_iter().map(|hook| state.add(hook)).collect()
        })
    }

    /// Removes all hooks whose pattern is exactly this text. Returns whether there were any.
    pub fn unregister(&self, event_pattern: &str) -> bool {
        self.change(|state| state.remove_where(|_, hook| hook.event_pattern() == event_pattern))
    }

    /// Removes one hook. Returns whether it was registered.
    pub fn remove(&self, id: HookId) -> bool {
        self.change(|state| state.remove_where(|other, _| other == id))
    }

    /// Removes all hooks.
    pub fn clear(&self) {
        self.change(|state| {
            *state = State {
                next: state.next,
                ..State::default()
            };
        });
    }

    /// Adds a listener that receives each removal, until the listener is dropped.
    pub(crate) fn add_removal_listener(&self, listener: Weak<dyn Removals>) {
        let mut listeners = self.listeners();
        listeners.retain(|listener| listener.strong_count() > 0);
        listeners.push(listener);
    }

    /// Switches a hook on or off; returns whether it is registered. Does not change the hooks file: when
    /// the file is loaded again, the hook is as the file says.
    ///
    /// The time grows with the number of all hooks, as with [`move_to`](HookRegistry::move_to).
    pub fn set_enabled(&self, id: HookId, enabled: bool) -> bool {
        self.change(|state| {
            let Some(index) = state.index_of(id) else {
                return false;
            };
            let hook = &mut state.hooks[index].hook;
            if hook.enabled() != enabled {
                *hook = Arc::new(Hook::clone(hook).with_enabled(enabled));
                state.rebuild_indexes();
            }
            true
        })
    }

    /// Moves a hook to this index among all hooks, counted from 0, or to the end if there are fewer;
    /// returns whether it is registered. The other hooks keep their order.
    pub fn move_to(&self, id: HookId, index: usize) -> bool {
        let mut state = self.write();
        let Some(old) = state.index_of(id) else {
            return false;
        };
        let moved = state.hooks.remove(old);
        let index = index.min(state.hooks.len());
        state.hooks.insert(index, moved);
        state.rebuild_indexes();
        true
    }

    /// Makes a change that may remove hooks, and reports removed resident hooks to the listeners.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.write();
        let before = state.residents();
        let result = change(&mut state);
        if before.is_empty() {
            return result;
        }
        let after = state.residents();
        drop(state);
        let gone: Vec<_> = before.difference(&after).copied().collect();
        let listeners = self.listeners().clone();
        for listener in listeners.iter().filter_map(Weak::upgrade) {
            listener.removed(&gone);
        }
        result
    }

    /// Returns the enabled hooks whose patterns match this event, in order. Does not test their conditions
    /// ([`Hook::with_when`]): [`Hook::matches`] and the executor do.
    #[must_use]
    pub fn get_hooks(&self, event: &HookEvent) -> Vec<Arc<Hook>> {
        if let Some(found) = self.read().lookup(event) {
            return found;
        }
        let mut state = self.write();
        state.build_index(&event.event_type);
        state.lookup(event).unwrap_or_default()
    }

    /// Returns all hooks, disabled ones too, in the order of registration unless one was
    /// [moved](HookRegistry::move_to).
    #[must_use]
    pub fn hooks(&self) -> Vec<Arc<Hook>> {
        self.entries().into_iter().map(|(_, hook)| hook).collect()
    }

    /// Returns all hooks in the same order, each with its id.
    #[must_use]
    pub fn entries(&self) -> Vec<(HookId, Arc<Hook>)> {
        let state = self.read();
        let entries = state.hooks.iter();
        entries
            .map(|entry| (entry.id, Arc::clone(&entry.hook)))
            .collect()
    }

    /// The number of hooks, disabled ones too.
    #[must_use]
    pub fn len(&self) -> usize {
        self.read().hooks.len()
    }

    /// Returns whether the registry has no hooks, not even disabled ones.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn listeners(&self) -> MutexGuard<'_, Vec<Weak<dyn Removals>>> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    // Only the allocator can panic while the lock is held, and the state is still a list of hooks after
    // such a panic.
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, hook: Arc<Hook>) -> HookId {
        let id = HookId(self.next);
        let entry = Registered {
            id,
            position: self.next,
            hook,
        };
        self.next += 1;
        for (event_type, index) in &mut self.indexes {
            index.add_if_matching(event_type, &entry);
        }
        self.hooks.push(entry);
        id
    }

    fn index_of(&self, id: HookId) -> Option<usize> {
        self.hooks.iter().position(|entry| entry.id == id)
    }

    /// Builds all indexes again, after a change of the order or of a hook.
    fn rebuild_indexes(&mut self) {
        for (position, entry) in (0..).zip(&mut self.hooks) {
            entry.position = position;
        }
        // Custom events get an index again at their next lookup.
        self.indexes.clear();
        for event_type in EventType::BUILTIN {
            self.build_index(&event_type);
        }
    }

    fn residents(&self) -> HashSet<u64> {
        let residents = self.hooks.iter().filter(|entry| entry.hook.resident());
        residents.map(|entry| entry.hook.fingerprint()).collect()
    }

    fn remove_where(&mut self, gone: impl Fn(HookId, &Hook) -> bool) -> bool {
        let before = self.hooks.len();
        self.hooks.retain(|entry| !gone(entry.id, &entry.hook));
        for index in self.indexes.values_mut() {
            index.remove_where(&gone);
        }
        self.hooks.len() < before
    }

    /// Returns none if the event has no index yet.
    fn lookup(&self, event: &HookEvent) -> Option<Vec<Arc<Hook>>> {
        self.indexes
            .get(&event.event_type)
            .map(|index| index.lookup(event))
    }

    fn build_index(&mut self, event_type: &EventType) {
        if self.indexes.len() >= EventType::BUILTIN.len() + MOST_CUSTOM_INDEXES {
            self.indexes
                .retain(|indexed, _| !matches!(indexed, EventType::Custom(_)));
        }
        let mut index = EventIndex::default();
        for entry in &self.hooks {
            index.add_if_matching(event_type, entry);
        }
        self.indexes.insert(event_type.clone(), index);
    }
}

impl Default for State {
    fn default() -> Self {
        let indexes = EventType::BUILTIN
            .into_iter()
            .map(|known| (known, EventIndex::default()))
            .collect();
        Self {
            next: 0,
            hooks: Vec::new(),
            indexes,
        }
    }
}

impl EventIndex {
    fn add_if_matching(&mut self, event_type: &EventType, entry: &Registered) {
        if !entry.hook.enabled() {
            return;
        }
        let matching = |alternative: &&Alternative| alternative.matches_type(event_type);
        let tools: Vec<_> = entry
            .hook
            .pattern()
            .alternatives()
            .iter()
            .filter(matching)
            .map(Alternative::tool)
            .collect();
        if tools.is_empty() {
            return;
        }
        if tools.iter().any(Option::is_none) {
            return self.any_tool.push(entry.clone());
        }
        let names: Option<Vec<_>> = tools.into_iter().flatten().map(Segment::literals).collect();
        let Some(names) = names else {
            return self.glob_tools.push(entry.clone());
        };
        for name in names.into_iter().flatten().collect::<BTreeSet<_>>() {
            self.by_tool
                .entry(name.into())
                .or_default()
                .push(entry.clone());
        }
    }

    fn remove_where(&mut self, gone: &impl Fn(HookId, &Hook) -> bool) {
        let stays = |entry: &Registered| !gone(entry.id, &entry.hook);
        self.any_tool.retain(stays);
        self.glob_tools.retain(stays);
        self.by_tool.retain(|_, hooks| {
            hooks.retain(stays);
            !hooks.is_empty()
        });
    }

    fn lookup(&self, event: &HookEvent) -> Vec<Arc<Hook>> {
        let named = event
            .tool_name
            .as_deref()
            .and_then(|tool| self.by_tool.get(tool));
        if self.any_tool.is_empty() && self.glob_tools.is_empty() && named.is_none() {
            return Vec::new();
        }
        let globs = self.glob_tools.iter();
        let globs = globs.filter(|entry| entry.hook.pattern().matches(event));
        let mut found: Vec<&Registered> = self
            .any_tool
            .iter()
            .chain(named.into_iter().flatten())
            .chain(globs)
            .collect();
        found.sort_unstable_by_key(|entry| entry.position);
        found
            .into_iter()
            .map(|entry| Arc::clone(&entry.hook))
            .collect()
    }
}

/// Skips hooks of files: the load has reported them, and there may be very many.
fn report_unknown_event(hook: &Hook) {
    if hook.source().is_some() || hook.pattern().matches_known() {
        return;
    }
    let pattern = printable(hook.event_pattern());
    match hook.pattern().nearest_known() {
        Some(nearest) => {
            warn!("hook pattern `{pattern}` matches no built-in event, did you mean `{nearest}`?");
        }
        None => debug!("hook pattern `{pattern}` matches no built-in event"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry_of(patterns: &[&str]) -> HookRegistry {
        let registry = HookRegistry::new();
        registry.load_hooks(
            patterns
                .iter()
                .map(|pattern| Hook::new(*pattern, "true").unwrap()),
        );
        registry
    }

    fn found(registry: &HookRegistry, event: &HookEvent) -> Vec<String> {
        registry
            .get_hooks(event)
            .iter()
            .map(|hook| hook.event_pattern().to_owned())
            .collect()
    }

    #[test]
    fn a_custom_event_finds_all_hooks() {
        let registry = registry_of(&["game:*", "*", "tool:*"]);
        let event = HookEvent::new(EventType::custom("game:level_loaded").unwrap());
        assert_eq!(found(&registry, &event), ["game:*", "*"]);
        registry.register(Hook::new("game:level_loaded", "true").unwrap());
        assert_eq!(
            found(&registry, &event),
            ["game:*", "*", "game:level_loaded"]
        );
        assert!(registry.unregister("*"));
        assert_eq!(found(&registry, &event), ["game:*", "game:level_loaded"]);
    }

    #[test]
    fn indexes_of_custom_events_are_bounded() {
        let registry = registry_of(&["*"]);
        for number in 0..MOST_CUSTOM_INDEXES * 2 + 10 {
            let event = HookEvent::new(EventType::custom(format!("game:e{number}")).unwrap());
            assert_eq!(registry.get_hooks(&event).len(), 1);
        }
        let bound = EventType::BUILTIN.len() + MOST_CUSTOM_INDEXES;
        assert!(registry.read().indexes.len() <= bound);
        assert_eq!(found(&registry, &HookEvent::user_interrupt()), ["*"]);
    }

    #[test]
    fn removed_hooks_leave_the_indexes() {
        let registry = registry_of(&["tool:pre_execute:bash"]);
        let id = registry.register(Hook::new("tool:*:b*", "true").unwrap());
        assert!(registry.remove(id) && !registry.remove(id));
        assert!(registry.unregister("tool:pre_execute:bash"));
        assert!(!registry.unregister("tool:pre_execute:bash"));
        let state = registry.read();
        assert!(
            state
                .indexes
                .values()
                .all(|index| index.by_tool.is_empty() && index.glob_tools.is_empty())
        );
    }
}
