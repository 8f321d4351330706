//! A hook: which events it is for, what it runs, and how. A plain value, and the gate that it carries.
//!
//! Does no I/O and does not know how a hook is run; its form in hooks.json is in `json`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::error::HookError;
use super::extras::{Extras, SharedExtras};
use super::fingerprint::Fingerprint;
use super::inherit::Inherit;
use super::parts::{
    DEFAULT_TIMEOUT, FailurePolicy, HookCommand, HookSource, LONGEST_TIMEOUT, Reads,
    SHORTEST_TIMEOUT, Shell, Stdin,
};
use crate::pattern::EventPattern;
use crate::redact::Redactor;

/// Says, right before each run, whether a hook may run. A hook carries its gate, so that no host
/// forgets to ask.
///
/// An extension point: [`TrustStore`](crate::TrustStore) has gates of its own, and a host may implement
/// others, for hooks that its user allows from a dialog, say ([`Hook::with_gate`]).
pub trait Gate: Send + Sync + fmt::Debug {
    /// Whether this hook may run now. Called on the thread that would run it.
    fn check(&self, hook: &Hook) -> GateVerdict;
}

/// What a [`Gate`] says of a hook; the words are for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GateVerdict {
    /// It may.
    Run,
    /// It has never been approved: it is skipped, and the host goes on.
    NotApproved(String),
    /// It was approved, and is not any more what was approved: it fails, and blocks where the event
    /// can be blocked.
    ApprovalLost(String),
}

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
#[derive(Clone)]
pub struct Hook {
    pub(super) pattern: EventPattern,
    pub(super) command: HookCommand,
    pub(super) enabled: bool,
    pub(super) on_failure: FailurePolicy,
    pub(super) stdin: Stdin,
    pub(super) reads: Reads,
    pub(super) background: bool,
    pub(super) resident: bool,
    pub(super) extras: SharedExtras,
    pub(super) source: Option<HookSource>,
    /// Shared by the hooks of a file.
    pub(super) base_dir: Option<Arc<Path>>,
    pub(super) gate: Option<Arc<dyn Gate>>,
    /// The gate lets it run at no time.
    pub(super) is_closed: bool,
    pub(super) fingerprint: Fingerprint,
}

impl Hook {
    /// A hook that runs a command with the system's shell (`/bin/sh` on Unix, `cmd` on Windows).
    ///
    /// On Unix, a command that is only a path with plain arguments (`./guard.sh --strict`) is executed
    /// without the shell, unless one is set by [`Hook::with_shell`]. See docs/protocol.md.
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

    pub(super) fn with_parts(pattern: EventPattern, command: HookCommand) -> Self {
        Self {
            pattern,
            command,
            enabled: true,
            on_failure: FailurePolicy::default(),
            stdin: Stdin::default(),
            reads: Reads::default(),
            background: false,
            resident: false,
            extras: SharedExtras::new(Extras::default()),
            source: None,
            base_dir: None,
            gate: None,
            is_closed: false,
            fingerprint: Fingerprint::default(),
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
            // It may stand for a hook that withholds; on other events this blocks.
            on_failure: FailurePolicy::Withhold,
            ..Self::with_parts(EventPattern::any(), command)
        }
    }

