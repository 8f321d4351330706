//! One run of a hook on an event, from the view of its protocol.
//!
//! Does not know the protocol's use of it.

use std::path::Path;
use std::sync::OnceLock;

use super::called_hook::CalledHook;
use super::environment::{EventVariables, Naming};
use crate::events::HookEvent;

/// One run of a hook on an event.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) event: &'a HookEvent,
    pub(crate) hook: CalledHook<'a>,
    /// True if hooks can block the event.
    pub(crate) can_block: bool,
    /// The absolute working directory of the hook: its `working_dir`, resolved against its project's root or the host's directory.
    pub(crate) working_dir: &'a Path,
    pub(crate) once: &'a Once,
}

impl<'a> Call<'a> {
    /// Returns the event as one line of JSON, as hooks of hooks.json receive it.
    pub(super) fn json(&self) -> &'a str {
        let make = || self.event.to_json() + "\n";
        self.once.json.get_or_init(make)
    }

    /// Returns the variables of the event, with the names of a host.
    pub(super) fn variables(&self, naming: &Naming) -> &'a EventVariables {
        let make = || EventVariables::new(self.event, naming);
        self.once.variables.get_or_init(make)
    }
}

/// Values that are made once for all hooks of an event.
#[derive(Debug, Default)]
pub(crate) struct Once {
    json: OnceLock<String>,
    variables: OnceLock<EventVariables>,
}
