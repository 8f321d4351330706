//! The steps of an event's hooks, as the threads that run them report them.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use crate::executor::HookRun;
use crate::{Hook, HookResult, Observer, Outcome};

/// A step of an event.
pub(super) enum Note {
    Started(Arc<Hook>),
    /// A hook has ended; true if it ran again.
    Ended(Box<HookResult>, bool),
    /// The hooks that the event waits for have ended.
    Outcome(Box<Outcome>),
    /// All hooks have ended, also those in the background.
    Over,
}

pub(super) struct Notes(pub(super) Sender<Note>);

impl Observer for Notes {
    fn on_start(&self, run: &HookRun<'_>) {
        // The receiver is gone when the program is about to end.
        let _ = self.0.send(Note::Started(Arc::clone(run.hook)));
    }

    fn on_finish(&self, run: &HookRun<'_>, result: &HookResult) {
        let result = Box::new(result.clone());
        let _ = self.0.send(Note::Ended(result, run.is_second_run));
    }
}
