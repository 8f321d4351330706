//! The result of one hook.
//!
//! Its decision is in `verdict`. Does not know how a hook is run.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::Residency;
use super::end::{End, Trail, exit_failure};
use super::error_line::{error_line, is_long};
use super::verdict::{Handles, Verdict};
use crate::entry::{Decision, Failure, FailureKind, HookOutput, Reading};
use crate::hook::Hook;
use crate::printable::{limited, printable};
use crate::redact::Redactor;

/// The reason why a change of the input blocks.
const CHANGES_INPUT: &str =
    "it changes the input, and this program applies no change to this event";

/// The result of one hook.
///
/// The [decision](HookResult::decision) follows from the hook's end, its answer and its policy, and is set when the result
/// is created. A test of a host creates results with [`new`](HookResult::new) and [`failing`](HookResult::failing).
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct HookResult {
    pub(super) hook: Arc<Hook>,
    pub(super) exit_code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) duration: Duration,
    pub(super) error: Option<String>,
    pub(super) failure: Option<FailureKind>,
    end: End,
    pub(crate) trail: Trail,
    /// The answer, boxed since most hooks do not answer.
    output: Option<Box<HookOutput>>,
    diagnostics: Vec<String>,
    /// The number of diagnostics, from the first on, that are reported to the user on each event: parts of the answer that
    /// are not used, and a change of the hook's script.
    unused: usize,
    /// The number of diagnostics, including these, that are [warnings](HookResult::warnings).
    warnings: usize,
    /// True if standard output is an answer, or was intended to be one.
    is_stdout_answer: bool,
    /// True if an exit code other than 0, or a signal, counts in addition to the answer.
    exit_counts: bool,
    /// The host's way of handling the answer.
    handles: Handles,
    verdict: Verdict,
    /// The reason as it is shown, if that is not the hook's own: secrets are masked, a crash begins with its error, and the
    /// conditions are named that could not be tested.
    shown_reason: Option<String>,
}

impl HookResult {
    /// Creates the result of a hook that ended with this exit code and wrote nothing, for the tests
    /// of a host.
    #[must_use]
    pub fn new(hook: impl Into<Arc<Hook>>, exit_code: i32) -> Self {
        Self::of(hook.into(), End::Exited(exit_code), exit_failure(exit_code))
    }

    /// Creates the result of a hook that failed without an exit code, for the tests of a host.
    ///
    /// ```
    /// use forge_hooks::{FailureKind, Hook, HookResult};
    ///
    /// let hook = Hook::new("tool:pre_execute", "./guard.sh")?;
    /// let result = HookResult::failing(hook, FailureKind::TimedOut, "timed out after 30s");
    /// assert!(result.timed_out() && !result.should_continue());
    /// assert_eq!(result.reason(), Some("timed out after 30s"));
    /// # Ok::<(), forge_hooks::HookError>(())
    /// ```
    #[must_use]
    pub fn failing(
        hook: impl Into<Arc<Hook>>,
        failure: FailureKind,
        error: impl Into<String>,
    ) -> Self {
        let failure = Failure::new(failure, error);
        Self::of(hook.into(), End::Otherwise, Some(failure))
    }

    /// Creates the result of a hook whose event was cancelled before its turn.
    pub(crate) fn never_ran(hook: &Arc<Hook>, queued: Duration) -> Self {
        let error = "cancelled before its turn";
        let mut result = Self::failing(Arc::clone(hook), FailureKind::Cancelled, error);
        result.trail.queued = queued;
        result
    }

    /// Creates the result for a host that would not see that hooks have changed the input.
    pub(crate) fn unseen_change() -> Self {
        let why = "hooks have changed the input, and a receiver gives out no change: wait for the outcome";
        Self::failing(Hook::placeholder(why), FailureKind::Misconfigured, why)
    }

    /// Creates the result that replaces those of an event that no hook has seen. It blocks what can be blocked.
    pub(crate) fn not_taken(why: &str) -> Self {
        Self::failing(Hook::placeholder(why), FailureKind::NotTaken, why)
    }

