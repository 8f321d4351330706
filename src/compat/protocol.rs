//! A hook of another tool, as a protocol: what it is for, what it receives, and what its end means.
//!
//! Joins the parts beside it; does not know how a process is started.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value};
use tempfile::NamedTempFile;

use super::ending::{self, HookEnd, Strictness};
use super::input::{payload, session_dir};
use super::large_context::LargeContext;
use super::matcher::{Matcher, SharedAllowance};
use super::rule::Rule;
use super::tool::{Event, Reading, TOOL_NAME, Tool, Variable};
use crate::events::HookEvent;
use crate::hook::{
    Answer, Call, Decision, End, Failure, FailureKind, FailurePolicy, HookCommand, HookOutput,
    Order, Protocol, ProtocolMismatch, Start,
};
use crate::process::Args;
use crate::protocol::{command_line, posix, program};

/// Real hooks use `[[` and arrays, at which another shell ends with exit code 2, and so blocks.
static HAS_BASH: LazyLock<bool> = LazyLock::new(|| {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join("bash").is_file())
});

/// What stands in standard error where bytes are missing. No JSON has a line break in a string.
const LEFT_OUT: &str = " bytes left out ...]\n";

/// The host's names for tools that the tables do not contain.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolAliases(Vec<(&'static Tool, String, String)>);

impl ToolAliases {
    pub(super) fn add(&mut self, tool: &'static Tool, ours: String, theirs: String) {
        self.0.push((tool, ours, theirs));
    }
}

/// What a handler has besides its pattern, command, timeout and variables.
#[derive(Debug, Clone)]
pub(super) struct ToolProtocol {
    pub(super) tool: &'static Tool,
    pub(super) event: &'static Event,
    /// Shared by the handlers of a group, so that it is compiled once.
    pub(super) matcher: Arc<Matcher>,
    pub(super) rule: Option<Rule>,
    pub(super) plugin: Option<PathBuf>,
    pub(super) status_message: Option<String>,
    /// In tokens; none if the handler has no limit of its own.
    pub(super) context_limit: Option<usize>,
    /// Not part of the definition: the host's, not the handler's.
    pub(super) aliases: Arc<ToolAliases>,
    /// Shared by the hooks of a file. Not part of the definition.
    pub(super) large_context: Arc<LargeContext>,
}

impl ToolProtocol {
    /// Creates the protocol of a handler for this event.
    pub(super) fn new(
        tool: &'static Tool,
        event: &'static Event,
        matcher: &str,
        allowance: &SharedAllowance,
    ) -> Self {
        Self {
            tool,
            event,
            matcher: Arc::new(Matcher::new(tool, event, matcher, allowance)),
            rule: None,
            plugin: None,
            status_message: None,
            context_limit: None,
            aliases: Arc::default(),
            large_context: Arc::default(),
        }
    }

    /// Returns the protocol of a handler that was approved and is gone, from its definition. It matches at least what the
    /// handler did.
    pub(super) fn lost(tool: &'static Tool, definition: &Value) -> Option<Self> {
        let text = |key| definition.get(key).and_then(Value::as_str);
        let event = tool.event_named(text("event")?)?;
        let matcher = text("matcher").unwrap_or_default();
        Some(Self {
            status_message: text("status_message").map(str::to_owned),
            ..Self::new(tool, event, matcher, &SharedAllowance::default())
        })
    }

    /// Returns the name in the tool of a tool of the host.
    pub(super) fn tool_name<'a>(&'a self, name: &'a str) -> &'a str {
        let mut added = self.aliases.0.iter();
        match added.find(|(tool, ours, _)| *tool == self.tool && ours == name) {
            Some((.., theirs)) => theirs,
            None => self.tool.tool_name(name),
        }
    }

    /// Returns the text that the matcher is tested against; none if it is not tested.
    fn subject<'a>(&'a self, event: &'a HookEvent) -> Option<&'a str> {
        let key = self.event.subject?;
        if key == TOOL_NAME {
            return Some(self.tool_name(event.tool_name.as_deref().unwrap_or_default()));
        }
        let of_host = || event.context()?.field(key);
        let unset = || Some(&self.event.fields.iter().find(|it| it.0 == key)?.1);
        let value = event.data.get(key).or_else(of_host);
        let text = |value: Option<&'a Value>| value?.as_str();
        Some(text(value).or_else(|| text(unset())).unwrap_or_default())
    }

    fn is_named(&self, subject: &str) -> bool {
        let mut others = self.tool.other_names(subject);
        self.matcher.matches(subject) || others.any(|other| self.matcher.matches(other))
    }

    /// Returns why the matcher, and why the rule, cannot be tested.
    pub(super) fn untested(&self) -> [Option<&str>; 2] {
        let of_rule = || self.rule.as_ref()?.untested();
        [self.matcher.untested(), of_rule()]
    }

