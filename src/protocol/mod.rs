//! What a hook is given, and how its answer is read.
//!
//! The protocol of this crate: the event in the environment and, as JSON, on standard input; the exit
//! code, and JSON on standard output, as the answer. docs/protocol.md is its description for those who write hooks.
//! `dialect` has those of other tools.

mod circular;
mod dialect;
mod environment;
mod names;
mod native;
mod resident;
mod spill;

pub(crate) use circular::NESTING_LIMIT;
pub(crate) use dialect::{
    Ended, Reading, Stakes, foreign_variables, payload, read_foreign_answer, session_dir,
};
pub use dialect::{ForeignEventError, foreign_event};
pub(crate) use environment::{EventVariables, Naming, VariablesError};
pub(crate) use native::{Answer, from_first_visible, is_answer, read as read_answer};
pub(crate) use resident::{LONGEST_EVENT, check_answer, event_line, new_id};
