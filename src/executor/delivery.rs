//! The channel from a submitted event to its host. Its end wakes a thread or a task.
//!
//! A handle, a receiver and a future are views of this one channel. Knows neither the run of a hook nor the queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::unseen::Unseen;
use crate::events::{EventType, InputChange};
use crate::logging::error;
use crate::outcome::HookResult;
use crate::sync::{Mutex, thread};

/// The sending side of the results of an event.
pub(super) struct ResultSender {
    pub(super) channel: Arc<Channel>,
    /// A copy of the results, if events are observed.
    kept: Option<Vec<HookResult>>,
}

/// The sending end, which the engine and the host's handle share.
pub(super) struct Channel(Mutex<ChannelState>, Arc<Unseen>);

struct ChannelState {
    /// The channel has capacity for all results, so that sending never blocks. None after the last result.
    sender: Option<Sender<HookResult>>,
    /// True if the host receives results alone, and no change of the event.
    refuses_change: bool,
    /// The event, once the host has dropped its handle without waiting for the outcome.
    left: Option<EventType>,
    /// The change of the event's input by hooks, once all results have been sent.
    change: Option<Arc<InputChange>>,
    /// The task that awaits the end.
    waker: Option<Waker>,
    /// The thread that waits for the end.
    waiter: Option<thread::Thread>,
}

impl ResultSender {
    /// Creates a channel for the results of this many hooks, of which a copy may be kept.
    pub(super) fn new(
        hooks: usize,
        keeps: bool,
        unseen: Arc<Unseen>,
    ) -> (Self, Receiver<HookResult>) {
        // One more tells of a panic of the engine.
        let (sender, results) = bounded(hooks + 1);
        let state = ChannelState {
            sender: Some(sender),
            refuses_change: false,
            left: None,
            change: None,
            waker: None,
            waiter: None,
        };
        let sender = Self {
            channel: Arc::new(Channel(Mutex::new(state), unseen)),
            kept: keeps.then(Vec::new),
        };
        (sender, results)
    }

    /// Returns the copy of the results, once.
    pub(super) fn take_kept(&mut self) -> Option<Vec<HookResult>> {
        self.kept.take()
    }

    pub(super) fn send(&mut self, result: HookResult) {
        if let Some(kept) = &mut self.kept {
            kept.push(result.clone());
        }
        let state = self.channel.0.lock();
        if let Some(event) = state.left.clone() {
            drop(state);
            return self.channel.1.note(&event, result);
        }
        // If the host has dropped the receiver, the result is dropped after the lock: it may hold the host's code.
        let unsent = match &state.sender {
            Some(sender) => sender.try_send(result).err(),
            None => None,
        };
        drop(state);
        drop(unsent);
    }

    /// Reports the end. All results are sent first, so that a thread woken by the end finds them.
    pub(super) fn close(&mut self, change: Option<Arc<InputChange>>) {
        let mut state = self.channel.0.lock();
        if change.is_some()
            && state.refuses_change
            && let Some(sender) = &state.sender
        {
            // There is room for it. A receiver that is gone needs none.
            let _ = sender.try_send(HookResult::unseen_change());
        }
        (state.sender, state.change) = (None, change);
        let (waker, waiter) = (state.waker.take(), state.waiter.take());
        drop(state);
        if let Some(waiter) = waiter {
            waiter.unpark();
        }
        if let Some(waker) = waker
            && catch_unwind(AssertUnwindSafe(|| waker.wake())).is_err()
        {
            error!("the waker of a submitted event panicked");
        }
    }
}

impl Channel {
    /// Returns whether the last result has been sent.
    pub(super) fn is_closed(&self) -> bool {
        self.0.lock().sender.is_none()
    }

    /// Makes a change of the event block, for a host that receives results alone. Returns whether the event has been changed.
    pub(super) fn refuse_change(&self) -> bool {
        let mut state = self.0.lock();
        state.refuses_change = true;
        state.change.is_some()
    }

    /// Notes that the host has dropped its handle: the results that have arrived and those that will are unseen.
    pub(super) fn leave(&self, event: &EventType, results: &Receiver<HookResult>) {
        self.0.lock().left = Some(event.clone());
        for result in results.try_iter() {
            self.1.note(event, result);
        }
    }

    /// Returns the change of the event's input by hooks, once.
    pub(super) fn take_change(&self) -> Option<Arc<InputChange>> {
        self.0.lock().change.take()
    }

    /// Waits until the last result has been sent. Returns false if the deadline comes first. This does not wait for the
    /// channel itself, which would spin first, beside the hook, and wake up for each result.
    pub(super) fn wait_for_the_end(&self, deadline: Option<Instant>) -> bool {
        loop {
            let mut state = self.0.lock();
            if state.sender.is_none() {
                return true;
            }
            state.waiter = Some(thread::current());
            drop(state);
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            match left {
                None => thread::park(),
                Some(Duration::ZERO) => return false,
                Some(left) => thread::park_timeout(left),
            }
        }
    }

    /// Registers the task that the end wakes, in place of an earlier one. Returns false if the end has been reached.
    pub(super) fn wakes_at_end(&self, task: &Waker) -> bool {
        // Cloning and dropping a waker runs the host's code, so neither happens while the lock is held.
        let new = task.clone();
        let mut state = self.0.lock();
        if state.sender.is_none() {
            return false;
        }
        let old = state.waker.replace(new);
        drop(state);
        drop(old);
        true
    }
}