    /// Returns the directory that a variable holds, of those known without an event.
    fn directory<'a>(&'a self, variable: Variable, project: &'a Path) -> Option<&'a Path> {
        match variable {
            Variable::Project => Some(project),
            Variable::Plugin => self.plugin.as_deref(),
            _ => None,
        }
    }

    /// Returns the value of a variable of the hook; none if it is not set, also for one with NUL, which no variable can
    /// contain.
    fn value(&self, variable: Variable, call: &Call<'_>, cwd: &Path) -> Option<String> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let value = match variable {
            Variable::Project | Variable::Plugin => {
                self.directory(variable, call.working_dir).map(text)
            }
            Variable::PluginData(below) => {
                // By the name of the plugin's directory. It is not created here.
                let name = self.plugin.as_ref()?.file_name()?;
                Some(text(&home::home_dir()?.join(below).join(name)))
            }
            Variable::Cwd => Some(text(cwd)),
            Variable::Session => Some(call.event.session_id.clone().unwrap_or_default()),
            Variable::Effort => {
                let level = call.event.context()?.field("effort")?.get("level")?;
                level.as_str().map(str::to_owned)
            }
        };
        value.filter(|value| !value.contains('\0'))
    }

    /// Returns the command line, with the shell that the tool takes where none is named. In the arguments of a program,
    /// `${CLAUDE_PROJECT_DIR}` and similar names are replaced.
    fn command_line(&self, call: &Call<'_>) -> Result<(OsString, Args), Failure> {
        match call.hook.command() {
            HookCommand::Program(words) => {
                let expanded = |word: &String| self.expanded(word, call.working_dir).into();
                Ok(program(words.iter().map(expanded)))
            }
            HookCommand::Shell { text, shell: None } if cfg!(unix) => Ok(match self.tool {
                Tool {
                    has_login_shell: true,
                    ..
                } => {
                    let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty());
                    posix(shell.unwrap_or_else(|| "/bin/sh".into()), "-lc", text)
                }
                _ if *HAS_BASH => posix("bash", "-c", text),
                _ => posix("/bin/sh", "-c", text),
            }),
            command => command_line(command, |name| self.is_of_event(name)),
        }
    }

    /// Whether the tool sets this variable to a value of an event. Windows ignores case.
    fn is_of_event(&self, name: &str) -> bool {
        let mut variables = self.tool.variables.iter();
        let is_of_event = |it| matches!(it, Variable::Cwd | Variable::Session | Variable::Effort);
        variables.any(|(known, value)| is_of_event(*value) && known.eq_ignore_ascii_case(name))
    }

    /// Returns a word of `args` with the variables for directories replaced.
    fn expanded(&self, word: &str, project: &Path) -> String {
        let mut word = word.to_owned();
        for (name, variable) in self.tool.variables {
            if let Some(path) = self.directory(*variable, project) {
                word = word.replace(&format!("${{{name}}}"), &path.to_string_lossy());
            }
        }
        word
    }

    fn limit_context(&self, answer: &mut Answer) {
        let Some(tokens) = self.context_limit.or(self.tool.handlers.context_limit) else {
            return;
        };
        if let Some(output) = &mut answer.output
            && let Some(text) = output.additional_context.take()
        {
            let shortened = self.large_context.shortened(text, tokens);
            output.additional_context = Some(shortened.unwrap_or_else(|(text, why)| {
                answer.notes.push(why);
                text
            }));
        }
    }

    fn add_env_file(&self, start: &mut Start<'_>) -> Result<(), Failure> {
        if !self.event.has_env_file {
            return Ok(());
        }
        let name = self.tool.env_file;
        let mut named = tempfile::Builder::new();
        let file = named.prefix("forge-hooks-env-").tempfile();
        let file: NamedTempFile = file.map_err(|error| {
            let words = format!("cannot create the file for `{name}`: {error}");
            Failure::new(FailureKind::NotStarted, words)
        })?;
        let path = file.path().to_string_lossy().into_owned();
        start.variables.push((name.into(), path.into()));
        start.env_file = Some(file);
        Ok(())
    }
}

impl Protocol for ToolProtocol {
    fn name(&self) -> &str {
        self.tool.name
    }

    fn definition(&self) -> Value {
        let plugin = self.plugin.as_ref().map(|path| path.to_string_lossy());
        let members = [
            ("event", Some(self.event.name)),
            ("matcher", self.matcher.text()),
            ("if", self.rule.as_ref().map(Rule::as_str)),
            ("plugin_root", plugin.as_deref()),
            ("status_message", self.status_message.as_deref()),
        ];
        let mut definition = Map::new();
        if let Some(tokens) = self.context_limit {
            definition.insert("additional_context_limit".to_owned(), tokens.into());
        }
        for (key, value) in members {
            if let Some(value) = value {
                definition.insert(key.to_owned(), value.into());
            }
        }
        Value::Object(definition)
    }

