//! What came back: the result of one hook, and of all hooks of an event.
//!
//! Knows the rule of what blocks (docs/protocol.md), not how a hook is run.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use crate::events::EventType;
use crate::hook::{FailurePolicy, Hook};

/// Why a hook failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// It ended with an exit code other than 0.
    Exit,
    /// A signal ended it (Unix).
    Signal,
    /// It had not ended at its deadline, and was killed with everything it had started.
    TimedOut,
    /// Its command, program, interpreter or working directory does not exist; also exit code 127.
    NotFound,
    /// Its command may not be executed, or cannot be; also exit code 126.
    NotExecutable,
    /// The operating system could not start it: no processes or no memory left, say.
    NotStarted,
    /// A value of the event is too large for an environment variable, and the hook is a guard that
    /// would not have seen it.
    EventTooLarge,
    /// Its entry in hooks.json, or the file, cannot be used; see
    /// [`HookConfig::load_into`](crate::HookConfig::load_into).
    Misconfigured,
    /// It ended, but another part of the host took its exit status away (a handler that reaps
    /// all children, or an ignored `SIGCHLD`).
    StatusLost,
    /// The engine itself failed. Please report it.
    Panicked,
    /// It is running already: by what it runs it has started this host, whose event would run it
    /// again. Or eight hooks are running, each started by what the one before it runs.
    Circular,
    /// It was approved, and is not any more what was approved: see
    /// [`TrustStore`](crate::TrustStore).
    ApprovalLost,
    /// It was stopped, or never came to its turn, because the host cancelled it or its executor is
    /// gone; [`HookResult::started`] tells which.
    Cancelled,
}

impl FailureKind {
    /// All of them, in the order of the table in docs/protocol.md.
    pub const ALL: &'static [Self] = &[
        Self::Exit,
        Self::Signal,
        Self::TimedOut,
        Self::NotFound,
        Self::NotExecutable,
        Self::NotStarted,
        Self::EventTooLarge,
        Self::Misconfigured,
        Self::StatusLost,
        Self::Panicked,
        Self::Circular,
        Self::ApprovalLost,
        Self::Cancelled,
    ];

    /// Whether the operation may go on in spite of this failure. One rule for all causes, with two
    /// exceptions. Of a hook that was cancelled nobody can say what it would have answered, and
    /// whoever cancelled it does not want to go on. And of one that has been changed since it was
    /// approved, what it says of its failures is no more to be trusted than the rest.
    #[must_use]
    pub fn continues_under(self, policy: FailurePolicy) -> bool {
        match self {
            Self::Cancelled | Self::ApprovalLost => false,
            _ => policy == FailurePolicy::Continue,
        }
    }
}

/// Why a hook was not run although it was for the event, and nothing failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SkipReason {
    /// It comes from a project, and nobody has approved it: see [`TrustStore`](crate::TrustStore).
    NotApproved,
}

/// What came back from one hook.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct HookResult {
    /// The hook.
    pub hook: Arc<Hook>,
    /// The exit code of its process; 128 + n when signal n ended it; -1 when there is none,
    /// because it could not start, timed out or was cancelled.
    pub exit_code: i32,
    /// What it wrote to its standard output, as text: bytes that are no UTF-8 are replaced. When it
    /// was more than the executor's limit, the middle is left out and said so in its place.
    pub stdout: String,
    /// The same of its standard error.
    pub stderr: String,
    /// From before the start to the end, without time spent in a queue.
    pub duration: Duration,
    /// How long its event waited for a thread; zero for a blocking call.
    pub queued: Duration,
    /// Whether it was killed at its deadline.
    pub timed_out: bool,
    /// The failure in words, or why it was skipped.
    pub error: Option<String>,
    /// The failure.
    pub failure: Option<FailureKind>,
    /// Why it was not run, where that is no failure; the operation goes on.
    pub skipped: Option<SkipReason>,
    /// The signal that ended it (Unix).
    pub signal: Option<i32>,
    /// The process, while it ran; none when it could not start.
    pub pid: Option<u32>,
    /// Whether `stdout` or `stderr` is not all that was written.
    pub truncated: bool,
    /// Whether a process that the hook left behind still held its output open when it ended, so
    /// that what that process writes from then on is lost.
    pub output_held_open: bool,
    /// What was written, where it is not what `stdout` holds.
    pub(crate) raw_stdout: Option<Vec<u8>>,
    pub(crate) raw_stderr: Option<Vec<u8>>,
}

impl HookResult {
    /// A result as it comes from a hook that ended with this exit code and wrote nothing: for the
    /// tests of a host.
    #[must_use]
    pub fn new(hook: impl Into<Arc<Hook>>, exit_code: i32) -> Self {
        let failed = exit_code != 0;
        Self {
            hook: hook.into(),
            exit_code,
            stdout: String::new(),
            stderr: String::new(),
            duration: Duration::ZERO,
            queued: Duration::ZERO,
            timed_out: false,
            error: failed.then(|| format!("exited with code {exit_code}")),
            failure: failed.then_some(FailureKind::Exit),
            skipped: None,
            signal: None,
            pid: None,
            truncated: false,
            output_held_open: false,
            raw_stdout: None,
            raw_stderr: None,
        }
    }

    /// A result without a run.
    pub(crate) fn not_run(hook: Arc<Hook>, failure: FailureKind, error: impl Into<String>) -> Self {
        Self {
            failure: Some(failure),
            error: Some(error.into()),
            timed_out: failure == FailureKind::TimedOut,
            ..Self::new(hook, -1)
        }
    }

    /// A hook that was not run, and lets the operation go on.
    pub(crate) fn skipped(hook: Arc<Hook>, reason: SkipReason, words: impl Into<String>) -> Self {
        Self {
            failure: None,
            error: Some(words.into()),
            skipped: Some(reason),
            ..Self::new(hook, -1)
        }
    }

