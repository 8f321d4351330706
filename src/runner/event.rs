//! An event that the engine shares with its host, until the last of both drops it.

use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use crate::events::HookEvent;

/// Its data may be deeper than the stack of a thread, which to drop it would overflow: it is taken
/// apart first.
#[derive(Clone)]
pub(crate) struct SharedEvent(Arc<HookEvent>);

/// Stands in for an event that is being dropped.
static NOTHING: LazyLock<Arc<HookEvent>> = LazyLock::new(|| Arc::new(HookEvent::user_interrupt()));

impl SharedEvent {
    pub(crate) fn to_arc(&self) -> Arc<HookEvent> {
        Arc::clone(&self.0)
    }
}

impl From<Arc<HookEvent>> for SharedEvent {
    fn from(event: Arc<HookEvent>) -> Self {
        Self(event)
    }
}

impl Deref for SharedEvent {
    type Target = HookEvent;

    fn deref(&self) -> &HookEvent {
        &self.0
    }
}

impl Drop for SharedEvent {
    fn drop(&mut self) {
        let event = std::mem::replace(&mut self.0, Arc::clone(&NOTHING));
        // Of several threads that drop it at once exactly one has the event.
        if let Some(mut event) = Arc::into_inner(event) {
            event.drop_data();
        }
    }
}
