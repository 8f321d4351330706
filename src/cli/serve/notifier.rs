//! Sends notifications to a host that asks for them: each hook that starts or ends, and a changed report.
//!
//! The threads that run hooks call it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::message::{Id, OfHook};
use super::outbox::Outbox;
use crate::executor::HookRun;
use crate::{HookResult, Observer};

pub(super) struct Notifier {
    outbox: Outbox,
    is_on: AtomicBool,
    /// The open fires by the tags of their events.
    ids: Mutex<HashMap<u64, Id>>,
}

impl Notifier {
    pub(super) fn new(outbox: Outbox) -> Self {
        Self {
            outbox,
            is_on: AtomicBool::new(false),
            ids: Mutex::default(),
        }
    }

    pub(super) fn set(&self, is_on: bool) {
        self.is_on.store(is_on, Ordering::Relaxed);
    }

    pub(super) fn open(&self, tag: u64, id: &Id) {
        self.ids().insert(tag, id.clone());
    }

    pub(super) fn close(&self, tag: u64) {
        self.ids().remove(&tag);
    }

    fn ids(&self) -> MutexGuard<'_, HashMap<u64, Id>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn notify(&self, method: &'static str, params: impl Serialize) {
        if self.is_on.load(Ordering::Relaxed) {
            self.outbox.notify(method, params);
        }
    }

    fn notify_of(&self, method: &'static str, run: &HookRun<'_>) {
        let id = run.tag.and_then(|tag| self.ids().get(&tag).cloned());
        let hook = run.hook.label();
        self.notify(method, OfHook { id, hook });
    }
}

impl Observer for Notifier {
    fn on_start(&self, run: &HookRun<'_>) {
        self.notify_of("hook/started", run);
    }

    fn on_finish(&self, run: &HookRun<'_>, _: &HookResult) {
        self.notify_of("hook/finished", run);
    }
}
