//! The executor of the whole program, as functions: for a program that cannot pass its own around.

use super::{FireOptions, HookExecutor, HookHandle, SubmitError};
use crate::events::HookEvent;
use crate::outcome::HookResult;

/// Fires an event on the [global executor](HookExecutor::global) and waits for its hooks.
///
/// A hook that blocks, fails (without `"on_failure": "continue"`) or stops the turn prevents the hooks after it from
/// running. On an event that cannot be blocked, only a failure of the hook itself does so, not its answer, and not a value
/// that is too large.
///
/// ```
/// use forge_hooks::{Hook, HookEvent, HookRegistry, fire_event_blocking};
///
/// HookRegistry::global().register(Hook::new("session:start", "echo welcome")?);
/// let results = fire_event_blocking(&HookEvent::session_start("sess_1"));
/// assert_eq!(results[0].stdout().trim(), "welcome");
/// # Ok::<(), forge_hooks::HookError>(())
/// ```
#[must_use = "hooks may have blocked the operation"]
pub fn fire_event_blocking(event: &HookEvent) -> Vec<HookResult> {
    fire_event_blocking_with(event, FireOptions::default())
}

/// Fires an event on the [global executor](HookExecutor::global), with options, and waits for its hooks.
#[must_use = "hooks may have blocked the operation"]
pub fn fire_event_blocking_with(event: &HookEvent, options: FireOptions) -> Vec<HookResult> {
    HookExecutor::global().execute_hooks(event, options)
}

/// Fires an event on the [global executor](HookExecutor::global) without waiting for its hooks. At the end of `main`, a program
/// [shuts it down](HookExecutor::shutdown); otherwise hooks of the last events may not run.
///
/// ```
/// use std::time::Duration;
/// use forge_hooks::{HookEvent, HookExecutor, fire_event};
///
/// drop(fire_event(HookEvent::session_end("sess_1"))?);
/// assert!(HookExecutor::global().shutdown(Duration::from_secs(5)));
/// # Ok::<(), forge_hooks::SubmitError>(())
/// ```
///
/// # Errors
/// If there are hooks for the event, and the queue is full, no thread can be started, or the executor was shut down. The error
/// contains the event.
pub fn fire_event(event: HookEvent) -> Result<HookHandle, SubmitError> {
    HookExecutor::global().submit(event, FireOptions::default())
}
