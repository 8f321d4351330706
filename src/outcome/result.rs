//! The result of one hook, and what it means for the operation.
//!
//! Implements the table of what blocks (docs/protocol.md); does not know how a hook is run.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::entry::{Decision, FailureKind, FailurePolicy, HookOutput};
use crate::hook::Hook;
use crate::outcome::{EnvFile, Residency};
use crate::printable::{limited, printable};
use crate::redact::Redactor;

/// The result of one hook.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct HookResult {
    /// The hook.
    pub hook: Arc<Hook>,
    /// The exit code of its process; 128 + n if signal n ended it; -1 if there is none, because it
    /// could not start, timed out or was cancelled.
    pub exit_code: i32,
    /// Its standard output as text. Invalid UTF-8 is replaced. If it was longer than the executor's
    /// limit, a note stands in place of the middle.
    pub stdout: String,
    /// Its standard error, in the same form.
    pub stderr: String,
    /// The time from just before its start to its end, without time in the queue.
    pub duration: Duration,
    /// How long its event waited for a thread; zero for a blocking call.
    pub queued: Duration,
    /// Whether it was killed at its deadline.
    pub timed_out: bool,
    /// The description of the failure, or that the user declined.
    pub error: Option<String>,
    /// The kind of the failure; none if it did not fail.
    pub failure: Option<FailureKind>,
    /// The signal that ended it (Unix).
    pub signal: Option<i32>,
    /// The id of its process; none if it could not start.
    pub pid: Option<u32>,
    /// How a [resident](Hook::with_resident) hook received the event; none for other hooks, and if it
    /// did not receive the event.
    pub residency: Option<Residency>,
    /// Whether `stdout` or `stderr` is truncated.
    pub truncated: bool,
    /// Whether a process that the hook left running still held its output open when the hook ended.
    /// What that process writes later is lost.
    pub output_held_open: bool,
    pub(crate) env_file: Option<Box<EnvFile>>,
    /// Boxed, since most hooks do not answer.
    pub(crate) output: Option<Box<HookOutput>>,
    pub(crate) diagnostics: Vec<String>,
    /// What a question of the hook means.
    pub(crate) consent: Consent,
    /// Whether it was probably meant to block, as the first of the diagnostics says.
    pub(crate) misread: bool,
    /// Its reason with secrets masked, if it has any.
    pub(crate) masked_reason: Option<String>,
    /// The bytes that were written, if `stdout` does not represent them.
    pub(crate) raw_stdout: Option<Vec<u8>>,
    pub(crate) raw_stderr: Option<Vec<u8>>,
}

/// What a question means: the user's answer, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// The host does not ask its user, or the user declined: it blocks.
    None,
    /// The host asks, and has not answered yet.
    Open,
    Given,
}

