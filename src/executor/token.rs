//! A token, which cancels calls and submitted events from any thread.
//!
//! Tokens are a graph of three levels. Above are the tokens of an executor (one for fired events, one for background hooks)
//! and those of the host. Below are the tokens of each submitted event, each background hook, and each call to which the
//! host has given a token. A token that is cancelled requests the flags below it, and a thread that checks one also checks
//! those above it. A token first becomes known to those above it and then checks them, and an event checks its token once it
//! has its place in the queue, so that no cancellation is lost in between. Knows neither hooks nor threads.

use std::fmt;
use std::sync::{Arc, Weak};

use super::delivery::Channel;
use crate::pool::Waiting;
use crate::process::Cancel;
use crate::runner::Cancellation;
use crate::sync::Mutex;

/// Cancels calls and submitted events, from any thread. Clones cancel the same ones. Dropping it has no effect.
///
/// A host creates one, and gives it to each call that it cancels: to [`FireOptions`](crate::FireOptions::cancelled_by), to
/// a [`Lifecycle`](crate::Lifecycle::cancelled_by) or to a [`Request`](crate::lifecycle::Request::cancelled_by).
/// [`HookHandle::cancel_token`](crate::HookHandle::cancel_token) returns one for its event.
///
/// ```
/// use forge_hooks::{CancelToken, FireOptions, Hook, HookEvent, HookExecutor};
///
/// let executor = HookExecutor::builder().build();
/// executor.registry().register(Hook::new("tool:*", "exit 0")?);
/// let token = CancelToken::new();
/// token.cancel(); // any thread may do so, before the call or while it runs
/// let event = HookEvent::tool_pre_execute("bash", "ls");
/// let outcome = executor.execute(&event, FireOptions::new().cancelled_by(&token));
/// assert_eq!(outcome.reason(), Some("cancelled before its turn"));
/// # Ok::<(), forge_hooks::HookError>(())
/// ```
#[derive(Clone, Default)]
pub struct CancelToken(Arc<Node>);

#[derive(Default)]
struct Node {
    /// The flag, and the pipe that a run waits for.
    own: Cancel,
    /// The executor's token, and the host's.
    parents: [Option<CancelToken>; 2],
    /// The channel of a submitted event, which has ended when the channel is closed.
    channel: Option<Arc<Channel>>,
    links: Mutex<Links>,
}

#[derive(Default)]
struct Links {
    children: Vec<Weak<Node>>,
    /// The queue in which a submitted event waits for a thread.
    waits_in: Option<Waiting>,
}

impl CancelToken {
    /// Creates a token that cancels nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a token that is cancelled.
    pub(super) fn cancelled() -> Self {
        let token = Self::new();
        token.cancel();
        token
    }

    /// Creates a token that its parents cancel too.
    pub(super) fn below(parents: [Option<Self>; 2], channel: Option<Arc<Channel>>) -> Self {
        let token = Self(Arc::new(Node {
            own: Cancel::default(),
            parents,
            channel,
            links: Mutex::default(),
        }));
        for parent in token.0.parents.iter().flatten() {
            parent.adopt(&token);
        }
        // A parent may have been cancelled before it knew this one, and a run waits for its own flag.
        if token.is_cancelled() {
            token.0.own.request();
        }
        token
    }

    fn adopt(&self, child: &Self) {
        let children = &mut self.0.links.lock().children;
        if children.len() == children.capacity() {
            children.retain(|child| child.strong_count() > 0);
            // The reserved space makes the next sweep come only after as many new children as are left now.
            children.reserve(children.len() + 1);
        }
        children.push(Arc::downgrade(&child.0));
    }

    /// Cancels the calls and events that have this token, as [`HookHandle::cancel`](crate::HookHandle::cancel) does, without
    /// waiting. The token stays cancelled: a call or event that gets it later is cancelled at once. An event without hooks
    /// has nothing to cancel, and is allowed; an action of a [`Lifecycle`](crate::Lifecycle) is not begun.
    pub fn cancel(&self) {
        // A loop instead of recursion: a host may give each event the token of the one before.
        let mut waiting = vec![self.clone()];
        while let Some(token) = waiting.pop() {
            if !token.0.own.request() {
                continue;
            }
            token.withdraw();
            // The latest children are cancelled first: they wait for the others.
            waiting.extend(token.children());
        }
    }

