//! What differs from one tool to the next, as tables: a tool whose hooks this crate runs is one value of `Tool`.
//!
//! Knows no particular tool; each has a file with its own value.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::conclusion::{Conclusion, HookEnd};
use crate::events::EventType;

/// A tool whose hooks this crate runs as they are: [`CLAUDE`](super::CLAUDE), [`CODEX`](super::CODEX),
/// [`GEMINI`](super::GEMINI).
pub struct Tool {
    /// As on the command line and in [`Protocol::name`](crate::Protocol::name).
    pub(super) name: &'static str,
    /// As people write it.
    pub(super) title: &'static str,
    pub(super) files: Files,
    pub(super) handlers: Handlers,
    pub(super) events: &'static [Event],
    /// The input fields of every event, in addition to `hook_event_name`, `cwd` and what `renamed` has.
    pub(super) fields: Fields,
    /// Whether the input has the time of the event.
    pub(super) has_timestamp: bool,
    /// Keys of an event's data, with their names in the input.
    pub(super) renamed: &'static [(&'static str, &'static str)],
    /// A tool's return value in the form that hooks expect; none if it needs no conversion.
    pub(super) response: fn(tool: &str, value: &Value) -> Option<Value>,
    /// The usual names of tools in hosts, with their names in this one.
    pub(super) tools: &'static [(&'static str, &'static str)],
    /// Other names that a matcher may have for a tool.
    pub(super) also_called: &'static [(&'static str, &'static [&'static str])],
    /// The characters of a matcher, besides letters and digits, that make it a list of exact names and not a regular
    /// expression; none if it is never a list.
    pub(super) list_of_names: Option<&'static str>,
    /// Whether a matcher that is not about tools is one exact name.
    pub(super) other_matchers_are_names: bool,
    /// Whether a matcher that is no regular expression is one exact name.
    pub(super) invalid_matchers_are_names: bool,
    pub(super) variables: &'static [(&'static str, Variable)],
    /// The variable for the file in which a hook sets the variables of a session, and the events on which it is set.
    pub(super) env_file: Option<(&'static str, &'static [&'static str])>,
    pub(super) shell: ToolShell,
    /// Whether identical handlers run once.
    pub(super) runs_once: bool,
    /// Whether a hook that stops the turn denies the operation too.
    pub(super) stop_denies: bool,
    /// Reads how a hook ended.
    pub(super) read: fn(event: &Event, ended: &HookEnd<'_>) -> Conclusion,
}

/// The files of a tool.
#[derive(Clone, Copy)]
pub(super) struct Files {
    /// The directory of a project's files.
    pub(super) directory: &'static str,
    /// The user's files, below the home directory.
    pub(super) user: &'static [&'static str],
    /// The project's files, below its root.
    pub(super) project: &'static [&'static str],
    /// Files that may have a table `hooks` in TOML, which is not read: below the home directory, and the project's root.
    pub(super) toml: Option<&'static str>,
    /// Below both: a directory with extensions, which have the layout of plugins.
    pub(super) extensions: Option<&'static str>,
    /// What identifies a plugin of this tool.
    pub(super) manifest: &'static str,
    pub(super) switches: SwitchKeys,
}

/// The keys of a file that switch hooks off.
#[derive(Clone, Copy)]
pub(super) struct SwitchKeys {
    /// Next to `hooks`: true switches all hooks off.
    pub(super) all_off: Option<&'static str>,
    /// Next to `hooks`: an object with `enabled`, and `disabled`, a list of names.
    pub(super) settings: Option<&'static str>,
    /// The keys within `hooks` that are settings, not events.
    pub(super) not_events: &'static [&'static str],
}

/// The handlers in a file.
#[derive(Clone, Copy)]
pub(super) struct Handlers {
    pub(super) timeout_keys: &'static [&'static str],
    /// Whether timeouts are in milliseconds, not in seconds.
    pub(super) milliseconds: bool,
    /// The keys of a handler that the tool reads, in addition to `type`, `command` and the timeout.
    pub(super) keys: &'static [&'static str],
    /// The keys of a handler or a group that the tool applies, but this crate does not.
    pub(super) not_applied: &'static [&'static str],
    /// The types of handlers that the tool runs, but this crate does not.
    pub(super) other_types: &'static [&'static str],
    /// The key of a command that replaces `command` on Windows.
    pub(super) windows_key: Option<&'static str>,
}

/// An event of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub(super) name: &'static str,
    /// The event here; none if hosts do not fire it.
    pub(super) ours: Option<&'static str>,
    pub(super) subject: Subject,
    /// The timeout of a hook without its own.
    pub(super) timeout: Duration,
    /// The longest timeout; with one, no hook runs in the background.
    pub(super) longest: Option<Duration>,
    /// Whether only hosts that know the event by this name fire it.
    pub(super) is_of_host: bool,
    /// Whether a failure of a hook blocks.
    pub(super) is_closed: bool,
    /// What a hook that blocks by its exit code or its answer does.
    pub(super) effect: Effect,
    /// What plain text on standard output is.
    pub(super) text: Text,
    /// The input fields of this event alone.
    pub(super) fields: Fields,
}

