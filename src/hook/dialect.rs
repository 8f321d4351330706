//! The tools whose hooks a host can run, by name.
//!
//! Knows nothing of what sets them apart: that is `protocol`'s to know.

use std::fmt;

use super::named::named;

/// The program a hook was written for: it decides what the hook finds on its standard input and in its
/// environment, and how its answer is read.
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
