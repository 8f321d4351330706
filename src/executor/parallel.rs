//! Runs the hooks of one event all at once.
//!
//! The calling thread takes one hook after the other, and so do threads of the pool that are free.
//! So it never waits for a thread, only for running hooks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_channel::{Sender, bounded};

use super::core::Core;
use crate::hook::Hook;
use crate::outcome::HookResult;
use crate::pool::{Job, Priority, Refusal};
use crate::process::Cancel;
use crate::runner::{Firing, Nesting, depth};

/// An event that several threads can use.
#[derive(Clone)]
pub(super) struct SharedFiring {
    pub(super) firing: Arc<Firing<'static>>,
    cancel: Arc<Cancel>,
    /// Whether it belongs to a blocking call: then only the thread that runs a hook can report its
    /// end to a shutdown.
    is_lent: bool,
}

impl SharedFiring {
    pub(super) fn new(firing: Firing<'_>) -> Self {
        let is_lent = firing.cancel.is_none();
        let cancel = firing.cancel.clone().unwrap_or_default();
        Self {
            firing: Arc::new(firing.into_shared(Arc::clone(&cancel))),
            cancel,
            is_lent,
        }
    }
}

/// Runs all hooks even if some fail, and passes on the results in the order of the hooks.
pub(super) fn run(
    core: &Arc<Core>,
    shared: SharedFiring,
    hooks: Vec<Arc<Hook>>,
    answer: &mut dyn FnMut(HookResult),
) {
    let count = hooks.len();
    let priority = Priority {
        guard: shared.firing.can_block,
        ordering_key: None,
    };
    let (sender, results) = bounded(count);
    let work = Arc::new(Work {
        core: Arc::clone(core),
        shared,
        depth: depth(),
        hooks,
        next: AtomicUsize::new(0),
        results: sender,
    });
    for _ in 1..count.min(core.pool.threads() + 1) {
        // Without help this thread does everything itself.
        if core
            .pool
            .submit(priority, Box::new(Help(Arc::clone(&work))))
            .is_err()
        {
            break;
        }
    }
    let mut in_order = InOrder::new(count, answer);
    while work.do_one() {
        results
            .try_iter()
            .for_each(|(index, result)| in_order.add(index, result));
    }
    // The remaining hooks were started by other threads, and have deadlines.
    while !in_order.is_complete()
        && let Ok((index, result)) = results.recv()
    {
        in_order.add(index, result);
    }
}

struct Work {
    core: Arc<Core>,
    shared: SharedFiring,
    /// The nesting depth of the code that started it.
    depth: usize,
    hooks: Vec<Arc<Hook>>,
    /// The first hook that no thread has taken.
    next: AtomicUsize,
    /// A channel with capacity for all results.
    results: Sender<(usize, HookResult)>,
}

impl Work {
    /// Runs the next hook; false if none was left.
    fn do_one(&self) -> bool {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(hook) = self.hooks.get(index) else {
            return false;
        };
        // A result is sent in every case, since the calling thread waits for it.
        let runner = &self.core.runner;
        let run = || runner.run_unless_cancelled(&self.shared.firing, hook);
        let result = catch_unwind(AssertUnwindSafe(run));
        let result = result.unwrap_or_else(|_| runner.panicked(hook));
        if self.shared.is_lent {
            self.core.closing.note(&result);
        }
        let _ = self.results.try_send((index, result));
        true
    }
}

/// Lets a thread of the pool help. The work completes without it too.
struct Help(Arc<Work>);

impl Job for Help {
    fn cancel(&self) -> &Arc<Cancel> {
        &self.0.shared.cancel
    }

    fn run(self: Box<Self>) {
        let _nesting = Nesting::resume(self.0.depth);
        while self.0.do_one() {}
    }

    fn abandon(self: Box<Self>) {}

    fn refuse(self: Box<Self>, _why: &Refusal) {}
}

/// Passes on results in the order of their hooks.
struct InOrder<'a> {
    waiting: Vec<Option<HookResult>>,
    next: usize,
    answer: &'a mut dyn FnMut(HookResult),
}

impl<'a> InOrder<'a> {
    fn new(count: usize, answer: &'a mut dyn FnMut(HookResult)) -> Self {
        Self {
            waiting: vec![None; count],
            next: 0,
            answer,
        }
    }

    fn is_complete(&self) -> bool {
        self.next == self.waiting.len()
    }

    fn add(&mut self, index: usize, result: HookResult) {
        self.waiting[index] = Some(result);
        while let Some(result) = self.waiting.get_mut(self.next).and_then(Option::take) {
            (self.answer)(result);
            self.next += 1;
        }
    }
}
