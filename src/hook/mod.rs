//! Hooks as values: their settings, their form in hooks.json, the words of their commands.
//!
//! Does no I/O and does not know how a hook is run.

mod candidates;
mod canonical;
mod condition;
mod definition;
mod entry;
mod env_file;
mod error;
mod exchange;
mod failure;
mod inherit;
mod interpreters;
mod matching;
mod named;
mod options;
mod output;
mod parts;
mod protocol;
mod runs;
mod sandbox;
mod shell_words;
#[cfg(test)]
mod tests;
mod when;

pub(crate) use candidates::{Candidates, builds_names, expanded};
pub(crate) use canonical::canonical;
pub use condition::Condition;
pub(crate) use condition::{Allowance, Budget, Lazy};
pub(crate) use definition::{Call, Protocol};
pub use definition::{Gate, GateVerdict, Hook};
#[cfg(test)]
pub(crate) use entry::keys;
pub(crate) use entry::{failure_policy_of, in_order, is_key, nearest_key};
pub use env_file::EnvFile;
pub use error::{HookError, KeyError};
pub(crate) use error::{LIKE_A_KEY, kind};
pub(crate) use exchange::{Answer, End, Failure, Order, ProtocolMismatch, Shared, Start};
pub use failure::{FailureKind, Residency, SkipReason};
pub(crate) use inherit::inherits;
pub(crate) use interpreters::{Interpreter, interpreter};
pub(crate) use named::named;
pub use output::{Decision, HookOutput};
pub(crate) use parts::{DEFAULT_TIMEOUT, LONGEST_TIMEOUT, SHORTEST_TIMEOUT};
pub use parts::{FailurePolicy, HookCommand, HookSource, Reads, Shell, Stdin};
pub(crate) use runs::{RunKind, RunWord, runs};
pub use sandbox::{Sandbox, SandboxUnsupported};
#[cfg(test)]
pub(crate) use when::LONGEST_POINTER;