    /// Creates the result of a hook that ended in this way and has not written an answer. All results are created here.
    pub(crate) fn of(hook: Arc<Hook>, end: End, failure: Option<Failure>) -> Self {
        let (failure, error) = failure
            .map(|failure| (failure.kind, failure.message))
            .unzip();
        let result = Self {
            hook,
            exit_code: end.exit_code(),
            stdout: String::new(),
            stderr: String::new(),
            duration: Duration::ZERO,
            error,
            failure,
            end,
            trail: Trail::default(),
            output: None,
            diagnostics: Vec::new(),
            unused: 0,
            warnings: 0,
            is_stdout_answer: false,
            exit_counts: false,
            handles: Handles::default(),
            verdict: Verdict::Blocks,
            shown_reason: None,
        };
        result.with_reading(Reading::default())
    }

    /// Sets what the process has written, and how long it took.
    pub(crate) fn with_outputs(
        mut self,
        stdout: String,
        stderr: String,
        duration: Duration,
    ) -> Self {
        (self.stdout, self.stderr, self.duration) = (stdout, stderr, duration);
        self
    }

    /// Replaces the protocol's reading of the hook's end.
    pub(crate) fn with_reading(mut self, reading: Reading) -> Self {
        let output = reading.output;
        let blocks = output.as_ref().map(HookOutput::strictest) == Some(Decision::Block);
        let is_of_its_end = self.failure.is_some_and(FailureKind::is_of_its_end);
        if reading.replaces_exit_code || blocks && is_of_its_end {
            (self.failure, self.error) = (None, None);
        }
        self.unused += reading.unused.len();
        self.warnings += reading.unused.len() + reading.warnings.len();
        let before = std::mem::replace(&mut self.diagnostics, reading.unused);
        for mut lines in [reading.warnings, before, reading.notes] {
            self.diagnostics.append(&mut lines);
        }
        if let Some(why) = reading.invalid {
            let error = format!("its answer is invalid: {why}");
            if self.failure.is_some() {
                // The reason is that of the exit code, so the author finds this error among the diagnostics.
                self.diagnostics.push(error.clone());
            }
            self.failure = Some(FailureKind::InvalidAnswer);
            self.error = Some(error);
        }
        self.is_stdout_answer = output.is_some() || reading.hides_stdout;
        self.output = output.map(Box::new);
        self.exit_counts = self.end.is_failure() && !reading.replaces_exit_code;
        self.shown_reason = None;
        self.with_verdict()
    }

    /// Sets the verdict that follows from the hook's end, its answer and the host.
    fn with_verdict(mut self) -> Self {
        // If the answer says nothing, the exit code decides, even if the answer replaces it.
        let is_empty = self.output.is_none() && self.end.is_failure();
        let failure = self.failure.or(is_empty.then_some(FailureKind::Exit));
        let handles = Handles {
            only_decisions: self.handles.only_decisions && !self.is_of_exit(),
            ..self.handles
        };
        self.verdict = Verdict::of(&self.hook, failure, self.output(), handles);
        self
    }

    /// Returns the hook.
    #[must_use]
    pub fn hook(&self) -> &Arc<Hook> {
        &self.hook
    }

    /// Returns the exit code of the hook's process; 128 + n if signal n ended it; -1 if there is none, because it could not start,
    /// timed out or was cancelled.
    #[must_use]
    pub fn exit_code(&self) -> i32 {
        self.exit_code
    }

    /// Returns the hook's standard output as text. Invalid UTF-8 is replaced. If it was longer than the executor's limit, a note
    /// replaces the middle.
    #[must_use]
    pub fn stdout(&self) -> &str {
        &self.stdout
    }

    /// Returns the hook's standard error, in the same form.
    #[must_use]
    pub fn stderr(&self) -> &str {
        &self.stderr
    }

