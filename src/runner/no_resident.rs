//! Resident hooks on platforms where no process is kept: each process runs for one event.

use std::time::Duration;

use super::ending::Ran;
use crate::hook::Hook;
use crate::process::Spec;

#[derive(Debug)]
pub(crate) struct Residents;

impl Residents {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(super) fn exchange(&self, _: &Hook, _: &Spec<'_>, _id: &str) -> Option<Ran> {
        None
    }

    pub(super) fn end_idle(&self) {}

    pub(crate) fn end_of(&self, _hooks: &[u64]) {}

    pub(crate) fn close(&self) {}

    pub(crate) fn wait_until_ended(&self, _longest: Duration) {}
}
