//! Runs the hooks of one event in parallel.
//!
//! The calling thread takes one hook after the other, and so do threads of the pool that are free. The calling thread
//! therefore never waits for a thread, only for running hooks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::batch::Batch;
use super::core::{Core, Job};
use crate::hook::Hook;
use crate::outcome::HookResult;
use crate::pool::{Priority, Waiting};
use crate::runner::Firing;

/// An event that several threads can use.
#[derive(Clone)]
pub(super) struct ParallelRun {
    pub(super) core: Arc<Core>,
    pub(super) firing: Arc<Firing<'static>>,
}

impl ParallelRun {
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
        let count = hooks.len();
        let (runner, firing) = (Arc::clone(&self.core.runner), Arc::clone(&self.firing));
        let batch = Arc::new(Batch::new(runner, firing, hooks));
        let mut helps = Vec::new();
        for _ in 1..count.min(self.core.pool.threads() + 1) {
            // Without help this thread does everything itself.
            let help = Job::Help(Arc::clone(&batch));
            let Ok(help) = help.submit(&self.core, priority) else {
                break;
            };
            helps.push(help);
        }
        let mut sent = 0;
        while batch.do_one() {
            while let Some(result) = batch.result(sent, Duration::ZERO) {
                send(result);
                sent += 1;
            }
        }
        // Helpers that still wait would find nothing to do.
        helps.into_iter().for_each(Waiting::withdraw);
        // Other threads have begun the remaining hooks, so each ends within its deadline, unless an observer hangs.
        let begun = Instant::now();
        for index in sent..count {
            let hook = &batch.hooks()[index];
            let longest = self.core.runner.longest_run(hook);
            let result = batch.result(index, longest.saturating_sub(begun.elapsed()));
            send(result.unwrap_or_else(|| self.core.runner.hung(hook)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::executor::HookExecutor;
    use crate::hook::Hook;

    /// A hook that uses its grace must not be reported as hung.
    #[test]
    fn a_result_is_awaited_for_the_timeout_and_the_grace() {
        let minute = Duration::from_secs(60);
        let executor = HookExecutor::builder().kill_grace(minute).build();
        let hook = Hook::new("*", "x").unwrap().with_timeout(minute);
        assert!(executor.core().runner.longest_run(&hook) > 2 * minute);
    }
}
