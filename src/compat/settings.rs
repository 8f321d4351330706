//! The settings of a host for hooks of other agents.
//!
//! Knows neither files nor handlers.

use std::path::PathBuf;
use std::sync::Arc;

use super::mapping::MappedTool;
use crate::agents::Agent;

/// The agents, plugins and files whose hooks a host runs besides its own.
///
/// For each agent, the user's files are loaded first (`~/.claude/settings.json`, `~/.codex/hooks.json`; none for a profile
/// without global files), then the project's (for Claude Code also `.claude/settings.local.json`). A project's hooks need an
/// approval, like all hooks of a project.
///
/// A hook is read by the rules of its agent: a part that the agent ignores is ignored and reported. Its failures do not
/// block, see [`with_strict_guards`](OtherAgents::with_strict_guards).
///
/// ```
/// use forge_hooks::compat::{self, OtherAgents};
/// use forge_hooks::{AppProfile, Hooks};
///
/// # let directory = tempfile::tempdir()?;
/// # let home = directory.path();
/// let tools = OtherAgents::new([compat::CLAUDE, compat::CODEX]).with_home(home);
/// let hooks = Hooks::builder(AppProfile::new("myagent")).other_agents(tools).load();
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "nothing is loaded until a host has it"]
pub struct OtherAgents {
    pub(crate) agents: Vec<&'static Agent>,
    pub(crate) plugins: Vec<PathBuf>,
    /// Files and plugins that the user has named.
    pub(crate) named: Vec<(&'static Agent, PathBuf)>,
    pub(crate) home: Option<PathBuf>,
    pub(crate) is_strict: bool,
    pub(crate) mapped: Arc<Vec<MappedTool>>,
}

impl OtherAgents {
    /// Loads the hooks of these agents, in this order.
    pub fn new<I: IntoIterator<Item = &'static Agent>>(agents: I) -> Self {
        let mut tools = Self::default();
        for agent in agents {
            if !tools.agents.contains(&agent) {
                tools.agents.push(agent);
            }
        }
        tools
    }

    /// Sets the agent.
    #[cfg(feature = "cli")]
    pub(crate) fn of_agent(mut self, agent: &'static Agent) -> Self {
        self.agents = vec![agent];
        self
    }

    /// Adds the hooks of a plugin: `hooks/hooks.json` in this directory, and the `hooks` of its manifest. A plugin within
    /// the project needs an approval.
    pub fn with_plugin(mut self, directory: impl Into<PathBuf>) -> Self {
        self.plugins.push(directory.into());
        self
    }

    /// Adds this file, or if it is a directory, this plugin, as one of this agent. It counts as the user's own: it needs no
    /// approval, wherever it is. If an agent loads it from the project by itself, it is the project's in all other respects:
    /// see [`HooksBuilder::sandbox_projects`](crate::HooksBuilder::sandbox_projects).
    pub fn with_settings(mut self, agent: &'static Agent, path: impl Into<PathBuf>) -> Self {
        self.named.push((agent, path.into()));
        self
    }

    /// Sets the directory that contains the user's files. Default: the user's home directory.
    pub fn with_home(mut self, directory: impl Into<PathBuf>) -> Self {
        self.home = Some(directory.into());
        self
    }

    /// Lets hooks block if they fail, time out, cannot be read, or give an answer that their agent does not understand, like
    /// hooks of this crate. Default: these failures are ignored, as in their agents.
    pub fn with_strict_guards(mut self) -> Self {
        self.is_strict = true;
        self
    }

    /// Sets the name that another agent uses for a tool of the host, and for its arguments: that agent's hooks match and
    /// receive these names, and the input that they set comes back under the host's. Arguments that are not named keep
    /// their names. If two arguments of a call would have one name, its hooks fail, and block what can be blocked.
    ///
    /// The usual names of tools (`bash`, `read`, `write`, `edit`) are already known, those of arguments are not: a guard of
    /// Claude Code reads `command` of `Bash`, and `file_path` and `content` of `Write`. A call without them is reported in
    /// [`HookResult::diagnostics`](crate::HookResult::diagnostics), and blocks with strict guards. The same tool again
    /// replaces what was set before.
    ///
    /// ```
    /// use forge_hooks::compat::{CLAUDE, OtherAgents};
    ///
    /// let arguments = [("path", "file_path"), ("contents", "content")];
    /// let tools = OtherAgents::new([CLAUDE]).with_tool(CLAUDE, "fs_write", "Write", arguments);
    /// ```
    ///
    /// A tool whose arguments have the same names in both needs [`with_tool_name`](Self::with_tool_name) alone.
    pub fn with_tool<I, A, B>(
        mut self,
        agent: &'static Agent,
        ours: impl Into<String>,
        theirs: impl Into<String>,
        arguments: I,
    ) -> Self
    where
        I: IntoIterator<Item = (A, B)>,
        A: Into<String>,
        B: Into<String>,
    {
        let arguments = arguments.into_iter();
        let new = MappedTool {
            agent,
            ours: ours.into(),
            theirs: theirs.into(),
            arguments: arguments
                .map(|(ours, theirs)| (ours.into(), theirs.into()))
                .collect(),
        };
        let mapped = Arc::make_mut(&mut self.mapped);
        mapped.retain(|old| old.agent != new.agent || old.ours != new.ours);
        mapped.push(new);
        self
    }

    /// Sets the name that another agent uses for a tool of the host. The arguments have the same names in both.
    pub fn with_tool_name(
        self,
        agent: &'static Agent,
        ours: impl Into<String>,
        theirs: impl Into<String>,
    ) -> Self {
        self.with_tool(agent, ours, theirs, [("", ""); 0])
    }
}

impl<const N: usize> From<[&'static Agent; N]> for OtherAgents {
    fn from(agents: [&'static Agent; N]) -> Self {
        Self::new(agents)
    }
}
