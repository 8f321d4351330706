//! The hooks of a host: a list in order, and a bounded cache of lookups.
//!
//! Runs nothing.
//!
//! The first event of a type and tool searches the list, and later ones use the cached result. Each change of the list
//! empties the cache.

use std::collections::{HashMap, HashSet};
use std::sync::{
    Arc, LazyLock, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak,
};

use crate::events::{EventType, HookEvent, Vocabulary};
use crate::hook::Hook;
use crate::lint::unfired;
use crate::logging::warn;
use crate::printable::printable;

/// Identifies one registered hook. Ids are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct HookId(u64);

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

/// The most lookups that are kept. At this number, the cache is emptied.
const MOST_CACHED: usize = 1024;

/// The key for no tool. It is not empty: glibc compares empty texts, which have no address, in 100 ns (AVX-512).
const NO_TOOL: &str = "\0";

/// The longest name of an event or a tool that is cached.
const LONGEST_CACHED: usize = 256;

#[derive(Debug, Default)]
struct State {
    next: u64,
    /// The hooks in the order in which they run.
    hooks: Vec<(HookId, Arc<Hook>)>,
    /// The enabled hooks that match an event of this type with this tool, or with `NO_TOOL`.
    cache: HashMap<EventType, HashMap<Box<str>, Vec<Arc<Hook>>>>,
}

impl HookRegistry {
    /// Creates an empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the registry that [`HookExecutor::global`](crate::HookExecutor::global) uses. It is empty until the host
    /// fills it.
    #[must_use]
    pub fn global() -> &'static Arc<Self> {
        static GLOBAL: LazyLock<Arc<HookRegistry>> = LazyLock::new(Default::default);
        &GLOBAL
    }

    /// Adds a hook after all others, in constant time.
    ///
    /// A pattern that matches no built-in event is treated as one for the host's own events. If it looks like a typo,
    /// a warning is logged.
    pub fn register(&self, hook: impl Into<Arc<Hook>>) {
        let hook = hook.into();
        report_unknown_event(&hook);
        self.write().add(hook);
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

    /// Removes all hooks.
    pub fn clear(&self) {
        self.change(|state| state.hooks.clear());
    }

    /// Adds a listener that receives each removal, until the listener is dropped.
    pub(crate) fn add_removal_listener(&self, listener: Weak<dyn Removals>) {
        let mut listeners = self.listeners();
        listeners.retain(|listener| listener.strong_count() > 0);
        listeners.push(listener);
    }

    /// Switches a hook on or off; returns whether it is registered. Does not change the hooks file: when
    /// the file is loaded again, the hook is as the file says.
    #[cfg(feature = "cli")]
    pub(crate) fn set_enabled(&self, id: HookId, enabled: bool) -> bool {
        self.change(|state| {
            let mut hooks = state.hooks.iter_mut();
            let Some((_, hook)) = hooks.find(|(other, _)| *other == id) else {
                return false;
            };
            if hook.enabled() != enabled {
                *hook = Arc::new(Hook::clone(hook).with_enabled(enabled));
            }
            true
        })
    }

    /// Makes a change, and reports resident hooks that it has removed to the listeners.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.write();
        let before = state.residents();
        let result = change(&mut state);
        state.cache.clear();
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
        let tool = event.tool_name.as_deref().unwrap_or(NO_TOOL);
        let state = self.read();
        let is_short = tool.len().max(event.event_type.as_str().len()) <= LONGEST_CACHED;
        if !is_short || event.tool_name.as_deref() == Some(NO_TOOL) {
            return state.search(event);
        }
        let of_type = state.cache.get(&event.event_type);
        if let Some(hooks) = of_type.and_then(|tools| tools.get(tool)) {
            return hooks.clone();
        }
        drop(state);
        let mut state = self.write();
        let hooks = state.search(event);
        state.keep(event, tool, &hooks);
        hooks
    }

    /// Returns all hooks, disabled ones too, in the order of registration.
    #[must_use]
    pub fn hooks(&self) -> Vec<Arc<Hook>> {
        let state = self.read();
        state
            .hooks
            .iter()
            .map(|(_, hook)| Arc::clone(hook))
            .collect()
    }

    /// Returns all hooks in the same order, each with its id.
    #[cfg(feature = "cli")]
    pub(crate) fn entries(&self) -> Vec<(HookId, Arc<Hook>)> {
        self.read().hooks.clone()
    }

    /// Returns the number of hooks, disabled ones too.
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
        self.cache.clear();
        let id = HookId(self.next);
        self.next += 1;
        self.hooks.push((id, hook));
        id
    }

    fn remove_where(&mut self, gone: impl Fn(HookId, &Hook) -> bool) -> bool {
        let before = self.hooks.len();
        self.hooks.retain(|(id, hook)| !gone(*id, hook));
        self.hooks.len() < before
    }

    fn residents(&self) -> HashSet<u64> {
        let residents = self.hooks.iter().filter(|(_, hook)| hook.resident());
        residents.map(|(_, hook)| hook.fingerprint()).collect()
    }

    fn search(&self, event: &HookEvent) -> Vec<Arc<Hook>> {
        let hooks = self.hooks.iter().map(|(_, hook)| hook);
        let matching = hooks.filter(|hook| hook.enabled() && hook.pattern().matches(event));
        matching.cloned().collect()
    }

    fn keep(&mut self, event: &HookEvent, tool: &str, hooks: &[Arc<Hook>]) {
        if self.count_cached() >= MOST_CACHED {
            self.cache.clear();
        }
        let of_type = self.cache.entry(event.event_type.clone()).or_default();
        of_type.insert(tool.into(), hooks.to_vec());
    }

    fn count_cached(&self) -> usize {
        self.cache.values().map(HashMap::len).sum()
    }
}

