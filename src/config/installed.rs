//! The hooks that files have brought into a registry. The next load replaces them, when the host asks for it.
//!
//! Two loads may overlap. So each first asks for `loads()`, then reads the files, and then calls `replace`.
//! If another load has finished meanwhile, `replace` does nothing and returns None: the other load may have
//! read newer files, so this one must read them again.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::changes::Look;
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
    /// The number of finished loads.
    loads: u64,
    registered: HashSet<HookId>,
    report: Arc<LoadReport>,
    /// The files when the host last asked whether they have changed; none before that.
    seen: Option<Vec<Look>>,
    /// The files of loads that were gone then.
    vanished: BTreeSet<PathBuf>,
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

    /// Returns whether the files have changed since this was last called. The first call says yes. Notes which are gone.
    pub(crate) fn have_changed(&self, now: Vec<Look>) -> bool {
        let mut state = self.state();
        if state.seen.as_ref() == Some(&now) {
            return false;
        }
        let exist = |(path, text): &Look| (!matches!(text, Ok(None))).then(|| path.clone());
        let there: BTreeSet<_> = now.iter().filter_map(exist).collect();
        let loaded = state.report.files.iter().cloned();
        let known: BTreeSet<_> = loaded.chain(state.vanished.iter().cloned()).collect();
        state.vanished = known.difference(&there).cloned().collect();
        state.seen = Some(now);
        true
    }

    /// Returns the files that have vanished.
    pub(super) fn vanished(&self) -> BTreeSet<PathBuf> {
        self.state().vanished.clone()
    }

    /// The number of finished loads.
    pub(super) fn loads(&self) -> u64 {
        self.state().loads
    }

    /// Registers hooks in place of those of the last load. Returns None if `loads` is no longer the number of finished loads.
    pub(super) fn replace(
        &self,
        loads: u64,
        hooks: Vec<Arc<Hook>>,
        report: LoadReport,
    ) -> Option<Arc<LoadReport>> {
        let mut state = self.state();
        if state.loads != loads {
            return None;
        }
        state.loads += 1;
        state.registered = self.registry.replace(&state.registered, hooks);
        state.report = Arc::new(report);
        Some(Arc::clone(&state.report))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is one assignment, so a panic cannot leave half a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_loads_at_once_one_reads_again() {
        let installed = Installed::new(Arc::default());
        let hook = Arc::new(Hook::new("*", "true").unwrap());
        let report = LoadReport::default;
        let (slow, fast) = (installed.loads(), installed.loads());
        assert!(installed.replace(fast, vec![hook], report()).is_some());
        assert!(installed.replace(slow, Vec::new(), report()).is_none());
        assert_eq!(installed.registry.len(), 1);
        let again = installed.loads();
        assert!(installed.replace(again, Vec::new(), report()).is_some());
        assert!(installed.registry.is_empty());
    }
}
