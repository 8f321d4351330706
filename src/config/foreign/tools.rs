//! The table of the differences between the tools' files.
//!
//! Does not know their names of events and tools: `hook` does.

use crate::hook::Dialect;

/// A tool, and the properties of its files.
pub(super) struct Tool {
    pub(super) dialect: Dialect,
    pub(super) name: &'static str,
    /// The directory of its files.
    pub(super) directory: &'static str,
    /// The user's files, below the home directory.
    pub(super) user: &'static [&'static str],
    /// The project's files, below its root.
    pub(super) project: &'static [&'static str],
    /// Below both: a directory with extensions, which have the layout of plugins.
    pub(super) extensions: Option<&'static str>,
    /// The file that identifies a plugin of this tool.
    pub(super) manifest: &'static str,
    pub(super) timeout_keys: &'static [&'static str],
    /// Whether timeouts are in milliseconds, not in seconds.
    pub(super) milliseconds: bool,
    /// The keys of a handler that the tool reads, in addition to `type`, `command` and the timeout.
    pub(super) keys: &'static [&'static str],
    /// The types of handlers that the tool runs, but this crate does not.
    pub(super) other_types: &'static [&'static str],
    /// Whether a handler with `async` does not run.
    pub(super) skips_async: bool,
    /// The keys of `hooks` that are settings, not events.
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
        keys: &[
            "args",
            "shell",
            "if",
            "async",
            "asyncRewake",
            "onFailure",
            "statusMessage",
        ],
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
        keys: &["async", "statusMessage"],
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
        keys: &["name", "description", "env", "statusMessage"],
        other_types: &["plugin", "runtime"],
        skips_async: false,
        settings_in_hooks: &["enabled", "disabled", "notifications"],
    },
];

/// Returns a tool; None for this crate's own dialect.
pub(super) fn tool(dialect: Dialect) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.dialect == dialect)
}
