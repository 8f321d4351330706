//! An event that the engine shares with its host until the last of them drops it.

use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use crate::events::HookEvent;

/// A shared event. Its data may be nested so deeply that dropping it would overflow the stack, so
/// it is taken apart first.
#[derive(Clone)]
pub(crate) struct SharedEvent(Arc<HookEvent>);

/// A placeholder for an event that is being dropped.
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
        // If several threads drop it at once, exactly one of them gets the event.
        if let Some(mut event) = Arc::into_inner(event) {
            event.drop_data();
        }
    }
}
