//! The differences between agents, as tables: an agent whose hooks this crate runs is one value of `Agent`.
//!
//! Knows no particular agent; their values are in `agents.rs`.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use crate::events::{EventType, named_elsewhere};
#[cfg(feature = "cli")]
use crate::events::{LIKE_AN_EVENT, nearest};

pub(crate) type Words = &'static [&'static str];

/// Keys with their values.
pub(crate) type Pairs = &'static [(&'static str, &'static str)];

/// Returns the value of a key.
pub(crate) fn value_of<T: Copy>(pairs: &[(&'static str, T)], key: &str) -> Option<T> {
    let (_, value) = pairs.iter().find(|(name, _)| *name == key)?;
    Some(*value)
}

/// An agent whose hooks this crate runs as they are: one of [`AGENTS`](super::AGENTS). The program has others too, under which
/// it only runs itself. No row has the values of another one for fields that it leaves out: a wrong value opens a guard.
pub struct Agent {
    /// The name on the command line and in [`Hook::protocol_name`](crate::Hook::protocol_name).
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
    #[cfg_attr(not(feature = "cli"), allow(dead_code))]
    pub(crate) decides_at_home: Words,
    /// The variable that names another place for this directory, below the home directory, where the user's files are.
    #[cfg_attr(
        not(feature = "cli"),
        expect(dead_code, reason = "only the program registers hooks")
    )]
    pub(crate) moved_by: (&'static str, &'static str),
    /// The ways in which the user approves a hook that is new in a file, if the agent runs none before that.
    #[cfg_attr(
        not(feature = "cli"),
        expect(dead_code, reason = "only the program registers hooks")
    )]
    pub(crate) approval: Option<HandlerApproval>,
    /// The variable that the agent sets for the commands of its tools.
    #[cfg_attr(
        not(feature = "cli"),
        expect(dead_code, reason = "only the program refuses to run below an agent")
    )]
    pub(crate) set_for_tools: &'static str,
    /// True if the agent does not read a file with comments or a byte order mark.
    #[cfg_attr(
        not(feature = "cli"),
        expect(dead_code, reason = "only the program registers hooks")
    )]
    pub(crate) reads_plain_json: bool,
    /// The value of a key `version` next to `hooks`. If it is another one, the agent reads nothing of the file.
    #[cfg_attr(
        not(feature = "cli"),
        expect(dead_code, reason = "only the program registers hooks")
    )]
    pub(crate) version: Option<u64>,
    /// True if the input of the tool that applies a patch is the patch itself, under the name of another tool.
    #[cfg_attr(
        not(feature = "cli"),
        expect(dead_code, reason = "only the program reads patches")
    )]
    pub(crate) bare_patches: bool,
    /// A key next to `hooks`, with dots between its parts, and the value with which it switches all hooks off. Without dots, if
    /// hosts run the agent's hooks.
    pub(crate) all_off: Option<(&'static str, bool)>,
    /// A key in the same form, for a list of the names of hooks that are switched off.
    #[cfg_attr(
        not(feature = "cli"),
        expect(dead_code, reason = "only the program asks")
    )]
    pub(crate) disabled: Option<&'static str>,
    /// A key next to `hooks` with variables that the agent sets for its hooks, but this crate does not.
    pub(crate) environment: Option<&'static str>,

    // The handlers in a file.
    /// True if messages show the `name` of a handler instead of its command.
    #[cfg_attr(
        not(feature = "cli"),
        expect(dead_code, reason = "only the program registers hooks")
    )]
    pub(crate) names_handlers: bool,
    /// True if timeouts are in milliseconds, not in seconds.
    #[cfg_attr(
        not(feature = "cli"),
        expect(dead_code, reason = "only the program registers hooks")
    )]
    pub(crate) milliseconds: bool,
    /// The timeout of a hook without its own, in seconds, unless its event has another one.
    pub(super) seconds: u64,

    // These fields are about the input of a hook.
    pub(super) events: &'static [Event],
    /// The input fields of every event, in addition to `hook_event_name`, `cwd` and the fields in `renamed`.
    pub(super) fields: &'static [Field],
    /// Keys of an event's data, with their names in the input.
    pub(super) renamed: Pairs,
    pub(super) tools: &'static [Tool],
    /// True if the agent reads other paths than those of a call: without an `@` before it, with `%2F` for `/`, or of another
    /// file with this name if there is none.
    #[cfg_attr(
        not(feature = "cli"),
        expect(dead_code, reason = "only the program asks")
    )]
    pub(crate) corrects_paths: bool,
    /// The text between both, if a tool of an MCP server is called `SERVER-TOOL`, without another word on which part is which.
    #[cfg_attr(
        not(feature = "cli"),
        expect(dead_code, reason = "only the program asks")
    )]
    pub(crate) joins_servers: Option<&'static str>,
    /// The text of a plugin that starts this program, if the agent has no hooks of its own.
    #[cfg_attr(
        not(feature = "cli"),
        expect(dead_code, reason = "only the program registers hooks")
    )]
    pub(crate) plugin: Option<&'static str>,
    pub(crate) variables: &'static [(&'static str, Variable)],
    /// The rules by which hosts run the agent's own hooks.
    pub(crate) emulated: &'static Emulated,
}

