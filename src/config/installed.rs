//! The hooks that files have brought into a registry. The next load replaces them, by a host or by a watcher.
//!
//! Does not know the content of the files.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::report::LoadReport;
use crate::hook::Hook;
use crate::registry::{HookId, HookRegistry};

#[derive(Debug)]
pub(crate) struct Installed {
    registry: Arc<HookRegistry>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    registered: HashSet<HookId>,
    report: Arc<LoadReport>,
}

impl Installed {
    pub(crate) fn new(registry: Arc<HookRegistry>) -> Self {
        Self {
            registry,
            state: Mutex::default(),
        }
    }

    /// The report of the last load.
    pub(crate) fn report(&self) -> Arc<LoadReport> {
        Arc::clone(&self.state().report)
    }

    pub(super) fn set_report(&self, report: LoadReport) -> Arc<LoadReport> {
        let report = Arc::new(report);
        self.state().report = Arc::clone(&report);
        report
    }

    /// Replaces the hooks of the last load.
    pub(super) fn replace(&self, hooks: Vec<Arc<Hook>>) {
        let mut state = self.state();
        state.registered = self.registry.replace(&state.registered, hooks);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is one assignment, so a panic cannot leave half a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
