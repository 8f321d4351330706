//! A hook: its events, its command, its settings. A plain value, except for its two checks, of its
//! approval and of its scripts.
//!
//! Does no I/O and does not know how a hook is run. Its form in hooks.json is in `entry.rs`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::RefUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Map, Value};

use super::error::{EMPTY_ANSWER, HookError};
use super::source::HookSource;
use super::when::When;
use crate::entry::{
    DEFAULT_TIMEOUT, Failure, FailureKind, FailurePolicy, HookCommand, HookOutput, LONGEST_TIMEOUT,
    May, Options, Reads, SHORTEST_TIMEOUT, Sandbox, Shell, Stdin,
};
use crate::events::{EventType, HookEvent};
use crate::pattern::EventPattern;
use crate::printable::{beginning, printable, shortened};
use crate::protocol::{Protocol, words_of};
use crate::redact::Redactor;

/// The check that compares the approved content with the current one. `trust` implements it, since this module does no I/O.
pub(crate) trait ApprovalCheck: fmt::Debug + RefUnwindSafe + Send + Sync {
    /// Returns the reason why the approval of this hook is lost; none if everything is as it was approved. Reads files.
    /// Called on the thread that would run the hook, right before each run.
    fn lost(&self, hook: &Hook) -> Option<String>;
}

/// The check of the files that the command of a hook names, which compares them with their state when the hook was loaded.
/// `named` implements it, since this module does no I/O.
pub(crate) trait ScriptCheck: fmt::Debug + RefUnwindSafe + Send + Sync {
    /// Returns the name of a file that has changed since the load, or since a change was last reported. Looks at each file.
    /// A hook of no project begins in `host_dir`, if it does not begin in the current directory.
    fn changed(&self, hook: &Hook, host_dir: Option<&Path>) -> Option<String>;

    /// Records that the change is reported to the user. Returns false if another thread has recorded it.
    fn is_told(&self) -> bool;
}

/// A user's command, and the events on which it runs.
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
/// `Debug` shows the names of the variables in `env`, never their values. It masks texts elsewhere that look
/// like secrets.
#[derive(Clone)]
#[must_use]
pub struct Hook {
    pub(super) settings: Arc<Settings>,
    pub(super) source: Option<HookSource>,
    /// The base directory, which the hooks of a file share.
    pub(super) base_dir: Option<Arc<Path>>,
    /// The check of a project's hook that was approved.
    pub(super) approval: Option<Arc<dyn ApprovalCheck>>,
    /// The check of a hook of the user or the administrator.
    pub(super) scripts: Option<Arc<dyn ScriptCheck>>,
    /// True if conditions are not tested.
    pub(super) matches_by_pattern: bool,
    /// The host's own limits for the hook, besides its own ones.
    pub(super) host_sandbox: Option<Arc<Sandbox>>,
    pub(super) is_system: bool,
    /// The condition that is not certain for an event. The hook that is chosen for the event then only stops something.
    pub(super) uncertain: Option<Arc<str>>,
    /// The message about a condition that is unknown for an event, so that the hook runs.
    pub(super) untested: Option<String>,
    /// The message about the part of a command that met a condition.
    pub(super) met: Option<String>,
    /// The fingerprint, computed when it is first needed.
    pub(super) fingerprint: OnceLock<u64>,
}

/// The settings of an entry of hooks.json. Hooks with equal settings are equal.
#[derive(Clone, PartialEq)]
pub(super) struct Settings {
    pub(super) pattern: EventPattern,
    pub(super) when: Option<Arc<When>>,
    pub(super) command: HookCommand,
    pub(super) enabled: bool,
    pub(super) options: Options,
    pub(super) protocol: Option<Arc<OwnProtocol>>,
    /// Keys of hooks.json that this version does not know. They are kept for saving.
    pub(super) unknown: Map<String, Value>,
    /// The failure with which the hook fails: for a placeholder hook, and for one whose approval is lost for good.
    pub(super) refusal: Option<Failure>,
}

