//! What a command runs and writes, read from its text without a process: the conditions `runs`, `writes` and `runs_only`.
//!
//! ```text
//! lexer.rs, grammar.rs   the language of shells: words, operators, groups, documents
//! outline.rs, written.rs   a text as it is written, and its words
//! variables.rs, expand.rs   values of variables and words
//! options.rs, starts.rs, texts.rs   options, commands and texts in the words of a command
//! tables.rs              facts about programs: which run their arguments, which options take a value
//! run.rs, found.rs, listed.rs   a command, and the words that `find` and `xargs` give
//! read.rs, lines.rs      the commands that run
//! pattern.rs, fit.rs, runs.rs   which of them a pattern meets
//! writes.rs, only.rs     the files that they write; whether they are all that may run
//! ```
//!
//! It stops accidents and haste; it is no sandbox. Scripts, other languages, aliases and the entry point of an image are not
//! seen. Knows no hooks, events or files.

mod ansi;
mod expand;
mod fit;
mod found;
mod frame;
mod glob;
mod grammar;
mod lexer;
mod lines;
mod listed;
mod only;
mod options;
mod outline;
mod pattern;
mod read;
mod run;
mod runs;
mod starts;
mod syntax;
mod tables;
mod texts;
mod variables;
mod writes;
mod written;

pub(crate) use only::Only;
pub(crate) use outline::{Outline, Step};
pub(crate) use pattern::Pattern;
pub(crate) use read::Commands;
pub(crate) use runs::{Answer, Met, Path};
pub(crate) use syntax::Join;
#[cfg(feature = "cli")]
pub(crate) use tables::is_shell;
pub(crate) use written::{UNKNOWN, Value, Written};

#[cfg(test)]
mod compared_tests;
#[cfg(test)]
mod tests;