    fn label(&self) -> Option<&str> {
        let message = self.status_message.as_deref();
        Some(message.unwrap_or(self.event.name))
    }

    fn fault(&self) -> Option<&str> {
        // What cannot be tested matches, but must have been compiled before.
        let _ = self.untested();
        self.matcher.fault()
    }

    fn directories(&self, project: &Path) -> Vec<(String, PathBuf)> {
        let found = self.tool.variables.iter().filter_map(|(name, variable)| {
            let path = match variable {
                // A hook that needs an approval runs in the project's root.
                Variable::Cwd => Some(project),
                variable => self.directory(*variable, project),
            };
            Some(((*name).to_owned(), path?.to_owned()))
        });
        found.collect()
    }

    fn mismatch<'a>(&'a self, event: &'a HookEvent) -> Option<ProtocolMismatch<'a>> {
        let subject = self.subject(event)?;
        if !self.is_named(subject) {
            let matcher = self.matcher.text().unwrap_or("*");
            return Some(ProtocolMismatch::new("matcher", matcher, Some(subject)));
        }
        let rule = self.rule.as_ref()?;
        let is_met = rule.is_met(subject, event);
        (!is_met).then(|| ProtocolMismatch::new("if", rule.as_str(), Some(subject)))
    }

    fn prepare<'a>(&'a self, call: &Call<'a>) -> Result<Start<'a>, Failure> {
        let (event, project) = (call.event, call.working_dir);
        let (program, args) = self.command_line(call)?;
        let working_dir = match session_dir(event) {
            // A project's hook was approved for the files of the project's root.
            Some(directory) if call.hook.gate().is_none() && directory.is_dir() => directory,
            _ => project,
        };
        let mut start = Start::with_args(program, args).timeout(self.event.timeout);
        for (name, variable) in self.tool.variables {
            if let Some(value) = self.value(*variable, call, working_dir) {
                start = start.variable(*name, value);
            }
        }
        self.add_env_file(&mut start)?;
        // A login shell may change what a command means.
        start.may_be_direct = !self.tool.has_login_shell;
        let called = self.tool_name(event.tool_name.as_deref().unwrap_or_default());
        let input = payload(self.tool, self.event, called, event, working_dir);
        start.stdin = Some(Cow::Owned(input));
        Ok(start.working_dir(working_dir))
    }

    fn read(&self, call: &Call<'_>, _start: &Start<'_>, end: &End<'_>) -> Answer {
        let is_tolerant = self.tool.answers.reading == Reading::Tolerant;
        let (text, is_cut) = match end.stdout.trim().is_empty() && is_tolerant {
            true => (end.stderr, end.stderr.contains(LEFT_OUT)),
            false => (end.stdout, end.gap.is_some()),
        };
        let text = text.trim_start();
        let is_lost = is_cut && (text.starts_with('{') || is_tolerant && text.starts_with('"'));
        let ended = HookEnd {
            code: end.code.unwrap_or(-1),
            stdout: if is_lost { "" } else { end.stdout },
            stderr: if is_lost && is_tolerant {
                ""
            } else {
                end.stderr
            },
        };
        let strictness = match call.hook.on_failure() {
            _ if !call.can_block => Strictness::CannotBlock,
            FailurePolicy::Continue => Strictness::Lenient,
            FailurePolicy::Block | FailurePolicy::Withhold => Strictness::Strict,
        };
        let mut answer = ending::read(self.tool, self.event, strictness, &ended);
        if is_lost && !answer.replaces_exit_code {
            let words = "it is longer than what is kept of the output".to_owned();
            // The tool would have read it, so this failure blocks even if the tool ignores failures.
            if call.can_block && !call.event.event_type.is_agent_stop() {
                let output = answer.output.get_or_insert_default();
                output.decision = Some(Decision::Block);
                output.reason = Some(format!("the hook's answer cannot be used: {words}"));
            } else {
                answer.invalid = Some(words);
            }
        }
        self.limit_context(&mut answer);
        let untested = self.untested().into_iter().flatten();
        let always_runs =
            |why| format!("the hook always runs, since it cannot be tested here: {why}");
        answer.notes.extend(untested.map(always_runs));
        answer.output = answer.output.filter(|it| *it != HookOutput::default());
        answer
    }

    fn order(&self) -> Order {
        if !self.tool.runs_once {
            return Order::in_parallel();
        }
        let mut handler = self.definition();
        if let Some(handler) = handler.as_object_mut() {
            handler.remove("matcher");
        }
        Order::in_parallel().once_for(handler.to_string())
    }
}
