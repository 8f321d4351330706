//! Hooks as values: their settings, their form in hooks.json, the words of their commands.
//!
//! Does no I/O, except to find the targets of paths (`links.rs`), and does not know how a hook is run.

mod canonical;
mod compared;
mod condition;
mod definition;
mod entry;
mod error;
mod forms;
#[cfg(test)]
mod forms_tests;
mod interpreters;
mod keys;
mod lexer;
mod links;
mod matching;
mod protocol;
mod route;
mod size;
mod source;
#[cfg(test)]
mod tests;
mod when;
mod words;

pub use crate::entry::{
    FailurePolicy, HookCommand, May, Reads, Sandbox, SandboxUnsupported, Shell, Stdin,
};
pub(crate) use canonical::canonical;
pub(crate) use compared::{Budget, Compared};
pub use condition::Condition;
pub(crate) use condition::{Allowance, LARGEST_TOGETHER, Lazy};
pub use definition::Hook;
pub(crate) use definition::{ApprovalCheck, ScriptCheck};
pub(crate) use entry::{Unusable, in_order, is_key, keys, nearest_key, place_of};
pub(crate) use error::{Fault, LIKE_A_KEY};
pub use error::{HookError, KeyError};
pub(crate) use interpreters::runs_file;
#[cfg(feature = "cli")]
pub(crate) use interpreters::{may_precede_program, runs_text, starts_program};
pub(crate) use keys::is_variable;
pub(crate) use lexer::{Piece, Token, Word, lex};
pub(crate) use route::{Route, is_too_long, without_parents};
pub use source::HookSource;
pub(crate) use source::{HOOKS_D, directory_of_hooks, is_beside_hooks};
#[cfg(test)]
pub(crate) use when::LONGEST_POINTER;
pub(crate) use words::{Run, Words, is_glob};
