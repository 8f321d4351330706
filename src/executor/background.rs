//! Background hooks: started in their turn, and not waited for. They have their own threads, so
//! that they delay no other hook.

use std::sync::Arc;
use std::time::Instant;

use log::warn;

use super::core::{Core, Stopper};
use super::error::reason_of;
use crate::hook::Hook;
use crate::outcome::HookResult;
use crate::pool::{Job, Place, Refusal, Stop};
use crate::process::Cancel;
use crate::runner::{DropReason, Fired, HookRun, Nesting, SharedEvent, depth, tell};

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
    let place = Place {
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
    if let Err(refusal) = core.background.submit(place, Box::new(job)) {
        let why = match refusal {
            Refusal::Busy => "too many hooks are waiting in the background".to_owned(),
            Refusal::NoThread(error) => format!("cannot start a thread: {error}"),
            Refusal::ShutDown => "the executor is shut down".to_owned(),
        };
        tell(|| {
            warn!(
                "hook `{}` does not run: {why}",
                core.runner.reporter.label(hook)
            )
        });
    }
}

impl Background {
    fn tell_of_drop(&self, reason: DropReason) {
        let can_block = self.core.vocabulary.can_block(&self.event.event_type);
        let queued = self.submitted.elapsed();
        let run = HookRun::new(&self.event, &self.hook, can_block, queued);
        self.core.runner.drop_run(&run, reason);
    }
}

impl Job for Background {
    fn stop(&self) -> Arc<dyn Stop> {
        Arc::new(Stopper(Arc::clone(&self.cancel)))
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
        self.tell_of_drop(DropReason::Cancelled);
        let result = HookResult::never_ran(&self.hook, self.submitted.elapsed());
        self.core.closing.note(&result);
    }

    fn refuse(self: Box<Self>, why: &Refusal) {
        self.tell_of_drop(reason_of(why));
    }
}
