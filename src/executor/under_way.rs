//! The keys of events that wait or run: an event whose key is one of them can be skipped.
//!
//! Knows nothing of events.

use std::collections::HashSet;
use std::sync::Arc;

use crate::sync::Mutex;

#[derive(Clone, Default)]
pub(super) struct UnderWay(Arc<Mutex<HashSet<u64>>>);

/// One key. It is under way until this value is dropped.
pub(super) struct Held {
    keys: UnderWay,
    key: u64,
}

impl UnderWay {
    /// Holds a key. Returns none if an event with this key is under way.
    pub(super) fn hold(&self, key: u64) -> Option<Held> {
        let is_new = self.0.lock().insert(key);
        is_new.then(|| Held {
            keys: self.clone(),
            key,
        })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.keys.0.lock().remove(&self.key);
    }
}
