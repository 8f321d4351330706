//! What hooks of other tools receive, and how their answers are read.
//!
//! Common parts are here; each tool has a file for its own rules. Knows no processes: the runner
//! starts them.

mod answer;
#[cfg(test)]
mod answer_tests;
mod claude;
mod codex;
mod conclusion;
mod fields;
mod gemini;
mod input;
#[cfg(test)]
mod input_tests;
mod tool;
mod variables;

pub use input::{ForeignEventError, foreign_event};
#[cfg(fuzzing)]
pub(crate) use {
    answer::{Strictness, read_foreign_answer},
    conclusion::HookEnd,
};
