//! A hook of another agent, as a protocol: its events, its input, and the meaning of its end.
//!
//! Joins the parts beside it. Does not know how a process is started.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::ending::{self, Strictness};
use super::mapping::MappedTool;
use super::matcher::Matcher;
use super::rule::{Rule, session_dir};
use super::shell;
use crate::agents::{Agent, Event, TOOL_NAME, Unset, UsualShell, Variable, value_of};
use crate::entry::{Failure, FailureKind, FailurePolicy, HookCommand, HookOutput, Reading};
use crate::events::HookEvent;
use crate::hook::HookSource;
use crate::process::Args;
use crate::protocol::{Call, Exit, Launch, Protocol, ProtocolMismatch, command_line, program};

/// The most characters of a matcher in a label, so that its place stays visible.
const LONGEST_MATCHER: usize = 30;

/// The origin of a file's hooks, and its effect on each hook.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) agent: &'static Agent,
    /// The project's root; none for the user's files.
    pub(crate) base_dir: Option<Arc<Path>>,
    pub(crate) plugin: Option<PathBuf>,
    /// The host's tools, of every agent.
    pub(crate) mapped: Arc<Vec<MappedTool>>,
    /// True if failures and unreadable files block.
    pub(crate) is_strict: bool,
}

impl Origin {
    /// Returns the host's mapping of one of its tools.
    pub(super) fn mapped_tool(&self, name: &str) -> Option<&MappedTool> {
        let mut tools = self.mapped.iter();
        tools.find(|tool| tool.agent == self.agent && tool.ours == name)
    }

    /// Returns the name of a file of this origin for people: in its project, the agent's name of it, or else its last part.
    fn place_of(&self, file: &Path) -> String {
        let beside = || self.plugin.as_ref()?.parent();
        let root = self.base_dir.as_deref().or_else(beside);
        let mut usual = self.agent.files.iter().map(Path::new);
        let below = root.and_then(|root| file.strip_prefix(root).ok());
        let place = below.or_else(|| usual.find(|usual| file.ends_with(usual)));
        let place = place.or_else(|| file.file_name().map(Path::new));
        let text = place.unwrap_or(file).to_string_lossy();
        text.replace(MAIN_SEPARATOR, "/")
    }

    /// Returns the agent's name of a tool of the host.
    pub(crate) fn tool_name<'a>(&'a self, name: &'a str) -> &'a str {
        match self.mapped_tool(name) {
            Some(tool) => &tool.theirs,
            None => self.agent.tool_name(name),
        }
    }
}

/// The settings of a handler besides its pattern, command, timeout and variables.
#[derive(Debug, Clone)]
pub(crate) struct AgentProtocol {
    /// The origin. Only its agent and its plugin are part of the definition.
    pub(crate) origin: Arc<Origin>,
    pub(crate) event: &'static Event,
    /// The matcher, which the handlers of a group share, so that it is compiled once.
    pub(crate) matcher: Arc<Matcher>,
    pub(crate) rule: Option<Rule>,
    pub(crate) status_message: Option<String>,
    /// The event, the matcher and the place in its file.
    pub(crate) label: String,
    /// The beginning of its group and the handler, as JSON without spaces and comments of the file.
    pub(crate) written: Option<(Arc<str>, String)>,
    /// A key of the handler that is part of its approval: the most tokens of its context, which are not applied.
    pub(crate) context_limit: Option<usize>,
}

impl AgentProtocol {
    /// Creates the protocol of a handler for this event.
    pub(crate) fn new(origin: &Arc<Origin>, event: &'static Event, matcher: &str) -> Self {
        let matcher = Matcher::new(origin.agent, event, matcher);
        Self {
            origin: Arc::clone(origin),
            event,
            matcher: Arc::new(matcher),
            rule: None,
            status_message: None,
            label: event.name.to_owned(),
            written: None,
            context_limit: None,
        }
    }

    /// Returns the protocol of a handler that was approved and is gone, from its definition. It matches at least the events
    /// that the handler matched.
    pub(crate) fn lost(origin: &Arc<Origin>, definition: &Value) -> Option<Self> {
        let text = |key| definition.get(key).and_then(Value::as_str);
        let event = origin.agent.event_named(text("event")?)?;
        let matcher = text("matcher").unwrap_or_default();
        Some(Self {
            status_message: text("status_message").map(str::to_owned),
            ..Self::new(origin, event, matcher)
        })
    }

    /// Returns the label of a handler at this place, such as `PreToolUse(Bash) .claude/settings.json:2`.
    pub(crate) fn label_at(&self, source: &HookSource) -> String {
        let mut label = self.event.name.to_owned();
        if let Some(matcher) = self.matcher.text() {
            let beginning: String = matcher.chars().take(LONGEST_MATCHER + 1).collect();
            label += &match beginning.char_indices().nth(LONGEST_MATCHER) {
                Some((end, _)) => format!("({}…)", &beginning[..end]),
                None => format!("({beginning})"),
            };
        }
        label += &format!(" {}", self.origin.place_of(&source.path));
        let line = source.line.map(|line| format!(":{line}"));
        label + &line.unwrap_or_default()
    }

