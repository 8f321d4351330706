//! A hook: which events it is for, what it runs, and how. A plain value.
//!
//! Does no I/O and does not know how a hook is run; its form in hooks.json is in `json`.

mod canonical;
mod extras;
mod gate;
mod json;
mod keys;
mod parts;
mod words;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::events::HookEvent;
use crate::pattern::{EventPattern, PatternError};
use crate::redact::Redactor;

pub(crate) use canonical::canonical;
use extras::{Extras, SharedExtras};
use gate::GateRef;
pub use gate::{Gate, GateVerdict};
pub(crate) use keys::{KEYS, LONGEST_NAME, failure_policy_of, is_key, nearest_key};
pub use parts::{FailurePolicy, HookCommand, HookSource, Reads, Shell, Stdin};
pub(crate) use words::{CommandText, Token, Word, is_interpreter, words};

/// A command of a user's, and the events it runs on.
///
/// ```
/// use std::time::Duration;
/// use forge_hooks::{Hook, HookEvent};
///
/// let hook = Hook::new("tool:pre_execute:bash", "./guard.sh")?
///     .with_timeout(Duration::from_secs(5))
///     .with_description("Guards the shell");
/// assert!(hook.matches(&HookEvent::tool_pre_execute("bash", "ls")));
/// assert_eq!(hook.to_json()["timeout"], 5.0);
/// # Ok::<(), forge_hooks::HookError>(())
/// ```
///
/// `Debug` shows the names of the variables in `env`, never their values, and masks what looks like a
/// secret elsewhere.
#[derive(Clone, PartialEq)]
pub struct Hook {
    pattern: EventPattern,
    command: HookCommand,
    enabled: bool,
    on_failure: FailurePolicy,
    stdin: Stdin,
    reads: Reads,
    background: bool,
    extras: SharedExtras,
    source: Option<HookSource>,
    /// Shared by the hooks of a file.
    base_dir: Option<Arc<Path>>,
    gate: Option<GateRef>,
}

/// Error building a hook.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// The event pattern is malformed.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// There is nothing to run.
    #[error("the command is empty")]
    EmptyCommand,
    /// A key of the JSON form cannot be used.
    #[error(transparent)]
    Key(Box<KeyError>),
    /// The JSON form is not an object.
    #[error("expected an object with `event` and `command`, found {found}")]
    NotAnObject {
        /// What was found in its place.
        found: &'static str,
    },
}

/// What is wrong with one key of a hook in hooks.json.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {message}")]
#[non_exhaustive]
pub struct KeyError {
    /// The key, or the path to it, as in `env.PATH` and `args[1]`.
    pub key: String,
    /// What is wrong, in words: also what was expected and what was found.
    pub message: String,
    /// What was expected, where it can be said.
    pub expected: Option<String>,
    /// What was found in its place.
    pub found: Option<String>,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

/// The time a hook may take where neither it nor the executor says anything: 10 seconds.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
pub(crate) const SHORTEST_TIMEOUT: Duration = Duration::from_millis(1);
pub(crate) const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

impl Hook {
    /// A hook that runs a command with the system's shell (`/bin/sh` on Unix, `cmd` on Windows).
    ///
    /// # Errors
    /// When the pattern is malformed, or the command is empty or white space.
    pub fn new(pattern: impl Into<String>, command: impl Into<String>) -> Result<Self, HookError> {
        let text = command.into();
        if text.trim().is_empty() {
            return Err(HookError::EmptyCommand);
        }
        let pattern = EventPattern::new(pattern)?;
        Ok(Self::with_parts(
            pattern,
            HookCommand::Shell { text, shell: None },
        ))
    }

    /// A hook that runs a program with arguments, without a shell.
    ///
    /// # Errors
    /// When the pattern is malformed, or there is no program.
    pub fn program<I>(pattern: impl Into<String>, args: I) -> Result<Self, HookError>
    where
        I: IntoIterator<Item: Into<String>>,
    {
        let args: Vec<String> = args.into_iter().map(Into::into).collect();
        if args.first().is_none_or(String::is_empty) {
            return Err(HookError::EmptyCommand);
        }
        Ok(Self::with_parts(
            EventPattern::new(pattern)?,
            HookCommand::Program(args),
        ))
    }

    fn with_parts(pattern: EventPattern, command: HookCommand) -> Self {
        Self {
            pattern,
            command,
            enabled: true,
            on_failure: FailurePolicy::default(),
            stdin: Stdin::default(),
            reads: Reads::default(),
            background: false,
            extras: SharedExtras::new(Extras::default()),
            source: None,
            base_dir: None,
            gate: None,
        }
    }

