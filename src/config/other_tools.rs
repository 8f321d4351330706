//! Settings of a host for hooks of other tools.

use std::path::PathBuf;
use std::sync::Arc;

use super::HookConfig;
use crate::hook::Dialect;

impl HookConfig {
    /// Also loads the hooks files of these tools, after those of this crate. For each tool, the user's files
    /// are loaded first (`~/.claude/settings.json`, `~/.codex/hooks.json`, `~/.gemini/settings.json`; none for a
    /// profile without global files), then the project's (for Claude Code also `.claude/settings.local.json`),
    /// and the extensions of Gemini CLI. A project's hooks need an approval, like all hooks of a project.
    /// Default: none.
    ///
    /// Such a hook is read by the rules of its tool: what the tool ignores is ignored and reported.
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

    /// Returns whether hooks of this tool are loaded. With a [plugin](HookConfig::with_plugin), hooks of any
    /// tool are.
    #[must_use]
    pub fn loads(&self, dialect: Dialect) -> bool {
        dialect == Dialect::Native || self.other_tools.loaded().contains(&dialect)
    }

    /// Also loads the hooks of a plugin: `hooks/hooks.json` in this directory, and the `hooks` of its
    /// manifest. A plugin within the project needs an approval.
    #[must_use]
    pub fn with_plugin(mut self, directory: impl Into<PathBuf>) -> Self {
        self.other_tools.plugins.push(directory.into());
        self
    }

    /// Also loads this file, or where it is a directory, this plugin, as one of this tool. It counts as the
    /// user's own: it needs no approval, wherever it is.
    #[must_use]
    pub fn with_settings(mut self, dialect: Dialect, path: impl Into<PathBuf>) -> Self {
        self.other_tools.named.push((dialect, path.into()));
        self
    }

    /// Loads the files of other tools as `config` does: of the same tools and plugins, with the same
    /// names of tools and the same strictness.
    #[must_use]
    pub fn with_other_tools_of(mut self, config: &Self) -> Self {
        self.other_tools = config.other_tools.clone();
        self
    }

    /// Sets the directory that contains the user's files of other tools. Default: the user's home
    /// directory.
    #[must_use]
    pub fn with_home(mut self, directory: impl Into<PathBuf>) -> Self {
        self.other_tools.home = Some(directory.into());
        self
    }

    /// Lets hooks of other tools block if they fail, time out, cannot be read, or give an answer that their
    /// tool does not understand, like hooks of this crate. Default: these failures are ignored, as in
    /// their tools.
    #[must_use]
    pub fn with_strict_guards(mut self) -> Self {
        self.other_tools.is_strict = true;
        self
    }

    /// Sets the name that another tool uses for a tool of the host: that tool's hooks match and
    /// receive this name. The usual names (`bash`, `read`, `write`, `edit`) are already known.
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
