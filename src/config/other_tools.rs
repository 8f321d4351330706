//! Settings of a host for the hooks of other tools.

use std::path::PathBuf;
use std::sync::Arc;

use super::HookConfig;
use crate::hook::Dialect;

impl HookConfig {
    /// Also loads the hooks files of these tools, after those of this crate. For each tool, these are the
    /// user's files (`~/.claude/settings.json`, `~/.codex/hooks.json`, `~/.gemini/settings.json`), then the
    /// project's (for Claude Code `.claude/settings.local.json` too), and the extensions of Gemini CLI. A
    /// project's hooks need an approval, as all hooks of a project do. Default: none.
    ///
    /// Such a hook is read as its tool reads it: settings that the tool ignores are left out and reported.
    /// Its failures do not block, see [`with_strict_guards`](HookConfig::with_strict_guards).
    #[must_use]
    pub fn with_other_tools<I: IntoIterator<Item = Dialect>>(mut self, dialects: I) -> Self {
        self.other_tools.dialects = Vec::new();
        for dialect in dialects {
            if !self.other_tools.dialects.contains(&dialect) {
                self.other_tools.dialects.push(dialect);
            }
        }
        self
    }

    /// Also loads the hooks of a plugin: `hooks/hooks.json` in this directory, and the `hooks` of its
    /// manifest. Hooks of a plugin within the project need an approval.
    #[must_use]
    pub fn with_plugin(mut self, directory: impl Into<PathBuf>) -> Self {
        self.other_tools.plugins.push(directory.into());
        self
    }

    /// Sets the directory that contains the user's files of other tools. Default: the user's home directory.
    #[must_use]
    pub fn with_home(mut self, directory: impl Into<PathBuf>) -> Self {
        self.other_tools.home = Some(directory.into());
        self
    }

    /// Lets hooks of other tools block if they fail, time out, or cannot be read, as hooks of this crate do.
    /// Default: they do not block, as in their tools.
    #[must_use]
    pub fn with_strict_guards(mut self) -> Self {
        self.other_tools.is_strict = true;
        self
    }

    /// Sets the name in another tool of a tool of the host: the other tool's hooks match and receive that
    /// name. The usual names (`bash`, `read`, `write`, `edit`) are known.
    #[must_use]
    pub fn with_tool_alias(
        mut self,
        dialect: Dialect,
        ours: impl Into<String>,
        theirs: impl Into<String>,
    ) -> Self {
        let aliases = Arc::make_mut(&mut self.other_tools.aliases);
        aliases.add(dialect, ours.into(), theirs.into());
        self
    }
}