/// Reports a hook for an unknown event. Skips hooks of files: the load has reported them, and there may be very many.
fn report_unknown_event(hook: &Hook) {
    static KNOWN: LazyLock<Vocabulary> = LazyLock::new(Vocabulary::default);
    if hook.source().is_some() || hook.pattern().matches_known() {
        return;
    }
    for unfired in unfired(hook.pattern(), &KNOWN) {
        let suggestion = unfired
            .suggestion
            .map(|suggestion| format!(", did you mean `{suggestion}`?"));
        let message = printable(&unfired.message) + &suggestion.unwrap_or_default();
        warn!("hook pattern: {message}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry_of(patterns: &[&str]) -> HookRegistry {
        let registry = HookRegistry::new();
        let hooks = patterns
            .iter()
            .map(|pattern| Hook::new(*pattern, "true").unwrap());
        registry.load_hooks(hooks);
        registry
    }

    #[test]
    fn the_cache_is_bounded() {
        let registry = registry_of(&["*"]);
        let fire = |name: String, tool: String| {
            let event = HookEvent::new(EventType::custom(name).unwrap()).with_tool_name(tool);
            assert_eq!(registry.get_hooks(&event).len(), 1);
            registry.read().count_cached()
        };
        for number in 0..MOST_CACHED * 2 + 10 {
            let of_tool = fire("game:e".to_owned(), number.to_string());
            let of_event = fire(format!("game:e{number}"), "bash".to_owned());
            assert!(of_tool.max(of_event) <= MOST_CACHED && of_tool.min(of_event) > 0);
        }
    }

    #[test]
    fn long_names_are_not_cached() {
        let registry = registry_of(&["tool:*:t*"]);
        for length in [LONGEST_CACHED, LONGEST_CACHED + 1] {
            let event = HookEvent::tool_pre_execute("t".repeat(length), "");
            assert_eq!(registry.get_hooks(&event).len(), 1);
        }
        assert_eq!(registry.read().count_cached(), 1);
    }
}
