//! What hooks of other tools are given, and how their answers are read.
//!
//! What all of them share stands here; a file for each tool has its particulars. Knows no process: the
//! runner starts it.

mod answer;
#[cfg(test)]
mod answer_tests;
mod claude;
mod codex;
mod fields;
mod gemini;
mod input;
#[cfg(test)]
mod input_tests;
mod reading;
mod variables;

pub(crate) use answer::{Stakes, read_foreign_answer};
pub use input::{ForeignEventError, foreign_event};
pub(crate) use input::{payload, session_dir};
pub(crate) use reading::{Ended, Reading};
pub(crate) use variables::foreign_variables;
