//! The settings of an entry of hooks.json, as values that `protocol` and `hook` share, and the answers and failures that
//! follow from them.
//!
//! Knows no hook, no event and no process. The form of an entry in a file is in `hook`.

mod failure;
mod inherit;
mod may;
mod named;
mod options;
mod output;
mod parts;
mod reading;
mod sandbox;
mod standing;

pub(crate) use failure::Failure;
pub use failure::FailureKind;
pub(crate) use inherit::inherits;
pub use may::May;
pub(crate) use named::named;
pub(crate) use options::Options;
pub use output::{Decision, HookOutput};
pub(crate) use parts::{DEFAULT_TIMEOUT, LONGEST_TIMEOUT, SHORTEST_TIMEOUT};
pub use parts::{FailurePolicy, Shell};
pub(crate) use parts::{HookCommand, Reads, Stdin};
pub(crate) use reading::Reading;
pub use sandbox::Sandbox;
pub(crate) use standing::{Off, Standing};
