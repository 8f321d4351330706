//! The input of a hook, and the reading of its answer: `interface` is what every protocol implements, `native` is the
//! protocol of hooks.json.
//!
//! A hook of hooks.json receives the event in its environment and, as JSON, on standard input. It answers with its exit
//! code, and JSON on standard output: docs/protocol.md.

mod answer;
#[cfg(test)]
mod answer_tests;
mod call;
mod called_hook;
mod command;
mod echo;
mod ending;
#[cfg(test)]
mod ending_tests;
mod environment;
mod exchange;
mod interface;
mod invalid;
mod keys;
mod may;
#[cfg(test)]
mod may_tests;
mod members;
mod names;
mod native;
mod recursion;
mod resident;

pub(crate) use answer::read as read_answer;
pub(crate) use call::{Call, Once};
pub(crate) use called_hook::CalledHook;
pub(crate) use command::{command_line, posix, program};
pub(crate) use echo::check_echo;
pub(crate) use environment::{Naming, too_deep};
pub(crate) use exchange::{Exit, Launch, ProtocolMismatch};
pub(crate) use interface::Protocol;
pub(crate) use keys::is_typo;
pub(crate) use may::{limit, word_for, words_of};
pub(crate) use names::is_of_every_event;
pub(crate) use native::Native;
#[cfg(feature = "cli")]
pub(crate) use recursion::HookChain;
pub(crate) use resident::check_answer;
