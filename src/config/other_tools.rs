//! What a host says of the hooks of other tools that it loads.

use std::path::PathBuf;
use std::sync::Arc;

use super::HookConfig;
use crate::hook::Dialect;

impl HookConfig {
    /// Also loads the hooks files of these tools, behind those of this crate: of each the user's
    /// (`~/.claude/settings.json`, `~/.codex/hooks.json`, `~/.gemini/settings.json`), then the project's (of Claude
    /// Code `.claude/settings.local.json` too), and the extensions of Gemini CLI. A project's hooks
    /// need an approval, as any of a project's do. Default: none.
    ///
    /// Such a hook is read as its tool reads it: what the tool ignores is left out, and reported.
    /// Its failures are forgiven, see [`with_strict_guards`](HookConfig::with_strict_guards).
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
    /// manifest. One within the project needs an approval.
    #[must_use]
    pub fn with_plugin(mut self, directory: impl Into<PathBuf>) -> Self {
        self.other_tools.plugins.push(directory.into());
        self
    }

    /// Sets the directory below which the files of other tools are looked for. Default: the user's
    /// home.
    #[must_use]
    pub fn with_home(mut self, directory: impl Into<PathBuf>) -> Self {
        self.other_tools.home = Some(directory.into());
        self
    }

    /// Has hooks of other tools block where they fail, time out, cannot be read, or answer what their tool
    /// does not understand, as hooks of this crate do. Default: they are forgiven, as their tools do it.
    #[must_use]
    pub fn with_strict_guards(mut self) -> Self {
        self.other_tools.is_strict = true;
        self
    }

    /// Says what another tool calls a tool of the host: its hooks match that name, and are given it.
    /// The usual names (`bash`, `read`, `write`, `edit`) are known.
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
