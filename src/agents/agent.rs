//! An agent as one value: where its files are, its events, tools and variables, and the forms of its answers.
//!
//! Knows no particular agent: each has a file of its own beside this one.

use std::fmt;
use std::time::Duration;

use super::answers::{ANSWERS, Answers};
use super::emulated::{Emulated, NOT_EMULATED};
use super::event::{Event, Field};
#[cfg(feature = "cli")]
use super::names::value_of;
use super::names::{Pairs, Words};
use super::tool::Tool;
#[cfg(feature = "cli")]
use crate::events::{LIKE_AN_EVENT, nearest};

/// An agent whose hooks this crate runs as they are: one of [`AGENTS`](super::AGENTS). The program has others too, under which
/// it only runs itself.
#[cfg_attr(not(feature = "cli"), allow(dead_code))]
pub struct Agent {
    /// The name on the command line and of the protocol of the agent's hooks.
    pub(crate) name: &'static str,
    /// The name that people use.
    pub(crate) title: &'static str,

    // Its files.
    /// The project's files, below its root. The first one is also the user's, below the home directory.
    pub(crate) files: Words,
    /// Files and directories below both: other hooks, and commands that the agent runs without an event.
    pub(crate) also_decides: Words,
    /// Directories with skills, commands or subagents, whose front matter may register hooks.
    pub(crate) may_decide: Words,
    /// Files in the user's home that run before each hook.
    pub(crate) decides_at_home: Words,
    /// The variable that names another place for this directory, below the home directory, where the user's files are.
    pub(crate) moved_by: (&'static str, &'static str),
    /// The ways in which the user approves a hook that is new in a file, if the agent runs none before that.
    pub(crate) approval: Option<HandlerApproval>,
    /// The variable that the agent sets for the commands of its tools.
    pub(crate) set_for_tools: &'static str,
    /// True if the agent does not read a file with comments or a byte order mark.
    pub(crate) reads_plain_json: bool,
    /// The value of a key `version` next to `hooks`. If it is another one, the agent reads nothing of the file.
    pub(crate) version: Option<u64>,
    /// True if the input of the tool that applies a patch is the patch itself, under the name of another tool.
    pub(crate) bare_patches: bool,
    /// A key next to `hooks`, with dots between its parts, and the value with which it switches all hooks off. Without dots, if
    /// hosts run the agent's hooks.
    pub(crate) all_off: Option<(&'static str, bool)>,
    /// A key in the same form, for a list of the names of hooks that are switched off.
    pub(crate) disabled: Option<&'static str>,
    /// A key next to `hooks` with variables that the agent sets for its hooks, but this crate does not.
    pub(crate) environment: Option<&'static str>,

    // The handlers in a file.
    /// True if messages show the `name` of a handler instead of its command.
    pub(crate) names_handlers: bool,
    /// True if timeouts are in milliseconds, not in seconds.
    pub(crate) milliseconds: bool,
    /// The timeout of a hook without its own, in seconds, unless its event has another one.
    pub(crate) seconds: u64,

    // These fields are about the input of a hook.
    pub(crate) events: &'static [Event],
    /// The input fields of every event, in addition to `hook_event_name`, `cwd` and the fields in `renamed`.
    pub(crate) fields: &'static [Field],
    /// Keys of an event's data, with their names in the input.
    pub(crate) renamed: Pairs,
    pub(crate) tools: &'static [Tool],
    /// True if the agent reads other paths than those of a call: without an `@` before it, with `%2F` for `/`, or of another
    /// file with this name if there is none.
    pub(crate) corrects_paths: bool,
    /// The text between both, if a tool of an MCP server is called `SERVER-TOOL`, without another word on which part is which.
    pub(crate) joins_servers: Option<&'static str>,
    /// The text of a plugin that starts this program, if the agent has no hooks of its own.
    pub(crate) plugin: Option<&'static str>,
    pub(crate) variables: &'static [(&'static str, Variable)],
    pub(crate) answers: Answers,
    /// The rules by which hosts run the agent's own hooks.
    pub(crate) emulated: &'static Emulated,
}

/// An agent that is in nothing peculiar. Each agent has its own names, and no other agent's: a wrong one opens a guard.
pub(crate) const AGENT: Agent = Agent {
    name: "",
    title: "",
    files: &[],
    also_decides: &[],
    may_decide: &[],
    decides_at_home: &[],
    moved_by: ("", ""),
    approval: None,
    set_for_tools: "",
    reads_plain_json: false,
    version: None,
    bare_patches: false,
    all_off: None,
    disabled: None,
    environment: None,
    names_handlers: false,
    milliseconds: false,
    seconds: 600,
    events: &[],
    fields: &[],
    renamed: &[
        ("tool_args", "tool_input"),
        ("tool_result", "tool_response"),
        ("content", "prompt"),
    ],
    tools: &[],
    corrects_paths: false,
    joins_servers: None,
    plugin: None,
    variables: &[],
    answers: ANSWERS,
    emulated: NOT_EMULATED,
};

/// The two ways to approve a hook of an agent.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "cli"), allow(dead_code))]
pub(crate) struct HandlerApproval {
    /// The program whose `app-server` takes the approval.
    pub(crate) program: &'static str,
    /// The instruction for a user who approves by hand.
    pub(crate) by_hand: &'static str,
}

