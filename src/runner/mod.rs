//! Runs one hook on one event, up to its result: the command, its process, its answer, the log, the
//! observations.
//!
//! Runs on the calling thread; only the end of kept processes is awaited on another. The executor decides which
//! hooks run, and in which order.

mod admit;
mod direct;
mod ending;
mod firing;
mod observation;
mod report;
#[cfg(unix)]
mod resident;
#[cfg(windows)]
#[path = "no_resident.rs"]
mod resident;
mod run;
mod sandbox;

pub(crate) use firing::Firing;
pub(crate) use observation::FiredEvent;
pub(crate) use observation::{DropReason, How};
pub use observation::{HookRun, Observation, Observations};
pub(crate) use observation::{Observe, Observers};
pub(crate) use report::Reporter;
pub(crate) use resident::Residents;
pub(crate) use run::Runner;
pub(crate) use sandbox::Bases;
