//! Messages about hooks, from the threads that run them.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use crate::{DropReason, Hook, HookResult, HookRun, Observer, Outcome};

/// How often the spinner turns and an interrupt is checked.
pub(super) const TICK: Duration = Duration::from_millis(50);

pub(super) enum Message {
    Started(Arc<Hook>),
    Result(HookResult),
    /// A background hook.
    InBackground(HookResult),
    Dropped(Arc<Hook>, DropReason),
    Done(Outcome),
    /// All hooks have ended.
    Idle,
}

/// Sends what happens to each hook.
pub(super) struct Notes(pub(super) Sender<Message>);

impl Observer for Notes {
    fn on_start(&self, run: &HookRun<'_>) {
        // The receiver is gone when the program is about to end.
        let _ = self.0.send(Message::Started(Arc::clone(run.hook)));
    }

    fn on_finish(&self, run: &HookRun<'_>, result: &HookResult) {
        if run.hook.background() {
            let _ = self.0.send(Message::InBackground(result.clone()));
        }
    }

    fn on_drop(&self, run: &HookRun<'_>, reason: DropReason) {
        if run.hook.background() {
            let _ = self.0.send(Message::Dropped(Arc::clone(run.hook), reason));
        }
    }
}
