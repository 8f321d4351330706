//! The protocol between this crate and hooks: what a hook receives, and how its answer is read.
//!
//! A hook receives the event in its environment and, as JSON, on standard input. It answers with its exit code, and
//! JSON on standard output. docs/protocol.md describes this for authors of hooks. `dialect` has the protocols of
//! other tools.

mod circular;
mod dialect;
mod ending;
#[cfg(test)]
mod ending_tests;
mod environment;
mod invalid;
mod names;
mod native;
#[cfg(test)]
mod native_tests;
mod resident;
mod spill;

pub(crate) use circular::NESTING_LIMIT;
pub(crate) use dialect::{
    Conclusion, HookEnd, Strictness, foreign_variables, payload, read_foreign_answer, session_dir,
};
pub use dialect::{ForeignEventError, foreign_event};
pub(crate) use environment::{EventVariables, Naming, VariablesError};
pub(crate) use native::{Answer, read as read_answer};
pub(crate) use resident::{LONGEST_EVENT, check_answer, event_line, new_id};