impl Settings {
    /// Returns whether the answer is in the entry.
    pub(super) fn answers(&self) -> bool {
        matches!(self.command, HookCommand::Answer(_))
    }

    /// Removes settings without an effect: those of a process if there is none, and observing if the host does not wait, or
    /// the output of a tool is withheld.
    pub(super) fn leave_out_useless(&mut self) {
        if self.answers() {
            self.options = Options {
                name: self.options.name.take(),
                description: std::mem::take(&mut self.options.description),
                cases: self.options.cases.take(),
                enforce: self.options.enforce,
                ..Options::default()
            };
        }
        let withholds = self.options.on_failure == FailurePolicy::Withhold;
        self.options.background &= !withholds;
        let is_enforced = self.options.enforce != Some(false);
        if is_enforced || withholds || self.options.background {
            self.options.enforce = None;
        }
    }

    pub(super) fn new(pattern: EventPattern, command: HookCommand) -> Self {
        Self {
            pattern,
            when: None,
            command,
            enabled: true,
            options: Options::default(),
            protocol: None,
            unknown: Map::new(),
            refusal: None,
        }
    }
}

/// A protocol other than that of hooks.json, with the properties that it had when it was set.
#[derive(Debug)]
pub(super) struct OwnProtocol {
    pub(super) definition: Value,
    /// See [`Protocol::once_for`].
    pub(super) once_for: Option<String>,
    pub(super) protocol: Arc<dyn Protocol>,
}

impl PartialEq for OwnProtocol {
    fn eq(&self, other: &Self) -> bool {
        self.definition == other.definition
    }
}

impl Hook {
    /// Creates a hook that runs a command with the system's shell (`/bin/sh` on Unix, `cmd` on Windows).
    ///
    /// On Unix, a command that is only a path with plain arguments (`./guard.sh --strict`) is executed
    /// without the shell, unless [`Hook::with_shell`] sets one. See docs/protocol.md.
    ///
    /// # Errors
    /// When the pattern is malformed, or the command is empty or only white space.
    pub fn new(pattern: impl Into<String>, command: impl Into<String>) -> Result<Self, HookError> {
        let text = command.into();
        Self::running(pattern, HookCommand::Shell { text, shell: None })
    }

    /// Creates a hook that runs a program with arguments, without a shell.
    ///
    /// # Errors
    /// When the pattern is malformed, or `args` is empty or starts with an empty program.
    pub fn program<I>(pattern: impl Into<String>, args: I) -> Result<Self, HookError>
    where
        I: IntoIterator<Item: Into<String>>,
    {
        let args = args.into_iter().map(Into::into).collect();
        Self::running(pattern, HookCommand::Program(args))
    }

    /// Creates a hook that starts no process: it gives this answer on each event that it matches. The answer needs no
    /// [word](Hook::with_may). On an event on which a [condition](Hook::with_when) is not certain, it only stops: a
    /// change makes it invalid, and the rest is left out. The hook has no settings of a process, such as a timeout.
    ///
    /// ```
    /// use forge_hooks::{FireOptions, Hook, HookEvent, HookExecutor, HookOutput};
    ///
    /// let mut answer = HookOutput::default();
    /// answer.additional_context = Some("This repository uses pnpm.".into());
    /// let executor = HookExecutor::builder().build();
    /// executor.registry().register(Hook::answering("session:start", answer)?);
    /// let outcome = executor.execute(&HookEvent::session_start("s1"), FireOptions::default());
    /// assert_eq!(outcome.additional_context().as_deref(), Some("This repository uses pnpm."));
    /// # Ok::<(), forge_hooks::HookError>(())
    /// ```
    ///
    /// # Errors
    /// When the pattern is malformed, or the answer says nothing.
    pub fn answering(pattern: impl Into<String>, answer: HookOutput) -> Result<Self, HookError> {
        let command = HookCommand::Answer(Box::new(answer));
        if command.is_empty() {
            return Err(HookError::key("answer", EMPTY_ANSWER));
        }
        Self::running(pattern, command)
    }