    fn agent(&self) -> &'static Agent {
        self.origin.agent
    }

    /// Returns the agent's name of the event's tool.
    pub(crate) fn tool_name<'a>(&'a self, event: &'a HookEvent) -> &'a str {
        let name = event.tool_name.as_deref().unwrap_or_default();
        self.origin.tool_name(name)
    }

    /// Returns the text that the matcher is tested against; none if it is not tested.
    fn subject<'a>(&'a self, event: &'a HookEvent) -> Option<&'a str> {
        let key = self.event.subject?;
        if key == TOOL_NAME {
            return Some(self.tool_name(event));
        }
        let of_host = || event.context()?.field(key);
        let unset = || value_of(self.event.fields, key);
        let value = event.data.get(key).or_else(of_host);
        let text = |value: Option<&'a Value>| value?.as_str();
        Some(text(value).unwrap_or_else(|| match unset() {
            Some(Unset::Text(text)) => text,
            _ => "",
        }))
    }

    /// Returns whether the matcher matches the subject, or another name of the tool.
    pub(crate) fn is_named(&self, subject: &str) -> bool {
        let others = self.agent().emulated.also_called.iter();
        let mut names = others
            .filter(|(name, _)| *name == subject)
            .map(|(_, other)| other);
        self.matcher.matches(subject) || names.any(|other| self.matcher.matches(other))
    }

    /// Returns the value of a variable of the hook. None if it is not set, or contains NUL, which a variable cannot contain.
    fn value(&self, variable: Variable, call: &Call<'_>, launch: &Launch<'_>) -> Option<String> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let value = match variable {
            // The directory has the name of the plugin's directory, and is not created here.
            Variable::PluginData(below) => {
                let name = self.origin.plugin.as_ref()?.file_name()?;
                text(&home::home_dir()?.join(below).join(name))
            }
            Variable::EnvFile => text(launch.env_file.as_ref()?.path()),
            Variable::Effort => {
                let level = call.event.context()?.field("effort")?.get("level")?;
                level.as_str()?.to_owned()
            }
            Variable::Project => text(call.working_dir),
            Variable::Plugin => text(self.origin.plugin.as_ref()?),
        };
        Some(value).filter(|value| !value.contains('\0'))
    }

    /// Returns the command line, with the shell that the agent uses if none is named. In the arguments of a program,
    /// `${CLAUDE_PROJECT_DIR}` and similar names are replaced.
    fn command_line(&self, call: &Call<'_>) -> Result<(OsString, Args), Failure> {
        match call.hook.command {
            HookCommand::Program(args) => {
                let expanded = |word: &String| self.expanded(word, call.working_dir).into();
                Ok(program(args.iter().map(expanded)))
            }
            HookCommand::Shell { text, shell: None } => {
                let line = shell::usual(self.agent().emulated.shell, text)
                    .map_err(|why| Failure::new(FailureKind::NotStarted, why))?;
                line.map_or_else(|| self.own_command_line(call.hook.command), Ok)
            }
            command => self.own_command_line(command),
        }
    }

    fn own_command_line(&self, command: &HookCommand) -> Result<(OsString, Args), Failure> {
        command_line(command, |name| self.is_of_event(name))
    }

    /// Returns whether the agent sets this variable to a value of an event. Windows ignores case.
    fn is_of_event(&self, name: &str) -> bool {
        let mut variables = self.agent().variables.iter();
        variables
            .any(|(known, value)| *value == Variable::Effort && known.eq_ignore_ascii_case(name))
    }

    /// Returns a word of `args` with the variables for directories replaced.
    fn expanded(&self, word: &str, project: &Path) -> String {
        let mut word = word.to_owned();
        for (name, path) in self.directories(project) {
            word = word.replace(&format!("${{{name}}}"), &path.to_string_lossy());
        }
        word
    }

    /// Creates the file for the variables of the session, on an event that has one. A hook in a sandbox gets no file: these
    /// variables are for commands outside of it.
    fn env_file(&self, call: &Call<'_>) -> Result<Option<NamedTempFile>, Failure> {
        let has_one = self.event.has_env_file && !call.hook.is_confined;
        let Some(name) = self.agent().env_file().filter(|_| has_one) else {
            return Ok(None);
        };
        let mut named = tempfile::Builder::new();
        let file = named.prefix("forge-hooks-env-").tempfile();
        file.map(Some).map_err(|error| {
            let message = format!("cannot create the file for `{name}`: {error}");
            Failure::new(FailureKind::NotStarted, message)
        })
    }
}

impl Protocol for AgentProtocol {
    fn name(&self) -> &str {
        self.agent().name
    }

    fn definition(&self) -> Value {
        let mut definition = json!({
            "event": self.event.name,
            "matcher": self.matcher.text(),
            "if": self.rule.as_ref().map(Rule::as_str),
            "plugin_root": self.origin.plugin.as_ref().map(|plugin| plugin.to_string_lossy()),
            "status_message": self.status_message,
            "additional_context_limit": self.context_limit,
        });
        if let Some(members) = definition.as_object_mut() {
            members.retain(|_, value| !value.is_null());
        }
        definition
    }

