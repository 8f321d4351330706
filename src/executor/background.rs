//! Hooks that are started in their turn and not waited for. They have threads of their own, so that
//! they keep nobody else waiting.

use std::sync::Arc;
use std::time::Instant;

use log::warn;

use super::chain;
use super::event::SharedEvent;
use super::firing::{Fired, Firing};
use super::nesting::{self, Nesting};
use super::observer::{DropReason, HookRun};
use super::pool::{Job, Refusal};
use super::queue::Place;
use super::report;
use super::run::Engine;
use crate::hook::Hook;
use crate::process::Cancel;

/// So many run at once; more of them wait.
pub(super) const AT_ONCE: usize = 16;

struct Background {
    engine: Arc<Engine>,
    event: SharedEvent,
    hook: Arc<Hook>,
    submitted: Instant,
    /// Of the hooks that run where it was started.
    depth: usize,
    cancel: Arc<Cancel>,
}

/// Whatever becomes of it, the chain goes on: such a hook guards nothing.
pub(super) fn start(engine: &Arc<Engine>, event: SharedEvent, hook: &Arc<Hook>) {
    let place = Place {
        guard: false,
        lane: None,
    };
    let job = Background {
        engine: Arc::clone(engine),
        event,
        hook: Arc::clone(hook),
        submitted: Instant::now(),
        depth: nesting::depth(),
        cancel: Arc::default(),
    };
    if let Err(refusal) = engine.background.submit(place, Box::new(job)) {
        let why = match refusal {
            Refusal::Busy => "too many wait in the background".to_owned(),
            Refusal::NoThread(error) => format!("no thread: {error}"),
            Refusal::ShutDown => "the executor is shut down".to_owned(),
        };
        report::tell(|| warn!("hook `{}` does not run: {why}", engine.label(hook)));
    }
}

impl Background {
    fn tell_of_drop(&self, reason: DropReason) {
        let run = HookRun::new(&self.event, &self.hook, self.submitted.elapsed());
        self.engine.drop_run(&run, reason);
    }
}

impl Job for Background {
    fn cancel(&self) -> Arc<Cancel> {
        Arc::clone(&self.cancel)
    }

    fn run(self: Box<Self>) {
        let _nesting = Nesting::resume(self.depth);
        let mut firing = Firing::new(Fired::Shared(self.event.clone()), &self.engine.naming);
        firing.queued = self.submitted.elapsed();
        firing.cancel = Some(Arc::clone(&self.cancel));
        let result = chain::run_unless_cancelled(&self.engine, &firing, &self.hook);
        self.engine.closing.note(&result);
    }

    fn abandon(self: Box<Self>) {
        self.tell_of_drop(DropReason::Cancelled);
        let result = chain::never_ran(&self.hook, self.submitted.elapsed());
        self.engine.closing.note(&result);
    }

    fn refuse(self: Box<Self>, reason: DropReason) {
        self.tell_of_drop(reason);
    }
}
