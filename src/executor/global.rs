//! The executor of the whole program.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::hook_executor::HookExecutor;
use super::shutdown::ShutdownReport;
use crate::registry::HookRegistry;

static GLOBAL: OnceLock<HookExecutor> = OnceLock::new();

impl HookExecutor {
    /// Returns the executor of the whole program, for [`fire_event`](crate::fire_event) and
    /// [`fire_event_blocking`](crate::fire_event_blocking). Unless [`set_global`] was called before
    /// its first use, it has the default settings and uses [`HookRegistry::global`], which is empty
    /// until the host registers hooks.
    ///
    /// [`set_global`]: HookExecutor::set_global
    #[must_use]
    pub fn global() -> &'static Self {
        GLOBAL.get_or_init(|| Self::new(Arc::clone(HookRegistry::global())))
    }

    /// Makes this the executor of the whole program.
    ///
    /// # Errors
    /// Returns the executor if there already is a global one: this was called before, or the global
    /// executor has been used.
    pub fn set_global(executor: Self) -> Result<(), Self> {
        GLOBAL.set(executor)
    }

    /// [`shutdown`](HookExecutor::shutdown) of the global executor, which is not created if it does
    /// not exist.
    pub(crate) fn shutdown_global(deadline: Duration) -> ShutdownReport {
        let executor = GLOBAL.get();
        executor.map_or_else(ShutdownReport::default, |executor| {
            executor.shutdown(deadline)
        })
    }
}
