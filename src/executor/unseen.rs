//! The failures of hooks that no caller waited for, until the host takes them.
//!
//! Does not know why a caller did not wait.

use std::collections::VecDeque;

use crate::events::EventType;
use crate::outcome::{HookResult, unheard};
use crate::sync::Mutex;

/// The most lines that are kept. Then the oldest ones are lost.
const MOST: usize = 100;

#[derive(Default)]
pub(super) struct Unseen(Mutex<VecDeque<String>>);

impl Unseen {
    /// Keeps the failure of a hook, if it is one, and the warnings for the user.
    pub(super) fn note(&self, event: &EventType, result: HookResult) {
        self.keep(unheard(event, result));
    }

    pub(super) fn keep(&self, lines: Vec<String>) {
        lines.into_iter().for_each(|line| self.add(line));
    }

    fn add(&self, line: String) {
        let mut lines = self.0.lock();
        if lines.len() == MOST {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock()).into()
    }
}
