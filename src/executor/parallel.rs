//! Runs the hooks of one event all at once.
//!
//! The calling thread takes one hook after the other, and so do threads of the pool that are free.
//! So it never waits for a thread, only for running hooks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crossbeam_channel::{Sender, bounded};

use super::core::Core;
use crate::hook::Hook;
use crate::outcome::HookResult;
use crate::pool::{Job, Priority, Refusal};
use crate::process::Cancel;
use crate::runner::Firing;

/// An event that several threads can use.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) core: Arc<Core>,
    pub(super) firing: Arc<Firing<'static>>,
}

impl Shared {
    pub(super) fn new(core: &Arc<Core>, firing: Firing<'_>) -> Self {
        Self {
            core: Arc::clone(core),
            firing: Arc::new(firing.into_shared()),
        }
    }

    /// Runs all hooks even if some fail, and passes on the results in the order of the hooks.
    pub(super) fn run(&self, hooks: Vec<Arc<Hook>>, send: &mut dyn FnMut(HookResult)) {
        let priority = Priority {
            guard: self.firing.can_block,
            ordering_key: None,
        };
        let (senders, results): (Vec<_>, Vec<_>) = hooks.iter().map(|_| bounded(1)).unzip();
        let work = Arc::new(Work {
            shared: self.clone(),
            hooks: hooks.into_iter().zip(senders).collect(),
            next: AtomicUsize::new(0),
        });
        let pool = &self.core.pool;
        for _ in 1..results.len().min(pool.threads() + 1) {
            // Without help this thread does everything itself.
            if pool
                .submit(priority, Box::new(Help(Arc::clone(&work))))
                .is_err()
            {
                break;
            }
        }
        let mut results = results.into_iter().peekable();
        while work.do_one() {
            while let Some(result) = results.peek().and_then(|next| next.try_recv().ok()) {
                send(result);
                results.next();
            }
        }
        // Other threads have begun the remaining hooks, so each ends within its deadline, unless an observer hangs.
        let begun = Instant::now();
        let done = work.hooks.len() - results.len();
        for ((hook, _), next) in work.hooks[done..].iter().zip(results) {
            let longest = self.core.runner.longest_run(hook);
            let result = next.recv_deadline(begun + longest);
            send(result.unwrap_or_else(|_| self.core.runner.hung(hook)));
        }
    }
}

struct Work {
    shared: Shared,
    /// Each hook, and where its result goes.
    hooks: Vec<(Arc<Hook>, Sender<HookResult>)>,
    /// The first hook that no thread has taken.
    next: AtomicUsize,
}

impl Work {
    /// Runs the next hook; false if none was left.
    fn do_one(&self) -> bool {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let Some((hook, result_to)) = self.hooks.get(index) else {
            return false;
        };
        // A result is sent in every case, since the calling thread waits for it.
        let core = &self.shared.core;
        let run = || core.runner.run_unless_cancelled(&self.shared.firing, hook);
        let result = catch_unwind(AssertUnwindSafe(run));
        let result = result.unwrap_or_else(|_| core.runner.panicked(hook));
        let _ = result_to.try_send(result);
        true
    }
}

/// Lets a thread of the pool help. The work completes without it too.
struct Help(Arc<Work>);

impl Job for Help {
    fn cancel(&self) -> Arc<Cancel> {
        Arc::clone(&self.0.shared.firing.cancel)
    }

    fn run(self: Box<Self>) {
        while self.0.do_one() {}
    }

    fn abandon(self: Box<Self>, _refused: Option<&Refusal>) {}
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::executor::HookExecutor;
    use crate::hook::Hook;

    /// Otherwise a hook that uses its grace would be reported as hung.
    #[test]
    fn a_result_is_awaited_for_the_timeout_and_the_grace() {
        let minute = Duration::from_secs(60);
        let executor = HookExecutor::builder().kill_grace(minute).build();
        let hook = Hook::new("*", "x").unwrap().with_timeout(minute);
        assert!(executor.core().runner.longest_run(&hook) > 2 * minute);
    }
}