    /// Records the queue in which an event waits.
    pub(super) fn waits_in(&self, queue: Waiting) {
        self.0.links.lock().waits_in = Some(queue);
        // The token may have been cancelled before its queue was known.
        if self.is_cancelled() {
            self.withdraw();
        }
    }

    fn withdraw(&self) {
        let waiting = self.0.links.lock().waits_in.take();
        if let Some(waiting) = waiting {
            waiting.withdraw();
        }
    }

    /// Returns whether the token has been cancelled. The token of a submitted event is also cancelled if its event is
    /// cancelled in another way.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Returns whether the hooks of all calls and events that the token was given to have ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        let mut waiting = vec![self.clone()];
        while let Some(token) = waiting.pop() {
            let channel = token.0.channel.as_ref();
            let children = token.children();
            // A call that has ended has dropped its token.
            let has_call = children.iter().any(|child| child.0.channel.is_none());
            if has_call || channel.is_some_and(|channel| !channel.is_closed()) {
                return false;
            }
            waiting.extend(children);
        }
        true
    }

    fn children(&self) -> Vec<Self> {
        let children = self.0.links.lock().children.clone();
        children
            .iter()
            .filter_map(Weak::upgrade)
            .map(Self)
            .collect()
    }

    /// Returns the cancellation that the hooks of an event check.
    pub(super) fn cancellation(&self) -> Arc<dyn Cancellation> {
        Arc::clone(&self.0) as _
    }
}

impl Cancellation for Node {
    fn flag(&self) -> &Cancel {
        &self.own
    }

    // The parents are enough: a token above them requests their flags too.
    fn is_cancelled(&self) -> bool {
        self.own.is_requested() || self.parents().any(|token| token.0.own.is_requested())
    }
}

impl Node {
    fn parents(&self) -> impl Iterator<Item = &CancelToken> {
        self.parents.iter().flatten()
    }
}

/// Drops the tokens above that no other value holds one by one: a host may make a chain that is longer than a stack.
impl Drop for Node {
    fn drop(&mut self) {
        let mut above: Vec<CancelToken> = Vec::new();
        let parents = std::mem::take(&mut self.parents);
        above.extend(parents.into_iter().flatten().filter(has_parents));
        while let Some(token) = above.pop() {
            if let Some(mut node) = Arc::into_inner(token.0) {
                let parents = std::mem::take(&mut node.parents);
                above.extend(parents.into_iter().flatten().filter(has_parents));
            }
        }
    }
}

fn has_parents(token: &CancelToken) -> bool {
    token.0.parents().next().is_some()
}

/// Two tokens are equal if they are clones of one.
impl PartialEq for CancelToken {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for CancelToken {}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken")
            .field("is_cancelled", &self.is_cancelled())
            .field("is_finished", &self.is_finished())
            .finish()
    }
}

#[cfg(all(test, not(forge_hooks_shuttle)))]
mod tests {
    use super::*;
    use crate::growth::assert_linear;

    #[test]
    fn a_long_chain_of_tokens_needs_no_deep_stack() {
        let first = CancelToken::new();
        let mut last = first.clone();
        for _ in 0..100_000 {
            last = CancelToken::below([None, Some(last)], None);
        }
        assert!(!last.is_cancelled() && !first.is_finished());
        first.cancel();
        assert!(last.is_cancelled());
        drop(last);
        assert!(first.is_finished());
    }

    /// Each token is below that of the executor and the one before it.
    #[test]
    fn each_token_of_a_chain_is_cancelled_once() {
        let cancel = |length: &usize| {
            let first = CancelToken::new();
            let mut all = vec![first.clone()];
            for _ in 0..*length {
                let last = all.last().cloned();
                all.push(CancelToken::below([Some(first.clone()), last], None));
            }
            first.cancel();
            assert!(all.iter().all(CancelToken::is_cancelled));
        };
        assert_linear("tokens", 1_000, |length| length, cancel);
    }
}