    fn running(pattern: impl Into<String>, command: HookCommand) -> Result<Self, HookError> {
        if command.is_empty() {
            return Err(HookError::EMPTY_COMMAND);
        }
        let pattern = EventPattern::new(pattern)?;
        Ok(Self::of(Settings::new(pattern, command)))
    }

    pub(super) fn of(settings: Settings) -> Self {
        Self {
            settings: Arc::new(settings),
            source: None,
            base_dir: None,
            approval: None,
            scripts: None,
            matches_by_pattern: false,
            host_sandbox: None,
            is_system: false,
            uncertain: None,
            untested: None,
            met: None,
            fingerprint: OnceLock::new(),
        }
    }

    /// Creates a hook that never runs and always fails, on each event. It replaces a hook that cannot be
    /// used.
    pub(crate) fn placeholder(reason: &str) -> Self {
        let nothing = HookCommand::Program(Vec::new());
        let mut settings = Settings::new(EventPattern::any(), nothing);
        settings.refusal = Some(Failure::new(FailureKind::Misconfigured, reason));
        // The placeholder may replace a hook that withholds output. On other events, this policy blocks.
        settings.options.on_failure = FailurePolicy::Withhold;
        Self::of(settings)
    }

    /// Makes a change. Every setter uses this method or `set`, since a changed hook has another fingerprint.
    pub(super) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self.fingerprint = OnceLock::new();
        self
    }

    /// Changes the settings, and removes those that cannot be combined.
    pub(super) fn set(self, change: impl FnOnce(&mut Settings)) -> Self {
        self.with(|hook| {
            let settings = Arc::make_mut(&mut hook.settings);
            change(settings);
            settings.leave_out_useless();
        })
    }

    /// Makes messages name only the file, without its directories, and the line of the hook's entry.
    pub(crate) fn without_entry_text(self) -> Self {
        let mut place = "a hooks file of the project".to_owned();
        if let Some(HookSource { path, line, .. }) = &self.source {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            let line = line.map_or(String::new(), |line| format!(":{line}"));
            place = format!("{}{line} of the project", shortened(&file));
        }
        self.set(|settings| {
            settings.options.name = None;
            settings.options.description = format!("the hook in {place}");
            if let Some(refusal) = &mut settings.refusal
                && refusal.kind == FailureKind::Misconfigured
            {
                refusal.message = format!("{place} is invalid: fix or remove it");
            }
        })
    }

    pub(crate) fn with_pattern(self, pattern: EventPattern) -> Self {
        self.set(|settings| settings.pattern = pattern)
    }

    /// Makes the hook fail on each event that it matches, because its approval is lost for good.
    pub(crate) fn with_lost_approval(self, why: impl Into<String>) -> Self {
        let failure = Failure::new(FailureKind::ApprovalLost, why);
        self.set(|settings| settings.refusal = Some(failure))
    }

    /// Makes the pattern alone decide whether the hook matches an event: its conditions and its protocol's are not tested.
    pub(crate) fn matching_by_pattern(self) -> Self {
        self.with(|hook| hook.matches_by_pattern = true)
    }

    /// Sets the check that compares the hook with its approval before each run.
    pub(crate) fn with_approval(self, approval: Arc<dyn ApprovalCheck>) -> Self {
        self.with(|hook| hook.approval = Some(approval))
    }

    /// Returns the check that compares the hook with its approval, if it runs because of one.
    pub(crate) fn approval(&self) -> Option<&dyn ApprovalCheck> {
        self.approval.as_deref()
    }

    /// Sets the check that compares the hook's scripts with their state when it was loaded.
    pub(crate) fn with_scripts(self, scripts: Arc<dyn ScriptCheck>) -> Self {
        self.with(|hook| hook.scripts = Some(scripts))
    }

    /// Returns the check that compares the hook's scripts with their state when it was loaded.
    pub(crate) fn scripts(&self) -> Option<&dyn ScriptCheck> {
        self.scripts.as_deref()
    }

    /// Adds limits that the hook cannot widen. They are not part of its entry.
    pub(crate) fn with_host_sandbox(self, sandbox: Arc<Sandbox>) -> Self {
        self.with(|hook| hook.host_sandbox = Some(sandbox))
    }

    /// Returns the host's limits.
    pub(crate) fn host_sandbox(&self) -> Option<&Sandbox> {
        self.host_sandbox.as_deref()
    }

    /// Returns all sandboxes of the hook: the host's limits, then its own.
    pub(crate) fn sandboxes(&self) -> impl Iterator<Item = &Sandbox> {
        self.host_sandbox().into_iter().chain(self.sandbox())
    }

    /// Returns a description of the access that the hook's sandboxes allow; none if it is in no sandbox.
    pub(crate) fn reach(&self) -> Option<String> {
        let layers: Vec<_> = self.sandboxes().map(ToString::to_string).collect();
        match &layers[..] {
            [] => None,
            [one] => Some(one.clone()),
            [host, own, ..] => Some(format!(
                "{own}; and of that only what the host allows: {host}"
            )),
        }
    }

    /// Returns a description of the effects that the hook's answer may have besides stopping an operation; none if there are
    /// none.
    pub(crate) fn may_in_words(&self) -> Option<String> {
        let words = match self.action() {
            HookCommand::Answer(answer) => {
                let stops = [
                    HookEvent::agent_stop(false),
                    HookEvent::agent_subagent_stop("", false),
                ];
                let mut stops = stops.iter();
                let is_stop = stops.any(|event| self.pattern().matches(event));
                words_of(answer, is_stop)
            }
            _ => self.may().to_vec(),
        };
        let words: Vec<_> = words
            .into_iter()
            .map(|word| match word {
                May::ChangeInput => self.input_in_words(),
                other => other.in_words(),
            })
            .collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Returns a description of the input that the hook may change, for a hook that may change the input.
    fn input_in_words(&self) -> &'static str {
        let matches = |event_type| self.pattern().matches_type(&event_type);
        let others = matches(EventType::ToolPreExecute) || matches(EventType::UserPromptSubmit);
        if !matches(EventType::LlmPreRequest) {
            May::ChangeInput.in_words()
        } else if others {
            "change the input, replace the messages of a model request"
        } else {
            "replace the messages of a model request"
        }
    }

    pub(crate) fn with_source(self, source: HookSource) -> Self {
        self.with(|hook| hook.source = Some(source))
    }

    pub(crate) fn with_base_dir(self, path: impl Into<Arc<Path>>) -> Self {
        self.with(|hook| hook.base_dir = Some(path.into()))
    }

    /// Returns the time limit of a run: the hook's own, else the default of
    /// [`HookExecutorBuilder::default_timeout`](crate::HookExecutorBuilder::default_timeout). An executor may have another
    /// one.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.own_timeout().unwrap_or(DEFAULT_TIMEOUT)
    }

    /// Returns the hooks file of the hook; none for a hook that the host has created.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.source().map(|source| &*source.path)
    }

    /// Returns the place of the hook in its file.
    #[must_use]
    pub(crate) fn source(&self) -> Option<&HookSource> {
        self.source.as_ref()
    }

    /// Returns the directory against which a relative working directory is resolved, if the hook has one: its project's
    /// root.
    #[must_use]
    pub fn base_dir(&self) -> Option<&Path> {
        self.base_dir.as_deref()
    }

    /// Returns the reason why the hook cannot be used. For a placeholder hook, this is the problem with the entry that it
    /// replaces, see [`HookConfig::load_into`](crate::HookConfig::load_into); otherwise the problem with a condition. None
    /// for a hook whose approval is lost.
    #[cfg(feature = "cli")]
    pub(crate) fn refusal(&self) -> Option<&str> {
        match self.settings.refusal.as_ref() {
            Some(refusal) if refusal.kind == FailureKind::Misconfigured => Some(&refusal.message),
            Some(_) => None,
            None => self.fault(),
        }
    }

    /// Returns the problem with a condition or with the protocol.
    fn fault(&self) -> Option<&str> {
        let of_when = self.settings.when.as_ref().and_then(|when| when.refusal());
        of_when.or_else(|| self.protocol_fault())
    }

    /// Checks whether the hook can be started on any event, apart from its approval.
    ///
    /// # Errors
    /// If the hook is a placeholder, if its approval is lost for good, or if a condition cannot be used.
    pub(crate) fn usable(&self) -> Result<(), Failure> {
        if let Some(refusal) = &self.settings.refusal {
            return Err(refusal.clone());
        }
        let fault = self.fault();
        fault.map_or(Ok(()), |why| {
            Err(Failure::new(FailureKind::Misconfigured, why))
        })
    }

    /// Returns whether the hook fails on every event, as far as that is known without checking files.
    pub(crate) fn is_refused(&self) -> bool {
        self.settings.refusal.is_some()
    }

    /// Returns the label that people see: the name, else the description, else the first line of the command, or its
    /// program; at most the first 80 characters.
    #[must_use]
    pub fn label(&self) -> &str {
        let label = match (self.name(), self.description()) {
            (None | Some(""), "") => self.protocol_label().unwrap_or(self.first_words()),
            (None | Some(""), description) => description,
            (Some(name), _) => name,
        };
        beginning(label)
    }

    /// Returns the label for the user and the model: without secrets, and in printable characters.
    pub(crate) fn shown_label(&self) -> String {
        printable(&self.masked(&Redactor::default(), self.label()))
    }

    /// Returns a text with its secrets masked, among them the values of the hook's `env`.
    pub(crate) fn masked<'a>(&self, redactor: &Redactor, text: &'a str) -> Cow<'a, str> {
        redactor.text_with(text, self.env().values().map(String::as_str))
    }

    /// Returns the text by which a person recognizes the hook's command; for a hook without a command, the pattern.
    fn first_words(&self) -> &str {
        let first = self.action().texts().first();
        let line = first.and_then(|text| text.trim().lines().next());
        line.unwrap_or(self.event_pattern())
    }
}