/// The rules by which a host runs the hooks in an agent's own files.
pub(crate) struct Emulated {
    /// The file that identifies a plugin of this agent.
    pub(crate) manifest: &'static str,
    /// The keys of a handler that the agent reads, in addition to `type` and `command`.
    pub(crate) keys: Words,
    /// The keys of a handler or a group that the agent applies, but this crate does not.
    pub(crate) keys_not_applied: Words,
    /// The characters of a matcher, besides letters and digits, that make it a list of exact names and not a regular
    /// expression.
    pub(crate) list_of_names: &'static str,
    /// True if hooks expect the text that a shell has returned as an object with `stdout`.
    pub(crate) wraps_output: bool,
    /// Names of tools, each with another name that a matcher may use for it.
    pub(crate) also_called: Pairs,
    /// True if an explicit yes counts before a tool, and with an exit code other than 0.
    pub(crate) takes_yes: bool,
    /// True if the name of another event makes an answer invalid.
    pub(crate) checks_event_name: bool,
    /// True if the reason of a hook that blocks after a tool replaces the tool's output.
    pub(crate) block_replaces_output: bool,
    /// The shell of a command whose handler names none.
    pub(super) shell: UsualShell,
}

/// The rules of an agent whose hooks hosts do not run: nothing reads them.
pub(super) const NOT_EMULATED: &Emulated = &Emulated {
    manifest: "",
    keys: &[],
    keys_not_applied: &[],
    list_of_names: "",
    wraps_output: false,
    also_called: &[],
    takes_yes: false,
    checks_event_name: true,
    block_replaces_output: true,
    shell: UsualShell::Bash,
};

/// A tool of an agent, by its names there and here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    pub(crate) theirs: &'static str,
    /// The tool's usual names in hosts. The first row with a name has it; the first name of a row is the tool's name in
    /// hooks.json.
    pub(crate) ours: Words,
    /// The arguments that have other names here: the agent's name of each, and ours. A host's hooks still find the agent's
    /// names, unless the host maps its arguments.
    #[cfg_attr(
        not(feature = "cli"),
        expect(dead_code, reason = "only the program renames arguments")
    )]
    pub(crate) arguments: Pairs,
    /// The arguments by which hooks of the agent recognize the tool's operation.
    pub(super) needs: Words,
}

/// Creates a tool without arguments of its own names.
pub(super) const fn tool(theirs: &'static str, ours: Words) -> Tool {
    Tool {
        theirs,
        ours,
        arguments: &[],
        needs: &[],
    }
}

impl Tool {
    pub(super) const fn with_arguments(self, arguments: Pairs) -> Self {
        Self { arguments, ..self }
    }

    pub(super) const fn needing(self, needs: Words) -> Self {
        Self { needs, ..self }
    }
}

/// The shell in which an agent runs a command whose handler names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UsualShell {
    Bash,
    /// The user's own shell, as a login shell. On Windows, the system's own shell.
    Login,
}

/// An event of an agent. A field that a row does not set is as in [`EVENT`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    pub(crate) name: &'static str,
    pub(crate) fires: Fires,
    /// True if `install` registers the event, if hosts fire it.
    #[cfg_attr(
        not(feature = "cli"),
        expect(dead_code, reason = "only the program registers hooks")
    )]
    pub(super) registered: bool,
    /// The input field that a matcher is tested against; none if the agent ignores matchers.
    pub(super) subject: Option<&'static str>,
    /// The timeout of a hook without its own; none if the agent's timeout applies.
    pub(super) timeout: Option<Duration>,
    /// The longest timeout. If there is one, no hook runs in the background.
    pub(crate) longest: Option<Duration>,
    /// The timeout with which this program is registered, if the agent waits longer for a hook that has one of its own.
    #[cfg_attr(
        not(feature = "cli"),
        expect(dead_code, reason = "only the program registers hooks")
    )]
    pub(super) waits: Option<Duration>,
    /// True if a failure of a hook blocks.
    pub(crate) is_closed: bool,
    /// True if a hook can set variables of the session.
    pub(super) has_env_file: bool,
    /// The effect of a hook that blocks by its exit code or its answer.
    pub(crate) effect: Effect,
    /// True if plain text on standard output is context for the model.
    pub(super) text_is_context: bool,
    pub(crate) specific: Specific,
    /// The input fields of only this event.
    pub(super) fields: &'static [Field],
}