    /// A hook that never runs and always fails, on each event, in the place of one that cannot be
    /// used. Its clones share the reason.
    pub(crate) fn placeholder(reason: &str) -> Self {
        let command = HookCommand::Shell {
            text: String::new(),
            shell: None,
        };
        let extras = Extras {
            refusal: Some(reason.into()),
            ..Extras::default()
        };
        Self {
            extras: SharedExtras::new(extras),
            ..Self::with_parts(EventPattern::any(), command)
        }
    }

    pub(crate) fn with_pattern(mut self, pattern: EventPattern) -> Self {
        self.pattern = pattern;
        self
    }

    /// Sets the time that a run may take as a whole; kept within 1 millisecond and 1 day. A hook
    /// without a timeout has the executor's.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.extras.make_mut().timeout = Some(timeout.clamp(SHORTEST_TIMEOUT, LONGEST_TIMEOUT));
        self
    }

    /// Sets where the command runs; a relative path counts from the project's root, else from the
    /// executor's working directory.
    #[must_use]
    pub fn with_working_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.extras.make_mut().working_dir = Some(path.into());
        self
    }

    /// Sets an environment variable of the command's; it wins over the event's.
    #[must_use]
    pub fn with_env(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.extras.make_mut().env.insert(key.into(), value.into());
        self
    }

    /// Says whether the hook runs at all.
    #[must_use]
    pub fn with_enabled(mut self, enabled: bool) -> Self {
        self.enabled = enabled;
        self
    }

    /// Sets a short name, by which the hook can be told from others.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.extras.make_mut().name = Some(name.into());
        self
    }

    /// Sets what the hook is for, in the words that people are shown when it blocks.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.extras.make_mut().description = description.into();
        self
    }

    /// Says what a failure means; it blocks unless this says otherwise.
    #[must_use]
    pub fn with_on_failure(mut self, policy: FailurePolicy) -> Self {
        self.on_failure = policy;
        self
    }

    /// Says what the command finds on its standard input: the event as JSON, unless this says
    /// otherwise.
    #[must_use]
    pub fn with_stdin(mut self, stdin: Stdin) -> Self {
        self.stdin = stdin;
        self
    }

    /// Says where the command looks for the event's values: in the environment, unless this says
    /// otherwise.
    #[must_use]
    pub fn with_reads(mut self, reads: Reads) -> Self {
        self.reads = reads;
        self
    }

    /// Says whether the hook is only started, in its turn, and not waited for. It never blocks, and
    /// the outcome holds no result of it: an [`Observer`](crate::Observer) and the log see one. At
    /// most 16 such hooks of an executor run at once, others wait for their turn; its timeout
    /// holds for it too.
    #[must_use]
    pub fn with_background(mut self, background: bool) -> Self {
        self.background = background;
        self
    }

    /// Names files, directories and patterns (`hooks/*.sh`), relative to the project's root, that an
    /// approval of the hook covers besides the files that its command itself runs, see
    /// [`TrustStore`](crate::TrustStore).
    #[must_use]
    pub fn with_inputs<I: IntoIterator<Item: Into<String>>>(mut self, inputs: I) -> Self {
        self.extras.make_mut().inputs = inputs.into_iter().map(Into::into).collect();
        self
    }

    /// Has the executor ask before each run whether the hook may.
    #[must_use]
    pub fn with_gate(mut self, gate: Arc<dyn Gate>) -> Self {
        self.gate = Some(GateRef(gate));
        self
    }

    /// Sets the shell that runs the command. Without effect on a hook made with
    /// [`Hook::program`].
    #[must_use]
    pub fn with_shell(mut self, chosen: Shell) -> Self {
        if let HookCommand::Shell { shell, .. } = &mut self.command {
            *shell = Some(chosen);
        }
        self
    }

    pub(crate) fn with_source(mut self, source: HookSource) -> Self {
        self.source = Some(source);
        self
    }

    pub(crate) fn with_base_dir(mut self, path: impl Into<Arc<Path>>) -> Self {
        self.base_dir = Some(path.into());
        self
    }

    /// Whether the hook is for this event. Does not ask whether it is enabled.
    #[must_use]
    pub fn matches(&self, event: &HookEvent) -> bool {
        self.pattern.matches(event)
    }

    /// The pattern as it was given.
    #[must_use]
    pub fn event_pattern(&self) -> &str {
        self.pattern.as_str()
    }

    /// The parsed pattern.
    #[must_use]
    pub fn pattern(&self) -> &EventPattern {
        &self.pattern
    }

    /// What the hook runs.
    #[must_use]
    pub fn command(&self) -> &HookCommand {
        &self.command
    }

    /// The time that a run may take: the hook's own, else 10 seconds. An executor with another
    /// default uses that for a hook without one of its own, see [`Hook::own_timeout`].
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.extras.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// The hook's own timeout, where it has one.
    #[must_use]
    pub fn own_timeout(&self) -> Option<Duration> {
        self.extras.timeout
    }

    /// Where the command runs, as it was given.
    #[must_use]
    pub fn working_dir(&self) -> Option<&Path> {
        self.extras.working_dir.as_deref()
    }

    /// The command's own environment variables.
    #[must_use]
    pub fn env(&self) -> &BTreeMap<String, String> {
        &self.extras.env
    }

    /// Whether the hook runs at all.
    #[must_use]
    pub fn enabled(&self) -> bool {
        self.enabled
    }

    /// The short name, where there is one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.extras.name.as_deref()
    }

    /// What the hook is for; empty where nobody said.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.extras.description
    }

    /// What a failure means.
    #[must_use]
    pub fn on_failure(&self) -> FailurePolicy {
        self.on_failure
    }

    /// What the command finds on its standard input.
    #[must_use]
    pub fn stdin(&self) -> Stdin {
        self.stdin
    }

    /// Where the command looks for the event's values.
    #[must_use]
    pub fn reads(&self) -> Reads {
        self.reads
    }

    /// Whether the hook is only started, and not waited for.
    #[must_use]
    pub fn background(&self) -> bool {
        self.background
    }

    /// What the command depends on without naming it.
    #[must_use]
    pub fn inputs(&self) -> &[String] {
        &self.extras.inputs
    }

    /// Who is asked before each run, if anybody is.
    #[must_use]
    pub fn gate(&self) -> Option<&Arc<dyn Gate>> {
        self.gate.as_ref().map(|gate| &gate.0)
    }

    /// The file that the hook comes from; none for one made by the host.
    #[must_use]
    pub fn source(&self) -> Option<&HookSource> {
        self.source.as_ref()
    }

    /// The directory from which a relative working directory counts, where the hook brings one
    /// along: its project's root.
    #[must_use]
    pub fn base_dir(&self) -> Option<&Path> {
        self.base_dir.as_deref()
    }

    /// For a placeholder hook, why the entry in whose place it is cannot be used; see
    /// [`HookConfig::load_into`](crate::HookConfig::load_into).
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        self.extras.refusal.as_deref()
    }

    /// The words by which people know this hook: its description, else its name, else its pattern.
    #[must_use]
    pub fn label(&self) -> &str {
        match (self.description(), self.name()) {
            ("", Some(name)) => name,
            ("", None) => self.event_pattern(),
            (description, _) => description,
        }
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = || self.env().values().map(String::as_str);
        let shown = |text: &str| Redactor::default().text_with(text, own()).into_owned();
        f.debug_struct("Hook")
            .field("event", &self.event_pattern())
            .field("command", &shown(&self.command.to_string()))
            .field("timeout", &self.extras.timeout)
            .field(
                "working_dir",
                &self
                    .working_dir()
                    .map(|path| shown(&path.to_string_lossy())),
            )
            .field("env", &self.env().keys().collect::<Vec<_>>())
            .field("enabled", &self.enabled)
            .field("name", &self.name().map(shown))
            .field("description", &shown(self.description()))
            .field("on_failure", &self.on_failure)
            .field("background", &self.background)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_has_the_defaults_of_the_specification() {
        let hook = Hook::new("tool:*", "true").unwrap();
        assert_eq!(hook.timeout(), Duration::from_secs(10));
        assert_eq!(hook.own_timeout(), None);
        assert!(hook.enabled());
        assert_eq!(hook.description(), "");
        assert_eq!(hook.on_failure(), FailurePolicy::Block);
    }

    #[test]
    fn a_timeout_is_kept_within_a_millisecond_and_a_day() {
        let hook = Hook::new("*", "true").unwrap();
        assert_eq!(
            hook.clone().with_timeout(Duration::ZERO).timeout(),
            SHORTEST_TIMEOUT
        );
        assert_eq!(hook.with_timeout(Duration::MAX).timeout(), LONGEST_TIMEOUT);
    }

    #[test]
    fn nothing_to_run_is_an_error() {
        assert_eq!(Hook::new("*", " \n").unwrap_err(), HookError::EmptyCommand);
        let none: [&str; 0] = [];
        assert_eq!(
            Hook::program("*", none).unwrap_err(),
            HookError::EmptyCommand
        );
        assert_eq!(
            Hook::program("*", [""]).unwrap_err(),
            HookError::EmptyCommand
        );
    }

    #[test]
    fn debug_shows_no_value_of_the_environment() {
        let hook = Hook::new("*", "true").unwrap().with_env("TOKEN", "hunter2");
        let shown = format!("{hook:?}");
        assert!(
            shown.contains("TOKEN") && !shown.contains("hunter2"),
            "{shown}"
        );
    }

    #[test]
    fn the_label_is_the_description_the_name_or_the_pattern() {
        let hook = Hook::new("session:*", "true").unwrap();
        assert_eq!(hook.label(), "session:*");
        let hook = hook.with_name("hello");
        assert_eq!(hook.label(), "hello");
        assert_eq!(hook.with_description("Says hello").label(), "Says hello");
    }
}
