//! Resident hooks on platforms where no process is kept: each process runs for one event.

use std::time::Duration;

use super::ending::Unable;
use crate::hook::Hook;
use crate::outcome::Residency;
use crate::process::{Finished, Spec};

#[derive(Debug)]
pub(crate) struct Residents;

pub(super) struct Exchanged {
    pub(super) finished: Finished,
    pub(super) failure: Option<Unable>,
    pub(super) how: Option<Residency>,
}

impl Residents {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(super) fn exchange(&self, _: &Hook, _: &Spec<'_>, _id: &str) -> Option<Exchanged> {
        None
    }

    pub(crate) fn end_of(&self, _hooks: &[u64]) {}

    pub(crate) fn close(&self) {}

    pub(crate) fn wait_until_ended(&self, _longest: Duration) -> bool {
        true
    }
}