/// The text that a matcher is tested against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// The tool ignores the matcher.
    Nothing,
    /// The name of the event's tool.
    Tool,
    /// A value of the event's data, and the default if the host does not set it.
    Data(&'static str, &'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Blocks,
    /// It is too late to block: the model receives feedback.
    FeedsBack,
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    Ignored,
    /// Context for the model.
    Context,
    /// An answer that the tool cannot read.
    Invalid,
}

/// The input fields that a tool documents, with their values if the host does not set them.
pub(super) type Fields = &'static [(&'static str, Unset)];

/// The value of a field that the host does not set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Unset {
    Is(&'static str),
    No,
    Null,
    Object,
}

pub(super) const BLANK: Unset = Unset::Is("");

impl Unset {
    pub(super) fn to_json(self) -> Value {
        match self {
            Self::Is(text) => text.into(),
            Self::No => Value::Bool(false),
            Self::Null => Value::Null,
            Self::Object => json!({}),
        }
    }
}

/// The value of an environment variable that a tool sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variable {
    /// The root of the project.
    Project,
    /// The directory of the hook's plugin.
    Plugin,
    /// A directory for the plugin's persistent data, below this one in the user's home.
    PluginData(&'static str),
    /// The directory in which the hook runs.
    Cwd,
    Session,
    /// The level of the host's field `effort`.
    Effort,
}

impl Variable {
    /// Whether the value comes from an event.
    pub(super) fn is_of_event(self) -> bool {
        matches!(self, Self::Cwd | Self::Session | Self::Effort)
    }
}

/// The shell of a command for which its handler names none, on Unix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolShell {
    /// `bash`, where there is one.
    Bash,
    /// The user's own, as a login shell.
    Login,
}

impl Event {
    /// An event on which a hook may block, without fields of its own and a matcher, and with ten minutes of time.
    pub(super) const fn new(name: &'static str, ours: &'static str) -> Self {
        Self {
            name,
            ours: Some(ours),
            subject: Subject::Nothing,
            timeout: Duration::from_secs(600),
            longest: None,
            is_of_host: false,
            is_closed: false,
            effect: Effect::Nothing,
            text: Text::Ignored,
            fields: &[],
        }
    }

    /// An event that no part of this crate fires, but a host may.
    pub(super) const fn of_host(name: &'static str, ours: &'static str) -> Self {
        Self {
            is_of_host: true,
            ..Self::new(name, ours)
        }
    }

    /// An event that hosts do not fire.
    pub(super) const fn unfired(name: &'static str) -> Self {
        Self {
            ours: None,
            ..Self::new(name, "")
        }
    }

    /// Whether hooks can block what the host is about to do.
    pub(super) fn can_block(&self) -> bool {
        let ours = self.ours.and_then(|name| EventType::of_name(name).ok());
        ours.is_some_and(|event| event.can_block())
    }

    pub(super) const fn on(self, subject: Subject) -> Self {
        Self { subject, ..self }
    }

    pub(super) const fn within(self, milliseconds: u64) -> Self {
        Self {
            timeout: Duration::from_millis(milliseconds),
            ..self
        }
    }

    pub(super) const fn at_most(self, milliseconds: u64) -> Self {
        Self {
            longest: Some(Duration::from_millis(milliseconds)),
            ..self
        }
    }

    pub(super) const fn blocks(self) -> Self {
        Self {
            effect: Effect::Blocks,
            ..self
        }
    }

    pub(super) const fn closed(self) -> Self {
        Self {
            is_closed: true,
            ..self
        }
    }

    pub(super) const fn feeds_back(self) -> Self {
        Self {
            effect: Effect::FeedsBack,
            ..self
        }
    }

    pub(super) const fn text(self, text: Text) -> Self {
        Self { text, ..self }
    }

    pub(super) const fn fields(self, fields: Fields) -> Self {
        Self { fields, ..self }
    }
}

impl Tool {
    /// The name on the command line and in [`Hook::protocol_name`](crate::Hook::protocol_name), such as `claude`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The name that people use, such as `Claude Code`.
    #[must_use]
    pub fn title(&self) -> &'static str {
        self.title
    }

    /// Returns the event of this name.
    pub(super) fn event_named(&self, name: &str) -> Option<&'static Event> {
        self.events.iter().find(|event| event.name == name)
    }

    /// Returns the name here of a tool of the host; the same name if the table does not contain it.
    pub(super) fn tool_name<'a>(&self, name: &'a str) -> &'a str {
        let found = self.tools.iter().find(|(ours, _)| *ours == name);
        found.map_or(name, |(_, theirs)| theirs)
    }

    /// Returns other names that a matcher may have for a tool, besides the name in the input.
    pub(super) fn other_names(&self, tool: &str) -> &'static [&'static str] {
        let found = self.also_called.iter().find(|(name, _)| *name == tool);
        found.map_or(&[], |(_, others)| others)
    }

    /// Whether a matcher of tools is a list of exact names, not a regular expression.
    pub(super) fn is_list_of_names(&self, matcher: &str) -> bool {
        let Some(marks) = self.list_of_names else {
            return false;
        };
        let mut characters = matcher.chars();
        characters.all(|c| c.is_ascii_alphanumeric() || marks.contains(c))
    }
}

impl PartialEq for Tool {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Tool {}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tool").field(&self.name).finish()
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}