    /// Returns the time from just before the hook's start to its end, without time in the queue.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// Returns whether the hook was killed at its deadline.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.failure == Some(FailureKind::TimedOut)
    }

    /// Returns the description of the failure, or a note that the user declined.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Returns the kind of the failure; none if the hook did not fail.
    #[must_use]
    pub fn failure(&self) -> Option<FailureKind> {
        self.failure
    }

    /// Returns whether the hook ended with exit code 0, nothing failed, and it lets the operation
    /// [continue](HookResult::should_continue). It is therefore false for a hook that answers `block` or exits with 1. It is
    /// also false for a hook whose failure is ignored, although the operation continues.
    #[must_use]
    pub fn success(&self) -> bool {
        let has_failed = self.exit_code != 0 || self.failure.is_some();
        !has_failed && self.should_continue()
    }

    /// Adds this text to the hook's standard output, for the tests of a host.
    #[must_use]
    pub fn with_stdout(mut self, text: impl AsRef<str>) -> Self {
        self.stdout += text.as_ref();
        self
    }

    /// Adds this text to the hook's standard error, for the tests of a host.
    #[must_use]
    pub fn with_stderr(mut self, text: impl AsRef<str>) -> Self {
        self.stderr += text.as_ref();
        self
    }

    /// Sets the hook's answer, as if the hook had written it, for the tests of a host. An answer that blocks replaces the
    /// failure of an exit code: it blocks even if the hook's policy would ignore the failure.
    ///
    /// ```
    /// use forge_hooks::{Decision, Hook, HookOutput, HookResult};
    ///
    /// let mut output = HookOutput::default();
    /// output.decision = Some(Decision::Block);
    /// output.reason = Some("not on a Friday".into());
    /// let result = HookResult::new(Hook::new("tool:pre_execute", "./guard.sh")?, 0).with_output(output);
    /// assert!(result.failure().is_none() && !result.should_continue());
    /// assert_eq!(result.reason(), Some("not on a Friday"));
    /// # Ok::<(), forge_hooks::HookError>(())
    /// ```
    #[must_use]
    pub fn with_output(mut self, output: HookOutput) -> Self {
        // An earlier answer may have removed the failure of the exit code.
        if self.failure.is_none()
            && let Some(failure) = exit_failure(self.exit_code)
        {
            (self.failure, self.error) = (Some(failure.kind), Some(failure.message));
        }
        let reading = Reading {
            output: Some(output),
            ..Reading::default()
        };
        self.with_reading(reading)
    }

    /// Makes this the result of a host that [asks its user](crate::FireOptions::handles_ask), for the tests of a host: a
    /// question of the hook is [open](crate::Outcome::asks).
    #[must_use]
    pub fn handles_ask(self) -> Self {
        let handles = Handles {
            ask: true,
            ..self.handles
        };
        self.handled(handles)
    }

    /// Sets the host's way of handling the answer.
    pub(crate) fn handled(mut self, handles: Handles) -> Self {
        self.handles = handles;
        self.with_verdict()
    }

    /// Returns whether the hook's process ended by itself, with any exit code or signal, so that its answer is read.
    pub(crate) fn may_have_answered(&self) -> bool {
        self.started() && self.failure.is_none_or(FailureKind::is_of_its_end)
    }

    /// Returns whether the hook's process was started. For a hook that was cancelled or has failed, this says whether it had
    /// begun.
    #[must_use]
    pub fn started(&self) -> bool {
        self.pid().is_some()
    }

    /// Returns the time that the event waited for a thread; zero for a blocking call.
    #[must_use]
    pub fn queued(&self) -> Duration {
        self.trail.queued
    }

    /// Returns the number of the signal that ended the hook (Unix); none if no signal did.
    #[must_use]
    pub fn signal(&self) -> Option<i32> {
        match self.end {
            End::Signaled(signal) => Some(signal),
            End::Exited(_) | End::Answered | End::Otherwise => None,
        }
    }

    /// Returns the id of the hook's process; none if it could not start.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.trail.pid
    }

    /// Returns the way in which a [resident](Hook::with_resident) hook received the event: its process was `kept`, or was
    /// `started` for this event, or `replaced` one that had failed, was old, or was started from other files; `one_shot` if it ran
    /// for this event only. None for other hooks, and if the hook did not receive the event.
    #[must_use]
    pub fn residency(&self) -> Option<&'static str> {
        self.trail.residency.map(Residency::as_str)
    }

    /// Returns whether `stdout` or `stderr` is truncated, because the hook's output exceeded the limit; see
    /// [`output_limit`](crate::HookExecutorBuilder::output_limit).
    #[must_use]
    pub fn truncated(&self) -> bool {
        self.trail.truncated
    }

    /// Returns whether a process that the hook left running still held its output open when the hook ended. Later output of
    /// that process is lost.
    #[must_use]
    pub fn output_held_open(&self) -> bool {
        self.trail.output_held_open
    }

    /// Returns the file with variables for the session, and its content, if the hook's protocol has one and the hook wrote to
    /// it: lines such as `export KEY=value` for the commands of the session. The host decides how to use it. Read the content
    /// instead of the file, in whose place the hook may have put another one. Of a content longer than 1 MiB, it is the complete
    /// lines within the first 1 MiB. The file is removed when its last result is dropped.
    #[must_use]
    pub fn env_file(&self) -> Option<(&Path, &[u8])> {
        let file = self.trail.env_file.as_deref()?;
        Some((file.path(), file.bytes()))
    }

    /// Returns the standard output as the bytes that were written; the middle is missing if it was longer than the limit.
    #[must_use]
    pub fn stdout_bytes(&self) -> &[u8] {
        let raw = self.trail.raw_stdout.as_deref();
        raw.unwrap_or(self.stdout.as_bytes())
    }

    /// Returns the standard error as bytes.
    #[must_use]
    pub fn stderr_bytes(&self) -> &[u8] {
        let raw = self.trail.raw_stderr.as_deref();
        raw.unwrap_or(self.stderr.as_bytes())
    }

    /// Returns the hook's answer; none if it wrote no answer or an invalid one, or did not end by itself.
    #[must_use]
    pub fn output(&self) -> Option<&HookOutput> {
        self.output.as_deref()
    }

    /// Returns notes on the answer for the author of the hook, for example about an unknown key that looks like a typo
    /// (`descision`). Each note is one line, and is logged as a warning, once for each hook.
    #[must_use]
    pub fn diagnostics(&self) -> &[String] {
        &self.diagnostics
    }

    /// Masks the secrets in the warnings, which are shown to the user.
    pub(crate) fn mask_warnings(&mut self, masked: impl Fn(&Hook, &str) -> String) {
        for warning in self.diagnostics.iter_mut().take(self.warnings) {
            *warning = masked(&self.hook, warning);
        }
    }

    /// Adds a warning that the host's user sees on each event, whether the hook could have blocked it or not.
    pub(crate) fn add_user_warning(&mut self, warning: String) {
        self.diagnostics.insert(0, warning);
        self.unused += 1;
        self.warnings += 1;
    }

    /// Adds a note for the author of the hook.
    pub(crate) fn add_diagnostic(&mut self, note: String) {
        self.diagnostics.push(note);
    }

    /// Returns the warnings for the host's user about a hook that has not failed and neither blocks nor asks: the parts of
    /// its answer that are not used and, if it could have blocked, the reasons why it did not although it was probably
    /// intended to.
    pub(crate) fn warnings(&self, can_block: bool) -> &[String] {
        let is_silent = self.failure.is_some() || !self.should_continue() || self.would().is_some();
        let count = if is_silent {
            0
        } else if can_block {
            self.warnings
        } else {
            self.unused
        };
        self.diagnostics.get(..count).unwrap_or_default()
    }

    pub(crate) fn set_shown_reason(&mut self, reason: Option<String>) {
        self.shown_reason = reason;
    }

    /// Returns the decision that follows from the hook's exit code, answer and policy, by the table in docs/protocol.md. A
    /// hook whose failure is ignored allows; so does one that asks once the user has said [yes](crate::Outcome::answer).
    #[must_use]
    pub fn decision(&self) -> Decision {
        self.verdict().decision()
    }

    /// Returns whether the operation may continue. A hook that answers `ask` lets it continue only after a
    /// [yes](crate::Outcome::answer). A hook that [stops the turn](HookOutput::stops_turn) does not let it continue.
    #[must_use]
    pub fn should_continue(&self) -> bool {
        self.verdict().continues()
    }

    /// Returns the verdict. A failure that a host's test has set blocks.
    pub(super) fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Returns the decision that would count if the hook were [enforced](Hook::with_enforce). None if the hook is enforced,
    /// and if there is nothing to observe: its approval is lost, its entry cannot be used, or it was cancelled.
    #[must_use]
    pub fn would(&self) -> Option<Decision> {
        self.verdict.would()
    }

    /// Returns whether the result blocks or stops the turn, regardless of the user's answer. Hooks after an open question
    /// run, since they may block.
    pub(crate) fn stops_the_chain(&self) -> bool {
        let verdict = self.verdict();
        !verdict.continues() && !verdict.is_open_question()
    }

    /// Returns whether the hooks after this one do not run. On an event that cannot be blocked, only a failure of the hook
    /// itself keeps others from running: its output may be the output of a tool, whose size a model chooses.
    pub(crate) fn stops_others(&self, can_block: bool) -> bool {
        match self.failure {
            _ if can_block || self.would().is_some() => self.stops_the_chain(),
            None | Some(FailureKind::InvalidAnswer) => {
                self.exit_counts && !self.hook.forgives(FailureKind::Exit)
            }
            Some(failure) => !failure.is_of_the_event() && !self.hook.forgives(failure),
        }
    }

    /// Returns whether the hook explicitly allows the operation, and does not merely have no objection.
    pub(crate) fn grants(&self) -> bool {
        self.verdict() == Verdict::Grants
    }

    /// Applies the user's answer to the hook's question.
    pub(super) fn answered(mut self, is_yes: bool) -> Self {
        self.verdict = if is_yes {
            Verdict::Grants
        } else {
            let reason = self.reason().unwrap_or("no reason given");
            self.error = Some(format!("the user declined: {reason}"));
            Verdict::Blocks
        };
        // The shown reason is part of the error now.
        self.shown_reason = None;
        self
    }

    /// Makes the result block for this reason, without its changes.
    pub(crate) fn blocking(self, reason: String) -> Self {
        let output = HookOutput {
            decision: Some(Decision::Block),
            reason: Some(reason),
            updated_input: None,
            ..self.output().cloned().unwrap_or_default()
        };
        self.with_output(output)
    }

    /// Returns the hook's answer, if the hook is enforced.
    pub(crate) fn enforced_output(&self) -> Option<&HookOutput> {
        self.output().filter(|_| self.would().is_none())
    }

    /// Returns the hook's answer, if its changes count: the hook has not failed, or its answer counts regardless of the exit
    /// code.
    pub(crate) fn counted_output(&self) -> Option<&HookOutput> {
        let has_failed = self.failure.is_some() || self.exit_counts;
        self.enforced_output().filter(|_| !has_failed)
    }

    /// Returns the new values of the event's input, and whether they are the whole input.
    pub(crate) fn new_input(&self) -> Option<(&Map<String, Value>, bool)> {
        let output = self.counted_output()?;
        Some((output.updated_input.as_ref()?, output.replaces_input))
    }

    /// Returns the output of the tool after this hook, if the hook changed it.
    pub(crate) fn output_after(&self) -> Option<Value> {
        let replaced = || self.replaced_output().cloned();
        self.withheld_output().or_else(replaced)
    }

    /// Returns the hook's replacement of a tool's output.
    pub(crate) fn replaced_output(&self) -> Option<&Value> {
        self.counted_output()?.updated_output.as_ref()
    }

    /// Returns the note that the model receives instead of a tool's output that this hook should have redacted and did not,
    /// or may have replaced by an answer that cannot be read. The note contains only the reason of the hook's answer, and no
    /// other output of the hook: a pipeline that fails may have written the tool's output itself.
    pub(crate) fn withheld_output(&self) -> Option<Value> {
        const LONGEST_REASON: usize = 300;
        if !self.hook.withholds(self.failure) || self.decision() == Decision::Allow {
            return None;
        }
        let why = match self.failure {
            // These error messages may quote the output of the hook.
            Some(FailureKind::InvalidAnswer) => Some("its answer is invalid"),
            Some(FailureKind::NoAnswer) => Some("it did not answer"),
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

    /// Returns the reason why the hook failed, blocks or asks, for the user and the model. With a JSON answer: its reason,
    /// else its standard error. Without one: its standard output, else its standard error. For a hook that did not end by
    /// itself: the description of the failure. For exit codes 126 and 127: the description, and the last line of standard
    /// error, where a shell names the command. None if it did not fail, block or ask. If the hook ran because a condition could
    /// not be tested, and does not let the operation continue, the reason says so.
    ///
    /// Before a standard error of more than two lines stands a line with the exit code and the error in it, `failed, exit code 1:
    /// KeyError: 'a'`, unless the exit code is 2: an interpreter writes other lines first when a hook crashes.
    ///
    /// Secrets are masked as in a trace; [`stdout`](HookResult::stdout) and the other fields have the unchanged text.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.shown_reason.as_deref().or_else(|| self.raw_reason())
    }

    /// Returns the reason, in which a crash begins with its error, and a shell's failure ends with it, without masking.
    pub(crate) fn unmasked_reason(&self) -> Option<Cow<'_, str>> {
        let reason = self.raw_reason()?;
        if self.is_of_shell()
            && let Some(line) = error_line(&self.stderr)
        {
            return Some(format!("{reason}: {line}").into());
        }
        let of_stderr = std::ptr::eq(reason, self.stderr.trim());
        // With exit code 2, authors write the reason themselves, as hooks of other agents do.
        if !of_stderr || self.exit_code == 2 || !is_long(reason) {
            return Some(reason.into());
        }
        let error = error_line(reason).unwrap_or_default();
        Some(format!("failed, exit code {}: {error}\n{reason}", self.exit_code).into())
    }

    /// Returns the reason as the hook or its failure has it.
    fn raw_reason(&self) -> Option<&str> {
        if self.verdict == Verdict::ChangesInput {
            return Some(CHANGES_INPUT);
        }
        let error = self.error.as_deref();
        if self.failure.is_none() && matches!(self.verdict(), Verdict::Allows | Verdict::Grants) {
            return None;
        }
        // If there is an error without a failure, the user has declined.
        if self.is_of_exit() {
            self.own_reason().or(error)
        } else {
            error.or_else(|| self.own_reason())
        }
    }

    /// Returns whether the hook fails by its exit code, so that it may have written the reason itself.
    fn is_of_exit(&self) -> bool {
        match self.failure {
            Some(FailureKind::Exit) => true,
            // The hook blocks by its exit code too.
            Some(FailureKind::InvalidAnswer) => self.exit_counts && self.signal().is_none(),
            None | Some(_) => false,
        }
    }

    /// Returns whether the hook fails by an exit code with which a shell reports that it has started no command.
    fn is_of_shell(&self) -> bool {
        let codes = [FailureKind::NotFound, FailureKind::NotExecutable];
        matches!(self.end, End::Exited(_)) && self.failure.is_some_and(|kind| codes.contains(&kind))
    }

    /// Returns the reason that the hook itself gives: in its answer, or else as text.
    fn own_reason(&self) -> Option<&str> {
        let answered = self.output().and_then(HookOutput::objection);
        // JSON on standard error is not an answer.
        let stdout =
            Some(self.stdout.trim()).filter(|text| !text.is_empty() && !self.is_stdout_answer);
        let stderr = Some(self.stderr.trim()).filter(|text| !text.is_empty());
        answered.or(stdout).or(stderr)
    }
}

/// Shows the length of the output, never the text: it may contain secrets.
impl fmt::Debug for HookResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let redactor = Redactor::default();
        let masked = |text| self.hook.masked(&redactor, text).into_owned();
        f.debug_struct("HookResult")
            .field("hook", &masked(self.hook.label()))
            .field("exit_code", &self.exit_code)
            .field("stdout", &format_args!("{} bytes", self.stdout.len()))
            .field("stderr", &format_args!("{} bytes", self.stderr.len()))
            .field("duration", &self.duration)
            .field("error", &self.error.as_deref().map(masked))
            .field("failure", &self.failure)
            .field("decision", &self.decision())
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}
