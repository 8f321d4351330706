//! What a hook receives, and how its answer is read.
//!
//! A hook of hooks.json receives the event in its environment and, as JSON, on standard input. It answers with its exit
//! code, and JSON on standard output: docs/protocol.md.

mod answer;
#[cfg(test)]
mod answer_tests;
mod circular;
mod command;
mod echo;
mod ending;
#[cfg(test)]
mod ending_tests;
mod environment;
mod invalid;
mod keys;
mod members;
mod names;
mod native;
mod resident;

#[cfg(fuzzing)]
pub(crate) use answer::read as read_answer;
pub(crate) use command::{command_line, posix, program};
pub(crate) use echo::check_echo;
pub(crate) use environment::{Naming, too_deep};
pub(crate) use native::Native;
pub(crate) use resident::check_answer;