    fn label(&self) -> Option<&str> {
        self.status_message.as_deref().or(Some(&self.label))
    }

    fn written(&self) -> Option<String> {
        let (group, handler) = self.written.as_ref()?;
        let event = self.event.name;
        Some(format!(
            r#"{{"{event}": [{{{group}"hooks": [{handler}]}}]}}"#
        ))
    }

    fn fault(&self) -> Option<&str> {
        self.matcher.fault()
    }

    fn directories(&self, project: &Path) -> Vec<(String, PathBuf)> {
        let mismatches = self
            .agent()
            .variables
            .iter()
            .filter_map(|(name, variable)| {
                let path = match variable {
                    // A hook that needs an approval runs in the project's root.
                    Variable::Project => project,
                    Variable::Plugin => self.origin.plugin.as_ref()?,
                    _ => return None,
                };
                Some(((*name).to_owned(), path.to_owned()))
            });
        mismatches.collect()
    }

    fn mismatch<'a>(&'a self, event: &'a HookEvent) -> Option<ProtocolMismatch<'a>> {
        let subject = self.subject(event)?;
        let found = Some(subject);
        let mismatch = |key, expected| ProtocolMismatch {
            key,
            expected,
            found,
        };
        if !self.is_named(subject) {
            let matcher = self.matcher.text().unwrap_or("*");
            return Some(mismatch("matcher", matcher));
        }
        let rule = self.rule.as_ref()?;
        let called = event.data.get("tool_args");
        // Arguments that cannot be mapped make the hook fail when it is started.
        let called = called.map(|value| self.arguments(event, value)).transpose();
        let is_met =
            |called: Option<Cow<'_, Value>>| rule.is_met(subject, called.as_deref(), event);
        (!called.map_or(true, is_met)).then(|| mismatch("if", rule.as_str()))
    }

    fn prepare<'a>(&'a self, call: &Call<'a>) -> Result<Launch<'a>, Failure> {
        let (event, project) = (call.event, call.working_dir);
        let (program, args) = self.command_line(call)?;
        let session_dir = session_dir(event).filter(|path| !path.as_os_str().is_empty());
        let working_dir = match session_dir {
            // A project's hook was approved for the files of the project's root. If the root is gone, the hook does not run
            // elsewhere, where a guard would check other files.
            Some(directory) if !call.hook.is_approved => directory,
            _ => project,
        };
        let mut launch = Launch::new(program, args);
        launch.timeout = Some(self.agent().timeout(self.event));
        launch.working_dir = Some(working_dir.to_owned());
        launch.env_file = self.env_file(call)?;
        for (name, variable) in self.agent().variables {
            if let Some(value) = self.value(*variable, call, &launch) {
                launch.variables.push(((*name).into(), value.into()));
            }
        }
        // A login shell may change the meaning of a command.
        launch.may_be_direct = self.agent().emulated.shell != UsualShell::Login;
        let not_mapped = |why| Failure::new(FailureKind::ArgumentsNotMapped, why);
        launch.stdin = Some(Cow::Owned(
            self.input(event, working_dir).map_err(not_mapped)?,
        ));
        if Strictness::of(call) == Strictness::Strict
            && let Some(why) = self.unseen_argument(event)
        {
            return Err(not_mapped(why));
        }
        Ok(launch)
    }

    fn read(&self, call: &Call<'_>, end: &Exit<'_>) -> Reading {
        let event = self.as_read(call.event);
        let strictness = Strictness::of(call);
        let mut answer = ending::read(self.agent(), self.event, &event, strictness, end);
        if let Some(output) = &mut answer.output {
            self.map_back(call.event, output);
            self.output_back(call.event, output);
        }
        let is_shell = matches!(call.hook.command, HookCommand::Shell { shell: None, .. });
        if let Some(shell) = shell::refusing(self.agent().emulated.shell).filter(|_| is_shell) {
            let shell = shell.display();
            let message = format!(
                "`{shell}`, the user's shell, runs no commands: set `SHELL` to another one"
            );
            answer.warnings = vec![message];
        }
        answer.warnings.extend(self.unseen_argument(call.event));
        let always_runs =
            |why| format!("the hook always runs, since it cannot be tested here: {why}");
        let untested = self.matcher.untested();
        answer.notes.extend(untested.map(always_runs));
        answer.output = answer
            .output
            .filter(|output| *output != HookOutput::default());
        answer
    }

    /// Returns whether the operation may continue. A failure of this crate or its host blocks under every policy: the agent
    /// would have run the hook. An answer that cannot be read may be ignored, as the agent may ignore it.
    fn forgives(&self, failure: FailureKind, policy: FailurePolicy) -> bool {
        match failure {
            FailureKind::InvalidAnswer => policy == FailurePolicy::Continue,
            _ => !failure.is_of_the_engine() && failure.continues_under(policy),
        }
    }

    fn once_for(&self) -> Option<String> {
        let mut handler = self.definition();
        handler["matcher"].take();
        Some(handler.to_string())
    }
}
