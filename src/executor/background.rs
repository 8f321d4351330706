//! Background hooks: started in their turn, and not waited for. They have their own threads, so
//! that they delay no other hook.

use std::sync::Arc;
use std::time::Instant;

use super::core::Core;
use super::error::reason_of;
use crate::hook::Hook;
use crate::outcome::HookResult;
use crate::pool::{Job, Priority, Refusal};
use crate::process::Cancel;
use crate::runner::{DropReason, Fired, HookRun, Nesting, SharedEvent, depth};

/// The most background hooks that run at once; further ones wait.
pub(super) const AT_ONCE: usize = 16;

struct Background {
    core: Arc<Core>,
    event: SharedEvent,
    hook: Arc<Hook>,
    submitted: Instant,
    /// The nesting depth of the code that started it.
    depth: usize,
    cancel: Arc<Cancel>,
}

/// Starts a background hook. The chain continues whatever its result is: a background hook cannot
/// block.
pub(super) fn start(core: &Arc<Core>, event: SharedEvent, hook: &Arc<Hook>) {
    let priority = Priority {
        guard: false,
        ordering_key: None,
    };
    let job = Background {
        core: Arc::clone(core),
        event,
        hook: Arc::clone(hook),
        submitted: Instant::now(),
        depth: depth(),
        cancel: Arc::default(),
    };
    // A job that is not accepted has been reported by `refuse`.
    let _ = core.background.submit(priority, Box::new(job));
}

impl Background {
    fn report_drop(&self, reason: DropReason) {
        let run = HookRun {
            event: &self.event,
            hook: &self.hook,
            can_block: self.core.vocabulary.can_block(&self.event.event_type),
            queued: self.submitted.elapsed(),
        };
        self.core.runner.drop_run(&run, reason);
    }
}

impl Job for Background {
    fn cancel(&self) -> &Arc<Cancel> {
        &self.cancel
    }

    fn run(self: Box<Self>) {
        let _nesting = Nesting::resume(self.depth);
        let mut firing = self.core.firing(Fired::Shared(self.event.clone()));
        firing.queued = self.submitted.elapsed();
        firing.cancel = Some(Arc::clone(&self.cancel));
        let result = self.core.runner.run_unless_cancelled(&firing, &self.hook);
        self.core.closing.note(&result);
    }

    fn abandon(self: Box<Self>) {
        self.report_drop(DropReason::Cancelled);
        let result = HookResult::never_ran(&self.hook, self.submitted.elapsed());
        self.core.closing.note(&result);
    }

    fn refuse(self: Box<Self>, why: &Refusal) {
        self.report_drop(reason_of(why));
    }
}