impl HookResult {
    /// Creates the result of a hook that ended with this exit code and wrote nothing, for the tests
    /// of a host.
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
            signal: None,
            pid: None,
            residency: None,
            truncated: false,
            output_held_open: false,
            env_file: None,
            output: None,
            diagnostics: Vec::new(),
            consent: Consent::None,
            misread: false,
            masked_reason: None,
            raw_stdout: None,
            raw_stderr: None,
        }
    }

    /// Creates the result of a hook that failed without being run.
    pub(crate) fn not_run(hook: Arc<Hook>, failure: FailureKind, error: impl Into<String>) -> Self {
        Self {
            failure: Some(failure),
            error: Some(error.into()),
            timed_out: failure == FailureKind::TimedOut,
            ..Self::new(hook, -1)
        }
    }

    /// Creates the result of a hook whose event was cancelled before its turn.
    pub(crate) fn never_ran(hook: &Arc<Hook>, queued: Duration) -> Self {
        let error = "cancelled before its turn";
        let mut result = Self::not_run(Arc::clone(hook), FailureKind::Cancelled, error);
        result.queued = queued;
        result
    }

    /// Creates the result in place of those of an event that is refused. It blocks what can be blocked.
    pub(crate) fn refused(why: &str) -> Self {
        Self::not_run(Arc::new(Hook::placeholder(why)), FailureKind::Circular, why)
    }

    /// Creates the result of a hook during which this crate's own code panicked.
    pub(crate) fn panicked(hook: &Arc<Hook>) -> Self {
        let error = "the hooks engine panicked";
        Self::not_run(Arc::clone(hook), FailureKind::Panicked, error)
    }

    /// Whether it ended with exit code 0 and nothing failed. It may still have answered `block`;
    /// [`should_continue`](HookResult::should_continue) says whether the operation may continue.
    #[must_use]
    pub fn success(&self) -> bool {
        self.exit_code == 0 && !self.timed_out && self.failure.is_none()
    }

    /// Whether its process was started. For a hook that was cancelled or has failed, this says
    /// whether it had begun.
    #[must_use]
    pub fn started(&self) -> bool {
        self.pid.is_some()
    }

    /// Adds this answer, as if the hook had written it, for the tests of a host. An answer that
    /// blocks replaces the failure of an exit code or signal: it blocks even if the hook's policy
    /// would ignore the failure.
    ///
    /// ```
    /// use forge_hooks::{Decision, Hook, HookOutput, HookResult};
    ///
    /// let mut output = HookOutput::default();
    /// output.decision = Some(Decision::Block);
    /// output.reason = Some("not on a Friday".into());
    /// let result = HookResult::new(Hook::new("tool:pre_execute", "./guard.sh")?, 0).with_output(output);
    /// assert!(result.success() && !result.should_continue());
    /// assert_eq!(result.reason(), Some("not on a Friday"));
    /// # Ok::<(), forge_hooks::HookError>(())
    /// ```
    #[must_use]
    pub fn with_output(mut self, output: HookOutput) -> Self {
        if output.verdict() == Decision::Block && self.came_to_its_end() {
            self.failure = None;
            self.error = None;
        }
        self.output = Some(Box::new(output));
        self.masked_reason = None;
        self
    }

    /// Returns it with an answer that blocks for this reason, in place of its changes.
    pub(crate) fn blocking(self, reason: String) -> Self {
        let output = HookOutput {
            decision: Some(Decision::Block),
            reason: Some(reason),
            updated_input: None,
            ..self.output().cloned().unwrap_or_default()
        };
        self.with_output(output)
    }

    /// Whether it ended by itself, with any exit code or signal.
    pub(crate) fn came_to_its_end(&self) -> bool {
        use FailureKind::{Exit, NotExecutable, NotFound, Signal};
        matches!(
            self.failure,
            None | Some(Exit | Signal | NotFound | NotExecutable)
        )
    }

    /// Its answer; none if it wrote no answer or an invalid one, or did not end by itself.
    #[must_use]
    pub fn output(&self) -> Option<&HookOutput> {
        self.output.as_deref()
    }

    /// Notes on its answer for the author of the hook, for example about an unknown key that looks
    /// like a typo (`descision`). Each note is one line, and is logged as a warning,
    /// once for each hook.
    #[must_use]
    pub fn diagnostics(&self) -> &[String] {
        &self.diagnostics
    }

    /// The decision that follows from the hook's exit code, answer and policy, by the table in
    /// docs/protocol.md. A hook whose failure is ignored allows; so does one that asks
    /// once the user has said [yes](crate::Outcome::answer).
    #[must_use]
    pub fn decision(&self) -> Decision {
        let forgiven = |failure| {
            if self.forgives(failure) {
                Decision::Allow
            } else {
                Decision::Block
            }
        };
        let answered = self.output().map_or(Decision::Allow, HookOutput::verdict);
        match self.failure {
            Some(failure) => forgiven(failure),
            None if answered == Decision::Block => Decision::Block,
            // A result that a host's test built by hand may have an exit code but no failure.
            None if !self.answer_counts() => forgiven(FailureKind::Exit),
            None if answered == Decision::Ask && self.consent == Consent::Given => Decision::Allow,
            None => answered,
        }
    }

    /// Whether the operation may continue in spite of this failure.
    fn forgives(&self, failure: FailureKind) -> bool {
        let policy = self.hook.on_failure();
        match failure {
            // For a hook of another protocol, a failure of this crate or its host blocks under every policy: what it
            // was written for would have run the hook.
            _ if self.hook.protocol().is_none() => failure.continues_under(policy),
            // What it was written for may ignore such an answer.
            FailureKind::InvalidAnswer => policy == FailurePolicy::Continue,
            _ => !failure.is_of_the_engine() && failure.continues_under(policy),
        }
    }

    /// Whether the operation may continue. A hook that answers `ask` lets it continue only after a
    /// [yes](crate::Outcome::answer). One that [stops the turn](HookOutput::stops_turn) does not.
    #[must_use]
    pub fn should_continue(&self) -> bool {
        self.decision() == Decision::Allow && !self.only_stops()
    }

    /// Whether it waits for the answer of the host's user.
    pub(crate) fn is_open_question(&self) -> bool {
        let asks = self.consent == Consent::Open && self.decision() == Decision::Ask;
        asks && !self.only_stops()
    }

    /// Whether it blocks or stops the turn, whatever the user answers. The hooks behind an open question run: they may
    /// block.
    pub(crate) fn stops_the_chain(&self) -> bool {
        !self.should_continue() && !self.is_open_question()
    }

    /// Whether the hooks after it do not run. On an event that cannot be blocked, only a failure of the hook's own keeps
    /// others from running: what it prints may be what a tool has returned, and a model chooses how large that is.
    pub(crate) fn stops_others(&self, can_block: bool) -> bool {
        match self.failure {
            _ if can_block => self.stops_the_chain(),
            None | Some(FailureKind::InvalidAnswer) => {
                self.has_exited_otherwise() && !self.forgives(FailureKind::Exit)
            }
            Some(failure) => !failure.is_of_the_event() && !self.forgives(failure),
        }
    }

    /// Returns it with the user's answer to its question.
    pub(crate) fn answered(mut self, is_yes: bool) -> Self {
        if is_yes {
            self.consent = Consent::Given;
        } else {
            let reason = self.reason().unwrap_or("no reason given");
            self.error = Some(format!("the user declined: {reason}"));
            // The masked text is in it.
            self.masked_reason = None;
            self.consent = Consent::None;
        }
        self
    }

    /// The decision of its answer, after the user's own answer if it asks.
    pub(crate) fn said(&self) -> Option<Decision> {
        let output = self.output().filter(|_| self.answer_counts());
        match output?.decision? {
            Decision::Ask if self.consent == Consent::Given => Some(Decision::Allow),
            said => Some(said),
        }
    }

    /// Whether it stops the turn, and does not deny the operation.
    pub(crate) fn only_stops(&self) -> bool {
        let output = self.output().filter(|it| it.stops_turn && it.only_stops);
        output.is_some() && self.failure.is_none() && self.decision() != Decision::Block
    }

    /// Whether its answer counts: it has succeeded, or its protocol reads answers on other exit codes too.
    pub(crate) fn answer_counts(&self) -> bool {
        let has_ended = self.failure.is_none() && self.output.is_some();
        self.success() || has_ended && self.hook.protocol().is_some()
    }

    /// The file with variables for the session, if the hook's protocol has one and the hook wrote to it. The
    /// host decides how to use it.
    #[must_use]
    pub fn env_file(&self) -> Option<&EnvFile> {
        self.env_file.as_deref()
    }

    /// Its replacement of a tool's output.
    pub(crate) fn replaced_output(&self) -> Option<&Value> {
        let output = self.output().filter(|_| self.answer_counts());
        output.and_then(|output| output.updated_output.as_ref())
    }

    /// The note that the model receives instead of a tool's output that this hook should have redacted, and has not,
    /// or may have replaced by an answer that cannot be read. It contains only the reason of the hook's answer, and
    /// nothing else that the hook wrote: a pipeline that fails may have written the output itself.
    pub(crate) fn withheld_output(&self) -> Option<Value> {
        const LONGEST_REASON: usize = 300;
        let is_unread = self.failure == Some(FailureKind::InvalidAnswer);
        let withholds = self.hook.on_failure() == FailurePolicy::Withhold
            || is_unread && self.hook.protocol().is_none();
        if !withholds || self.decision() == Decision::Allow {
            return None;
        }
        let why = match self.failure {
            // These error messages may quote what the hook wrote.
            Some(FailureKind::InvalidAnswer) => Some("its answer is invalid"),
            Some(FailureKind::NoAnswer) => Some("it did not answer"),
            Some(FailureKind::NotFound) if self.started() => Some("command not found"),
            Some(FailureKind::NotExecutable) if self.started() => Some("command not executable"),
            Some(_) => self.error.as_deref(),
            None if self.output().and_then(HookOutput::objection).is_some() => self.reason(),
            None => self.error.as_deref(),
        };
        let why = limited(why.unwrap_or("no reason given"), LONGEST_REASON);
        let label = self.hook.shown_label();
        let note = format!(
            "[output withheld: hook `{label}` did not redact it: {}]",
            printable(&why)
        );
        Some(Value::from(note))
    }

    /// The reason why the hook failed, blocks or asks, for the user and the model. With a JSON answer: its
    /// reason, else its standard error. Without one: its standard output, else its standard error. For a hook
    /// that did not end by itself: the description of the failure. None if it did not fail, block or ask.
    ///
    /// Secrets are masked as in a trace; [`stdout`](HookResult::stdout) and the other fields have the text as the hook wrote
    /// it.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.masked_reason.as_deref().or_else(|| self.raw_reason())
    }

    /// The reason as the hook wrote it.
    pub(crate) fn raw_reason(&self) -> Option<&str> {
        let error = self.error.as_deref();
        match self.failure {
            None if self.decision() == Decision::Allow && !self.only_stops() => None,
            // The user has declined.
            None if self.decision() == Decision::Ask && error.is_some() => error,
            None | Some(FailureKind::Exit) => self.own_words().or(error),
            // It blocks by its exit code too, and has said why.
            Some(FailureKind::InvalidAnswer)
                if self.has_exited_otherwise() && self.signal.is_none() =>
            {
                self.own_words().or(error)
            }
            Some(_) => error.or_else(|| self.own_words()),
        }
    }

    /// Whether it ended by itself with an exit code other than 0, or by a signal, which says more than its answer.
    fn has_exited_otherwise(&self) -> bool {
        let is_native = self.hook.protocol().is_none();
        is_native && !matches!(self.exit_code, 0 | -1)
    }

    fn own_words(&self) -> Option<&str> {
        let answered = self.output().and_then(HookOutput::objection);
        // JSON on standard error is not an answer.
        let (said, complained) = (self.stdout.trim(), self.stderr.trim());
        let is_foreign = self.hook.protocol().is_some();
        let is_answer = self.output.is_some() || is_foreign && said.starts_with('{');
        let said = Some(said).filter(|text| !text.is_empty() && !is_answer);
        let complained = Some(complained).filter(|text| !text.is_empty());
        answered.or(said).or(complained)
    }

    /// The standard output as the bytes that were written; the middle is missing if it was longer
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

/// Shows how much was written, never the text: it may contain secrets.
impl fmt::Debug for HookResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let redactor = Redactor::default();
        let shown = |text| self.hook.masked(&redactor, text).into_owned();
        f.debug_struct("HookResult")
            .field("hook", &shown(self.hook.label()))
            .field("exit_code", &self.exit_code)
            .field("stdout", &format_args!("{} bytes", self.stdout.len()))
            .field("stderr", &format_args!("{} bytes", self.stderr.len()))
            .field("duration", &self.duration)
            .field("error", &self.error.as_deref().map(shown))
            .field("failure", &self.failure)
            .field("decision", &self.decision())
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}