/// An event that hosts fire, without matchers and input fields of its own, which hooks cannot block.
pub(super) const EVENT: Event = Event {
    name: "",
    fires: Fires::Known,
    registered: true,
    subject: None,
    timeout: None,
    longest: None,
    waits: None,
    is_closed: false,
    has_env_file: false,
    effect: Effect::Nothing,
    text_is_context: false,
    specific: SPECIFIC,
    fields: &[],
};

/// The two ways to approve a hook of an agent.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(
    not(feature = "cli"),
    expect(dead_code, reason = "only the program registers hooks")
)]
pub(crate) struct HandlerApproval {
    /// The program whose `app-server` takes the approval.
    pub(crate) program: &'static str,
    /// The instruction for a user who approves by hand.
    pub(crate) by_hand: &'static str,
}

/// The event here that an event of an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fires {
    /// The event that has the agent's name among its names in other programs: a row of `events/table.rs`.
    Known,
    /// This event, if the host knows it.
    OfHost(&'static str),
    /// This event, but only under the agent itself: hosts do not fire it.
    UnderAgent(&'static str),
    /// No event.
    Never,
}

/// An input field, with its value if the host does not set it.
pub(super) type Field = (&'static str, Unset);

/// The value of an input field that no host sets.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unset {
    Text(&'static str),
    Object,
    List,
    False,
    Null,
}

impl Unset {
    pub(super) fn value(self) -> Value {
        match self {
            Self::Text(text) => text.into(),
            Self::Object => json!({}),
            Self::List => json!([]),
            Self::False => Value::Bool(false),
            Self::Null => Value::Null,
        }
    }
}

/// The keys that an event's `hookSpecificOutput` has besides `additionalContext`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Specific {
    /// The object that contains the keys. Without it there is no decision.
    pub(crate) within: Option<&'static str>,
    /// The key of the decision, and its words.
    pub(crate) decision: Option<(&'static str, Words)>,
    pub(crate) reason: Option<&'static str>,
    /// The key of a new input.
    pub(crate) input: Option<&'static str>,
    /// The keys of a new output.
    pub(crate) output: Words,
}

pub(super) const SPECIFIC: Specific = Specific {
    within: None,
    decision: None,
    reason: None,
    input: None,
    output: &[],
};

/// The name of the input field for the event's tool.
pub(super) const TOOL_NAME: &str = "tool_name";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Blocks,
    /// It is too late to block: the model receives feedback.
    FeedsBack,
    Nothing,
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

impl Event {
    /// Returns the name of the event here; none if it is no event here.
    pub(crate) fn ours(&self) -> Option<&'static str> {
        match self.fires {
            Fires::Known => named_elsewhere(self.name),
            Fires::OfHost(ours) | Fires::UnderAgent(ours) => Some(ours),
            Fires::Never => None,
        }
    }

    /// Returns the name of the event here; none if hosts do not fire it.
    pub(crate) fn fired_by_hosts(&self) -> Option<&'static str> {
        self.ours()
            .filter(|_| !matches!(self.fires, Fires::UnderAgent(_)))
    }

    /// Returns whether `install` registers the event.
    #[cfg(feature = "cli")]
    pub(crate) fn is_registered(&self) -> bool {
        self.registered && self.ours().is_some()
    }

    /// Returns whether the event is the end of something, at which a block makes the agent continue.
    #[cfg(feature = "cli")]
    pub(crate) fn is_stop(&self) -> bool {
        let ends = [
            "agent:stop",
            "agent:subagent_stop",
            "agent:teammate_idle",
            "task:completed",
        ];
        self.ours().is_some_and(|name| ends.contains(&name))
    }

    /// Returns whether hooks can block the event.
    pub(crate) fn can_block(&self) -> bool {
        let ours = self.ours().and_then(|name| EventType::of_name(name).ok());
        ours.is_some_and(|event| event.can_block())
    }

    /// Returns whether a matcher is tested against the event's tool.
    pub(crate) fn is_of_tool(&self) -> bool {
        self.subject == Some(TOOL_NAME)
    }
}

impl Agent {
    /// Returns the name on the command line and in [`Hook::protocol_name`](crate::Hook::protocol_name), such as `claude`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the name that people use, such as `Claude Code`.
    #[must_use]
    pub fn title(&self) -> &'static str {
        self.title
    }

    /// Returns the files of a project that contain the agent's hooks, below the project's root. The first one is also the
    /// user's, below the home directory.
    #[must_use]
    pub fn settings_files(&self) -> &'static [&'static str] {
        self.files
    }

    /// Returns the variable that names the file in which a hook sets variables for the commands of its session, such as
    /// `CLAUDE_ENV_FILE`; see [`HookResult::env_file`](crate::HookResult::env_file).
    #[must_use]
    pub fn env_file(&self) -> Option<&'static str> {
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
