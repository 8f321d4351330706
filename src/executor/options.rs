//! How an event is fired.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::events::HookEvent;
use crate::pool::Place;

/// How an event is fired.
///
/// ```
/// use forge_hooks::FireOptions;
///
/// let keep_going = FireOptions::default().stop_on_failure(false);
/// let in_order = FireOptions::default().ordered_by("document 7");
/// assert_ne!(keep_going, in_order);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct FireOptions {
    pub(super) stop_on_failure: bool,
    pub(super) parallel: bool,
    pub(super) handles_ask: bool,
    pub(super) skips_background: bool,
    order: Order,
}

/// Which other events a submitted event is not to overtake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Those of its session, unless it can block.
    BySession,
    /// Those with the same key, told by its hash: two keys that share one are in order too, which
    /// harms nobody.
    ByKey(u64),
    None,
}

impl Default for FireOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl FireOptions {
    /// The default, as a constant.
    pub const fn new() -> Self {
        Self {
            stop_on_failure: true,
            parallel: false,
            handles_ask: false,
            skips_background: false,
            order: Order::BySession,
        }
    }

    /// Whether the first hook that does not continue keeps those after it from running; true
    /// unless this says otherwise (FR-4.2).
    pub const fn stop_on_failure(mut self, stop: bool) -> Self {
        self.stop_on_failure = stop;
        self
    }

    /// Runs all hooks of the event at once, whatever fails, instead of one after the other: as many
    /// as there are threads for, of the pool and the one that would only wait otherwise. Results
    /// still come in the order of registration.
    pub const fn parallel(mut self) -> Self {
        self.parallel = true;
        self
    }

    /// Says that the host asks its user where a hook answers `ask`: it looks at
    /// [`Outcome::asks`](crate::Outcome::asks) before it goes on. Otherwise such a hook blocks, for
    /// nobody would be asked.
    pub const fn handles_ask(mut self) -> Self {
        self.handles_ask = true;
        self
    }

    /// Leaves hooks in the background out: for an event that they have been told of already.
    pub(crate) const fn without_background(mut self) -> Self {
        self.skips_background = true;
        self
    }

    /// Has submitted events with the same key run one after the other, in the order of their
    /// submission; those with other keys run beside them. Blocking calls do not wait for a turn.
    ///
    /// Without it, events of one session that cannot block are in order, so that a log of them is;
    /// events that can block are in no order, for nobody should wait for a log to be let go on.
    /// The key of a session is its id: `ordered_by(id)` puts other events in line with its.
    pub fn ordered_by(mut self, key: impl Hash) -> Self {
        self.order = Order::ByKey(hash(key));
        self
    }

    /// Puts a submitted event in no order at all.
    pub const fn unordered(mut self) -> Self {
        self.order = Order::None;
        self
    }

    /// A guard is an event that can block.
    pub(super) fn place_of(self, event: &HookEvent, guard: bool) -> Place {
        let session = || event.session_id.as_ref().filter(|_| !guard);
        let ordering_key = match self.order {
            Order::BySession => session().map(hash),
            Order::ByKey(key) => Some(key),
            Order::None => None,
        };
        Place {
            guard,
            ordering_key,
        }
    }
}

fn hash(key: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_in_order_unless_it_asks_for_leave() {
        let message = HookEvent::session_message("s1", "user", "hello");
        let guard = HookEvent::tool_pre_execute("bash", "ls").with_session_id("s1");
        let default = FireOptions::default();
        let ordering_key = default.place_of(&message, false).ordering_key;
        assert!(ordering_key.is_some());
        assert_eq!(default.place_of(&guard, true).ordering_key, None);
        assert!(default.place_of(&guard, true).guard);
        assert_eq!(
            default.unordered().place_of(&message, false).ordering_key,
            None
        );
        assert_eq!(
            default.ordered_by("s1").place_of(&guard, true).ordering_key,
            ordering_key
        );
        assert_ne!(
            default.ordered_by("s2").place_of(&guard, true).ordering_key,
            ordering_key
        );
        assert_eq!(
            default
                .place_of(&HookEvent::user_interrupt(), false)
                .ordering_key,
            None
        );
    }
}