/// Declares getters of settings.
macro_rules! getters {
    ($($(#[$about:meta])* $visibility:vis $name:ident -> $type:ty = |$settings:ident| $value:expr;)+) => {
        impl Hook {
            $($(#[$about])* #[must_use] $visibility fn $name(&self) -> $type {
                let $settings = &*self.settings;
                $value
            })+
        }
    };
}

getters! {
    /// Returns the text of the pattern.
    pub event_pattern -> &str = |settings| settings.pattern.as_str();
    /// Returns the parsed pattern.
    pub(crate) pattern -> &EventPattern = |settings| &settings.pattern;
    /// Returns the text for the shell, or the program and its arguments, or the answer as JSON.
    pub command -> String = |settings| settings.command.to_string();
    /// Returns what the hook does: a command, or an answer.
    pub(crate) action -> &HookCommand = |settings| &settings.command;
    /// Returns the hook's own timeout, if it has one.
    pub(crate) own_timeout -> Option<Duration> = |settings| settings.options.timeout;
    /// Returns the working directory of the command, as it was given.
    pub working_dir -> Option<&Path> = |settings| settings.options.working_dir.as_deref();
    /// Returns the command's own environment variables.
    pub env -> &BTreeMap<String, String> = |settings| &settings.options.env;
    /// Returns whether the hook runs at all.
    pub enabled -> bool = |settings| settings.enabled;
    /// Returns the short name, if the hook has one.
    pub name -> Option<&str> = |settings| settings.options.name.as_deref();
    /// Returns the description. Default: empty.
    pub description -> &str = |settings| &settings.options.description;
    /// Returns the meaning of a failure.
    pub on_failure -> FailurePolicy = |settings| settings.options.on_failure;
    /// Returns whether the hook's decision has an effect. A hook that withholds or runs in the background counts as
    /// enforced.
    pub(crate) enforce -> bool = |settings| settings.options.enforce != Some(false);
    /// Returns the effects that the hook's answer may have besides stopping an operation.
    pub(crate) may -> &[May] = |settings| &settings.options.may;
    /// Returns whether the hook is started without waiting for it.
    pub background -> bool = |settings| settings.options.background;
    /// Returns whether the hook's process is kept for many events.
    pub(crate) resident -> bool = |settings| settings.options.resident;
    /// Returns the files that an approval covers besides the scripts that the entry names.
    pub(crate) inputs -> &[String] = |settings| &settings.options.inputs;
    /// Returns the sandbox of the hook, if it has one of its own.
    pub(crate) sandbox -> Option<&Sandbox> = |settings| settings.options.sandbox.as_ref();
    /// Returns the variables of the host's own environment that are passed on, if the hook lists them.
    pub(crate) inherit -> Option<&[String]> = |settings| settings.options.inherit.as_deref();
}

/// Declares methods that return the hook with other settings.
macro_rules! setters {
    ($($(#[$about:meta])* $name:ident($($given:ident: $type:ty),*) = |$settings:ident| $change:expr;)+) => {
        impl Hook {
            $($(#[$about])* pub fn $name(self, $($given: $type),*) -> Self {
                self.set(|$settings| $change)
            })+
        }
    };
}

setters! {
    /// Sets the time limit of a whole run, clamped to 1 millisecond to 1 day. Default: the executor's
    /// timeout.
    with_timeout(timeout: Duration) = |settings| {
        settings.options.timeout = Some(timeout.clamp(SHORTEST_TIMEOUT, LONGEST_TIMEOUT));
    };
    /// Sets the working directory of the command. A relative path is resolved against the project's root,
    /// else against the executor's working directory.
    with_working_dir(path: impl Into<PathBuf>) = |settings| {
        settings.options.working_dir = Some(path.into());
    };
    /// Sets an environment variable of the command. It has priority over the event's variable of the same
    /// name.
    with_env(key: impl Into<String>, value: impl Into<String>) = |settings| {
        settings.options.env.insert(key.into(), value.into());
    };
    /// Passes on only these variables of the host's own environment, besides the event's variables and those
    /// of [`with_env`](Self::with_env). In a name, `*` matches any characters: `LC_*`. With an empty list,
    /// the hook inherits nothing, not even `PATH`. Default: as set by
    /// [`HookExecutorBuilder::inherit`](crate::HookExecutorBuilder::inherit).
    with_inherit(names: impl IntoIterator<Item: Into<String>>) = |settings| {
        settings.options.inherit = Some(names.into_iter().map(Into::into).collect());
    };
    /// Sets whether the hook runs at all. Default: true.
    with_enabled(enabled: bool) = |settings| settings.enabled = enabled;
    /// Sets a short name that identifies the hook, for example in messages.
    with_name(name: impl Into<String>) = |settings| settings.options.name = Some(name.into());
    /// Sets a description for people, which messages show for a hook without a name.
    with_description(description: impl Into<String>) = |settings| {
        settings.options.description = description.into();
    };
    /// Sets the meaning of a failure. Default: it blocks.
    with_on_failure(policy: FailurePolicy) = |settings| settings.options.on_failure = policy;
    /// Sets whether the hook's decision has an effect. If not, the hook runs and stops nothing: its result contains the
    /// decision that it [would](crate::HookResult::would) make, and its changes, its context and its messages are not used.
    /// A lost approval and an entry that cannot be used still block. Has no effect on a hook that
    /// [withholds](FailurePolicy::Withhold) or runs in the [background](Self::with_background). Default: true.
    with_enforce(enforce: bool) = |settings| settings.options.enforce = (!enforce).then_some(false);
    /// Sets the effects that the hook's answer may have besides stopping an operation. Default: none. Without its word, a
    /// change of the input or the output makes the answer invalid; context, an `allow` and the end of a turn are left out,
    /// with a note in [`HookResult::diagnostics`](crate::HookResult::diagnostics).
    with_may(words: impl IntoIterator<Item = May>) = |settings| {
        settings.options.may = words.into_iter().collect();
    };
    /// Leaves the command's standard input empty. Default: the event as one line of JSON.
    without_stdin() = |settings| {
        settings.options.stdin = Stdin::None;
        settings.options.resident = false;
    };
    /// Declares that the command looks for the event's values on its standard input, where every value fits. Default: it looks in
    /// its environment, so the hook fails without running if a value does not fit there.
    reading_stdin() = |settings| settings.options.reads = Reads::Stdin;
    /// Starts the hook once the others have ended, without waiting for it. It never blocks, and the outcome contains no result of it:
    /// [observations](crate::HookExecutor::observations) and the log have one. At most 16 such hooks of an executor run at once,
    /// others wait for their turn. The hook's timeout applies to it too.
    with_background() = |settings| {
        settings.options.background = true;
        settings.options.resident = false;
    };
    /// Keeps the hook's process for many events (on Unix): the process reads one line for each event, and answers with one
    /// line. Such a hook must answer each event, even when it is run for one event only, and receives no variables of the
    /// event. It reads its standard input, and cannot run in the [background](Self::with_background). docs/protocol.md has
    /// examples.
    with_resident() = |settings| {
        settings.options.resident = true;
        settings.options.background = false;
        settings.options.stdin = Stdin::Json;
    };
    /// Sets files, directories and patterns (`lib/*.json`), relative to the project's root, that an approval of the
    /// hook covers besides the scripts that its entry names; `!path` excludes a file or directory. See
    /// [`TrustStore`](crate::trust::TrustStore).
    with_inputs(inputs: impl IntoIterator<Item: Into<String>>) = |settings| {
        settings.options.inputs = inputs.into_iter().map(Into::into).collect();
    };
    /// Confines the hook: see [`Sandbox`]. Default: it has the same access as the user.
    with_sandbox(sandbox: Sandbox) = |settings| settings.options.sandbox = Some(sandbox);
    /// Sets the shell that runs the command. Has no effect on a hook made with [`Hook::program`].
    with_shell(chosen: Shell) = |settings| {
        if let HookCommand::Shell { shell, .. } = &mut settings.command {
            *shell = Some(chosen);
        }
    };
}

/// Hooks are equal if their entries in hooks.json are equal and, if unusable, their reasons. The source, the
/// base directory and the approval are ignored.
impl PartialEq for Hook {
    fn eq(&self, other: &Self) -> bool {
        self.settings == other.settings
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let redactor = Redactor::default();
        let masked = |text: &str| self.masked(&redactor, text).into_owned();
        let directory = self.working_dir().map(|path| path.to_string_lossy());
        f.debug_struct("Hook")
            .field("event", &self.event_pattern())
            .field("command", &masked(&self.action().to_string()))
            .field("timeout", &self.own_timeout())
            .field("working_dir", &directory.map(|path| masked(&path)))
            .field("env", &self.env().keys().collect::<Vec<_>>())
            .field("enabled", &self.enabled())
            .field("name", &self.name().map(masked))
            .field("description", &masked(self.description()))
            .field("on_failure", &self.on_failure())
            .field("background", &self.background())
            .field("resident", &self.resident())
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}