    /// Whether it ended with exit code 0 and nothing failed.
    #[must_use]
    pub fn success(&self) -> bool {
        self.exit_code == 0 && !self.timed_out && self.failure.is_none()
    }

    /// Whether there was a process: of a hook that was cancelled, or failed in another way, whether
    /// it had begun.
    #[must_use]
    pub fn started(&self) -> bool {
        self.pid.is_some()
    }

    /// Whether the operation, and the chain of hooks, may go on: the table in docs/protocol.md.
    #[must_use]
    pub fn should_continue(&self) -> bool {
        if self.success() || self.skipped.is_some() {
            return true;
        }
        // A result that a host's test made by hand may carry a code and no failure.
        self.failure
            .unwrap_or(FailureKind::Exit)
            .continues_under(self.hook.on_failure())
    }

    /// Why the hook failed, for the user and the model: what the hook itself said on its standard
    /// output, else on its standard error; for a hook that did not come to its own end, why it did
    /// not. None when it did not fail.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        if self.success() || self.skipped.is_some() {
            return None;
        }
        let said = [self.stdout.trim(), self.stderr.trim()];
        let own_words = said
            .into_iter()
            .find(|text| !text.is_empty() && !text.starts_with('{'));
        let error = self.error.as_deref();
        match self.failure {
            None | Some(FailureKind::Exit) => own_words.or(error),
            Some(_) => error.or(own_words),
        }
    }

    /// The standard output as bytes, as they were written; the middle is missing when it was more
    /// than the limit.
    #[must_use]
    pub fn stdout_bytes(&self) -> &[u8] {
        self.raw_stdout.as_deref().unwrap_or(self.stdout.as_bytes())
    }

    /// The standard error as bytes.
    #[must_use]
    pub fn stderr_bytes(&self) -> &[u8] {
        self.raw_stderr.as_deref().unwrap_or(self.stderr.as_bytes())
    }
}

/// Shows how much was written, never what: it may hold secrets.
impl fmt::Debug for HookResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookResult")
            .field("hook", &self.hook.label())
            .field("exit_code", &self.exit_code)
            .field("stdout", &format_args!("{} bytes", self.stdout.len()))
            .field("stderr", &format_args!("{} bytes", self.stderr.len()))
            .field("duration", &self.duration)
            .field("error", &self.error)
            .field("failure", &self.failure)
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}

/// What came back from all hooks of an event, in the order of their registration. Derefs to the
/// results.
#[derive(Debug, Clone)]
#[must_use = "hooks may have blocked the operation: ask `allowed` or `into_result`"]
pub struct Outcome {
    event_type: EventType,
    results: Vec<HookResult>,
}

impl Outcome {
    pub(crate) fn new(event_type: EventType, results: Vec<HookResult>) -> Self {
        Self {
            event_type,
            results,
        }
    }

    /// Whether the host may do what it is about to do. Always true for an event that cannot block
    /// ([`EventType::can_block`]): what has happened cannot be stopped any more.
    #[must_use]
    pub fn allowed(&self) -> bool {
        self.blocked().is_none()
    }

    /// The first result that blocks, where one does.
    #[must_use]
    pub fn blocked(&self) -> Option<&HookResult> {
        self.blocking_index().map(|index| &self.results[index])
    }

    /// Why the operation is blocked; none when it is not.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.blocked().and_then(HookResult::reason)
    }

    /// The outcome itself when the operation is allowed.
    ///
    /// # Errors
    /// With the result that blocks when it is not.
    pub fn into_result(mut self) -> Result<Self, HookBlockedError> {
        match self.blocking_index() {
            Some(index) => Err(HookBlockedError::new(self.results.swap_remove(index))),
            None => Ok(self),
        }
    }

    /// The results alone.
    #[must_use]
    pub fn into_results(self) -> Vec<HookResult> {
        self.results
    }

    /// The kind of event that the hooks were run for.
    #[must_use]
    pub fn event_type(&self) -> &EventType {
        &self.event_type
    }

    fn blocking_index(&self) -> Option<usize> {
        if !self.event_type.can_block() {
            return None;
        }
        self.results
            .iter()
            .position(|result| !result.should_continue())
    }
}

impl Deref for Outcome {
    type Target = [HookResult];

    fn deref(&self) -> &[HookResult] {
        &self.results
    }
}

impl IntoIterator for Outcome {
    type Item = HookResult;
    type IntoIter = std::vec::IntoIter<HookResult>;

    fn into_iter(self) -> Self::IntoIter {
        self.results.into_iter()
    }
}

/// A hook has blocked what the host was about to do.
///
/// The message holds the words by which the hook is known and the reason it gave:
///
/// ```
/// use forge_hooks::{Hook, HookBlockedError, HookResult};
///
/// let hook = Hook::new("tool:pre_execute:bash", "./guard.sh")?.with_description("Guards the shell");
/// let mut result = HookResult::new(hook, 1);
/// result.stdout = "sudo is not allowed\n".into();
/// let error = HookBlockedError::new(result);
/// assert_eq!(error.to_string(), "blocked by hook `Guards the shell`: sudo is not allowed");
/// # Ok::<(), forge_hooks::HookError>(())
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[error("blocked by hook `{}`: {}", result.hook.label(), result.reason().unwrap_or("no reason given"))]
#[non_exhaustive]
pub struct HookBlockedError {
    /// The result of the hook that blocked.
    pub result: Box<HookResult>,
}

impl HookBlockedError {
    /// An error for this result.
    #[must_use]
    pub fn new(result: HookResult) -> Self {
        Self {
            result: Box::new(result),
        }
    }
}