/// The value of an environment variable that an agent sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variable {
    /// The root of the project.
    Project,
    /// The directory of the hook's plugin.
    Plugin,
    /// A directory for the plugin's persistent data, below this one in the user's home.
    PluginData(&'static str),
    /// The level of the host's field `effort`.
    Effort,
    /// The file in which a hook sets the variables of a session.
    EnvFile,
}

impl Agent {
    /// Returns the name on the command line, such as `claude`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the name that people use, such as `Claude Code`.
    #[must_use]
    pub(crate) fn title(&self) -> &'static str {
        self.title
    }

    /// Returns the files of a project that contain the agent's hooks, below the project's root. The first one is also the
    /// user's, below the home directory.
    #[must_use]
    pub(crate) fn settings_files(&self) -> &'static [&'static str] {
        self.files
    }

    /// Returns the variable that names the file in which a hook sets variables for the commands of its session, such as
    /// `CLAUDE_ENV_FILE`; see [`HookResult::env_file`](crate::HookResult::env_file).
    #[must_use]
    pub(crate) fn env_file(&self) -> Option<&'static str> {
        let mut variables = self.variables.iter();
        let (name, _) = variables.find(|(_, value)| *value == Variable::EnvFile)?;
        Some(name)
    }

    /// Returns the variable that the agent sets for its hooks to the root of the project.
    #[cfg(feature = "cli")]
    pub(crate) fn project_variable(&self) -> Option<&'static str> {
        let mut variables = self.variables.iter();
        let (name, _) = variables.find(|(_, value)| *value == Variable::Project)?;
        Some(name)
    }

    #[cfg(feature = "cli")]
    pub(crate) fn events(&self) -> &'static [Event] {
        self.events
    }

    /// Returns the name of the event that is probably intended.
    #[cfg(feature = "cli")]
    pub(crate) fn nearest_event(&self, name: &str) -> Option<&'static str> {
        nearest(name, self.event_names(), LIKE_AN_EVENT)
    }

    /// Returns the names of the agent's events.
    pub(crate) fn event_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.events.iter().map(|event| event.name)
    }

    /// Returns the event of this name.
    pub(crate) fn event_named(&self, name: &str) -> Option<&'static Event> {
        self.events.iter().find(|event| event.name == name)
    }

    /// Returns the timeout of a hook without its own.
    pub(crate) fn timeout(&self, event: &Event) -> Duration {
        event.timeout.unwrap_or(Duration::from_secs(self.seconds))
    }

    /// Returns the timeout with which this program is registered: the longest, if there is one. It has whole seconds: an agent
    /// that reads another one's settings may refuse all of a file with a fraction.
    #[cfg(feature = "cli")]
    pub(crate) fn registered_timeout(&self, event: &Event) -> Duration {
        let timeout = event.waits.or(event.longest);
        Duration::from_secs(timeout.unwrap_or(self.timeout(event)).as_secs())
    }

    /// Returns the agent's name of a key of an event's data.
    #[cfg(feature = "cli")]
    pub(crate) fn key<'k>(&self, ours: &'k str) -> &'k str {
        value_of(self.renamed, ours).unwrap_or(ours)
    }

    /// Returns the agent's name of a tool that has this name in hosts.
    pub(crate) fn named_here(&self, ours: &str) -> Option<&'static str> {
        let mut tools = self.tools.iter();
        let tool = tools.find(|tool| tool.ours.contains(&ours))?;
        Some(tool.theirs)
    }

    /// Returns the agent's name of a tool of the host; the same name if the table does not contain it.
    pub(crate) fn tool_name<'a>(&self, name: &'a str) -> &'a str {
        self.named_here(name).unwrap_or(name)
    }

    /// Returns the tool that has this name in the agent.
    pub(crate) fn tool(&self, theirs: &str) -> Option<&'static Tool> {
        self.tools.iter().find(|tool| tool.theirs == theirs)
    }

    /// Returns the names in the form `mcp__SERVER__TOOL` that a tool may have, if the agent joins both by another text: each may have
    /// this text itself.
    #[cfg(feature = "cli")]
    pub(crate) fn joined_names(&self, theirs: &str) -> impl Iterator<Item = String> {
        let joint = self.joins_servers.filter(|_| self.tool(theirs).is_none());
        let places = joint
            .into_iter()
            .flat_map(|joint| theirs.match_indices(joint));
        let parts = places.map(|(at, joint)| (&theirs[..at], &theirs[at + joint.len()..]));
        let parts = parts.filter(|(server, tool)| !server.is_empty() && !tool.is_empty());
        parts.map(|(server, tool)| format!("mcp__{server}__{tool}"))
    }

    /// Returns whether a matcher of tools is a list of exact names, not a regular expression.
    pub(crate) fn is_list_of_names(&self, matcher: &str) -> bool {
        let mut characters = matcher.chars();
        characters.all(|c| c.is_ascii_alphanumeric() || self.emulated.list_of_names.contains(c))
    }
}

impl PartialEq for Agent {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Agent {}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Agent").field(&self.name).finish()
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}
