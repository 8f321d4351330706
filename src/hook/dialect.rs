//! The tools whose hooks a host can run, by name.
//!
//! Does not know how they differ: `protocol` does.

use std::fmt;

use super::named::named;

/// The program that a hook was written for. It determines the hook's standard input and environment, and how
/// the hook's answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Dialect {
    /// This crate's own: docs/protocol.md. The default.
    #[default]
    Native,
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
}

named!(Dialect {
    Native = "native",
    Claude = "claude",
    Codex = "codex",
    Gemini = "gemini",
});