    /// Every setter goes through here: a changed hook has another fingerprint.
    pub(super) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self.fingerprint = Fingerprint::default();
        self
    }

    pub(crate) fn with_pattern(self, pattern: EventPattern) -> Self {
        self.with(|hook| hook.pattern = pattern)
    }

    /// Sets the time that a run may take as a whole; kept within 1 millisecond and 1 day. A hook
    /// without a timeout has the executor's.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        self.with(|hook| {
            hook.extras.make_mut().timeout = Some(timeout.clamp(SHORTEST_TIMEOUT, LONGEST_TIMEOUT))
        })
    }

    /// Sets where the command runs; a relative path counts from the project's root, else from the
    /// executor's working directory.
    #[must_use]
    pub fn with_working_dir(self, path: impl Into<PathBuf>) -> Self {
        self.with(|hook| hook.extras.make_mut().working_dir = Some(path.into()))
    }

    /// Sets an environment variable of the command's; it wins over the event's.
    #[must_use]
    pub fn with_env(self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(|hook| {
            hook.extras.make_mut().env.insert(key.into(), value.into());
        })
    }

    /// Passes on only these variables of the host's own environment, besides the event's and those of
    /// [`with_env`](Self::with_env). In a name, `*` stands for any characters: `LC_*`. None passes on
    /// nothing, not even `PATH`. A hook without such a list inherits what
    /// [`HookExecutorBuilder::inherit`](crate::HookExecutorBuilder::inherit) says.
    #[must_use]
    pub fn with_inherit<I: IntoIterator<Item: Into<String>>>(self, names: I) -> Self {
        self.with(|hook| hook.extras.make_mut().inherit = Some(Inherit::new(names)))
    }

    /// Says whether the hook runs at all.
    #[must_use]
    pub fn with_enabled(self, enabled: bool) -> Self {
        self.with(|hook| hook.enabled = enabled)
    }

    /// Sets a short name, by which the hook can be told from others.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        self.with(|hook| hook.extras.make_mut().name = Some(name.into()))
    }

    /// Sets what the hook is for, in the words that people are shown when it blocks.
    #[must_use]
    pub fn with_description(self, description: impl Into<String>) -> Self {
        self.with(|hook| hook.extras.make_mut().description = description.into())
    }

    /// Says what a failure means; it blocks unless this says otherwise.
    #[must_use]
    pub fn with_on_failure(self, policy: FailurePolicy) -> Self {
        self.with(|hook| hook.on_failure = policy)
    }

    /// Says what the command finds on its standard input: the event as JSON, unless this says
    /// otherwise.
    #[must_use]
    pub fn with_stdin(self, stdin: Stdin) -> Self {
        self.with(|hook| {
            hook.stdin = stdin;
            hook.resident &= stdin == Stdin::Json;
        })
    }

    /// Says where the command looks for the event's values: in the environment, unless this says
    /// otherwise.
    #[must_use]
    pub fn with_reads(self, reads: Reads) -> Self {
        self.with(|hook| hook.reads = reads)
    }

    /// Has the hook only started, in its turn, and not waited for. It never blocks, and
    /// the outcome holds no result of it: an [`Observer`](crate::Observer) and the log see one. At
    /// most 16 such hooks of an executor run at once, others wait for their turn; its timeout
    /// holds for it too.
    #[must_use]
    pub fn with_background(self) -> Self {
        self.with(|hook| {
            hook.background = true;
            hook.resident = false;
        })
    }

    /// Has the hook's process kept for many events (on Unix): it reads one line for each, and answers
    /// with one. Such a hook must answer each event, also where it is run for one alone, and finds no
    /// variables of the event. It reads its standard input, and is not in the
    /// [background](Self::with_background).
    /// docs/protocol.md, "Resident hooks", has examples.
    #[must_use]
    pub fn with_resident(self) -> Self {
        self.with(|hook| {
            hook.resident = true;
            hook.background = false;
            hook.stdin = Stdin::Json;
        })
    }

    /// Names files, directories and patterns (`hooks/*.sh`), relative to the project's root, that an
    /// approval of the hook covers besides the files that its command itself runs, see
    /// [`TrustStore`](crate::TrustStore).
    #[must_use]
    pub fn with_inputs<I: IntoIterator<Item: Into<String>>>(self, inputs: I) -> Self {
        self.with(|hook| {
            hook.extras.make_mut().inputs = inputs.into_iter().map(Into::into).collect()
        })
    }

    /// Has the executor ask before each run whether the hook may.
    #[must_use]
    pub fn with_gate(self, gate: Arc<dyn Gate>) -> Self {
        self.with(|hook| {
            hook.gate = Some(gate);
            hook.is_closed = false;
        })
    }

    /// A gate that lets the hook run at no time: its conditions are not compiled, which takes time, and
    /// count as met.
    pub(crate) fn with_closed_gate(self, gate: Arc<dyn Gate>) -> Self {
        self.with_gate(gate).with(|hook| hook.is_closed = true)
    }

    /// Sets the shell that runs the command. Without effect on a hook made with
    /// [`Hook::program`].
    #[must_use]
    pub fn with_shell(self, chosen: Shell) -> Self {
        self.with(|hook| {
            if let HookCommand::Shell { shell, .. } = &mut hook.command {
                *shell = Some(chosen);
            }
        })
    }

    pub(crate) fn with_source(self, source: HookSource) -> Self {
        self.with(|hook| hook.source = Some(source))
    }

    pub(crate) fn with_base_dir(self, path: impl Into<Arc<Path>>) -> Self {
        self.with(|hook| hook.base_dir = Some(path.into()))
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

    /// What the hook is for. Default: empty.
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
        self.background && self.on_failure != FailurePolicy::Withhold
    }

    /// Whether its process is kept for many events.
    #[must_use]
    pub fn resident(&self) -> bool {
        self.resident
    }

    /// What the command depends on without naming it.
    #[must_use]
    pub fn inputs(&self) -> &[String] {
        &self.extras.inputs
    }

    /// The variables of the host's own environment that are passed on, if the hook says which.
    #[must_use]
    pub fn inherit(&self) -> Option<&[String]> {
        self.extras.inherit.as_ref().map(Inherit::names)
    }

    pub(crate) fn inherit_rule(&self) -> Option<&Inherit> {
        self.extras.inherit.as_ref()
    }

    /// The gate that must allow each run, if one is set.
    #[must_use]
    pub fn gate(&self) -> Option<&Arc<dyn Gate>> {
        self.gate.as_ref()
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
    /// [`HookConfig::load_into`](crate::HookConfig::load_into). Also why a condition of the hook's own
    /// cannot.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        let of_when = || self.extras.when.as_ref()?.refusal();
        let of_foreign = || self.extras.foreign.as_ref()?.refusal();
        let own = self.extras.refusal.as_deref();
        own.or_else(of_when).or_else(of_foreign)
    }

    /// The words by which people know this hook: its description, else its name, else its pattern.
    #[must_use]
    pub fn label(&self) -> &str {
        match (self.description(), self.name()) {
            ("", Some(name)) => name,
            ("", None) => self.foreign().map_or(self.event_pattern(), |it| it.label()),
            (description, _) => description,
        }
    }
}

/// Hooks are equal when they say the same in hooks.json and, if unusable, for the same reason. Where a
/// hook comes from, what its paths count from and its gate make no difference.
impl PartialEq for Hook {
    fn eq(&self, other: &Self) -> bool {
        self.pattern == other.pattern
            && self.command == other.command
            && self.enabled == other.enabled
            && self.on_failure == other.on_failure
            && self.stdin == other.stdin
            && self.reads == other.reads
            && self.background == other.background
            && self.resident == other.resident
            && self.extras == other.extras
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
            .field("resident", &self.resident)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}
