//! How the tools differ in their files: one table.
//!
//! What they call their events and tools is `hook`'s to know.

use crate::hook::Dialect;

/// A tool, and what its files are like.
pub(super) struct Tool {
    pub(super) dialect: Dialect,
    pub(super) name: &'static str,
    /// The directory of its files.
    pub(super) directory: &'static str,
    /// Below the user's home.
    pub(super) user: &'static [&'static str],
    /// Below the project's root.
    pub(super) project: &'static [&'static str],
    /// Below both: a directory of directories that are as plugins are.
    pub(super) extensions: Option<&'static str>,
    /// What tells that a directory is a plugin of this tool.
    pub(super) manifest: &'static str,
    pub(super) timeout_keys: &'static [&'static str],
    /// Timeouts are in milliseconds, not in seconds.
    pub(super) milliseconds: bool,
    /// The keys of a handler that the tool reads besides `type`, `command`, its timeout and
    /// `statusMessage`.
    pub(super) keys: &'static [&'static str],
    /// Types of handlers that the tool runs, and this crate does not.
    pub(super) other_types: &'static [&'static str],
    /// A handler with `async` does not run.
    pub(super) skips_async: bool,
    /// Keys of `hooks` that are settings, not events.
    pub(super) settings_in_hooks: &'static [&'static str],
}

pub(super) static TOOLS: [Tool; 3] = [
    Tool {
        dialect: Dialect::Claude,
        name: "Claude Code",
        directory: ".claude",
        user: &[".claude/settings.json"],
        project: &[".claude/settings.json", ".claude/settings.local.json"],
        extensions: None,
        manifest: ".claude-plugin",
        timeout_keys: &["timeout"],
        milliseconds: false,
        keys: &["args", "shell", "if", "async", "asyncRewake", "onFailure"],
        other_types: &["prompt", "agent", "http", "mcp_tool"],
        skips_async: false,
        settings_in_hooks: &[],
    },
    Tool {
        dialect: Dialect::Codex,
        name: "Codex",
        directory: ".codex",
        user: &[".codex/hooks.json"],
        project: &[".codex/hooks.json"],
        extensions: None,
        manifest: ".codex-plugin",
        timeout_keys: &["timeout", "timeoutSec"],
        milliseconds: false,
        keys: &["async"],
        other_types: &["prompt", "agent"],
        skips_async: true,
        settings_in_hooks: &[],
    },
    Tool {
        dialect: Dialect::Gemini,
        name: "Gemini CLI",
        directory: ".gemini",
        user: &[".gemini/settings.json"],
        project: &[".gemini/settings.json"],
        extensions: Some(".gemini/extensions"),
        manifest: "gemini-extension.json",
        timeout_keys: &["timeout"],
        milliseconds: true,
        keys: &["name", "description", "env"],
        other_types: &["plugin", "runtime"],
        skips_async: false,
        settings_in_hooks: &["enabled", "disabled", "notifications"],
    },
];

/// None for this crate's own dialect.
pub(super) fn tool(dialect: Dialect) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.dialect == dialect)
}
