//! Runs the hooks of an event: on the caller's thread, or on a small pool. Decides their order, and
//! returns the results.
//!
//! Talks only to its caller and the log. Reads no files.

mod builder;
mod calls;
mod chain;
mod core;
mod delivery;
mod dispatch;
#[cfg(test)]
mod dispatch_tests;
mod error;
#[cfg(feature = "cli")]
mod explain;
mod global;
mod handle;
mod hook_executor;
mod job;
mod options;
mod order;
#[cfg(all(test, unix, feature = "cli"))]
mod plan_tests;
#[cfg(all(test, forge_hooks_shuttle))]
mod schedule_tests;
mod token;
mod unseen;
#[cfg(all(test, unix, feature = "cli"))]
mod variables_tests;

pub use builder::HookExecutorBuilder;
#[cfg(feature = "cli")]
pub(crate) use builder::{Above, chain_of_ancestors};
pub use error::SubmitError;
#[cfg(feature = "cli")]
pub(crate) use explain::{Explanation, Omission};
pub use global::{fire_event, fire_event_blocking, fire_event_blocking_with};
pub use handle::HookHandle;
pub use hook_executor::HookExecutor;
pub(crate) use hook_executor::Remains;
pub use options::FireOptions;
pub use token::CancelToken;

pub use crate::registry::HookRegistry;
pub use crate::runner::{HookRun, Observation, Observations};
