//! Hooks as values: their settings, their form in hooks.json, the words of their commands.
//!
//! Does no I/O, except to find the targets of paths, and does not know how a hook is run.

mod answers;
mod canonical;
mod cases;
mod command_test;
mod compared;
mod condition;
mod definition;
mod entry;
mod error;
mod expressions;
mod keys;
mod matching;
mod meeting;
mod path_glob;
mod path_test;
mod pieces;
mod protocol;
mod search;
mod source;
#[cfg(test)]
mod tests;
mod when;

pub use crate::entry::{FailurePolicy, May, Sandbox, Shell};
pub(crate) use canonical::canonical;
pub(crate) use compared::Compared;
pub(crate) use condition::Condition;
pub use definition::Hook;
pub(crate) use definition::{ApprovalCheck, ScriptCheck};
pub(crate) use entry::{Unusable, in_order, is_key, keys, nearest_key, place_of};
pub use error::HookError;
pub(crate) use error::{Cause, Fault, KeyError, LIKE_A_KEY};
pub(crate) use expressions::no_expression;
pub(crate) use keys::CASES;
pub(crate) use pieces::{OF_EVENT, Pieces, is_glob};
pub(crate) use source::{HOOKS_D, HookSource, directory_of_hooks, is_beside_hooks};
#[cfg(test)]
pub(crate) use when::LONGEST_POINTER;
